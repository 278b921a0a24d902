//! Kinks are found where they are, and a derivative there must be one of the generalised.

use approx::assert_relative_eq;
use stiction::ad::{Function, Real};
use stiction::verify::{Check, Kind, Kink, Place, Verdict, check};

use super::checked;
use crate::random::Random;

/// The only kink of a report.
fn only(report: &Check) -> Kink {
    assert_eq!(report.first.kinks.len(), 1, "{report}");
    report.first.kinks[0]
}

#[test]
fn the_kink_of_abs_at_zero_is_recognised() {
    let report = checked!(|x| vec![x[0].abs()], [0.0]);
    let kink = only(&report);
    assert_eq!((kink.distance, kink.kind, kink.place), (0.0, Kind::Slope, Place::Between));
    assert_eq!((kink.left, kink.right, kink.derivative), (-1.0, 1.0, 0.0));
    assert_eq!(report.first.entries[0].verdict, Verdict::ValidAtKink);
    assert!(report.passed() && report.to_string().contains("jump in slope here"), "{report}");
}

#[test]
fn kinks_nearby_are_located() {
    /// sin(x) + |x - c| for c = 0.3.
    struct Bent;
    impl Function for Bent {
        fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
            vec![x[0].sin() + (x[0] - 0.3).abs()]
        }
    }
    for distance in [2e-3, -1e-3, 3e-5, -1e-6, 2e-8] {
        let report = check(&Bent, &[0.3 - distance]).unwrap();
        assert!(report.passed(), "{report}");
        let kink = only(&report);
        // The distance as it is after rounding of the point; the value is rounded to 5e-17.
        let distance = 0.3 - (0.3 - distance);
        assert_relative_eq!(kink.distance, distance, max_relative = 1e-6, epsilon = 4e-16);
        assert!((kink.distance - distance).abs() <= kink.within, "{kink:?}");
        assert_eq!(kink.kind, Kind::Slope);
        assert_eq!(kink.place, if distance > 0.0 { Place::Left } else { Place::Right });
        assert_relative_eq!(kink.left, 0.3_f64.cos() - 1.0, max_relative = 1e-5);
        assert_relative_eq!(kink.right, 0.3_f64.cos() + 1.0, max_relative = 1e-5);
    }
}

#[test]
fn the_distance_is_exact_where_nothing_is_rounded() {
    for distance in [5e-5, -1e-6, 1e-9, -1e-12] {
        let report = checked!(|x| vec![x[0].abs() * 3.0], [-distance]);
        let kink = only(&report);
        assert_relative_eq!(kink.distance, distance, max_relative = 1e-6);
        assert_relative_eq!(kink.left, -3.0, max_relative = 1e-12);
        assert_relative_eq!(kink.right, 3.0, max_relative = 1e-12);
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn the_tie_of_a_maximum_has_the_slope_of_a_side() {
    // First operand at a tie: slopes 1 and 0, of 2 x and x0^2 ... in x0 4 and 2 at 2.
    let report = checked!(|x| vec![(x[0] * x[0]).max(x[0] * 2.0)], [2.0]);
    let kink = only(&report);
    assert_eq!((kink.distance, kink.kind, kink.place), (0.0, Kind::Slope, Place::Right));
    assert_relative_eq!(kink.left, 2.0, max_relative = 1e-9);
    assert_relative_eq!(kink.right, 4.0, max_relative = 1e-9);
    assert!(report.passed(), "{report}");
    // max(x0, x1): each input sees the other as the place of its kink.
    let report = checked!(|x| vec![x[0].max(x[1])], [2.0, 2.001]);
    assert_eq!(report.first.kinks.len(), 2, "{report}");
    assert_relative_eq!(report.first.kinks[0].distance, 0.001, max_relative = 1e-9);
    assert_relative_eq!(report.first.kinks[1].distance, -0.001, max_relative = 1e-9);
}

/// A branch: `x^2` up to `edge`, then a parabola of another slope, `gap` higher. Its derivative,
/// within `blind` of the edge, is taken to be `claimed`.
struct Piecewise {
    edge: f64,
    gap: f64,
    blind: f64,
    claimed: f64,
}

impl Function for Piecewise {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        let u = x[0] - self.edge;
        let y = match u.value() > 0.0 {
            true => u * u + u * 5.0 + self.gap,
            false => u * u + u * 2.0,
        };
        if u.value().abs() <= self.blind {
            return vec![u * self.claimed + (y.value() - u.value() * self.claimed)];
        }
        vec![y]
    }
}

#[test]
fn a_wrong_derivative_at_a_kink_is_an_error() {
    for (claimed, place, passes) in [
        (2.0, Place::Left, true),
        (5.0, Place::Right, true),
        (3.0, Place::Between, true),
        (1.9, Place::Outside, false),
        (-2.0, Place::Outside, false),
        (5.1, Place::Outside, false),
    ] {
        let f = Piecewise { edge: 1.5, gap: 0.0, blind: 0.0, claimed };
        let report = check(&f, &[1.5]).unwrap();
        let kink = only(&report);
        assert_eq!((kink.distance, kink.place), (0.0, place), "{report}");
        assert_eq!(report.passed(), passes, "{report}");
        if !passes {
            assert!(report.to_string().contains("OUTSIDE"), "{report}");
        }
    }
    // Next to a kink only the derivative on the own side is right.
    for (claimed, passes) in [(2.0, true), (5.0, false), (3.0, false)] {
        let f = Piecewise { edge: 0.0, gap: 0.0, blind: 1e-6, claimed };
        let report = check(&f, &[-1e-7]).unwrap();
        assert_relative_eq!(only(&report).distance, 1e-7, max_relative = 1e-6);
        assert_eq!(report.passed(), passes, "{claimed}: {report}");
    }
}

#[test]
fn steps_are_located_to_the_last_bits() {
    for distance in [0.0, 1e-3, -1e-5, 1e-9] {
        let f = Piecewise { edge: 1.5, gap: 0.25, blind: -1.0, claimed: 0.0 };
        let x = 1.5 - distance;
        let report = check(&f, &[x]).unwrap();
        let kink = only(&report);
        assert_eq!(kink.kind, Kind::Value, "{report}");
        assert!((kink.distance - (1.5 - x)).abs() <= 1e-14, "{distance}: {kink:?}");
        assert_relative_eq!(kink.left, 2.0, max_relative = 1e-6);
        assert_relative_eq!(kink.right, 5.0, max_relative = 1e-6);
        assert_eq!(kink.place, if x > 1.5 { Place::Right } else { Place::Left });
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn infinite_slopes_are_said_and_not_called_agreement() {
    // A derivative of 0 by convention at an infinite slope: no number to compare with.
    let report = checked!(|x| vec![x[0].sqrt()], [0.0]);
    let kink = only(&report);
    assert_eq!((kink.distance, kink.kind, kink.place), (0.0, Kind::Edge, Place::Unknown));
    assert_eq!((kink.right, kink.derivative), (f64::INFINITY, 0.0));
    assert!(kink.left.is_nan());
    assert_eq!(report.first.entries[0].verdict, Verdict::Undecided);
    assert!(!report.passed(), "nothing was decided: {report}");
    // The same on both sides, away from the edge of a domain; the other input is fine.
    let report = checked!(|x| vec![x[0].abs().sqrt() + x[1]], [0.0, 1.0]);
    let kink = only(&report);
    assert_eq!(
        (kink.kind, kink.left, kink.right),
        (Kind::Vertical, f64::NEG_INFINITY, f64::INFINITY)
    );
    assert_eq!(report.first.entries[0].verdict, Verdict::Undecided);
    assert!(report.passed(), "{report}");
    // An infinite derivative where the slope is infinite.
    let report = checked!(|x| vec![x[0].asin()], [1.0]);
    assert_eq!(only(&report).kind, Kind::Edge);
    assert_ne!(report.first.entries[0].verdict, Verdict::Disagrees, "{report}");
    // At an edge with a finite slope one side decides.
    let report = checked!(|x| vec![x[0].powf(1.5) + x[0] * 2.0], [0.0]);
    assert_eq!(report.first.entries[0].verdict, Verdict::ValidAtKink, "{report}");
    // Next to the edge there is a derivative.
    let report = checked!(|x| vec![x[0].sqrt()], [1e-6]);
    assert!(report.passed() && (only(&report).distance + 1e-6).abs() < 1e-12, "{report}");
}

#[test]
fn steep_is_not_broken() {
    let report = checked!(|x| vec![(x[0] * 1e4).tanh(), (x[0] * 300.0).exp()], [1e-5]);
    assert!(report.passed() && report.first.kinks.is_empty(), "{report}");
    // A jump of the second derivative is no kink of the value.
    let report = checked!(|x| vec![x[0] * x[0].abs()], [1e-5]);
    assert!(report.passed() && report.first.kinks.is_empty(), "{report}");
}

/// Smooth parts, a bend at one place and a bend or a jump at another.
struct Crowded {
    places: [f64; 2],
    bends: [f64; 2],
    jump: f64,
}

impl Function for Crowded {
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
        let [first, second] = self.places.map(|place| x[0] - place);
        let jump = if second.value() > 0.0 { self.jump } else { 0.0 };
        let bent = first.abs() * self.bends[0] + second.max(T::zero()) * self.bends[1];
        vec![(x[0] * x[1]).sin() + bent + jump, bent * x[1].exp()]
    }
}

#[test]
fn a_right_derivative_is_never_accused() {
    let mut random = Random(40);
    let (mut undecided, mut kinks) = (0, 0);
    for case in 0..400_u32 {
        let x = [random.uniform(-3.0, 3.0), random.uniform(-1.0, 1.0)];
        // From 1e-10 to 1 away on either side.
        let places = [0, 1].map(|_| {
            let distance = 0.1_f64.powf(random.uniform(0.0, 10.0));
            x[0] + if random.bits().is_multiple_of(2) { distance } else { -distance }
        });
        let bends = random.vector(2.0);
        let jump = if case.is_multiple_of(3) { random.uniform(-1.0, 1.0) } else { 0.0 };
        let report = check(&Crowded { places, bends, jump }, &x).unwrap();
        let wrong = report.first.of(Verdict::Disagrees).count();
        assert_eq!(wrong, 0, "{case} {x:?} {places:?} {bends:?} {jump}: {report}");
        undecided += report.first.of(Verdict::Undecided).count();
        kinks += report.first.kinks.len();
        // Where there is nothing within reach, nothing is found.
        if places.iter().all(|place| (place - x[0]).abs() > 0.1) {
            assert!(report.first.kinks.is_empty(), "{case}: {report}");
        }
    }
    eprintln!("undecided {undecided} of 1600, kinks {kinks}");
    assert!(undecided <= 80 && kinks >= 400, "undecided {undecided}, kinks {kinks}");
}
