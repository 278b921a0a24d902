//! The iLQR of `examples/ilqr`: its pieces against closed forms, how DDP ends, the tasks done, with no more
//! iterations than with Jacobians by differences, and the quadruped that stands where gains of the joints let it fall.

#[path = "../examples/ilqr/balance.rs"]
mod balance;
#[path = "../examples/ilqr/box_qp.rs"]
mod box_qp;
#[path = "../examples/ilqr/cost.rs"]
mod cost;
#[path = "../examples/ilqr/dynamics.rs"]
mod dynamics;
#[path = "../examples/ilqr/optimiser.rs"]
mod optimiser;
#[path = "../examples/ilqr/tasks.rs"]
mod tasks;

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use stiction::model::Scene;
use stiction::transition::Transition;

use crate::cases;
use crate::random::Random;
use balance::{Balance, Controller, PUSHES};
use cost::Cost;
use dynamics::{Dynamics, Jacobians};
use optimiser::{Options, Problem, Solution, Status, optimise};
use tasks::{GUESSES, Task};

#[test]
fn box_programs_meet_their_conditions() {
    // Strictly convex; the conditions of a minimum decide.
    let mut random = Random(1);
    let mut random = || random.uniform(-1.0, 1.0);
    let mut held = 0;
    for n in 1..9 {
        for _ in 0..20 {
            let root = DMatrix::from_fn(n, n, |_, _| random());
            let h = &root * root.transpose() + DMatrix::identity(n, n) * 0.1;
            let g = DVector::from_fn(n, |_, _| 2.0 * random());
            let bounds: Vec<[f64; 2]> = (0..n).map(|_| [-0.5 + 0.4 * random(), 0.5]).collect();
            let found = box_qp::solve(&h, &g, &bounds, &DVector::zeros(n)).unwrap();
            let gradient = &h * &found.x + &g;
            for k in 0..n {
                let [lower, upper] = bounds[k];
                let x = found.x[k];
                assert!((lower..=upper).contains(&x));
                let at_bound = x == lower && gradient[k] > 0.0 || x == upper && gradient[k] < 0.0;
                assert!(at_bound || gradient[k].abs() < 1e-8, "{x} {bounds:?} {gradient}");
                assert_eq!(found.free.contains(&k), !at_bound);
                held += usize::from(at_bound);
            }
        }
    }
    assert!(held > 100, "{held}");
}

/// A mass on a slide.
fn slide() -> (Transition, Cost) {
    let text = "simulation.time_step = 0.1
gravity = [0, 0, 0]
[[body]]
name = 'cart'
joint = { type = 'prismatic', axis = [1, 0, 0], q = 1, v = 0.5 }
mass = 2
[[actuator]]
name = 'belt'
joint = 'cart'";
    let scene = Arc::new(Scene::parse(text, "cart.toml").unwrap());
    let cost = Cost {
        goal: vec![0.0, 0.0],
        running: DVector::from_vec(vec![1.0, 0.1]),
        terminal: DVector::from_vec(vec![10.0, 1.0]),
        rest: DVector::zeros(1),
        effort: DVector::from_vec(vec![0.01]),
    };
    (Transition::new("cart.toml", scene).unwrap(), cost)
}

fn minimise(limit: f64) -> Solution {
    let (transition, cost) = slide();
    let mut dynamics = Dynamics::new(transition, Jacobians::Exact);
    let problem = Problem { start: vec![1.0, 0.5], cost: &cost, limits: vec![[-limit, limit]] };
    let inputs = vec![DVector::zeros(1); 30];
    optimise(&mut dynamics, &problem, inputs, &Options::default(), &mut |_| true).unwrap()
}

/// Riccati's recursion gives the least cost of a linear system, x'Px / 2.
#[test]
fn linear_systems_take_one_iteration_to_riccatis_cost() {
    let found = minimise(1e3);
    let (h, m) = (0.1, 2.0);
    let a = DMatrix::from_row_slice(2, 2, &[1.0, h, 0.0, 1.0]);
    let b = DMatrix::from_row_slice(2, 1, &[h * h / m, h / m]);
    let q = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.1]));
    let mut p = DMatrix::from_diagonal(&DVector::from_vec(vec![10.0, 1.0]));
    for _ in 0..30 {
        let s = (b.transpose() * &p * &b)[(0, 0)] + 0.01;
        let gain = b.transpose() * &p * &a / s;
        p = &q + a.transpose() * &p * &a - gain.transpose() * gain * s;
    }
    let x = DVector::from_vec(vec![1.0, 0.5]);
    let expected = 0.5 * x.dot(&(&p * &x));
    assert!((found.cost / expected - 1.0).abs() < 1e-10, "{} {expected}", found.cost);
    assert_eq!((found.iterations, found.status), (1, Status::Converged));
    assert!(found.gradient < 1e-8, "{}", found.gradient);
}

#[test]
fn limits_hold_and_bind() {
    let (free, limited) = (minimise(1e3), minimise(2.0));
    assert!(free.inputs.iter().any(|u| u[0].abs() > 2.0));
    assert!(limited.inputs.iter().all(|u| u[0].abs() <= 2.0));
    let at_limit = limited.inputs.iter().filter(|u| u[0].abs() == 2.0).count();
    assert!(at_limit > 1 && limited.cost > free.cost, "{at_limit}");
    assert_eq!(limited.status, Status::Converged);
    // No input may be moved within the limits to a lower cost.
    let (transition, cost) = slide();
    let mut dynamics = Dynamics::new(transition, Jacobians::Exact);
    for k in 0..limited.inputs.len() {
        for change in [-1e-3, 1e-3] {
            let mut inputs = limited.inputs.clone();
            inputs[k][0] = (inputs[k][0] + change).clamp(-2.0, 2.0);
            let mut states = vec![vec![1.0, 0.5]];
            for u in &inputs {
                let next = dynamics.step(&states[states.len() - 1], u).unwrap();
                states.push(next);
            }
            let moved = cost.total(&mut dynamics, &states, &inputs).unwrap();
            assert!(moved >= limited.cost * (1.0 - 1e-9), "{k} {change}: {moved} {}", limited.cost);
        }
    }
}

/// The slope of the cost of an orientation, far from the goal, against differences of the cost.
#[test]
fn costs_of_orientations_have_their_slope() {
    let text = "[[body]]
name = 'cube'
mass = 1
shape = { box = [0.1, 0.1, 0.1] }
[simulation]
time_step = 0.01";
    let scene = Arc::new(Scene::parse(text, "cube.toml").unwrap());
    let mut dynamics =
        Dynamics::new(Transition::new("cube.toml", scene).unwrap(), Jacobians::Exact);
    let goal = dynamics.transition.initial_state();
    let weights = DVector::from_fn(12, |k, _| 1.0 + k as f64);
    let cost = Cost {
        goal: goal.clone(),
        running: weights.clone(),
        terminal: weights,
        rest: DVector::zeros(6),
        effort: DVector::zeros(6),
    };
    let away: Vec<f64> = (0..12).map(|k| 0.3 + 0.15 * k as f64).collect();
    let x = dynamics.transition.integrate(&goal, &away).unwrap();
    let found = cost.expand(&mut dynamics, &x, true).unwrap();
    for k in 0..12 {
        let mut value = |step: f64| {
            let mut dx = [0.0; 12];
            dx[k] = step;
            let x = dynamics.transition.integrate(&x, &dx).unwrap();
            cost.of_state(&mut dynamics, &x, true).unwrap()
        };
        let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
        assert!((found.x[k] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{k}: {slope}");
    }
}

/// The arm, moved as far up as is worth its torque, from inputs that are 10 % larger than those of a solution by iLQR:
/// nothing touches, but the costates are large, and with them what iLQR leaves out.
#[test]
fn second_derivatives_make_the_end_quadratic() {
    let task = tasks::swing().unwrap();
    let cost = Cost {
        goal: vec![3.0, 0.0, 0.0, 0.0],
        running: DVector::from_vec(vec![1.0, 1.0, 0.1, 0.1]),
        terminal: DVector::from_vec(vec![10.0, 10.0, 1.0, 1.0]),
        rest: DVector::zeros(2),
        effort: DVector::from_vec(vec![0.1, 0.1]),
    };
    let solve = |inputs: Vec<DVector<f64>>, second_order: bool| {
        let mut dynamics = Dynamics::new(task.transition().unwrap(), Jacobians::Exact);
        let start = dynamics.transition.initial_state();
        let problem = Problem { start, cost: &cost, limits: vec![[-100.0, 100.0]; 2] };
        let options = Options {
            cost_tolerance: 0.0,
            gradient_tolerance: 1e-6,
            second_order,
            ..Options::default()
        };
        optimise(&mut dynamics, &problem, inputs, &options, &mut |_| true).unwrap()
    };
    let solution = solve(vec![DVector::zeros(2); 50], false);
    let near: Vec<DVector<f64>> = solution.inputs.iter().map(|u| u * 1.1).collect();
    let [first, second] = [false, true].map(|second_order| solve(near.clone(), second_order));
    for found in [&solution, &first, &second] {
        assert_eq!(found.status, Status::Converged, "{}", found.gradient);
        assert!((found.cost / solution.cost - 1.0).abs() < 1e-9, "{}", found.cost);
        // The elbow is away from its limits.
        assert!(found.states.iter().all(|x| x[1].abs() < 1.0));
    }
    let iterations = [first.iterations, second.iterations];
    assert!(second.iterations <= 6 && 3 * second.iterations < first.iterations, "{iterations:?}");
}

/// The goal is reached, and from the first guesses together in no more iterations than with differences, but for
/// `slack` (single ones may go either way, where contacts come and go).
#[track_caller]
fn is_done(task: &Task, slack: usize) {
    let options = Options { iterations: 40, ..Options::default() };
    let iterations = Jacobians::ALL.map(|jacobians| {
        let solve = |guess: &i32| {
            let outcome = task.solve(*guess, jacobians, &options).unwrap();
            let inside = |u: &DVector<f64>| {
                u.iter().zip(&task.limits).all(|(u, [lower, upper])| (lower..=upper).contains(&u))
            };
            assert!(outcome.solution.inputs.iter().all(inside));
            // Differences take as many steps as there are numbers: twice, or once and one more.
            let (numbers, effort) =
                (outcome.dynamics.nx() + outcome.dynamics.nu(), outcome.dynamics.effort);
            let steps = match jacobians {
                Jacobians::Exact => 0,
                Jacobians::CentralDifferences => 2 * numbers,
                Jacobians::ForwardDifferences => numbers + 1,
            };
            assert_eq!(effort.difference_steps, steps * effort.jacobians);
            let left: Vec<String> =
                outcome.misses.iter().map(|miss| format!("{} {}", miss.what, miss.value)).collect();
            let (name, status) = (jacobians.name(), outcome.solution.status.name());
            assert!(
                outcome.reached.is_some() || jacobians != Jacobians::Exact,
                "{} {name} from {guess}: {status}, {left:?}",
                task.name
            );
            outcome.reached.unwrap_or(options.iterations)
        };
        GUESSES.iter().take(cases::count(GUESSES.len(), 0.4)).map(solve).sum::<usize>()
    });
    let [exact, central, forward] = iterations;
    assert!(exact <= central.min(forward) + slack, "{}: {iterations:?}", task.name);
}

#[test]
fn first_guesses_do_not_do() {
    for task in tasks::all().unwrap() {
        let options = Options { iterations: 0, ..Options::default() };
        let outcome = task.solve(0, Jacobians::Exact, &options).unwrap();
        assert_eq!((outcome.reached, outcome.solution.history.len()), (None, 1), "{}", task.name);
    }
}

#[test]
fn a_cube_is_pushed_to_a_place() {
    // Which Jacobians take fewer iterations is chance where contacts come and go: the displacement alone changes those
    // by differences by a third.
    is_done(&tasks::push().unwrap(), 10);
}

#[test]
fn a_weak_arm_swings_up() {
    let task = tasks::swing().unwrap();
    // Nothing but the elbow's stop touches: all three take the same iterations, but for rounding.
    is_done(&task, 2);
    // It cannot be lifted: full torque from hanging does not bring it level.
    let mut transition = task.transition().unwrap();
    let mut x = transition.initial_state();
    let mut most: f64 = 0.0;
    for _ in 0..task.guess.len() {
        let mut next = vec![0.0; x.len()];
        transition.step(&x, &[task.limits[0][1], 0.0], &mut next).unwrap();
        x = next;
        most = most.max(x[0].abs());
    }
    assert!(most < std::f64::consts::FRAC_PI_2, "{most}");
}

#[test]
fn a_hopper_jumps_to_a_height() {
    is_done(&tasks::hop().unwrap(), 0);
}

#[test]
fn a_quadruped_stands_pushes_that_throw_it() {
    let balance = Balance::new().unwrap();
    for push in PUSHES {
        let run = |controller| balance.run(controller, push, 150).unwrap();
        let predictive = run(Controller::Predictive(Jacobians::Exact, 1));
        // It comes back, upright, and its trunk has not been near the floor.
        assert!(predictive.away(150) < 0.03, "{push:?}: {}", predictive.away(150));
        assert!(predictive.tilt(150) < 0.1, "{push:?}: {}", predictive.tilt(150));
        assert!(predictive.lowest() > 0.24, "{push:?}: {}", predictive.lowest());
        assert!(predictive.inputs.iter().flat_map(|u| &u[6..]).all(|u| u.abs() <= 25.0));
        assert_eq!(predictive.effort.jacobians, 150 * 25);
        // Otherwise the trunk ends on the floor, not below.
        for controller in [Controller::Constant, Controller::Gains] {
            let run = run(controller);
            let name = controller.name();
            assert!(run.trunk(150) < 0.05, "{push:?} {name}: {}", run.trunk(150));
            assert!(run.lowest() > -0.01, "{push:?} {name}: {}", run.lowest());
        }
    }
}
