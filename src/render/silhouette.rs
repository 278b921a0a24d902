//! The mask of some bodies as a node.

use std::fmt::Debug;
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::coverage::{Scan, cover, sign};
use super::outline::{Facing, Outline};
use super::piece::{Moving, Piece, Slopes};
use super::pinhole::{PINHOLE, Pinhole};
use super::solids::{Placed, Solids};
use crate::ad::{Node, Real};
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters};

/// Numbers of a solid: rotation and position of its body, its sizes, its position in the body.
pub(super) const SOLID: usize = 18;

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
#[derive(Clone)]
pub struct SilhouetteInputs<T> {
    pub(super) placed: Vec<Placed<T>>,
    pub(super) pinhole: Pinhole<T>,
}

impl SilhouetteInputs<f64> {
    /// Whether all are numbers.
    pub(super) fn is_finite(&self) -> bool {
        let solids = self.placed.iter().flat_map(|placed| {
            let vectors = [&placed.position, &placed.size, &placed.offset].into_iter().flatten();
            vectors.chain(placed.rotation.iter())
        });
        solids.chain(&self.pinhole.flat()).all(|x| x.is_finite())
    }
}

impl<T: Real> SilhouetteInputs<T> {
    /// Of a scene where its bodies are.
    pub fn new(
        solids: &Solids,
        (model, parameters): (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
        camera: usize,
    ) -> Self {
        let pinhole = Pinhole::of(model, parameters, kinematics, camera);
        Self::seen_from(solids, (model, parameters), kinematics, pinhole)
    }

    /// The same by a camera that is not one of the scene.
    pub fn seen_from(
        solids: &Solids,
        (model, parameters): (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
        pinhole: Pinhole<T>,
    ) -> Self {
        SilhouetteInputs { placed: solids.place(model, parameters, kinematics), pinhole }
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

    pub(super) fn read(flat: &[T]) -> Self {
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

    /// How corners, which are there in the `world`, change in homogeneous coordinates and in the world.
    pub(super) fn push_forward(
        &self,
        solids: &Solids,
        world: &[Vector3<T>],
        change: &SilhouetteInputs<T>,
    ) -> [Vec<Vector3<T>>; 2] {
        let mut moved = [(); 2].map(|()| Vec::with_capacity(world.len()));
        for ((solid, at), d) in solids.solids.iter().zip(&self.placed).zip(&change.placed) {
            for corner in &solid.corners {
                let local = solid.local(corner, &at.size) + at.offset;
                let local_change = solid.local(corner, &d.size) + d.offset;
                let dp = d.position + d.rotation * local + at.rotation * local_change;
                let point = &world[moved[1].len()];
                moved[0].push(self.pinhole.push_forward(point, &dp, &change.pinhole));
                moved[1].push(dp);
            }
        }
        moved
    }

    /// Adds the adjoints of all inputs, as [`flat`](Self::flat), to those that corners have in homogeneous coordinates and in the
    /// world, where they are `world`.
    pub(super) fn pull_back(
        &self,
        solids: &Solids,
        [world, of_image, of_world]: [&[Vector3<T>]; 3],
        to: &mut [T],
    ) {
        let (of_solids, of_camera) = to.split_at_mut(SOLID * self.placed.len());
        let each = solids.solids.iter().zip(&self.placed);
        for ((solid, at), to) in each.zip(of_solids.as_chunks_mut::<SOLID>().0) {
            for (k, corner) in solid.corners.iter().enumerate() {
                let adjoint = &of_image[solid.first + k];
                let mut g = of_world.get(solid.first + k).copied().unwrap_or_else(Vector3::zeros);
                if adjoint.iter().chain(&g).all(|x| x.vanishes()) {
                    continue;
                }
                g += self.pinhole.pull_back(&world[solid.first + k], adjoint, of_camera);
                let local = solid.local(corner, &at.size) + at.offset;
                let inside = at.rotation.tr_mul(&g);
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

/// Which pieces of which edges border what is covered.
#[derive(Clone, Default)]
pub struct Borders {
    pub(super) outline: Outline,
    pub(super) pieces: Vec<Piece>,
}

impl Borders {
    pub(super) fn moving<'a, T>(&'a self, corners: &'a [Vector3<T>]) -> Moving<'a, T> {
        Moving { edges: &self.outline.edges, corners }
    }
}

impl Debug for Borders {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} pieces of {} edges", self.pieces.len(), self.outline.edges.len())
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
        match Facing::new(&self.solids, &scratch.values) {
            Some(facing) => facing.outline(&mut borders.outline),
            None => borders.outline = Outline::default(),
        }
        scratch.scan.pieces(&borders.outline, self.size, &mut borders.pieces);
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
        cover(&solution.pieces, &solution.moving(&corners), self.size, outputs);
    }

    fn residual<T: Real>(
        &self,
        solution: &Borders,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let [corners, _] = SilhouetteInputs::read(inputs).corners(&self.solids);
        cover(&solution.pieces, &solution.moving(&corners), self.size, residual);
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
        let [moved, _] = at.push_forward(&self.solids, &factor.world, &change);
        output_tangents.fill(T::zero());
        for (pixel, sign, slopes) in self.slopes(solution, &factor.image) {
            for (corner, g) in slopes.iter() {
                output_tangents[pixel] += g.dot(&moved[*corner]) * sign;
            }
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
        for (pixel, sign, slopes) in self.slopes(solution, &factor.image) {
            let weight = output_adjoints[pixel] * sign;
            slopes.iter().for_each(|(corner, g)| adjoints[*corner] += g * weight);
        }
        let at = SilhouetteInputs::read(inputs);
        at.pull_back(&self.solids, [&factor.world, &adjoints, &[]], input_adjoints);
    }
}

impl Silhouette {
    /// Of each piece its pixel, whether what is covered begins there (1) or ends (-1), and how the area to its right changes with
    /// the corners.
    pub(super) fn slopes<'a, T: Real>(
        &'a self,
        borders: &'a Borders,
        corners: &'a [Vector3<T>],
    ) -> impl Iterator<Item = (usize, f64, Slopes<T>)> + 'a {
        let moving = borders.moving(corners);
        borders.pieces.iter().filter_map(move |piece| {
            Some((piece.pixel(self.size[0])?, sign(piece), moving.slopes(piece)?))
        })
    }
}
