//! The tape: what belongs to a recording, and what its drivers return.

use std::panic::{AssertUnwindSafe, catch_unwind};

use approx::assert_relative_eq;
use stiction::ad::{self, Error, Real, Var};

use crate::random::Random;

#[test]
fn a_variable_kept_from_an_earlier_recording_is_refused() {
    let mut kept = Var::constant(0.0);
    ad::gradient(
        |x| {
            kept = x[0] * 2.0;
            kept
        },
        &[3.0],
    )
    .unwrap();
    // Alone, as either operand, and where it has no influence.
    let uses: [fn(Var, Var) -> Var; 5] = [
        |kept, _| kept,
        |kept, x| kept * x,
        |kept, x| x - kept,
        |kept, _| kept.sin(),
        |kept, x| x + kept * 0.0,
    ];
    for f in uses {
        let found = ad::gradient(|x| f(kept, x[0]), &[1.0]);
        assert_eq!(found, Err(Error::StaleVariable));
    }
    // Refusing leaves nothing behind, and the value may be passed on.
    let (y, dy) = ad::gradient(|x| x[0] * kept.value(), &[1.5]).unwrap();
    assert_eq!((y, dy), (9.0, vec![6.0]));
}

#[test]
fn a_variable_kept_from_a_recording_without_a_successor_does_not_poison_the_next() {
    let mut kept = Var::constant(0.0);
    ad::gradient(
        |x| {
            kept = x[0];
            kept
        },
        &[3.0],
    )
    .unwrap();
    // Used while nothing records.
    assert_eq!((kept + kept).value(), 6.0);
    assert_eq!(ad::gradient(|x| x[0] * x[0], &[3.0]).unwrap().1, [6.0]);
}

#[test]
fn recordings_nest() {
    let (y, dy) = ad::gradient(
        |x| {
            let at = x[0].value();
            // d/du (u^3 at) at u = at
            let (_, inner) = ad::gradient(|u| u[0].powi(3) * at, &[at]).unwrap();
            x[0] * x[0] + inner[0]
        },
        &[2.0],
    )
    .unwrap();
    // The inner derivative is a number to the outer recording.
    assert_eq!((y, dy), (4.0 + 24.0, vec![4.0]));
}

#[test]
fn a_variable_of_the_outer_recording_is_refused_by_the_inner_one() {
    let (y, dy) = ad::gradient(
        |x| {
            let inner = ad::gradient(|u| u[0] * x[0], &[5.0]);
            assert_eq!(inner, Err(Error::StaleVariable));
            x[0] * 7.0
        },
        &[2.0],
    )
    .unwrap();
    assert_eq!((y, dy), (14.0, vec![7.0]));
}

#[test]
fn a_variable_of_the_inner_recording_is_refused_by_the_outer_one() {
    let found = ad::gradient(
        |x| {
            let mut leaked = Var::constant(0.0);
            ad::gradient(
                |u| {
                    leaked = u[0] * 2.0;
                    leaked
                },
                &[5.0],
            )
            .unwrap();
            x[0] * leaked
        },
        &[2.0],
    );
    assert_eq!(found, Err(Error::StaleVariable));
}

#[test]
fn a_recording_that_panics_leaves_the_thread_usable() {
    let square = || ad::gradient(|x| x[0] * x[0], &[3.0]).unwrap().1;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        ad::gradient(
            |x| {
                let y = x[0] * x[1];
                assert!(y.value() > 100.0, "on purpose");
                y
            },
            &[1.0, 2.0],
        )
    }));
    assert!(panicked.is_err());
    assert_eq!(square(), [6.0]);
    // Also within an outer recording, which goes on.
    let (_, outer) = ad::gradient(
        |x| {
            let y = x[0] * x[0];
            let inner = catch_unwind(AssertUnwindSafe(|| {
                ad::gradient(
                    |u| if u[0].value() > 0.0 { panic!("on purpose") } else { u[0] },
                    &[1.0],
                )
            }));
            assert!(inner.is_err());
            y * x[0]
        },
        &[2.0],
    )
    .unwrap();
    assert_eq!(outer, [12.0]);
}

#[test]
fn constants_belong_to_every_recording_and_record_nothing() {
    let constant = Var::constant(2.0).sin() * Var::constant(3.0);
    for _ in 0..2 {
        let (y, dy) = ad::gradient(|x| x[0] * constant, &[0.5]).unwrap();
        assert_eq!((y, dy[0]), (0.5 * constant.value(), constant.value()));
    }
    // A recording that has its memory already grows neither by constants nor by x + c.
    let work = |x: &[Var]| {
        let mut c = Var::constant(0.1);
        let mut y = x[0];
        for _ in 0..100_000 {
            c = (c * c + c).tanh();
            y += 1e-3;
        }
        y * c
    };
    let run = || ad::gradient(work, &[1.0]).unwrap();
    let first = run();
    let info = allocation_counter::measure(|| assert_eq!(run(), first));
    assert!(info.bytes_max < 4096, "{info:?}");
}

// d/dx asin(x) at 1 is infinite: where nothing depends on it, it must not turn into 0 * inf.
#[test]
fn nothing_flows_back_through_a_zero_adjoint() {
    let f = |x: &[Var]| x[0] + x[1].asin() * 0.0 + x[1].asin().min(x[0]) * x[2];
    let (_, slopes) = ad::gradient(f, &[0.25, 1.0, 3.0]).unwrap();
    assert_eq!(slopes, [4.0, 0.0, 0.25]);
}

#[test]
fn an_output_that_is_constant_or_an_input_has_its_gradient() {
    assert_eq!(ad::gradient(|_| Var::constant(4.0), &[1.0, 2.0]).unwrap(), (4.0, vec![0.0, 0.0]));
    assert_eq!(ad::gradient(|x| x[1], &[1.0, 2.0]).unwrap(), (2.0, vec![0.0, 1.0]));
    assert_eq!(ad::gradient(|x| x[1] + x[1], &[1.0, 2.0]).unwrap(), (4.0, vec![0.0, 2.0]));
    assert_eq!(ad::gradient(|_| Var::constant(4.0), &[]).unwrap(), (4.0, vec![]));
}

#[test]
fn lengths_must_match() {
    let wrong = Error::Shape { expected: 2, found: 1 };
    assert_eq!(ad::jvp(|x| x.to_vec(), &[1.0, 2.0], &[1.0]), Err(wrong));
    assert_eq!(ad::vjp(|x| x.to_vec(), &[1.0, 2.0], |_| vec![1.0]), Err(wrong));
}

/// A smooth function of five variables with three outputs.
fn program<T: Real>(x: &[T]) -> Vec<T> {
    let mut state = [x[0] * x[3], x[1].sin() - x[4], x[2] * x[2] + 1.0];
    for _ in 0..10 {
        let [a, b, c] = state;
        state = [(a * b).tanh() + c / 3.0, (b - a * x[4]).cos(), (c * c + a * a).sqrt() * x[0]];
    }
    state.to_vec()
}

#[test]
fn the_drivers_agree() {
    let mut random = Random(3);
    for _ in 0..20 {
        let x: [f64; 5] = random.vector(1.0);
        let (values, by_duals) = ad::jacobian::<2>(program, &x);
        let (taped, by_rows) = ad::jacobian_by_rows(program, &x).unwrap();
        assert_eq!((values.len(), by_duals.shape(), by_rows.shape()), (3, (3, 5), (3, 5)));
        assert_eq!(values, program(&x));
        assert_eq!(taped, values);
        assert_relative_eq!(by_duals, by_rows, epsilon = 1e-12, max_relative = 1e-10);
        let dx: [f64; 5] = random.vector(1.0);
        let w: [f64; 3] = random.vector(1.0);
        let (_, forward) = ad::jvp(program, &x, &dx).unwrap();
        let (_, backward) = ad::vjp(program, &x, |_| w.to_vec()).unwrap();
        for i in 0..3 {
            let expected: f64 = (0..5).map(|j| by_duals[(i, j)] * dx[j]).sum();
            assert_relative_eq!(forward[i], expected, epsilon = 1e-12, max_relative = 1e-10);
        }
        for j in 0..5 {
            let expected: f64 = (0..3).map(|i| by_rows[(i, j)] * w[i]).sum();
            assert_relative_eq!(backward[j], expected, epsilon = 1e-12, max_relative = 1e-10);
        }
        // And they are derivatives.
        let h = 1e-6;
        let shifted = |h: f64| program(&std::array::from_fn::<_, 5, _>(|j| x[j] + h * dx[j]));
        let (ahead, behind) = (shifted(h), shifted(-h));
        for i in 0..3 {
            let difference = (ahead[i] - behind[i]) / (2.0 * h);
            assert_relative_eq!(forward[i], difference, epsilon = 1e-7, max_relative = 1e-6);
        }
    }
}
