//! The cone program against contact events of another simulator [Zhong21], each solved there by a conic
//! solver: an answer that shares nothing with ours.

use std::fs::File;
use std::path::Path;

use ndarray::{Array2, ArrayD};
use ndarray_npy::NpzReader;
use stiction::ad::Real;
use stiction::argmin::{CompressionRestitution, ConeProgram, ConeSolution, Impact};

use crate::shared::shared;

/// One contact event, with the answers of the other simulator.
struct Event {
    name: String,
    dimension: usize,
    contacts: usize,
    a: Vec<f64>,
    v: Vec<f64>,
    mu: Vec<f64>,
    compression: Vec<f64>,
    v2: Vec<f64>,
    vstar: Vec<f64>,
    target: Vec<f64>,
    restitution: Vec<f64>,
}

impl Event {
    /// A f
    fn image(&self, f: &[f64]) -> Vec<f64> {
        let row = |row: &[f64]| row.iter().zip(f).map(|(a, f)| a * f).sum();
        self.a.chunks_exact(f.len()).map(row).collect()
    }

    fn solve(&self, v: &[f64], least: &[f64]) -> (Vec<f64>, ConeSolution) {
        let rows = self.a.len() / v.len();
        let node = ConeProgram {
            contacts: self.contacts,
            dimension: self.dimension,
            rows,
            tolerance: 1e-10,
        };
        let inputs = [&self.a, v, &self.mu, least].concat();
        let (mut f, mut solution) = (vec![0.0; v.len()], ConeSolution::default());
        f64::call(&node, &inputs, &mut f, &mut solution, &mut Default::default());
        (f, solution)
    }
}

fn events(path: &Path) -> Vec<Event> {
    let mut npz = NpzReader::new(File::open(path).unwrap()).unwrap();
    let task = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut events = Vec::new();
    for k in 0..400 {
        let key = |field: &str| format!("ev{k:04}_{field}");
        let Ok(a) = npz.by_name::<ndarray::OwnedRepr<f64>, ndarray::Ix2>(&key("A")) else { break };
        let a: Array2<f64> = a;
        let mut vector = |field: &str| -> Vec<f64> {
            let x: ArrayD<f64> = npz.by_name(&key(field)).unwrap();
            x.iter().copied().collect()
        };
        let fields = ["v", "mu", "fc", "v2", "vstar", "target", "fr"].map(&mut vector);
        let [v, mu, compression, v2, vstar, target, restitution] = fields;
        let mut count = |field: &str| -> usize {
            let x: ArrayD<i64> = npz.by_name(&key(field)).unwrap();
            x.iter().map(|&x| x as usize).sum()
        };
        let (contacts, dimension) = (count("n"), count("d"));
        events.push(Event {
            name: format!("{task} {k}"),
            dimension,
            contacts,
            a: a.iter().copied().collect(),
            v,
            mu,
            compression,
            v2,
            vstar,
            target,
            restitution,
        });
    }
    events
}

/// The tasks, and how many events of each were recorded (the first 400).
const TASKS: [(&str, usize); 8] = [
    ("BD5_tight_N10", 277),
    ("BP5-e_tight_N20", 382),
    ("BP5_tight_N20", 400),
    ("CP3-e_tight_N20", 22),
    ("CP3_tight_N20", 218),
    ("Gyro-e_tight_N20", 77),
    ("Gyro_tight_N20", 95),
    ("Rope_default_tight_N5", 67),
];

/// Relative to the largest entry, or to 1. The other solver's own tolerance was 1e-12, and the worst of
/// all events differs by 6e-12.
const AGREEMENT: f64 = 1e-10;

/// The largest difference of A f, relative: f itself need not be unique.
fn error(event: &Event, f: &[f64], expected: &[f64]) -> f64 {
    let (f, expected) = (event.image(f), event.image(expected));
    let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let errors = f.iter().zip(&expected).map(|(f, x)| (f - x).abs() / size);
    errors.fold(0.0, |m, e| if e <= m { m } else { e })
}

#[test]
fn events_of_eight_tasks_are_solved_alike() {
    let Some(folder) = shared("reference/diffcosim") else { return };
    let (mut count, mut modes) = (0, [0; 5]);
    for (task, expected) in TASKS {
        let events = events(&folder.join(format!("{task}.npz")));
        assert_eq!(events.len(), expected, "{task}");
        count += events.len();
        for event in &events {
            let free = vec![0.0; event.contacts];
            let after = event.v2.iter().zip(&event.vstar).map(|(v, target)| v - target);
            let after: Vec<f64> = after.collect();
            for (v, least, expected) in
                [(&event.v, &free, &event.compression), (&after, &event.target, &event.restitution)]
            {
                let (f, solution) = event.solve(v, least);
                assert!(
                    solution.report.status.is_solved(),
                    "{}: {:?}",
                    event.name,
                    solution.report
                );
                let error = error(event, &f, expected);
                assert!(error <= AGREEMENT, "{}: {error:e} {:?}", event.name, solution.modes);
                solution.modes.iter().for_each(|&mode| modes[mode as usize] += 1);
            }
        }
    }
    assert_eq!(count, 1538);
    println!("contacts by mode (apex, inside, surface, held inside, held surface): {modes:?}");
    assert!(modes.iter().all(|&m| m > 0), "{modes:?}");
}

#[test]
fn both_phases_follow_from_the_velocity_before() {
    let Some(folder) = shared("reference/diffcosim") else { return };
    let mut checked = 0;
    for (task, _) in TASKS {
        for event in events(&folder.join(format!("{task}.npz"))) {
            // With the impulses unique the coefficient of restitution follows from the bound.
            let normals = event.compression.iter().step_by(event.dimension);
            let restitution: Vec<f64> = normals
                .zip(&event.target)
                .map(|(&f, &t)| if f > 1e-9 { t / f } else { 0.0 })
                .collect();
            let impact = Impact {
                factor: &event.a,
                velocity: &event.v,
                target: &event.vstar,
                friction: &event.mu,
                restitution: &restitution,
                regularization: 0.0,
            };
            let mut law = CompressionRestitution::new(event.contacts, event.dimension, 1e-10);
            let (compression, after) = law.solve(&impact);
            let errors = [(compression, &event.compression), (after, &event.restitution)]
                .map(|(f, expected)| error(&event, f, expected));
            assert!(errors.iter().all(|&e| e <= AGREEMENT), "{}: {errors:?}", event.name);
            checked += 1;
        }
    }
    assert_eq!(checked, 1538);
}
