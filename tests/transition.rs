//! A scene as x+ = f(x, u; p) on flat arrays: Jacobians in the numbers of x, quaternions of any norm,
//! selections, and what is refused.

use std::sync::Arc;

use nalgebra::DMatrix;
use stiction::ErrorKind;
use stiction::linearize::AmbientJacobian;
use stiction::transition::Transition;

use crate::scenes::{on_floor, scene};

/// A ball that slides on a floor, with a ball joint and a hinge on it: all kinds of coordinates.
const SCENE: &str = "[simulation]
time_step = 0.01
[[contact]]
pair = 'floor-ball'
mu = 0.3
[[body]]
name = 'ball'
mass = 1
shape = { sphere = 0.1 }
position = [0, 0, 0.1]
[[body]]
name = 'arm'
parent = 'ball'
position = [0, 0, 0.2]
mass = 0.1
inertia = [1e-3, 2e-3, 3e-3]
center_of_mass = [0.05, 0, 0.02]
joint = { type = 'ball', damping = 0.01 }
[[body]]
name = 'wheel'
parent = 'arm'
position = [0.1, 0, 0]
mass = 0.1
inertia = [2e-3, 2e-3, 1e-3]
joint = { type = 'revolute', axis = [1, 0, 0], damping = 0.01 }
[[actuator]]
name = 'motor'
joint = 'wheel'
";

fn transition(inputs: &[&str], parameters: &[&str]) -> Transition {
    let scene = scene(&on_floor(SCENE));
    let mut transition = Transition::new("scene.toml", Arc::new(scene)).unwrap();
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    transition.select_inputs(&names(inputs)).unwrap();
    transition.select_parameters(&names(parameters)).unwrap();
    transition
}

/// A state that slides with all joints moving. Its quaternions have the given norms.
fn sliding(transition: &mut Transition, norms: [f64; 2]) -> Vec<f64> {
    let mut x = transition.initial_state();
    let nv = transition.nv();
    let mut dx = vec![0.0; 2 * nv];
    dx[5] = 0.4;
    dx[6..10].copy_from_slice(&[0.3, -0.5, 0.2, 0.7]);
    dx[nv..].copy_from_slice(&[1.0, 0.3, 0.0, 0.0, 0.0, 0.5, 0.6, -0.4, 0.8, 2.0]);
    x = transition.integrate(&x, &dx).unwrap();
    let u = vec![0.0; transition.nu()];
    let mut next = x.clone();
    transition.step(&x, &u, &mut next).unwrap();
    for (first, norm) in [3, 7].into_iter().zip(norms) {
        next[first..first + 4].iter_mut().for_each(|q| *q *= norm);
    }
    // Away from the kink where contacts begin to press.
    next[2] -= 1e-4;
    next
}

/// The columns of central differences of `f` at `x`.
fn differences(x: &[f64], h: f64, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> DMatrix<f64> {
    let columns: Vec<Vec<f64>> = (0..x.len())
        .map(|k| {
            let mut at = |h: f64| {
                let mut x = x.to_vec();
                x[k] += h;
                f(&x)
            };
            let (plus, minus) = (at(h), at(-h));
            plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * h)).collect()
        })
        .collect();
    DMatrix::from_vec(columns[0].len(), x.len(), columns.concat())
}

#[track_caller]
fn assert_near(found: &DMatrix<f64>, expected: &DMatrix<f64>, tolerance: f64) {
    assert_eq!(found.shape(), expected.shape());
    let off = (found - expected).amax();
    assert!(off < tolerance, "off by {off:e}");
}

#[test]
fn ambient_jacobians_are_central_differences_off_the_unit_quaternions_too() {
    for norms in [[1.0, 1.0], [1.3, 0.7]] {
        let mut transition =
            transition(&["motor/u", "ball/fx", "ball/tz"], &["ball/mass", "floor-ball/mu"]);
        let x = sliding(&mut transition, norms);
        let (u, p) = (vec![0.1, 0.2, 0.03], transition.parameters());
        let (AmbientJacobian { a, b, c }, jacobian) = transition.linearize_ambient(&x, &u).unwrap();
        assert!(!jacobian.modes.is_empty(), "nothing touches");
        let mut f = |x: &[f64], u: &[f64], p: &[f64]| {
            let mut next = vec![0.0; x.len()];
            transition.set_parameters(p).unwrap();
            transition.step(x, u, &mut next).unwrap();
            next
        };
        let h = 1e-6;
        assert_near(&a, &differences(&x, h, |x| f(x, &u, &p)), 1e-7);
        assert_near(&b, &differences(&u, h, |u| f(&x, u, &p)), 1e-7);
        assert_near(&c, &differences(&p, h, |p| f(&x, &u, p)), 1e-7);
        // Nothing happens along the quaternions of x, and those of x+ keep their norm.
        let next = f(&x, &u, &p);
        for first in [3, 7] {
            let mut along = DMatrix::zeros(x.len(), 1);
            along.rows_mut(first, 4).copy_from_slice(&x[first..first + 4]);
            assert!((&a * along).amax() < 1e-12);
            let q = DMatrix::from_row_slice(1, 4, &next[first..first + 4]);
            assert!((&q * a.rows(first, 4)).amax() < 1e-12);
            assert!((q.norm() - 1.0).abs() < 1e-14);
        }
    }
}

// The gradient and the Hessian of w . x+ in the numbers of x: the one against the Jacobian, the other against differences of it.
#[test]
fn ambient_products_are_those_of_the_jacobian_and_curve_as_it_changes() {
    for norms in [[1.0, 1.0], [1.3, 0.7]] {
        let mut transition =
            transition(&["motor/u", "ball/fx", "ball/tz"], &["ball/mass", "floor-ball/mu"]);
        let x = sliding(&mut transition, norms);
        let (u, p) = (vec![0.1, 0.2, 0.03], transition.parameters());
        let weights: Vec<f64> = (0..x.len()).map(|k| (1.0 + k as f64).sin()).collect();
        let weighed = DMatrix::from_column_slice(x.len(), 1, &weights);
        let mut gradient = |x: &[f64], u: &[f64], p: &[f64]| {
            transition.set_parameters(p).unwrap();
            let (AmbientJacobian { a, b, c }, _) = transition.linearize_ambient(x, u).unwrap();
            [a, b, c].map(|block| block.tr_mul(&weighed).as_slice().to_vec()).concat()
        };
        let expected = gradient(&x, &u, &p);
        let (n, m) = (x.len(), x.len() + u.len());
        let z = [&x[..], &u, &p].concat();
        let h = 1e-5;
        let curved = differences(&z, h, |z| gradient(&z[..n], &z[n..m], &z[m..]));
        transition.set_parameters(&p).unwrap();
        let found = transition.vjp_ambient(&x, &u, &weights).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
        let hessian = transition.hessian_ambient(&x, &u, &weights).unwrap();
        let hessian = DMatrix::from_column_slice(z.len(), z.len(), &hessian);
        assert_near(&hessian, &hessian.transpose(), 1e-9 * hessian.amax());
        assert_near(&hessian, &curved, 1e-6 * hessian.amax());
    }
}

#[test]
fn quaternions_of_any_norm_are_the_same_orientation() {
    let mut transition = transition(&[], &[]);
    let x = sliding(&mut transition, [1.0, 1.0]);
    let mut expected = vec![0.0; x.len()];
    transition.step(&x, &[], &mut expected).unwrap();
    let mut scaled = x.clone();
    scaled[3..7].iter_mut().for_each(|q| *q *= 7.0);
    scaled[7..11].iter_mut().for_each(|q| *q *= 1e-3);
    let mut next = vec![0.0; x.len()];
    transition.step(&scaled, &[], &mut next).unwrap();
    for (next, expected) in next.iter().zip(&expected) {
        assert!((next - expected).abs() < 1e-12, "{next} {expected}");
    }
}

#[test]
fn parameters_are_set_and_inputs_that_are_not_selected_are_those_of_the_scene() {
    let mut transition = transition(&["ball/fx"], &["gravity/z"]);
    let x = transition.initial_state();
    let vx = transition.nq();
    let step = |transition: &mut Transition, u: &[f64]| {
        let mut next = x.clone();
        transition.step(&x, u, &mut next).unwrap();
        next
    };
    assert!(step(&mut transition, &[50.0])[vx] > 0.3);
    transition.select_inputs(&["motor/u".into()]).unwrap();
    assert!(step(&mut transition, &[0.0])[vx].abs() < 0.1, "the force of before is still there");
    // Without gravity nothing holds the ball.
    transition.set_parameters(&[0.0]).unwrap();
    assert_eq!(transition.parameters(), [0.0]);
    transition.select_inputs(&["ball/fx".into()]).unwrap();
    let free = step(&mut transition, &[1.0])[vx];
    assert!(free > 0.005, "{free}");
}

#[test]
fn what_cannot_be_is_refused_and_leaves_no_trace() {
    let mut transition = transition(&["motor/u"], &["ball/mass"]);
    transition.set_warm(true);
    let x = sliding(&mut transition, [1.0, 1.0]);
    let mut expected = vec![0.0; x.len()];
    transition.step(&x, &[0.1], &mut expected).unwrap();
    let mut spinning = x.clone();
    spinning[15] = 1e200;
    let mut next = vec![0.0; x.len()];
    let error = transition.step(&spinning, &[0.1], &mut next).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Undefined, "{error}");
    let mut nowhere = x.clone();
    nowhere[3..7].fill(0.0);
    let nv = transition.nv();
    for (result, message) in [
        (transition.step(&nowhere, &[0.1], &mut next).map(drop), "is no orientation"),
        (transition.step(&x, &[f64::NAN], &mut next).map(drop), "motor/u: must be finite"),
        (transition.step(&x, &[], &mut next).map(drop), "the input has 1 numbers"),
        (transition.vjp(&x, &[0.1], &vec![f64::NAN; 2 * nv]).map(drop), "must be finite"),
        (transition.jvp(&x, &[0.1], &[1.0]).map(drop), "has 22 numbers here, found 1"),
        (transition.set_parameters(&[f64::INFINITY]), "ball/mass: must be finite"),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    for result in [
        transition.select_inputs(&["motor/v".into()]),
        transition.set_value("ball/mas", 1.0),
        transition.body("bal").map(drop),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Name, "{error}");
        assert!(error.is_input(), "{error}");
    }
    transition.step(&x, &[0.1], &mut next).unwrap();
    for (next, expected) in next.iter().zip(&expected) {
        assert!((next - expected).abs() < 1e-8, "{next} {expected}");
    }
}
