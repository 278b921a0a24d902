//! Ways in which numbers can be meant that are not those of the scene.

use nalgebra::Vector3;

use super::track::Track;
use crate::spatial::{Quaternion, conjugate, exp, product, rotation_matrix};

/// How the columns of a quaternion are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Wxyz,
    Xyzw,
    /// World to body.
    Inverse,
}

impl Order {
    /// What w, x, y, z are if the columns are meant so.
    pub fn read(self, [a, b, c, d]: Quaternion<f64>) -> Quaternion<f64> {
        match self {
            Order::Wxyz => [a, b, c, d],
            Order::Xyzw => [d, a, b, c],
            Order::Inverse => conjugate([a, b, c, d]),
        }
    }
}

/// One way to read recordings.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// m of a unit of length.
    pub length: f64,
    /// s of a unit of time.
    pub time: f64,
    /// From the recorded world to that of the scene.
    pub turn: Quaternion<f64>,
    pub order: Order,
    /// Times this is the body as large as in the scene.
    pub size: f64,
    /// How far the recorded world is above that of the scene along a unit vector, m.
    pub lift: f64,
    /// What is asked.
    pub question: String,
}

const NO_TURN: Quaternion<f64> = [1.0, 0.0, 0.0, 0.0];

impl Reading {
    /// As the scene has it.
    pub fn plain() -> Reading {
        Reading {
            length: 1.0,
            time: 1.0,
            turn: NO_TURN,
            order: Order::Wxyz,
            size: 1.0,
            lift: 0.0,
            question: String::new(),
        }
    }

    /// The mistakes that are made, the commonest first.
    pub fn others(up: Vector3<f64>) -> Vec<Reading> {
        let plain = Reading::plain;
        let mut all = Vec::new();
        for (order, words) in [
            (Order::Xyzw, "x, y, z, w where w, x, y, z is read"),
            (Order::Inverse, "from world to body where body to world is read"),
        ] {
            let question = format!("are the quaternions {words}?");
            all.push(Reading { order, question, ..plain() });
        }
        let lengths = [
            ("millimetres", 1e-3),
            ("centimetres", 1e-2),
            ("inches", 0.0254),
            ("feet", 0.3048),
            ("micrometres", 1e-6),
        ];
        for (unit, length) in lengths {
            let question = format!("are positions in {unit}? Metres are read");
            all.push(Reading { length, question, ..plain() });
        }
        for (unit, time) in [("milliseconds", 1e-3), ("microseconds", 1e-6), ("nanoseconds", 1e-9)]
        {
            let question = format!("are times in {unit}? Seconds are read");
            all.push(Reading { time, question, ..plain() });
        }
        for (unit, length) in [("millimetres", 1e-3), ("centimetres", 1e-2)] {
            let question = format!("are positions in {unit} and times in milliseconds?");
            all.push(Reading { length, time: 1e-3, question, ..plain() });
        }
        for (axis, name) in [
            (Vector3::y(), "y"),
            (Vector3::x(), "x"),
            (Vector3::z(), "z"),
            (-Vector3::y(), "-y"),
            (-Vector3::x(), "-x"),
            (-Vector3::z(), "-z"),
        ] {
            if axis.dot(&up) > 0.99 {
                continue;
            }
            let question = format!(
                "does {name} point up in the recordings? Gravity of the scene says otherwise"
            );
            all.push(Reading { turn: between(axis, up), question, ..plain() });
        }
        for size in [0.5, 2.0, 0.1, 10.0, 0.01, 100.0, 1e-3, 1e3] {
            let how = if size < 1.0 { "smaller" } else { "larger" };
            let times = if size < 1.0 { 1.0 / size } else { size };
            let question = format!(
                "is the size of the body right (a box has half extents, in m: one {times:.0} times {how} would do), \
                 and the height of the floor?"
            );
            all.push(Reading { size, question, ..plain() });
        }
        all
    }

    /// The same ground elsewhere.
    pub fn lifted(lift: f64) -> Reading {
        let place = if lift > 0.0 { "over" } else { "below" };
        let question = format!(
            "is the size of the body right, and the height of the floor? It lies still {} {place} what it could rest \
             on",
            amount(lift.abs(), "m")
        );
        Reading { lift, question, ..Reading::plain() }
    }

    /// Where the origin of the body is, m, and how it is turned.
    pub fn pose(
        &self,
        track: &Track,
        frame: usize,
        up: &Vector3<f64>,
    ) -> (Vector3<f64>, Quaternion<f64>) {
        let p = track.positions[frame] * self.length;
        let q = self.order.read(track.quaternions[frame]);
        if self.turn == NO_TURN {
            return (p - up * self.lift, q);
        }
        (rotation_matrix(self.turn) * p - up * self.lift, product(self.turn, q))
    }
}

/// The shortest turn from one unit vector to another.
fn between(from: Vector3<f64>, to: Vector3<f64>) -> Quaternion<f64> {
    let axis = from.cross(&to);
    let angle = axis.norm().atan2(from.dot(&to));
    let aside = if from.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let axis = if axis.norm() > 1e-6 { axis } else { from.cross(&aside) };
    exp(axis.normalize() * angle)
}

/// A number with three digits, and its unit.
pub(super) fn amount(x: f64, unit: &str) -> String {
    if x != 0.0 && !(1e-3..1e6).contains(&x.abs()) {
        return format!("{x:.2e} {unit}");
    }
    let digits = (2.0 - x.abs().max(1e-3).log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{x:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}
