//! A short search: what it finds, that it goes on where it stopped, and what it says of bad recordings.

use stiction::learn::{
    Activation, ChunkError, Chunks, ErrorSummary, LearnedSystem, Network, Training,
    TrainingSettings, TrainingState,
};
use stiction::maximal::{Formulation, ImpactRule};

use super::archive::{Archive, task};

fn chain(hidden: &[usize]) -> LearnedSystem {
    let system = task("CP3-e").system;
    let sizes = [&[6], hidden, &[1]].concat();
    let network = Network::new(&sizes, Activation::Softplus).unwrap();
    LearnedSystem::new(system, network, Formulation::Lagrangian, ImpactRule::default()).unwrap()
}

#[test]
fn a_short_search_finds_friction_and_restitution() {
    let Some(mut archive) = Archive::open("tasks/CP3-e.npz") else { return };
    let learned = chain(&[32, 32]);
    let train = Chunks::new(5, 6, archive.array("train")).unwrap();
    let touching = train.check(&learned.system, 0.05).unwrap();
    assert!(train.count() == 200 && (80..120).contains(&touching), "{touching}");
    let test = Chunks::new(5, 6, archive.array("test")).unwrap();
    let settings = TrainingSettings { updates: 400, rate: 2e-2, ..TrainingSettings::default() };
    let start = learned.random(&mut super::start::random(0));
    let run = |threads: usize, stops: &[usize]| {
        let settings = TrainingSettings { threads, ..settings };
        let training = Training { learned: &learned, settings, train: &train };
        let mut state = TrainingState::new(start.clone());
        for &stop in stops {
            // What a file keeps is all there is.
            let TrainingState { unknowns, mean, square, updates } = state;
            state = TrainingState { unknowns, mean, square, updates };
            while state.updates < stop {
                let update = training.update(&mut state);
                assert!(update.taken && update.dropped.is_empty(), "{:?}", update.dropped);
            }
        }
        let errors = training.errors(&state.unknowns, &test, 5).0;
        (state, ErrorSummary::of(&errors))
    };
    let (state, error) = run(1, &[400]);
    let (again, _) = run(2, &[150, 400]);
    assert_eq!(state, again);
    let found = learned.parameters(&state.unknowns[learned.network.weights()..]);
    println!("{:?} {:?} {error:?}", found.friction, found.restitution);
    assert!(found.friction[0] < 0.02 && found.restitution[0] > 0.95, "{found:?}");
    assert!(error.mean < 0.1 && error.count == 100, "{error:?}");
}

#[test]
fn every_piece_is_taken_once_a_round() {
    let learned = chain(&[2]);
    let values: Vec<f64> = (0..7 * 60).map(f64::from).collect();
    let train = Chunks::new(5, 6, values).unwrap();
    let settings = TrainingSettings { batch: 3, seed: 5, ..TrainingSettings::default() };
    let training = Training { learned: &learned, settings, train: &train };
    let mut round: Vec<usize> = (0..3).flat_map(|k| training.batch(k)).collect();
    round.sort_unstable();
    assert_eq!(round, [0, 1, 2, 3, 4, 5, 6]);
    assert_ne!(training.batch(0), training.batch(3));
    assert_eq!(training.batch(2).len(), 1);
    assert!((training.rate(0) - 3e-3).abs() < 1e-18 && training.rate(4000) < 1e-18);
}

#[test]
fn recordings_that_are_none_are_refused() {
    let learned = chain(&[2]);
    let error = |chunks: Result<Chunks, ChunkError>| match chunks {
        Ok(chunks) => chunks.check(&learned.system, 0.05).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(error(Chunks::new(5, 6, vec![0.0; 61])).contains("61 numbers are no pieces"));
    assert!(error(Chunks::new(1, 6, vec![0.0; 12])).contains("two points in time"));
    let mut values = vec![0.0; 120];
    values[75] = f64::NAN;
    assert!(error(Chunks::new(5, 6, values)).contains("piece 1, point in time 1: NaN"));
    let text = error(Chunks::new(5, 4, vec![0.0; 40]));
    assert!(text.contains("pieces have 4 coordinates, the system 6"), "{text}");
    let text = error(Chunks::new(5, 6, vec![0.0; 60]));
    assert!(text.contains("piece 0, point in time 0 is not on the constraints"), "{text}");
}
