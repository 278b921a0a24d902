//! Families of hard scenes: every contact problem is solved, every step is one that bodies can make, and where
//! nothing is pushed out of anything (every other scene) no energy comes from nowhere. `STICTION_CASES=full` runs 100
//! scenes of each family; with `--nocapture` it prints the table of `docs/verification.md`.

mod families;

use std::time::Instant;

use stiction::dynamics::Kinematics;
use stiction::model::Scene;
use stiction::simulation::{Rollout, StepReport};
use stiction::state::State;
use stiction::verify::{Oddity, plausible};

use crate::cases;
use crate::random::Random;
use families::{ALL, Family};

/// What became of the scenes of a family.
#[derive(Clone, Debug, Default)]
struct Tally {
    scenes: usize,
    report: StepReport,
    implausible: Vec<String>,
    /// The most energy that came from nowhere, relative to what was in motion and a fall by the way of a step.
    gained: f64,
    /// The deepest penetration, relative to the way that the fastest body makes in a step.
    deepest: f64,
    /// How far that goes which stays slower than a fall by one step in the second half of its scene, relative to the
    /// way at that speed.
    drift: f64,
    /// s that all steps took: printed in the table, and nothing is judged by it.
    seconds: f64,
}

fn energy(scene: &Scene, state: &State<f64>) -> (f64, f64) {
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, state);
    (kinematics.kinetic_energy(), kinematics.potential_energy(&scene.parameters))
}

fn run(family: &Family, seed: u64, tally: &mut Tally) {
    let text = (family.make)(&mut Random(seed));
    let mut scene = match Scene::parse(&text, "hard.toml") {
        Ok(scene) => scene,
        Err(error) => panic!("{}, seed {seed}: {error}\n{text}", family.name),
    };
    let pushes = seed.is_multiple_of(2);
    if !pushes {
        scene.settings.baumgarte = 0.0;
    }
    let dt = scene.settings.time_step;
    let gravity = scene.parameters.gravity().norm();
    let mass: f64 =
        (0..scene.model.bodies.len()).map(|body| scene.parameters.mass(&scene.model, body)).sum();
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let (kinetic, potential) = energy(&scene, &rollout.state);
    let start = kinetic + potential;
    let (mut fastest, mut least) = (gravity * dt, potential);
    let slow = gravity * dt;
    let mut way = vec![Some(0.0); scene.state.v.len()];
    for step in 0..family.steps {
        let clock = Instant::now();
        let report = rollout.step(&scene.inputs);
        tally.seconds += clock.elapsed().as_secs_f64();
        if 2 * step >= family.steps {
            for (way, &v) in way.iter_mut().zip(&rollout.state.v) {
                *way = way.filter(|_| v.abs() < slow).map(|way| way + v * dt);
            }
        }
        let found = plausible(&scene.system(), &rollout.state, &rollout.workspace, &report);
        // What is not pushed out goes on sinking where it turns over thin edges.
        let found = found.filter(|found| pushes || !matches!(found.oddity, Oddity::Depth(_)));
        if let Some(found) = found {
            let body = &scene.model.bodies[found.body].name;
            tally.implausible.push(format!("seed {seed}, step {step}, {body}: {}", found.oddity));
            break;
        }
        let (kinetic, potential) = energy(&scene, &rollout.state);
        fastest = fastest.max((2.0 * kinetic / mass).sqrt());
        least = least.min(potential);
        // A fall by the way of a step, and all that has been in motion.
        let scale = mass * gravity * fastest * dt + (start - least);
        if !pushes {
            tally.gained = tally.gained.max((kinetic + potential - start) / scale);
        }
        let gaps = rollout.workspace.contacts().map(|contact| contact.gap);
        tally.deepest = gaps.fold(tally.deepest, |most, gap| most.max(-gap / (fastest * dt)));
    }
    let longest = slow * dt * (family.steps / 2) as f64;
    tally.drift = way.iter().flatten().fold(tally.drift, |most, way| most.max(way.abs() / longest));
    tally.scenes += 1;
    tally.report.merge(&rollout.report);
}

fn tally(family: &Family, scenes: usize) -> Tally {
    let mut tally = Tally::default();
    (0..scenes as u64).for_each(|seed| run(family, 1000 + seed, &mut tally));
    tally
}

#[test]
fn hard_scenes_are_solved_and_plausible() {
    let scenes = cases::count(100, 0.03);
    println!(
        "| family | scenes | steps | iterations a step | us a step | unsolved | residual | energy gained | depth | drift |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for family in &ALL {
        let Tally { scenes, report, implausible, gained, deepest, drift, seconds } =
            tally(family, scenes);
        let StepReport { worst, unsolved, steps, .. } = report;
        println!(
            "| {} | {scenes} | {steps} | {:.1} | {:.0} | {unsolved} | {:.0e} | {gained:.0e} | {deepest:.2} | {drift:.0e} |",
            family.name,
            worst.iterations as f64 / steps as f64,
            1e6 * seconds / steps as f64,
            worst.residual,
        );
        let most = if family.articulated { 0.05 } else { 1e-9 };
        if unsolved > 0 || !implausible.is_empty() || gained > most {
            wrong.push(format!(
                "{}: {unsolved} unsolved, {gained:.1e} gained, {implausible:?}",
                family.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
