//! nalgebra on our scalars (feature `real_field`): what works, against our own; what is lost, as
//! `ad::real_field` says.

use std::thread;

use approx::{AbsDiffEq, RelativeEq, UlpsEq, assert_relative_eq};
use nalgebra::{
    ComplexField, DMatrix, Matrix3, Quaternion, RealField, Rotation3, UnitQuaternion, Vector3,
};
use simba::scalar::{SubsetOf, SupersetOf};
use stiction::ad::{self, Dual, Error, Real, Var};
use stiction::{linalg, spatial};

type D = Dual<f64, 1>;

/// Six numbers to a symmetric positive definite matrix, and three to a right-hand side.
const AT: [f64; 9] = [4.0, 1.0, 0.5, 3.0, -0.7, 5.0, 1.0, -2.0, 0.3];

fn symmetric<T: Copy>(x: &[T]) -> [T; 9] {
    [x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5]]
}

/// Jacobians of `theirs` by duals and by the tape, and that of `ours`.
macro_rules! compare {
    ($theirs:expr, $ours:expr, $at:expr) => {{
        let (values, by_duals) = ad::jacobian::<3>($theirs, &$at);
        let (taped, by_rows) = ad::jacobian_by_rows($theirs, &$at).unwrap();
        let (expected, jacobian) = ad::jacobian::<3>($ours, &$at);
        for (found, expected) in values.iter().chain(&taped).zip(expected.iter().chain(&expected)) {
            assert_relative_eq!(found, expected, epsilon = 1e-14, max_relative = 1e-13);
        }
        assert_relative_eq!(by_duals, jacobian, epsilon = 1e-13, max_relative = 1e-12);
        assert_relative_eq!(by_rows, jacobian, epsilon = 1e-13, max_relative = 1e-12);
        jacobian
    }};
}

fn solve_by_cholesky<T: RealField + Copy>(x: &[T]) -> Vec<T> {
    let a = Matrix3::from_row_slice(&symmetric(x));
    let b = Vector3::new(x[6], x[7], x[8]);
    a.cholesky().expect("positive definite").solve(&b).as_slice().to_vec()
}

fn solve_by_our_cholesky<T: Real>(x: &[T]) -> Vec<T> {
    let mut l = symmetric(x);
    assert!(linalg::cholesky(&mut l, 3));
    let mut b = x[6..].to_vec();
    linalg::solve_lower(&l, 3, &mut b);
    linalg::solve_lower_transpose(&l, 3, &mut b);
    b
}

fn solve_by_lu<T: RealField + Copy>(x: &[T]) -> Vec<T> {
    // Large enough for the code on the heap, too.
    let a = DMatrix::from_row_slice(3, 3, &symmetric(x));
    let b = Vector3::new(x[6], x[7], x[8]);
    let solved = a.lu().solve(&b).expect("regular");
    solved.as_slice().to_vec()
}

fn solve_by_inverse<T: RealField + Copy>(x: &[T]) -> Vec<T> {
    let a = Matrix3::from_row_slice(&symmetric(x)).try_inverse().expect("regular");
    (a * Vector3::new(x[6], x[7], x[8])).as_slice().to_vec()
}

fn solve_by_qr<T: RealField + Copy>(x: &[T]) -> Vec<T> {
    let a = Matrix3::from_row_slice(&symmetric(x)).qr();
    let b = Vector3::new(x[6], x[7], x[8]);
    a.solve(&b).expect("regular").as_slice().to_vec()
}

fn solve_by_our_lu<T: Real>(x: &[T]) -> Vec<T> {
    let mut lu = linalg::Lu::default();
    assert!(lu.factor(&symmetric(x), 3));
    let mut b = x[6..].to_vec();
    lu.solve(&mut b);
    b
}

#[test]
fn factorisations_have_the_derivatives_of_ours() {
    compare!(solve_by_cholesky, solve_by_our_cholesky, AT);
    compare!(solve_by_lu, solve_by_our_lu, AT);
    compare!(solve_by_inverse, solve_by_our_lu, AT);
    compare!(solve_by_qr, solve_by_our_lu, AT);
    // Also where entries vanish.
    let diagonal = [4.0, 0.0, 0.0, 3.0, 0.0, 5.0, 0.0, -2.0, 0.3];
    compare!(solve_by_cholesky, solve_by_our_cholesky, diagonal);
    compare!(solve_by_lu, solve_by_our_lu, diagonal);
    compare!(solve_by_inverse, solve_by_our_lu, diagonal);
    compare!(solve_by_qr, solve_by_our_lu, diagonal);
}

#[test]
fn second_derivatives_pass_through_nalgebra() {
    let (_, slopes, hessian) = ad::hessian::<3>(|x| solve_by_cholesky(x)[0], &AT).unwrap();
    let (_, expected, second) = ad::hessian::<3>(|x| solve_by_our_cholesky(x)[0], &AT).unwrap();
    for (found, expected) in slopes.iter().zip(&expected) {
        assert_relative_eq!(found, expected, epsilon = 1e-13);
    }
    assert!(second.amax() > 0.1);
    assert_relative_eq!(hessian, second, epsilon = 1e-12);
}

fn their_rotation<T: RealField + Copy>(w: &[T]) -> Vec<T> {
    let q = UnitQuaternion::from_scaled_axis(Vector3::new(w[0], w[1], w[2]));
    vec![q.w, q.i, q.j, q.k]
}

fn our_rotation<T: Real>(w: &[T]) -> Vec<T> {
    spatial::exp(Vector3::new(w[0], w[1], w[2])).to_vec()
}

#[test]
fn rotations_are_right_away_from_zero() {
    let w = [0.3, -0.2, 0.1];
    let jacobian = compare!(their_rotation, our_rotation, w);
    assert!(jacobian.amax() > 0.4);
    fn moved<T: RealField + Copy>(w: &[T]) -> Vec<T> {
        let r = Rotation3::from_scaled_axis(Vector3::new(w[0], w[1], w[2]));
        (r * Vector3::new(w[2], w[0], w[1])).as_slice().to_vec()
    }
    fn ours<T: Real>(w: &[T]) -> Vec<T> {
        let r = spatial::rotation_matrix(spatial::exp(Vector3::new(w[0], w[1], w[2])));
        (r * Vector3::new(w[2], w[0], w[1])).as_slice().to_vec()
    }
    compare!(moved, ours, w);
}

#[test]
fn rotations_lose_their_derivative_at_zero() {
    let (_, ours) = ad::jacobian::<3>(our_rotation, &[0.0; 3]);
    let (_, theirs) = ad::jacobian::<3>(their_rotation, &[0.0; 3]);
    for k in 0..3 {
        assert_eq!((ours[(k + 1, k)], theirs[(k + 1, k)]), (0.5, 0.0));
    }
    let (zero, one) = (D::constant(0.0), D::constant(1.0));
    let half = Dual::new(0.0, [0.5]);
    assert_eq!(spatial::log([one, half, zero, zero]).x.tangent, [1.0]);
    let q = Quaternion::new(one, half, zero, zero);
    assert_eq!(UnitQuaternion::new_unchecked(q).scaled_axis().x.tangent, [0.0]);
}

/// A matrix of duals: `a` and its derivative `da`.
fn lift(a: Matrix3<f64>, da: Matrix3<f64>) -> Matrix3<D> {
    a.zip_map(&da, |a, da| Dual::new(a, [da]))
}

#[test]
fn eigenvalues_are_differentiated_where_they_differ() {
    let a = Matrix3::from_row_slice(&symmetric(&AT));
    let da = Matrix3::new(0.0, 1.0, 1.0, 1.0, 0.0, 0.5, 1.0, 0.5, -1.0);
    let eigen = lift(a, da).symmetric_eigen();
    for k in 0..3 {
        // d lambda = v' dA v
        let v = eigen.eigenvectors.column(k).map(|x| x.value);
        let expected = v.dot(&(da * v));
        assert!(expected.abs() > 0.1);
        assert_relative_eq!(eigen.eigenvalues[k].tangent[0], expected, epsilon = 1e-9);
    }
}

#[test]
fn eigenvectors_lose_their_derivative_at_diagonal_matrices() {
    let a = Matrix3::from_diagonal(&Vector3::new(1.0, 3.0, 5.0));
    let mut da = Matrix3::zeros();
    (da[(0, 1)], da[(1, 0)]) = (1.0, 1.0);
    let eigen = lift(a, da).symmetric_eigen();
    // dv_0 has the entry dA_01 / (lambda_0 - lambda_1) = -1/2.
    assert!(eigen.eigenvectors.iter().all(|x| x.tangent == [0.0]));
    let (h, t) = (1e-6, 0.5);
    let moved = (a + da * h).symmetric_eigen().eigenvectors;
    // They come in any order.
    let first = moved.column_iter().find(|v| v[0].abs() > 0.9).expect("an eigenvector");
    assert_relative_eq!(first[1] / first[0], -h * t, epsilon = 1e-9);
}

#[test]
fn derivatives_at_repeated_eigenvalues_are_arbitrary() {
    // Eigenvalues 2 + t, 2 - t and 5 along da, for any basis.
    let (a, mut da) = (Matrix3::from_diagonal(&Vector3::new(2.0, 2.0, 5.0)), Matrix3::zeros());
    (da[(0, 1)], da[(1, 0)]) = (1.0, 1.0);
    let turned = Rotation3::new(Vector3::new(0.3, 0.2, 0.1)).into_inner();
    for r in [Matrix3::identity(), turned] {
        let eigen = lift(r * a * r.transpose(), r * da * r.transpose()).symmetric_eigen();
        let slopes = eigen.eigenvalues.iter().filter(|x| x.value < 3.0).map(|x| x.tangent[0]);
        assert!(slopes.clone().count() == 2 && slopes.clone().all(|x| x.abs() < 0.5));
    }
}

#[test]
fn comparisons_and_conversions() {
    let x = D::new(2.0, [1.0]);
    assert!(x.relative_eq(&D::constant(2.0), D::default_epsilon(), D::default_max_relative()));
    assert!(!x.abs_diff_eq(&D::constant(2.1), D::constant(0.05)));
    assert!(x.ulps_eq(&D::constant(2.0), D::constant(0.0), 0));
    // A number is got out of constants only.
    assert_eq!(<D as SupersetOf<f64>>::to_subset(&x), None);
    assert_eq!(<D as SupersetOf<f64>>::to_subset(&D::constant(2.0)), Some(2.0));
    assert_eq!(<f64 as SubsetOf<D>>::to_superset(&2.0).tangent, [0.0]);
    assert_eq!(<f32 as SubsetOf<Var>>::to_superset(&2.5).value(), 2.5);
    ad::gradient(
        |x| {
            assert_eq!(<Var as SupersetOf<f64>>::to_subset(&x[0]), None);
            x[0]
        },
        &[1.0],
    )
    .unwrap();
    assert_eq!(ComplexField::try_sqrt(D::constant(-1.0)), None);
    assert_eq!(ComplexField::to_exp(-x), (x, D::constant(-1.0)));
    assert_eq!((D::two_pi().value, D::pi().tangent), (std::f64::consts::TAU, [0.0]));
    assert_eq!(nalgebra::convert::<f64, D>(3.0), D::constant(3.0));
}

// With this feature the compiler lets variables cross threads; the tape does not.
#[test]
fn a_variable_used_on_another_thread_is_refused() {
    let uses: [fn(Var) -> Var; 4] =
        [|x| x * 2.0, |x| x * x, |x| Real::sin(x), |x| x + Var::constant(1.0)];
    for f in uses {
        let found = ad::gradient(
            |x| {
                let x = x[0];
                let used = thread::spawn(move || f(x)).join().unwrap();
                assert_eq!(used.value(), f(Var::constant(3.0)).value());
                x + used
            },
            &[3.0],
        );
        assert_eq!(found, Err(Error::StaleVariable));
    }
    // Also within a recording of that thread, which refuses it in turn.
    let found = ad::gradient(
        |x| {
            let (x, at) = (x[0], [5.0]);
            let there = thread::spawn(move || ad::gradient(|y| y[0] * x, &at)).join().unwrap();
            assert_eq!(there, Err(Error::StaleVariable));
            x * x
        },
        &[3.0],
    );
    assert_eq!(found, Ok((9.0, vec![6.0])));
    // And one that was made there.
    let mut made = Var::constant(0.0);
    thread::scope(|scope| {
        scope.spawn(|| {
            ad::gradient(
                |y| {
                    made = y[0] * 2.0;
                    made
                },
                &[1.0],
            )
            .map(|_| ())
        });
    });
    assert_eq!(ad::gradient(|x| x[0] * made, &[3.0]), Err(Error::StaleVariable));
    // Sent and brought back it is what it was, and the number is right.
    let back = |x: Var| thread::spawn(move || x + 1.0).join().unwrap();
    assert_eq!(ad::gradient(|x| back(x[0]) * x[0], &[3.0]), Ok((12.0, vec![7.0])));
}
