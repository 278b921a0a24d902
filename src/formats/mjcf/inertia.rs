//! Masses of bodies: as `inertial` gives them, or those of the geoms.

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::compiler::{Compiler, InertiaFromGeom};
use super::orientation::{POSE, orientation, pose};
use super::reader::Reader;
use super::tree::Tree;
use crate::Error;
use crate::formats::mass_properties::MassProperties;
use crate::formats::xml::Element;

const FOLLOWED: [&str; 9] =
    ["mass", "diaginertia", "fullinertia", POSE[0], POSE[1], POSE[2], POSE[3], POSE[4], POSE[5]];

/// Whether the geoms of a body make its mass.
pub(super) fn is_from_geoms(reader: &Reader, body: &Element) -> bool {
    match reader.compiler.inertia_from_geom {
        InertiaFromGeom::Always => true,
        InertiaFromGeom::Never => false,
        InertiaFromGeom::Missing => body.child("inertial").is_none(),
    }
}

/// The mass of a body whose geoms have these.
pub(super) fn read(
    reader: &mut Reader,
    body: &Element,
    geoms: &[MassProperties],
) -> Result<MassProperties, Error> {
    let inertial = body.child("inertial");
    let given = match inertial {
        Some(element) => {
            element.remark_on_others(&FOLLOWED, &[], &[], &mut reader.remarks);
            Some(inertial_of(element, &reader.compiler)?)
        }
        None => None,
    };
    let mut mass = match (reader.compiler.inertia_from_geom, given) {
        (InertiaFromGeom::Always, _) | (InertiaFromGeom::Missing, None) => {
            MassProperties::sum(geoms)
        }
        (_, Some(given)) => given,
        (InertiaFromGeom::Never, None) => MassProperties::zero(),
    };
    if !mass.is_finite() {
        return Err(body.error("", "has a mass or inertia that is no finite number"));
    }
    adjust(&mut mass, &reader.compiler);
    Ok(mass)
}

fn inertial_of(element: &Element, compiler: &Compiler) -> Result<MassProperties, Error> {
    element.required("pos")?;
    let pose: Isometry3<f64> = pose(element, compiler)?;
    let Some(mass) = element.amount("mass")? else {
        return Err(element.error("mass", "is missing"));
    };
    if let Some([xx, yy, zz, xy, xz, yz]) = element.numbers("fullinertia")? {
        if orientation(element, compiler)?.is_some() {
            let message = "is along the axes of the body, so that an orientation has no meaning";
            return Err(element.error("fullinertia", message));
        }
        let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        return Ok(MassProperties { mass, center: pose.translation.vector, inertia });
    }
    let Some(moments) = element.numbers("diaginertia")? else {
        return Err(element.error("diaginertia", "is missing"));
    };
    Ok(MassProperties::principal(mass, moments).moved(&pose))
}

/// Bounds on masses and principal moments, and the balance of moments no solid has.
fn adjust(mass: &mut MassProperties, compiler: &Compiler) {
    mass.mass = mass.mass.max(compiler.least_mass);
    if compiler.least_inertia <= 0.0 && !compiler.balance_inertia {
        return;
    }
    let eigen = mass.inertia.symmetric_eigen();
    let mut moments = eigen.eigenvalues.map(|moment| moment.max(compiler.least_inertia));
    let unbalanced = moments.max() > moments.sum() - moments.max();
    if compiler.balance_inertia && unbalanced {
        moments = Vector3::repeat(moments.mean());
    }
    if moments != eigen.eigenvalues {
        let axes = eigen.eigenvectors;
        mass.inertia = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
    }
}

/// Scales all masses to the sum that the file demands.
pub(super) fn set_total_mass(tree: &mut Tree, compiler: &Compiler) {
    let sum: f64 = tree.links.iter().map(|link| link.mass.mass).sum();
    if let Some(total) = compiler.total_mass
        && sum > 0.0
    {
        for link in &mut tree.links {
            link.mass = link.mass.scaled(total / sum);
        }
    }
}
