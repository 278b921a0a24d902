//! Adjoint sweeps: of parts of a recording, of rows, of blocks, with infinite and zero adjoints.

use nalgebra::DMatrix;
use stiction::ad::{self, Dual, Error, Real, Recording, Var};

use super::{Pair, WHOLE, pair};
use crate::random::Random;

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
pub(super) fn outputs(x: &[Var]) -> Vec<Var> {
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
