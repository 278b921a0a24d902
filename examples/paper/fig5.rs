//! Cone against pyramid (Fig. 5): friction identified from a slide in one direction, by direction.
//!
//! The law of the pyramid, `|l_k| <= mu l_n` along each axis, brakes along each axis by itself: a body that
//! moves along both is braked by `sqrt 2 mu g`, and not against its motion. What is identified with
//! it from slides of Coulomb's law therefore depends on their direction to the axes of the pyramid,
//! and is `mu / sqrt 2` at 45 degrees.

use stiction::identify::{Dataset, Experiment};

use super::fig4::{self, MU};
use super::simulator::Slide;
use super::study::{FRAME_TIME, Unknown};

/// Above, a cube topples with a pyramid of friction sqrt 2 higher.
pub const FRICTION: Unknown = Unknown { name: "floor-cube/mu", truth: MU, bounds: [0.01, 0.7] };

const SPEED: f64 = 1.2; // m/s
const FRAMES: usize = 160;

/// Two slides in a direction (degrees) to the axes of the pyramid, to be fitted by a solver.
pub fn slides(direction: f64, solver: &str) -> Result<(Experiment, Dataset), String> {
    let slide = |heading| fig4::slide(SPEED, direction, 0.0, heading, FRAMES);
    let slides: [Slide; 2] = [slide(20.0), slide(65.0)];
    fig4::recordings(fig4::scene([0.0; 3], solver)?, &fig4::cube(), &slides, FRICTION)
}

/// What the pyramid makes of a slide without noise, over mu: the least squares of the positions of the frames,
/// in closed form for a point.
pub fn theory(direction: f64) -> f64 {
    let (sin, cos) = direction.to_radians().sin_cos();
    // In units of the time and the way that the slide takes to stop: x = 2 t - t² until t = 1.
    let stop = SPEED / (MU * 9.81);
    let times: Vec<f64> = (0..FRAMES).map(|k| k as f64 * FRAME_TIME / stop).collect();
    let way = |t: f64, speed: f64, brake: f64| {
        let t = t.min(0.5 * speed / brake);
        speed * t - brake * t * t
    };
    // Along an axis with speed 2 c.
    let along = |c: f64, brake: f64| {
        let away = times.iter().map(|&t| c * way(t, 2.0, 1.0) - way(t, 2.0 * c, brake));
        away.map(|x| x * x).sum::<f64>()
    };
    least([0.01, 2.0], |ratio| along(cos, ratio) + along(sin, ratio))
}

/// Where a function with one minimum has it (golden section).
fn least([mut low, mut high]: [f64; 2], f: impl Fn(f64) -> f64) -> f64 {
    let share = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..60 {
        let (left, right) = (high - share * (high - low), low + share * (high - low));
        if f(left) < f(right) {
            high = right;
        } else {
            low = left;
        }
    }
    0.5 * (low + high)
}
