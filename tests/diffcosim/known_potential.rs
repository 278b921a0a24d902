//! With the potential known, friction, restitution and masses of each task by Levenberg's and Marquardt's method from far off.

use nalgebra::{DMatrix, DVector};
use stiction::ad::{Real, jacobian};
use stiction::maximal::{
    ConservativeForce, Formulation, ImpactRule, PointInertia, PointParameters, PointScene,
    PointStep,
};

use super::archive::{Archive, task};

/// The true potential: its masses are not the unknown ones.
struct Known<'a>(&'a PointScene, PointInertia<f64>);

impl<T: Real> ConservativeForce<T> for Known<'_> {
    fn gradient(&mut self, _: &PointInertia<T>, x: &[T], gradient: &mut Vec<T>) {
        // Gravity: it does not depend on the place.
        let mut pull = Vec::new();
        let place: Vec<f64> = x.iter().map(|x| x.value()).collect();
        (&self.0.system.potential).gradient(&self.1, &place, &mut pull);
        gradient.clear();
        gradient.extend(pull.into_iter().map(T::constant));
    }
}

/// Differences of all pieces, by unknowns: log of each mass over its first guess, friction, restitution of the one surface.
fn residuals<T: Real>(scene: &PointScene, chunks: &[&[f64]], unknowns: &[T]) -> Vec<T> {
    let bodies = scene.system.bodies().len();
    let truth = &scene.parameters;
    let parameters = PointParameters {
        masses: unknowns[..bodies].iter().map(|p| p.exp()).collect(),
        moments: truth.moments.iter().map(|&m| T::constant(m)).collect(),
        friction: vec![unknowns[bodies]],
        restitution: vec![unknowns[bodies + 1]],
    };
    let mut inertia = PointInertia::default();
    inertia.set(scene.system.layout(), truth);
    let mut force = Known(scene, inertia);
    let size = scene.system.coordinates();
    let (mut step, mut out) = (PointStep::default(), Vec::new());
    for chunk in chunks {
        let state = |from: usize| chunk[from..from + size].iter().map(|&x| T::constant(x));
        let (mut x, mut v): (Vec<T>, Vec<T>) = (state(0).collect(), state(size).collect());
        for recorded in chunk.chunks_exact(2 * size).skip(1) {
            let rule = ImpactRule { tolerance: 1e-11, regularization: 0.0 };
            let form = Formulation::Lagrangian;
            step.step(&scene.system, &parameters, form, rule, &mut force, &mut x, &mut v);
            assert!(step.report.is_solved(), "{:?}", step.report);
            out.extend(x.iter().chain(&v).zip(recorded).map(|(&z, &recorded)| z - recorded));
        }
    }
    out
}

#[test]
fn known_potentials_tell_the_rest() {
    // Where there is no potential only ratios of masses are seen; the top's one mass is.
    for (name, is_free) in
        [("BP5-e", true), ("CP3-e", false), ("CP3", false), ("Gyro-e", false), ("Gyro", false)]
    {
        let Some(mut archive) = Archive::open(&format!("tasks/{name}.npz")) else { return };
        let scene = task(name);
        let size = 10 * scene.system.coordinates();
        let values = archive.array("train");
        let chunks: Vec<&[f64]> = values.chunks_exact(size).take(50).collect();
        let bodies = scene.system.bodies().len();
        let truth: Vec<f64> = scene.parameters.masses.iter().map(|m| m.ln()).collect();
        // Far off: masses half and twice the true ones, friction and restitution in the middle.
        let mut x: Vec<f64> = truth.clone();
        for (k, x) in x.iter_mut().enumerate().skip(usize::from(is_free)) {
            *x += if k % 2 == 0 { 0.7 } else { -0.7 };
        }
        x.extend([0.25, 0.5]);
        let clamp = |x: &mut Vec<f64>| {
            x[bodies] = x[bodies].max(0.0);
            x[bodies + 1] = x[bodies + 1].clamp(0.0, 1.0);
        };
        let (mut damping, mut iterations) = (1e-3, 0);
        let cost = |r: &[f64]| r.iter().map(|r| r * r).sum::<f64>();
        let error = |x: &[f64]| {
            let masses = (0..bodies).map(|k| (x[k] - truth[k]).abs());
            let friction = (x[bodies] - scene.parameters.friction[0]).abs();
            let restitution = (x[bodies + 1] - scene.parameters.restitution[0]).abs();
            masses.fold(friction.max(restitution), f64::max)
        };
        let mut last = cost(&residuals(&scene, &chunks, &x));
        while iterations < 20 && error(&x) > 1e-9 {
            iterations += 1;
            let (r, j) = jacobian::<8>(|x| residuals(&scene, &chunks, x), &x);
            let (r, jt) = (DVector::from_vec(r), j.transpose());
            let (gradient, normal) = (&jt * r, &jt * &j);
            loop {
                let mut damped: DMatrix<f64> = normal.clone();
                for k in 0..x.len() {
                    damped[(k, k)] += damping * normal[(k, k)].max(1e-12);
                    // The scale of all masses moves nothing: the first is held.
                    if is_free && k == 0 {
                        damped.fill_row(0, 0.0);
                        damped.fill_column(0, 0.0);
                        damped[(0, 0)] = 1.0;
                    }
                }
                let step = damped.lu().solve(&gradient).unwrap();
                let mut next = x.clone();
                for k in usize::from(is_free)..x.len() {
                    next[k] -= step[k];
                }
                clamp(&mut next);
                let found = cost(&residuals(&scene, &chunks, &next));
                if found < last {
                    (x, last, damping) = (next, found, damping * 0.1);
                    break;
                }
                damping *= 4.0;
                if damping > 1e8 {
                    break;
                }
            }
            if damping > 1e8 {
                break;
            }
        }
        println!("{name}: {:e} after {iterations} iterations", error(&x));
        assert!(error(&x) <= 1e-6, "{name}: {:e} after {iterations} iterations, {x:?}", error(&x));
    }
}
