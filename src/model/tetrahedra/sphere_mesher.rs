//! Spheres in tetrahedra: a cube whose shells are mapped to spheres.

use std::f64::consts::FRAC_PI_4;

use super::box_mesher::{SIX, cells_along, grid, no_size};
use super::tetrahedral_mesh::TetrahedralMesh;
use crate::Error;

impl TetrahedralMesh {
    /// A sphere of `radius` (m) about the origin, with edges of about `resolution` (m) between the centre and the surface.
    ///
    /// # Errors
    /// If radius or resolution are not positive, or there are more than four million cells.
    pub fn sphere(radius: f64, resolution: f64) -> Result<TetrahedralMesh, Error> {
        let half = cells_along(radius, resolution).filter(|&half| half <= 80);
        let half = half.ok_or_else(|| no_size("sphere", resolution))?;
        let cells = 2 * half;
        let place = |node: [usize; 3]| {
            let u = node.map(|n| (n as f64 - half as f64) / half as f64);
            let shell = u.iter().fold(0.0, |most: f64, u| most.max(u.abs()));
            if shell == 0.0 {
                return [0.0; 3];
            }
            // Equal angles along the faces, so that edges on a sphere differ less.
            let ray = u.map(|u| (FRAC_PI_4 * u / shell).tan());
            let length = ray.iter().map(|x| x * x).sum::<f64>().sqrt();
            ray.map(|x| radius * shell * x / length)
        };
        // Each cell is cut about its diagonal towards the centre, so that no element has all nodes on the surface, where
        // edges of the cube become flat.
        Ok(grid([cells; 3], place, |cell| {
            let flips = [0, 1, 2].map(|axis| usize::from(cell[axis] < half) << axis);
            let flip = flips.iter().sum::<usize>();
            let turned = flips.iter().filter(|&&flip| flip > 0).count() % 2 == 1;
            let own = |[a, b, c, d]: [usize; 4]| {
                let [a, b, c, d] = [a, b, c, d].map(|corner| corner ^ flip);
                if turned { [a, b, d, c] } else { [a, b, c, d] }
            };
            SIX.map(own).to_vec()
        }))
    }
}
