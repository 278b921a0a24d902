//! Shapes that stay where they are or go as they are told, and the planes that touch them where vertices are nearest.

use nalgebra::Vector3;

use super::schedule;
use super::soft_time::SoftTime;
use crate::ad::{Dual, LANES, Real};
use crate::collision::{Pose, Witness, point_witnesses};
use crate::implicit::VertexContact;
use crate::model::Shape;

/// A shape that nothing moves but what is told, which vertices of soft bodies touch.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftObstacle {
    /// Its name.
    pub name: String,
    /// Its form.
    pub shape: Shape,
    /// Its sizes, see [`Shape`] (m).
    pub size: Vector3<f64>,
    /// Where it starts.
    pub pose: Pose<f64>,
    /// When it is told where it is (s), ascending; never, if it does not move.
    pub times: Vec<f64>,
    /// How far it is moved then (m).
    pub displacement: Vec<[f64; 3]>,
    /// The radius of a ball about its place that holds it (m).
    extent: f64,
}

type Scalar = Dual<f64, LANES>;

/// Of distances, in m and as a part of them.
const ROUNDING: f64 = 1e-9;

/// Memory of where vertices are nearest to shapes.
#[derive(Clone, Debug, Default)]
pub struct NearestMemory {
    values: Vec<Witness<f64>>,
    slopes: Vec<Witness<Scalar>>,
}

impl SoftObstacle {
    /// A shape with its sizes (m) at a place.
    pub fn new(name: &str, shape: Shape, size: Vector3<f64>, pose: Pose<f64>) -> Self {
        let extent = shape.bounding_radius(size.into());
        let (times, displacement) = (Vec::new(), Vec::new());
        SoftObstacle { name: name.to_string(), shape, size, pose, times, displacement, extent }
    }

    /// How far it is at a time (s) from where it is at time 0 (m).
    pub fn moved(&self, time: f64) -> [f64; 3] {
        schedule::moved(&self.times, &self.displacement, time)
    }

    /// Where its origin is at a time (s), m.
    pub fn place_at(&self, time: f64) -> [f64; 3] {
        self.pose_at(time).position.into()
    }

    /// Where it is at a time (s).
    fn pose_at(&self, time: f64) -> Pose<f64> {
        match self.times.is_empty() {
            true => self.pose,
            false => {
                Pose { position: self.pose.position + Vector3::from(self.moved(time)), ..self.pose }
            }
        }
    }

    /// Puts the plane that touches the shape where it is nearest to a vertex at `x` (m) as a step begins, and goes
    /// with the shape to where that is as it ends, into a contact of a vertex of this `radius` (m). Of what is farther off than `reach` (m) it is a plane that nothing comes to.
    pub fn place(
        &self,
        (x, time): (&[f64; 3], SoftTime),
        [radius, reach]: [f64; 2],
        contact: &mut VertexContact,
        memory: &mut NearestMemory,
    ) {
        contact.put_beyond();
        let pose = self.pose_at(time.span[0]);
        let way = self.way(time.span);
        let reach = reach + way.norm();
        let found = self.nearest((Vector3::from(*x), &pose), radius + reach, &mut memory.values);
        let Some(witness) = found else { return };
        contact.normal = witness.normal.into();
        contact.offset = witness.normal.dot(&(witness.points[0] + way)) + radius;
        // Seen from the shape the vertex is where it was as that has moved on.
        contact.turning.at = (Vector3::from(*x) + way).into();
        contact.surface = self.velocity(time);
    }

    /// How fast it moves as a step ends, as the formula of the step has it (m/s).
    fn velocity(&self, SoftTime { bdf, span: [before, after] }: SoftTime) -> [f64; 3] {
        let step = after - before;
        if self.times.is_empty() || step <= 0.0 {
            return [0.0; 3];
        }
        let [now, old] = bdf.weights();
        let [end, start, long] = [after, before, before - step].map(|time| self.moved(time));
        // Before the start all has moved as it does then.
        let has_begun = before > 0.0;
        let long = [0, 1, 2].map(|k| if has_begun { long[k] } else { 2.0 * start[k] - end[k] });
        [0, 1, 2].map(|k| (end[k] - now * start[k] - old * long[k]) / bdf.rate(step))
    }

    /// How far it goes over a `span` (s).
    fn way(&self, span: [f64; 2]) -> Vector3<f64> {
        match self.times.is_empty() {
            true => Vector3::zeros(),
            false => {
                let [from, to] = span.map(|time| Vector3::from(self.moved(time)));
                to - from
            }
        }
    }

    /// How the plane of a contact that was [placed](Self::place) turns with its vertex, of this `radius` (m), in a step over a
    /// `span` (s).
    pub fn turn(
        &self,
        (radius, span): (f64, [f64; 2]),
        contact: &mut VertexContact,
        memory: &mut NearestMemory,
    ) {
        if contact.is_beyond() {
            return;
        }
        let at = contact.turning.at;
        let start = Vector3::from(at) - self.way(span);
        let moved = Vector3::from([0, 1, 2].map(|k| Scalar::variable(start[k], k)));
        // No farther than it is, and a rounding.
        let reach = contact.gap(&at).abs() * (1.0 + ROUNDING) + radius + ROUNDING;
        let found = self.nearest((moved, &self.pose_at(span[0])), reach, &mut memory.slopes);
        let Some(witness) = found else { return };
        contact.turning.slope = [0, 1, 2].map(|i| [0, 1, 2].map(|k| witness.normal[i].tangent[k]));
    }

    /// The contact with a point that is deepest.
    fn nearest<T: Real>(
        &self,
        (point, pose): (Vector3<T>, &Pose<f64>),
        reach: f64,
        found: &mut Vec<Witness<T>>,
    ) -> Option<Witness<T>> {
        let SoftObstacle { shape, size, extent, .. } = self;
        let value = point.map(|x| x.value());
        let away = (value - pose.position).norm() - extent;
        if away > reach || away.is_nan() {
            return None;
        }
        let pose = Pose {
            rotation: pose.rotation.map(T::constant),
            position: pose.position.map(T::constant),
        };
        found.clear();
        point_witnesses(shape, &pose, size.map(T::constant), point, reach, found);
        found.iter().copied().min_by(|a, b| a.gap.value().total_cmp(&b.gap.value()))
    }
}
