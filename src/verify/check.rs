//! Any function differentiated in every way, and compared.

use super::subject::Subject;
use super::{Check, Errors, Findings, ways};
use crate::ad::{Error, Function, NodeRule, jacobian_by_rows, vjp};

/// How a function is checked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names of the inputs; none for `x[0]`, `x[1]` and so on.
    pub names: Vec<String>,
    /// What counts as agreement.
    pub tolerances: Errors,
}

impl Default for Options {
    fn default() -> Self {
        Options { names: Vec::new(), tolerances: Errors::TOLERANCES }
    }
}

/// Differentiates `f` at `x` in every way there is, and compares: the tape, duals,
/// duals through residuals and through iterations of nodes, central differences with an estimate of
/// their error. Kinks within 1 % of an input (of 0.01, if that is smaller) are located.
///
/// # Errors
/// The errors of [`vjp`]; [`Error::Shape`] if `f` does not always have as many outputs.
///
/// ```
/// use stiction::ad::{Function, Real};
/// use stiction::verify::check;
///
/// struct Distance;
/// impl Function for Distance {
///     fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
///         vec![(x[0] - x[1]).abs() * x[1]]
///     }
/// }
/// let report = check(&Distance, &[3.0, 3.001])?;
/// assert!(report.passed(), "{report}");
/// assert!((report.first.kinks[0].distance - 0.001).abs() < 1e-9);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn check(f: &impl Function, x: &[f64]) -> Result<Check, Error> {
    check_with(f, x, &Options::default())
}

/// As [`check`], with options.
///
/// # Errors
/// As [`check`]; [`Error::Shape`] if there are names, but not as many as inputs.
pub fn check_with(f: &impl Function, x: &[f64], options: &Options) -> Result<Check, Error> {
    first_order(f, x, options).map(|(report, _)| report)
}

/// As [`check_with`], and checks second derivatives, too: those of the sum of the outputs, weighted so
/// that all have a part in it, by as many passes as there are inputs, squared. A function of its own,
/// because it compiles `f` for another scalar.
///
/// # Errors
/// As [`check_with`].
pub fn check_second_order(f: &impl Function, x: &[f64], options: &Options) -> Result<Check, Error> {
    let (mut report, weights) = first_order(f, x, options)?;
    report.second = Some(second_order(f, x, &weights, &options.tolerances)?);
    Ok(report)
}

/// Checks the Jacobian; also returns the weights of the outputs in the sum whose second derivatives
/// may be checked.
fn first_order(
    f: &impl Function,
    x: &[f64],
    options: &Options,
) -> Result<(Check, Vec<f64>), Error> {
    let mut inputs = options.names.clone();
    if inputs.is_empty() {
        inputs = (0..x.len()).map(|j| format!("x[{j}]")).collect();
    }
    if inputs.len() != x.len() {
        return Err(Error::Shape { expected: x.len(), found: inputs.len() });
    }
    let (y, tape) = jacobian_by_rows(|x| f.evaluate(x), x)?;
    let (bounds, m) = (&options.tolerances, y.len());
    let forward = |rule| ways::forward(rule, f, x, m);
    let others = [
        ("duals", forward(NodeRule::ByJvp)?, bounds.dual_vs_tape),
        ("duals through residuals", forward(NodeRule::ByResidual)?, bounds.residual_vs_tape),
        ("duals through iterations", forward(NodeRule::Unrolled)?, bounds.unrolled_vs_tape),
    ];
    let subject = Subject { x, y: &y, derivative: &tape, tolerance: bounds.vs_differences };
    let ways = others.iter().map(|(way, j, bound)| subject.compare(way, j, "the tape", *bound));
    let mut first = Findings { ways: ways.collect(), ..Findings::default() };
    subject.differences(&|x| f.evaluate(x), &mut first);

    let weights = subject.weights();
    let not_finite = (0..m).filter(|&i| !y[i].is_finite()).collect();
    Ok((Check { inputs, outputs: m, not_finite, first, second: None }, weights))
}

/// Checks the derivatives of the gradient of `weights' f`.
fn second_order(
    f: &impl Function,
    x: &[f64],
    weights: &[f64],
    bounds: &Errors,
) -> Result<Findings, Error> {
    let gradient = |x: &[f64]| vjp(|x| f.evaluate(x), x, |_| weights.to_vec());
    let (_, slope) = gradient(x)?;
    let hessian = ways::nested(NodeRule::ByJvp, f, x, weights)?;
    let unrolled = ways::nested(NodeRule::Unrolled, f, x, weights)?;
    let subject = Subject { x, y: &slope, derivative: &hessian, tolerance: bounds.vs_differences };
    let against = "duals over duals";
    let ways = vec![
        subject.compare(against, &hessian.transpose(), "their transpose", bounds.dual_vs_tape),
        subject.compare("those through iterations", &unrolled, against, bounds.unrolled_vs_tape),
    ];
    let mut findings = Findings { ways, ..Findings::default() };
    let slope = |x: &[f64]| gradient(x).map_or(Vec::new(), |(_, slope)| slope);
    subject.differences(&slope, &mut findings);
    Ok(findings)
}
