//! Sparse matrices of blocks, against dense ones.

use nalgebra::{DMatrix, DVector};
use stiction::internals::{BlockLu, Elimination};

use crate::random::Random;

/// Nodes of 1 to 8 rows, some of six, and couplings between some of them.
fn graph(nodes: usize, random: &mut Random) -> (Vec<usize>, Vec<[usize; 2]>) {
    let sizes = (0..nodes).map(|_| [6, 1 + random.below(8)][random.below(2)]).collect();
    let edges = (0..2 * nodes).map(|_| [random.below(nodes), random.below(nodes)]).collect();
    (sizes, edges)
}

#[test]
fn solutions_are_those_of_the_dense_matrix() {
    let mut random = Random(3);
    let (mut pattern, mut lu) = (Elimination::default(), BlockLu::default());
    for case in 0..40 {
        let (sizes, edges) = graph(1 + case % 13, &mut random);
        let firsts: Vec<usize> =
            sizes.iter().scan(0, |next, &n| Some(std::mem::replace(next, *next + n))).collect();
        let size: usize = sizes.iter().sum();
        pattern.decide(sizes.iter().copied(), edges.iter().copied());
        let symmetric = case % 2 == 0;
        lu.start(&pattern, symmetric);
        let mut dense = DMatrix::<f64>::identity(size, size);
        for &[a, b] in &edges {
            let ends = if a == b { vec![a] } else { vec![a, b] };
            let columns: Vec<usize> =
                ends.iter().flat_map(|&node| firsts[node]..firsts[node] + sizes[node]).collect();
            let mut row = || columns.iter().map(|_| random.uniform(-1.0, 1.0)).collect::<Vec<_>>();
            // Two rows at a time; what is not symmetric is so by a part that leaves A positive definite.
            let x: Vec<f64> = [row(), row()].concat();
            let turned: Vec<f64> = [row(), row()].concat();
            let y: Vec<f64> = x
                .iter()
                .zip(&turned)
                .map(|(x, t)| if symmetric { *x } else { x + 0.1 * t })
                .collect();
            lu.add(&pattern, [a, b], 2, &x, &y);
            for (x, y) in x.chunks(columns.len()).zip(y.chunks(columns.len())) {
                for (&i, &x) in columns.iter().zip(x) {
                    columns.iter().zip(y).for_each(|(&k, &y)| dense[(i, k)] += x * y);
                }
            }
        }
        assert!(lu.factor(&pattern));
        let right = DVector::from_fn(size, |_, _| random.uniform(-1.0, 1.0));
        let expected = dense.lu().solve(&right).expect("regular");
        let mut x = right.as_slice().to_vec();
        lu.solve(&pattern, &mut x);
        assert!((DVector::from_vec(x) - &expected).amax() < 1e-11 * expected.amax(), "case {case}");
    }
}

/// Blocks that do not couple anything are solved for by themselves, and a singular one is said to be that.
#[test]
fn a_singular_block_is_named() {
    let (mut pattern, mut lu) = (Elimination::default(), BlockLu::default());
    pattern.decide([2, 1].into_iter(), [[0, 0]].into_iter());
    lu.start(&pattern, true);
    // I + x y' with x'y = -1
    lu.add(&pattern, [0, 0], 1, &[1.0, 0.0], &[-1.0, 0.0]);
    assert!(!lu.factor(&pattern));
    lu.start(&pattern, true);
    lu.add(&pattern, [0, 0], 1, &[1.0, 0.0], &[f64::NAN, 0.0]);
    assert!(!lu.factor(&pattern));
    lu.start(&pattern, true);
    lu.add(&pattern, [0, 0], 1, &[1.0, 0.0], &[1.0, 0.0]);
    assert!(lu.factor(&pattern));
    let mut x = vec![2.0, 3.0, 4.0];
    lu.solve(&pattern, &mut x);
    assert_eq!(DVector::from_vec(x), DVector::from_vec(vec![1.0, 3.0, 4.0]));
}

/// Chains and stars fill in nothing, however their nodes are numbered.
#[test]
fn trees_of_nodes_fill_in_nothing() {
    let mut random = Random(5);
    for nodes in [2, 10, 100] {
        let mut numbers: Vec<usize> = (0..nodes).collect();
        (1..nodes).rev().for_each(|k| numbers.swap(k, random.below(k + 1)));
        let chain = (1..nodes).map(|k| [numbers[k - 1], numbers[k]]);
        let star = (1..nodes).map(|k| [numbers[0], numbers[k]]);
        let mut pattern = Elimination::default();
        for edges in [chain.collect::<Vec<_>>(), star.collect()] {
            pattern.decide((0..nodes).map(|_| 6), edges.iter().copied());
            assert_eq!(pattern.entries(), (36 * nodes, 36 * (nodes - 1)));
        }
    }
}
