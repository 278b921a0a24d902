//! Three links of point masses in a plane, 200 Runge-Kutta steps, in three masses and three lengths.

/// The functions on a scalar, written once for all engines: generic over ours, and on the scalars of
/// the peers, whose traits differ.
macro_rules! pendulum {
    ([$($generics:tt)*] $s:ty) => {
        /// Angular accelerations: M(q) a = -C(q) w^2 - g, by L D L'.
        fn acceleration $($generics)* (p: &[$s; 6], q: &[$s; 3], v: &[$s; 3]) -> [$s; 3] {
            let l = [p[3], p[4], p[5]];
            // The masses that hang on each link.
            let c = [p[0] + p[1] + p[2], p[1] + p[2], p[2]];
            let (a01, a02, a12) = (c[1] * l[0] * l[1], c[2] * l[0] * l[2], c[2] * l[1] * l[2]);
            let (s01, c01) = (q[0] - q[1]).sin_cos();
            let (s02, c02) = (q[0] - q[2]).sin_cos();
            let (s12, c12) = (q[1] - q[2]).sin_cos();
            let (m01, m02, m12) = (a01 * c01, a02 * c02, a12 * c12);
            let (n01, n02, n12) = (a01 * s01, a02 * s02, a12 * s12);
            let h = [c[0] * l[0], c[1] * l[1], c[2] * l[2]];
            let (m00, m11, m22) = (h[0] * l[0], h[1] * l[1], h[2] * l[2]);
            let w = [v[0] * v[0], v[1] * v[1], v[2] * v[2]];
            let (g0, g1, g2) = (h[0] * q[0].sin(), h[1] * q[1].sin(), h[2] * q[2].sin());
            let r0 = -(n01 * w[1] + n02 * w[2]) - g0 * 9.81;
            let r1 = n01 * w[0] - n12 * w[2] - g1 * 9.81;
            let r2 = n02 * w[0] + n12 * w[1] - g2 * 9.81;
            let i0 = m00.recip();
            let (l10, l20) = (m01 * i0, m02 * i0);
            let i1 = (m11 - l10 * m01).recip();
            let e21 = m12 - l20 * m01;
            let l21 = e21 * i1;
            let d2 = m22 - l20 * m02 - l21 * e21;
            let y1 = r1 - l10 * r0;
            let x2 = (r2 - l20 * r0 - l21 * y1) / d2;
            let x1 = y1 * i1 - l21 * x2;
            [r0 * i0 - l10 * x1 - l20 * x2, x1, x2]
        }

        /// The classical Runge-Kutta method, 0.01 s.
        pub fn step $($generics)* (p: &[$s; 6], q: &mut [$s; 3], v: &mut [$s; 3]) {
            const H: f64 = 0.01;
            let ahead = |x: &[$s; 3], dx: &[$s; 3], h: f64| -> [$s; 3] {
                [x[0] + dx[0] * h, x[1] + dx[1] * h, x[2] + dx[2] * h]
            };
            let a1 = acceleration(p, q, v);
            let v2 = ahead(v, &a1, 0.5 * H);
            let a2 = acceleration(p, &ahead(q, v, 0.5 * H), &v2);
            let v3 = ahead(v, &a2, 0.5 * H);
            let a3 = acceleration(p, &ahead(q, &v2, 0.5 * H), &v3);
            let v4 = ahead(v, &a3, H);
            let a4 = acceleration(p, &ahead(q, &v3, H), &v4);
            for i in 0..3 {
                q[i] += (v[i] + (v2[i] + v3[i]) * 2.0 + v4[i]) * (H / 6.0);
                v[i] += (a1[i] + (a2[i] + a3[i]) * 2.0 + a4[i]) * (H / 6.0);
            }
        }

        pub fn loss $($generics)* (q: &[$s; 3], v: &[$s; 3]) -> $s {
            let mut sum = q[0] * q[0] + v[0] * v[0];
            for i in 1..3 {
                sum += q[i] * q[i] + v[i] * v[i];
            }
            sum
        }

        pub fn rollout $($generics)* (p: &[$s; 6], constant: fn(f64) -> $s) -> $s {
            let mut q = super::Q.map(constant);
            let mut v = super::V.map(constant);
            for _ in 0..super::STEPS {
                step(p, &mut q, &mut v);
            }
            loss(&q, &v)
        }
    };
}

pub const STEPS: usize = 200;
/// Masses, kg, and lengths, m.
pub const P: [f64; 6] = [1.0, 0.8, 0.6, 1.0, 0.9, 0.7];
pub const Q: [f64; 3] = [1.0, 0.5, -0.3];
pub const V: [f64; 3] = [0.0, 0.1, 0.0];

pub mod generic {
    use stiction::ad::Real;
    pendulum!([<T: Real>] T);
}

pub mod num_dual {
    use ::num_dual::{Derivative, DualNum, DualSVec64};
    use nalgebra::{Const, U1};
    type Scalar = DualSVec64<6>;
    pendulum!([] Scalar);

    pub fn gradient(p: &[f64; 6]) -> Scalar {
        let variable = |k| Scalar::new(p[k], Derivative::derivative_generic(Const::<6>, U1, k));
        rollout(&std::array::from_fn(variable), Scalar::from_re)
    }
}

pub mod num_dual_second_order {
    use ::num_dual::{Derivative, Dual2SVec64, DualNum};
    use nalgebra::{Const, U1};
    type Scalar = Dual2SVec64<6>;
    pendulum!([] Scalar);

    pub fn hessian(p: &[f64; 6]) -> Scalar {
        let variable = |k| {
            let first = Derivative::derivative_generic(U1, Const::<6>, k);
            Scalar::new(p[k], first, Derivative::none())
        };
        rollout(&std::array::from_fn(variable), Scalar::from_re)
    }
}

pub mod echidna {
    use num_traits::Float;
    pub type Scalar = ::echidna::Reverse<f64>;
    pendulum!([] Scalar);
}

/// The same as a computation in steps.
pub struct Steps {
    pub count: usize,
}

impl stiction::ad::Steps for Steps {
    type Memory = ();
    type Workspace<T: stiction::ad::Real> = ();

    fn start<T: stiction::ad::Real>(&self, _: &[T], state: &mut Vec<T>) {
        state.extend(Q.iter().chain(&V).map(|&x| T::constant(x)));
    }

    fn step<T: stiction::ad::Real>(
        &self,
        _: usize,
        p: &[T],
        x: &mut [T],
        (): &mut (),
        (): &mut (),
    ) {
        let (Some(p), Some((q, v))) = (p.first_chunk(), x.split_first_chunk_mut()) else { return };
        let Some(v) = v.first_chunk_mut() else { return };
        generic::step(p, q, v);
    }

    fn loss<T: stiction::ad::Real>(&self, k: usize, _: &[T], x: &[T], (): &mut ()) -> T {
        if k == self.count {
            generic::loss(&[x[0], x[1], x[2]], &[x[3], x[4], x[5]])
        } else {
            T::zero()
        }
    }
}
