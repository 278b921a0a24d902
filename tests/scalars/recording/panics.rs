//! Panics and recordings within nodes.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use stiction::ad::{self, Dual, Node, Real, Recording, Var};

use super::{Pair, WHOLE, assert_usable, pair};

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
