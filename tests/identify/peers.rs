//! Several processes that share the recordings of an identification: the same bits on any number of them, and what ends their
//! work. Threads stand for them here; `mpi` starts real ones.

use stiction::identify::{
    AdamSettings, Checkpoint, Conclusion, Dataset, Doing, Experiment, FitStatus, FreeParameter,
    InitialState, Method, Noise, Observability, Peers, Problem, SearchSpace, ShortFit, Variables,
    WindowLength, conclude, errors_by_phase, evaluate, fit_from, hold_out, improve,
    masses_over_inertia, minimize, misfits, score_tests, unexplained,
};
use stiction::model::Scene;
use stiction::trajectory::Trajectory;

use super::search::{BALL, motion, throws};
use crate::processes::on_processes;
use crate::random::Random;
use crate::scenes::{on_floor, scene};

const NOISE: Noise =
    Noise { position: 1e-3, rotation: 5e-3, velocity: None, angular_velocity: None };

fn ball() -> Scene {
    scene(&on_floor(BALL))
}

fn free(scene: &Scene, name: &str, start: f64, bounds: [f64; 2]) -> FreeParameter {
    FreeParameter::new(name, scene.model.parameter(name).unwrap(), start, bounds)
}

/// Friction and restitution of a ball from throws.
fn bounces(count: usize, steps: usize) -> (Experiment, Vec<Trajectory>) {
    let scene = ball();
    let parameters = vec![
        free(&scene, "floor-ball/mu", 0.6, [0.01, 1.0]),
        free(&scene, "floor-ball/restitution", 0.3, [0.0, 1.0]),
    ];
    let experiment = Experiment::new("bounces", scene, parameters, NOISE);
    let recordings = throws(&experiment.scene, count, steps, 1.0, 7);
    (experiment, recordings)
}

/// All that a conclusion says, as text: equal where all numbers have the same bits.
fn said(Conclusion { fit, halves, profiles, .. }: &Conclusion) -> String {
    format!(
        "{:?} {} {} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {halves:?} {profiles:?}",
        fit.status,
        fit.loss.to_bits(),
        fit.loss_at_start.to_bits(),
        fit.iterations,
        fit.parameters,
        fit.effort,
        fit.report,
        fit.warnings,
        fit.correlations,
        fit.history,
        fit.starts,
    )
}

/// What is made of recordings beside the search.
fn told(experiment: &Experiment, dataset: &Dataset, found: &Conclusion, threads: usize) -> String {
    let fit = &found.fit;
    let values: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
    let mut evaluation = evaluate(experiment, dataset, &fit.identified, threads);
    // Of several processes the first one alone knows these.
    evaluation.trajectories.iter_mut().for_each(|error| error.over_time.clear());
    format!(
        "{evaluation:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        misfits(experiment, dataset, &fit.identified, &fit.initial_states, threads),
        errors_by_phase(experiment, dataset, fit, threads),
        score_tests(experiment, dataset, fit, threads),
        masses_over_inertia(experiment, dataset, fit, threads),
        unexplained(experiment, dataset, fit, threads),
        Observability::at(experiment, dataset, &values, threads),
        ShortFit::new(experiment, dataset, threads).values,
        dataset.questions(&experiment.scene),
    )
}

/// On some numbers of processes and threads all comes to the same as on one.
#[track_caller]
fn the_same_on_all(experiment: &Experiment, recordings: &[Trajectory], counts: &[[usize; 2]]) {
    let dataset = || Dataset::new(experiment, recordings.to_vec()).unwrap();
    let alone = dataset();
    let expected = conclude(experiment, &alone, 2, None, &mut |_| true).unwrap();
    let beside = told(experiment, &alone, &expected, 2);
    for &[processes, threads] in counts {
        let found = on_processes(processes, |peers| {
            let own = dataset().among(peers);
            let found = conclude(experiment, &own, threads, None, &mut |_| true).unwrap();
            let beside = told(experiment, &own, &found, threads);
            own.demand_agreement().unwrap();
            for (k, window) in own.windows.iter().enumerate() {
                if own.holds(window.trajectory) {
                    assert_eq!(found.fit.initial_states[k], expected.fit.initial_states[k]);
                }
            }
            (said(&found), beside)
        });
        for (rank, (own, own_beside)) in found.iter().enumerate() {
            let context = format!("process {rank} of {processes}, {threads} threads");
            assert_eq!(*own, said(&expected), "{context}");
            assert_eq!(*own_beside, beside, "{context}");
        }
    }
}

const COUNTS: [[usize; 2]; 5] = [[1, 2], [2, 1], [3, 2], [5, 1], [8, 1]];

#[test]
fn whole_rollouts_with_caps_starts_and_halves_have_the_same_bits() {
    let (experiment, recordings) = bounces(12, 48);
    let experiment = Experiment { starts: 3, half_samples: Some(4), ..experiment };
    the_same_on_all(&experiment, &recordings, &COUNTS);
}

#[test]
fn fitted_starts_have_the_same_bits() {
    let (experiment, recordings) = bounces(12, 30);
    let experiment = Experiment { initial_state: InitialState::Fitted, ..experiment };
    the_same_on_all(&experiment, &recordings, &[[2, 1], [5, 1]]);
    // Several windows in each recording.
    let experiment = Experiment { window: WindowLength::Steps(10), profiles: false, ..experiment };
    the_same_on_all(&experiment, &recordings, &[[3, 2], [8, 1]]);
}

#[test]
fn searches_by_gradients_have_the_same_bits() {
    let (experiment, recordings) = bounces(13, 20);
    for method in [Method::Adam(AdamSettings::default()), Method::Lbfgsb] {
        for initial_state in [InitialState::Recorded, InitialState::Fitted] {
            let own = Experiment {
                method,
                initial_state,
                max_iterations: 12,
                profiles: false,
                ..experiment.clone()
            };
            the_same_on_all(&own, &recordings, &[[2, 1], [5, 2]]);
        }
    }
}

#[test]
fn processes_without_recordings_follow() {
    let (experiment, recordings) = bounces(3, 20);
    let experiment = Experiment { profiles: false, ..experiment };
    the_same_on_all(&experiment, &recordings, &[[5, 1]]);
}

/// Copies of recordings count as one, wherever they are, and a model is improved by the same.
#[test]
fn models_are_improved_alike() {
    let (experiment, mut recordings) = bounces(10, 40);
    let mut wrong = experiment.clone();
    let mass = wrong.scene.model.parameter("ball/radius").unwrap();
    mass.slots.iter().for_each(|&slot| wrong.scene.parameters.values[slot] *= 0.9);
    recordings.extend([recordings[1].clone(), recordings[7].clone()]);
    let experiment = Experiment { profiles: false, ..wrong };
    let improved = |dataset: &Dataset| {
        let found = conclude(&experiment, dataset, 1, None, &mut |_| true).unwrap();
        let improved = improve(&experiment, dataset, &found.fit, 1, 1, &mut |_, _| true).unwrap();
        format!("{:?} {:?} {}", improved.rounds, improved.fit.parameters, improved.end)
    };
    let dataset = || Dataset::new(&experiment, recordings.clone()).unwrap();
    let expected = improved(&dataset());
    assert!(expected.contains("ball"), "{expected}");
    for found in on_processes(3, |peers| improved(&dataset().among(peers))) {
        assert_eq!(found, expected);
    }
}

#[test]
fn recordings_are_held_out_alike() {
    let (experiment, recordings) = bounces(12, 30);
    let experiment = Experiment { profiles: false, ..experiment };
    let dataset = || Dataset::new(&experiment, recordings.clone()).unwrap();
    let judged = |dataset: Dataset| {
        let (kept, out) = hold_out(dataset, 0.3, 5);
        let found = conclude(&experiment, &kept, 1, None, &mut |_| true).unwrap();
        let judged = evaluate(&experiment, &out, &found.fit.identified, 1);
        (said(&found), judged.position_error_percent, judged.rotation_error_deg)
    };
    let expected = judged(dataset());
    for found in on_processes(4, |peers| judged(dataset().among(peers))) {
        assert_eq!(found, expected);
    }
}

/// Many short falls, from which gravity is found.
fn falls(count: usize) -> (Experiment, Vec<Trajectory>) {
    let scene = ball();
    let parameters = vec![free(&scene, "gravity/z", -8.0, [-12.0, -5.0])];
    let experiment =
        Experiment { profiles: false, ..Experiment::new("falls", scene, parameters, NOISE) };
    let mut random = Random(3);
    let mut fall = || {
        let mut start = experiment.scene.state.clone();
        start.q[2] = random.uniform(1.0, 2.0);
        motion(&experiment.scene, start, 2, 1.0, &mut random)
    };
    let recordings: Vec<Trajectory> = (0..count).map(|_| fall()).collect();
    (experiment, recordings)
}

/// Sums are those of recordings in their order, as one process always had them; beyond 4096, of blocks.
#[test]
fn sums_are_added_in_order() {
    for (count, blocks) in [(300, 300), (5000, 4096)] {
        let (experiment, recordings) = falls(count);
        let dataset = || Dataset::new(&experiment, recordings.clone()).unwrap();
        let whole = dataset();
        let mut problem = Problem::new(&experiment, &whole, 1);
        let own = (0..count).map(|recording| {
            problem.select(|other| other == recording);
            problem.cost(&[-8.5])
        });
        let own: Vec<f64> = own.collect();
        let block = |b: usize| {
            own[b * count / blocks..(b + 1) * count / blocks].iter().fold(0.0, |sum, x| sum + x)
        };
        let expected: f64 = (0..blocks).map(block).fold(0.0, |sum, x| sum + x);
        let cost = |dataset: &Dataset| Problem::new(&experiment, dataset, 1).cost(&[-8.5]);
        assert_eq!(cost(&whole).to_bits(), expected.to_bits());
        for found in on_processes(3, |peers| cost(&dataset().among(peers))) {
            assert_eq!(found.to_bits(), expected.to_bits());
        }
    }
}

/// Beyond 4096 recordings, too, on any number of processes.
#[test]
fn thousands_of_recordings_have_one_result() {
    let (experiment, recordings) = falls(5000);
    let found = |dataset: Dataset| {
        let found = conclude(&experiment, &dataset, 1, None, &mut |_| true).unwrap();
        // Of so many numbers that sums are handed on from process to process.
        let tests = score_tests(&experiment, &dataset, &found.fit, 1);
        format!("{} {tests:?}", said(&found))
    };
    let dataset = || Dataset::new(&experiment, recordings.clone()).unwrap();
    let expected = found(dataset());
    for processes in [2, 3] {
        for own in on_processes(processes, |peers| found(dataset().among(peers))) {
            assert_eq!(own, expected);
        }
    }
}

/// An iteration sends no more than J'J, its J'r and a cost of each block.
#[test]
fn an_iteration_gathers_little() {
    let (mut experiment, recordings) = falls(5000);
    for name in ["gravity/x", "gravity/y"] {
        experiment.parameters.push(free(&experiment.scene, name, 0.1, [-1.0, 1.0]));
    }
    let gathered = |processes: usize, iterations: usize| {
        let found = on_processes(processes, |peers| {
            let dataset = Dataset::new(&experiment, recordings.clone()).unwrap().among(peers);
            let mut problem = Problem::new(&experiment, &dataset, 1);
            let [start, lower, upper, scale] =
                [SearchSpace::start, SearchSpace::lower, SearchSpace::upper, SearchSpace::scale]
                    .map(|of| of(&problem.space));
            let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
            let found = minimize(&mut problem, &start, variables, iterations, &mut |_, _, _| true);
            assert_eq!(found.iterations, iterations);
            dataset.gathered().bytes
        });
        found[0]
    };
    let n = experiment.parameters.len() as u64;
    for processes in [2, 3, 8] {
        let one = gathered(processes, 3) - gathered(processes, 2);
        let most = 4096 * (1 + n + n * (n + 1) / 2) * 8;
        assert!(one > 0 && one <= most, "{processes} processes: {one} of {most} bytes");
    }
}

/// A process that is of another version.
struct Older(Box<dyn Peers>);

impl Peers for Older {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        let mut own = own.to_vec();
        if let Some(place) = own.windows(version.len()).position(|part| part == version) {
            own[place + version.len() - 1] = b'9';
        }
        self.0.gather(&own)
    }
}

#[test]
fn processes_of_other_versions_are_refused() {
    let (experiment, _) = falls(1);
    let found = on_processes(3, |peers| {
        let peers = if peers.rank() == 2 { Box::new(Older(peers)) } else { peers };
        Dataset::load_among(&experiment, peers, 1).map(|_| ()).unwrap_err().to_string()
    });
    let version = env!("CARGO_PKG_VERSION");
    for said in found {
        assert!(said.contains("process 2") && said.contains("is stiction"), "{said}");
        assert!(said.ends_with(&format!(", process 0 {version}")), "{said}");
    }
}

/// Where one process has another number, all of them are told, and none waits for ever.
#[test]
fn processes_that_part_ways_are_told() {
    let (experiment, recordings) = bounces(6, 20);
    let ended = on_processes(3, |peers| {
        let mut own = experiment.clone();
        if peers.rank() == 1 {
            own.parameters[0].start = 0.6 + 1e-15;
        }
        let dataset = Dataset::new(&own, recordings.clone()).unwrap().among(peers);
        conclude(&own, &dataset, 1, None, &mut |_| true).map(|_| ()).unwrap_err().to_string()
    });
    for message in ended {
        assert!(message.contains("does not have the same numbers"), "{message}");
    }
    // One that does something else.
    let ended = on_processes(2, |peers| {
        let first = peers.rank() == 0;
        let dataset = Dataset::new(&experiment, recordings.clone()).unwrap().among(peers);
        if first {
            evaluate(&experiment, &dataset, &experiment.scene.parameters, 1);
        }
        let found = conclude(&experiment, &dataset, 1, None, &mut |_| true);
        found.map(|_| ()).unwrap_err().to_string()
    });
    for message in ended {
        assert!(message.contains("parted ways"), "{message}");
    }
}

/// A process that is told to stop stops all of them after the same iteration, and what is kept then goes on, on any number of
/// processes, to what would have been found.
#[test]
fn what_is_stopped_goes_on_among_other_processes() {
    let (experiment, recordings) = bounces(12, 30);
    let experiment = Experiment {
        initial_state: InitialState::Fitted,
        method: Method::LevenbergMarquardt,
        ..experiment
    };
    for method in [Method::LevenbergMarquardt, Method::Adam(AdamSettings::default())] {
        let experiment = Experiment { method, max_iterations: 9, ..experiment.clone() };
        let dataset = || Dataset::new(&experiment, recordings.clone()).unwrap();
        let whole = fit_from(&experiment, &dataset(), 1, None, &mut |_| true).unwrap();
        let stopped = on_processes(3, |peers| {
            let rank = peers.rank();
            let mut kept = None;
            let own = dataset().among(peers);
            let found = fit_from(&experiment, &own, 1, None, &mut |progress| {
                kept = Some(serde_json::to_string(&progress.checkpoint()).unwrap());
                rank != 1 || progress.iteration < 4
            });
            let found = found.unwrap();
            assert_eq!((found.status, found.iterations), (FitStatus::Stopped, 4));
            kept.unwrap()
        });
        // The same of all that follows a search.
        let ended = on_processes(3, |peers| {
            let rank = peers.rank();
            let own = dataset().among(peers);
            let found = conclude(&experiment, &own, 1, None, &mut |doing| match doing {
                Doing::Search(progress) => rank != 2 || progress.iteration < 3,
                _ => true,
            });
            let found = found.unwrap();
            (found.fit.status, found.fit.iterations, found.complete)
        });
        assert_eq!(ended, [(FitStatus::Stopped, 3, false); 3]);
        let begin: Checkpoint = serde_json::from_str(&stopped[0]).unwrap();
        assert!(begin.is_whole());
        for processes in [1, 2, 4] {
            let found = on_processes(processes, |peers| {
                let own = dataset().among(peers);
                fit_from(&experiment, &own, 1, Some(begin.clone()), &mut |_| true).unwrap()
            });
            for own in found {
                assert_eq!(format!("{:?}", own.parameters), format!("{:?}", whole.parameters));
                assert_eq!(own.history, whole.history);
                assert_eq!(own.effort, whole.effort);
            }
        }
    }
}
