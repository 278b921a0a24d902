//! The three tasks: scene, cost, limits, first guess, and when a motion has done what was asked.

use std::sync::Arc;

use nalgebra::DVector;
use stiction::Error;
use stiction::model::Scene;
use stiction::transition::Transition;

use super::cost::Cost;
use super::dynamics::{Dynamics, Jacobians};
use super::optimiser::{Options, Problem, Solution, optimise};

/// A number that says how well a motion does, and how small it must be.
#[derive(Clone, Copy, Debug)]
pub struct Miss {
    pub what: &'static str,
    pub value: f64,
    pub tolerance: f64,
}

/// First guesses: the task's own, and others by so many per cent (and hundredths in the second input) beside it.
pub const GUESSES: [i32; 5] = [0, -2, -1, 1, 2];

/// Something to be done by a motion.
pub struct Task {
    pub name: &'static str,
    pub scene: Arc<Scene>,
    pub cost: Cost,
    pub limits: Vec<[f64; 2]>,
    /// Inputs to begin from.
    pub guess: Vec<DVector<f64>>,
    /// How far a motion, states from first to last, is from the goal.
    misses: fn(&[Vec<f64>]) -> Vec<Miss>,
}

/// A task done, or tried.
pub struct Outcome {
    pub solution: Solution,
    /// The first iteration whose motion did it.
    pub reached: Option<usize>,
    pub misses: Vec<Miss>,
    pub dynamics: Dynamics,
}

impl Task {
    pub fn transition(&self) -> Result<Transition, Error> {
        let mut transition = Transition::new(self.name, self.scene.clone())?;
        transition.set_warm(true);
        Ok(transition)
    }

    /// Optimises with Jacobians of one kind, from one of the [guesses](GUESSES).
    pub fn solve(
        &self,
        guess: i32,
        jacobians: Jacobians,
        options: &Options,
    ) -> Result<Outcome, Error> {
        let mut dynamics = Dynamics::new(self.transition()?, jacobians);
        let start = dynamics.transition.initial_state();
        let problem = Problem { start, cost: &self.cost, limits: self.limits.clone() };
        let mut reached = None;
        let mut watch = |at: &Solution| {
            if reached.is_none() && self.is_done(&at.states) {
                reached = Some(at.iterations);
            }
            true
        };
        let change = 0.01 * f64::from(guess);
        let guess = self.guess.iter().map(|u| {
            let mut u = u * (1.0 + change);
            u[1] += change;
            u
        });
        let solution = optimise(&mut dynamics, &problem, guess.collect(), options, &mut watch)?;
        let misses = (self.misses)(&solution.states);
        Ok(Outcome { solution, reached, misses, dynamics })
    }

    fn is_done(&self, states: &[Vec<f64>]) -> bool {
        (self.misses)(states).iter().all(|miss| miss.value <= miss.tolerance)
    }
}

fn scene(text: &str, name: &str) -> Result<Arc<Scene>, Error> {
    Ok(Arc::new(Scene::parse(text, name)?))
}

fn last(states: &[Vec<f64>]) -> &[f64] {
    states.last().map_or(&[], Vec::as_slice)
}

/// Where the cube is to be: m, m, rad.
const PUSH: [f64; 3] = [0.3, 0.05, 0.4];

/// A cube is pushed to a place and heading by a finger that touches it, and left at rest there.
pub fn push() -> Result<Task, Error> {
    let scene = scene(include_str!("push.toml"), "push.toml")?;
    let [x, y, heading] = PUSH;
    let (sine, cosine) = (0.5 * heading).sin_cos();
    let position = [x, y, 0.05, cosine, 0.0, 0.0, sine, x, y];
    let goal = [&position[..], &[0.0; 8]].concat();
    let pose = [100.0, 100.0, 0.0, 0.0, 0.0, 10.0, 0.0, 0.0];
    let way = pose.map(|weight| 1e-3 * weight);
    let rates = [1.0, 1.0, 0.0, 0.0, 0.0, 0.01, 0.1, 0.1];
    Ok(Task {
        name: "push",
        scene,
        cost: Cost {
            goal,
            running: DVector::from_iterator(16, way.into_iter().chain([0.0; 8])),
            terminal: DVector::from_iterator(16, pose.into_iter().chain(rates)),
            rest: DVector::zeros(2),
            effort: DVector::from_vec(vec![1e-4, 1e-4]),
        },
        limits: vec![[-6.0, 6.0]; 2],
        guess: (0..60)
            .map(|k| DVector::from_vec(vec![if k < 25 { 3.4 } else { 0.0 }, 0.0]))
            .collect(),
        misses: |states| {
            let x = last(states);
            let heading = 2.0 * x[6].atan2(x[3]);
            let speed = (x[9] * x[9] + x[10] * x[10]).sqrt();
            let place = ((x[0] - PUSH[0]).powi(2) + (x[1] - PUSH[1]).powi(2)).sqrt();
            vec![
                Miss { what: "place (m)", value: place, tolerance: 0.01 },
                Miss { what: "heading (rad)", value: (heading - PUSH[2]).abs(), tolerance: 0.05 },
                Miss { what: "speed (m/s)", value: speed, tolerance: 0.05 },
            ]
        },
    })
}

/// An arm too weak to be lifted is swung up and stopped upright.
pub fn swing() -> Result<Task, Error> {
    let upright = std::f64::consts::PI;
    Ok(Task {
        name: "swing",
        scene: scene(include_str!("arm.toml"), "arm.toml")?,
        cost: Cost {
            goal: vec![upright, 0.0, 0.0, 0.0],
            running: DVector::from_vec(vec![0.0, 0.0, 1e-3, 1e-3]),
            terminal: DVector::from_vec(vec![100.0, 100.0, 10.0, 10.0]),
            rest: DVector::zeros(2),
            effort: DVector::from_vec(vec![1e-3, 1e-3]),
        },
        limits: vec![[-5.0, 5.0], [-3.0, 3.0]],
        guess: vec![DVector::zeros(2); 125],
        misses: |states| {
            let x = last(states);
            let angle = (x[0] - std::f64::consts::PI).abs().max(x[1].abs());
            let rate = x[2].abs().max(x[3].abs());
            vec![
                Miss { what: "angle (rad)", value: angle, tolerance: 0.05 },
                Miss { what: "rate (rad/s)", value: rate, tolerance: 0.1 },
            ]
        },
    })
}

/// Height of the trunk at the top of the jump, m: with straight legs it stands at 0.52 m.
const APEX: f64 = 0.75;

/// A hopper jumps so high that its trunk just reaches a height.
pub fn hop() -> Result<Task, Error> {
    let scene = scene(include_str!("hopper.toml"), "hopper.toml")?;
    Ok(Task {
        name: "hop",
        scene,
        cost: Cost {
            goal: vec![APEX, 0.8, -1.6, 0.0, 0.0, 0.0],
            running: DVector::from_vec(vec![0.0, 0.0, 0.0, 0.0, 1e-3, 1e-3]),
            terminal: DVector::from_vec(vec![3000.0, 1.0, 1.0, 30.0, 0.01, 0.01]),
            rest: DVector::zeros(2),
            effort: DVector::from_vec(vec![1e-4, 1e-4]),
        },
        limits: vec![[-30.0, 30.0]; 2],
        guess: (0..42)
            .map(|k| DVector::from_vec(vec![0.0, if k < 21 { 14.0 } else { 0.0 }]))
            .collect(),
        misses: |states| {
            let top = states.iter().map(|x| x[0]).fold(f64::NEG_INFINITY, f64::max);
            vec![Miss { what: "height (share)", value: (top / APEX - 1.0).abs(), tolerance: 0.01 }]
        },
    })
}

/// All three.
pub fn all() -> Result<Vec<Task>, Error> {
    Ok(vec![push()?, swing()?, hop()?])
}
