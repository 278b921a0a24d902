//! A quadruped held against pushes: at every step iLQR plans ahead from the state it is in, and the first input
//! of the plan acts. The plan does not know of the push.

use std::sync::Arc;

use nalgebra::{DVector, Quaternion, UnitQuaternion, Vector3};
use stiction::Error;
use stiction::model::Scene;
use stiction::simulation::JointFeedback;
use stiction::state::State;
use stiction::transition::Transition;

use super::cost::Cost;
use super::dynamics::{Dynamics, Effort, Jacobians};
use super::optimiser::{Options, Problem, optimise};

/// Steps of a plan.
const HORIZON: usize = 25;
/// Most torque of a motor, N m.
const TORQUE: f64 = 25.0;
/// Half edges of the trunk, m.
const TRUNK: [f64; 3] = [0.2, 0.08, 0.05];
/// Gains of the joints that are compared with, N m/rad and N m s/rad.
const GAINS: [f64; 2] = [100.0, 2.0];

/// A force on the trunk.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// In the world, N.
    pub force: [f64; 3],
    /// Of the first step and after the last.
    pub steps: [usize; 2],
}

/// Those that are tried, for 0.1 s from 0.1 s on: aside, backwards, obliquely.
pub const PUSHES: [Push; 3] = [
    Push { force: [0.0, 180.0, 0.0], steps: [10, 20] },
    Push { force: [-180.0, 0.0, 0.0], steps: [10, 20] },
    Push { force: [120.0, 120.0, 0.0], steps: [10, 20] },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The torques that hold the robot where it stands.
    Constant,
    /// The same, with proportional and derivative gains of the joints.
    Gains,
    /// Receding horizon with Jacobians of one kind and so many iterations a step.
    Predictive(Jacobians, usize),
}

impl Controller {
    pub fn name(self) -> &'static str {
        match self {
            Controller::Constant => "constant torques",
            Controller::Gains => "joint gains",
            Controller::Predictive(..) => "predictive",
        }
    }
}

/// What happened.
pub struct Run {
    pub states: Vec<Vec<f64>>,
    /// All inputs of the scene: forces, then controls.
    pub inputs: Vec<Vec<f64>>,
    /// Of the plans.
    pub effort: Effort,
}

impl Run {
    /// Farthest that the trunk is from where it stood at some step from `first` on, m.
    pub fn away(&self, first: usize) -> f64 {
        let home = &self.states[0];
        let distance =
            |x: &Vec<f64>| -> f64 { (0..3).map(|k| (x[k] - home[k]).powi(2)).sum::<f64>().sqrt() };
        self.states[first..].iter().map(distance).fold(0.0, f64::max)
    }

    /// The upward direction in the trunk's frame.
    fn up(&self, step: usize) -> Vector3<f64> {
        let x = &self.states[step];
        let turn = Quaternion::new(x[3], x[4], x[5], x[6]);
        UnitQuaternion::from_quaternion(turn).inverse() * Vector3::z()
    }

    /// Height of the lowest corner of the trunk, m.
    pub fn trunk(&self, step: usize) -> f64 {
        self.states[step][2] - self.up(step).abs().dot(&Vector3::from(TRUNK))
    }

    /// Angle of the trunk's axis from the vertical, rad.
    pub fn tilt(&self, step: usize) -> f64 {
        self.up(step).z.clamp(-1.0, 1.0).acos()
    }

    /// The lowest that any of the trunk gets, m.
    pub fn lowest(&self) -> f64 {
        (0..self.states.len()).map(|step| self.trunk(step)).fold(f64::INFINITY, f64::min)
    }
}

/// The robot as it stands.
pub struct Balance {
    pub scene: Arc<Scene>,
    /// Torques that hold it there.
    hold: DVector<f64>,
}

impl Balance {
    pub fn new() -> Result<Balance, Error> {
        let mut scene = Scene::parse(include_str!("quadruped.toml"), "quadruped.toml")?;
        let mut settle = Plant::new(&Arc::new(scene.clone()))?;
        let feedback = settle.feedback(&scene.state.q, [300.0, 3.0]);
        let mut x = settle.transition.initial_state();
        let mut inputs = vec![0.0; settle.transition.nu()];
        for _ in 0..300 {
            inputs.fill(0.0);
            feedback.add(&scene.model, &settle.state(&x), &mut inputs);
            x = settle.step(&x, &inputs)?;
        }
        let (nq, nv) = (scene.model.nq(), scene.model.nv());
        scene.state = State { q: x[..nq].to_vec(), v: vec![0.0; nv] };
        Ok(Balance { scene: Arc::new(scene), hold: DVector::from_column_slice(&inputs[nv..]) })
    }

    fn cost(&self, home: Vec<f64>) -> Cost {
        let nv = self.scene.model.nv();
        let weights = |pose: f64, turn: f64, joint: f64, rate: f64| {
            let mut w = vec![joint; nv];
            w[..3].fill(pose);
            w[3..6].fill(turn);
            w.extend((0..nv).map(|k| if k < 6 { 10.0 * rate } else { rate }));
            DVector::from_vec(w)
        };
        Cost {
            goal: home,
            running: weights(100.0, 30.0, 1.0, 0.01),
            terminal: weights(2000.0, 500.0, 20.0, 0.5),
            rest: self.hold.clone(),
            effort: DVector::from_element(self.hold.len(), 1e-3),
        }
    }

    /// So many steps under a push.
    pub fn run(&self, controller: Controller, push: Push, steps: usize) -> Result<Run, Error> {
        let mut plant = Plant::new(&self.scene)?;
        let nv = self.scene.model.nv();
        let home = plant.transition.initial_state();
        let feedback = plant.feedback(&home, GAINS);
        let jacobians = match controller {
            Controller::Predictive(jacobians, _) => jacobians,
            _ => Jacobians::Exact,
        };
        let mut transition = Transition::new("quadruped.toml", self.scene.clone())?;
        transition.set_warm(true);
        let mut dynamics = Dynamics::new(transition, jacobians);
        let cost = self.cost(home.clone());
        let mut plan = vec![self.hold.clone(); HORIZON];
        let mut run = Run { states: vec![home], inputs: Vec::new(), effort: Effort::default() };
        for step in 0..steps {
            let x = run.states[step].clone();
            let mut inputs = vec![0.0; nv + self.hold.len()];
            let u = match controller {
                Controller::Constant => self.hold.clone(),
                Controller::Gains => {
                    feedback.add(&self.scene.model, &plant.state(&x), &mut inputs);
                    &self.hold + DVector::from_column_slice(&inputs[nv..])
                }
                Controller::Predictive(_, iterations) => {
                    let limits = vec![[-TORQUE, TORQUE]; self.hold.len()];
                    let problem = Problem { start: x.clone(), cost: &cost, limits };
                    let options = Options { iterations, ..Options::default() };
                    let found = optimise(&mut dynamics, &problem, plan, &options, &mut |_| true)?;
                    let first = found.inputs[0].clone();
                    plan = found.inputs;
                    plan.remove(0);
                    plan.push(self.hold.clone());
                    first
                }
            };
            for (input, u) in inputs[nv..].iter_mut().zip(u.iter()) {
                *input = u.clamp(-TORQUE, TORQUE);
            }
            if (push.steps[0]..push.steps[1]).contains(&step) {
                inputs[..3].copy_from_slice(&push.force);
            }
            run.states.push(plant.step(&x, &inputs)?);
            run.inputs.push(inputs);
        }
        run.effort = dynamics.effort;
        Ok(run)
    }
}

/// What is controlled: the scene with all its inputs.
struct Plant {
    transition: Transition,
}

impl Plant {
    fn new(scene: &Arc<Scene>) -> Result<Plant, Error> {
        let mut transition = Transition::new("quadruped.toml", scene.clone())?;
        transition.select_inputs(&["all".to_string()])?;
        transition.set_warm(true);
        Ok(Plant { transition })
    }

    fn feedback(&self, home: &[f64], [kp, kd]: [f64; 2]) -> JointFeedback {
        JointFeedback { kp, kd, target: home[..self.transition.nq()].to_vec() }
    }

    fn state(&self, x: &[f64]) -> State<f64> {
        let (q, v) = x.split_at(self.transition.nq());
        State { q: q.to_vec(), v: v.to_vec() }
    }

    fn step(&mut self, x: &[f64], inputs: &[f64]) -> Result<Vec<f64>, Error> {
        let mut next = vec![0.0; x.len()];
        self.transition.step(x, inputs, &mut next)?;
        Ok(next)
    }
}
