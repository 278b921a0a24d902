//! What is seen of bodies beside the shapes that touch.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Shape, Triangulation};

/// Red, green, blue and opacity, each from 0 to 1, as screens have them (sRGB).
pub type Color = [f64; 4];

/// What is seen of a body, or of the world. It touches nothing and weighs nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// Its form.
    pub form: VisualForm,
    /// Where it is in the body, m.
    pub position: [f64; 3],
    /// Unit quaternion w, x, y, z of the form in the body.
    pub orientation: [f64; 4],
    /// Its colour; nothing where the file of a mesh, or whoever draws it, decides.
    pub color: Option<Color>,
}

/// The form of what is seen.
#[derive(Clone, Debug, PartialEq)]
pub enum VisualForm {
    /// A shape with its sizes, see [`Shape`], m.
    Solid(Shape, [f64; 3]),
    /// The mesh in a file, which is read by whoever draws it.
    File {
        /// The file.
        path: PathBuf,
        /// Lengths of the mesh are multiplied by these along x, y and z; negative ones mirror it.
        scale: [f64; 3],
    },
    /// Triangles.
    Surface(Arc<Triangulation>),
}

/// A mesh that is seen and touches nothing.
#[derive(Clone, Debug)]
pub struct SeenMesh {
    /// Its body; nothing is the world.
    pub body: Option<usize>,
    /// The mesh.
    pub surface: Arc<Triangulation>,
    /// Where it is in the body, m.
    pub position: [f64; 3],
    /// Quaternion w, x, y, z of the mesh in the body.
    pub orientation: [f64; 4],
    /// Its colour, if it has one.
    pub colour: Option<Color>,
}
