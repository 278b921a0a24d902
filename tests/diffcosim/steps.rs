//! Single steps, with and without contact, against programs of others.

use stiction::maximal::{Formulation, ImpactRule, PointScene, PointStep};

use super::archive::{Archive, TASKS, largest, task};

const RULE: ImpactRule = ImpactRule { tolerance: 1e-12, regularization: 0.0 };

/// A step from the state `state`; the contacts that were active.
pub fn step(scene: &PointScene, state: &[f64], formulation: Formulation) -> (Vec<f64>, Vec<usize>) {
    let (x, v) = state.split_at(scene.system.coordinates());
    let (mut x, mut v) = (x.to_vec(), v.to_vec());
    let mut memory = PointStep::default();
    let force = &mut &scene.system.potential;
    memory.step(&scene.system, &scene.parameters, formulation, RULE, force, &mut x, &mut v);
    assert!(memory.report.is_solved(), "{:?}", memory.report);
    ([x, v].concat(), memory.report.active)
}

#[test]
fn steps_are_those_of_another_program() {
    for name in TASKS {
        let Some(mut archive) = Archive::open(&format!("tasks/{name}.npz")) else { return };
        let scene = task(name);
        let size = 2 * scene.system.coordinates();
        let (from, to) = (archive.array("step_from"), archive.array("step_to"));
        let ids = archive.integers("step_ids");
        let count = from.len() / size;
        assert_eq!(count, 120, "{name}");
        for (k, (from, to)) in from.chunks_exact(size).zip(to.chunks_exact(size)).enumerate() {
            let (found, active) = step(&scene, from, Formulation::Lagrangian);
            let error = largest(&found, to);
            assert!(error <= 1e-11, "{name} {k}: {error:e}");
            let row = &ids[k * ids.len() / count..(k + 1) * ids.len() / count];
            let expected: Vec<usize> =
                row.iter().filter_map(|&id| usize::try_from(id).ok()).collect();
            assert_eq!(active, expected, "{name} {k}");
        }
    }
}

/// The authors' own motions: those of disks and of the rope, which have no other file. Its tolerance was 1e-12, and positions of its
/// steps accumulate none of it.
#[test]
fn steps_are_those_of_the_authors_program() {
    for (name, file, bound) in
        [("BD5", "BD5_tight_N10", 1e-9), ("Rope", "Rope_default_tight_N5", 1e-9)]
    {
        let Some(mut archive) = Archive::open(&format!("{file}.npz")) else { return };
        let scene = task(name);
        let size = 2 * scene.system.coordinates();
        let (motion, times) = (archive.array("z"), archive.array("ts").len());
        let (mut touched, mut worst) = (0, 0.0_f64);
        for one in motion.chunks_exact(times * size) {
            for pair in one.windows(2 * size).step_by(size) {
                let (from, to) = pair.split_at(size);
                let (found, active) = step(&scene, from, Formulation::Lagrangian);
                touched += usize::from(!active.is_empty());
                worst = worst.max(largest(&found, to));
            }
        }
        println!("{name}: {touched} steps with contact, largest difference {worst:e}");
        assert!(touched > 20 && worst <= bound, "{name}: {touched}, {worst:e}");
    }
}

/// On the constraints both forms of motion are one: over a step they part by its own error only, which falls with the fifth power of its
/// length.
#[test]
fn both_formulations_move_alike() {
    for name in ["CP3", "BD5", "Gyro"] {
        let mut scene = task(name);
        let mut random = super::start::random(3);
        let start = scene.start.clone().unwrap();
        for _ in 0..10 {
            let (x, v) = start.sample(&scene.system, &mut random).unwrap();
            let state = [x, v].concat();
            let mut apart = |step_length: f64| {
                scene.system.step = step_length;
                let [a, b] = [Formulation::Lagrangian, Formulation::Hamiltonian]
                    .map(|formulation| step(&scene, &state, formulation).0);
                largest(&a, &b)
            };
            let [whole, half] = [0.01, 0.005].map(&mut apart);
            assert!(whole <= 1e-6 && half <= whole / 20.0 + 1e-14, "{name}: {whole:e} {half:e}");
        }
    }
}
