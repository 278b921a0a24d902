//! Looks: the fields of a `[[visual]]` and of a `[[body.visual]]`, and colours, read and written.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;

use super::shape::{read_plain, relative, write_pose};
use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::formats::reach;
use crate::model::{Color, Shape, Triangulation, Visual, VisualForm};
use crate::table::Table;

/// The kinds of looks that are no shapes.
const OTHERS: [&str; 2] = ["mesh", "vertices"];

fn kinds() -> impl Iterator<Item = &'static str> {
    Shape::PLAIN.into_iter().map(|shape| shape.name()).chain(OTHERS)
}

/// All that a table has.
pub(super) fn read_all(table: &Table) -> Result<Vec<Visual>, Error> {
    table.tables("visual")?.iter().map(read).collect()
}

fn read(table: &Table) -> Result<Visual, Error> {
    let mut fields = vec!["position", "orientation", "color", "scale", "triangles"];
    fields.extend(kinds());
    table.only(&fields)?;
    let given: Vec<&str> = kinds().filter(|kind| table.has(kind)).collect();
    let [kind] = given[..] else {
        let plain: Vec<_> = Shape::PLAIN.iter().map(Shape::name).collect();
        let message = format!(
            "must be one of {}, with its sizes in m, mesh = \"file\", or vertices with triangles",
            plain.join(", ")
        );
        return Err(table.error("", message));
    };
    for (field, of) in [("scale", "mesh"), ("triangles", "vertices")] {
        if table.has(field) && kind != of {
            return Err(table.error(field, format!("has no meaning for a {kind}")));
        }
    }
    let form = match kind {
        "mesh" => {
            let path = table.directory().join(table.required(kind, table.string(kind)?)?);
            reach::check(&path, table.directory()).map_err(|message| table.error(kind, message))?;
            let scale = table.numbers("scale")?.unwrap_or([1.0; 3]);
            for found in scale {
                table.demand("scale", found != 0.0, "must not be 0", found, "")?;
            }
            VisualForm::File { path, scale }
        }
        "vertices" => VisualForm::Surface(Arc::new(read_surface(table)?)),
        _ => {
            let (shape, size) = read_plain(table, kind)?;
            for &found in shape.sizes(&size) {
                table.demand(kind, found > 0.0, "must be positive", found, "m")?;
            }
            VisualForm::Solid(shape, size)
        }
    };
    Ok(Visual {
        form,
        position: table.numbers("position")?.unwrap_or([0.0; 3]),
        orientation: table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]),
        color: read_color(table)?,
    })
}

/// Corners, and three of them a triangle, counted from 0.
fn read_surface(table: &Table) -> Result<Triangulation, Error> {
    let rows = |field: &str| {
        let rows = table.required(field, table.rows(field)?)?;
        let three = |row: &Vec<f64>| <[f64; 3]>::try_from(row.as_slice()).ok();
        let rows: Option<Vec<[f64; 3]>> = rows.iter().map(three).collect();
        rows.ok_or_else(|| table.error(field, "must be lists of 3 numbers"))
    };
    let vertices: Vec<Vector3<f64>> = rows("vertices")?.into_iter().map(Vector3::from).collect();
    let corner = |x: f64| {
        let known = x >= 0.0 && x.fract() == 0.0 && x < vertices.len() as f64;
        table.demand("triangles", known, "must be numbers of vertices, from 0", x, "")?;
        Ok(x as usize)
    };
    let mut triangles = Vec::new();
    for [a, b, c] in rows("triangles")? {
        triangles.push([corner(a)?, corner(b)?, corner(c)?]);
    }
    Ok(Triangulation { vertices, triangles })
}

/// `color = "#rrggbb"`, `"#rrggbbaa"`, or 3 or 4 numbers from 0 to 1.
pub(super) fn read_color(table: &Table) -> Result<Option<Color>, Error> {
    const MEANT: &str = "must be \"#rrggbb\", \"#rrggbbaa\", or 3 or 4 numbers from 0 to 1";
    if !table.has("color") {
        return Ok(None);
    }
    let wrong = || table.error("color", MEANT);
    if let Ok(Some(text)) = table.string("color") {
        let digits = text.strip_prefix('#').filter(|digits| digits.is_ascii()).ok_or_else(wrong)?;
        let part = |k: usize| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).ok();
        let parts: Option<Vec<u8>> = match digits.len() {
            6 | 8 => (0..digits.len() / 2).map(part).collect(),
            _ => None,
        };
        let parts = parts.ok_or_else(wrong)?;
        let parts: Vec<f64> = parts.into_iter().map(|part| f64::from(part) / 255.0).collect();
        return Ok(color(&parts));
    }
    let parts = table.list("color").map_err(|_| wrong())?.unwrap_or_default();
    let inside = parts.iter().all(|part| (0.0..=1.0).contains(part));
    color(&parts).filter(|_| inside).map(Some).ok_or_else(wrong)
}

fn color(parts: &[f64]) -> Option<Color> {
    match *parts {
        [red, green, blue] => Some([red, green, blue, 1.0]),
        [red, green, blue, opacity] => Some([red, green, blue, opacity]),
        _ => None,
    }
}

/// Writes a colour, if there is one.
pub(super) fn write_color(text: &mut String, color: Option<Color>) {
    let Some(color) = color else { return };
    let bytes = color.map(|part| (255.0 * part).round());
    // As it was read, where that was a text.
    if bytes.iter().zip(color).all(|(byte, part)| byte / 255.0 == part) {
        let count = if color[3] == 1.0 { 3 } else { 4 };
        let digits = bytes[..count].iter().map(|&byte| format!("{:02x}", byte as u8));
        return field(text, "color", &string(&format!("#{}", digits.collect::<String>())));
    }
    field(text, "color", &list(if color[3] == 1.0 { &color[..3] } else { &color }));
}

/// Writes looks under `head`; meshes are named relative to `directory`, where a file may not be read from there a comment
/// says so.
pub(super) fn write(text: &mut String, head: &str, visual: &Visual, directory: &Path) {
    let Visual { form, position, orientation, color } = visual;
    let file = match form {
        VisualForm::File { path, .. } => match relative(&path.to_string_lossy(), directory) {
            Some(file) => Some(file),
            None => {
                let path: String = path.to_string_lossy().replace(char::is_control, " ");
                let why = "not kept, as it lies outside of what a scene here may read";
                text.push_str(&format!("# A look is {why}: {path}\n"));
                return;
            }
        },
        _ => None,
    };
    text.push_str(head);
    match form {
        VisualForm::File { scale, .. } => {
            field(text, "mesh", &string(&file.unwrap_or_default()));
            if *scale != [1.0; 3] {
                field(text, "scale", &list(scale));
            }
        }
        VisualForm::Solid(shape, size) => match shape.sizes(size) {
            [size] => field(text, shape.name(), &number(*size)),
            sizes => field(text, shape.name(), &list(sizes)),
        },
        VisualForm::Surface(surface) => {
            let rows = |rows: &mut dyn Iterator<Item = [f64; 3]>| {
                let rows: Vec<String> = rows.map(|row| list(&row)).collect();
                format!("[{}]", rows.join(", "))
            };
            let vertices = rows(&mut surface.vertices.iter().map(|&v| v.into()));
            field(text, "vertices", &vertices);
            let triangles = rows(&mut surface.triangles.iter().map(|t| t.map(|k| k as f64)));
            field(text, "triangles", &triangles);
        }
    }
    write_pose(text, position, *orientation);
    write_color(text, *color);
}
