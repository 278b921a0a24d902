//! Recordings: which variables they accept, marks, partial sweeps, panics, diagnosis, size.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nalgebra::DMatrix;
use stiction::ad::{self, Dual, Error, Mark, Node, Real, Recording, Var};

use crate::random::Random;

/// Operations in a chunk of the tape: borders between chunks are where rewinding can go wrong.
const CHUNK: usize = 1024;

/// A thread whose tape works, on both scalars.
fn assert_usable() {
    let (y, slopes) = ad::gradient(|x| x[0] * x[1] + x[1].sin(), &[3.0, 0.0]).unwrap();
    assert_eq!((y, slopes), (0.0, vec![0.0, 4.0]));
    let (y, g, h) = ad::hessian::<2>(|x| x[0] * x[1] * x[1], &[3.0, 2.0]).unwrap();
    assert_eq!((y, g), (12.0, vec![4.0, 12.0]));
    assert_eq!(h, nalgebra::dmatrix![0.0, 4.0; 4.0, 6.0]);
}

/// A node of two outputs, x0 x1 and x0 + x1, that can panic, differentiate inside, and have an
/// infinite adjoint.
#[derive(Clone, Copy, Default)]
struct Pair {
    panics_in: &'static str,
    differentiates: bool,
    infinite: bool,
}

impl Pair {
    fn visit(self, place: &str) {
        assert!(self.panics_in != place, "on purpose");
    }

    /// 1, found by a recording of its own on each of two scalars.
    fn one(self) -> f64 {
        if !self.differentiates {
            return 1.0;
        }
        let (_, slope) = ad::gradient(|x| x[0] * x[0], &[0.5]).unwrap();
        let (_, _, curvature) = ad::hessian::<1>(|x| x[0] * x[0], &[0.5]).unwrap();
        slope[0] * 0.5 * curvature[(0, 0)]
    }
}

impl Node for Pair {
    type Solution = ();
    type Workspace<T: Real> = ();
    type Factor<T: Real> = [T; 2];

    fn primal<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        self.visit("primal");
        y.copy_from_slice(&[x[0] * x[1], x[0] + x[1]]);
    }

    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        residual.copy_from_slice(&[y[0] - x[0] * x[1], y[1] - x[0] - x[1]]);
    }

    fn factor<T: Real>(&self, (): &(), x: &[T], _: &[T], factor: &mut [T; 2]) {
        self.visit("factor");
        *factor = [x[1] * self.one(), x[0] * self.one()];
    }

    fn jvp<T: Real>(&self, (): &(), f: &mut [T; 2], _: &[T], _: &[T], dx: &[T], dy: &mut [T]) {
        self.visit("jvp");
        dy[0] = f[0] * dx[0] + f[1] * dx[1];
        dy[1] = dx[0] + dx[1];
    }

    fn vjp<T: Real>(&self, (): &(), f: &mut [T; 2], _: &[T], _: &[T], dy: &[T], dx: &mut [T]) {
        self.visit("vjp");
        let one = self.one();
        dx[0] += (f[0] * dy[0] + dy[1]) * one;
        dx[1] += (f[1] * dy[0] + dy[1]) * one;
        if self.infinite {
            dx[1] += T::constant(f64::INFINITY);
        }
    }
}

fn pair<T: Real>(node: Pair, x: &[T]) -> [T; 2] {
    let mut y = [T::zero(); 2];
    T::call(&node, x, &mut y, &mut (), &mut Default::default());
    y
}

// --- Variables that are not of this recording ---

#[test]
fn variables_from_before_a_rewind_are_refused_and_those_from_before_the_mark_are_not() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variable(3.0);
    let mark = recording.mark();
    let gone = x * 2.0;
    recording.rewind(mark).unwrap();
    // As many operations again, so that the index of what is gone is that of something else.
    let y = x * 5.0;
    let mut slope = [0.0];
    recording.adjoints(&[(y, 1.0)], &[x], &mut slope).unwrap();
    assert_eq!(slope, [5.0]);
    for use_it in
        [|gone: Var, _: Var| gone, |gone, x| x * gone, |gone, x| gone - x, |gone: Var, _| -gone]
    {
        let mark = recording.mark();
        let y = use_it(gone, x);
        let found = recording.adjoints(&[(y, 1.0)], &[x], &mut slope);
        assert_eq!(found, Err(Error::StaleVariable));
        // Rewinding tells it once more, and ends it.
        assert_eq!(recording.rewind(mark), Err(Error::StaleVariable));
        assert_eq!(recording.fault(), Ok(()));
    }
    // Asked for, instead of used.
    assert_eq!(recording.adjoints(&[(y, 1.0)], &[gone], &mut slope), Err(Error::StaleVariable));
}

#[test]
fn stale_variables_are_refused_by_blocks_nodes_and_rows() {
    let kept = Recording::<f64>::start().variable(1.0);
    let run = |f: &dyn Fn(&mut Recording, Var) -> Result<(), Error>| {
        let mut recording = Recording::start();
        let x = recording.variable(2.0);
        f(&mut recording, x)
    };
    let found = run(&|recording, x| {
        let mut y = [Var::constant(0.0)];
        Var::block(&[x, kept], &[1.0], &[1.0, 1.0], &mut y).unwrap();
        recording.adjoints(&[(y[0], 1.0)], &[x], &mut [0.0])
    });
    assert_eq!(found, Err(Error::StaleVariable));
    let found = run(&|recording, x| {
        let y = pair(Pair::default(), &[kept, x]);
        recording.adjoints(&[(y[1], 1.0)], &[x], &mut [0.0])
    });
    assert_eq!(found, Err(Error::StaleVariable));
    assert_eq!(
        run(&|recording, x| recording.rows(&[x, kept], &[x], &mut [0.0; 2])),
        Err(Error::StaleVariable)
    );
    assert_eq!(
        run(&|recording, x| recording.rows(&[x], &[x, kept], &mut [0.0; 2])),
        Err(Error::StaleVariable)
    );
    // What a stale variable was shifted, chosen or copied into is stale as well.
    for f in [|k: Var, _: Var| k + 1.0, |k, x| Real::max(k + 10.0, x), |k, x| Real::copysign(k, x)]
    {
        assert_eq!(ad::gradient(|x| f(kept, x[0]), &[1.0]), Err(Error::StaleVariable));
    }
}

/// Whether `T` is `Send`: the inherent constant, if it applies, hides that of the trait.
struct Probe<T>(PhantomData<T>);

trait Otherwise {
    const SEND: bool = false;
}

impl<T> Otherwise for Probe<T> {}

impl<T: Send> Probe<T> {
    const SEND: bool = true;
}

#[test]
fn variables_and_recordings_stay_on_their_thread() {
    let send = [
        Probe::<f64>::SEND,
        Probe::<Var>::SEND,
        Probe::<Var<Dual<f64, 1>>>::SEND,
        Probe::<Recording>::SEND,
    ];
    assert_eq!(send, [true, false, false, false]);
}

// Epochs are numbered across threads: the first recording of a thread is not that of another.
#[test]
fn threads_record_independently() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variable(2.0);
    let y = x * x;
    let slopes: Vec<f64> = std::thread::scope(|scope| {
        let run = |k: i32| move || ad::gradient(|x| x[0].powi(k), &[2.0]).unwrap().1[0];
        let threads: Vec<_> = (1..=4).map(|k| scope.spawn(run(k))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(slopes, [1.0, 4.0, 12.0, 32.0]);
    let mut slope = [0.0];
    recording.adjoints(&[(y * x, 1.0)], &[x], &mut slope).unwrap();
    assert_eq!(slope, [12.0]);
}

// --- Nesting ---

#[test]
fn drivers_nest_in_drivers_on_the_same_scalar_and_on_others() {
    // d/dx of x^2 + (d/du u^3 at u = x) is 2 x to the tape, that derivative being a number to it.
    let inner = |at: f64| {
        let (_, g) = ad::gradient(|u| u[0].powi(3), &[at]).unwrap();
        let (_, v) = ad::vjp(|u| vec![u[0], u[0].powi(3)], &[at], |_| vec![0.0, 1.0]).unwrap();
        let (_, j) = ad::jacobian_by_rows(|u| vec![u[0].powi(3)], &[at]).unwrap();
        let (_, h, _) = ad::hessian::<1>(|u| u[0].powi(3), &[at]).unwrap();
        let (_, p, _) = ad::hessian_vector(|u| u[0].powi(3), &[at], &[1.0]).unwrap();
        assert_eq!([v[0], j[(0, 0)], h[0], p[0]], [g[0]; 4]);
        g[0]
    };
    let (y, dy) = ad::gradient(|x| x[0] * x[0] + inner(x[0].value()), &[2.0]).unwrap();
    assert_eq!((y, dy), (16.0, vec![4.0]));
    let (y, dy, h) = ad::hessian::<1>(|x| x[0] * x[0] + inner(x[0].value()), &[2.0]).unwrap();
    assert_eq!((y, dy, h[(0, 0)]), (16.0, vec![4.0], 2.0));
    // In the weights of an adjoint, and three deep.
    let weights = |y: &[f64]| vec![inner(y[0])];
    let (_, dx) = ad::vjp(|x| vec![x[0] * 2.0], &[1.0], weights).unwrap();
    assert_eq!(dx, [24.0]);
    let deep = |at: f64| ad::gradient(|x| x[0] * inner(x[0].value()), &[at]).unwrap().1[0];
    assert_eq!(ad::gradient(|x| x[0] * deep(x[0].value()), &[2.0]).unwrap().1, [12.0]);
    assert_usable();
}

#[test]
fn an_outer_variable_is_refused_inside_whatever_the_driver() {
    let found = ad::gradient(
        |x| {
            let stale = Err(Error::StaleVariable);
            assert_eq!(ad::gradient(|u| u[0] + x[0], &[5.0]), stale);
            assert_eq!(ad::gradient(|_| x[0], &[5.0]), stale);
            let found = ad::vjp(|u| vec![u[0], x[0].sin()], &[5.0], |_| vec![1.0, 0.0]);
            assert_eq!(found.unwrap_err(), Error::StaleVariable);
            let found = ad::jacobian_by_rows(|u| vec![u[0], x[0]], &[5.0]);
            assert_eq!(found.unwrap_err(), Error::StaleVariable);
            x[0] * x[0]
        },
        &[2.0],
    );
    assert_eq!(found, Ok((4.0, vec![4.0])));
    let found = ad::hessian::<1>(
        |x| {
            let found = ad::hessian_vector(|u| u[0] * x[0], &[1.0], &[1.0]);
            assert_eq!(found, Err(Error::StaleVariable));
            // Other lanes are another scalar: a recording of its own, not in the way.
            assert!(ad::hessian::<2>(|u| u[0] * u[1], &[1.0, 2.0]).is_ok());
            x[0] * x[0]
        },
        &[2.0],
    );
    assert_eq!(found.unwrap().2[(0, 0)], 2.0);
}

#[test]
fn recordings_may_be_dropped_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut recordings: Vec<Option<Recording>> = Vec::new();
        let mut variables: Vec<Var> = Vec::new();
        for k in 0..3 {
            let recording = Recording::start();
            variables.push(recording.variable(k as f64 + 2.0));
            recordings.push(Some(recording));
        }
        let mut alive = [true; 3];
        for dropped in order {
            // Only the last one that is alive records; the others are interrupted.
            let last = alive.iter().rposition(|&a| a).unwrap();
            for (k, recording) in recordings.iter_mut().enumerate() {
                let Some(recording) = recording else { continue };
                let mut slope = [0.0];
                if k == last {
                    let y = variables[k] * variables[k];
                    recording.adjoints(&[(y, 1.0)], &[variables[k]], &mut slope).unwrap();
                    assert_eq!(slope, [2.0 * (k as f64 + 2.0)], "{order:?}");
                } else {
                    let found = recording.adjoints(&[], &[], &mut []);
                    assert_eq!(found, Err(Error::Interrupted), "{order:?}");
                    assert_eq!(recording.rows(&[], &[], &mut []), Err(Error::Interrupted));
                    assert_eq!((recording.operations(), recording.bytes()), (0, 0));
                    let mark = recording.mark();
                    assert_eq!(recording.rewind(mark), Err(Error::Interrupted));
                    let refused = recording.variable(1.0);
                    assert!(!refused.is_constant());
                }
            }
            recordings[dropped] = None;
            alive[dropped] = false;
        }
        assert_usable();
    }
}

#[test]
fn a_variable_of_an_interrupted_recording_is_refused() {
    let outer = Recording::<f64>::start();
    let mut inner = Recording::<f64>::start();
    let refused = outer.variable(1.0);
    let x = inner.variable(2.0);
    let found = inner.adjoints(&[(x * refused, 1.0)], &[x], &mut [0.0]);
    assert_eq!(found, Err(Error::StaleVariable));
}

// A mark set while interrupted belongs to nothing, also after the interruption.
#[test]
fn a_mark_of_an_interrupted_recording_is_stale() {
    let mut outer = Recording::<f64>::start();
    let x = outer.variable(2.0);
    let inner = Recording::<f64>::start();
    let mark = outer.mark();
    drop(inner);
    assert_eq!(outer.rewind(mark), Err(Error::StaleMark));
    let mut slope = [0.0];
    outer.adjoints(&[(x * x, 1.0)], &[x], &mut slope).unwrap();
    assert_eq!(slope, [4.0]);
}

// --- Marks ---

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

/// Operations `y <- y * c` up to `to` in all, so that the slope says which of them are on the tape.
fn fill(recording: &Recording, y: Var, c: f64, to: usize) -> Var {
    let mut y = y;
    while recording.operations() < to {
        y *= c;
    }
    y
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

// --- Sweeps ---

/// x0, then a node, a block, and operations between and after; what each is of x0 and x1.
fn stages(x: &[Var]) -> Vec<(Var, [f64; 2])> {
    let [a, b] = [x[0].value(), x[1].value()];
    let early = x[0] * 3.0;
    let [p, q] = pair(Pair::default(), x);
    let between = p * q;
    let mut z = [Var::constant(0.0); 2];
    let jacobian = [2.0, 0.0, 1.0, 1.0];
    Var::block(&[p, q], &[2.0 * a * b, a * b + a + b], &jacobian, &mut z).unwrap();
    let late = z[0] * z[1];
    vec![
        (x[0], [1.0, 0.0]),
        (early, [3.0, 0.0]),
        (p, [b, a]),
        (q, [1.0, 1.0]),
        (between, [b * (a + b) + a * b, a * (a + b) + a * b]),
        (z[0], [2.0 * b, 2.0 * a]),
        (z[1], [b + 1.0, a + 1.0]),
        (late, {
            let (u, v) = (2.0 * a * b, a * b + a + b);
            [2.0 * b * v + u * (b + 1.0), 2.0 * a * v + u * (a + 1.0)]
        }),
    ]
}

// Small whole numbers: all products are exact.
const WHOLE: [f64; 2] = [3.0, 5.0];

#[test]
fn any_variable_may_be_swept_from_whatever_comes_after_it() {
    for k in 0..8 {
        let (_, slopes) = ad::gradient(|x| stages(x)[k].0, &WHOLE).unwrap();
        let mut expected = [0.0; 2];
        ad::gradient(
            |x| {
                expected = stages(x)[k].1;
                x[0]
            },
            &WHOLE,
        )
        .unwrap();
        assert_eq!(slopes, expected, "stage {k}");
    }
}

#[test]
fn adjoints_of_intermediate_variables() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variables(&WHOLE);
    let stages = stages(&x);
    let all: Vec<Var> = stages.iter().map(|s| s.0).collect();
    // d late / d stage; what comes after the seed has adjoint 0.
    let mut adjoints = vec![f64::NAN; all.len()];
    recording.adjoints(&[(all[7], 1.0)], &all, &mut adjoints).unwrap();
    let (u, v) = (30.0, 23.0);
    assert_eq!(adjoints[1..], [0.0, 2.0 * v + u, u, 0.0, v, u, 1.0]);
    assert_eq!(adjoints[0], stages[7].1[0]);
    recording.adjoints(&[(all[2], 1.0)], &all, &mut adjoints).unwrap();
    assert_eq!(adjoints, [5.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // Seeds add up, on one variable and on several, and count for the variable itself.
    let seeds = [(all[7], 0.5), (all[7], 1.5), (all[4], -1.0), (all[0], 10.0), (all[5], 3.0)];
    let expected: [f64; 2] = std::array::from_fn(|k| {
        seeds
            .iter()
            .map(|&(y, w)| {
                let stage = stages.iter().find(|s| s.0.value() == y.value()).unwrap();
                w * stage.1[k]
            })
            .sum()
    });
    let mut slopes = [0.0; 2];
    recording.adjoints(&seeds, &x, &mut slopes).unwrap();
    assert_eq!(slopes, expected);
    // A constant has none, whatever flows there.
    let constant = Var::constant(4.0);
    let y = x[0] * constant;
    let mut adjoints = [f64::NAN; 2];
    recording.adjoints(&[(y, 1.0), (constant, 7.0)], &[constant, x[0]], &mut adjoints).unwrap();
    assert_eq!(adjoints, [0.0, 4.0]);
    recording.adjoints(&[], &x, &mut slopes).unwrap();
    assert_eq!(slopes, [0.0; 2]);
}

/// Nineteen outputs (three sweeps of rows) of three inputs, through a node, a block and chunks.
fn outputs(x: &[Var]) -> Vec<Var> {
    let mut y = Vec::new();
    let mut z = [x[0], x[1], x[2]];
    for k in 0..19 {
        let [p, q] = pair(Pair::default(), &[z[0], z[1]]);
        z = [(p * 0.3).sin(), (q - z[2]).tanh(), z[2] * x[k % 3] / (z[0] * z[0] + 1.0)];
        if k % 4 == 1 {
            let mut w = [Var::constant(0.0)];
            Var::block(&z, &[0.25], &[0.1, -0.2, 0.3], &mut w).unwrap();
            z[1] = w[0];
        }
        for _ in 0..40 {
            z[2] = z[2].cos() + z[0];
        }
        y.push(if k % 5 == 4 { x[k % 3] } else { z[k % 3] });
    }
    y
}

#[test]
fn rows_are_single_sweeps_to_the_bit() {
    let x: [f64; 3] = Random(5).vector(1.0);
    let mut recording = Recording::<f64>::start();
    let x = recording.variables(&x);
    let mut y = outputs(&x);
    y.push(Var::constant(1.0));
    let mut rows = vec![f64::NAN; y.len() * 3];
    recording.rows(&y, &x, &mut rows).unwrap();
    for (k, (y, row)) in y.iter().zip(rows.chunks(3)).enumerate() {
        let mut single = [0.0; 3];
        recording.adjoints(&[(*y, 1.0)], &x, &mut single).unwrap();
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(row), bits(&single), "row {k}");
    }
    // The same in the wrapper.
    let values: Vec<f64> = x.iter().map(|x| x.value()).collect();
    let (_, jacobian) = ad::jacobian_by_rows(outputs, &values).unwrap();
    assert_eq!(jacobian, DMatrix::from_row_slice(19, 3, &rows[..57]));
}

// An infinite slope that one row depends on must not turn into 0 * inf in the others.
#[test]
fn rows_do_not_harm_each_other() {
    let f = |x: &[Var]| {
        let infinite = x[1].asin();
        let mut z = [Var::constant(0.0)];
        Var::block(&[x[1]], &[0.0], &[f64::INFINITY], &mut z).unwrap();
        vec![x[0] * x[0], x[0] + infinite, x[1] * 2.0, z[0]]
    };
    let (_, rows) = ad::jacobian_by_rows(f, &[3.0, 1.0]).unwrap();
    let inf = f64::INFINITY;
    assert_eq!(rows, nalgebra::dmatrix![6.0, 0.0; 1.0, inf; 0.0, 2.0; 0.0, inf]);
}

#[test]
fn lengths_of_recordings_must_match() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variables(&[1.0, 2.0]);
    let wrong = |expected, found| Err(Error::Shape { expected, found });
    assert_eq!(recording.adjoints(&[], &x, &mut [0.0]), wrong(2, 1));
    assert_eq!(recording.rows(&x, &x, &mut [0.0; 3]), wrong(4, 3));
    let mut y = [x[0]];
    assert_eq!(Var::block(&x, &[1.0, 2.0], &[0.0; 4], &mut y), wrong(2, 1));
    assert_eq!(Var::block(&x, &[1.0], &[0.0; 3], &mut y), wrong(2, 3));
    // Nothing of this was recorded, and nothing went wrong while recording.
    assert_eq!((recording.operations(), recording.fault()), (2, Ok(())));
    let found = ad::gradient_into(|x| x[0], &[1.0, 2.0], &mut [0.0]);
    assert_eq!(found, Err(Error::Shape { expected: 2, found: 1 }));
    let found = ad::hessian_vector(|x| x[0], &[1.0, 2.0], &[0.0]);
    assert_eq!(found, Err(Error::Shape { expected: 2, found: 1 }));
}

// A block of a computation gives what recording that computation gives.
#[test]
fn blocks_stand_for_what_they_summarise() {
    fn inner<T: Real>(x: &[T]) -> Vec<T> {
        vec![x[0] * x[1].sin(), (x[1] - x[2] * x[0]).tanh(), x[2].exp() / (x[0] * x[0] + 1.0)]
    }
    let outer = |x: &[Var], by_block: bool| {
        let u = [x[0] * x[1], x[1] + 0.5, x[0] - x[1]];
        let y = if by_block {
            let values = u.map(|u| u.value());
            let (y, jacobian) = ad::jacobian::<4>(inner, &values);
            let rows: Vec<f64> = jacobian.transpose().iter().copied().collect();
            let mut outputs = [Var::constant(0.0); 3];
            Var::block(&u, &y, &rows, &mut outputs).unwrap();
            outputs.to_vec()
        } else {
            inner(&u)
        };
        y[0] * y[1] + y[2] * y[2] * x[0]
    };
    let mut random = Random(8);
    for _ in 0..50 {
        let x: [f64; 2] = random.vector(1.5);
        let (value, blocked) = ad::gradient(|x| outer(x, true), &x).unwrap();
        let (expected, recorded) = ad::gradient(|x| outer(x, false), &x).unwrap();
        assert_eq!(value, expected);
        for (b, r) in blocked.iter().zip(&recorded) {
            // Some thirty roundings of numbers up to about 20.
            assert!((b - r).abs() <= 1e-13, "{x:?}: {blocked:?} {recorded:?}");
        }
    }
}

#[test]
fn blocks_of_constants_record_nothing() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variable(2.0);
    let mut y = [x; 2];
    Var::block(&[Var::constant(1.0)], &[3.0, 4.0], &[1.0, 1.0], &mut y).unwrap();
    assert!(y.iter().all(|y| y.is_constant()) && recording.operations() == 1);
    // Without outputs, and without inputs.
    Var::block(&[x], &[], &[], &mut []).unwrap();
    Var::block(&[], &[5.0], &[], &mut y[..1]).unwrap();
    assert!(y[0].is_constant() && y[0].value() == 5.0);
    let mut slope = [0.0];
    recording.adjoints(&[(x * y[0] * y[1], 1.0)], &[x], &mut slope).unwrap();
    assert_eq!(slope, [20.0]);
}

// --- Panics ---

#[test]
fn a_panic_anywhere_leaves_the_thread_usable() {
    let panics = |f: &dyn Fn()| catch_unwind(AssertUnwindSafe(f)).is_err();
    let at = [2.0, 3.0];
    for place in ["primal", "factor", "vjp"] {
        let node = Pair { panics_in: place, ..Pair::default() };
        let f = |x: &[Var]| pair(node, &[x[0] * x[1], x[1]])[0];
        let f2 = |x: &[Var<Dual<f64, 2>>]| pair(node, &[x[0] * x[1], x[1]])[0];
        assert!(panics(&|| _ = ad::gradient(f, &at)), "{place}");
        assert_usable();
        assert!(panics(&|| _ = ad::jacobian_by_rows(|x| vec![f(x)], &at)), "{place}");
        assert_usable();
        assert!(panics(&|| _ = ad::hessian::<2>(f2, &at)), "{place}");
        assert_usable();
        // Within a recording that goes on, and whose own sweep is right afterwards.
        let (_, slopes) = ad::gradient(
            |x| {
                let y = pair(Pair::default(), x);
                assert!(panics(&|| _ = ad::gradient(f, &at)), "{place}");
                y[0] * y[1]
            },
            &at,
        )
        .unwrap();
        assert_eq!(slopes, [6.0 + 15.0, 6.0 + 10.0]);
    }
    assert!(panics(&|| _ = ad::vjp(|x| x.to_vec(), &at, |_| panic!("on purpose"))));
    assert_usable();
    assert!(panics(&|| _ = ad::gradient(|_| panic!("on purpose"), &at)));
    assert!(panics(&|| _ = ad::hessian_vector(|_| panic!("on purpose"), &at, &at)));
    assert!(panics(&|| ad::diagnose(|| panic!("on purpose"))));
    assert_usable();
    // The diagnosis has ended with the panic: an infinite slope is no error again.
    assert_eq!(ad::gradient(|x| x[0].asin(), &[1.0]).unwrap().1, [f64::INFINITY]);
}

// A sweep that was broken off by a node can be done again on the same recording.
#[test]
fn a_recording_survives_a_panic_in_its_sweep() {
    thread_local!(static PANIC: Cell<bool> = const { Cell::new(true) });
    #[derive(Clone)]
    struct Once;
    impl Node for Once {
        type Solution = ();
        type Workspace<T: Real> = ();
        type Factor<T: Real> = ();
        fn primal<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
            y[0] = x[0] * 4.0;
        }
        fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], r: &mut [T]) {
            r[0] = y[0] - x[0] * 4.0;
        }
        fn factor<T: Real>(&self, (): &(), _: &[T], _: &[T], (): &mut ()) {}
        fn jvp<T: Real>(&self, (): &(), (): &mut (), _: &[T], _: &[T], dx: &[T], dy: &mut [T]) {
            dy[0] = dx[0] * 4.0;
        }
        fn vjp<T: Real>(&self, (): &(), (): &mut (), _: &[T], _: &[T], dy: &[T], dx: &mut [T]) {
            assert!(!PANIC.replace(false), "on purpose");
            dx[0] += dy[0] * 4.0;
        }
    }
    let mut recording = Recording::<f64>::start();
    let x = recording.variable(3.0);
    let mut y = [Var::constant(0.0)];
    Real::call(&Once, &[x * x], &mut y, &mut (), &mut Default::default());
    let mut slope = [0.0];
    let mut sweep = |y: Var| recording.adjoints(&[(y, 1.0)], &[x], &mut slope).map(|()| slope[0]);
    assert!(catch_unwind(AssertUnwindSafe(|| sweep(y[0]))).is_err());
    assert_eq!(sweep(y[0]), Ok(24.0));
    // And it can be recorded on.
    assert_eq!(sweep(y[0] * x), Ok(108.0));
}

#[test]
fn a_node_may_differentiate_while_it_is_differentiated() {
    let node = Pair { differentiates: true, ..Pair::default() };
    let f = |x: &[Var]| {
        let [p, q] = pair(node, x);
        let [r, s] = pair(node, &[p * q, x[0]]);
        r * s
    };
    let plain = |x: &[Var]| {
        let (p, q) = (x[0] * x[1], x[0] + x[1]);
        let (r, s) = (p * q * x[0], p * q + x[0]);
        r * s
    };
    let expected = ad::gradient(plain, &WHOLE).unwrap();
    assert_eq!(ad::gradient(f, &WHOLE).unwrap(), expected);
    let (_, rows) = ad::jacobian_by_rows(|x| vec![x[0], f(x)], &WHOLE).unwrap();
    assert_eq!(rows.row(1).iter().copied().collect::<Vec<_>>(), expected.1);
    // On the tape over duals the recordings inside are on another scalar and on the same.
    let second = |x: &[Var<Dual<f64, 1>>]| {
        let [p, q] = pair(node, x);
        p * q
    };
    let (_, g, h) = ad::hessian::<1>(second, &WHOLE).unwrap();
    let [a, b] = WHOLE;
    assert_eq!(g, [2.0 * a * b + b * b, a * a + 2.0 * a * b]);
    assert_eq!(h, nalgebra::dmatrix![2.0 * b, 2.0 * (a + b); 2.0 * (a + b), 2.0 * a]);
}

// --- Infinite and zero adjoints ---

#[test]
fn an_infinite_adjoint_harms_no_other_variable() {
    let inf = f64::INFINITY;
    // asin at 1 of an operation with a constant, of a shifted variable, through a node and a block.
    let uses: [fn(Var) -> Var; 6] = [
        |x| x.asin(),
        |x| (x * 1.0).asin(),
        |x| (x + 0.0).asin(),
        |x| (x * Var::constant(1.0)).asin(),
        |x| (Var::constant(2.0) - x).acos(),
        |x| {
            let mut z = [Var::constant(0.0)];
            Var::block(&[x], &[1.0], &[1.0], &mut z).unwrap();
            z[0].asin()
        },
    ];
    for (k, f) in uses.iter().enumerate() {
        let (_, slopes) =
            ad::gradient(|x| x[0] * x[2] + f(x[1]) + x[2].sin(), &[4.0, 1.0, 0.0]).unwrap();
        assert_eq!(slopes, [0.0, inf, 5.0], "{k}");
    }
    let node = Pair { infinite: true, ..Pair::default() };
    let (_, slopes) = ad::gradient(|x| pair(node, x)[0] + x[2] * x[0], &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(slopes, [5.0, inf, 1.0]);
    // Through the node itself only where it is used.
    let (_, slopes) = ad::gradient(|x| pair(node, x)[0] * 0.0 + x[0], &[1.0, 2.0]).unwrap();
    assert_eq!(slopes, [1.0, 0.0]);
}

// The adjoints of x y at 0, 0 are zero, and their tangents are the Hessian.
#[test]
fn a_zero_adjoint_with_tangents_is_not_skipped() {
    let (_, g, h) = ad::hessian::<2>(|x| x[0] * x[1], &[0.0, 0.0]).unwrap();
    assert_eq!((g, h), (vec![0.0; 2], nalgebra::dmatrix![0.0, 1.0; 1.0, 0.0]));
    // Also where the zero adjoint enters further operations, a block and a node.
    let product = |x: &[Var<Dual<f64, 2>>]| (x[0] * 3.0) * (x[1] * 5.0).sin();
    let (_, _, h) = ad::hessian::<2>(product, &[0.0, 0.0]).unwrap();
    assert_eq!(h, nalgebra::dmatrix![0.0, 15.0; 15.0, 0.0]);
    let noded = |x: &[Var<Dual<f64, 2>>]| {
        let [p, _] = pair(Pair::default(), &[x[0] * 3.0, x[1]]);
        let [_, q] = pair(Pair::default(), &[p * x[0], p * x[1]]);
        // p (x0 + x1) = 3 x0^2 x1 + 3 x0 x1^2
        q
    };
    let (_, g, h) = ad::hessian::<2>(noded, &[0.0, 2.0]).unwrap();
    assert_eq!((g, h), (vec![12.0, 0.0], nalgebra::dmatrix![12.0, 12.0; 12.0, 0.0]));
    let blocked = |x: &[Var<Dual<f64, 1>>]| {
        let mut z = [Var::constant(0.0)];
        // z = x1^2
        let u = x[1].inner();
        Var::block(&[x[1]], &[u * u], &[u * 2.0], &mut z).unwrap();
        z[0] * x[0]
    };
    let (_, _, hv) = ad::hessian_vector(blocked, &[0.0, 3.0], &[1.0, 0.0]).unwrap();
    assert_eq!(hv, [0.0, 6.0]);
}

// --- Diagnosis ---

/// A quotient in generic code, and the line it is on.
fn quotient<T: Real>(x: T, y: T) -> (T, u32) {
    (x / y, line!())
}

#[test]
fn the_diagnosis_names_function_operand_operation_and_line() {
    let found = |f: &dyn Fn(&[Var]) -> Var, x: &[f64]| {
        // Without diagnosis it is no error.
        assert!(ad::gradient(f, x).is_ok());
        ad::diagnose(|| ad::gradient(f, x)).unwrap_err()
    };
    let check = |error: Error, name: &str, second: usize, number: usize, not: bool, at: u32| {
        let Error::NonFinite { function, operand, operation, nan, location } = error else {
            panic!("{error:?}")
        };
        assert_eq!((function, operand, nan), (name, second, not), "{error}");
        assert_eq!((location.file(), location.line()), (file!(), at), "{error}");
        let _ = (operation, number);
        let text = error.to_string();
        let operand = ["first", "second"][second];
        let place = format!("{}:{at}:", file!());
        assert!(text.contains(name) && text.contains(operand) && text.contains(&place), "{text}");
        operation
    };
    let line = Cell::new(0);
    let f = |x: &[Var]| {
        let y = x[0] * 2.0;
        line.set(line!() + 1);
        let z = y.asin();
        z * x[0]
    };
    let first = check(found(&f, &[0.5]), "asin", 0, 0, false, line.get());
    // The same a known number of operations later is that number further on.
    let later = |x: &[Var]| {
        let mut y = x[0];
        for _ in 0..2000 {
            y *= 1.0;
        }
        f(&[y])
    };
    let second = check(found(&later, &[0.5]), "asin", 0, 0, false, line.get());
    assert_eq!(second, first + 2000);
    // The first of several; in generic code the line that divides; the second operand.
    let f = |x: &[Var]| {
        let (y, at) = quotient(x[0], x[1]);
        line.set(at);
        y.sqrt() + (x[1] - 1.0).ln()
    };
    check(found(&f, &[1.0, 0.0]), "div", 0, 0, false, line.get());
    let f = |x: &[Var]| {
        line.set(line!() + 1);
        x[0].pow(x[1])
    };
    check(found(&f, &[-2.0, 3.0]), "pow", 1, 0, true, line.get());
    // Outside of its domain a function has no slope.
    let f = |x: &[Var]| {
        line.set(line!() + 1);
        x[0].ln()
    };
    check(found(&f, &[-1.0]), "ln", 0, 0, true, line.get());
    // Operators that assign, and the fused product, which is a product and a sum.
    let f = |x: &[Var]| {
        let mut y = x[0];
        line.set(line!() + 1);
        y /= x[1];
        y
    };
    check(found(&f, &[1.0, 0.0]), "div", 0, 0, false, line.get());
    let f = |x: &[Var]| {
        let y = x[0] + f64::INFINITY;
        line.set(line!() + 1);
        x[1].mul_add(y, x[0])
    };
    check(found(&f, &[1.0, 1.0]), "mul", 0, 0, false, line.get());
}

#[test]
fn the_operation_is_counted_from_the_start_of_the_recording() {
    let found = ad::diagnose(|| {
        let mut recording = Recording::<f64>::start();
        let x = recording.variable(0.5);
        let y = x * 2.0;
        let before = recording.operations();
        let z = y.asin();
        let found = recording.adjoints(&[(z, 1.0)], &[x], &mut [0.0]);
        found.map_err(|error| (error, before))
    });
    let Err((Error::NonFinite { operation, .. }, before)) = found else { panic!("{found:?}") };
    assert_eq!(operation, before);
}

#[test]
fn the_diagnosis_names_nodes_and_leaves_the_gradient() {
    let node = Pair { infinite: true, ..Pair::default() };
    let mut slopes = [7.0; 2];
    let mut run = |x: &[f64]| ad::gradient_into(|x| pair(node, x)[0], x, &mut slopes);
    let found = ad::diagnose(|| run(&[1.0, 2.0]));
    let Err(error @ Error::NonFiniteNode { node: name, operand: 1 }) = found else {
        panic!("{found:?}")
    };
    assert!(name.ends_with("Pair") && error.to_string().contains(name), "{error}");
    assert_eq!(slopes, [7.0; 2], "touched in spite of the error");
}

#[test]
fn the_diagnosis_changes_no_number_and_nothing_else() {
    let x: [f64; 3] = Random(6).vector(1.0);
    let plain = ad::jacobian_by_rows(outputs, &x).unwrap();
    assert_eq!(ad::diagnose(|| ad::jacobian_by_rows(outputs, &x)).unwrap(), plain);
    // A recording started before is not diagnosed, one within is; and it ends with the call.
    let outer = ad::gradient(
        |x| {
            let y = x[0].asin();
            let inner = ad::diagnose(|| {
                let _ = x[0].acos();
                ad::gradient(|u| u[0].asin(), &[1.0])
            });
            assert!(matches!(inner, Err(Error::NonFinite { .. })), "{inner:?}");
            y
        },
        &[1.0],
    );
    assert_eq!(outer.unwrap().1, [f64::INFINITY]);
    let nested = ad::diagnose(|| {
        let inside = ad::diagnose(|| ad::gradient(|x| x[0].asin(), &[1.0]));
        (inside, ad::gradient(|x| x[0].asin(), &[1.0]))
    });
    assert!(nested.0.is_err() && nested.1.is_err());
    // Rewinding a diagnosed recording.
    ad::diagnose(|| {
        let mut recording = Recording::<f64>::start();
        let x = recording.variable(1.0);
        let y = fill(&recording, x, 1.0, CHUNK - 10);
        let mark = recording.mark();
        for _ in 0..3 {
            let z = fill(&recording, y, 0.5, 2 * CHUNK);
            assert_eq!(recording.rewind(mark), Ok(()));
            let _ = z.value();
            let _ = y.asin();
            assert!(matches!(recording.rewind(mark), Err(Error::NonFinite { .. })));
        }
        let mut slope = [0.0];
        recording.adjoints(&[(y, 1.0)], &[x], &mut slope).unwrap();
        assert_eq!(slope, [1.0]);
    });
}

// --- Threads and size ---

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

// x + c is x: they share an adjoint, as documented.
#[test]
fn a_variable_shifted_by_a_constant_shares_its_adjoint() {
    let mut recording = Recording::<f64>::start();
    let x = recording.variable(3.0);
    let y = x + 1.0;
    let mut adjoint = [0.0];
    recording.adjoints(&[(x * y, 1.0)], &[y], &mut adjoint).unwrap();
    assert_eq!(adjoint, [7.0]);
}

#[test]
fn blocks_and_second_derivatives_are_diagnosed() {
    let block = |x: &[Var]| {
        let mut y = [Var::constant(0.0)];
        Var::block(x, &[0.0], &[1.0, f64::NAN], &mut y).unwrap();
        y[0]
    };
    let found = ad::diagnose(|| ad::gradient(block, &[1.0, 2.0]));
    assert!(matches!(found, Err(Error::NonFiniteNode { operand: 1, .. })), "{found:?}");
    // (x^1.5)' is finite at 0, and its derivative is not.
    let found = ad::diagnose(|| ad::hessian::<1>(|x| x[0].powf(1.5), &[0.0]));
    assert!(matches!(found, Err(Error::NonFinite { function: "powf", .. })), "{found:?}");
    assert!(ad::diagnose(|| ad::gradient(|x| x[0].powf(1.5), &[0.0])).is_ok());
}
