//! Sparse factors against dense ones of another library.

use nalgebra::{DMatrix, DVector};
use stiction::linalg::{
    BlockMatrix, BlockPattern, FactorError, SparseFactor, Symbolic, solve_refined,
};
use stiction::model::{CellSplit, TetrahedralMesh};

use crate::random::Random;

/// A matrix on the pattern of a mesh: symmetric or not, all its pivots far from zero or not.
fn random(
    random: &mut Random,
    pattern: &BlockPattern,
    symmetric: bool,
    dominant: f64,
) -> (BlockMatrix<f64>, DMatrix<f64>) {
    let n = 3 * pattern.nodes();
    let mut dense = DMatrix::zeros(n, n);
    for row in 0..pattern.nodes() {
        for (column, _) in pattern.row(row) {
            for i in 0..3 {
                for j in 0..3 {
                    dense[(3 * row + i, 3 * column + j)] = random.uniform(-1.0, 1.0);
                }
            }
        }
    }
    if symmetric {
        dense = &dense + dense.transpose();
    }
    (0..n).for_each(|k| dense[(k, k)] += dominant);
    let mut matrix = BlockMatrix::default();
    matrix.start(pattern);
    for row in 0..pattern.nodes() {
        for (column, at) in pattern.row(row) {
            matrix.blocks[at] =
                [0, 1, 2].map(|i| [0, 1, 2].map(|j| dense[(3 * row + i, 3 * column + j)]));
        }
    }
    (matrix, dense)
}

fn pattern(cells: [usize; 3]) -> BlockPattern {
    let mesh = TetrahedralMesh::box_grid([1.0; 3], cells, CellSplit::Six).unwrap();
    BlockPattern::new(mesh.nodes.len(), &mesh.tetrahedra)
}

fn vector(random: &mut Random, nodes: usize) -> Vec<[f64; 3]> {
    (0..nodes).map(|_| random.vector(1.0)).collect()
}

fn flat(x: &[[f64; 3]]) -> DVector<f64> {
    DVector::from_column_slice(x.as_flattened())
}

#[test]
fn solutions_are_those_of_dense_factors() {
    let mut numbers = Random(1);
    for cells in [[1, 1, 1], [2, 3, 1], [4, 3, 5], [1, 1, 30]] {
        let pattern = pattern(cells);
        let symbolic = Symbolic::new(&pattern, &[]);
        for (symmetric, dominant) in [(true, 40.0), (false, 40.0), (true, 5.0), (false, 5.0)] {
            let (matrix, dense) = random(&mut numbers, &pattern, symmetric, dominant);
            let b = vector(&mut numbers, pattern.nodes());
            let mut factor = SparseFactor::default();
            factor.factor(&symbolic, &matrix, symmetric).unwrap();
            for transposed in [false, true] {
                let own = if transposed { dense.transpose() } else { dense.clone() };
                let expected = own.lu().solve(&flat(&b)).unwrap();
                let mut x = Vec::new();
                let systems = ((&pattern, &matrix), (&symbolic, &mut factor));
                let refined = solve_refined(systems.0, systems.1, transposed, &b, &mut x);
                assert!(refined.is_solved(), "{cells:?} {symmetric} {dominant}: {refined:?}");
                let error = (flat(&x) - &expected).norm() / expected.norm();
                // Those that are not dominant are worse conditioned.
                let tolerance = if dominant > 20.0 { 1e-14 } else { 1e-9 };
                assert!(error < tolerance, "{cells:?} {symmetric} {dominant}: {error:e}");
            }
            if symmetric {
                let eigenvalues = dense.symmetric_eigenvalues();
                let negative = eigenvalues.iter().filter(|&&x| x < 0.0).count();
                assert_eq!(factor.negative_pivots(), negative, "{cells:?} {dominant}");
            }
        }
    }
}

#[test]
fn what_is_not_eliminated_is_condensed() {
    let mut numbers = Random(2);
    let pattern = pattern([3, 4, 3]);
    let nodes = pattern.nodes();
    for kept in [vec![5], vec![40, 3, 17, 4, 79], (0..nodes).collect()] {
        let symbolic = Symbolic::new(&pattern, &kept);
        assert_eq!(symbolic.kept_nodes(), kept);
        for symmetric in [true, false] {
            let (matrix, dense) = random(&mut numbers, &pattern, symmetric, 40.0);
            let mut factor = SparseFactor::default();
            factor.factor(&symbolic, &matrix, symmetric).unwrap();
            let inside: Vec<usize> = (0..nodes).filter(|node| !kept.contains(node)).collect();
            let part = |rows: &[usize], columns: &[usize]| {
                DMatrix::from_fn(3 * rows.len(), 3 * columns.len(), |i, j| {
                    dense[(3 * rows[i / 3] + i % 3, 3 * columns[j / 3] + j % 3)]
                })
            };
            let mut expected = part(&kept, &kept);
            if !inside.is_empty() {
                let solved = part(&inside, &inside).lu().solve(&part(&inside, &kept)).unwrap();
                expected -= part(&kept, &inside) * solved;
            }
            let found = DMatrix::from_row_slice(3 * kept.len(), 3 * kept.len(), factor.condensed());
            assert!((found - &expected).norm() < 1e-13 * expected.norm());
            // A solve in two halves, the kept nodes by a dense one between them.
            let b = vector(&mut numbers, nodes);
            for transposed in [false, true] {
                let mut x = b.clone();
                factor.forward(&symbolic, transposed, &mut x);
                let right: Vec<f64> = kept.iter().flat_map(|&node| x[node]).collect();
                let condensed = if transposed { expected.transpose() } else { expected.clone() };
                let solved = condensed.lu().solve(&DVector::from_vec(right)).unwrap();
                for (k, &node) in kept.iter().enumerate() {
                    x[node] = [0, 1, 2].map(|i| solved[3 * k + i]);
                }
                factor.backward(&symbolic, transposed, &mut x);
                let own = if transposed { dense.transpose() } else { dense.clone() };
                let expected = own.lu().solve(&flat(&b)).unwrap();
                assert!((flat(&x) - &expected).norm() < 1e-13 * expected.norm());
            }
        }
    }
}

#[test]
fn singular_matrices_are_errors() {
    let pattern = pattern([2, 2, 2]);
    let symbolic = Symbolic::new(&pattern, &[]);
    for value in [0.0, f64::NAN, f64::INFINITY] {
        let mut matrix = BlockMatrix::default();
        matrix.start(&pattern);
        matrix.blocks.iter_mut().flatten().flatten().for_each(|x| *x = value);
        for symmetric in [true, false] {
            let error = SparseFactor::default().factor(&symbolic, &matrix, symmetric).unwrap_err();
            assert!(matches!(error, FactorError::Pivot(0)), "{error}");
        }
    }
    let empty = BlockPattern::new(0, [[0; 4]; 0]);
    let symbolic = Symbolic::new(&empty, &[]);
    SparseFactor::default().factor(&symbolic, &BlockMatrix::default(), true).unwrap();
}
