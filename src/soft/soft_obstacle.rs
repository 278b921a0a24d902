//! Shapes that stay where they are, go as they are told or are of rigid bodies, and the planes that touch them where vertices are
//! nearest.

use nalgebra::Vector3;

use super::schedule;
use super::soft_time::SoftTime;
use crate::ad::{Dual, LANES, Real};
use crate::collision::{Pose, Witness, point_witnesses};
use crate::dynamics::{BodyPose, FreeMotion};
use crate::implicit::{Carrier, VertexContact};
use crate::model::Shape;

/// A shape that vertices of soft bodies touch.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftObstacle {
    /// Its name.
    pub name: String,
    /// Its form.
    pub shape: Shape,
    /// Its sizes, see [`Shape`] (m).
    pub size: Vector3<f64>,
    /// Where it starts; in its body, if it is of one that moves.
    pub pose: Pose<f64>,
    /// The radius of its edges and corners, beyond its sizes (m).
    pub rounding: f64,
    /// The rigid body it is of, if that moves.
    pub body: Option<usize>,
    /// When it is told where it is (s), ascending; never, if it does not move.
    pub times: Vec<f64>,
    /// How far it is moved then (m).
    pub displacement: Vec<[f64; 3]>,
    /// The radius of a ball about its place that holds it (m).
    extent: f64,
}

/// How a shape goes in a step.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    /// Where it is as the step begins.
    pose: Pose<f64>,
    /// How far it goes (m).
    way: Vector3<f64>,
    /// How fast it moves as the step ends, as the formula of the step has it (m/s).
    velocity: Vector3<f64>,
    /// The body that carries it, and where that is.
    carrier: Option<(usize, BodyPose<f64>)>,
    /// How far beside its way it may come to be (m).
    stray: f64,
}

type Scalar = Dual<f64, LANES>;

/// Of distances, in m and as a part of them.
const ROUNDING: f64 = 1e-9;
/// What is pushed goes this many times as far as it would without, at most: what goes farther is met a step later.
const STRAYS: f64 = 2.0;

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
        let (name, rounding, body) = (name.to_string(), 0.0, None);
        SoftObstacle { name, shape, size, pose, rounding, body, times, displacement, extent }
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

    /// How it goes in a step. A shape of a body that moves begins it where that is in the `motion` of the rigid ones.
    pub(super) fn passage(
        &self,
        SoftTime { bdf, span: [before, after] }: SoftTime,
        motion: Option<&FreeMotion<f64>>,
    ) -> Passage {
        let step = after - before;
        if let (Some(body), Some(motion)) = (self.body, motion) {
            let own = &motion.bodies[body];
            let position = own.position + own.rotation * self.pose.position;
            let pose = Pose { rotation: own.rotation * self.pose.rotation, position };
            let arm = (self.pose.position - own.center_of_mass).norm() + self.extent;
            let still = Vector3::zeros();
            return Passage {
                pose,
                way: still,
                velocity: still,
                carrier: Some((body, own.clone())),
                stray: step * (own.speed.linear + own.speed.angular * arm),
            };
        }
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
        Passage { pose, way, velocity, carrier: None, stray: 0.0 }
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
        let Passage { pose, way, velocity, carrier, stray } = passage;
        let reach = self.rounding + radius + reach + way.norm() + STRAYS * stray;
        let found = self.nearest((Vector3::from(*x), pose), reach, &mut memory.values);
        let Some(witness) = found else { return };
        let touched = witness.points[0] + witness.normal * self.rounding;
        contact.normal = witness.normal.into();
        contact.offset = witness.normal.dot(&(touched + way)) + radius;
        contact.carrier = carrier.as_ref().map(|(body, own)| {
            let arm = own.rotation.tr_mul(&(touched - own.position)) - own.center_of_mass;
            Carrier { body: *body, arm: arm.into(), rise: 0.0 }
        });
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
        let risen = contact.carrier.map_or(0.0, |carrier| carrier.rise);
        let far = (contact.gap(&at) + risen).abs() + radius + self.rounding;
        let reach = far * (1.0 + ROUNDING) + ROUNDING;
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
