//! What is computed with duals: arithmetic, elementary functions, nodes.

use std::cmp::Ordering;
use std::fmt::Debug;

use super::{Dual, DualWorkspace, Node, Real, instance, node_rule};

impl<T: Real, const N: usize> Dual<T, N> {
    /// f(x + dx) = f(x) + f'(x) dx. Where the slope is infinite nothing flows through a zero, as in
    /// the adjoint sweep: 0 * inf would harm directions that x does not depend on.
    #[inline(always)]
    fn unary(self, _: &'static &'static str, value: T, slope: T) -> Self {
        if slope.is_bounded() {
            return Self::new(value, T::scale(slope, &self.tangent));
        }
        Self::new(value, self.tangent.map(|t| flow(slope, t)))
    }

    /// f(x + dx, y + dy) = f(x, y) + fx dx + fy dy
    #[inline(always)]
    fn binary(self, _: &'static &'static str, other: Self, value: T, dx: T, dy: T) -> Self {
        if dx.is_bounded() && dy.is_bounded() {
            return Self::new(value, T::axpby(dx, &self.tangent, dy, &other.tangent));
        }
        // Copies: references would keep the tangents of the other path in memory.
        let (x, y) = (self.tangent, other.tangent);
        Self::new(value, std::array::from_fn(|k| flow(dx, x[k]) + flow(dy, y[k])))
    }
}

#[cold]
fn flow<T: Real>(slope: T, tangent: T) -> T {
    if tangent.vanishes() { tangent } else { slope.guarded_product(tangent) }
}

impl<T: Real, const N: usize> Real for Dual<T, N> {
    const ORDER: usize = T::ORDER + 1;
    const INSTANCE: Option<usize> = instance::dual(T::INSTANCE, N);
    type Workspace<K: Node> = DualWorkspace<T, K>;

    #[inline(always)]
    fn constant(x: f64) -> Self {
        Self::new(T::constant(x), [T::zero(); N])
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.value.value()
    }
    fn vanishes(self) -> bool {
        self.value.vanishes() && self.tangent.iter().all(|t| t.vanishes())
    }
    #[inline(always)]
    fn is_bounded(self) -> bool {
        self.value.is_bounded() && self.tangent.iter().all(|t| t.is_bounded())
    }
    fn guarded_product(self, other: Self) -> Self {
        let (x, y) = (self.value, other.value);
        let tangent = |k: usize| flow(y, self.tangent[k]) + flow(x, other.tangent[k]);
        Self::new(x.guarded_product(y), std::array::from_fn(tangent))
    }

    super::elementary::methods!();

    // y += a x, without the sums in between that a product and a sum would make.
    #[inline(always)]
    fn accumulate<const M: usize>(y: &mut [Self; M], a: Self, x: &[Self; M]) {
        for (y, x) in y.iter_mut().zip(x) {
            T::accumulate(&mut y.tangent, a.value, &x.tangent);
            T::accumulate(&mut y.tangent, x.value, &a.tangent);
            y.value += a.value * x.value;
        }
    }

    fn call<K: Node>(
        node: &K,
        inputs: &[Self],
        outputs: &mut [Self],
        solution: &mut K::Solution,
        workspace: &mut DualWorkspace<T, K>,
    ) {
        node_rule::call(node, inputs, outputs, solution, workspace);
    }
}

impl<T: Debug, const N: usize> Debug for Dual<T, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dual").field("value", &self.value).field("tangent", &self.tangent).finish()
    }
}

impl<T: Real, const N: usize> Default for Dual<T, N> {
    fn default() -> Self {
        Self::constant(0.0)
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Dual<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: PartialOrd, const N: usize> PartialOrd for Dual<T, N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Real, const N: usize> num_traits::Zero for Dual<T, N> {
    fn zero() -> Self {
        Self::constant(0.0)
    }
    fn is_zero(&self) -> bool {
        self.value.is_zero()
    }
}

impl<T: Real, const N: usize> num_traits::One for Dual<T, N> {
    fn one() -> Self {
        Self::constant(1.0)
    }
}

impl<T: Real, const N: usize> std::ops::Neg for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.value, self.tangent.map(|t| -t))
    }
}

impl<T: Real, const N: usize> std::ops::Add for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, y: Self) -> Self {
        Self::new(self.value + y.value, T::plus(&self.tangent, &y.tangent))
    }
}

impl<T: Real, const N: usize> std::ops::Sub for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, y: Self) -> Self {
        Self::new(self.value - y.value, T::minus(&self.tangent, &y.tangent))
    }
}

impl<T: Real, const N: usize> std::ops::Mul for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, y: Self) -> Self {
        // Not guarded against infinite factors: a check would cost a third, of wide duals more.
        Self::new(self.value * y.value, T::axpby(y.value, &self.tangent, self.value, &y.tangent))
    }
}

impl<T: Real, const N: usize> std::ops::Div for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, y: Self) -> Self {
        let r = y.value.recip();
        let quotient = self.value / y.value;
        self.binary(&"div", y, quotient, r, -quotient.guarded_product(r))
    }
}

super::operators::with_f64!([T: Real, const N: usize] Dual<T, N> {
    add: |x, c| Dual::new(x.value + c, x.tangent),
    sub: |x, c| Dual::new(x.value - c, x.tangent),
    mul: |x, c| Dual::new(x.value * c, T::scale(T::constant(c), &x.tangent)),
    div: |x, c| {
        let tangent = match c == 0.0 {
            false => x.tangent.map(|t| t / c),
            true => x.tangent.map(|t| if t.vanishes() { t } else { t / c }),
        };
        Dual::new(x.value / c, tangent)
    },
});
