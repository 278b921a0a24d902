//! The slides of this example.

use super::simulator::{BoxModel, Slide};

/// Time between the recorded frames of the slides (s).
pub const FRAME_TIME: f64 = 1.0 / 480.0;

/// The box and the six slides of the example; every slide ends about 12 frames after rest.
pub fn slides() -> (BoxModel, Vec<Slide>) {
    let model = BoxModel::solid(0.5, [0.06, 0.04, 0.02], 0.3, 9.81);
    // speed (m/s), direction of travel (deg), spin (rad/s), heading (deg), frames
    let table = [
        (1.0, 0.0, 0.0, 0.0, 177),
        (0.8, 70.0, 3.0, 25.0, 145),
        (1.2, 140.0, -6.0, -40.0, 212),
        (1.4, 200.0, 0.0, 60.0, 242),
        (0.9, 255.0, 6.0, 90.0, 164),
        (1.3, 310.0, -4.0, 150.0, 227),
    ];
    let slide = |(speed, direction, spin, heading, frames): (f64, f64, f64, f64, usize)| {
        let (sin, cos) = direction.to_radians().sin_cos();
        Slide {
            velocity: [speed * cos, speed * sin, 0.0],
            spin,
            heading: heading.to_radians(),
            frames,
        }
    };
    (model, table.into_iter().map(slide).collect())
}
