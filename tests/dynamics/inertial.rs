//! Inertial parameters, against clouds of mass points.

use nalgebra::{DVector, Matrix3, Matrix4, Vector3};
use proptest::prelude::*;
use stiction::ad::{Dual, LANES, Real, jacobian};
use stiction::dynamics::InertialParameters;
use stiction::linalg::FactorError;
use stiction::spatial::Symmetric;

use super::{assert_close, cases};
use crate::random::Random;

/// Mass, first and second moments of random points, and the parameters of the body they are.
fn cloud(seed: u64) -> (Matrix4<f64>, InertialParameters<f64>) {
    let mut random = Random(seed);
    let mut moments = Matrix4::zeros();
    let mut points = Vec::new();
    for _ in 0..6 {
        let x = Vector3::from(random.vector::<3>(0.7));
        let mass = random.uniform(0.01, 2.0);
        let h = x.push(1.0);
        moments += h * h.transpose() * mass;
        points.push((x, mass));
    }
    let mass = moments[(3, 3)];
    let center = Vector3::new(moments[(0, 3)], moments[(1, 3)], moments[(2, 3)]) / mass;
    let mut inertia = Matrix3::zeros();
    for (x, m) in points {
        let x = x - center;
        inertia += (Matrix3::identity() * x.norm_squared() - x * x.transpose()) * m;
    }
    let inertia = Symmetric::from_lower(&inertia);
    (moments, InertialParameters { mass, center_of_mass: center, inertia })
}

/// The pseudo-inertia of ten linear parameters: second moments, first moments, mass.
fn pseudo_inertia(p: &[f64; 10]) -> Matrix4<f64> {
    let [m, hx, hy, hz, xx, yy, zz, xy, xz, yz] = *p;
    let half = 0.5 * (xx + yy + zz);
    Matrix4::new(
        half - xx,
        -xy,
        -xz,
        hx, //
        -xy,
        half - yy,
        -yz,
        hy, //
        -xz,
        -yz,
        half - zz,
        hz, //
        hx,
        hy,
        hz,
        m,
    )
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn linear_parameters_are_moments_of_the_mass(seed: u64) {
        let (moments, body) = cloud(seed);
        let linear = body.linear();
        assert_close(pseudo_inertia(&linear).as_slice(), moments.as_slice(), 1e-13, "moments");
        let back = InertialParameters::from_linear(&linear).unwrap();
        assert_close(&back.array(), &body.array(), 1e-12, "inverse");
    }

    #[test]
    fn log_cholesky_and_back(seed: u64) {
        let (moments, body) = cloud(seed);
        let free = body.log_cholesky().unwrap();
        assert_close(&InertialParameters::from_log_cholesky(&free).array(), &body.array(), 1e-12, "");
        // Pseudo-inertia = U U' with U = exp(a) [upper triangle, t; 0, 1].
        let [a, d1, d2, d3, s12, s23, s13, t1, t2, t3] = free;
        let u = Matrix4::new(
            d1.exp(), s12, s13, t1, //
            0.0, d2.exp(), s23, t2, //
            0.0, 0.0, d3.exp(), t3, //
            0.0, 0.0, 0.0, 1.0,
        ) * a.exp();
        assert_close((u * u.transpose()).as_slice(), moments.as_slice(), 1e-12, "factor");
    }

    #[test]
    fn any_ten_numbers_are_a_body(free in proptest::array::uniform10(-2.0..2.0f64)) {
        let body = InertialParameters::from_log_cholesky(&free);
        prop_assert!(body.mass > 0.0 && body.consistent());
        let moments = pseudo_inertia(&body.linear()).symmetric_eigenvalues();
        prop_assert!(moments.min() > -1e-12 * moments.max());
        let (_, derivative) =
            jacobian::<LANES>(|x| from_free(x).array().to_vec(), &free);
        prop_assert!(derivative.singular_values().min() > 0.0);
    }

    #[test]
    fn chain_rules(seed: u64) {
        let (_, body) = cloud(seed);
        let mut random = Random(seed);
        let (change, gradient) = (random.vector::<10>(1.0), random.vector::<10>(1.0));
        let (_, derivative) = jacobian::<LANES>(
            |x| InertialParameters::from_array(x.try_into().unwrap()).linear().to_vec(),
            &body.array(),
        );
        let moved = body.linear_tangent(&InertialParameters::from_array(&change));
        let (h, i) = (&moved.moment, &moved.rotational);
        let found = [moved.mass, h.x, h.y, h.z, i.xx, i.yy, i.zz, i.xy, i.xz, i.yz];
        let expected = &derivative * DVector::from_column_slice(&change);
        assert_close(&found, expected.as_slice(), 1e-13, "tangent");
        let expected = derivative.tr_mul(&DVector::from_column_slice(&gradient));
        assert_close(&body.pull_back(&gradient), expected.as_slice(), 1e-13, "gradient");
    }
}

fn from_free<T: Real>(x: &[T]) -> InertialParameters<T> {
    let ten: [T; 10] = std::array::from_fn(|k| x[k]);
    InertialParameters::from_log_cholesky(&ten)
}

#[test]
fn bodies_there_cannot_be() {
    let (_, body) = cloud(1);
    let with = |mass: f64, xx: f64| {
        let inertia = Symmetric { xx, ..body.inertia };
        InertialParameters { mass, inertia, ..body }
    };
    assert_eq!(with(-1.0, 1.0).log_cholesky(), Err(FactorError::Pivot(0)));
    assert_eq!(with(f64::NAN, 1.0).log_cholesky(), Err(FactorError::Pivot(0)));
    assert!(!with(1.0, 100.0).consistent());
    assert!(!with(1.0, -0.1).consistent());
    assert_eq!(InertialParameters::from_linear(&[0.0; 10]), Err(FactorError::Pivot(0)));
    let dual = Dual::<f64, LANES>::constant(-1.0);
    assert!(from_free(&[dual; 10]).consistent());
}
