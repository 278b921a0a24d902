//! Rates of motion under a network's potential against JAX: both formulations, on the constraints and off them; and their adjoint.

use stiction::ad::{Real, Var, vjp};
use stiction::learn::{Activation, LearnedSystem, Network};
use stiction::maximal::{
    ConstrainedMotion, Formulation, ImpactRule, MotionAdjoint, PointInertia, PointParameters, Rates,
};

use super::archive::{Archive, relative, task};

const TASKS: [&str; 4] = ["BP5", "CP3", "BD5", "Gyro"];

/// A task with a network of two hidden layers of eight, its weights, and what is unknown behind them.
fn learned(name: &str, archive: &mut Archive) -> (LearnedSystem, Vec<f64>, PointParameters<f64>) {
    let system = task(name).system;
    let sizes = [system.coordinates(), 8, 8, 1];
    let network = Network::new(&sizes, Activation::Softplus).unwrap();
    let rule = ImpactRule::default();
    let learned = LearnedSystem::new(system, network, Formulation::Lagrangian, rule).unwrap();
    let weights = archive.weights(&format!("{name}_"), 3);
    let mut numbers = archive.array(&format!("{name}_p"));
    numbers.resize(numbers.len() + 2 * learned.system.surfaces(), 0.0);
    let parameters = learned.parameters(&numbers);
    (learned, weights, parameters)
}

#[test]
fn rates_are_those_of_another_program() {
    let Some(mut archive) = Archive::open("tasks/fields.npz") else { return };
    for name in TASKS {
        let (learned, weights, parameters) = learned(name, &mut archive);
        let system = &learned.system;
        let size = system.coordinates();
        let mut inertia = PointInertia::default();
        inertia.set(system.layout(), &parameters);
        let mut array = |what: &str| archive.array(&format!("{name}_{what}"));
        let [x, v, lagrangian, position, velocity] =
            ["x", "v", "lagrangian", "hamiltonian_x", "hamiltonian_v"].map(&mut array);
        let (mut motion, mut rates) = (ConstrainedMotion::default(), Rates::default());
        for k in 0..20 {
            let own = k * size..(k + 1) * size;
            let (x, v) = (&x[own.clone()], &v[own.clone()]);
            let (_, pull) = learned.network.gradient(&weights, x);
            let mut check = |formulation, dx: &[f64], dv: &[f64]| {
                motion.rates(system, &inertia, formulation, x, v, &pull, &mut rates).unwrap();
                let error = relative(&rates.position, dx).max(relative(&rates.velocity, dv));
                assert!(error <= 1e-13, "{name} {k} {formulation:?}: {error:e}");
            };
            check(Formulation::Lagrangian, v, &lagrangian[own.clone()]);
            check(Formulation::Hamiltonian, &position[own.clone()], &velocity[own]);
        }
    }
}

/// The adjoint derived by hand against the tape through all of it: the factorisation, the multipliers, the masses.
#[test]
fn the_adjoint_of_rates_is_that_of_the_tape() {
    let Some(mut archive) = Archive::open("tasks/fields.npz") else { return };
    let mut random = crate::random::Random(5);
    for name in TASKS {
        let (learned, weights, parameters) = learned(name, &mut archive);
        let system = &learned.system;
        let (size, bodies) = (system.coordinates(), system.bodies().len());
        let (x, v) = (archive.array(&format!("{name}_x")), archive.array(&format!("{name}_v")));
        for (k, formulation) in [Formulation::Lagrangian, Formulation::Hamiltonian]
            .into_iter()
            .cycle()
            .take(20)
            .enumerate()
        {
            let own = k * size..(k + 1) * size;
            let (x, v) = (&x[own.clone()], &v[own]);
            let (_, pull) = learned.network.gradient(&weights, x);
            let adjoints: Vec<f64> = (0..2 * size).map(|_| random.uniform(-1.0, 1.0)).collect();
            let inputs = [x, v, &pull, &parameters.masses, &parameters.moments].concat();
            let record = |inputs: &[Var]| {
                let (state, numbers) = inputs.split_at(3 * size);
                let (masses, moments) = numbers.split_at(bodies);
                let numbers = PointParameters {
                    masses: masses.to_vec(),
                    moments: moments.to_vec(),
                    ..PointParameters::default()
                };
                let [x, v, pull] = [0, 1, 2].map(|k| &state[k * size..][..size]);
                rates(&learned, &numbers, formulation, [x, v, pull])
            };
            let (_, expected) = vjp(record, &inputs, |_| adjoints.clone()).unwrap();

            let (mut inertia, mut motion) = (PointInertia::default(), ConstrainedMotion::default());
            inertia.set(system.layout(), &parameters);
            let mut adjoint = MotionAdjoint::default();
            adjoint.inertias.masses.resize(bodies, 0.0);
            adjoint.inertias.moments.resize(parameters.moments.len(), 0.0);
            let (of_position, of_velocity) = adjoints.split_at(size);
            let state = [x, v, &pull];
            adjoint
                .set(&mut motion, system, &inertia, formulation, state, [of_position, of_velocity])
                .unwrap();
            let MotionAdjoint { position, velocity, gradient, inertias, .. } = &adjoint;
            let found =
                [&position[..], velocity, gradient, &inertias.masses, &inertias.moments].concat();
            let error = relative(&found, &expected);
            assert!(error <= 1e-11, "{name} {k} {formulation:?}: {error:e}");
        }
    }
}

fn rates<T: Real>(
    learned: &LearnedSystem,
    parameters: &PointParameters<T>,
    formulation: Formulation,
    [x, v, pull]: [&[T]; 3],
) -> Vec<T> {
    let (mut inertia, mut motion, mut rates) =
        (PointInertia::default(), ConstrainedMotion::default(), Rates::default());
    inertia.set(learned.system.layout(), parameters);
    motion.rates(&learned.system, &inertia, formulation, x, v, pull, &mut rates).unwrap();
    [rates.position, rates.velocity].concat()
}
