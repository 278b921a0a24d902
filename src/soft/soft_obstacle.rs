//! Shapes that do not move, and the planes that touch them where vertices are nearest.

use nalgebra::Vector3;

use crate::ad::{Dual, LANES, Real};
use crate::collision::{Pose, Witness, point_witnesses};
use crate::implicit::VertexContact;
use crate::model::Shape;

/// A shape that does not move, which vertices of soft bodies touch.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftObstacle {
    /// Its name.
    pub name: String,
    /// Its form.
    pub shape: Shape,
    /// Its sizes, see [`Shape`] (m).
    pub size: Vector3<f64>,
    /// Where it is.
    pub pose: Pose<f64>,
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
        SoftObstacle { name: name.to_string(), shape, size, pose, extent }
    }

    /// Puts the plane that touches the shape where it is nearest to a vertex at `x` (m) into a contact of a vertex of this
    /// `radius` (m). Of what is farther off than `reach` (m) it is a plane that nothing comes to.
    pub fn place(
        &self,
        x: &[f64; 3],
        [radius, reach]: [f64; 2],
        contact: &mut VertexContact,
        memory: &mut NearestMemory,
    ) {
        contact.put_beyond();
        let found = self.nearest(Vector3::from(*x), radius + reach, &mut memory.values);
        let Some(witness) = found else { return };
        contact.normal = witness.normal.into();
        contact.offset = witness.normal.dot(&witness.points[0]) + radius;
        contact.turning.at = *x;
    }

    /// How the plane of a contact that was [placed](Self::place) turns with its vertex, of this `radius` (m).
    pub fn turn(&self, radius: f64, contact: &mut VertexContact, memory: &mut NearestMemory) {
        if contact.is_beyond() {
            return;
        }
        let at = contact.turning.at;
        let moved = Vector3::from([0, 1, 2].map(|k| Scalar::variable(at[k], k)));
        // No farther than it is, and a rounding.
        let reach = contact.gap(&at).abs() * (1.0 + ROUNDING) + radius + ROUNDING;
        let found = self.nearest(moved, reach, &mut memory.slopes);
        let Some(witness) = found else { return };
        contact.turning.slope = [0, 1, 2].map(|i| [0, 1, 2].map(|k| witness.normal[i].tangent[k]));
    }

    /// The contact with a point that is deepest.
    fn nearest<T: Real>(
        &self,
        point: Vector3<T>,
        reach: f64,
        found: &mut Vec<Witness<T>>,
    ) -> Option<Witness<T>> {
        let SoftObstacle { shape, size, pose, extent, .. } = self;
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
