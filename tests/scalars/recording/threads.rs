//! Threads and size.

use std::cell::RefCell;

use stiction::ad::{self, Dual, Real, Recording, Var};

use super::{CHUNK, Pair, assert_usable, fill, pair};

thread_local! {
    /// Touched before the tape, and so outliving it.
    static OUTLIVING: RefCell<Vec<Recording>> = const { RefCell::new(Vec::new()) };
}

// The tape of a thread goes before a recording kept in thread-local storage does.
#[test]
fn a_thread_may_end_in_the_middle_of_a_recording() {
    let kept = std::thread::spawn(|| {
        OUTLIVING.with_borrow_mut(Vec::clear);
        let recording = Recording::<f64>::start();
        let y = fill(&recording, recording.variable(1.0), 2.0, CHUNK + 7);
        OUTLIVING.with_borrow_mut(|kept| kept.push(recording));
        y.value() > 0.0
    });
    assert!(kept.join().unwrap());
    let forgotten = std::thread::spawn(|| {
        let outer = Recording::<f64>::start();
        let inner = Recording::<Dual<f64, 1>>::start();
        let y = pair(Pair::default(), &[outer.variable(1.0), Var::constant(2.0)]);
        std::mem::forget((outer, inner));
        y[0].value()
    });
    assert_eq!(forgotten.join().unwrap(), 2.0);
    let panicked = std::thread::spawn(|| {
        let recording = Recording::<f64>::start();
        let x = recording.variable(1.0);
        assert!(x.value() > 2.0, "on purpose");
    });
    assert!(panicked.join().is_err());
    assert_usable();
}

// d/dx of x (x + 1) (x + 2) ... in three million factors, scaled: by the logarithmic derivative.
#[test]
fn a_recording_of_three_million_operations() {
    const FACTORS: usize = 1_500_000;
    let factor = |k: usize| (k % 1000) as f64 * 1e-3 + 0.5;
    let f = |x: &[Var]| {
        let mut y = Var::constant(1.0);
        for k in 0..FACTORS {
            // Two operations a factor, which is 1 at x = 0.
            y *= x[0] * factor(k) + 1.0;
        }
        y
    };
    let (y, slope) = ad::gradient(f, &[0.0]).unwrap();
    let expected: f64 = (0..FACTORS).map(factor).sum();
    // Every term has the rounding of the sum so far: 1.5e6 of them.
    assert!(y == 1.0 && (slope[0] - expected).abs() <= 1e-9 * expected, "{slope:?} {expected}");
    let recording = Recording::<f64>::start();
    let x = recording.variable(0.0);
    let _ = f(&[x]);
    // The first product is with a constant 1 and recorded like any other.
    assert_eq!(recording.operations(), 1 + 2 * FACTORS);
}

#[test]
fn threads_find_the_same_bits() {
    let gradient = || {
        let f = |x: &[Var]| {
            let mut y = x[0];
            for _ in 0..5000 {
                y = (y * x[1]).sin() + x[0] * 0.5;
            }
            y
        };
        let (y, slopes) = ad::gradient(f, &[0.3, 1.1]).unwrap();
        [y, slopes[0], slopes[1]].map(f64::to_bits)
    };
    let alone = gradient();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(gradient)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(together.iter().all(|bits| *bits == alone));
}
