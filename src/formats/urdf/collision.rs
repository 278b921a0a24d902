//! `collision` elements: shapes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::origin::origin;
use super::package;
use crate::Error;
use crate::assemble::{ColliderDescription, Filter, OnGround};
use crate::formats::mesh::{Mesh, scaled};
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Remarks};
use crate::model::{Polyhedron, Shape};

/// Reads shapes, and each mesh once.
pub(super) struct Shapes {
    directory: PathBuf,
    max_hull_vertices: usize,
    /// Hulls of files, or why there is none.
    hulls: HashMap<PathBuf, Result<Arc<Polyhedron>, String>>,
}

/// A shape, without its place.
struct Form {
    shape: Shape,
    size: [f64; 3],
    mesh: Option<String>,
}

impl Shapes {
    /// Files are looked for from a directory on.
    pub fn new(directory: &Path, max_hull_vertices: usize) -> Shapes {
        Shapes { directory: directory.to_path_buf(), max_hull_vertices, hulls: HashMap::new() }
    }

    /// Where files are looked for from.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads a shape; nothing, and a remark, if it has none that is followed.
    pub fn read(
        &mut self,
        element: &Element,
        remarks: &mut Remarks,
    ) -> Result<Option<ColliderDescription>, Error> {
        let Some(geometry) = element.child("geometry") else {
            return Err(element.error("geometry", "is missing"));
        };
        let Some(form) = geometry.children.first() else {
            return Err(geometry.error("", "is empty"));
        };
        let size = |name: &str| match form.number(name)? {
            Some(size) if size > 0.0 => Ok(size),
            _ => Err(form.error(name, "must be a positive number (m)")),
        };
        let plain = |shape, size| Form { shape, size, mesh: None };
        let Form { shape, size, mesh } = match form.tag.as_str() {
            "box" => {
                let size: Option<[f64; 3]> = form.numbers("size")?;
                let Some(size) = size.filter(|size| size.iter().all(|&x| x > 0.0)) else {
                    return Err(form.error("size", "must be three positive numbers (m)"));
                };
                plain(Shape::Box, size.map(|x| x / 2.0))
            }
            "sphere" => plain(Shape::Sphere, [size("radius")?, 0.0, 0.0]),
            "cylinder" => plain(Shape::Cylinder, [size("radius")?, size("length")? / 2.0, 0.0]),
            "capsule" => plain(Shape::Capsule, [size("radius")?, size("length")? / 2.0, 0.0]),
            "mesh" => match self.mesh(form, remarks)? {
                Some(form) => form,
                None => return Ok(None),
            },
            _ => {
                remarks.add(form, "", "is not a shape here: it touches nothing");
                return Ok(None);
            }
        };
        let pose = origin(element)?;
        let is_hull = matches!(shape, Shape::Convex(_));
        Ok(Some(ColliderDescription {
            line: Some(element.line),
            name: String::new(),
            shape,
            size,
            radius: None,
            margin: 0.0,
            position: pose.translation.vector.into(),
            orientation: wxyz(&pose.rotation),
            material: None,
            on_ground: OnGround::default(),
            made_of: None,
            filter: Filter::default(),
            mesh,
            visual: None,
            color: None,
            drawn: false,
            max_hull_vertices: is_hull.then_some(self.max_hull_vertices),
            states_hull_limit: false,
        }))
    }

    fn mesh(&mut self, element: &Element, remarks: &mut Remarks) -> Result<Option<Form>, Error> {
        let file = element.required("filename")?;
        let scale = element.numbers("scale")?.unwrap_or([1.0; 3]);
        if scale.contains(&0.0) {
            return Err(element.error("scale", "must not be 0"));
        }
        let found = package::find(file, &self.directory);
        let Some(path) = found.map_err(|message| element.error("filename", message))? else {
            let message = format!("there is no file {file}: the shape touches nothing");
            remarks.add(element, "filename", message);
            return Ok(None);
        };
        let hull = self.hulls.entry(path.clone()).or_insert_with(|| {
            let mesh = Mesh::load(&path).map_err(|error| error.to_string())?;
            mesh.hull().map(Arc::new).map_err(|error| format!("{}: {error}", path.display()))
        });
        let made = hull.clone().and_then(|hull| {
            scaled(hull, scale).map_err(|error| format!("{}: {error}", path.display()))
        });
        match made {
            Ok((hull, scale, mirrored)) => {
                let mesh = Some(path.display().to_string()).filter(|_| !mirrored);
                Ok(Some(Form { shape: Shape::Convex(hull), size: scale, mesh }))
            }
            Err(error) => {
                remarks.add(element, "filename", format!("{error}: the shape touches nothing"));
                Ok(None)
            }
        }
    }
}
