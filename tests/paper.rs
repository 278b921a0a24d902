//! The experiments of [LeLidec21], Fig. 4 to 6, from fewer starts than `examples/paper` makes: every one
//! ends within 1 % of the truth of the independent simulator.

#[path = "../examples/paper/collision.rs"]
mod collision;
#[path = "../examples/paper/fig4.rs"]
mod fig4;
#[path = "../examples/paper/fig5.rs"]
mod fig5;
#[path = "../examples/paper/fig6.rs"]
mod fig6;
#[path = "../examples/slides/recording.rs"]
mod recording;
#[path = "../examples/paper/study.rs"]
mod study;

use stiction::identify::{Dataset, Experiment, FitStatus};

use crate::cases;
use crate::identify::simulator;
use study::{Run, Unknown};

/// Identifies from `count` starts; all must be within 1 % of the truth in each unknown.
#[track_caller]
fn finds((experiment, dataset): (Experiment, Dataset), unknowns: &[Unknown], count: usize) {
    let runs = study::study(&experiment, &dataset, &study::starts(unknowns, count)).unwrap();
    assert_eq!(runs.len(), count);
    for (index, unknown) in unknowns.iter().enumerate() {
        let spread = study::spread(&runs, index, unknown.truth);
        let ends: Vec<(&[f64], f64, usize)> =
            runs.iter().map(|run| (run.estimate(), run.loss, run.iterations)).collect();
        assert!(spread.within == count && spread.worst.abs() <= 0.01, "{spread:?} {ends:?}");
        // Noise there is: no start can end at the truth itself.
        assert!(spread.median != 0.0 && spread.sd < 0.01, "{spread:?}");
    }
}

#[test]
fn friction_is_found_from_everywhere() {
    finds(fig4::friction().unwrap(), &[fig4::FRICTION], cases::count(4, 0.5));
}

#[test]
fn mass_is_found_from_everywhere() {
    finds(fig4::mass().unwrap(), &[fig4::WEIGHT], cases::count(4, 0.5));
}

#[test]
fn the_cone_does_not_care_for_directions() {
    for direction in [0.0, 45.0] {
        finds(fig5::slides(direction, "coupled").unwrap(), &[fig5::FRICTION], 2);
    }
}

#[test]
fn the_pyramid_finds_less_friction_across_its_edges() {
    let mu = fig5::FRICTION.truth;
    let worst = Unknown { truth: mu / 2.0_f64.sqrt(), ..fig5::FRICTION };
    finds(fig5::slides(45.0, "pyramid").unwrap(), &[worst], 3);
    finds(fig5::slides(0.0, "pyramid").unwrap(), &[fig5::FRICTION], 2);
    assert!((fig5::theory(45.0) - 0.5_f64.sqrt()).abs() < 1e-6, "{}", fig5::theory(45.0));
    let between = Unknown { truth: mu * fig5::theory(22.5), ..fig5::FRICTION };
    finds(fig5::slides(22.5, "pyramid").unwrap(), &[between], 2);
}

#[test]
fn a_collision_tells_friction_mass_and_restitution() {
    finds(fig6::collisions().unwrap(), &fig6::UNKNOWNS, cases::count(3, 0.34));
}

#[test]
fn without_the_collision_restitution_is_unobservable() {
    let (experiment, dataset) = fig6::misses().unwrap();
    let starts = study::starts(&fig6::UNKNOWNS, 1);
    let runs = study::study(&experiment, &dataset, &starts).unwrap();
    let [Run { status, warnings, .. }] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(*status, FitStatus::Unobservable);
    let [friction, _, restitution] = runs[0].estimate() else { panic!("{runs:?}") };
    assert!((friction / fig6::UNKNOWNS[0].truth - 1.0).abs() < 0.01, "{friction}");
    assert_eq!(*restitution, starts[0][2]);
    let named = |w: &String| w.contains("cube-known/restitution is unobservable");
    assert!(warnings.iter().any(named), "{warnings:?}");
}
