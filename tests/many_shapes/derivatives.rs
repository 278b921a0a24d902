//! Derivatives in numbers that pairs share, by every way there is, and what is identified with them.

use std::fmt::Write;

use stiction::ad::{Accumulation, Checkpointing, Dual, Error, Real, Var, gradient, jacobian};
use stiction::identify::{Dataset, Experiment, FitStatus, FreeParameter, Noise, fit};
use stiction::linearize::RolloutAdjoint;
use stiction::model::{Parameters, Scene};
use stiction::simulation::{Rollout, RolloutLoss, RolloutSteps, StepMemory};
use stiction::state::State;
use stiction::trajectory::{Recorded, Trajectory};
use stiction::verify::{Gradcheck, StepProgram};

use super::{piles, run};
use crate::differences::central;
use crate::linearize::adjoint::{compare, compare_rollouts};
use crate::random::Random;
use crate::scenes::{on_floor, scene};

/// The balls of a plate that are large enough to touch.
const FEET: [usize; 3] = [0, 6, 45];

/// A plate on another on a floor, each with 49 balls, three of which carry; `surfaces` are those of the feet of both.
fn plates(settings: &str, surfaces: [[&str; 3]; 2]) -> Scene {
    let mut text = format!(
        "simulation = {{ time_step = 0.001, tolerance = 1e-12, {settings} }}\n[[contact]]\nmu = 0.3\nrestitution = 0.1\n"
    );
    let bodies = [("low", 0.0499, "-1.5, 0.8, 0"), ("high", 0.1498, "1.5, 0.6, -0.3")];
    for ((name, z, velocity), surfaces) in bodies.into_iter().zip(surfaces) {
        writeln!(
            text,
            "[[body]]\nname = '{name}'\nmass = 1\ninertia = [0.03, 0.04, 0.06]\nposition = [0, 0, {z}]\n\
             velocity = [{velocity}]"
        )
        .unwrap();
        for k in 0..49 {
            let foot = FEET.iter().position(|&foot| foot == k);
            let radius = if foot.is_some() { 0.05 } else { 0.02 };
            let at = [k % 7, k / 7].map(|i| 0.12 * (i as f64 - 3.0));
            let surface = foot.map_or("", |foot| surfaces[foot]);
            writeln!(
                text,
                "[[body.shape]]\nname = '{k}'\nsphere = {radius}\nposition = [{}, {}, 0]\n{surface}",
                at[0], at[1]
            )
            .unwrap();
        }
    }
    let scene = scene(&on_floor(&text));
    assert_eq!(scene.model.pairs.len(), 98, "each over the floor");
    scene
}

/// Surfaces of which now the one, now the other, now that of all counts, and of one pair each in another number.
const MIXED: [[&str; 3]; 2] = [
    ["", "mu = 0.5", "mu = 0.2\nmu_static = 0.6\nrestitution = 0.4"],
    ["mu = 0.7", "mu = 0.4", ""],
];

#[test]
fn adjoints_are_products_with_jacobians() {
    for settings in ["", "static_speed = 10", "compliance = 1e-2"] {
        let tally = compare(settings, &plates(settings, MIXED), 12, 0.5);
        assert!(tally.recorded == 0 && tally.structured > 8 && tally.touching > 8, "{tally:?}");
    }
}

#[test]
fn gradients_are_those_of_the_tape() {
    assert_eq!(compare_rollouts("plates", &plates("", MIXED), 12, 1e-8), 0);
}

/// The squared speeds at all steps.
struct Speeds;

impl RolloutLoss for Speeds {
    fn of<T: Real>(&self, _: usize, _: &Parameters<T>, state: &State<T>) -> T {
        state.v.iter().fold(T::constant(0.0), |sum, &v| sum + v * v)
    }
}

/// What contacts without numbers of their own remember is part of what is kept.
#[test]
fn checkpoints_do_not_change_a_bit() {
    const STEPS: usize = 20;
    let Scene { model, parameters, settings, state, inputs, .. } = &plates("", MIXED);
    let program = RolloutSteps { model, settings, initial: state, inputs, loss: Speeds };
    let with = |budget| {
        let checkpointing = Checkpointing { budget, accumulation: Accumulation::Tape };
        checkpointing.gradient(&program, STEPS, &parameters.values)
    };
    let all = with(None).unwrap();
    let number = model.parameter("contact/mu").unwrap().slots[0];
    assert!(all.gradient[number].abs() > 1e-3, "{}", all.gradient[number]);
    let Err(Error::Budget { needed }) = with(Some(0)) else { panic!("0 bytes are enough") };
    let few = with(Some(needed)).unwrap();
    assert!(few.report.checkpoints < STEPS, "{:?}", few.report);
    assert_eq!(few.gradient, all.gradient);
}

/// A weighted sum of the velocities after some steps.
fn weighted<T: Real>(scene: &Scene, numbers: [(usize, T); 3], weights: &[f64], steps: usize) -> T {
    let mut parameters = scene.parameters.cast();
    numbers.into_iter().for_each(|(slot, x)| parameters.values[slot] = x);
    let end = run(scene, &parameters, steps);
    let terms = end[scene.model.nq()..].iter().zip(weights).map(|(&v, &weight)| v * weight);
    terms.fold(T::constant(0.0), |sum, term| sum + term)
}

/// Numbers of hundreds of pairs at once: by adjoints, the tape, duals and differences.
#[test]
fn all_ways_agree_in_numbers_of_all_pairs() {
    const STEPS: usize = 3;
    let mut scene = piles(36, "");
    scene.settings.compliance = 1e-2;
    let names = ["contact/mu", "contact/restitution", "contact/relative_compliance"];
    let slots = names.map(|name| scene.model.parameter(name).unwrap().slots[0]);
    // The upper balls fall onto the lower ones, slide and rebound.
    (0..36).for_each(|k| scene.state.v[12 * k + 6..][..3].copy_from_slice(&[2.0, 0.0, -0.3]));
    scene.parameters.values[slots[1]] = 0.6;
    let at = slots.map(|slot| scene.parameters.values[slot]);
    let mut random = Random(9);
    let weights: Vec<f64> = scene.state.v.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
    let system = scene.system();

    let mut rollout = RolloutAdjoint::default();
    rollout.start(&scene.state);
    (0..STEPS).for_each(|_| _ = rollout.step(&system, &scene.inputs));
    let nv = scene.model.nv();
    let seed = |k: usize, adjoint: &mut [f64]| {
        if k == STEPS {
            adjoint[nv..].copy_from_slice(&weights);
        }
    };
    rollout.reverse(&system, seed).unwrap();
    assert_eq!(rollout.recorded_steps(), 0);
    let adjoints = slots.map(|slot| rollout.adjoints().parameters[slot]);

    let of =
        |x: &[f64; 3]| weighted(&scene, std::array::from_fn(|i| (slots[i], x[i])), &weights, STEPS);
    let on_tape =
        |x: &[Var]| weighted(&scene, std::array::from_fn(|i| (slots[i], x[i])), &weights, STEPS);
    let on_duals = |x: &[Dual<f64, 8>]| {
        vec![weighted(&scene, std::array::from_fn(|i| (slots[i], x[i])), &weights, STEPS)]
    };
    let (_, tape) = gradient(on_tape, &at).unwrap();
    let (_, duals) = jacobian(on_duals, &at);
    for (i, name) in names.iter().enumerate() {
        let moved = |h: f64| {
            let mut x = at;
            x[i] += h;
            vec![of(&x)]
        };
        let difference = central(1e-5, moved)[0];
        let found = adjoints[i];
        assert!(found.abs() > 1e-3, "{name}: {found}");
        for (way, other, most) in
            [("tape", tape[i], 1e-9), ("duals", duals[i], 1e-9), ("differences", difference, 1e-6)]
        {
            let error = (found - other).abs() / found.abs();
            assert!(error < most, "{name}: {found}, {way} {other} ({error:e})");
        }
    }
}

/// Where both surfaces are alike, more of either counts and less of either does not: a kink, which the check knows.
#[test]
fn equal_surfaces_are_a_kink() {
    let equal = [["mu = 0.4", "mu = 0.3", ""]; 2];
    let scene = plates("", equal);
    let program =
        StepProgram::new(scene.system(), &scene.state, &scene.inputs, &StepMemory::default(), 2);
    let check = Gradcheck::of(&program).unwrap();
    let wrong: Vec<_> =
        check.rows.iter().filter(|row| !row.worst.within(&check.tolerances)).collect();
    assert!(check.passed(), "{wrong:#?}");
    let row = |name: &str| check.rows.iter().find(|row| row.name == name).unwrap();
    for (name, pair) in [("low/0/mu", "low/0-high/0"), ("high/6/mu", "low/6-high/6")] {
        let (row, kink) = (row(name), format!("{pair}: which surface counts"));
        assert_eq!((row.one_sided, row.skipped_at_kinks), (1, 0), "{row:?}");
        assert!(row.kinks.keys().eq([&kink]), "{row:?}");
    }
    // What two balls of one surface share is no kink.
    assert_eq!(row("contact/mu").one_sided, 0);
}

#[test]
fn a_shared_number_is_identified() {
    let truth = piles(36, "");
    let mut rollout = Rollout::new(truth.system(), truth.state.clone());
    let mut states = vec![truth.state.clone()];
    for _ in 0..20 {
        rollout.step(&truth.inputs);
        states.push(rollout.state.clone());
    }
    let times = (0..states.len()).map(|k| k as f64 * truth.settings.time_step).collect();
    let recorded = Recorded::all(&truth.model);
    let recordings = vec![Trajectory { name: "piles".into(), times, states, recorded }];
    let noise = Noise { position: 1e-3, rotation: 5e-3, velocity: None, angular_velocity: None };
    let number = truth.model.parameter("contact/mu").unwrap();
    let free = FreeParameter::new("contact/mu", number.clone(), 0.2, [0.01, 1.0]);
    let experiment = Experiment::new("piles", truth, vec![free], noise);
    let dataset = Dataset::new(&experiment, recordings).unwrap();
    let found = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    assert_eq!(found.status, FitStatus::Converged, "{:?}", found.warnings);
    let value = found.identified.values[number.slots[0]];
    assert!((value - 0.3).abs() < 1e-6, "{value}");
}
