//! Looks: the fields of a `[[visual]]` and of a `[[body.visual]]`, read and written.

use std::path::Path;
use std::sync::Arc;

use nalgebra::Vector3;

use super::color::{read_color, write_color};
use super::shape::{read_plain, relative, write_pose};
use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::assemble::Description;
use crate::formats::reach;
use crate::model::{Shape, Triangulation, Visual, VisualForm};
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
    if vertices.is_empty() {
        return Err(table.error("vertices", "must be three or more"));
    }
    let mut triangles = Vec::new();
    for [a, b, c] in rows("triangles")? {
        triangles.push([corner(a)?, corner(b)?, corner(c)?]);
    }
    Ok(Triangulation { vertices, triangles })
}

/// The name of the file of a look in a scene in `directory`; nothing where it is not there or may not be read from there.
fn kept(visual: &Visual, directory: &Path) -> Option<String> {
    let VisualForm::File { path, .. } = &visual.form else { return None };
    path.is_file().then(|| relative(&path.to_string_lossy(), directory)).flatten()
}

impl Description {
    /// The files of looks that a scene file in `directory` does not name, as it may not read them from there.
    pub fn looks_out_of_reach(&self, directory: impl AsRef<Path>) -> Vec<&Path> {
        let all = self.bodies.iter().flat_map(|body| &body.visuals).chain(&self.visuals);
        let lost = all.filter_map(|visual| match &visual.form {
            VisualForm::File { path, .. } if path.is_file() => {
                kept(visual, directory.as_ref()).is_none().then_some(path.as_path())
            }
            _ => None,
        });
        lost.collect()
    }
}

/// Writes looks under `head`; meshes are named relative to `directory`, where a file may not be read from there a comment
/// says so.
pub(super) fn write(text: &mut String, head: &str, visual: &Visual, directory: &Path) {
    let Visual { form, position, orientation, color } = visual;
    let file = match (form, kept(visual, directory)) {
        (VisualForm::File { path, .. }, None) => {
            let path: String = path.to_string_lossy().replace(char::is_control, " ");
            let why = "not kept, as it is not there, or lies outside of what a scene here may read";
            text.push_str(&format!("# A look is {why}: {path}\n"));
            return;
        }
        (_, file) => file,
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
