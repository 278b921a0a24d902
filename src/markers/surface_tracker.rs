//! Where a rigid surface is, from frame to frame, by points seen of it.

use nalgebra::{Matrix6, Quaternion, UnitQuaternion, Vector3, Vector6};

use super::closest_point::PlacedSurface;
use crate::soft::{SoftBody, SoftStart};

/// Points that tell a pose.
const LEAST: usize = 6;
/// Of large clouds evenly chosen ones tell it as well.
const MOST: usize = 500;
/// Trial poses of a frame.
const TRIALS: usize = 60;
/// A change this small, of the extent of the surface, is none.
const SETTLED: f64 = 1e-7;
/// What the first trial adds to the diagonal of what is solved, and what each adds at least: turns of a ball are not told.
const DAMPING: [f64; 2] = [1e-2, 1e-6];

/// A turn, and the place of the centre of mass.
type Pose = (UnitQuaternion<f64>, Vector3<f64>);

/// Follows a surface from where its body starts in the scene.
pub(super) struct SurfaceTracker<'a> {
    /// At rest, from the centre of mass.
    surface: PlacedSurface<'a>,
    /// How far that reaches (m), and the mean of its vertices.
    size: f64,
    middle: Vector3<f64>,
    /// As the scene starts it.
    turn: UnitQuaternion<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    /// Frames closer than a step (s) tell no motion.
    time_step: f64,
    gravity: Vector3<f64>,
    /// The poses so far, and when (s).
    seen: Vec<(f64, Pose)>,
}

impl<'a> SurfaceTracker<'a> {
    /// Of a body with its `surface` at rest, as seen from its `centre` of mass.
    pub fn new(
        (body, centre): (&SoftBody, Vector3<f64>),
        surface: PlacedSurface<'a>,
        time_step: f64,
    ) -> Self {
        let vertices = || surface.vertices().iter().map(|&x| Vector3::from(x));
        let size = vertices().map(|x| x.norm()).fold(0.0, f64::max);
        let middle = vertices().sum::<Vector3<f64>>() / vertices().count().max(1) as f64;
        let SoftStart { orientation: [w, x, y, z], velocity, angular_velocity, .. } = body.start;
        let turn = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
        let spin = Vector3::from(angular_velocity);
        SurfaceTracker {
            surface,
            size,
            middle,
            turn,
            velocity: Vector3::from(velocity) + turn * spin.cross(&centre),
            spin,
            time_step,
            gravity: body.parameters.gravity.into(),
            seen: Vec::new(),
        }
    }

    /// The pose at a time (s) in which the points are nearest to the surface: their distances to the closest points are made small
    /// by Levenberg and Marquardt's steps (`Chen92`), from where the surface has gone on to since the frames before.
    pub fn pose(&mut self, time: f64, cloud: &[[f64; 3]]) -> Option<Pose> {
        if cloud.len() < LEAST {
            return None;
        }
        let points: Vec<Vector3<f64>> =
            cloud.iter().step_by(cloud.len().div_ceil(MOST)).map(|&x| x.into()).collect();
        let (surface, size) = (&self.surface, self.size);
        let mut pose = self.expected(time, &points);
        let mut fit = Fit::at(surface, &pose, &points)?;
        let mut damping = DAMPING[0];
        for _ in 0..TRIALS {
            let Some(step) = fit.step(damping, size) else { break };
            let (shift, turn) = (step.fixed_rows::<3>(0), step.fixed_rows::<3>(3));
            let place = pose.1 + pose.0 * shift;
            let turned = pose.0 * UnitQuaternion::from_scaled_axis(turn.into_owned());
            let there = Fit::at(surface, &(turned, place), &points)?;
            let length = shift.norm() + size * turn.norm();
            if there.cost < fit.cost {
                (pose, fit) = ((turned, place), there);
                damping = (0.1 * damping).max(DAMPING[1]);
            } else {
                damping *= 10.0;
            }
            if length < SETTLED * size {
                break;
            }
        }
        if self.seen.last().is_some_and(|(last, _)| time - last < self.time_step) {
            self.seen.pop();
        }
        self.seen.push((time, pose));
        Some(pose)
    }

    /// Where it goes to by itself: at first as the scene has it turn and fly.
    fn expected(&self, time: f64, points: &[Vector3<f64>]) -> Pose {
        match self.seen[..] {
            [] => {
                let seen = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
                (self.turn, seen - self.turn * self.middle)
            }
            [(first, (turn, place))] => {
                let dt = time - first;
                let way = self.velocity * dt + self.gravity * (0.5 * dt * dt);
                (turn * UnitQuaternion::from_scaled_axis(self.spin * dt), place + way)
            }
            [.., (before, (turn, place)), (last, (new, there))] => {
                let (dt, gone) = (time - last, last - before);
                let spin = (turn.inverse() * new).scaled_axis() * (dt / gone);
                let way = (there - place) * (dt / gone) + self.gravity * (0.5 * dt * (dt + gone));
                (new * UnitQuaternion::from_scaled_axis(spin), there + way)
            }
        }
    }
}

/// The distances of points from a surface in a pose.
struct Fit {
    cost: f64,
    /// Of half the sum of squares, by how the surface is shifted and turned along its own axes.
    gradient: Vector6<f64>,
    hessian: Matrix6<f64>,
    points: usize,
}

impl Fit {
    fn at(surface: &PlacedSurface, (turn, place): &Pose, points: &[Vector3<f64>]) -> Option<Fit> {
        let (gradient, hessian) = (Vector6::zeros(), Matrix6::zeros());
        let mut fit = Fit { cost: 0.0, gradient, hessian, points: points.len() };
        for point in points {
            // Seen from the surface.
            let point = turn.inverse() * (point - place);
            let found = surface.closest(&point)?;
            let turning = point.cross(&found.outward);
            let row = Vector6::from_iterator(found.outward.iter().chain(&turning).map(|x| -x));
            fit.cost += 0.5 * found.distance * found.distance;
            fit.gradient += row * found.distance;
            fit.hessian += row * row.transpose();
        }
        fit.cost.is_finite().then_some(fit)
    }

    /// The change that makes it small, turns of a surface of some `size` (m) weighed with shifts.
    fn step(&self, damping: f64, size: f64) -> Option<Vector6<f64>> {
        let mut matrix = self.hessian;
        for k in 0..6 {
            let scale = if k < 3 { 1.0 } else { size * size };
            matrix[(k, k)] += damping * self.points as f64 * scale;
        }
        Some(matrix.cholesky()?.solve(&-self.gradient))
    }
}
