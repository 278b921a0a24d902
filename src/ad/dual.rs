//! Forward mode: a value with `N` tangents, f(x + dx) = f(x) + f'(x) dx.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::marker::PhantomData;

use super::{Node, Real};

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

/// How a [`Dual`] differentiates a [`Node`].
pub trait NodeRule: Copy + Debug + 'static {
    /// Calls `node` on duals.
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        workspace: &mut DualWorkspace<T, K>,
    );
}

/// By the node's own `jvp`, the forward twin of its adjoint: the fast and default way.
#[derive(Clone, Copy, Debug)]
pub struct ByTwin;

/// By the implicit function theorem with duals pushed through the node's `residual`: shares the
/// solution with `jvp` and `vjp`, but none of their formulas. Slow; for checking. First order: the
/// tangents are constants of the inner scalar.
#[derive(Clone, Copy, Debug)]
pub struct ByResidual;

/// By pushing the duals through the solver's own iterations. Slow; for checking.
#[derive(Clone, Copy, Debug)]
pub struct Unrolled;

/// Memory of a node called on duals over `T`.
pub struct DualWorkspace<T: Real, K: Node> {
    inner: T::Workspace<K>,
    factor: K::Factor<T>,
    inputs: Vec<T>,
    outputs: Vec<T>,
    input_tangents: Vec<T>,
    output_tangents: Vec<T>,
}

impl<T: Real, K: Node> Default for DualWorkspace<T, K> {
    fn default() -> Self {
        DualWorkspace {
            inner: Default::default(),
            factor: Default::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            input_tangents: Vec::new(),
            output_tangents: Vec::new(),
        }
    }
}

impl NodeRule for ByTwin {
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        w: &mut DualWorkspace<T, K>,
    ) {
        w.inputs.clear();
        w.inputs.extend(inputs.iter().map(|x| x.value));
        w.outputs.clear();
        w.outputs.resize(outputs.len(), T::zero());
        T::call(node, &w.inputs, &mut w.outputs, solution, &mut w.inner);
        node.factor(solution, &w.inputs, &w.outputs, &mut w.factor);
        for (y, &value) in outputs.iter_mut().zip(&w.outputs) {
            y.value = value;
        }
        w.output_tangents.clear();
        w.output_tangents.resize(outputs.len(), T::zero());
        for k in 0..N {
            w.input_tangents.clear();
            w.input_tangents.extend(inputs.iter().map(|x| x.tangent[k]));
            node.jvp(
                solution,
                &mut w.factor,
                &w.inputs,
                &w.outputs,
                &w.input_tangents,
                &mut w.output_tangents,
            );
            for (y, &dy) in outputs.iter_mut().zip(&w.output_tangents) {
                y.tangent[k] = dy;
            }
        }
    }
}

impl NodeRule for ByResidual {
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        w: &mut DualWorkspace<T, K>,
    ) {
        w.inputs.clear();
        w.inputs.extend(inputs.iter().map(|x| x.value));
        w.outputs.clear();
        w.outputs.resize(outputs.len(), T::zero());
        T::call(node, &w.inputs, &mut w.outputs, solution, &mut w.inner);

        let (x, y): (Vec<f64>, Vec<f64>) = (
            w.inputs.iter().map(|x| x.value()).collect(),
            w.outputs.iter().map(|y| y.value()).collect(),
        );
        let n = y.len();
        // Columns of dF/dy, eight at a time.
        const LANES: usize = 8;
        let mut jacobian = nalgebra::DMatrix::<f64>::zeros(n, n);
        let constants: Vec<Dual<f64, LANES>> = x.iter().map(|&x| Real::constant(x)).collect();
        let mut residual = vec![Dual::<f64, LANES>::constant(0.0); n];
        for first in (0..n).step_by(LANES) {
            let seeded: Vec<Dual<f64, LANES>> =
                (0..n).map(|j| Dual::variable(y[j], j.wrapping_sub(first))).collect();
            node.residual(solution, &constants, &seeded, &mut residual);
            for (i, r) in residual.iter().enumerate() {
                for k in 0..LANES.min(n - first) {
                    jacobian[(i, first + k)] = r.tangent[k];
                }
            }
        }
        // dF/dx dx of every tangent, then dy = -(dF/dy)^-1 (dF/dx dx).
        let seeded: Vec<Dual<f64, N>> = inputs
            .iter()
            .map(|x| Dual::new(x.value.value(), x.tangent.map(|t| t.value())))
            .collect();
        let fixed: Vec<Dual<f64, N>> = y.iter().map(|&y| Real::constant(y)).collect();
        let mut residual = vec![Dual::<f64, N>::constant(0.0); n];
        node.residual(solution, &seeded, &fixed, &mut residual);
        let rhs = nalgebra::DMatrix::from_fn(n, N, |i, k| -residual[i].tangent[k]);
        let dy = least_norm_solve(jacobian, &rhs);
        for (i, y) in outputs.iter_mut().enumerate() {
            *y = Dual::new(w.outputs[i], std::array::from_fn(|k| T::constant(dy[(i, k)])));
        }
    }
}

/// The solution of `a x = b` of least norm. Rows are scaled first; singular values below 1e-11 of
/// the largest count as zero, so that solutions that are not unique get the same selection rule
/// as in the nodes: least norm.
fn least_norm_solve(
    mut a: nalgebra::DMatrix<f64>,
    b: &nalgebra::DMatrix<f64>,
) -> nalgebra::DMatrix<f64> {
    let mut b = b.clone();
    for i in 0..a.nrows() {
        let scale = a.row(i).amax();
        if scale > 0.0 {
            a.row_mut(i).unscale_mut(scale);
            b.row_mut(i).unscale_mut(scale);
        }
    }
    let lu = a.clone().full_piv_lu();
    let u = lu.u();
    let (largest, smallest) = (0..a.nrows()).fold((0.0_f64, f64::INFINITY), |(l, s), i| {
        (l.max(u[(i, i)].abs()), s.min(u[(i, i)].abs()))
    });
    if smallest > 1e-11 * largest
        && let Some(x) = lu.solve(&b)
    {
        return x;
    }
    let svd = a.svd(true, true);
    let cut = 1e-11 * svd.singular_values.max();
    let (rows, columns) = (b.nrows(), b.ncols());
    svd.solve(&b, cut).unwrap_or_else(|_| nalgebra::DMatrix::from_element(rows, columns, f64::NAN))
}

impl NodeRule for Unrolled {
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        _: &mut DualWorkspace<T, K>,
    ) {
        node.primal(inputs, outputs, solution, &mut Default::default());
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
