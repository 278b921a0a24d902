//! Forward mode: a value with `N` tangents, f(x + dx) = f(x) + f'(x) dx.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::marker::PhantomData;

use super::{ByTwin, DualWorkspace, Node, NodeRule, Real};

/// A dual number over an inner scalar: `value` and `N` directional derivatives.
///
/// `R` says how [`Node`]s are differentiated; leave it at its default except to check gradients.
/// Duals nest (`Dual<Dual<f64, 1>, 1>` carries second derivatives).
#[derive(Clone, Copy)]
pub struct Dual<T, const N: usize, R = ByTwin> {
    /// The value.
    pub value: T,
    /// The derivative in each of the `N` directions.
    pub tangent: [T; N],
    rule: PhantomData<fn() -> R>,
}

impl<T: Real, const N: usize, R: NodeRule> Dual<T, N, R> {
    /// `value` with the given tangents.
    pub fn new(value: T, tangent: [T; N]) -> Self {
        Dual { value, tangent, rule: PhantomData }
    }

    /// `value` with tangent 1 in `direction` and 0 in the others.
    pub fn variable(value: T, direction: usize) -> Self {
        Self::new(value, std::array::from_fn(|k| T::constant(f64::from(u8::from(k == direction)))))
    }

    // f(x + dx) = f(x) + f'(x) dx
    #[inline(always)]
    fn chain(self, value: T, derivative: T) -> Self {
        Self::new(value, self.tangent.map(|t| derivative * t))
    }

    // The same where f' may be infinite at a finite f: as in the adjoint sweep nothing flows through
    // a zero, which 0 * inf would turn into NaN.
    fn chain_steep(self, value: T, derivative: T) -> Self {
        if derivative.value().is_finite() {
            return self.chain(value, derivative);
        }
        Self::new(value, self.tangent.map(|t| if t.is_zero() { t } else { derivative * t }))
    }

    // f(x + dx, y + dy) = f(x, y) + fx dx + fy dy
    #[inline(always)]
    fn chain2(self, other: Self, value: T, dx: T, dy: T) -> Self {
        Self::new(value, std::array::from_fn(|k| dx * self.tangent[k] + dy * other.tangent[k]))
    }
}

impl<T: Real, const N: usize, R: NodeRule> Real for Dual<T, N, R> {
    const ORDER: usize = T::ORDER + 1;
    type Workspace<K: Node> = DualWorkspace<T, K>;

    fn constant(x: f64) -> Self {
        Self::new(T::constant(x), [T::zero(); N])
    }
    fn value(self) -> f64 {
        self.value.value()
    }
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        let slope = if root.value() == 0.0 { T::zero() } else { root.recip() * 0.5 };
        self.chain(root, slope)
    }
    fn abs(self) -> Self {
        let v = self.value();
        let sign = if v > 0.0 {
            1.0
        } else if v < 0.0 {
            -1.0
        } else {
            0.0
        };
        self.chain(self.value.abs(), T::constant(sign))
    }
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    fn tan(self) -> Self {
        let t = self.value.tan();
        self.chain(t, t * t + 1.0)
    }
    fn asin(self) -> Self {
        let slope = (T::one() - self.value * self.value).sqrt().recip();
        self.chain_steep(self.value.asin(), slope)
    }
    fn acos(self) -> Self {
        let slope = -(T::one() - self.value * self.value).sqrt().recip();
        self.chain_steep(self.value.acos(), slope)
    }
    fn atan(self) -> Self {
        self.chain(self.value.atan(), (self.value * self.value + 1.0).recip())
    }
    fn atan2(self, x: Self) -> Self {
        let r2 = self.value * self.value + x.value * x.value;
        let scale = if r2.value() == 0.0 { T::zero() } else { r2.recip() };
        self.chain2(x, self.value.atan2(x.value), x.value * scale, -self.value * scale)
    }
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.chain(t, T::one() - t * t)
    }
    fn powi(self, n: i32) -> Self {
        let slope =
            if n == 0 { T::zero() } else { self.value.powi(n.wrapping_sub(1)) * f64::from(n) };
        self.chain(self.value.powi(n), slope)
    }
    fn powf(self, a: f64) -> Self {
        let slope = if a == 0.0 { T::zero() } else { self.value.powf(a - 1.0) * a };
        self.chain_steep(self.value.powf(a), slope)
    }
    fn recip(self) -> Self {
        let r = self.value.recip();
        self.chain(r, -r * r)
    }
    fn call<K: Node>(
        node: &K,
        inputs: &[Self],
        outputs: &mut [Self],
        solution: &mut K::Solution,
        workspace: &mut DualWorkspace<T, K>,
    ) {
        R::call(node, inputs, outputs, solution, workspace);
    }
}

impl<T: Debug, const N: usize, R> Debug for Dual<T, N, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dual").field("value", &self.value).field("tangent", &self.tangent).finish()
    }
}

impl<T: Real, const N: usize, R: NodeRule> Default for Dual<T, N, R> {
    fn default() -> Self {
        Self::constant(0.0)
    }
}

impl<T: PartialEq, const N: usize, R> PartialEq for Dual<T, N, R> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: PartialOrd, const N: usize, R> PartialOrd for Dual<T, N, R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Real, const N: usize, R: NodeRule> num_traits::Zero for Dual<T, N, R> {
    fn zero() -> Self {
        Self::constant(0.0)
    }
    fn is_zero(&self) -> bool {
        self.value.is_zero()
    }
}

impl<T: Real, const N: usize, R: NodeRule> num_traits::One for Dual<T, N, R> {
    fn one() -> Self {
        Self::constant(1.0)
    }
}

impl<T: Real, const N: usize, R: NodeRule> std::ops::Neg for Dual<T, N, R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.value, self.tangent.map(|t| -t))
    }
}

impl<T: Real, const N: usize, R: NodeRule> std::ops::Add for Dual<T, N, R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, y: Self) -> Self {
        Self::new(self.value + y.value, std::array::from_fn(|k| self.tangent[k] + y.tangent[k]))
    }
}

impl<T: Real, const N: usize, R: NodeRule> std::ops::Sub for Dual<T, N, R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, y: Self) -> Self {
        Self::new(self.value - y.value, std::array::from_fn(|k| self.tangent[k] - y.tangent[k]))
    }
}

impl<T: Real, const N: usize, R: NodeRule> std::ops::Mul for Dual<T, N, R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, y: Self) -> Self {
        self.chain2(y, self.value * y.value, y.value, self.value)
    }
}

impl<T: Real, const N: usize, R: NodeRule> std::ops::Div for Dual<T, N, R> {
    type Output = Self;
    #[inline(always)]
    fn div(self, y: Self) -> Self {
        let r = y.value.recip();
        let quotient = self.value / y.value;
        self.chain2(y, quotient, r, -quotient * r)
    }
}

super::operators::with_f64!([T: Real, const N: usize, R: NodeRule] Dual<T, N, R> {
    add: |x, c| Dual::new(x.value + c, x.tangent),
    sub: |x, c| Dual::new(x.value - c, x.tangent),
    mul: |x, c| Dual::new(x.value * c, x.tangent.map(|t| t * c)),
    div: |x, c| Dual::new(x.value / c, x.tangent.map(|t| t / c)),
});
