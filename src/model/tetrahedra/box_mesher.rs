//! Boxes in tetrahedra: a grid of cells, each cut into five or six.

use super::tetrahedral_mesh::TetrahedralMesh;
use crate::Error;

/// Into what a cell of a grid is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellSplit {
    /// Five tetrahedra, those of neighbours mirrored: no direction is preferred.
    Five,
    /// Six tetrahedra of the same volume about a diagonal (`Kuhn60`), the same of each cell.
    #[default]
    Six,
}

/// The six about the diagonal of corners 0 and 7, where bit k of a corner is its place along axis k.
pub(super) const SIX: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];
/// The five of which the largest has corners 0, 3, 5, 6.
const FIVE: [[usize; 4]; 5] =
    [[0, 3, 6, 5], [1, 3, 0, 5], [2, 0, 3, 6], [4, 0, 6, 5], [7, 3, 5, 6]];

/// The most cells of a mesh.
const MOST_CELLS: usize = 1 << 22;

impl TetrahedralMesh {
    /// A box of `size` (m) about the origin, in cells no longer than `resolution` (m).
    ///
    /// # Errors
    /// If sizes are not positive, or there are more than four million cells.
    pub fn box_of(
        size: [f64; 3],
        resolution: f64,
        split: CellSplit,
    ) -> Result<TetrahedralMesh, Error> {
        let cells = [0, 1, 2].map(|k| cells_along(size[k], resolution));
        let [Some(i), Some(j), Some(k)] = cells else { return Err(no_size("box", resolution)) };
        TetrahedralMesh::box_grid(size, [i, j, k], split)
    }

    /// A box of `size` (m) about the origin in as many cells along each axis.
    ///
    /// # Errors
    /// If sizes are not positive, or there are more than four million cells, or none.
    pub fn box_grid(
        size: [f64; 3],
        cells: [usize; 3],
        split: CellSplit,
    ) -> Result<TetrahedralMesh, Error> {
        let all = cells.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        if !all.is_some_and(|all| (1..=MOST_CELLS).contains(&all)) {
            return Err(bad(format!("must be 1 to {MOST_CELLS} cells, found {cells:?}")));
        }
        if size.iter().any(|&size| !(size > 0.0 && size.is_finite())) {
            return Err(bad(format!("sizes must be positive, found {size:?} (m)")));
        }
        let place = |node: [usize; 3]| {
            [0, 1, 2].map(|k| size[k] * (node[k] as f64 / cells[k] as f64 - 0.5))
        };
        Ok(grid(cells, place, |[i, j, k]| match split {
            CellSplit::Six => SIX.to_vec(),
            // A mirrored cell is turned inside out, which exchanging two nodes mends.
            CellSplit::Five if (i + j + k) % 2 == 1 => FIVE
                .map(|five| five.map(|corner| corner ^ 1))
                .map(|[a, b, c, d]| [a, b, d, c])
                .to_vec(),
            CellSplit::Five => FIVE.to_vec(),
        }))
    }
}

/// How many cells no longer than `resolution` are along `size`, if both are possible.
pub(super) fn cells_along(size: f64, resolution: f64) -> Option<usize> {
    let cells = (size / resolution - 1e-9).ceil().max(1.0);
    let possible = size > 0.0 && resolution > 0.0 && cells <= MOST_CELLS as f64;
    possible.then_some(cells as usize)
}

pub(super) fn bad(message: String) -> Error {
    Error::input("shape", None, "", message)
}

pub(super) fn no_size(what: &str, resolution: f64) -> Error {
    bad(format!(
        "size and resolution of a {what} must be positive, with no more than {MOST_CELLS} cells; found a resolution of {resolution} (m)"
    ))
}

/// The nodes of a grid where `place` puts them, and of each cell the tetrahedra of the corners that `cut` names.
pub(super) fn grid(
    cells: [usize; 3],
    place: impl Fn([usize; 3]) -> [f64; 3],
    cut: impl Fn([usize; 3]) -> Vec<[usize; 4]>,
) -> TetrahedralMesh {
    let [along_x, along_y, along_z] = cells.map(|n| n + 1);
    let index = |[i, j, k]: [usize; 3]| (i * along_y + j) * along_z + k;
    let all = |[l, m, n]: [usize; 3]| {
        (0..l).flat_map(move |i| (0..m).flat_map(move |j| (0..n).map(move |k| [i, j, k])))
    };
    let nodes = all([along_x, along_y, along_z]).map(place).collect();
    let mut tetrahedra = Vec::new();
    for cell in all(cells) {
        let corner = |c: usize| index([0, 1, 2].map(|axis| cell[axis] + (c >> axis & 1)));
        tetrahedra.extend(cut(cell).into_iter().map(|four| four.map(corner)));
    }
    TetrahedralMesh { nodes, tetrahedra, warnings: Vec::new() }
}
