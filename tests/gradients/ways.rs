//! Each way can fail, and the comparison says so.

use stiction::ad::{Function, Node, Real};
use stiction::argmin::CoupledContact;
use stiction::verify::{Derivatives, Errors, Gradcheck, Piece};

/// Which formulas have the wrong sign.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Wrong {
    vjp: bool,
    jvp: bool,
    residual: bool,
    iterations: bool,
}

/// The contact problem with wrong signs.
#[derive(Clone, Debug)]
struct Sabotaged(CoupledContact, Wrong);

/// The same values with the tangents the other way round.
fn turned<T: Real>(x: &[T], wrong: bool) -> Vec<T> {
    x.iter().map(|&x| if wrong { -x + 2.0 * x.value() } else { x }).collect()
}

impl Node for Sabotaged {
    type Solution = <CoupledContact as Node>::Solution;
    type Workspace<T: Real> = <CoupledContact as Node>::Workspace<T>;
    type Factor<T: Real> = <CoupledContact as Node>::Factor<T>;

    fn primal<T: Real>(
        &self,
        x: &[T],
        y: &mut [T],
        solution: &mut Self::Solution,
        workspace: &mut Self::Workspace<T>,
    ) {
        self.0.primal(&turned(x, self.1.iterations), y, solution, workspace);
    }

    fn residual<T: Real>(&self, solution: &Self::Solution, x: &[T], y: &[T], residual: &mut [T]) {
        self.0.residual(solution, &turned(x, self.1.residual), y, residual);
    }

    fn factor<T: Real>(
        &self,
        solution: &Self::Solution,
        x: &[T],
        y: &[T],
        factor: &mut Self::Factor<T>,
    ) {
        self.0.factor(solution, x, y, factor);
    }

    fn jvp<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        x: &[T],
        y: &[T],
        dx: &[T],
        dy: &mut [T],
    ) {
        self.0.jvp(solution, factor, x, y, dx, dy);
        if self.1.jvp {
            dy.iter_mut().for_each(|dy| *dy = -*dy);
        }
    }

    fn vjp<T: Real>(
        &self,
        solution: &Self::Solution,
        factor: &mut Self::Factor<T>,
        x: &[T],
        y: &[T],
        w: &[T],
        adjoints: &mut [T],
    ) {
        let w: Vec<T> = w.iter().map(|&w| if self.1.vjp { -w } else { w }).collect();
        self.0.vjp(solution, factor, x, y, &w, adjoints);
    }
}

/// A ball of 1 kg that slides at 2 m/s and is pressed down at 1 m/s, as a function of the friction
/// coefficient and the velocity before.
struct Slide(Wrong);

impl Function for Slide {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        let node = CoupledContact::on_one_tree(1, 3, 1e-10);
        let mut inputs: Vec<T> = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
            .into_iter()
            .chain([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
            .map(T::constant)
            .collect();
        inputs.extend([x[1], x[2], x[3], T::zero(), x[0], T::constant(1e-6)]);
        let mut y = vec![T::zero(); node.output_len()];
        let node = Sabotaged(node, self.0);
        T::call(&node, &inputs, &mut y, &mut Default::default(), &mut Default::default());
        y
    }
}

fn check(wrong: Wrong) -> Gradcheck {
    let f = Slide(wrong);
    let names = ["mu", "vx", "vy", "vz"].map(String::from);
    let x = [0.3, 2.0, 0.5, -1.0];
    Gradcheck::compare(&names, &Derivatives::of(&f, |x| (f.evaluate(x), ()), &x).unwrap())
}

/// Which of the four comparisons fail.
fn failures(check: &Gradcheck) -> [bool; 4] {
    let (max, bound) = (check.max(), Errors::TOLERANCES);
    [
        max.dual_vs_tape > bound.dual_vs_tape,
        max.residual_vs_tape > bound.residual_vs_tape,
        max.unrolled_vs_tape > bound.unrolled_vs_tape,
        max.vs_differences > bound.vs_differences,
    ]
}

#[test]
fn a_wrong_sign_anywhere_is_found() {
    let right = Wrong::default();
    let all = Wrong { vjp: true, jvp: true, residual: true, iterations: true };
    for (wrong, expected) in [
        (right, [false; 4]),
        (Wrong { vjp: true, ..right }, [true; 4]),
        (Wrong { jvp: true, ..right }, [true, false, false, false]),
        (Wrong { residual: true, ..right }, [false, true, false, false]),
        (Wrong { iterations: true, ..right }, [false, false, true, false]),
        // All ways agree, and differ from the truth.
        (all, [false, false, false, true]),
    ] {
        let check = check(wrong);
        assert_eq!(failures(&check), expected, "{wrong:?}: {:?}", check.max());
        assert_eq!(check.passed(), wrong == right, "{wrong:?}");
        assert_eq!((check.cases(), check.skipped_at_kinks()), (4, 0));
    }
}

#[test]
fn a_derivative_that_is_no_number_is_no_agreement() {
    let f = Slide(Wrong::default());
    let x = [0.3, 2.0, 0.5, -1.0];
    let names = ["mu", "vx", "vy", "vz"].map(String::from);
    let right = Derivatives::of(&f, |x| (f.evaluate(x), ()), &x).unwrap();
    for way in 0..2 {
        let mut wrong = right.clone();
        let jacobian = if way == 0 { &mut wrong.tape } else { &mut wrong.unrolled };
        jacobian[(0, 1)] = f64::NAN;
        let check = Gradcheck::compare(&names, &wrong);
        assert!(!check.passed() && check.rows[1].worst.unrolled_vs_tape == f64::INFINITY);
    }
}

#[test]
fn what_is_skipped_is_counted() {
    // The slide stops at a speed between the two sides of every difference of vx: one of them counts.
    let f = Slide(Wrong::default());
    let x = [0.3, 2.0, 0.5, -1.0];
    let names = ["mu", "vx", "vy", "vz"].map(String::from);
    let kink = |y: &[f64]| (f.evaluate(y), y[1] > x[1]);
    let check = Gradcheck::compare(&names, &Derivatives::of(&f, kink, &x).unwrap());
    let counts = |check: &Gradcheck| {
        let counts = check.rows.iter().map(|row| [row.one_sided, row.skipped_at_kinks]);
        counts.collect::<Vec<_>>()
    };
    assert_eq!(counts(&check), [[0, 0], [1, 0], [0, 0], [0, 0]]);
    assert!(check.passed());
    // It is another on both sides.
    let kink = |y: &[f64]| (f.evaluate(y), y[1] == x[1]);
    let check = Gradcheck::compare(&names, &Derivatives::of(&f, kink, &x).unwrap());
    assert_eq!(counts(&check), [[0, 0], [0, 1], [0, 0], [0, 0]]);
    assert!(check.passed());
}

/// All is one piece, of which outputs are known to a distance.
#[derive(PartialEq)]
struct KnownTo(f64);

impl Piece for KnownTo {
    fn resolution(&self) -> f64 {
        self.0
    }
}

#[test]
fn differences_below_the_resolution_say_nothing() {
    let x = [0.3, 2.0, 0.5, -1.0];
    let names = ["mu", "vx", "vy", "vz"].map(String::from);
    let wrong = Slide(Wrong { vjp: true, jvp: true, residual: true, iterations: true });
    let check = |resolution| {
        let run = |y: &[f64]| (wrong.evaluate(y), KnownTo(resolution));
        Gradcheck::compare(&names, &Derivatives::of(&wrong, run, &x).unwrap())
    };
    // The widest differences, of 1e-4 to 2e-2, tell a slope to 1e-6 from values that are known to 1e-11, and not to
    // 1e-7.
    let fine = check(1e-11);
    assert_eq!((fine.cases(), fine.skipped_at_kinks()), (4, 0));
    assert!(!fine.passed());
    let coarse = check(1e-7);
    assert_eq!((coarse.cases(), coarse.skipped_at_kinks()), (4, 4));
    assert!(coarse.passed());
}
