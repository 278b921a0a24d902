//! The memory of a gradient in steps: held by its budget, or growing with the steps.

use allocation_counter::measure;
use stiction::ad::{Accumulation, Checkpointing, Real, Steps, least_advances};

/// Three coupled swings, in six parameters.
struct Swings;

impl Steps for Swings {
    type Memory = ();
    type Workspace<T: Real> = ();

    fn start<T: Real>(&self, _: &[T], x: &mut Vec<T>) {
        x.extend([0.3, -0.2, 0.1, 0.0, 0.0, 0.0].map(T::constant));
    }

    fn step<T: Real>(&self, _: usize, p: &[T], x: &mut [T], (): &mut (), (): &mut ()) {
        for i in 0..3 {
            let next = x[(i + 1) % 3];
            x[3 + i] -= (p[i] * x[i].sin() + p[3 + i] * (x[i] - next)) * 1e-3;
        }
        for i in 0..3 {
            let v = x[3 + i];
            x[i] += v * 1e-3;
        }
    }

    fn loss<T: Real>(&self, k: usize, _: &[T], x: &[T], (): &mut ()) -> T {
        if k.is_multiple_of(100) { x[0] * x[0] } else { T::zero() }
    }
}

const P: [f64; 6] = [9.0, 8.0, 7.0, 0.3, 0.2, 0.1];

/// The most memory held at once, in bytes, and the report.
fn peak(count: usize, of: Checkpointing) -> (u64, stiction::ad::CheckpointReport) {
    let mut report = None;
    let info = measure(|| report = Some(of.gradient(&Swings, count, &P).unwrap().report));
    (info.bytes_max, report.unwrap())
}

#[test]
fn a_budget_is_kept_over_a_hundred_thousand_steps() {
    const BUDGET: usize = 256 * 1024;
    const STEPS: usize = 100_000;
    for accumulation in [Accumulation::Auto, Accumulation::Tape] {
        // On a thread of its own: the tape's memory is new and counts.
        let (bytes, report) = std::thread::spawn(move || {
            peak(STEPS, Checkpointing { budget: Some(BUDGET), accumulation })
        })
        .join()
        .unwrap();
        assert!(bytes <= BUDGET as u64, "{accumulation:?}: {bytes} of {BUDGET}, {report:?}");
        // Most of it is put to use.
        assert!(report.bytes > BUDGET * 9 / 10, "{report:?}");
        assert_eq!(Some(report.advances), least_advances(STEPS, report.checkpoints));
    }
}

#[test]
fn without_a_budget_memory_grows_with_the_steps() {
    let at = |count| peak(count, Checkpointing::default());
    let ((short, _), (long, report)) = (at(10_000), at(40_000));
    let growth = (long - short) as f64 / 30_000.0;
    // Six numbers and their place.
    assert!((growth - 56.0).abs() < 1.0, "{growth} bytes a step");
    // Every step is taken once beside its derivative, but the last.
    assert_eq!(report.advances, 39_999);
}
