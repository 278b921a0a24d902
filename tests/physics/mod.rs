//! Laws of mechanics and closed forms of the time-stepping map.

mod bounce;
mod energy;
mod flight;
mod invariance;
mod rolling;
mod slide;
mod slope;
mod thin_bodies;

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use stiction::ad::Real;
use stiction::model::{Parameters, Scene};
use stiction::simulation::Rollout;
use stiction::state::State;

use crate::scenes::scene;

/// The acceleration of gravity in all scenes here, m/s².
const G: f64 = 9.81;

/// The state after `steps` steps from the start of `scene` with these parameters.
fn final_state<T: Real>(scene: &Scene, parameters: &Parameters<T>, steps: usize) -> State<T> {
    let system = scene.system_with(parameters);
    let mut rollout = Rollout::new(system, scene.state.cast());
    let inputs: Vec<T> = scene.inputs.iter().map(|&x| T::constant(x)).collect();
    rollout.advance(steps, &inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    rollout.state
}

/// All states of `steps` steps, the start included.
fn history(scene: &Scene, steps: usize) -> Vec<State<f64>> {
    let Scene { state, inputs, .. } = scene;
    let mut rollout = Rollout::new(scene.system(), state.clone());
    let mut states = vec![state.clone()];
    for step in 0..steps {
        let report = rollout.step(inputs);
        assert_eq!(report.unsolved, 0, "step {step}: {report:?}");
        states.push(rollout.state.clone());
    }
    states
}

/// The slot of a parameter that is a single number.
fn slot(scene: &Scene, name: &str) -> usize {
    scene.model.parameter(name).unwrap().slots[0]
}

/// The rotation of a body, by nalgebra's quaternions.
fn rotation(state: &State<f64>, body: usize) -> UnitQuaternion<f64> {
    let [w, x, y, z] = state.orientation(body);
    UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))
}

/// A body's mass, centre of mass and inertia, with what follows from them in a state.
struct Solid {
    mass: f64,
    center_of_mass: Vector3<f64>,
    inertia: Matrix3<f64>,
}

impl Solid {
    fn of(scene: &Scene) -> Solid {
        let (p, m) = (&scene.parameters, &scene.model);
        Solid {
            mass: p.mass(m, 0),
            center_of_mass: p.center_of_mass(m, 0),
            inertia: p.inertia(m, 0),
        }
    }

    /// Position of the centre of mass in the world, m.
    fn center(&self, state: &State<f64>) -> Vector3<f64> {
        state.position(0) + rotation(state, 0) * self.center_of_mass
    }

    /// Velocity of the centre of mass in the world, m/s.
    fn velocity(&self, state: &State<f64>) -> Vector3<f64> {
        let w = state.angular_velocity(0);
        state.velocity(0) + rotation(state, 0) * w.cross(&self.center_of_mass)
    }

    /// Angular momentum about the centre of mass in the world, kg m²/s.
    fn angular_momentum(&self, state: &State<f64>) -> Vector3<f64> {
        rotation(state, 0) * (self.inertia * state.angular_velocity(0))
    }

    /// Kinetic energy, J.
    fn kinetic_energy(&self, state: &State<f64>) -> f64 {
        let w = state.angular_velocity(0);
        0.5 * (self.mass * self.velocity(state).norm_squared() + w.dot(&(self.inertia * w)))
    }
}
