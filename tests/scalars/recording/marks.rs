//! Marks, and rewinding to them.

use stiction::ad::{Dual, Error, Mark, Real, Recording, Var};

use super::{CHUNK, Pair, fill, pair};

#[test]
fn stale_marks_are_refused() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variable(1.0);
    let first = recording.mark();
    let _ = x * 2.0;
    let second = recording.mark();
    let _ = x * 3.0;
    let third = recording.mark();
    recording.rewind(second).unwrap();
    assert_eq!(recording.rewind(third), Err(Error::StaleMark));
    // The same mark again and again.
    for _ in 0..3 {
        let _ = x * 4.0;
        recording.rewind(second).unwrap();
        assert_eq!(recording.operations(), 2);
    }
    recording.rewind(first).unwrap();
    assert_eq!(recording.rewind(second), Err(Error::StaleMark));
    // As many marks as there were: the place of the second is taken, but not by it.
    let again = recording.mark();
    assert_eq!(recording.rewind(second), Err(Error::StaleMark));
    assert_eq!(recording.rewind(again), Ok(()));
    drop(recording);
    let mut other = Recording::<f64>::start();
    assert_eq!(other.rewind(first), Err(Error::StaleMark));
}

// Only the epochs of the last two marks are compared in registers; older ones are looked up.
#[test]
fn variables_of_before_many_marks_are_alive() {
    let mut recording = Recording::<f64>::start();
    let mut kept = vec![recording.variable(1.5)];
    let mut marks: Vec<Mark> = Vec::new();
    for k in 0..40 {
        marks.push(recording.mark());
        // Of the newest, the oldest and one between.
        let y = kept[k] * kept[0] + kept[k / 2].sin();
        kept.push(y);
    }
    let reference = |x: f64, n: usize| {
        // By duals, which know no marks.
        let mut kept = vec![Dual::<f64, 1>::variable(x, 0)];
        for k in 0..n {
            kept.push(kept[k] * kept[0] + kept[k / 2].sin());
        }
        kept[n]
    };
    for back in [40, 39, 25, 3, 1, 0] {
        if let Some(&mark) = marks.get(back) {
            recording.rewind(mark).unwrap();
            assert_eq!(
                recording.adjoints(&[(kept[back + 1], 1.0)], &[kept[0]], &mut [0.0]),
                Err(Error::StaleVariable)
            );
            let mark = recording.mark();
            assert_eq!(recording.rewind(mark), Err(Error::StaleVariable));
        }
        let mut slope = [0.0];
        let y = kept[back] + 0.0;
        recording.adjoints(&[(y, 1.0)], &[kept[0]], &mut slope).unwrap();
        let expected = reference(1.5, back);
        assert_eq!(y.value(), expected.value);
        // The same products in another order: some hundred roundings.
        let error = (slope[0] - expected.tangent[0]).abs();
        assert!(error <= 1e-13 * expected.tangent[0].abs(), "{back}: {slope:?} {expected:?}");
    }
}

#[test]
fn rewinding_in_a_loop_holds_memory_and_gives_the_same_bits() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variables(&[0.7, 1.3]);
    let mut bytes = 0;
    let mut first = [0.0; 2];
    for k in 0..1000 {
        let mark = recording.mark();
        let mut y = x[0];
        for _ in 0..3 {
            let [p, q] = pair(Pair::default(), &[y, x[1]]);
            let mut z = [Var::constant(0.0)];
            Var::block(&[p, q], &[p.value() * 2.0 + q.value()], &[2.0, 1.0], &mut z).unwrap();
            for _ in 0..500 {
                z[0] = (z[0] * x[1]).sin();
            }
            y = z[0] + p;
        }
        let mut slopes = [0.0; 2];
        recording.adjoints(&[(y, 1.0)], &x, &mut slopes).unwrap();
        if k == 0 {
            (first, bytes) = (slopes, recording.bytes());
        }
        assert_eq!((slopes, recording.bytes()), (first, bytes), "{k}");
        recording.rewind(mark).unwrap();
        assert_eq!(recording.operations(), 2);
    }
}

// A mark anywhere about a border of chunks, filled on to anywhere about another, rewound and filled
// again: no operation is lost, none is left over.
#[test]
fn rewinding_across_chunks_loses_and_keeps_nothing() {
    let lengths = |border: usize| (border - 12)..(border + 4);
    for at in lengths(CHUNK).step_by(3).chain([4, 3 * CHUNK]) {
        for to in lengths(2 * CHUNK).step_by(2).chain(lengths(5 * CHUNK).step_by(5)) {
            let mut recording = Recording::<f64>::start();
            let x = recording.variable(1.0);
            let y = fill(&recording, x, -1.0, at);
            let mark = recording.mark();
            for c in [2.0, 0.5] {
                for swept in [false, true] {
                    let start = recording.operations();
                    let z = fill(&recording, y, c, to);
                    let mut slope = [0.0];
                    if swept {
                        recording.adjoints(&[(z, 1.0)], &[x], &mut slope).unwrap();
                        let after = to.saturating_sub(start).min(1000) as i32;
                        if after < 1000 {
                            let sign = if start % 2 == 1 { 1.0 } else { -1.0 };
                            assert_eq!(slope[0], sign * c.powi(after), "{at} {to}");
                        }
                    }
                    recording.rewind(mark).unwrap();
                    assert_eq!(recording.operations(), at);
                }
            }
            let mut slope = [0.0];
            recording.adjoints(&[(y, 1.0)], &[x], &mut slope).unwrap();
            assert_eq!(slope[0], y.value(), "{at} {to}");
        }
    }
}

// A loop that marks and rewinds does not pile up marks.
#[test]
fn a_mark_where_nothing_was_recorded_since_the_last_is_the_same() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variables(&[3.0, 2.0]);
    let mut kept = Vec::new();
    let info = allocation_counter::measure(|| {
        for _ in 0..10_000 {
            let mark = recording.mark();
            kept.clear();
            kept.push(x[0] * x[1]);
            recording.rewind(mark).unwrap();
        }
    });
    assert!(info.bytes_total < 1000, "{info:?}");
    let mut slopes = [0.0; 2];
    recording.adjoints(&[(x[0] * x[1], 1.0)], &x, &mut slopes).unwrap();
    assert_eq!(slopes, [2.0, 3.0]);
    // What a rewind took is gone all the same.
    let found = recording.adjoints(&[(kept[0] * 2.0, 1.0)], &x, &mut slopes);
    assert_eq!(found, Err(Error::StaleVariable));
}
