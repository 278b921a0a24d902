//! Linear systems and determinants as nodes, against nalgebra and closed forms of their derivatives.

use approx::assert_relative_eq;
use nalgebra::DMatrix;
use stiction::ad::{self, Dual, Node, NodeRule, Real, Var, with_node_rule};
use stiction::linalg::{FactorError, LogAbsDet, LogDet, LuSolution, Solve, SpdSolution, SpdSolve};

use crate::random::Random;

fn call<T: Real, N: Node>(node: &N, inputs: &[T], outputs: usize) -> Vec<T> {
    let mut y = vec![T::zero(); outputs];
    T::call(node, inputs, &mut y, &mut Default::default(), &mut Default::default());
    y
}

/// The adjoints of the inputs in the scalar `T`, by the node's own methods.
fn adjoint<T: Real, N: Node>(node: &N, inputs: &[T], seed: &[f64]) -> Vec<T> {
    let (mut y, mut solution) = (vec![T::zero(); seed.len()], N::Solution::default());
    T::call(node, inputs, &mut y, &mut solution, &mut Default::default());
    let mut factor = Default::default();
    node.factor(&solution, inputs, &y, &mut factor);
    let seed: Vec<T> = seed.iter().map(|&s| T::constant(s)).collect();
    let mut found = vec![T::zero(); inputs.len()];
    node.vjp(&solution, &mut factor, inputs, &y, &seed, &mut found);
    found
}

/// A function and its derivatives in given directions.
trait Closed {
    fn value(&self, p: &[f64]) -> Vec<f64>;
    fn first(&self, p: &[f64], d: &[f64]) -> Vec<f64>;
    fn second(&self, p: &[f64], d: &[f64], e: &[f64]) -> Vec<f64>;
    fn third(&self, p: &[f64], d: &[f64]) -> Vec<f64>;
}

/// The matrix in the inputs `p`; of a symmetric one the lower triangle.
fn matrix(p: &[f64], n: usize, symmetric: bool) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |i, j| if symmetric && i < j { p[j * n + i] } else { p[i * n + j] })
}

struct System {
    n: usize,
    columns: usize,
    symmetric: bool,
}

impl System {
    fn matrix(&self, p: &[f64]) -> DMatrix<f64> {
        matrix(p, self.n, self.symmetric)
    }
    fn right(&self, p: &[f64]) -> DMatrix<f64> {
        DMatrix::from_column_slice(self.n, self.columns, &p[self.n * self.n..])
    }
    fn solve(&self, p: &[f64], right: &DMatrix<f64>) -> DMatrix<f64> {
        self.matrix(p).full_piv_lu().solve(right).unwrap()
    }
    fn x(&self, p: &[f64]) -> DMatrix<f64> {
        self.solve(p, &self.right(p))
    }
    fn dx(&self, p: &[f64], d: &[f64]) -> DMatrix<f64> {
        self.solve(p, &(self.right(d) - self.matrix(d) * self.x(p)))
    }
    fn ddx(&self, p: &[f64], d: &[f64], e: &[f64]) -> DMatrix<f64> {
        let mixed = self.matrix(d) * self.dx(p, e) + self.matrix(e) * self.dx(p, d);
        -self.solve(p, &mixed)
    }
}

// A and B are linear in the inputs, so A X = B differentiates to A' X + A X' = B' and
// A' X' + A' X' + A X'' = 0 and 3 A' X'' + A X''' = 0.
impl Closed for System {
    fn value(&self, p: &[f64]) -> Vec<f64> {
        self.x(p).as_slice().to_vec()
    }
    fn first(&self, p: &[f64], d: &[f64]) -> Vec<f64> {
        self.dx(p, d).as_slice().to_vec()
    }
    fn second(&self, p: &[f64], d: &[f64], e: &[f64]) -> Vec<f64> {
        self.ddx(p, d, e).as_slice().to_vec()
    }
    fn third(&self, p: &[f64], d: &[f64]) -> Vec<f64> {
        let right = self.matrix(d) * self.ddx(p, d, d) * -3.0;
        self.solve(p, &right).as_slice().to_vec()
    }
}

struct Determinant {
    n: usize,
    symmetric: bool,
}

impl Determinant {
    // A^-1 dA
    fn relative(&self, p: &[f64], d: &[f64]) -> DMatrix<f64> {
        let [a, da] = [p, d].map(|x| matrix(x, self.n, self.symmetric));
        a.full_piv_lu().solve(&da).unwrap()
    }
}

impl Closed for Determinant {
    fn value(&self, p: &[f64]) -> Vec<f64> {
        vec![matrix(p, self.n, self.symmetric).determinant().abs().ln()]
    }
    fn first(&self, p: &[f64], d: &[f64]) -> Vec<f64> {
        vec![self.relative(p, d).trace()]
    }
    fn second(&self, p: &[f64], d: &[f64], e: &[f64]) -> Vec<f64> {
        vec![-(self.relative(p, d) * self.relative(p, e)).trace()]
    }
    fn third(&self, p: &[f64], d: &[f64]) -> Vec<f64> {
        let r = self.relative(p, d);
        vec![(&r * &r * &r).trace() * 2.0]
    }
}

fn assert_close(found: impl IntoIterator<Item = f64>, expected: &[f64], what: &str) {
    let found: Vec<f64> = found.into_iter().collect();
    let scale = expected.iter().fold(1.0_f64, |scale, e| scale.max(e.abs()));
    assert_eq!(found.len(), expected.len(), "{what}");
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= 1e-8 * scale, "{what}, {k}: {f} instead of {e}");
    }
}

/// The rules, and what derivatives by them are called below.
const RULES: [(NodeRule, &str); 3] = [
    (NodeRule::ByJvp, "jvp"),
    (NodeRule::ByResidual, "by residual"),
    (NodeRule::Unrolled, "unrolled"),
];

fn seeded(p: &[f64], d: &[f64]) -> Vec<Dual<f64, 1>> {
    p.iter().zip(d).map(|(&p, &d)| Dual::new(p, [d])).collect()
}

type Second = Dual<Dual<f64, 2>, 2>;

/// Both directions in both layers.
fn twice(p: &[f64], d: &[f64], e: &[f64]) -> Vec<Second> {
    let direction = |k: usize| [d[k], e[k]];
    let layer = |k: usize| direction(k).map(Real::constant);
    (0..p.len()).map(|k| Dual::new(Dual::new(p[k], direction(k)), layer(k))).collect()
}

fn check<N: Node>(node: &N, closed: &impl Closed, p: &[f64], random: &mut Random) {
    let value = closed.value(p);
    let m = value.len();
    assert_close(call(node, p, m), &value, "value");

    let mut direction = || -> Vec<f64> { p.iter().map(|_| random.uniform(-1.0, 1.0)).collect() };
    let (d, e) = (direction(), direction());
    let first = closed.first(p, &d);
    for (rule, name) in RULES {
        let tangents = with_node_rule(rule, || call(node, &seeded(p, &d), m));
        assert_close(tangents.iter().map(|y| y.tangent[0]), &first, name);
    }

    let unit =
        |k: usize| -> Vec<f64> { (0..p.len()).map(|j| f64::from(u8::from(j == k))).collect() };
    let (_, rows) = ad::jacobian_by_rows(|x| call(node, x, m), p).unwrap();
    for k in 0..p.len() {
        let column: Vec<f64> = rows.column(k).iter().copied().collect();
        assert_close(column, &closed.first(p, &unit(k)), "vjp");
    }

    let expected = [[&d, &d], [&d, &e], [&e, &d], [&e, &e]].map(|[d, e]| closed.second(p, d, e));
    for (rule, name) in RULES {
        let y = with_node_rule(rule, || call(node, &twice(p, &d, &e), m));
        for (expected, [i, j]) in expected.iter().zip([[0, 0], [0, 1], [1, 0], [1, 1]]) {
            let second = y.iter().map(|y| y.tangent[i].tangent[j]);
            assert_close(second, expected, &format!("second, {name}"));
        }
    }

    // The change of the adjoints along d.
    let seed: Vec<f64> = (0..m).map(|i| 1.0 - 0.3 * i as f64).collect();
    let changes = adjoint(node, &seeded(p, &d), &seed);
    let expected: Vec<f64> = (0..p.len())
        .map(|k| closed.second(p, &d, &unit(k)).iter().zip(&seed).map(|(y, s)| y * s).sum())
        .collect();
    assert_close(changes.iter().map(|a| a.tangent[0]), &expected, "second, vjp");

    let nested = |k: usize| {
        let inner = Dual::<f64, 1>::new(p[k], [d[k]]);
        let middle = Dual::<_, 1>::new(inner, [Real::constant(d[k])]);
        Dual::<_, 1>::new(middle, [Real::constant(d[k])])
    };
    let inputs: Vec<_> = (0..p.len()).map(nested).collect();
    let found = call(node, &inputs, m);
    let third = found.iter().map(|y| y.tangent[0].tangent[0].tangent[0]);
    assert_close(third, &closed.third(p, &d), "third, jvp");
}

const SIZES: [(usize, usize); 7] = [(1, 1), (1, 3), (2, 1), (3, 2), (5, 1), (6, 3), (13, 1)];

fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.uniform(-1.0, 1.0)).collect()
}

/// G G' + I / 2 below; above numbers that nobody may read.
fn positive_definite(random: &mut Random, n: usize) -> Vec<f64> {
    let g = DMatrix::from_vec(n, n, numbers(random, n * n));
    let a = &g * g.transpose() + DMatrix::identity(n, n) * 0.5;
    let mut p = numbers(random, n * n);
    for i in 0..n {
        for j in 0..=i {
            p[i * n + j] = a[(i, j)];
        }
    }
    p
}

/// Far enough from singular for differences of 1e-8 to mean something.
fn general(random: &mut Random, n: usize) -> Vec<f64> {
    loop {
        let p = numbers(random, n * n);
        let values = DMatrix::from_row_slice(n, n, &p).singular_values();
        if values.min() > 0.05 * values.max() {
            return p;
        }
    }
}

#[test]
fn a_positive_definite_system() {
    let mut random = Random(1);
    for (n, columns) in SIZES {
        let mut p = positive_definite(&mut random, n);
        p.extend(numbers(&mut random, n * columns));
        let closed = System { n, columns, symmetric: true };
        check(&SpdSolve { n, columns }, &closed, &p, &mut random);
    }
}

#[test]
fn a_general_system() {
    let mut random = Random(2);
    for (n, columns) in SIZES {
        let mut p = general(&mut random, n);
        p.extend(numbers(&mut random, n * columns));
        let closed = System { n, columns, symmetric: false };
        check(&Solve { n, columns }, &closed, &p, &mut random);
    }
}

#[test]
fn a_determinant_of_a_positive_definite_matrix() {
    let mut random = Random(3);
    for (n, _) in SIZES {
        let p = positive_definite(&mut random, n);
        check(&LogDet { n }, &Determinant { n, symmetric: true }, &p, &mut random);
    }
}

#[test]
fn a_determinant_of_a_general_matrix() {
    let mut random = Random(4);
    for (n, _) in SIZES {
        let p = general(&mut random, n);
        check(&LogAbsDet { n }, &Determinant { n, symmetric: false }, &p, &mut random);
    }
}

// Long rows take the wide loops, and panels end at every remainder.
#[test]
fn values_of_all_sizes() {
    let mut random = Random(5);
    for n in 1..50 {
        let mut p = positive_definite(&mut random, n);
        p.extend(numbers(&mut random, n));
        let expected = System { n, columns: 1, symmetric: true }.value(&p);
        assert_close(call(&SpdSolve { n, columns: 1 }, &p, n), &expected, "positive definite");
        let expected = System { n, columns: 1, symmetric: false }.value(&p);
        assert_close(call(&Solve { n, columns: 1 }, &p, n), &expected, "general");
    }
}

#[test]
fn second_derivatives_are_differences_of_gradients() {
    let mut random = Random(6);
    let n = 4;
    let mut p = positive_definite(&mut random, n);
    p.extend(numbers(&mut random, n));
    let d = numbers(&mut random, p.len());
    let node = SpdSolve { n, columns: 1 };
    let gradient = |p: &[f64]| ad::gradient(|x| call(&node, x, n)[2], p).unwrap().1;
    let h = 1e-5;
    let moved = |h: f64| -> Vec<f64> { p.iter().zip(&d).map(|(p, d)| p + h * d).collect() };
    let (above, below) = (gradient(&moved(h)), gradient(&moved(-h)));
    let found = adjoint(&node, &seeded(&p, &d), &[0.0, 0.0, 1.0, 0.0]);
    for (k, found) in found.iter().enumerate() {
        let expected = (above[k] - below[k]) / (2.0 * h);
        assert_relative_eq!(found.tangent[0], expected, epsilon = 1e-6, max_relative = 1e-6);
    }
}

/// On all scalars: NaN without a panic.
fn assert_refused<N: Node>(node: &N, p: &[f64], m: usize) {
    assert!(call(node, p, m).iter().all(|y| y.is_nan()));
    let ones = vec![1.0; p.len()];
    for (rule, name) in RULES {
        for y in with_node_rule(rule, || call(node, &seeded(p, &ones), m)) {
            assert!(y.value.is_nan(), "{name}");
            assert!(y.tangent[0].is_nan() || rule == NodeRule::Unrolled, "{name}");
        }
    }
    for y in call(node, &twice(p, &ones, &ones), m) {
        assert!(y.value.value.is_nan() && y.tangent[0].tangent[0].is_nan());
    }
    let (y, dy) = ad::gradient(|x| call(node, x, m)[0], p).unwrap();
    assert!(y.is_nan() && dy.iter().all(|d| d.is_nan()));
}

#[test]
fn a_matrix_that_is_not_positive_definite_is_told() {
    let good = [2.0, 9.0, 1.0, 2.0, 3.0, 3.0];
    let node = SpdSolve { n: 2, columns: 1 };
    let (mut solution, mut workspace) = (SpdSolution::default(), Default::default());
    let mut x = [0.0; 2];
    let nan = f64::NAN;
    let huge = f64::INFINITY;
    for (a, pivot) in [
        ([1.0, 0.0, 2.0, 1.0], 1),
        ([1.0, 0.0, 1.0, 1.0], 1),
        ([-1.0, 0.0, 0.0, 1.0], 0),
        ([0.0, 0.0, 0.0, 0.0], 0),
        ([1.0, 0.0, nan, 1.0], 1),
        ([huge, 0.0, 0.0, 1.0], 0),
        ([1.0, 0.0, huge, 1.0], 1),
    ] {
        let p = [&a[..], &[1.0, 1.0]].concat();
        f64::call(&node, &p, &mut x, &mut solution, &mut workspace);
        assert_eq!(solution.failure, Some(FactorError::Pivot(pivot)), "{a:?}");
        assert_refused(&node, &p, 2);
        assert_refused(&LogDet { n: 2 }, &a, 1);
        // Nothing of it stays.
        f64::call(&node, &good, &mut x, &mut solution, &mut workspace);
        assert_eq!(solution.failure, None);
        assert_close(x, &[1.0, 1.0], "after a failure");
    }
    // Behind a full panel, too.
    let n = 11;
    let mut p: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0))).collect();
    p[9 * (n + 1)] = -1.0;
    assert_eq!(stiction::linalg::log_det(&p, n), Err(FactorError::Pivot(9)));
}

#[test]
fn a_singular_matrix_is_told() {
    let node = Solve { n: 2, columns: 1 };
    let (mut solution, mut workspace) = (LuSolution::default(), Default::default());
    for (a, failure) in [
        ([1.0, 2.0, 2.0, 4.0], FactorError::Pivot(1)),
        ([0.0, 0.0, 0.0, 0.0], FactorError::Pivot(0)),
        ([1.0, f64::NAN, 0.0, 1.0], FactorError::NotFinite),
        ([1.0, 0.0, 0.0, f64::INFINITY], FactorError::NotFinite),
    ] {
        let p = [&a[..], &[1.0, 1.0]].concat();
        let mut x = [0.0; 2];
        f64::call(&node, &p, &mut x, &mut solution, &mut workspace);
        assert_eq!(solution.failure, Some(failure), "{a:?}");
        assert_refused(&node, &p, 2);
        assert_refused(&LogAbsDet { n: 2 }, &a, 1);
    }
}

#[test]
fn sizes_that_do_not_fit_are_told() {
    for n in [1, 3, usize::MAX] {
        assert_refused(&SpdSolve { n, columns: 1 }, &[1.0; 6], 2);
        assert_refused(&Solve { n, columns: 1 }, &[1.0; 6], 2);
        assert_refused(&LogDet { n }, &[1.0; 6], 1);
        assert_refused(&LogAbsDet { n }, &[1.0; 6], 1);
    }
    assert_refused(&SpdSolve { n: 2, columns: 2 }, &[1.0; 6], 2);
    let (a, b) = ([1.0; 4], [1.0; 3]);
    assert_eq!(stiction::linalg::solve(&a, 2, &b), Err(FactorError::Shape));
    assert_eq!(stiction::linalg::spd_solve(&a, 0, &b), Err(FactorError::Shape));
    assert_eq!(stiction::linalg::spd_solve::<f64>(&[], 0, &[]), Ok(vec![]));
    assert_eq!(stiction::linalg::log_det::<f64>(&[], 0).map(f64::abs), Ok(0.0));
}

#[test]
fn only_the_lower_triangle_has_derivatives() {
    let p = [2.0, 7.0, 1.0, 3.0, 1.0, 2.0];
    let (_, slopes) = ad::gradient(|x| call(&SpdSolve { n: 2, columns: 1 }, x, 2)[0], &p).unwrap();
    assert_eq!(slopes[1], 0.0);
    // x0 = (3 b0 - a b1) / (6 - a a): -b1 / 5 + 2 a x0 / 5 at a = 1
    assert_relative_eq!(slopes[2], -0.4 + 0.4 * 0.2, max_relative = 1e-14);
}

/// Allocations of a second call in the same memory.
fn allocations<T: Real, N: Node>(node: &N, inputs: &[T], outputs: usize) -> u64 {
    let (mut solution, mut workspace) = (N::Solution::default(), T::Workspace::<N>::default());
    let mut y = vec![T::zero(); outputs];
    T::call(node, inputs, &mut y, &mut solution, &mut workspace);
    let mut again = || T::call(node, inputs, &mut y, &mut solution, &mut workspace);
    allocation_counter::measure(&mut again).count_total
}

fn assert_no_allocations<N: Node>(node: &N, p: &[f64], m: usize) {
    let d = vec![1.0; p.len()];
    assert_eq!(allocations(node, p, m), 0);
    assert_eq!(allocations(node, &seeded(p, &d), m), 0);
    assert_eq!(allocations(node, &twice(p, &d, &d), m), 0);
}

#[test]
fn a_second_call_allocates_nothing() {
    let mut random = Random(7);
    let mut p = positive_definite(&mut random, 9);
    assert_no_allocations(&LogDet { n: 9 }, &p, 1);
    assert_no_allocations(&LogAbsDet { n: 9 }, &p, 1);
    p.extend(numbers(&mut random, 18));
    assert_no_allocations(&SpdSolve { n: 9, columns: 2 }, &p, 18);
    assert_no_allocations(&Solve { n: 9, columns: 2 }, &p, 18);
}

fn copies_without_memory<N: Node>(node: &N, p: &[f64], m: usize) {
    let mut solution = N::Solution::default();
    f64::call(node, p, &mut vec![0.0; m], &mut solution, &mut Default::default());
    let mut copy = solution.clone();
    let info = allocation_counter::measure(|| copy.clone_from(&solution));
    assert_eq!(info.count_total, 0);
    assert_eq!(format!("{copy:?}"), format!("{:?}", solution.clone()));
}

#[test]
fn copies_of_a_solution_reuse_memory() {
    let p = positive_definite(&mut Random(8), 5);
    copies_without_memory(&LogDet { n: 5 }, &p, 1);
    copies_without_memory(&LogAbsDet { n: 5 }, &p, 1);
}

#[test]
fn constants_and_variables_mix() {
    let f = |x: &[Var]| {
        let a: Vec<Var> = [2.0, 0.0, 1.0, 3.0].map(Var::constant).to_vec();
        call(&SpdSolve { n: 2, columns: 1 }, &[&a[..], x].concat(), 2)[0]
    };
    let (_, slopes) = ad::gradient(f, &[1.0, 2.0]).unwrap();
    assert_close(slopes, &[0.6, -0.2], "the first row of the inverse");
}
