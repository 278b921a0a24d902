//! Nodes of which only the solver and the residual are written.

use std::fmt::Debug;

use super::linearization::Linearization;
use super::{Node, Real};

/// A [`Node`] that is differentiated by its residual alone: whoever writes a solver and the
/// conditions it meets has a node, with all derivatives on all scalars.
///
/// With F(x, y) = 0 at the solution, dy = -(dF/dy)^-1 dF/dx dx; both Jacobians come from duals
/// pushed through the residual. That takes one pass for four outputs, for an adjoint also one for
/// four inputs, and n^3 operations for n outputs: a node of many outputs or of known structure is
/// faster with a [`Node::vjp`] by hand. Second derivatives are as exact as first ones. Where dF/dy is
/// singular the change of least norm is taken (first derivatives only).
///
/// Kepler's equation E - e sin E = M for the anomaly E:
///
/// ```
/// use stiction::ad::{Dual, Implicit, Real, gradient, jacobian};
///
/// #[derive(Clone)]
/// struct Kepler;
///
/// impl Implicit for Kepler {
///     type Solution = ();
///     type Workspace = ();
///
///     fn solve<T: Real>(&self, x: &[T], y: &mut [T], _: &mut (), _: &mut ()) {
///         y[0] = x[0];
///         for _ in 0..20 {
///             y[0] -= (y[0] - x[1] * y[0].sin() - x[0]) / (-x[1] * y[0].cos() + 1.0);
///         }
///     }
///
///     fn residual<T: Real>(&self, _: &(), x: &[T], y: &[T], residual: &mut [T]) {
///         residual[0] = y[0] - x[1] * y[0].sin() - x[0];
///     }
/// }
///
/// fn anomaly<T: Real>(x: &[T]) -> T {
///     let mut y = [T::zero()];
///     T::call(&Kepler, x, &mut y, &mut (), &mut Default::default());
///     y[0]
/// }
///
/// let x = [1.0, 0.3];
/// let (e, adjoint) = gradient(anomaly, &x)?; // adjoint, on the tape
/// let (_, forward) = jacobian::<2>(|x| vec![anomaly(x)], &x); // forward, by duals
/// // dE/dM = 1 / (1 - e cos E), dE/de = sin E / (1 - e cos E)
/// let slope = 1.0 / (1.0 - 0.3 * e.cos());
/// for (k, expected) in [slope, slope * e.sin()].into_iter().enumerate() {
///     assert!((adjoint[k] - expected).abs() < 1e-14);
///     assert!((forward[k] - expected).abs() < 1e-14);
/// }
/// // d2E/dM2 = -e sin E / (1 - e cos E)^3
/// let mean = Dual::<Dual<f64, 1>, 1>::variable(Dual::variable(x[0], 0), 0);
/// let second = anomaly(&[mean, Real::constant(x[1])]).tangent[0].tangent[0];
/// assert!((second + 0.3 * e.sin() * slope.powi(3)).abs() < 1e-14);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub trait Implicit: Clone + 'static {
    /// What the solver hands down besides its outputs, decided in `f64`: a report, which of several
    /// cases holds. Also the starting guess of the next call. `()` if there is none.
    type Solution: Clone + Default + Debug + 'static;
    /// The solver's scratch memory; `()` if it needs none. Results must not depend on what it held.
    type Workspace: Default;

    /// Solves for `outputs`, which hold zeros or an older result. Runs on `f64`; on duals only under
    /// [`NodeRule::Unrolled`](super::NodeRule::Unrolled), to check the derivatives, and should then
    /// iterate [`Real::ORDER`] times after the values have converged.
    fn solve<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut Self::Solution,
        workspace: &mut Self::Workspace,
    );

    /// The conditions F(inputs, outputs) = 0 that hold at the solution, as many as there are
    /// outputs. It must not call this node itself.
    fn residual<T: Real>(
        &self,
        solution: &Self::Solution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    );
}

impl<P: Implicit> Node for P {
    type Solution = P::Solution;
    type Workspace<T: Real> = P::Workspace;
    type Factor<T: Real> = Linearization<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut P::Solution,
        workspace: &mut P::Workspace,
    ) {
        self.solve(inputs, outputs, solution, workspace);
    }

    fn residual<T: Real>(
        &self,
        solution: &P::Solution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        Implicit::residual(self, solution, inputs, outputs, residual);
    }

    fn factor<T: Real>(
        &self,
        solution: &P::Solution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut Linearization<T>,
    ) {
        factor.factor(self, solution, inputs, outputs);
    }

    fn jvp<T: Real>(
        &self,
        solution: &P::Solution,
        factor: &mut Linearization<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let tangents = input_tangents.iter().copied();
        output_tangents.copy_from_slice(factor.jvp(self, solution, inputs, outputs, tangents));
    }

    fn vjp<T: Real>(
        &self,
        solution: &P::Solution,
        factor: &mut Linearization<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        factor.vjp(self, solution, inputs, outputs, output_adjoints, input_adjoints);
    }
}
