//! The factor of the mass matrix.

use proptest::prelude::*;
use stiction::dynamics::{Crba, Kinematics, MassFactor, MassMatrix, mass_matrix};
use stiction::model::Scene;

use super::models::tree;
use super::{assert_close, cases, difference};
use crate::random::Random;

fn factor_of(scene: &Scene) -> (MassMatrix<f64>, MassFactor<f64>, Kinematics<f64>) {
    let Scene { model, parameters, state, .. } = scene;
    let kinematics = Kinematics::new(model, parameters, state);
    let (mut matrix, mut factor) = (MassMatrix::default(), MassFactor::default());
    mass_matrix(model, parameters, &kinematics, &mut Crba::default(), &mut matrix);
    factor.factor(&matrix, None).unwrap();
    (matrix, factor, kinematics)
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn solving_undoes_multiplying(seed: u64, bodies in 1usize..14) {
        let scene = tree(seed, bodies);
        let n = scene.model.nv();
        let (matrix, factor, kinematics) = factor_of(&scene);
        let mut random = Random(seed);
        let x: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
        let mut y = vec![f64::NAN; n];
        matrix.multiply(&x, &mut y);
        // The same from all entries.
        let mut dense = vec![f64::NAN; n * n];
        matrix.dense(&mut dense);
        let product: Vec<f64> =
            (0..n).map(|i| (0..n).map(|k| dense[i * n + k] * x[k]).sum()).collect();
        prop_assert!(difference(&y, &product) < 1e-13);
        factor.solve(&mut y);
        assert_close(&y, &x, 1e-10, "solution");

        // On the path of one body half of the solve stays there, and x' M^-1 x is a sum of squares.
        for body in 0..bodies {
            let path = kinematics.path(body);
            let Some(&last) = path.first() else { continue };
            let mut sparse = vec![0.0; n];
            for &k in path {
                sparse[k] = x[k];
            }
            let mut solved = sparse.clone();
            factor.solve(&mut solved);
            let expected: f64 = sparse.iter().zip(&solved).map(|(a, b)| a * b).sum();
            let mut half = sparse.clone();
            factor.solve_transposed(&mut half);
            let mut short = sparse.clone();
            factor.solve_transposed_on_path(last, &mut short);
            prop_assert_eq!(&half, &short);
            prop_assert!((0..n).all(|k| path.contains(&k) || half[k] == 0.0));
            let squares: f64 = (0..n).map(|k| half[k] * half[k] * factor.inverse_pivot(k)).sum();
            assert_close(&[squares], &[expected], 1e-11, "quadratic form");
        }
    }
}
