//! A scene under way, with its numbers by name.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use nalgebra::Vector3;

use super::{Rollout, StepReport};
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Model, Scene, System};
use crate::state::State;

/// A scene under way: a [`Rollout`], the inputs that act in each of its steps, and names for the numbers of both.
///
/// `simulation["box/px"]` is a number of the state or an input, by the names of [`Model::configuration_names`],
/// [`Model::velocity_names`] and [`Model::input_names`], and can be set by it. A name that there is not is a mistake of
/// the program, and panics; [`get`](Self::get) does not.
///
/// ```
/// use stiction::Scene;
///
/// let scene = Scene::parse("
///     simulation.time_step = 0.01
///     [[body]]
///     name = 'ball'
///     mass = 2
///     shape = { sphere = 0.1 }
///     velocity = [0, 0, 5]", "scene.toml")?;
/// let mut simulation = scene.simulate();
/// simulation["ball/fx"] = 4.0;
/// simulation.run(50);
/// // A push of 4 N moves 2 kg at 2 m/s².
/// assert!((simulation["ball/vx"] - 1.0).abs() < 1e-12);
/// assert!((simulation["ball/vz"] - (5.0 - 9.81 * 0.5)).abs() < 1e-12);
/// # Ok::<(), stiction::Error>(())
/// ```
pub struct Simulation<'a, T: Real> {
    system: System<'a, T>,
    /// State, contacts and reports.
    pub rollout: Rollout<'a, T>,
    /// What acts in every step from now on, see [`step`](super::step).
    pub inputs: Vec<T>,
    places: HashMap<String, Place>,
}

/// Where a number that has a name stands.
#[derive(Clone, Copy)]
enum Place {
    Configuration(usize),
    Velocity(usize),
    Input(usize),
}

impl Scene {
    /// Starts a simulation where the scene does.
    pub fn simulate(&self) -> Simulation<'_, f64> {
        Simulation::new(self.system(), self.state.clone(), self.inputs.clone())
    }
}

impl<'a, T: Real> Simulation<'a, T> {
    /// Starts from `state` under constant `inputs`, until others are set.
    pub fn new(system: System<'a, T>, state: State<T>, inputs: Vec<T>) -> Self {
        let model = system.model;
        let named = |names: Vec<String>, place: fn(usize) -> Place| {
            names.into_iter().enumerate().map(move |(k, name)| (name, place(k)))
        };
        let places = named(model.configuration_names(), Place::Configuration)
            .chain(named(model.velocity_names(), Place::Velocity))
            .chain(named(model.input_names(), Place::Input))
            .collect();
        Simulation { system, rollout: Rollout::new(system, state), inputs, places }
    }

    /// One step.
    pub fn step(&mut self) -> StepReport {
        self.rollout.step(&self.inputs)
    }

    /// So many steps.
    pub fn run(&mut self, steps: usize) {
        self.rollout.advance(steps, &self.inputs);
    }

    /// The present state.
    pub fn state(&self) -> &State<T> {
        &self.rollout.state
    }

    /// The present position in the world of a point of a body (m, in its frame); nothing if there is no such body.
    pub fn point(&self, body: &str, local: [f64; 3]) -> Option<Vector3<T>> {
        let model = self.system.model;
        let body = model.bodies.iter().position(|other| other.name == body)?;
        Some(self.point_of(body, local.map(T::constant)))
    }

    /// The same of the body of a number that there is.
    pub(crate) fn point_of(&self, body: usize, local: [T; 3]) -> Vector3<T> {
        let System { model, parameters, .. } = self.system;
        let kinematics = Kinematics::new(model, parameters, &self.rollout.state);
        kinematics.point(body, &Vector3::from(local))
    }

    /// The number of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let State { q, v } = &self.rollout.state;
        match *self.places.get(name)? {
            Place::Configuration(k) => q.get(k),
            Place::Velocity(k) => v.get(k),
            Place::Input(k) => self.inputs.get(k),
        }
    }

    /// The number of a name, to set it. Of a quaternion set all four numbers, to norm 1.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        let State { q, v } = &mut self.rollout.state;
        match *self.places.get(name)? {
            Place::Configuration(k) => q.get_mut(k),
            Place::Velocity(k) => v.get_mut(k),
            Place::Input(k) => self.inputs.get_mut(k),
        }
    }
}

impl<T: Real> Index<&str> for Simulation<'_, T> {
    type Output = T;

    fn index(&self, name: &str) -> &T {
        self.get(name).unwrap_or_else(|| missing(self.system.model, name))
    }
}

impl<T: Real> IndexMut<&str> for Simulation<'_, T> {
    fn index_mut(&mut self, name: &str) -> &mut T {
        let model = self.system.model;
        self.get_mut(name).unwrap_or_else(|| missing(model, name))
    }
}

/// A name that there is not is a mistake of the caller, as an index beyond the end of a slice is; `get` asks instead.
fn missing(model: &Model, name: &str) -> ! {
    let names = [model.configuration_names(), model.velocity_names(), model.input_names()].concat();
    panic!("there is no number {name:?}; there are {}", names.join(", "))
}
