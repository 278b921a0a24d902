//! Soft bodies against values by other programs (`reference/add` of the shared folder), closed forms and differences.

mod numbers;
mod tetrahedra;
