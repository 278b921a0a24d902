//! The range of sparse rows by fronts, against a dense decomposition.

use nalgebra::{DMatrix, DVector};
use stiction::internals::{Elimination, FrontQr};

use crate::random::Random;

struct Rows {
    firsts: Vec<usize>,
    sizes: Vec<usize>,
    rows: Vec<([usize; 2], Vec<f64>)>,
}

impl Rows {
    fn columns(&self, [a, b]: [usize; 2]) -> Vec<usize> {
        let of = |node: usize| self.firsts[node]..self.firsts[node] + self.sizes[node];
        if a == b { of(a).collect() } else { of(a).chain(of(b)).collect() }
    }

    fn dense(&self) -> DMatrix<f64> {
        let columns = self.sizes.iter().sum();
        let mut dense = DMatrix::zeros(self.rows.len(), columns);
        for (j, (nodes, row)) in self.rows.iter().enumerate() {
            for (column, &x) in self.columns(*nodes).into_iter().zip(row) {
                dense[(j, column)] = x;
            }
        }
        dense
    }
}

/// Rows between some of the nodes: some repeat what others of the same two say, and some that bodies in a circle say.
fn random_rows(nodes: usize, random: &mut Random) -> Rows {
    let sizes: Vec<usize> = (0..nodes).map(|_| [6, 1 + random.below(8)][random.below(2)]).collect();
    let firsts =
        sizes.iter().scan(0, |next, &n| Some(std::mem::replace(next, *next + n))).collect();
    let mut rows = Rows { firsts, sizes, rows: Vec::new() };
    for _ in 0..2 * nodes {
        let edge = [random.below(nodes), random.below(nodes)];
        let width = rows.columns(edge).len();
        let mut vector = || (0..width).map(|_| random.uniform(-1.0, 1.0)).collect::<Vec<_>>();
        let [one, two] = [vector(), vector()];
        let sum = one.iter().zip(&two).map(|(x, y)| 0.5 * x - 2.0 * y).collect();
        rows.rows.extend([one, two, sum].map(|row| (edge, row)));
    }
    // As friction is, of bodies of one motion: x_a - x_b along the first column, between any two.
    for _ in 0..2 * nodes {
        let [a, b] = [random.below(nodes), random.below(nodes)];
        if a != b {
            let mut row = vec![0.0; rows.columns([a, b]).len()];
            (row[0], row[rows.sizes[a]]) = (1.0, -1.0);
            rows.rows.push(([a, b], row));
        }
    }
    rows
}

#[test]
fn range_and_triangle_are_those_of_the_dense_matrix() {
    let mut random = Random(7);
    let (mut pattern, mut qr) = (Elimination::default(), FrontQr::default());
    let mut deficient = 0;
    for case in 0..40 {
        let rows = random_rows(1 + case % 13, &mut random);
        pattern.decide(rows.sizes.iter().copied(), rows.rows.iter().map(|(edge, _)| *edge));
        let row = |j: usize| (rows.rows[j].0, &rows.rows[j].1[..]);
        qr.factor(&pattern, rows.rows.len(), row, 1e-9);
        let dense = rows.dense();
        let (m, n) = dense.shape();
        let svd = dense.clone().svd(true, true);
        let rank = svd.rank(1e-9);
        assert_eq!(qr.rank(), rank, "case {case}");
        assert_eq!(qr.is_deficient(), rank < m);
        assert!(qr.dropped_pivot() < 1e-13, "{}", qr.dropped_pivot());
        deficient += usize::from(rank < n.min(m));
        // Q Q' z is the projection on the range, for three z at once; Q'Q = 1.
        let z = DMatrix::from_fn(m, 3, |_, _| random.uniform(-1.0, 1.0));
        let basis = svd.u.expect("asked for").columns(0, rank).into_owned();
        let expected = &basis * (basis.transpose() * &z);
        let row_major = |a: &DMatrix<f64>| a.transpose().as_slice().to_vec();
        let (mut w, mut found) = (Vec::new(), Vec::new());
        qr.transpose_times(&row_major(&z), 3, &mut w);
        qr.times(&w, 3, &mut found);
        let found = DMatrix::from_row_slice(m, 3, &found);
        assert!((found - expected).amax() < 1e-12, "case {case}");
        let (mut there, mut back) = (Vec::new(), Vec::new());
        qr.times(&w, 3, &mut there);
        qr.transpose_times(&there, 3, &mut back);
        assert!(w.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12));
        // Q R = A, and the transpose.
        let x = DVector::from_fn(n, |_, _| random.uniform(-1.0, 1.0));
        let mut of_x = vec![0.0; rank];
        qr.add_triangle_times(&pattern, 2.0, x.as_slice(), 1, &mut of_x);
        qr.times(&of_x, 1, &mut there);
        assert!((DVector::from_vec(there) - 2.0 * &dense * &x).amax() < 1e-12, "case {case}");
        let w = DVector::from_fn(rank, |_, _| random.uniform(-1.0, 1.0));
        let (mut z, mut found) = (Vec::new(), vec![0.0; n]);
        qr.times(w.as_slice(), 1, &mut z);
        qr.add_triangle_transpose_times(&pattern, -1.0, w.as_slice(), 1, &mut found);
        assert!(
            (DVector::from_vec(found) + dense.transpose() * DVector::from_vec(z)).amax() < 1e-12
        );
        // R x = w
        let mut x = vec![0.0; n];
        qr.solve(&pattern, &mut w.as_slice().to_vec(), &mut x);
        let mut left = w.as_slice().to_vec();
        qr.add_triangle_times(&pattern, -1.0, &x, 1, &mut left);
        let size = x.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        assert!(left.iter().all(|left| left.abs() < 1e-12 * size), "case {case}");
    }
    assert!(deficient > 20, "{deficient}");
}

/// What is nearly dependent is said to be dropped, and not squared on the way.
#[test]
fn what_is_dropped_is_told() {
    let (mut pattern, mut qr) = (Elimination::default(), FrontQr::default());
    pattern.decide([2, 2].into_iter(), [[0, 1]].into_iter());
    for (tilt, rank) in [(1e-7, 2), (1e-10, 1)] {
        let rows = [[1.0, 0.0, -1.0, 0.0], [1.0, tilt, -1.0, 0.0]];
        qr.factor(&pattern, 2, |j| ([0, 1], &rows[j][..]), 1e-8);
        assert_eq!(qr.rank(), rank);
        let dropped = if rank == 1 { tilt / 2.0 } else { 0.0 };
        assert!((qr.dropped_pivot() - dropped).abs() < 1e-3 * tilt, "{}", qr.dropped_pivot());
    }
}
