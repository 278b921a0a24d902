//! Two boxes that slide on the plane z = 0 and strike each other: event-driven, so that no impact
//! waits for a time step.
//!
//! Between impacts each box is simulated by itself ([`simulator::step`]). Where they would come to
//! overlap within a step, the step is cut at the time of contact (bisection), velocities jump, and the
//! rest of the step follows. An impact takes no time. At the points where faces meet
//!
//! - normal: `u_n+ >= -e u_n-`, complementary to `l_n >= 0` (Newton's law, point by point),
//! - friction: `|l_t| <= mu l_n`, and where the point slides `l_t` lies on that bound, antiparallel
//!   to `u_t+`,
//!
//! solved by projected Gauss-Seidel. The floor has no part in an impact: its impulse is asked to be
//! level and at the height of both centres, as between boxes of one height that stand on the floor,
//! which then press on it no more than before. Anything else is an error.

use super::simulator::{
    self, BoxModel, COMPLIANCE, Frame, Vec3, add, conjugate, cross, dot, norm, rotate, scale,
};

/// Points closer to the other face than this take part in an impact (m).
const TOUCHING: f64 = 1e-7;
/// Largest velocity (m/s) off the floor, or into it, that an impact may leave.
const LEVEL: f64 = 1e-6;
/// The sweeps end when they change no impulse by more than this, relative to the largest.
const TOLERANCE: f64 = 1e-14;
const MAX_SWEEPS: usize = 100_000;

/// Two boxes, each with its friction on the floor, and what happens between them.
#[derive(Clone, Copy, Debug)]
pub struct Duel {
    pub boxes: [BoxModel; 2],
    pub mu: f64,
    pub restitution: f64,
}

impl Duel {
    /// The motion from `first`, a frame every `every` steps of `dt`.
    pub fn simulate(
        &self,
        first: [Frame; 2],
        dt: f64,
        every: usize,
        frames: usize,
    ) -> Result<[Vec<Frame>; 2], String> {
        let mut recorded = first.map(|frame| vec![frame]);
        let mut now = first;
        for step in 1..=every * frames.saturating_sub(1) {
            now = self.step(&now, dt)?;
            for (body, frames) in recorded.iter_mut().enumerate() {
                now[body].t = step as f64 * dt;
                if step % every == 0 {
                    frames.push(now[body]);
                }
            }
        }
        Ok(recorded)
    }

    fn step(&self, from: &[Frame; 2], dt: f64) -> Result<[Frame; 2], String> {
        let (mut now, mut left) = (*from, dt);
        loop {
            let end = self.slide(&now, left)?;
            if self.gap(&end) >= 0.0 {
                return Ok(end);
            }
            // The last instant without overlap; the motion of a cut step is that of a shorter one.
            let (mut free, mut overlap) = (0.0, left);
            let mut there = now;
            while overlap - free > 1e-15 * dt + f64::EPSILON * overlap {
                let middle = 0.5 * (free + overlap);
                let tried = self.slide(&now, middle)?;
                if self.gap(&tried) >= 0.0 {
                    (free, there) = (middle, tried);
                } else {
                    overlap = middle;
                }
                if middle == free && middle == overlap {
                    break;
                }
            }
            if free == 0.0 {
                return Err(format!("the boxes stay in contact at t = {:.6} s", now[0].t));
            }
            self.strike(&mut there)?;
            (now, left) = (there, left - free);
        }
    }

    /// Both boxes for a time `dt`, as if the other were not there.
    fn slide(&self, from: &[Frame; 2], dt: f64) -> Result<[Frame; 2], String> {
        let one = |k: usize| {
            simulator::step(&self.boxes[k], &from[k], dt, COMPLIANCE).map(|step| step.frame)
        };
        Ok([one(0)?, one(1)?])
    }

    /// The largest distance of a box from a face of the other: that of upright boxes, m.
    fn gap(&self, at: &[Frame; 2]) -> f64 {
        let faces = self.faces(at).into_iter();
        faces.map(|(_, _, gap)| gap).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The upright faces of both boxes: whose, the outward normal, and how far the other box is.
    fn faces(&self, at: &[Frame; 2]) -> Vec<(usize, Vec3, f64)> {
        let mut faces = Vec::new();
        for own in 0..2 {
            let between = add(at[1 - own].p, scale(at[own].p, -1.0));
            for axis in 0..2 {
                let mut unit = [0.0; 3];
                unit[axis] = 1.0;
                let normal = rotate(at[own].q, unit);
                let normal = scale(normal, dot(normal, between).signum());
                let depth = self.boxes[own].half_extents[axis] + self.width(1 - own, at, normal);
                faces.push((own, normal, dot(normal, between) - depth));
            }
        }
        faces
    }

    /// Half the width of a box along a unit vector.
    fn width(&self, body: usize, at: &[Frame; 2], along: Vec3) -> f64 {
        let own = rotate(conjugate(at[body].q), along);
        own.iter().zip(self.boxes[body].half_extents).map(|(n, h)| n.abs() * h).sum()
    }

    /// The impact: changes velocities only.
    fn strike(&self, at: &mut [Frame; 2]) -> Result<(), String> {
        let faces = self.faces(at).into_iter();
        let Some((face, normal, _)) = faces.max_by(|a, b| a.2.total_cmp(&b.2)) else {
            return Ok(());
        };
        // Of the first box on the second.
        let normal = if face == 0 { normal } else { scale(normal, -1.0) };
        let points = self.meeting(at, normal);
        let up = [0.0, 0.0, 1.0];
        let axes = [normal, cross(up, normal), up];
        let mut v = [0, 1].map(|k| at[k].v);
        let mut w = [0, 1].map(|k| rotate(at[k].q, at[k].w));
        let relative = |v: &[Vec3; 2], w: &[Vec3; 2], point: Vec3| -> Vec3 {
            let [a, b] = [0, 1].map(|k| {
                let arm = add(point, scale(at[k].p, -1.0));
                add(v[k], cross(w[k], arm))
            });
            axes.map(|axis| dot(axis, add(b, scale(a, -1.0))))
        };
        let push = |v: &mut [Vec3; 2], w: &mut [Vec3; 2], point: Vec3, impulse: Vec3| {
            let impulse = (0..3).fold([0.0; 3], |sum, i| add(sum, scale(axes[i], impulse[i])));
            for k in 0..2 {
                let impulse = scale(impulse, [-1.0, 1.0][k]);
                let arm = add(point, scale(at[k].p, -1.0));
                let moment = rotate(conjugate(at[k].q), cross(arm, impulse));
                let turn = std::array::from_fn(|i| moment[i] / self.boxes[k].inertia[i]);
                v[k] = add(v[k], scale(impulse, 1.0 / self.boxes[k].mass));
                w[k] = add(w[k], rotate(at[k].q, turn));
            }
        };
        let response = |point: Vec3, axis: usize| -> f64 {
            let (mut v, mut w) = ([[0.0; 3]; 2], [[0.0; 3]; 2]);
            let mut unit = [0.0; 3];
            unit[axis] = 1.0;
            push(&mut v, &mut w, point, unit);
            relative(&v, &w, point)[axis]
        };
        let targets: Vec<f64> =
            points.iter().map(|&p| (-self.restitution * relative(&v, &w, p)[0]).max(0.0)).collect();
        let mut impulses = vec![[0.0; 3]; points.len()];
        for _ in 0..MAX_SWEEPS {
            let (mut change, mut largest) = (0.0_f64, 0.0_f64);
            for ((&point, &target), impulse) in points.iter().zip(&targets).zip(&mut impulses) {
                let before = *impulse;
                let u = relative(&v, &w, point);
                impulse[0] = (before[0] - (u[0] - target) / response(point, 0)).max(0.0);
                push(&mut v, &mut w, point, [impulse[0] - before[0], 0.0, 0.0]);
                let u = relative(&v, &w, point);
                let weight = response(point, 1) + response(point, 2);
                let (x, y) = (before[1] - u[1] / weight, before[2] - u[2] / weight);
                let bound = self.mu * impulse[0] / x.hypot(y).max(f64::MIN_POSITIVE);
                (impulse[1], impulse[2]) = (x * bound.min(1.0), y * bound.min(1.0));
                push(&mut v, &mut w, point, [0.0, impulse[1] - before[1], impulse[2] - before[2]]);
                for (now, before) in impulse.iter().zip(before) {
                    change = change.max((now - before).abs());
                    largest = largest.max(now.abs());
                }
            }
            if change <= TOLERANCE * largest {
                let speeds = [0, 1].map(|k| (v[k][2] - at[k].v[2]).abs());
                let tilts = [0, 1].map(|k| {
                    let before = rotate(at[k].q, at[k].w);
                    norm([w[k][0] - before[0], w[k][1] - before[1], 0.0])
                        * norm(self.boxes[k].half_extents)
                });
                if speeds.into_iter().chain(tilts).any(|speed| speed > LEVEL) {
                    return Err("an impact presses a box on the floor, or lifts it".into());
                }
                for k in 0..2 {
                    at[k].v = v[k];
                    at[k].w = rotate(conjugate(at[k].q), w[k]);
                }
                return Ok(());
            }
        }
        Err(format!("no convergence of an impact in {MAX_SWEEPS} sweeps"))
    }

    /// Where the boxes meet: the upright edges of each that touch the other, at both ends.
    fn meeting(&self, at: &[Frame; 2], normal: Vec3) -> Vec<Vec3> {
        let side = cross([0.0, 0.0, 1.0], normal);
        let range = |k: usize, along: Vec3| {
            let (middle, width) = (dot(at[k].p, along), self.width(k, at, along));
            [middle - width, middle + width]
        };
        let mut points = Vec::new();
        for own in 0..2 {
            let sign = [1.0, -1.0][own];
            let front = sign * dot(at[own].p, normal) + self.width(own, at, normal);
            let [low, high] = range(1 - own, side);
            for corner in 0..8 {
                let arm = std::array::from_fn(|axis| {
                    let half = self.boxes[own].half_extents[axis];
                    if corner >> axis & 1 == 1 { half } else { -half }
                });
                let point = add(at[own].p, rotate(at[own].q, arm));
                let there = dot(point, side);
                let touches = sign * dot(point, normal) > front - TOUCHING;
                // One box's corner on the other's corner is one point.
                let inside = if own == 0 {
                    there >= low - TOUCHING && there <= high + TOUCHING
                } else {
                    there > low + TOUCHING && there < high - TOUCHING
                };
                if touches && inside {
                    points.push(point);
                }
            }
        }
        points
    }
}
