//! Units that recordings may have; ours are those of the SI.

use std::f64::consts::{PI, TAU};

/// What a number of a recording measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// s.
    Time,
    /// m.
    Length,
    /// rad.
    Angle,
    /// m/s.
    Speed,
    /// rad/s.
    AngularSpeed,
    /// m/s².
    Acceleration,
    /// N.
    Force,
    /// N m.
    Torque,
    /// Of an actuator, whatever it follows.
    Control,
}

const INCH: f64 = 0.0254;
const POUND_FORCE: f64 = 4.448_221_615_260_5;

/// The units, what they measure, and how much of ours they are.
const UNITS: &[(&str, Quantity, f64)] = &[
    ("s", Quantity::Time, 1.0),
    ("ms", Quantity::Time, 1e-3),
    ("us", Quantity::Time, 1e-6),
    ("ns", Quantity::Time, 1e-9),
    ("min", Quantity::Time, 60.0),
    ("m", Quantity::Length, 1.0),
    ("cm", Quantity::Length, 1e-2),
    ("mm", Quantity::Length, 1e-3),
    ("um", Quantity::Length, 1e-6),
    ("in", Quantity::Length, INCH),
    ("ft", Quantity::Length, 12.0 * INCH),
    ("rad", Quantity::Angle, 1.0),
    ("deg", Quantity::Angle, PI / 180.0),
    ("turn", Quantity::Angle, TAU),
    ("m/s", Quantity::Speed, 1.0),
    ("cm/s", Quantity::Speed, 1e-2),
    ("mm/s", Quantity::Speed, 1e-3),
    ("km/h", Quantity::Speed, 1.0 / 3.6),
    ("rad/s", Quantity::AngularSpeed, 1.0),
    ("deg/s", Quantity::AngularSpeed, PI / 180.0),
    ("rpm", Quantity::AngularSpeed, TAU / 60.0),
    ("m/s^2", Quantity::Acceleration, 1.0),
    ("mm/s^2", Quantity::Acceleration, 1e-3),
    // The standard value, by which accelerometers are calibrated.
    ("g", Quantity::Acceleration, 9.806_65),
    ("N", Quantity::Force, 1.0),
    ("kN", Quantity::Force, 1e3),
    ("mN", Quantity::Force, 1e-3),
    ("lbf", Quantity::Force, POUND_FORCE),
    ("Nm", Quantity::Torque, 1.0),
    ("Ncm", Quantity::Torque, 1e-2),
    ("Nmm", Quantity::Torque, 1e-3),
    ("mNm", Quantity::Torque, 1e-3),
    ("lbfft", Quantity::Torque, 12.0 * INCH * POUND_FORCE),
];

/// How much of our unit one of `unit` is.
///
/// # Errors
/// In words, if there is no such unit of the quantity.
pub fn in_si(unit: &str, quantity: Quantity) -> Result<f64, String> {
    let fits = |other: Quantity| other == quantity || quantity == Quantity::Control;
    let found = UNITS.iter().find(|(name, other, _)| *name == unit && fits(*other));
    found.map(|&(_, _, factor)| factor).ok_or_else(|| {
        let known = UNITS.iter().filter(|(_, other, _)| fits(*other));
        let known: Vec<&str> = known.map(|&(name, _, _)| name).collect();
        format!("must be one of {}, found {unit:?}", known.join(", "))
    })
}
