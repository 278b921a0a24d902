//! The seam between what is computed and what is solved.

use std::fmt::Debug;

use super::Real;

/// Something that is *solved* for (an argmin, an equilibrium, a root) and therefore differentiated
/// through its optimality conditions rather than through the iterations that found it.
///
/// `outputs = primal(inputs)` is any solver; `residual(inputs, outputs) = 0` are the conditions it
/// meets, which define the derivative by the implicit function theorem; `jvp` and `vjp` are that
/// derivative, derived by hand from one factorisation. How a call is differentiated depends on the
/// scalar:
///
/// | scalar | value | derivative |
/// |---|---|---|
/// | `f64` | `primal` | none |
/// | [`Dual`](super::Dual) | `primal` on the values | `jvp` of each tangent |
/// | [`Var`](super::Var) | `primal` on the values | `vjp` in the sweep |
/// | `Dual` under [`NodeRule::ByResidual`] | `primal` on the values | linear solve with duals through `residual` |
/// | `Dual` under [`NodeRule::Unrolled`] | `primal` on the duals | what the iterations carry |
///
/// The last two share no derivative formula with `jvp` and `vjp`; they are how gradients are
/// verified.
///
/// [`NodeRule::ByResidual`]: super::NodeRule::ByResidual
/// [`NodeRule::Unrolled`]: super::NodeRule::Unrolled
///
/// Whoever has a solver and a residual need not write the rest: see [`Implicit`](super::Implicit).
pub trait Node: Clone + 'static {
    /// What the solver decided in `f64`, handed down as data to all derivatives: report, modes,
    /// ranks. Also the starting guess of the next call.
    type Solution: Clone + Default + Debug + 'static;
    /// The solver's scratch memory.
    type Workspace<T: Real>: Default;
    /// The factorisation behind `jvp` and `vjp`, with their scratch memory.
    type Factor<T: Real>: Default + 'static;

    /// Solves for `outputs`. Generic, so that it also runs on duals and on the tape, unrolled.
    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut Self::Solution,
        workspace: &mut Self::Workspace<T>,
    );

    /// The conditions that hold at the solution, as many as there are outputs, with a nonsingular
    /// Jacobian in the outputs wherever the outputs are differentiable.
    fn residual<T: Real>(
        &self,
        solution: &Self::Solution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    );

    /// Factorises the linearised conditions at the solution.
    fn factor<T: Real>(
        &self,
        solution: &Self::Solution,
        inputs: &[T],
        outputs: &[T],
        factor: &mut Self::Factor<T>,
    );

    /// `output_tangents = (d outputs / d inputs) input_tangents`.
    fn jvp<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    );

    /// The same for `columns` tangents at once, one after the other.
    #[expect(clippy::too_many_arguments, reason = "as jvp, and how many")]
    fn jvp_many<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        inputs: &[T],
        outputs: &[T],
        columns: usize,
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        for k in 0..columns {
            let (dx, dy) = (k * inputs.len(), k * outputs.len());
            let (dx, dy) = (&input_tangents[dx..dx + inputs.len()], dy..dy + outputs.len());
            self.jvp(solution, factor, inputs, outputs, dx, &mut output_tangents[dy]);
        }
    }

    /// `input_adjoints += (d outputs / d inputs)' output_adjoints`.
    fn vjp<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    );
}
