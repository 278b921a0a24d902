//! Sparse Jacobians and Hessians: patterns, their detection, colourings, and values against the dense
//! drivers.

use std::cell::Cell;

use approx::assert_relative_eq;
use nalgebra::DMatrix;
use stiction::ad::sparse::{
    Coloring, Compression, Pattern, SparseHessian, SparseJacobian, hessian_pattern,
    jacobian_pattern,
};
use stiction::ad::{self, Dual, Error, Function, Node, Real, TapeScalar, Var};

use crate::random::Random;

fn places(pattern: &Pattern) -> Vec<(usize, usize)> {
    pattern.iter().collect()
}

fn random_pattern(random: &mut Random, rows: usize, columns: usize, density: f64) -> Pattern {
    let all = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let kept: Vec<_> = all.filter(|_| random.uniform(0.0, 1.0) < density).collect();
    Pattern::from_triplets(rows, columns, kept).unwrap()
}

/// A dense first row, a dense first column, and the diagonal.
fn arrowhead(n: usize) -> Pattern {
    let places = (0..n).flat_map(|k| [(0, k), (k, 0), (k, k)]);
    Pattern::from_triplets(n, n, places).unwrap()
}

/// Patterns of all kinds and shapes.
fn patterns() -> Vec<Pattern> {
    let mut random = Random(11);
    let none: [(usize, usize); 0] = [];
    let mut patterns = vec![
        Pattern::from_triplets(0, 0, none).unwrap(),
        Pattern::from_triplets(0, 5, none).unwrap(),
        Pattern::from_triplets(5, 0, none).unwrap(),
        Pattern::from_triplets(5, 4, none).unwrap(),
        Pattern::from_triplets(4, 9, (0..9).map(|j| (2, j))).unwrap(),
        Pattern::from_triplets(30, 40, (0..40).map(|j| (3, j)).chain((4..30).map(|i| (i, i))))
            .unwrap(),
        Pattern::from_triplets(40, 30, (0..40).map(|i| (i, 3)).chain((4..30).map(|i| (i, i))))
            .unwrap(),
        arrowhead(25),
        Pattern::block_tridiagonal(7, 3).unwrap(),
    ];
    for k in 0..60 {
        let (rows, columns) = (1 + random.bits() as usize % 30, 1 + random.bits() as usize % 30);
        patterns.push(random_pattern(&mut random, rows, columns, [0.05, 0.15, 0.5, 1.0][k % 4]));
    }
    patterns
}

fn symmetric_patterns() -> Vec<Pattern> {
    let square = patterns().into_iter().filter(|p| p.rows() == p.columns());
    let mut random = Random(12);
    let more = (0..60)
        .map(|k| random_pattern(&mut random, 1 + k % 23, 1 + k % 23, 0.03 * (1 + k % 9) as f64));
    let all: Vec<_> = square.chain(more).collect();
    all.iter().map(|p| p.union(&p.transpose()).unwrap()).collect()
}

/// A function with the given pattern: each output a smooth function of its inputs together.
struct Rows<'a> {
    pattern: &'a Pattern,
    calls: Cell<usize>,
}

impl<'a> Rows<'a> {
    fn of(pattern: &'a Pattern) -> Self {
        Rows { pattern, calls: Cell::new(0) }
    }
}

impl Function for Rows<'_> {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        self.calls.set(self.calls.get() + 1);
        let row = |i: usize| {
            let mut sum = T::zero();
            for (k, &j) in self.pattern.row(i).iter().enumerate() {
                sum += (x[j as usize] * (1.0 + 0.3 * k as f64) + 0.1 * i as f64).sin();
            }
            sum * sum + sum * 0.5
        };
        (0..self.pattern.rows()).map(row).collect()
    }
}

/// A function whose Hessian has the given pattern.
fn coupled<T: Real>(pattern: &Pattern, x: &[T]) -> T {
    let mut sum = T::zero();
    for (k, (i, j)) in pattern.iter().enumerate() {
        let weight = 1.0 + 0.1 * (k % 7) as f64;
        // Of two variables only products have no second derivative in one of them.
        sum += if i == j { (x[i] * weight).cos() } else { x[i] * x[j] * weight };
    }
    sum
}

#[test]
fn patterns_are_validated() {
    let places = [(2, 1), (0, 3), (2, 0), (0, 3)];
    let pattern = Pattern::from_triplets(3, 4, places).unwrap();
    assert_eq!(pattern.iter().collect::<Vec<_>>(), [(0, 3), (2, 0), (2, 1)]);
    assert_eq!((pattern.rows(), pattern.columns(), pattern.nnz()), (3, 4, 3));
    assert_eq!((pattern.row(0), pattern.row(1), pattern.row(2)), (&[3][..], &[][..], &[0, 1][..]));
    assert!(pattern.row(3).is_empty() && pattern.row(usize::MAX).is_empty());
    assert!(pattern.contains(2, 1) && !pattern.contains(1, 1) && !pattern.contains(9, usize::MAX));
    assert_eq!(pattern.transpose().iter().collect::<Vec<_>>(), [(0, 2), (1, 2), (3, 0)]);
    assert_eq!(
        Pattern::from_triplets(3, 4, [(1, 4)]),
        Err(Error::PatternEntry { row: 1, column: 4, rows: 3, columns: 4 })
    );
    assert_eq!(Pattern::from_triplets(usize::MAX, 1, []), Err(Error::PatternTooLarge));
    for (blocks, size) in [(usize::MAX, 2), (1 << 30, 1 << 10), (2, (1 << 31) - 1)] {
        assert_eq!(Pattern::block_tridiagonal(blocks, size), Err(Error::PatternTooLarge));
    }
    for (columns, starts, indices, expected) in [
        (4, vec![], vec![], Error::PatternRow { row: 0 }),
        (4, vec![1, 2], vec![0, 1], Error::PatternRow { row: 0 }),
        (4, vec![0, 2, 1], vec![0, 1], Error::PatternRow { row: 1 }),
        (4, vec![0, 1, 3], vec![0, 1], Error::PatternRow { row: 1 }),
        (4, vec![0, 1], vec![0, 1], Error::PatternRow { row: 0 }),
        (4, vec![0, 2], vec![1, 1], Error::PatternRow { row: 0 }),
        (4, vec![0], vec![1], Error::PatternRow { row: 0 }),
        (2, vec![0, 1], vec![2], Error::PatternEntry { row: 0, column: 2, rows: 1, columns: 2 }),
    ] {
        let text =
            format!(r#"{{"columns":{columns},"row_starts":{starts:?},"indices":{indices:?}}}"#);
        assert_eq!(Pattern::from_compressed_rows(columns, starts, indices), Err(expected));
        let read = serde_json::from_str::<Pattern>(&text).unwrap_err();
        assert!(read.to_string().contains(&expected.to_string()), "{read}");
    }
}

#[test]
fn patterns_come_back_from_every_form() {
    for pattern in patterns() {
        assert_eq!(pattern.transpose().transpose(), pattern);
        let text = serde_json::to_string(&pattern).unwrap();
        assert_eq!(serde_json::from_str::<Pattern>(&text).unwrap(), pattern);
        let values: Vec<f64> = (0..pattern.nnz()).map(|k| 1.0 + k as f64).collect();
        let dense = pattern.to_dense(&values).unwrap();
        assert_eq!(Pattern::from_dense(&dense).unwrap(), pattern);
        for (i, j, value) in pattern.triplets(&values).unwrap() {
            assert_eq!((dense[(i, j)], pattern.position(i, j)), (value, Some(value as usize - 1)));
        }
        let wrong = Error::Shape { expected: pattern.nnz(), found: pattern.nnz() + 1 };
        assert_eq!(pattern.to_dense(&vec![0.0; pattern.nnz() + 1]), Err(wrong));
    }
}

#[test]
fn block_tridiagonal_patterns() {
    for (blocks, size) in [(0_usize, 3), (3, 0), (1, 4), (2, 1), (6, 2)] {
        let n = blocks * size;
        let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let near = all.filter(|(i, j)| (i / size).abs_diff(j / size) <= 1);
        let expected = Pattern::from_triplets(n, n, near).unwrap();
        assert_eq!(Pattern::block_tridiagonal(blocks, size).unwrap(), expected);
    }
}

/// A node whose outputs each use one input only; to a pattern all depend on all.
#[derive(Clone)]
struct Squares;

impl Node for Squares {
    type Solution = ();
    type Workspace<T: Real> = ();
    type Factor<T: Real> = ();

    fn primal<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        y.iter_mut().zip(x).for_each(|(y, &x)| *y = x * x);
    }
    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        residual.iter_mut().zip(x.iter().zip(y)).for_each(|(r, (&x, &y))| *r = y - x * x);
    }
    fn factor<T: Real>(&self, (): &(), _: &[T], _: &[T], (): &mut ()) {}
    fn jvp<T: Real>(&self, (): &(), (): &mut (), x: &[T], _: &[T], dx: &[T], dy: &mut [T]) {
        dy.iter_mut().zip(x.iter().zip(dx)).for_each(|(dy, (&x, &dx))| *dy = x * dx * 2.0);
    }
    fn vjp<T: Real>(&self, (): &(), (): &mut (), x: &[T], _: &[T], dy: &[T], dx: &mut [T]) {
        dx.iter_mut().zip(x.iter().zip(dy)).for_each(|(dx, (&x, &dy))| *dx += x * dy * 2.0);
    }
}

#[test]
fn detection_is_structural() {
    let found = jacobian_pattern(
        |x| {
            let mut node = [Real::constant(0.0); 2];
            Real::call(&Squares, &x[..2], &mut node, &mut (), &mut Default::default());
            let f = [
                x[0] * 0.0 + x[1] - x[1],
                Real::constant(3.0),
                x[2].max(x[3]),
                x[3].min(x[2]),
                x[2].abs().sqrt(),
                x[0].powi(0) + x[1].powf(0.0) + x[3].floor(),
                x[0].hypot(x[3]).pow(x[2]),
                (-x[3]).sin_cos().0 / 2.0,
                x[0].clamp(x[1], x[2]),
            ];
            [&f[..], &node].concat()
        },
        &[0.0, 0.0, -1.0, 2.0],
    )
    .unwrap();
    let rows: [&[u32]; 11] =
        [&[0, 1], &[], &[3], &[2], &[2], &[], &[0, 2, 3], &[3], &[2], &[0, 1], &[0, 1]];
    for (i, row) in rows.into_iter().enumerate() {
        assert_eq!(found.row(i), row, "row {i}");
    }
}

#[test]
fn detection_finds_what_is_there() {
    for pattern in patterns() {
        let f = Rows::of(&pattern);
        let found = jacobian_pattern(|x| f.evaluate(x), &vec![0.0; pattern.columns()]).unwrap();
        assert_eq!(found, pattern);
    }
    for pattern in symmetric_patterns() {
        let found = hessian_pattern(|x| coupled(&pattern, x), &vec![0.0; pattern.columns()]);
        assert_eq!(found.unwrap(), pattern);
    }
}

#[test]
fn detection_tells_more_inputs_apart_than_a_set_holds() {
    for n in [255, 256, 257, 512, 700] {
        let (x, calls) = (vec![0.5; n], Cell::new(0));
        let found = jacobian_pattern(
            |x| {
                calls.set(calls.get() + 1);
                (0..n).map(|i| x[i] * x[(i + 300) % n]).collect()
            },
            &x,
        )
        .unwrap();
        assert_eq!(calls.get(), n.div_ceil(256));
        let expected = (0..n).flat_map(|i| [(i, i), (i, (i + 300) % n)]);
        assert_eq!(found, Pattern::from_triplets(n, n, expected).unwrap());
        let f =
            |x: &[Var<_>]| (0..n).map(|i| x[i] * x[(i + 300) % n]).reduce(|a, b| a + b).unwrap();
        let expected = (0..n).flat_map(|i| [(i, (i + 300) % n), ((i + 300) % n, i)]);
        let expected = Pattern::from_triplets(n, n, expected).unwrap();
        assert_eq!(hessian_pattern(f, &x).unwrap(), expected);
    }
}

// At these points values, slopes or adjoints are zero that are not zero elsewhere.
#[test]
fn second_derivatives_are_detected_where_first_ones_vanish() {
    let both = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let mixed = [(0, 1), (1, 0)];
    macro_rules! found {
        (|$x:ident| $f:expr) => {
            places(&hessian_pattern(|$x| $f, &[0.0, 0.0]).unwrap())
        };
    }
    assert_eq!(found!(|x| x[0] * x[1]), mixed);
    assert_eq!(found!(|x| (x[0] * x[1]) * (x[0] * x[1])), both);
    assert_eq!(found!(|x| (x[0] * x[1]).powi(2)), both);
    assert_eq!(found!(|x| x[0] * x[1] * 0.0), mixed);
    assert_eq!(found!(|x| (x[0] * x[1]).abs()), mixed);
    assert_eq!(found!(|x| x[0].hypot(x[1])), both);
    assert_eq!(found!(|x| (x[0] * x[0] + x[1] * x[1]).sqrt()), both);
    assert_eq!(found!(|x| x[0].atan2(x[1])), both);
    assert_eq!(found!(|x| x[0] * 3.0 - x[1] / 2.0 + 1.0), []);
    assert_eq!(found!(|x| x[0].powi(1) + x[1].powf(1.0)), []);
    assert_eq!(found!(|x| x[0].powi(2) + x[1]), [(0, 0)]);
    assert_eq!(found!(|x| x[0] * 0.0 + Var::constant(2.0)), []);
    // Through a node, all with all.
    let squares = |x: &[Var<_>]| {
        let mut y = [Real::constant(0.0); 2];
        Real::call(&Squares, x, &mut y, &mut (), &mut Default::default());
        y[0] * y[1]
    };
    assert_eq!(places(&hessian_pattern(squares, &[0.0; 2]).unwrap()), both);
}

#[test]
fn a_function_that_changes_its_outputs_has_no_pattern() {
    let calls = Cell::new(0);
    let found = jacobian_pattern(
        |x| {
            calls.set(calls.get() + 1);
            x[..calls.get()].to_vec()
        },
        &[0.0; 300],
    );
    assert_eq!(found, Err(Error::Shape { expected: 1, found: 2 }));
}

fn assert_separates_columns(pattern: &Pattern, coloring: &Coloring) {
    for i in 0..pattern.rows() {
        let mut colors: Vec<_> =
            pattern.row(i).iter().map(|&j| coloring.color(j as usize).unwrap()).collect();
        colors.sort_unstable();
        assert!(colors.windows(2).all(|pair| pair[0] < pair[1]), "row {i} of {pattern:?}");
        assert!(colors.iter().all(|&color| color < coloring.count()));
    }
}

fn assert_star(pattern: &Pattern, coloring: &Coloring) {
    let color = |v: usize| coloring.color(v).unwrap();
    let neighbours = |v: usize| pattern.row(v).iter().map(|&w| w as usize).filter(move |&w| w != v);
    for (b, c) in pattern.iter().filter(|(b, c)| b != c) {
        assert_ne!(color(b), color(c));
        for a in neighbours(b).filter(|&a| a != c) {
            for d in neighbours(c).filter(|&d| d != b && d != a) {
                assert!(
                    color(a) != color(c) || color(b) != color(d),
                    "the path {a} {b} {c} {d} in {pattern:?}"
                );
            }
        }
    }
}

#[test]
fn colorings_are_valid() {
    for pattern in patterns() {
        assert_separates_columns(&pattern, &Coloring::of_columns(&pattern));
        assert_separates_columns(&pattern.transpose(), &Coloring::of_rows(&pattern));
        assert!(Coloring::of_columns(&pattern).count() >= pattern.longest_row());
        assert_eq!(Coloring::of_columns(&pattern), Coloring::of_columns(&pattern));
    }
    for pattern in symmetric_patterns() {
        assert_star(&pattern, &Coloring::star(&pattern));
    }
    // What every colouring passes proves nothing.
    let path = Pattern::block_tridiagonal(4, 1).unwrap();
    let two = Coloring::of_columns(
        &Pattern::from_triplets(2, 4, [(0, 0), (0, 1), (1, 2), (1, 3)]).unwrap(),
    );
    assert!(std::panic::catch_unwind(|| assert_star(&path, &two)).is_err());
}

#[test]
fn block_tridiagonal_patterns_get_three_colors_a_block() {
    for (blocks, size) in [(3, 1), (4, 1), (1000, 1), (4, 2), (5, 3), (101, 5), (300, 14)] {
        let pattern = Pattern::block_tridiagonal(blocks, size).unwrap();
        assert_eq!(Coloring::of_columns(&pattern).count(), 3 * size);
        assert_eq!(Coloring::of_rows(&pattern).count(), 3 * size);
        if blocks > 3 {
            assert_eq!(Coloring::star(&pattern).count(), 3 * size);
        }
    }
    // A star and an arrowhead need two, however large; columns of an arrowhead all differ.
    assert_eq!(Coloring::star(&arrowhead(300)).count(), 2);
    assert_eq!(Coloring::of_columns(&arrowhead(300)).count(), 300);
}

#[test]
fn jacobians_agree_with_dense_ones() {
    let mut random = Random(13);
    let mut by_rows = 0;
    for pattern in patterns() {
        let f = Rows::of(&pattern);
        let x: Vec<f64> = (0..pattern.columns()).map(|_| random.uniform(-1.0, 1.0)).collect();
        let (_, expected) = ad::jacobian::<4>(|x| f.evaluate(x), &x);
        for jacobian in
            [SparseJacobian::new(pattern.clone()), SparseJacobian::new(pattern.clone()).verified()]
        {
            by_rows += usize::from(jacobian.compression() == Compression::Rows);
            let check = |y: Vec<f64>, values: &[f64]| {
                assert_eq!(y, f.evaluate(&x));
                let found = pattern.to_dense(values).unwrap();
                assert_relative_eq!(found, expected, epsilon = 1e-13, max_relative = 1e-12);
            };
            let missing = || vec![f64::NAN; pattern.nnz()];
            let mut values = missing();
            check(jacobian.evaluate(&f, &x, &mut values).unwrap(), &values);
            values = missing();
            let y = jacobian.evaluate_by_columns::<3>(|x| f.evaluate(x), &x, &mut values);
            check(y.unwrap(), &values);
            values = missing();
            let y = jacobian.evaluate_by_rows(|x| f.evaluate(x), &x, &mut values);
            check(y.unwrap(), &values);
        }
    }
    assert!((1..40).contains(&by_rows), "{by_rows}");
}

fn hessian_agrees<const N: usize>(hessian: &SparseHessian, pattern: &Pattern, x: &[f64])
where
    Dual<f64, N>: TapeScalar,
{
    let (value, slopes, expected) = ad::hessian::<N>(|x| coupled(pattern, x), x).unwrap();
    let (mut gradient, mut values) = (vec![f64::NAN; x.len()], vec![f64::NAN; pattern.nnz()]);
    let found = hessian.evaluate::<N>(|x| coupled(pattern, x), x, &mut gradient, &mut values);
    assert_eq!((found.unwrap(), gradient), (value, slopes));
    let found = pattern.to_dense(&values).unwrap();
    assert_relative_eq!(found, expected, epsilon = 1e-12, max_relative = 1e-12);
    assert_eq!(found, found.transpose());
}

#[test]
fn hessians_agree_with_dense_ones() {
    let mut random = Random(14);
    for pattern in symmetric_patterns() {
        let x: Vec<f64> = (0..pattern.columns()).map(|_| random.uniform(-1.0, 1.0)).collect();
        let hessian = SparseHessian::new(pattern.clone()).unwrap();
        hessian_agrees::<1>(&hessian, &pattern, &x);
        hessian_agrees::<8>(&hessian, &pattern, &x);
        hessian_agrees::<4>(&hessian.verified(), &pattern, &x);
        // Either triangle says as much.
        let lower = pattern.iter().filter(|(i, j)| i >= j);
        let lower = Pattern::from_triplets(pattern.rows(), pattern.columns(), lower).unwrap();
        assert_eq!(*SparseHessian::new(lower).unwrap().pattern(), pattern);
    }
}

#[test]
fn a_pattern_that_is_too_small_is_found() {
    let mut random = Random(15);
    let mut found = 0;
    for pattern in patterns() {
        let f = Rows::of(&pattern);
        let x: Vec<f64> = (0..pattern.columns()).map(|_| random.uniform(0.1, 1.0)).collect();
        if pattern.nnz() == 0 {
            continue;
        }
        let (row, column) = places(&pattern)[random.bits() as usize % pattern.nnz()];
        let kept = pattern.iter().filter(|&place| place != (row, column));
        let smaller = Pattern::from_triplets(pattern.rows(), pattern.columns(), kept).unwrap();
        let jacobian = SparseJacobian::new(smaller).verified();
        let mut values = vec![0.0; pattern.nnz() - 1];
        let by_columns = jacobian.evaluate_by_columns::<8>(|x| f.evaluate(x), &x, &mut values);
        assert_eq!(by_columns, Err(Error::MissingInRow { row }));
        let by_rows = jacobian.evaluate_by_rows(|x| f.evaluate(x), &x, &mut values);
        assert_eq!(by_rows, Err(Error::MissingInColumn { column }));
        assert!(jacobian.evaluate(&f, &x, &mut values).is_err());
        found += 1;
    }
    assert!(found > 50);
    for (missing, at) in [((0, 0), 0), ((3, 7), 3), ((7, 3), 3)] {
        let full = Pattern::block_tridiagonal(6, 2).unwrap();
        let full = full.union(&Pattern::from_triplets(12, 12, [(3, 7), (7, 3)]).unwrap()).unwrap();
        let mirror = (missing.1, missing.0);
        let kept = full.iter().filter(|&place| place != missing && place != mirror);
        let smaller = Pattern::from_triplets(12, 12, kept).unwrap();
        let hessian = SparseHessian::new(smaller).unwrap().verified();
        let (mut gradient, mut values) = ([0.0; 12], vec![0.0; hessian.pattern().nnz()]);
        let x: [f64; 12] = std::array::from_fn(|k| 0.3 + 0.05 * k as f64);
        let result = hessian.evaluate::<4>(|x| coupled(&full, x), &x, &mut gradient, &mut values);
        assert_eq!(result, Err(Error::MissingInRow { row: at }));
    }
}

#[test]
fn shapes_must_match() {
    let pattern = Pattern::from_triplets(2, 3, [(0, 0), (1, 2)]).unwrap();
    let f = Rows::of(&pattern);
    let jacobian = SparseJacobian::new(pattern.clone());
    let shape = |expected, found| Err(Error::Shape { expected, found });
    assert_eq!(jacobian.evaluate(&f, &[0.0; 2], &mut [0.0; 2]), shape(3, 2));
    assert_eq!(jacobian.evaluate(&f, &[0.0; 3], &mut [0.0; 3]), shape(2, 3));
    let (x, mut values) = ([0.0; 3], [0.0; 2]);
    assert_eq!(jacobian.evaluate_by_columns::<2>(|x| x.to_vec(), &x, &mut values), shape(2, 3));
    assert_eq!(jacobian.evaluate_by_rows(|x| x.to_vec(), &x, &mut values), shape(2, 3));
    assert_eq!(SparseHessian::new(pattern).err(), Some(Error::Shape { expected: 2, found: 3 }));
    let hessian = SparseHessian::new(Pattern::block_tridiagonal(2, 1).unwrap()).unwrap();
    let hessian_shape = |expected, found| Err(Error::Shape { expected, found });
    let wrong = |x: &[f64], gradient: usize, values: usize| {
        hessian.evaluate::<1>(|x| x[0], x, &mut vec![0.0; gradient], &mut vec![0.0; values])
    };
    assert_eq!(wrong(&[0.0; 3], 2, 4), hessian_shape(2, 3));
    assert_eq!(wrong(&[0.0; 2], 1, 4), hessian_shape(2, 1));
    assert_eq!(wrong(&[0.0; 2], 2, 5), hessian_shape(4, 5));
    // A stale variable is refused as by the tape's other drivers.
    let mut kept = Var::constant(0.0);
    ad::gradient(
        |x| {
            kept = x[0];
            kept
        },
        &[1.0],
    )
    .unwrap();
    assert_eq!(
        jacobian.evaluate_by_rows(|_| vec![kept; 2], &x, &mut values),
        Err(Error::StaleVariable)
    );
}

const STATE: usize = 4;
const BLOCK: usize = STATE + 1;

/// The defects x[k + 1] - step(x[k], u[k]) of a cart with a pole; each block of variables is a state
/// (position, angle, velocity, rate) and a force, the last force without effect.
struct Defects {
    calls: Cell<usize>,
}

impl Function for Defects {
    fn evaluate<T: Real>(&self, z: &[T]) -> Vec<T> {
        self.calls.set(self.calls.get() + 1);
        let mut defects = Vec::with_capacity(z.len());
        for pair in z.windows(2 * BLOCK).step_by(BLOCK) {
            let [_, angle, velocity, rate, force] = [0, 1, 2, 3, 4].map(|k| pair[k]);
            let (sin, cos) = angle.sin_cos();
            let mass = sin * sin * 0.3 + 1.0;
            let cart = (force + sin * (rate * rate * 0.15 + cos * 2.9)) / mass;
            let pole = (sin * 19.6 + cos * cart) * -2.0;
            for (k, slope) in [velocity, rate, cart, pole].into_iter().enumerate() {
                defects.push(pair[BLOCK + k] - (pair[k] + slope * 0.02));
            }
        }
        defects
    }
}

fn squares<T: Real>(defects: &Defects, z: &[T]) -> T {
    let sum = defects.evaluate(z).into_iter().fold(T::zero(), |sum, d| sum + d * d);
    z.iter().fold(sum, |sum, &z| sum + z * z * 0.01)
}

fn trajectory(steps: usize) -> Vec<f64> {
    let mut random = Random(16);
    (0..BLOCK * (steps + 1)).map(|_| random.uniform(-1.0, 1.0)).collect()
}

/// How many evaluations the Jacobian takes, and the largest error in a product with a direction.
fn defects_jacobian(steps: usize) -> (usize, usize, f64) {
    let (f, z) = (Defects { calls: Cell::new(0) }, trajectory(steps));
    let pattern = jacobian_pattern(|z| f.evaluate(z), &z).unwrap();
    let jacobian = SparseJacobian::new(pattern);
    let mut values = vec![0.0; jacobian.pattern().nnz()];
    f.calls.set(0);
    jacobian.evaluate(&f, &z, &mut values).unwrap();
    let calls = f.calls.get();
    let dz: Vec<f64> = trajectory(steps).into_iter().rev().collect();
    let (_, expected) = ad::jvp(|z| f.evaluate(z), &z, &dz).unwrap();
    let mut error = expected;
    for (i, j, value) in jacobian.pattern().triplets(&values).unwrap() {
        error[i] -= value * dz[j];
    }
    (calls, jacobian.colors(), error.iter().fold(0.0, |worst, e| worst.max(e.abs())))
}

#[test]
fn trajectories_take_as_many_evaluations_however_long() {
    for steps in [10, 100, 1000] {
        let (calls, colors, error) = defects_jacobian(steps);
        assert_eq!((calls, colors), (1, 6), "{steps} steps");
        assert!(error < 1e-12, "{error}");
    }
}

#[test]
fn least_squares_over_a_trajectory_are_block_tridiagonal() {
    for steps in [4, 40, 1000] {
        let (f, z) = (Defects { calls: Cell::new(0) }, trajectory(steps));
        let pattern = hessian_pattern(|z| squares(&f, z), &z).unwrap();
        let blocks = Pattern::block_tridiagonal(steps + 1, BLOCK).unwrap();
        assert_eq!(pattern.union(&blocks).unwrap(), blocks);
        let hessian = SparseHessian::new(pattern.clone()).unwrap().verified();
        let (mut gradient, mut values) = (vec![0.0; z.len()], vec![0.0; pattern.nnz()]);
        f.calls.set(0);
        hessian.evaluate::<8>(|z| squares(&f, z), &z, &mut gradient, &mut values).unwrap();
        assert!(hessian.coloring().count() <= 3 * BLOCK);
        assert_eq!(f.calls.get(), 2, "{} colors", hessian.coloring().count());
        let dz: Vec<f64> = z.iter().rev().copied().collect();
        let (_, slopes, expected) = ad::hessian_vector(|z| squares(&f, z), &z, &dz).unwrap();
        assert_eq!(gradient, slopes);
        let mut product = vec![0.0; z.len()];
        for (i, j, value) in pattern.triplets(&values).unwrap() {
            product[i] += value * dz[j];
        }
        let product = DMatrix::from_vec(z.len(), 1, product);
        let expected = DMatrix::from_vec(z.len(), 1, expected);
        assert_relative_eq!(product, expected, epsilon = 1e-11, max_relative = 1e-11);
    }
}

// The adjoint of a determinant depends on all of the matrix, though it is computed from its factor.
#[test]
fn dependences_pass_through_linear_nodes() {
    use stiction::linalg::{log_det, solve};
    let at = [2.0, 0.0, 1.0, 3.0];
    let pattern = hessian_pattern(|a| log_det(a, 2).unwrap(), &at).unwrap();
    // Of the lower triangle a00, a10, a11.
    for (i, j) in [(0, 0), (0, 2), (2, 2), (0, 3), (2, 3), (3, 3)] {
        assert!(pattern.contains(i, j) && pattern.contains(j, i), "{i} {j}: {pattern:?}");
    }
    // x = (b - a01 y, ...) with a structural zero that is a variable.
    let at = [1.0, 1.0, 0.0, 1.0, 0.5, 0.25];
    let pattern = jacobian_pattern(|x| solve(&x[..4], 2, &x[4..]).unwrap(), &at).unwrap();
    assert_eq!(pattern.nnz(), 12, "{pattern:?}");
}
