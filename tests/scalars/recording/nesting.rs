//! Recordings within recordings.

use stiction::ad::{self, Error, Real, Recording, Var};

use super::assert_usable;

#[test]
fn drivers_nest_in_drivers_on_the_same_scalar_and_on_others() {
    // d/dx of x^2 + (d/du u^3 at u = x) is 2 x to the tape, that derivative being a number to it.
    let inner = |at: f64| {
        let (_, g) = ad::gradient(|u| u[0].powi(3), &[at]).unwrap();
        let (_, v) = ad::vjp(|u| vec![u[0], u[0].powi(3)], &[at], |_| vec![0.0, 1.0]).unwrap();
        let (_, j) = ad::jacobian_by_rows(|u| vec![u[0].powi(3)], &[at]).unwrap();
        let (_, h, _) = ad::hessian::<1>(|u| u[0].powi(3), &[at]).unwrap();
        let (_, p, _) = ad::hessian_vector(|u| u[0].powi(3), &[at], &[1.0]).unwrap();
        assert_eq!([v[0], j[(0, 0)], h[0], p[0]], [g[0]; 4]);
        g[0]
    };
    let (y, dy) = ad::gradient(|x| x[0] * x[0] + inner(x[0].value()), &[2.0]).unwrap();
    assert_eq!((y, dy), (16.0, vec![4.0]));
    let (y, dy, h) = ad::hessian::<1>(|x| x[0] * x[0] + inner(x[0].value()), &[2.0]).unwrap();
    assert_eq!((y, dy, h[(0, 0)]), (16.0, vec![4.0], 2.0));
    // In the weights of an adjoint, and three deep.
    let weights = |y: &[f64]| vec![inner(y[0])];
    let (_, dx) = ad::vjp(|x| vec![x[0] * 2.0], &[1.0], weights).unwrap();
    assert_eq!(dx, [24.0]);
    let deep = |at: f64| ad::gradient(|x| x[0] * inner(x[0].value()), &[at]).unwrap().1[0];
    assert_eq!(ad::gradient(|x| x[0] * deep(x[0].value()), &[2.0]).unwrap().1, [12.0]);
    assert_usable();
}

#[test]
fn an_outer_variable_is_refused_inside_whatever_the_driver() {
    let found = ad::gradient(
        |x| {
            let stale = Err(Error::StaleVariable);
            assert_eq!(ad::gradient(|u| u[0] + x[0], &[5.0]), stale);
            assert_eq!(ad::gradient(|_| x[0], &[5.0]), stale);
            let found = ad::vjp(|u| vec![u[0], x[0].sin()], &[5.0], |_| vec![1.0, 0.0]);
            assert_eq!(found.unwrap_err(), Error::StaleVariable);
            let found = ad::jacobian_by_rows(|u| vec![u[0], x[0]], &[5.0]);
            assert_eq!(found.unwrap_err(), Error::StaleVariable);
            x[0] * x[0]
        },
        &[2.0],
    );
    assert_eq!(found, Ok((4.0, vec![4.0])));
    let found = ad::hessian::<1>(
        |x| {
            let found = ad::hessian_vector(|u| u[0] * x[0], &[1.0], &[1.0]);
            assert_eq!(found, Err(Error::StaleVariable));
            // Other lanes are another scalar: a recording of its own, not in the way.
            assert!(ad::hessian::<2>(|u| u[0] * u[1], &[1.0, 2.0]).is_ok());
            x[0] * x[0]
        },
        &[2.0],
    );
    assert_eq!(found.unwrap().2[(0, 0)], 2.0);
}

#[test]
fn recordings_may_be_dropped_in_any_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut recordings: Vec<Option<Recording>> = Vec::new();
        let mut variables: Vec<Var> = Vec::new();
        for k in 0..3 {
            let recording = Recording::start();
            variables.push(recording.variable(k as f64 + 2.0));
            recordings.push(Some(recording));
        }
        let mut alive = [true; 3];
        for dropped in order {
            // Only the last one that is alive records; the others are interrupted.
            let last = alive.iter().rposition(|&a| a).unwrap();
            for (k, recording) in recordings.iter_mut().enumerate() {
                let Some(recording) = recording else { continue };
                let mut slope = [0.0];
                if k == last {
                    let y = variables[k] * variables[k];
                    recording.adjoints(&[(y, 1.0)], &[variables[k]], &mut slope).unwrap();
                    assert_eq!(slope, [2.0 * (k as f64 + 2.0)], "{order:?}");
                } else {
                    let found = recording.adjoints(&[], &[], &mut []);
                    assert_eq!(found, Err(Error::Interrupted), "{order:?}");
                    assert_eq!(recording.rows(&[], &[], &mut []), Err(Error::Interrupted));
                    assert_eq!((recording.operations(), recording.bytes()), (0, 0));
                    let mark = recording.mark();
                    assert_eq!(recording.rewind(mark), Err(Error::Interrupted));
                    let refused = recording.variable(1.0);
                    assert!(!refused.is_constant());
                }
            }
            recordings[dropped] = None;
            alive[dropped] = false;
        }
        assert_usable();
    }
}

#[test]
fn a_variable_of_an_interrupted_recording_is_refused() {
    let outer = Recording::<f64>::start();
    let mut inner = Recording::<f64>::start();
    let refused = outer.variable(1.0);
    let x = inner.variable(2.0);
    let found = inner.adjoints(&[(x * refused, 1.0)], &[x], &mut [0.0]);
    assert_eq!(found, Err(Error::StaleVariable));
}

// A mark set while interrupted belongs to nothing, also after the interruption.
#[test]
fn a_mark_of_an_interrupted_recording_is_stale() {
    let mut outer = Recording::<f64>::start();
    let x = outer.variable(2.0);
    let inner = Recording::<f64>::start();
    let mark = outer.mark();
    drop(inner);
    assert_eq!(outer.rewind(mark), Err(Error::StaleMark));
    let mut slope = [0.0];
    outer.adjoints(&[(x * x, 1.0)], &[x], &mut slope).unwrap();
    assert_eq!(slope, [4.0]);
}
