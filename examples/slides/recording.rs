//! What a camera would make of a simulated slide: noisy poses.

use super::simulator::{Frame, Quat, Vec3, add, conjugate, exp, norm, product, scale};

/// Measurement noise: perturbs the poses by Gaussian noise of the given standard deviations
/// per axis (m, rad; the rotation acts in the body frame) and derives `v` and `w` anew from the
/// noisy poses by differences to the frame before (the first frame: to the frame after).
pub fn add_noise(frames: &mut [Frame], position_sd: f64, rotation_sd: f64, seed: u64) {
    let mut random = Random::new(seed);
    for frame in &mut *frames {
        frame.p = add(frame.p, scale(random.gaussian3(), position_sd));
        frame.q = product(frame.q, exp(scale(random.gaussian3(), rotation_sd)));
    }
    for k in 0..frames.len() {
        let Some([from, to]) = frames.get(k.max(1) - 1..=k.max(1)) else {
            continue;
        };
        let rate = 1.0 / (to.t - from.t);
        let v = scale(add(to.p, scale(from.p, -1.0)), rate);
        let w = scale(log(product(conjugate(from.q), to.q)), rate);
        (frames[k].v, frames[k].w) = (v, w);
    }
}

/// A deterministic random generator: splitmix64, Gaussian by Box and Muller.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Normal distribution, mean 0, standard deviation 1.
    fn gaussian(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn gaussian3(&mut self) -> Vec3 {
        std::array::from_fn(|_| self.gaussian())
    }
}

/// The rotation vector (angle at most pi) of a unit quaternion.
fn log(q: Quat) -> Vec3 {
    let q = if q[0] < 0.0 { q.map(|x| -x) } else { q };
    let vector = [q[1], q[2], q[3]];
    let sine = norm(vector);
    let ratio = if sine < 1e-9 { 2.0 } else { 2.0 * sine.atan2(q[0]) / sine };
    scale(vector, ratio)
}
