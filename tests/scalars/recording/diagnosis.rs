//! Where infinite derivatives come from.

use std::cell::Cell;

use stiction::ad::{self, Error, Real, Recording, Var};

use super::sweeps::outputs;
use super::{CHUNK, Pair, fill, pair};
use crate::random::Random;

/// A quotient in generic code, and the line it is on.
fn quotient<T: Real>(x: T, y: T) -> (T, u32) {
    (x / y, line!())
}

#[test]
fn the_diagnosis_names_function_operand_operation_and_line() {
    let found = |f: &dyn Fn(&[Var]) -> Var, x: &[f64]| {
        // Without diagnosis it is no error.
        assert!(ad::gradient(f, x).is_ok());
        ad::diagnose(|| ad::gradient(f, x)).unwrap_err()
    };
    let check = |error: Error, name: &str, second: usize, number: usize, not: bool, at: u32| {
        let Error::NonFinite { function, operand, operation, nan, location } = error else {
            panic!("{error:?}")
        };
        assert_eq!((function, operand, nan), (name, second, not), "{error}");
        assert_eq!((location.file(), location.line()), (file!(), at), "{error}");
        let _ = (operation, number);
        let text = error.to_string();
        let operand = ["first", "second"][second];
        let place = format!("{}:{at}:", file!());
        assert!(text.contains(name) && text.contains(operand) && text.contains(&place), "{text}");
        operation
    };
    let line = Cell::new(0);
    let f = |x: &[Var]| {
        let y = x[0] * 2.0;
        line.set(line!() + 1);
        let z = y.asin();
        z * x[0]
    };
    let first = check(found(&f, &[0.5]), "asin", 0, 0, false, line.get());
    // The same a known number of operations later is that number further on.
    let later = |x: &[Var]| {
        let mut y = x[0];
        for _ in 0..2000 {
            y *= 1.0;
        }
        f(&[y])
    };
    let second = check(found(&later, &[0.5]), "asin", 0, 0, false, line.get());
    assert_eq!(second, first + 2000);
    // The first of several; in generic code the line that divides; the second operand.
    let f = |x: &[Var]| {
        let (y, at) = quotient(x[0], x[1]);
        line.set(at);
        y.sqrt() + (x[1] - 1.0).ln()
    };
    check(found(&f, &[1.0, 0.0]), "div", 0, 0, false, line.get());
    let f = |x: &[Var]| {
        line.set(line!() + 1);
        x[0].pow(x[1])
    };
    check(found(&f, &[-2.0, 3.0]), "pow", 1, 0, true, line.get());
    // Outside of its domain a function has no slope.
    let f = |x: &[Var]| {
        line.set(line!() + 1);
        x[0].ln()
    };
    check(found(&f, &[-1.0]), "ln", 0, 0, true, line.get());
    // Operators that assign, and the fused product, which is a product and a sum.
    let f = |x: &[Var]| {
        let mut y = x[0];
        line.set(line!() + 1);
        y /= x[1];
        y
    };
    check(found(&f, &[1.0, 0.0]), "div", 0, 0, false, line.get());
    let f = |x: &[Var]| {
        let y = x[0] + f64::INFINITY;
        line.set(line!() + 1);
        x[1].mul_add(y, x[0])
    };
    check(found(&f, &[1.0, 1.0]), "mul", 0, 0, false, line.get());
}

#[test]
fn the_operation_is_counted_from_the_start_of_the_recording() {
    let found = ad::diagnose(|| {
        let mut recording = Recording::<f64>::start();
        let x = recording.variable(0.5);
        let y = x * 2.0;
        let before = recording.operations();
        let z = y.asin();
        let found = recording.adjoints(&[(z, 1.0)], &[x], &mut [0.0]);
        found.map_err(|error| (error, before))
    });
    let Err((Error::NonFinite { operation, .. }, before)) = found else { panic!("{found:?}") };
    assert_eq!(operation, before);
}

#[test]
fn the_diagnosis_names_nodes_and_leaves_the_gradient() {
    let node = Pair { infinite: true, ..Pair::default() };
    let mut slopes = [7.0; 2];
    let mut run = |x: &[f64]| ad::gradient_into(|x| pair(node, x)[0], x, &mut slopes);
    let found = ad::diagnose(|| run(&[1.0, 2.0]));
    let Err(error @ Error::NonFiniteNode { node: name, operand: 1 }) = found else {
        panic!("{found:?}")
    };
    assert!(name.ends_with("Pair") && error.to_string().contains(name), "{error}");
    assert_eq!(slopes, [7.0; 2], "touched in spite of the error");
}

#[test]
fn the_diagnosis_changes_no_number_and_nothing_else() {
    let x: [f64; 3] = Random(6).vector(1.0);
    let plain = ad::jacobian_by_rows(outputs, &x).unwrap();
    assert_eq!(ad::diagnose(|| ad::jacobian_by_rows(outputs, &x)).unwrap(), plain);
    // A recording started before is not diagnosed, one within is; and it ends with the call.
    let outer = ad::gradient(
        |x| {
            let y = x[0].asin();
            let inner = ad::diagnose(|| {
                let _ = x[0].acos();
                ad::gradient(|u| u[0].asin(), &[1.0])
            });
            assert!(matches!(inner, Err(Error::NonFinite { .. })), "{inner:?}");
            y
        },
        &[1.0],
    );
    assert_eq!(outer.unwrap().1, [f64::INFINITY]);
    let nested = ad::diagnose(|| {
        let inside = ad::diagnose(|| ad::gradient(|x| x[0].asin(), &[1.0]));
        (inside, ad::gradient(|x| x[0].asin(), &[1.0]))
    });
    assert!(nested.0.is_err() && nested.1.is_err());
    // Rewinding a diagnosed recording.
    ad::diagnose(|| {
        let mut recording = Recording::<f64>::start();
        let x = recording.variable(1.0);
        let y = fill(&recording, x, 1.0, CHUNK - 10);
        let mark = recording.mark();
        for _ in 0..3 {
            let z = fill(&recording, y, 0.5, 2 * CHUNK);
            assert_eq!(recording.rewind(mark), Ok(()));
            let _ = z.value();
            let _ = y.asin();
            assert!(matches!(recording.rewind(mark), Err(Error::NonFinite { .. })));
        }
        let mut slope = [0.0];
        recording.adjoints(&[(y, 1.0)], &[x], &mut slope).unwrap();
        assert_eq!(slope, [1.0]);
    });
}

#[test]
fn blocks_and_second_derivatives_are_diagnosed() {
    let block = |x: &[Var]| {
        let mut y = [Var::constant(0.0)];
        Var::block(x, &[0.0], &[1.0, f64::NAN], &mut y).unwrap();
        y[0]
    };
    let found = ad::diagnose(|| ad::gradient(block, &[1.0, 2.0]));
    assert!(matches!(found, Err(Error::NonFiniteNode { operand: 1, .. })), "{found:?}");
    // (x^1.5)' is finite at 0, and its derivative is not.
    let found = ad::diagnose(|| ad::hessian::<1>(|x| x[0].powf(1.5), &[0.0]));
    assert!(matches!(found, Err(Error::NonFinite { function: "powf", .. })), "{found:?}");
    assert!(ad::diagnose(|| ad::gradient(|x| x[0].powf(1.5), &[0.0])).is_ok());
}
