//! Products with derivatives of a step, and a scene as x+ = f(x, u; p) on arrays.

use std::sync::Arc;

use nalgebra::DMatrix;
use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, StepProducts, step_jacobian,
};
use stiction::model::Scene;
use stiction::simulation::StepMemory;
use stiction::transition::Transition;

use crate::random::Random;
use crate::scenes::{on_floor, scene};

/// A box that slides on one edge, pushed.
const BOX: &str = "[simulation]
    time_step = 0.01
    tolerance = 1e-13
    [[body]]
    name = 'box'
    mass = 0.7
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    center_of_mass = [0.01, -0.02, 0.01]
    shape = { box = [0.1, 0.08, 0.05] }
    position = [0, 0, 0.0812]
    orientation = [0.9689124217106447, 0.24740395925452294, 0, 0]
    velocity = [1, 0.3, -0.4]
    angular_velocity = [0.2, -0.3, 1]
    force = [0.5, 0.2, -0.1]
    [[contact]]
    mu = 0.3";

fn transition() -> Transition {
    let scene = scene(&on_floor(BOX));
    let mut transition = Transition::new("box.toml", Arc::new(scene)).unwrap();
    transition.select_parameters(&["floor-box/mu".into(), "box/mass".into()]).unwrap();
    transition
}

/// `[A B C]` of the step that starts at x.
fn jacobian(transition: &mut Transition, x: &[f64], u: &[f64]) -> DMatrix<f64> {
    let StepJacobian { a, b, c, .. } = transition.linearize(x, u).unwrap();
    let columns = a.ncols() + b.ncols() + c.ncols();
    let mut all = DMatrix::zeros(a.nrows(), columns);
    let mut first = 0;
    for part in [a, b, c] {
        all.columns_mut(first, part.ncols()).copy_from(part);
        first += part.ncols();
    }
    all
}

#[test]
fn products_agree_with_the_jacobians() {
    let mut transition = transition();
    let (x, u) = (transition.initial_state(), transition.initial_input());
    let all = jacobian(&mut transition, &x, &u);
    assert_eq!(all.shape(), (12, 20));
    assert!(!transition.linearize(&x, &u).unwrap().modes.is_empty(), "nothing touches");
    let mut random = Random(3);
    for _ in 0..3 {
        let direction: [f64; 20] = random.vector(1.0);
        let weights: [f64; 12] = random.vector(1.0);
        let forward = transition.jvp(&x, &u, &direction).unwrap();
        let expected = &all * DMatrix::from_column_slice(20, 1, &direction);
        for (found, expected) in forward.iter().zip(expected.iter()) {
            assert!((found - expected).abs() < 1e-10 * all.amax(), "{found} {expected}");
        }
        let backward = transition.vjp(&x, &u, &weights).unwrap();
        let expected = all.tr_mul(&DMatrix::from_column_slice(12, 1, &weights));
        for (found, expected) in backward.iter().zip(expected.iter()) {
            assert!((found - expected).abs() < 1e-10 * all.amax(), "{found} {expected}");
        }
    }
}

// The Hessian of w . (x+ (-) nominal x+) is the derivative of its gradient, where displacements are all made
// from the same x; here second differences of its values.
#[test]
fn second_order_terms_agree_with_differences_of_values() {
    let mut transition = transition();
    let (x, u) = (transition.initial_state(), transition.initial_input());
    let weights: [f64; 12] = Random(5).vector(1.0);
    let hessian = transition.hessian(&x, &u, &weights).unwrap();
    let hessian = DMatrix::from_column_slice(20, 20, &hessian);
    assert!((&hessian - hessian.transpose()).amax() < 1e-9 * hessian.amax());
    let mut nominal = vec![0.0; x.len()];
    transition.step(&x, &u, &mut nominal).unwrap();
    let p = transition.parameters();
    let moved_by = |from: &[f64], d: &[f64]| -> Vec<f64> {
        assert_eq!(from.len(), d.len());
        from.iter().zip(d).map(|(x, d)| x + d).collect()
    };
    let mut value = |d: &[f64]| {
        let moved = transition.integrate(&x, &d[..12]).unwrap();
        let pushed = moved_by(&u, &d[12..18]);
        transition.set_parameters(&moved_by(&p, &d[18..])).unwrap();
        let mut next = vec![0.0; x.len()];
        let report = transition.step(&moved, &pushed, &mut next).unwrap();
        assert_eq!(report.unsolved, 0);
        let away = transition.difference(&nominal, &next).unwrap();
        away.iter().zip(&weights).map(|(a, w)| a * w).sum::<f64>()
    };
    let h = 2e-4;
    let mut worst: f64 = 0.0;
    for i in 0..20 {
        for j in 0..=i {
            let mut at = |a: f64, b: f64| {
                let mut d = [0.0; 20];
                d[i] += a * h;
                d[j] += b * h;
                value(&d)
            };
            let second =
                (at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * h * h);
            worst = worst.max((second - hessian[(i, j)]).abs() / hessian.amax());
        }
    }
    assert!(worst < 1e-4, "{worst:e}");
    transition.set_parameters(&p).unwrap();

    let direction: [f64; 20] = Random(6).vector(1.0);
    let scene = transition.scene().clone();
    let Scene { model, state, inputs, .. } = &*scene;
    let system = scene.system();
    let selected: Vec<usize> = (0..6).collect();
    let chosen = ["floor-box/mu", "box/mass"].map(|name| model.parameter(name).unwrap());
    let selection = Selection { inputs: &selected, parameters: &chosen };
    let (memory, mut result) = (StepMemory::default(), StepJacobian::default());
    let mut workspace = JacobianWorkspace::default();
    let after = &mut memory.clone();
    step_jacobian(&system, state, inputs, selection, after, &mut workspace, &mut result);
    let (next, memory) = (&result.next, &memory);
    let products = StepProducts { system: &system, state, inputs, selection, memory, next };
    let product = products.hessian_vector(&weights, &direction).unwrap();
    let expected = &hessian * DMatrix::from_column_slice(20, 1, &direction);
    for (found, expected) in product.iter().zip(expected.iter()) {
        assert!((found - expected).abs() < 1e-9 * hessian.amax(), "{found} {expected}");
    }
    assert!(products.hessian_vector(&weights[1..], &direction).is_err());
    assert!(products.jvp(&direction[1..]).is_err());
}

#[test]
fn a_transition_says_what_is_wrong() {
    let mut transition = transition();
    let (x, u) = (transition.initial_state(), transition.initial_input());
    let mut next = vec![0.0; x.len()];
    let says = |error: stiction::Error, words: &str| {
        let message = error.to_string();
        assert!(message.contains(words), "{message} instead of {words}");
    };
    says(
        transition.step(&x[1..], &u, &mut next).unwrap_err(),
        "state has 13 numbers here, found 12",
    );
    says(transition.step(&x, &u[1..], &mut next).unwrap_err(), "input has 6 numbers here, found 5");
    says(transition.step(&x, &u, &mut next[1..]).unwrap_err(), "next state has 13 numbers");
    let mut bad = x.clone();
    bad[8] = f64::NAN;
    says(transition.linearize(&bad, &u).err().unwrap(), "box/vy: must be finite, found NaN");
    bad[8] = 0.0;
    bad[3..7].fill(0.0);
    says(transition.step(&bad, &u, &mut next).unwrap_err(), "no orientation");
    let mut bad = u.clone();
    bad[1] = f64::INFINITY;
    says(transition.step(&x, &bad, &mut next).unwrap_err(), "box/fy: must be finite");
    says(transition.select_inputs(&["box/f".into()]).unwrap_err(), "is no input; there are box/fx");
    says(transition.select_inputs(&["all".into(), "box/fx".into()]).unwrap_err(), "named twice");
    says(transition.select_parameters(&["mu".into()]).unwrap_err(), "is no parameter; there are");
    // A quaternion that is not of norm 1 stands for one that is.
    let mut scaled = x.clone();
    scaled[3..7].iter_mut().for_each(|q| *q *= 3.0);
    let mut expected = next.clone();
    transition.step(&x, &u, &mut expected).unwrap();
    transition.step(&scaled, &u, &mut next).unwrap();
    for (found, expected) in next.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12);
    }
    transition.select_inputs(&["box/fx".into()]).unwrap();
    assert_eq!(transition.linearize(&x, &[0.1]).unwrap().b.shape(), (12, 1));
}
