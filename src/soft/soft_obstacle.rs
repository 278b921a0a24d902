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

/// How a shape goes in a step.
pub(super) struct Passage {
    /// Where it is as the step begins.
    pose: Pose<f64>,
    /// How far it goes (m).
    way: Vector3<f64>,
    /// How fast it moves as the step ends, as the formula of the step has it (m/s).
    velocity: Vector3<f64>,
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

    /// Whether it is told where it is.
    pub fn is_led(&self) -> bool {
        !self.times.is_empty()
    }

    /// Where its origin is at a time (s), m.
    pub fn place_at(&self, time: f64) -> [f64; 3] {
        (self.pose.position + Vector3::from(self.moved(time))).into()
    }

    /// How it goes in a step.
    pub(super) fn passage(&self, SoftTime { bdf, span: [before, after] }: SoftTime) -> Passage {
        let step = after - before;
        let [end, start] = [after, before].map(|time| Vector3::from(self.moved(time)));
        let way = end - start;
        // Before the start all has moved as it does then.
        let long = match before > 0.0 {
            true => Vector3::from(self.moved(before - step)),
            false => start - way,
        };
        let [now, old] = bdf.weights();
        let is_still = !self.is_led() || step <= 0.0;
        let velocity = match is_still {
            true => Vector3::zeros(),
            false => (end - start * now - long * old) / bdf.rate(step),
        };
        let pose = Pose { position: self.pose.position + start, ..self.pose };
        Passage { pose, way, velocity }
    }

    /// Puts the plane that touches the shape where it is nearest to a vertex at `x` (m) as a step begins, and goes with the shape to
    /// where that is as it ends, into a contact of a vertex of this `radius` (m). Of what is farther off than `reach` (m) beside the way
    /// of the shape it is a plane that nothing comes to.
    pub(super) fn place(
        &self,
        (x, passage): (&[f64; 3], &Passage),
        [radius, reach]: [f64; 2],
        contact: &mut VertexContact,
        memory: &mut NearestMemory,
    ) {
        contact.put_beyond();
        let Passage { pose, way, velocity } = passage;
        let reach = radius + reach + way.norm();
        let found = self.nearest((Vector3::from(*x), pose), reach, &mut memory.values);
        let Some(witness) = found else { return };
        contact.normal = witness.normal.into();
        contact.offset = witness.normal.dot(&(witness.points[0] + way)) + radius;
        // Seen from the shape the vertex is where it was as that has moved on.
        contact.turning.at = (Vector3::from(*x) + way).into();
        contact.surface = (*velocity).into();
    }

    /// How the plane of a contact that was [placed](Self::place) turns with its vertex, of this `radius` (m).
    pub(super) fn turn(
        &self,
        (radius, passage): (f64, &Passage),
        contact: &mut VertexContact,
        memory: &mut NearestMemory,
    ) {
        if contact.is_beyond() {
            return;
        }
        let at = contact.turning.at;
        let start = Vector3::from(at) - passage.way;
        let moved = Vector3::from([0, 1, 2].map(|k| Scalar::variable(start[k], k)));
        // No farther than it is, and a rounding.
        let reach = contact.gap(&at).abs() * (1.0 + ROUNDING) + radius + ROUNDING;
        let found = self.nearest((moved, &passage.pose), reach, &mut memory.slopes);
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
