//! Wrong formulas of a node, first and second order, and which way has them.

use stiction::ad::{Function, Node, Real};
use stiction::verify::{Check, Options, Verdict, check_second_order};

/// What is wrong with the cube root.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Nothing,
    /// A flipped sign, backward.
    Vjp,
    /// A factor, forward.
    Jvp,
    /// The conditions of something else.
    Residual,
    /// Iterations that stop too early for tangents.
    Iterations,
    /// Formulas forward and backward, alike.
    Both,
    /// Right first derivatives that are taken for constants.
    Second,
}

/// y = x^(1/3) by Newton's method.
#[derive(Clone)]
struct CubeRoot(Wrong);

impl Node for CubeRoot {
    type Solution = ();
    type Workspace<T: Real> = ();
    type Factor<T: Real> = T;

    fn primal<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        let mut root = T::constant(x[0].value().cbrt());
        let steps = if self.0 == Wrong::Iterations { 0 } else { 4 };
        for _ in 0..steps {
            root = root - (root * root * root - x[0]) / (root * root * 3.0);
        }
        y[0] = root;
    }

    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        let scale = if self.0 == Wrong::Residual { 2.0 } else { 1.0 };
        residual[0] = y[0] * y[0] * y[0] - x[0] * scale;
    }

    fn factor<T: Real>(&self, (): &(), _: &[T], y: &[T], factor: &mut T) {
        let y = if self.0 == Wrong::Second { T::constant(y[0].value()) } else { y[0] };
        *factor = (y * y * 3.0).recip();
    }

    fn jvp<T: Real>(&self, (): &(), f: &mut T, _: &[T], _: &[T], dx: &[T], dy: &mut [T]) {
        let factor = if matches!(self.0, Wrong::Jvp | Wrong::Both) { 1.01 } else { 1.0 };
        dy[0] = *f * dx[0] * factor;
    }

    fn vjp<T: Real>(&self, (): &(), f: &mut T, _: &[T], _: &[T], dy: &[T], dx: &mut [T]) {
        let factor = match self.0 {
            Wrong::Vjp => -1.0,
            Wrong::Both => 1.01,
            _ => 1.0,
        };
        dx[0] += *f * dy[0] * factor;
    }
}

/// The root of u v, beside outputs without it.
struct Program(Wrong);

impl Function for Program {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        let mut y = [T::zero()];
        T::call(&CubeRoot(self.0), &[x[0] * x[1]], &mut y, &mut (), &mut Default::default());
        vec![x[2].sin(), y[0] * x[2] * 1e3]
    }
}

fn check(wrong: Wrong) -> Check {
    let names = ["u", "v", "phase"].map(String::from).to_vec();
    let options = Options { names, ..Options::default() };
    check_second_order(&Program(wrong), &[1.2, 0.7, 0.4], &options).unwrap()
}

/// The ways that disagree with the tape.
fn failures(report: &Check) -> Vec<&str> {
    report.first.ways.iter().filter(|way| !way.passed()).map(|way| way.way.as_str()).collect()
}

#[test]
fn the_wrong_formula_is_named() {
    const DUALS: &str = "duals";
    const RESIDUALS: &str = "duals through residuals";
    const ITERATIONS: &str = "duals through iterations";
    for (wrong, expected, differ) in [
        (Wrong::Nothing, vec![], 0),
        (Wrong::Vjp, vec![DUALS, RESIDUALS, ITERATIONS], 2),
        (Wrong::Jvp, vec![DUALS], 0),
        (Wrong::Residual, vec![RESIDUALS], 0),
        (Wrong::Iterations, vec![ITERATIONS], 0),
        (Wrong::Both, vec![RESIDUALS, ITERATIONS], 2),
    ] {
        let report = check(wrong);
        assert_eq!(failures(&report), expected, "{wrong:?}: {report}");
        assert_eq!(report.first.of(Verdict::Disagrees).count(), differ, "{wrong:?}: {report}");
        assert_eq!(report.passed(), wrong == Wrong::Nothing, "{wrong:?}: {report}");
        let text = report.to_string();
        for way in expected {
            assert!(text.contains(&format!("{way} DISAGREE with the tape")), "{text}");
        }
        // Of the right output and one of the inputs that matter.
        for way in report.first.ways.iter().filter(|way| !way.passed()) {
            let worst = way.worst.unwrap();
            assert_eq!((worst.output, worst.input < 2), (1, true), "{wrong:?}: {text}");
        }
    }
}

#[test]
fn a_wrong_second_derivative_is_found() {
    let right = check(Wrong::Nothing);
    let second = right.second.as_ref().unwrap();
    assert_eq!(second.of(Verdict::Agrees).count(), 9, "{right}");
    let report = check(Wrong::Second);
    assert!(report.first.passed() && !report.passed(), "{report}");
    let second = report.second.as_ref().unwrap();
    let wrong: Vec<_> = second.of(Verdict::Disagrees).map(|e| (e.output, e.input)).collect();
    assert_eq!(wrong, [(0, 0), (0, 1), (1, 0), (1, 1)], "{report}");
    assert!(report.to_string().contains("DISAGREE: slope in u, input u"), "{report}");
}

#[test]
fn second_derivatives_are_those_of_the_function() {
    struct Product;
    impl Function for Product {
        fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
            vec![x[0] * x[0] * x[1] + x[1].exp()]
        }
    }
    let report = check_second_order(&Product, &[3.0, 0.5], &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
    let second: Vec<f64> =
        report.second.as_ref().unwrap().entries.iter().map(|entry| entry.difference).collect();
    let expected = [1.0, 6.0, 6.0, 0.5_f64.exp()];
    for (found, expected) in second.into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-8, "{report}");
    }
}
