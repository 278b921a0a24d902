//! Short stretches of a motion: does what is in the air fall, and lie on the ground what does not?

use nalgebra::{Matrix3, Vector3};

use super::reading::Reading;
use super::track::{Subject, Track, median};
use crate::spatial::{conjugate, log, product, rotation_matrix};

/// Up to this share of gravity an acceleration may be off: drag, and noise of three standard deviations.
const TOLERANCE: f64 = 0.3;
/// Standard error that an acceleration may have, in gravity.
const RESOLUTION: f64 = 0.08;
/// A stretch is at most as long as to fall this many times the body's reach.
const LONGEST: f64 = 50.0;

/// What stretches under one reading say.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// In the air and falling as they should.
    pub falls: usize,
    /// In the air, smooth, and not falling as they should.
    pub hangs: usize,
    /// Held by something, and on the ground.
    pub rests: usize,
    /// Held by something, and above the ground.
    pub floats: usize,
    /// In the ground.
    pub sinks: usize,
    /// On the ground, faster and faster.
    pub pushed: usize,
    /// On the ground and moving along it without rolling.
    pub slides: usize,
    /// Of these, those that friction slows down, as between stone and ice.
    pub brakes: usize,
    /// Heights of what is held, m, above where it should be.
    pub heights: Vec<f64>,
    /// Acceleration of what should fall, m/s².
    pub accelerations: Vec<f64>,
    /// What pushes, m/s².
    pub pushes: Vec<f64>,
}

impl Tally {
    pub fn good(&self) -> usize {
        self.falls + self.rests
    }

    pub fn bad(&self) -> usize {
        self.hangs + self.floats + self.sinks
    }

    /// Whether what is wrong is only that it falls by a tenth more or less than `gravity` (m/s²): noise and rebounds do
    /// that, and no other reading.
    pub fn falls_about_right(&self, gravity: f64) -> bool {
        let falls = median(self.accelerations.clone());
        self.hangs >= self.floats + self.sinks && (falls / gravity - 1.0).abs() < 0.1
    }

    /// The part that cannot be; nothing where no stretch says anything.
    pub fn share(&self) -> Option<f64> {
        let all = self.good() + self.bad();
        (all > 0).then(|| self.bad() as f64 / all as f64)
    }

    /// Whether too much cannot be.
    pub fn contradicts(&self) -> bool {
        let off_ground = self.floats + self.sinks;
        let mostly = |part: usize, all: usize| part >= 3 && 2 * part > all;
        self.bad() >= 3 && self.share().is_some_and(|share| share > 0.3)
            || mostly(off_ground, self.rests + off_ground)
            || mostly(self.hangs, self.falls + self.hangs)
    }

    /// Adds the stretches of a track.
    pub fn add(
        &mut self,
        subject: &Subject,
        track: &Track,
        gravity: Vector3<f64>,
        reading: &Reading,
    ) {
        let g = gravity.norm();
        let up = -gravity / g;
        let times: Vec<f64> = track.times.iter().map(|t| t * reading.time).collect();
        let noise = track.noise * reading.length;
        let radius = subject.radius * reading.size;
        let poses: Vec<_> = (0..times.len()).map(|k| reading.pose(track, k, &up)).collect();
        let turns: Vec<Matrix3<f64>> = poses.iter().map(|pose| rotation_matrix(pose.1)).collect();
        let centers: Vec<Vector3<f64>> =
            poses.iter().zip(&turns).map(|(pose, turn)| pose.0 + turn * subject.center).collect();
        let gaps: Vec<f64> = poses
            .iter()
            .zip(&turns)
            .map(|(pose, turn)| gap(subject, reading.size, &pose.0, turn))
            .collect();
        let near = |k: usize| {
            track.others[k]
                .iter()
                .any(|&(d, reach)| d * reading.length < 1.2 * reach * reading.size)
        };
        let margin = (4.0 * noise).max(0.1 * subject.thickness * reading.size + 0.02 * radius);
        let (least, most) = (0.5 * (radius / g).sqrt(), (2.0 * LONGEST * radius / g).sqrt());
        let mut first = 0;
        while first + 4 < times.len() {
            let end = match stretch(&times[first..], noise, g, least, most) {
                Ok(count) => first + count,
                Err(seen) => {
                    first += 1 + seen / 4;
                    continue;
                }
            };
            let range = first..end;
            first += (range.len() / 2).max(1);
            if range.clone().any(near) {
                continue;
            }
            let Some((a, rms)) = acceleration(&times[range.clone()], &centers[range.clone()])
            else {
                continue;
            };
            let duration = times[end - 1] - times[range.start];
            let low = gaps[range.clone()].iter().copied().fold(f64::INFINITY, f64::min);
            let middle = median(gaps[range.clone()].to_vec());
            // An impact on the way: neither the one nor the other.
            let smooth = rms <= 3.0 * noise + 0.01 * a.norm().max(g) * duration * duration;
            let falls = (a - gravity).norm() < TOLERANCE * g;
            let held = a.dot(&up).abs() < TOLERANCE * g;
            if middle < -margin {
                self.sinks += 1;
                if held && smooth {
                    self.heights.push(middle);
                }
                continue;
            }
            if !smooth {
                continue;
            }
            if low > margin {
                self.accelerations.push(a.norm());
            }
            match (low > margin, falls, held) {
                (_, true, _) if middle > 0.0 => self.falls += 1,
                (true, _, true) => {
                    self.floats += 1;
                    self.heights.push(middle);
                }
                (true, ..) => self.hangs += 1,
                (false, _, true) if middle <= margin => {
                    self.rests += 1;
                    self.heights.push(middle);
                    let way = centers[end - 1] - centers[range.start];
                    let turn = log(product(conjugate(poses[range.start].1), poses[end - 1].1));
                    let turn = turns[range.start] * turn;
                    let rolls = (turn - up * turn.dot(&up)).norm() > 0.05;
                    let level = way - up * way.dot(&up);
                    if rolls || level.norm() < 10.0 * noise + 1e-3 * radius {
                        continue;
                    }
                    self.slides += 1;
                    let brake = -(a - gravity).dot(&way.normalize()) / g;
                    self.brakes += usize::from((0.02..2.0).contains(&brake));
                    // Of an acceleration along a slope, what gravity does not do.
                    let push = (a - gravity).dot(&way.normalize());
                    let sure = 3.0 * error(noise, range.len(), duration) + 0.05 * g;
                    if push > sure {
                        self.pushed += 1;
                        self.pushes.push(push);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Standard error of an acceleration from so many positions over a time.
pub(super) fn error(noise: f64, count: usize, duration: f64) -> f64 {
    2.0 * (180.0 / count as f64).sqrt() * noise / (duration * duration)
}

/// How many of the first frames tell an acceleration well enough, or how many do not.
fn stretch(times: &[f64], noise: f64, g: f64, least: f64, most: f64) -> Result<usize, usize> {
    for count in 5..=times.len() {
        let duration = times[count - 1] - times[0];
        if duration > most {
            return Err(count);
        }
        if duration >= least && error(noise, count, duration) <= RESOLUTION * g {
            return Ok(count);
        }
    }
    Err(times.len())
}

/// The acceleration of the parabola through points, and how far they are from it, root of the mean square.
fn acceleration(times: &[f64], points: &[Vector3<f64>]) -> Option<(Vector3<f64>, f64)> {
    let (start, duration) = (times[0], times[times.len() - 1] - times[0]);
    let basis = |t: f64| {
        let x = 2.0 * (t - start) / duration - 1.0;
        Vector3::new(1.0, x, x * x)
    };
    let (mut normal, mut sides) = (Matrix3::zeros(), Matrix3::zeros());
    for (t, p) in times.iter().zip(points) {
        let row = basis(*t);
        normal += row * row.transpose();
        sides += row * (p - points[0]).transpose();
    }
    let solved = normal.cholesky()?.solve(&sides);
    let off = times
        .iter()
        .zip(points)
        .map(|(t, p)| (p - points[0] - solved.transpose() * basis(*t)).norm_squared());
    let rms = (off.sum::<f64>() / (3.0 * times.len() as f64)).sqrt();
    let scale = 8.0 / (duration * duration);
    Some((solved.row(2).transpose() * scale, rms))
}

/// Stretches of three frames that show a body hovering: all above the ground and away from other bodies, and between
/// which it falls by less than a thousandth of what it would; and how many are in the air at all.
pub(super) fn hovers(subject: &Subject, track: &Track, gravity: f64) -> [usize; 2] {
    let margin = (4.0 * track.noise).max(0.1 * subject.thickness + 0.02 * subject.radius);
    let in_air = |k: usize| {
        let turn = rotation_matrix(track.quaternions[k]);
        gap(subject, 1.0, &track.positions[k], &turn) > margin
            && !track.others[k].iter().any(|&(d, reach)| d < 1.2 * reach)
    };
    let in_air: Vec<bool> = (0..track.times.len()).map(in_air).collect();
    let mut found = [0, 0];
    for k in (0..in_air.len().saturating_sub(2)).filter(|&k| in_air[k..k + 3].iter().all(|&a| a)) {
        let dt = 0.5 * (track.times[k + 2] - track.times[k]);
        let p = &track.positions[k..k + 3];
        found[0] += usize::from((p[0] - 2.0 * p[1] + p[2]).norm() < 1e-3 * gravity * dt * dt);
        found[1] += 1;
    }
    found
}

/// How far the lowest point of the body is above the nearest plane, m; infinite without one.
fn gap(subject: &Subject, size: f64, position: &Vector3<f64>, turn: &Matrix3<f64>) -> f64 {
    let mut least = f64::INFINITY;
    for part in &subject.parts {
        let center = position + turn * part.position * size;
        for plane in &part.planes {
            let normal = turn.transpose() * plane.normal;
            let normal = rotation_matrix(part.orientation).transpose() * normal;
            let reach = part.shape.reach((part.size * size).into(), normal)
                + part.radius * size
                + part.margin;
            least = least.min(plane.normal.dot(&center) - plane.offset - reach);
        }
    }
    least
}
