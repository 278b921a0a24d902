//! The `[[camera]]` tables of a scene file.

use nalgebra::{Matrix3, Vector3};

use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::assemble::CameraDescription;
use crate::model::CameraNumbers;
use crate::table::Table;

/// Reads a camera whose name is known: by `eye`, `target`, `up` and `fov_y`, or by K, R and t.
pub(super) fn read(table: &Table, name: String) -> Result<CameraDescription, Error> {
    table.only(&[
        "name",
        "body",
        "size",
        "eye",
        "target",
        "up",
        "fov_y",
        "fov_y_deg",
        "aspect",
        "center",
        "K",
        "R",
        "t",
    ])?;
    let size = table.required("size", table.numbers::<2>("size")?)?;
    let whole = |x: f64| x.fract() == 0.0 && (0.0..=1e6).contains(&x);
    if !size.into_iter().all(whole) {
        return Err(
            table.error("size", format!("must be the width and the height in px, found {size:?}"))
        );
    }
    let numbers = match table.has("K") || table.has("R") || table.has("t") {
        true => by_matrices(table, size)?,
        false => by_view(table, size)?,
    };
    Ok(CameraDescription {
        line: None,
        name,
        body: table.string("body")?.map(str::to_string),
        size: size.map(|x| x as usize),
        numbers,
    })
}

fn by_view(table: &Table, size: [f64; 2]) -> Result<CameraNumbers<f64>, Error> {
    let fov_y = match (table.number("fov_y")?, table.number("fov_y_deg")?) {
        (Some(_), Some(_)) => {
            return Err(table.error("fov_y_deg", "is fov_y in degrees; give one of them"));
        }
        (Some(angle), None) => angle,
        (None, degrees) => table.required("fov_y", degrees)?.to_radians(),
    };
    Ok(CameraNumbers {
        eye: table.required("eye", table.numbers("eye")?)?,
        target: table.required("target", table.numbers("target")?)?,
        up: table.numbers("up")?.unwrap_or([0.0, 0.0, 1.0]),
        fov_y,
        aspect: table.number("aspect")?.unwrap_or(1.0),
        center: table.numbers("center")?.unwrap_or(size.map(|x| x / 2.0)),
    })
}

/// x_px = K (R x + t), with x to the right, y down and z ahead in the camera, as OpenCV has them.
fn by_matrices(table: &Table, size: [f64; 2]) -> Result<CameraNumbers<f64>, Error> {
    if let Some(twice) = ["eye", "target", "up", "fov_y", "fov_y_deg", "aspect", "center"]
        .into_iter()
        .find(|f| table.has(f))
    {
        return Err(table.error(twice, "is given by K, R and t already"));
    }
    let matrix = |name: &str| {
        let rows = table.required(name, table.rows(name)?)?;
        let wrong = || table.error(name, "must be three rows of three numbers");
        let flat = rows.concat();
        if rows.len() != 3 || rows.iter().any(|row| row.len() != 3) {
            return Err(wrong());
        }
        Ok(Matrix3::from_row_slice(&flat))
    };
    let (k, r) = (matrix("K")?, matrix("R")?);
    let t = Vector3::from(table.required("t", table.numbers::<3>("t")?)?);
    let sheared = k.m12.abs() > 1e-6 * k.m11.abs() || k.m21 != 0.0 || k.m31 != 0.0 || k.m32 != 0.0;
    if sheared || k.m33 != 1.0 || k.m11 <= 0.0 || k.m22 <= 0.0 {
        let message = "must be [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] with positive fx and fy";
        return Err(table.error("K", message));
    }
    let off = (r * r.transpose() - Matrix3::identity()).amax();
    if off.is_nan() || off > 1e-6 || r.determinant() < 0.0 {
        return Err(table.error(
            "R",
            format!("must be a rotation, from the world to the camera: R R' is off by {off:.1e}"),
        ));
    }
    let eye = -(r.transpose() * t);
    let rows = [r.row(0), r.row(1), r.row(2)].map(|row| row.transpose());
    Ok(CameraNumbers {
        eye: eye.into(),
        target: (eye + rows[2]).into(),
        up: (-rows[1]).into(),
        fov_y: 2.0 * (0.5 * size[1] / k.m22).atan(),
        aspect: k.m11 / k.m22,
        center: [k.m13, k.m23],
    })
}

/// Writes a camera.
pub(super) fn write(text: &mut String, camera: &CameraDescription) {
    let CameraNumbers { eye, target, up, fov_y, aspect, center } = &camera.numbers;
    text.push_str("\n[[camera]]\n");
    field(text, "name", &string(&camera.name));
    if let Some(body) = &camera.body {
        field(text, "body", &string(body));
    }
    field(text, "size", &list(&camera.size.map(|x| x as f64)));
    field(text, "eye", &list(eye));
    field(text, "target", &list(target));
    field(text, "up", &list(up));
    field(text, "fov_y", &number(*fov_y));
    field(text, "aspect", &number(*aspect));
    field(text, "center", &list(center));
}
