//! The `[[body]]` tables of a scene file.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use super::overlap::Placed;

use crate::Error;
use crate::model::parameters::{BODY, CENTER_OF_MASS, INERTIA, MASS, SIZE};
use crate::model::{Body, Shape};
use crate::state::unit_quaternion;
use crate::table::Table;

const FIELDS: [&str; 11] = [
    "name",
    "mass",
    "inertia",
    "center_of_mass",
    "shape",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "force",
    "torque",
];

/// A body with its numbers, each as it is laid out in the scene.
pub(super) struct Entry {
    pub body: Body,
    pub parameters: [f64; BODY],
    pub q: [f64; 7],
    pub v: [f64; 6],
    pub wrench: [f64; 6],
}

impl Entry {
    /// Half extents of a box, or radius, 0, 0 of a sphere, m.
    pub fn size(&self) -> [f64; 3] {
        [self.parameters[SIZE], self.parameters[SIZE + 1], self.parameters[SIZE + 2]]
    }
}

impl Entry {
    /// The least half extent of a box, or the radius, m.
    pub fn smallest(&self) -> f64 {
        let size = self.size();
        self.body.shape.sizes(&size).iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Where it starts.
    pub fn placed(&self) -> Placed {
        let [x, y, z, qw, qx, qy, qz] = self.q;
        let turn = UnitQuaternion::new_unchecked(Quaternion::new(qw, qx, qy, qz));
        let rotation = turn.to_rotation_matrix().into_inner();
        let position = Vector3::new(x, y, z);
        Placed { shape: self.body.shape.clone(), size: self.size(), rotation, position }
    }
}

/// Reads a body whose name is known.
pub(super) fn read(table: &Table, name: &str) -> Result<Entry, Error> {
    table.only(&FIELDS)?;
    let mass = table.required("mass", table.number("mass")?)?;
    table.demand("mass", mass > 0.0, "must be positive", mass, "kg")?;
    let (shape, size) = read_shape(table)?;
    let center = table.numbers("center_of_mass")?.unwrap_or([0.0; 3]);
    let inertia = match table.list("inertia")? {
        Some(numbers) => check_inertia(table, &numbers)?,
        None if center == [0.0; 3] => shape.uniform_inertia(mass, size),
        None => {
            let message = "is missing: without it the body is a solid of uniform density, which \
                           has its center_of_mass at 0";
            return Err(table.error("inertia", message));
        }
    };
    let mut parameters = [0.0; BODY];
    parameters[MASS] = mass;
    parameters[CENTER_OF_MASS..INERTIA].copy_from_slice(&center);
    parameters[INERTIA..SIZE].copy_from_slice(&inertia);
    parameters[SIZE..].copy_from_slice(&size);

    let vector = |field: &str| Ok(table.numbers(field)?.unwrap_or([0.0; 3]));
    let [x, y, z] = vector("position")?;
    let [qw, qx, qy, qz] = read_orientation(table)?;
    Ok(Entry {
        body: Body { name: name.to_string(), shape },
        parameters,
        q: [x, y, z, qw, qx, qy, qz],
        v: join(vector("velocity")?, vector("angular_velocity")?),
        wrench: join(vector("force")?, vector("torque")?),
    })
}

fn read_shape(table: &Table) -> Result<(Shape, [f64; 3]), Error> {
    let shape = table.required("shape", table.table("shape")?)?;
    shape.only(&["box", "sphere"])?;
    let (kind, field, size) = match (shape.numbers("box")?, shape.number("sphere")?) {
        (Some(half_extents), None) => (Shape::Box, "box", half_extents),
        (None, Some(radius)) => (Shape::Sphere, "sphere", [radius, 0.0, 0.0]),
        _ => {
            let message = "must be { box = [hx, hy, hz] } with half extents, or { sphere = r }";
            return Err(table.error("shape", message));
        }
    };
    for found in kind.sizes(&size).iter().copied() {
        shape.demand(field, found > 0.0, "must be positive", found, "m")?;
    }
    Ok((kind, size))
}

fn read_orientation(table: &Table) -> Result<[f64; 4], Error> {
    let given = table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
    unit_quaternion(given).map_err(|norm| {
        let message = format!("must be a unit quaternion [w, x, y, z], found one of norm {norm}");
        table.error("orientation", message)
    })
}

/// Inertia xx, yy, zz, xy, xz, yz from one number, three or six.
fn check_inertia(table: &Table, numbers: &[f64]) -> Result<[f64; 6], Error> {
    let inertia = match *numbers {
        [i] => [i, i, i, 0.0, 0.0, 0.0],
        [xx, yy, zz] => [xx, yy, zz, 0.0, 0.0, 0.0],
        [xx, yy, zz, xy, xz, yz] => [xx, yy, zz, xy, xz, yz],
        _ => {
            let message = format!(
                "must be one number, [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], found {} numbers",
                numbers.len()
            );
            return Err(table.error("inertia", message));
        }
    };
    let [xx, yy, zz, xy, xz, yz] = inertia;
    let matrix = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let moments: Vector3<f64> = matrix.symmetric_eigenvalues();
    let (least, most) = (moments.min(), moments.max());
    let demand = "must be positive definite, but a principal moment is not positive";
    // Moments are computed up to rounding, so that 0 may come out as 1e-17.
    table.demand("inertia", least > 1e-12 * most, demand, least, "kg m²")?;
    // No mass distribution has a principal moment above the sum of the other two; equality is a
    // flat plate, up to rounding.
    let others = moments.sum() - most;
    if most > others * (1.0 + 1e-9) {
        let message = format!(
            "is not that of any solid: the largest principal moment, {most}, exceeds the sum of \
             the other two, {others} (kg m²)"
        );
        return Err(table.error("inertia", message));
    }
    Ok(inertia)
}

fn join([a, b, c]: [f64; 3], [d, e, f]: [f64; 3]) -> [f64; 6] {
    [a, b, c, d, e, f]
}
