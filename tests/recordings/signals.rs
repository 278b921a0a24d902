//! Numbers over time, and their means.

use stiction::ad::{Dual, Real};
use stiction::trajectory::{Between, Signal};

use crate::random::Random;

/// What a signal is at a time, plainly.
fn at(known: &[(f64, f64)], between: Between, time: f64) -> f64 {
    let Some(k) = known.iter().rposition(|&(known, _)| known <= time) else { return known[0].1 };
    match (between, known.get(k + 1)) {
        (Between::Linear, Some(&(end, to))) => {
            let (begin, from) = known[k];
            from + (time - begin) / (end - begin) * (to - from)
        }
        _ => known[k].1,
    }
}

#[test]
fn means_are_those_of_many_samples() {
    let mut random = Random(5);
    for case in 0..200 {
        let between = if case % 2 == 0 { Between::Held } else { Between::Linear };
        let count = 1 + random.below(6);
        let mut time = 0.0;
        let known: Vec<(f64, f64)> = (0..count)
            .map(|_| {
                time += random.uniform(0.01, 0.3);
                (time, random.uniform(-2.0, 2.0))
            })
            .collect();
        let signal = Signal::new(known.clone(), between).unwrap();
        let (from, duration) = (random.uniform(-0.3, 1.5), random.uniform(0.01, 0.8));
        const SAMPLES: usize = 200_000;
        let middle = |k: usize| from + (k as f64 + 0.5) / SAMPLES as f64 * duration;
        let sum: f64 = (0..SAMPLES).map(|k| at(&known, between, middle(k))).sum();
        let (found, expected) = (signal.mean(from, duration), sum / SAMPLES as f64);
        assert!((found - expected).abs() < 1e-4, "{case}: {found} {expected}");

        // How it changes with its begin, by duals and by differences.
        let slope = signal.mean(Dual::<f64, 1>::variable(from, 0), duration).tangent[0];
        assert!((slope - signal.mean_rate(from, duration)).abs() < 1e-10, "{case}");
        let h = 1e-6;
        let difference =
            (signal.mean(from + h, duration) - signal.mean(from - h, duration)) / (2.0 * h);
        assert!(
            (slope - difference).abs() < 1e-4 * (1.0 + slope.abs()),
            "{case}: {slope} {difference}"
        );
        assert_eq!(signal.mean(Dual::<f64, 1>::constant(from), duration).value(), found);
    }
    assert!(Signal::new([], Between::Held).is_none());
}

/// Where steps and rows begin together a held signal has a kink in the delay: its slope there is the mean of both sides, whatever the
/// rounding of the times.
#[test]
fn slopes_at_kinks_are_the_mean_of_both_sides() {
    for step in [1.0 / 128.0, 0.01] {
        let values = [0.0, 2.0, -1.0, 4.0, 4.5];
        let known = values.iter().enumerate().map(|(k, &value)| (step * k as f64, value));
        let signal = Signal::new(known, Between::Held).unwrap();
        for k in 1..4 {
            let from = step * k as f64;
            let h = 1e-3 * step;
            let mean = |from: f64| signal.mean(from, step);
            let sides = [(mean(from + h) - mean(from)) / h, (mean(from) - mean(from - h)) / h];
            let expected = 0.5 * (sides[0] + sides[1]);
            let found = signal.mean(Dual::<f64, 1>::variable(from, 0), step).tangent[0];
            assert!(
                (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                "{k}: {found} {sides:?}"
            );
            assert!((signal.mean_rate(from, step) - found).abs() < 1e-12, "{k}");
            assert!((sides[0] - sides[1]).abs() > 1.0, "no kink: {sides:?}");
        }
    }
}
