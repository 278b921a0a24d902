//! The `[[body]]` tables of a scene file.

use nalgebra::{Matrix3, Vector3};

use super::{joint, shape, visual};
use crate::Error;
use crate::assemble::{BodyDescription, ColliderDescription};
use crate::model::JointKind;
use crate::spatial::rotation_matrix;
use crate::state::unit_quaternion;
use crate::table::Table;

const FIELDS: [&str; 16] = [
    "name",
    "mass",
    "inertia",
    "center_of_mass",
    "shape",
    "parent",
    "joint",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "force",
    "torque",
    "drag",
    "visual",
    "prescribed",
];

/// Reads a body whose name is known.
pub(super) fn read(table: &Table, name: &str) -> Result<BodyDescription, Error> {
    table.only(&FIELDS)?;
    let parent = table.string("parent")?.filter(|&parent| parent != "world").map(str::to_string);
    let prescribed = table.boolean("prescribed")?.unwrap_or(false);
    let mass = match prescribed {
        true => 0.0,
        false => table.required("mass", table.number("mass")?)?,
    };
    let mut joint = joint::read(table, parent.is_some())?;
    joint.prescribed = prescribed;
    let free = joint.kind == JointKind::Free;
    if prescribed {
        for field in ["mass", "inertia", "center_of_mass", "force", "torque", "drag"] {
            if table.has(field) {
                let message = "means nothing where `prescribed` gives the velocity of the body";
                return Err(table.error(field, message));
            }
        }
    }
    table.demand("mass", mass >= 0.0, "must be positive", mass, "kg")?;
    let colliders = read_shapes(table, free && !prescribed)?;
    let given = table.numbers("center_of_mass")?;
    let (center_of_mass, inertia) = match table.list("inertia")? {
        _ if prescribed => ([0.0; 3], [0.0; 6]),
        Some(numbers) => (given.unwrap_or([0.0; 3]), six(table, &numbers)?),
        // Without a shape a body on a joint is a point.
        None if mass == 0.0 || !free && colliders.is_empty() => {
            (given.unwrap_or([0.0; 3]), [0.0; 6])
        }
        None => uniform(table, mass, &colliders, given)?,
    };
    let vector = |field: &str| Ok(table.numbers(field)?.unwrap_or([0.0; 3]));
    joint.position = vector("position")?;
    joint.orientation = read_orientation(table)?;
    if free {
        joint.v = [vector("velocity")?, vector("angular_velocity")?].concat();
    } else {
        for field in ["velocity", "angular_velocity", "force", "torque"] {
            if table.has(field) {
                let message = "is for free bodies; give the joint q and v, or an actuator";
                return Err(table.error(field, message));
            }
        }
    }
    Ok(BodyDescription {
        line: None,
        name: name.to_string(),
        parent,
        joint,
        mass,
        center_of_mass,
        inertia,
        colliders,
        visuals: visual::read_all(table)?,
        force: vector("force")?,
        torque: vector("torque")?,
        drag: read_drag(table)?,
    })
}

/// `drag = { linear = .., quadratic = .. }`, of which one may be left out.
fn read_drag(table: &Table) -> Result<Option<[f64; 2]>, Error> {
    let Some(drag) = table.table("drag")? else { return Ok(None) };
    drag.only(&["linear", "quadratic"])?;
    let mut numbers = [0.0; 2];
    for (number, field) in numbers.iter_mut().zip(["linear", "quadratic"]) {
        *number = drag.number(field)?.unwrap_or(0.0);
        drag.demand(field, *number >= 0.0, "must not be negative", *number, "")?;
    }
    Ok(Some(numbers))
}

/// `shape = { .. }` or any number of `[[body.shape]]`. A free body has one: it is there to touch things.
fn read_shapes(table: &Table, free: bool) -> Result<Vec<ColliderDescription>, Error> {
    if table.is_list("shape") {
        let shapes = table.tables("shape")?.into_iter().map(|shape| {
            let name = shape.string("name")?.unwrap_or("").to_string();
            shape::read(&shape, name)
        });
        return shapes.collect();
    }
    match table.table("shape")? {
        Some(shape) => {
            let name = shape.string("name")?.unwrap_or("").to_string();
            Ok(vec![shape::read(&shape, name)?])
        }
        None if free && !table.has("inertia") => Err(table.error("shape", "is missing")),
        None => Ok(Vec::new()),
    }
}

/// Centre of mass and inertia of a solid of uniform density.
fn uniform(
    table: &Table,
    mass: f64,
    colliders: &[ColliderDescription],
    given: Option<[f64; 3]>,
) -> Result<([f64; 3], [f64; 6]), Error> {
    let [collider] = colliders else {
        let message = "is missing: without it the body is a solid of uniform density of one shape";
        return Err(table.error("inertia", message));
    };
    let solid = collider.shape.uniform_solid(collider.size);
    if solid.volume == 0.0 {
        let message = "is missing: a height field is a surface, which has no uniform density";
        return Err(table.error("inertia", message));
    }
    let turn = unit_quaternion(collider.orientation).unwrap_or([1.0, 0.0, 0.0, 0.0]);
    let rotation = rotation_matrix(turn);
    let center = Vector3::from(collider.position) + rotation * solid.center_of_mass;
    let center_of_mass: [f64; 3] = center.into();
    // Files round what they give.
    let near = 1e-9 * collider.shape.bounding_radius(collider.size);
    if given.is_some_and(|given| (Vector3::from(given) - center).amax() > near) {
        let [x, y, z] = center_of_mass;
        let message = format!(
            "is missing: without it the body is a solid of uniform density, which has its \
             center_of_mass at [{x}, {y}, {z}]"
        );
        return Err(table.error("inertia", message));
    }
    let [xx, yy, zz, xy, xz, yz] = collider.shape.uniform_inertia(mass, collider.size);
    if turn == [1.0, 0.0, 0.0, 0.0] {
        return Ok((center_of_mass, [xx, yy, zz, xy, xz, yz]));
    }
    let own = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let m = rotation * own * rotation.transpose();
    let six = [m[(0, 0)], m[(1, 1)], m[(2, 2)], m[(0, 1)], m[(0, 2)], m[(1, 2)]];
    Ok((center_of_mass, six))
}

fn read_orientation(table: &Table) -> Result<[f64; 4], Error> {
    let given = table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
    unit_quaternion(given).map_err(|norm| {
        let message = format!("must be a unit quaternion [w, x, y, z], found one of norm {norm}");
        table.error("orientation", message)
    })
}

/// Inertia xx, yy, zz, xy, xz, yz from one number, three or six.
fn six(table: &Table, numbers: &[f64]) -> Result<[f64; 6], Error> {
    match *numbers {
        [i] => Ok([i, i, i, 0.0, 0.0, 0.0]),
        [xx, yy, zz] => Ok([xx, yy, zz, 0.0, 0.0, 0.0]),
        [xx, yy, zz, xy, xz, yz] => Ok([xx, yy, zz, xy, xz, yz]),
        _ => {
            let message = format!(
                "must be one number, [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], found {} numbers",
                numbers.len()
            );
            Err(table.error("inertia", message))
        }
    }
}
