//! Recordings: which variables they accept, marks, partial sweeps, panics, diagnosis, size.

mod diagnosis;
mod marks;
mod nesting;
mod panics;
mod sweeps;
mod threads;

use std::marker::PhantomData;

use stiction::ad::{self, Dual, Error, Node, Real, Recording, Var};

/// Operations in a chunk of the tape: borders between chunks are where rewinding can go wrong.
const CHUNK: usize = 1024;

/// Small whole numbers: all products are exact.
const WHOLE: [f64; 2] = [3.0, 5.0];

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

/// Operations `y <- y * c` up to `to` in all, so that the slope says which of them are on the tape.
fn fill(recording: &Recording, y: Var, c: f64, to: usize) -> Var {
    let mut y = y;
    while recording.operations() < to {
        y *= c;
    }
    y
}

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
    // `nalgebra::RealField` demands it of scalars.
    let of_variables = cfg!(feature = "real_field");
    assert_eq!(send, [true, of_variables, of_variables, false]);
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
