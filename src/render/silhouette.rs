//! The mask of some bodies as a node.

use std::fmt::Debug;
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::coverage::{Moving, Piece, Scan, cover};
use super::outline::{OutlineEdge, outline};
use super::pinhole::{PINHOLE, Pinhole};
use super::solids::{Placed, Solids};
use crate::ad::{Node, Real};
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters};

/// Numbers of a solid: rotation and position of its body, its sizes, its position in the body.
const SOLID: usize = 18;

/// What a camera sees of some bodies: the share of each pixel that they cover, row by row from above.
///
/// Inputs: of each solid the rotation of its body (row by row) and its position, three sizes, the position of the shape in the
/// body; then of the camera its eye, three axes, focal lengths and centre ([`SilhouetteInputs`]).
#[derive(Clone, Debug)]
pub struct Silhouette {
    /// The bodies.
    pub solids: Arc<Solids>,
    /// Width and height, px.
    pub size: [usize; 2],
}

/// The inputs of a [`Silhouette`].
pub struct SilhouetteInputs<T> {
    pub(super) placed: Vec<Placed<T>>,
    pub(super) pinhole: Pinhole<T>,
}

impl<T: Real> SilhouetteInputs<T> {
    /// Of a scene where its bodies are.
    pub fn new(
        solids: &Solids,
        (model, parameters): (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
        camera: usize,
    ) -> Self {
        SilhouetteInputs {
            placed: solids.place(model, parameters, kinematics),
            pinhole: Pinhole::of(model, parameters, kinematics, camera),
        }
    }

    /// In the order in which the node takes them.
    pub fn flat(&self) -> Vec<T> {
        let mut flat = Vec::with_capacity(SOLID * self.placed.len() + PINHOLE);
        for placed in &self.placed {
            flat.extend(placed.rotation.transpose().iter());
            flat.extend(placed.position.iter().chain(&placed.size).chain(&placed.offset));
        }
        flat.extend(self.pinhole.flat());
        flat
    }

    fn read(flat: &[T]) -> Self {
        let (solids, pinhole) = flat.split_at(flat.len() - PINHOLE);
        let vector = |x: &[T]| Vector3::new(x[0], x[1], x[2]);
        let placed = solids.chunks_exact(SOLID).map(|x| Placed {
            rotation: Matrix3::from_row_slice(&x[..9]),
            position: vector(&x[9..]),
            size: vector(&x[12..]),
            offset: vector(&x[15..]),
        });
        SilhouetteInputs { placed: placed.collect(), pinhole: Pinhole::from_flat(pinhole) }
    }

    /// The corners of solids in homogeneous coordinates of the image, and in the world.
    pub(super) fn corners(&self, solids: &Solids) -> [Vec<Vector3<T>>; 2] {
        let mut world = Vec::new();
        solids.corners(&self.placed, &mut world);
        [world.iter().map(|corner| self.pinhole.homogeneous(corner)).collect(), world]
    }
}

/// Which pieces of which edges border what is covered.
#[derive(Clone, Default)]
pub struct Borders {
    pub(super) edges: Vec<OutlineEdge>,
    pub(super) pieces: Vec<Piece>,
}

impl Debug for Borders {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} pieces of {} edges", self.pieces.len(), self.edges.len())
    }
}

/// Scratch memory.
#[derive(Clone, Default)]
pub struct SilhouetteScratch {
    scan: Scan,
    values: Vec<Vector3<f64>>,
}

impl Silhouette {
    /// How many inputs there are.
    pub fn inputs(&self) -> usize {
        SOLID * self.solids.solids.len() + PINHOLE
    }

    /// Finds the borders of what is covered.
    pub(super) fn decide<T: Real>(
        &self,
        corners: &[Vector3<T>],
        borders: &mut Borders,
        scratch: &mut SilhouetteScratch,
    ) {
        scratch.values.clear();
        scratch.values.extend(corners.iter().map(|h| h.map(|x| x.value())));
        outline(&self.solids, &scratch.values, &mut borders.edges);
        scratch.scan.pieces(&borders.edges, self.size, &mut borders.pieces);
    }
}

/// Where all corners are, for the derivative.
#[derive(Default)]
pub struct SilhouetteCorners<T> {
    image: Vec<Vector3<T>>,
    world: Vec<Vector3<T>>,
}

impl Node for Silhouette {
    type Solution = Borders;
    type Workspace<T: Real> = SilhouetteScratch;
    type Factor<T: Real> = SilhouetteCorners<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut Borders,
        workspace: &mut SilhouetteScratch,
    ) {
        let [corners, _] = SilhouetteInputs::read(inputs).corners(&self.solids);
        self.decide(&corners, solution, workspace);
        cover(&solution.pieces, &solution.edges, &corners, self.size, outputs);
    }

    fn residual<T: Real>(
        &self,
        solution: &Borders,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let [corners, _] = SilhouetteInputs::read(inputs).corners(&self.solids);
        cover(&solution.pieces, &solution.edges, &corners, self.size, residual);
        residual.iter_mut().zip(outputs).for_each(|(r, &output)| *r = output - *r);
    }

    fn factor<T: Real>(
        &self,
        _: &Borders,
        inputs: &[T],
        _: &[T],
        factor: &mut SilhouetteCorners<T>,
    ) {
        [factor.image, factor.world] = SilhouetteInputs::read(inputs).corners(&self.solids);
    }

    fn jvp<T: Real>(
        &self,
        solution: &Borders,
        factor: &mut SilhouetteCorners<T>,
        inputs: &[T],
        _: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let (at, change) = (SilhouetteInputs::read(inputs), SilhouetteInputs::read(input_tangents));
        let mut moved = Vec::with_capacity(factor.world.len());
        for ((solid, at_solid), d) in self.solids.solids.iter().zip(&at.placed).zip(&change.placed)
        {
            for corner in &solid.corners {
                let local = solid.local(corner, &at_solid.size) + at_solid.offset;
                let local_change = solid.local(corner, &d.size) + d.offset;
                let dp = d.position + d.rotation * local + at_solid.rotation * local_change;
                let point = &factor.world[moved.len()];
                moved.push(at.pinhole.push_forward(point, &dp, &change.pinhole));
            }
        }
        output_tangents.fill(T::zero());
        for (pixel, [a, b], m) in self.slopes(solution, &factor.image) {
            let [ha, hb] = [a, b].map(|corner| factor.image[corner]);
            output_tangents[pixel] += m.dot(&(moved[a].cross(&hb) + ha.cross(&moved[b])));
        }
    }

    fn vjp<T: Real>(
        &self,
        solution: &Borders,
        factor: &mut SilhouetteCorners<T>,
        inputs: &[T],
        _: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let mut adjoints = vec![Vector3::<T>::zeros(); factor.image.len()];
        for (pixel, [a, b], m) in self.slopes(solution, &factor.image) {
            let [ha, hb] = [a, b].map(|corner| factor.image[corner]);
            let m = m * output_adjoints[pixel];
            adjoints[a] += hb.cross(&m);
            adjoints[b] += m.cross(&ha);
        }
        let at = SilhouetteInputs::read(inputs);
        let (of_solids, of_camera) = input_adjoints.split_at_mut(inputs.len() - PINHOLE);
        let solids =
            self.solids.solids.iter().zip(&at.placed).zip(of_solids.chunks_exact_mut(SOLID));
        for ((solid, at_solid), to) in solids {
            for (k, corner) in solid.corners.iter().enumerate() {
                let adjoint = &adjoints[solid.first + k];
                if adjoint.iter().all(|x| x.vanishes()) {
                    continue;
                }
                let g = at.pinhole.pull_back(&factor.world[solid.first + k], adjoint, of_camera);
                let local = solid.local(corner, &at_solid.size) + at_solid.offset;
                let inside = at_solid.rotation.tr_mul(&g);
                let along = solid.along(corner).map(T::constant).tr_mul(&inside);
                for i in 0..3 {
                    for j in 0..3 {
                        to[3 * i + j] += g[i] * local[j];
                    }
                    to[9 + i] += g[i];
                    to[12 + i] += along[i];
                    to[15 + i] += inside[i];
                }
            }
        }
    }
}

impl Silhouette {
    /// Of each piece its pixel, the corners of its edge, and how the pixel changes with the line through these.
    pub(super) fn slopes<'a, T: Real>(
        &'a self,
        borders: &'a Borders,
        corners: &'a [Vector3<T>],
    ) -> impl Iterator<Item = (usize, [usize; 2], Vector3<T>)> + 'a {
        let moving = Moving { edges: &borders.edges, corners };
        borders.pieces.iter().filter_map(move |piece| {
            let pixel = piece.pixel(self.size[0])?;
            let ends = borders.edges[piece.edge as usize].ends?;
            let slope = piece.slope(&moving.line(piece.edge), moving.ends(piece))?;
            Some((pixel, ends, slope))
        })
    }
}
