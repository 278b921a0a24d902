//! Meshes of linear tetrahedra, which soft bodies are made of: from files and from shapes, checked.
//!
//! | file | formats |
//! |---|---|
//! | `.msh` | Gmsh's MSH 2.2 and 4.1, of text or binary |
//! | `.vtk` | VTK legacy, of text or binary |
//! | `.vtu` | VTK XML, of text or base64, compressed by zlib or not |
//! | `.mesh` | MEDIT, of text |
//!
//! Crates that read some of these exist (mshio: 4.1 only; vtkio: with three compressors), none of MEDIT and MSH 2.2: a reader
//! is short beside what they take to compile, and errors have to name line and number.

mod box_mesher;
mod gmsh2;
mod gmsh4;
mod medit;
mod mesh_cursor;
mod mesh_file;
mod raw_mesh;
mod soundness;
mod sphere_mesher;
mod tetrahedral_mesh;
mod vtk_legacy;
mod vtu;

pub use box_mesher::CellSplit;
pub use tetrahedral_mesh::TetrahedralMesh;
