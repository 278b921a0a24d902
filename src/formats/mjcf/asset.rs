//! `asset` elements: meshes and height fields, read when a geom asks for them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};

use super::compiler::Compiler;
use super::defaults::{Defaults, Given};
use super::orientation::unit;
use crate::Error;
use crate::formats::mass_properties::{self, MassProperties, Volume};
use crate::formats::mesh::{Mesh, check_limit};
use crate::formats::xml::{Element, Remarks};
use crate::model::{Color, Polyhedron, VisualForm};

/// What geoms refer to, by name.
#[derive(Debug, Default)]
pub(super) struct Assets<'a> {
    /// Of meshes that do not say it.
    max_hull_vertices: usize,
    meshes: HashMap<String, MeshAsset<'a>>,
    pub height_fields: HashMap<String, &'a Element>,
    materials: HashMap<String, Given<'a>>,
    /// Those that are made of two colours.
    textures: HashMap<String, &'a Element>,
}

/// How the mass of a mesh is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inertia {
    Convex,
    Faces(Volume),
}

#[derive(Debug)]
struct MeshAsset<'a> {
    given: Given<'a>,
    /// The mesh, once it is asked for.
    mesh: Option<Mesh>,
    hull: Option<Arc<Polyhedron>>,
}

/// A mesh as a geom has it.
pub(super) struct Placed {
    /// Its file, if its points are those of the file.
    pub path: Option<PathBuf>,
    pub scale: [f64; 3],
}

const FOLLOWED: [&str; 12] = [
    "class",
    "content_type",
    "face",
    "file",
    "inertia",
    "maxhullvert",
    "name",
    "refpos",
    "refquat",
    "scale",
    "vertex",
    "builtin",
];

const INERT: [&str; 5] = ["material", "normal", "params", "smoothnormal", "texcoord"];

impl<'a> Assets<'a> {
    /// Finds all assets; files are not read yet.
    pub fn read(
        root: &'a Element,
        compiler: &Compiler,
        defaults: &Defaults<'a>,
        max_hull_vertices: usize,
        remarks: &mut Remarks,
    ) -> Result<Assets<'a>, Error> {
        let mut assets = Assets { max_hull_vertices, ..Assets::default() };
        for element in root.all("asset").flat_map(|section| &section.children) {
            // Without a name, an asset has that of its file.
            let name = || {
                let file = compiler.mesh_path(element.get("file")?);
                Some(file.file_stem()?.to_string_lossy().into_owned())
            };
            let name = element.get("name").map(str::to_string).or_else(name).unwrap_or_default();
            let twice = match element.tag.as_str() {
                "mesh" => {
                    element.remark_on_others(&FOLLOWED, &INERT, &[], remarks);
                    let given = defaults.given(element, None)?;
                    let asset = MeshAsset { given, mesh: None, hull: None };
                    assets.meshes.insert(name, asset).is_some()
                }
                "hfield" => assets.height_fields.insert(name, element).is_some(),
                // One that is given twice is nothing that moves.
                "material" => {
                    assets.materials.insert(name, defaults.given(element, None)?);
                    false
                }
                "texture" => {
                    if element.get("builtin").is_some_and(|builtin| builtin.trim() != "none") {
                        assets.textures.insert(name, element);
                    }
                    false
                }
                "skin" => false,
                _ => {
                    remarks.add(element, "", "is not followed, and left out");
                    false
                }
            };
            if twice {
                return Err(element.error("name", "is given twice"));
            }
        }
        Ok(assets)
    }

    /// The file and scale of a mesh.
    pub fn place(&self, geom: &Element, name: &str, compiler: &Compiler) -> Result<Placed, Error> {
        let given = &self.asset(geom, name)?.given;
        let scale = given.at("scale").numbers("scale")?.unwrap_or([1.0; 3]);
        if scale.contains(&0.0) {
            return Err(given.at("scale").error("scale", "must not be 0"));
        }
        let own = given.own();
        let moved = own.get("refpos").or(own.get("refquat")).is_some();
        let path = own.get("file").filter(|_| !moved).map(|file| compiler.mesh_path(file));
        Ok(Placed { path, scale })
    }

    /// The colour of a material: its own, times the mean of the two of a texture that is made here; pictures are not looked at.
    pub fn color(&self, name: &str) -> Result<Option<Color>, Error> {
        let Some(given) = self.materials.get(name) else { return Ok(None) };
        let own: Option<Color> = given.at("rgba").numbers("rgba")?;
        let texture = given.get("texture").and_then(|name| self.textures.get(name));
        let Some(texture) = texture else { return Ok(own) };
        let part = |name, usual| Ok::<_, Error>(texture.numbers(name)?.unwrap_or([usual; 3]));
        let (first, second): ([f64; 3], [f64; 3]) = (part("rgb1", 0.8)?, part("rgb2", 0.5)?);
        let mut color = own.unwrap_or([1.0; 4]);
        for k in 0..3 {
            color[k] *= 0.5 * (first[k] + second[k]);
        }
        Ok(Some(color))
    }

    /// What a mesh looks like; its file is not read where all that happens to its points is that they are scaled.
    pub fn look(
        &mut self,
        geom: &Element,
        name: &str,
        compiler: &Compiler,
        placed: Placed,
    ) -> Result<VisualForm, Error> {
        let Placed { path, scale } = placed;
        if let Some(path) = path {
            let own = self.asset(geom, name)?.given.own();
            compiler.check_reach(&path).map_err(|message| own.error("file", message))?;
            return Ok(VisualForm::File { path, scale });
        }
        let mesh = match self.load(geom, name, compiler)? {
            mesh if mesh.triangles.is_empty() => &Mesh::from(&*self.hull(geom, name, compiler)?),
            mesh => mesh,
        };
        let surface = mesh.surface(scale);
        Ok(VisualForm::Surface(Arc::new(surface)))
    }

    fn asset(&self, geom: &Element, name: &str) -> Result<&MeshAsset<'a>, Error> {
        let found: String = name.chars().take(40).collect();
        let message = || geom.error("mesh", format!("there is no mesh {found:?}"));
        self.meshes.get(name).ok_or_else(message)
    }

    /// How many vertices of the hull of a mesh collide at most, 0 for all, and whether the file says so.
    pub fn max_hull_vertices(&self, geom: &Element, name: &str) -> Result<(usize, bool), Error> {
        let given = self.asset(geom, name)?.given.at("maxhullvert");
        match given.number("maxhullvert")? {
            None => Ok((self.max_hull_vertices, false)),
            Some(-1.0) => Ok((0, true)),
            Some(most)
                if most >= 1.0 && most.fract() == 0.0 && check_limit(most as usize).is_ok() =>
            {
                Ok((most as usize, true))
            }
            Some(_) => Err(given.error(
                "maxhullvert",
                "must be -1, for all, or a whole number from 4 to 4294967295",
            )),
        }
    }

    /// The hull of a mesh, before it is scaled.
    pub fn hull(
        &mut self,
        geom: &Element,
        name: &str,
        compiler: &Compiler,
    ) -> Result<Arc<Polyhedron>, Error> {
        self.load(geom, name, compiler)?;
        let Some(MeshAsset { given, mesh: Some(mesh), hull }) = self.meshes.get_mut(name) else {
            return Err(geom.error("mesh", "is not loaded"));
        };
        if let Some(hull) = hull {
            return Ok(hull.clone());
        }
        let made =
            mesh.hull().map_err(|error| given.own().error("", format!("has no hull: {error}")))?;
        Ok(hull.insert(Arc::new(made)).clone())
    }

    /// The points of a mesh, before they are scaled.
    pub fn points(
        &mut self,
        geom: &Element,
        name: &str,
        compiler: &Compiler,
    ) -> Result<&[[f64; 3]], Error> {
        Ok(&self.load(geom, name, compiler)?.points)
    }

    /// Mass of a mesh of unit density, in the frame of the geom.
    pub fn mass(
        &mut self,
        geom: &Element,
        name: &str,
        compiler: &Compiler,
    ) -> Result<MassProperties, Error> {
        let placed = self.place(geom, name, compiler)?;
        let given = self.asset(geom, name)?.given.clone();
        let words = [
            ("convex", Inertia::Convex),
            ("exact", Inertia::Faces(Volume::Signed)),
            ("legacy", Inertia::Faces(Volume::Absolute)),
            ("shell", Inertia::Faces(Volume::Shell)),
        ];
        let inertia = given.at("inertia").word("inertia", &words)?;
        let inertia = inertia.unwrap_or(Inertia::Faces(Volume::Absolute));
        let mesh = self.load(geom, name, compiler)?;
        let scaled = |point: &[f64; 3]| {
            let [x, y, z] = placed.scale;
            [x * point[0], y * point[1], z * point[2]]
        };
        // A mirrored mesh shows its faces from inside.
        let mirrored = placed.scale.iter().product::<f64>() < 0.0;
        let (points, triangles, volume) = match inertia {
            Inertia::Faces(volume) if !mesh.triangles.is_empty() => {
                (mesh.points.clone(), mesh.triangles.clone(), volume)
            }
            _ => {
                let hull = self.hull(geom, name, compiler)?;
                let Mesh { points, triangles, .. } = Mesh::from(&*hull);
                (points, triangles, Volume::Absolute)
            }
        };
        let points: Vec<[f64; 3]> = points.iter().map(scaled).collect();
        let density = if mirrored && volume == Volume::Signed { -1.0 } else { 1.0 };
        let mass = mass_properties::mesh(density, &points, &triangles, volume);
        if mass.mass <= 0.0 {
            let message = "has no volume: it is flat, or its faces look inwards";
            return Err(given.own().error("", message));
        }
        Ok(mass)
    }

    fn load(&mut self, geom: &Element, name: &str, compiler: &Compiler) -> Result<&Mesh, Error> {
        self.asset(geom, name)?;
        let Some(asset) = self.meshes.get_mut(name) else {
            return Err(geom.error("mesh", "is not loaded"));
        };
        let MeshAsset { given, mesh, .. } = asset;
        if mesh.is_none() {
            let mut read = read(given.own(), compiler)?;
            move_to_reference(given.own(), &mut read)?;
            *mesh = Some(read);
        }
        mesh.as_ref().ok_or_else(|| geom.error("mesh", "is not loaded"))
    }
}

/// The points in the reference frame that the element gives: x = R' (point - position), scaled later.
fn move_to_reference(element: &Element, mesh: &mut Mesh) -> Result<(), Error> {
    let position: Vector3<f64> = element.numbers("refpos")?.unwrap_or([0.0; 3]).into();
    let rotation = match element.numbers("refquat")? {
        None => UnitQuaternion::identity(),
        Some(quaternion) => {
            unit(quaternion).ok_or_else(|| element.error("refquat", "must not be zero"))?
        }
    };
    if position == Vector3::zeros() && rotation == UnitQuaternion::identity() {
        return Ok(());
    }
    for point in &mut mesh.points {
        *point = rotation.inverse_transform_vector(&(Vector3::from(*point) - position)).into();
    }
    Ok(())
}

/// Reads the file, or the points in the element.
fn read(element: &Element, compiler: &Compiler) -> Result<Mesh, Error> {
    if element.get("builtin").is_some() {
        let message = "is not made here; write the mesh to a file, or give its points by vertex";
        return Err(element.error("builtin", message));
    }
    if let Some(file) = element.get("file") {
        let path = compiler.mesh_path(file);
        compiler.check_reach(&path).map_err(|message| element.error("file", message))?;
        return Mesh::load(&path).map_err(|error| element.error("file", error.to_string()));
    }
    let Some(numbers) = element.list("vertex")? else {
        return Err(element.error("file", "is missing, and so are points by vertex"));
    };
    let points = numbers.chunks_exact(3).map(|point| [point[0], point[1], point[2]]);
    let points: Vec<[f64; 3]> = points.collect();
    if points.len() * 3 != numbers.len() || points.len() < 4 {
        let message = "must be four points or more, three numbers each";
        return Err(element.error("vertex", message));
    }
    let corners = element.list("face")?.unwrap_or_default();
    let mut triangles = Vec::new();
    for corner in corners.chunks(3) {
        let inside = |&x: &f64| x >= 0.0 && x.fract() == 0.0 && x < points.len() as f64;
        match corner {
            [a, b, c] if corner.iter().all(inside) => {
                triangles.push([*a as usize, *b as usize, *c as usize]);
            }
            _ => {
                let message = "must be three numbers of points each, counted from 0";
                return Err(element.error("face", message));
            }
        }
    }
    Ok(Mesh { points, triangles, ..Mesh::default() })
}
