//! What a camera sees of some bodies in colour, as a node.

use std::fmt::Debug;
use std::sync::Arc;

use nalgebra::Vector3;

use super::fragments::{Fragment, Fragments};
use super::outline::{Facing, FrontEdges};
use super::piece::{Edge, Moving, NOTHING, Piece};
use super::pinhole::PINHOLE;
use super::shading::{LIGHT, Light, Lit};
use super::silhouette::{SOLID, SilhouetteInputs};
use super::solids::{Solid, Solids};
use super::visibility::{Sweep, Swept};
use crate::ad::{Node, Real};

/// Numbers of a pixel: red, green and blue, and how much of it is covered.
pub const CHANNELS: usize = 4;

/// What a camera sees of some bodies: of each pixel, row by row from above, the mean of red, green and blue over it (linear, black
/// where no body is) and the share that bodies cover.
///
/// Inputs: those of a [`Silhouette`](super::Silhouette); red, green and blue of each solid; where the light goes, and how
/// bright it and the surroundings are ([`ColourInputs`]).
#[derive(Clone, Debug)]
pub struct ColourImage {
    /// The bodies.
    pub solids: Arc<Solids>,
    /// Width and height, px.
    pub size: [usize; 2],
}

/// The inputs of a [`ColourImage`].
pub struct ColourInputs<T> {
    /// Where all is.
    pub places: SilhouetteInputs<T>,
    /// Of each solid.
    pub colours: Vec<[T; 3]>,
    /// What it is seen by.
    pub light: Light<T>,
}

impl<T: Real> ColourInputs<T> {
    /// In the order in which the node takes them.
    pub fn flat(&self) -> Vec<T> {
        let mut flat = self.places.flat();
        flat.extend(self.colours.as_flattened());
        flat.extend(self.light.flat());
        flat
    }

    fn read(flat: &[T], solids: usize) -> Self {
        let (places, rest) = flat.split_at(SOLID * solids + PINHOLE);
        let (colours, light) = rest.split_at(3 * solids);
        ColourInputs {
            places: SilhouetteInputs::read(places),
            colours: colours.as_chunks::<3>().0.to_vec(),
            light: Light::from_flat(light),
        }
    }
}

/// Which pieces of which edges border what is seen, and which faces face the camera.
#[derive(Clone, Default)]
pub struct VisibleFaces {
    pub(super) edges: Vec<Edge>,
    pub(super) pieces: Vec<Piece>,
    pub(super) facing: Vec<i32>,
}

impl Debug for VisibleFaces {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} pieces of {} edges", self.pieces.len(), self.edges.len())
    }
}

/// Scratch memory.
#[derive(Clone)]
pub struct ColourScratch<T> {
    sweep: Sweep,
    front: FrontEdges,
    values: Vec<Vector3<f64>>,
    pub(super) fragments: Fragments<T>,
}

impl<T> Default for ColourScratch<T> {
    fn default() -> Self {
        ColourScratch {
            sweep: Sweep::default(),
            front: FrontEdges::default(),
            values: Vec::new(),
            fragments: Fragments::default(),
        }
    }
}

/// Where all corners are, for the derivative.
pub struct ColourCorners<T> {
    image: Vec<Vector3<T>>,
    world: Vec<Vector3<T>>,
}

impl<T> Default for ColourCorners<T> {
    fn default() -> Self {
        ColourCorners { image: Vec::new(), world: Vec::new() }
    }
}

impl ColourImage {
    /// How many inputs there are.
    pub fn inputs(&self) -> usize {
        (SOLID + 3) * self.solids.solids.len() + PINHOLE + LIGHT
    }

    /// Finds what is seen where.
    pub(super) fn decide<T: Real, S>(
        &self,
        corners: &[Vector3<T>],
        seen: &mut VisibleFaces,
        scratch: &mut ColourScratch<S>,
    ) {
        let ColourScratch { sweep, front, values, .. } = scratch;
        values.clear();
        values.extend(corners.iter().map(|h| h.map(|x| x.value())));
        seen.pieces.clear();
        seen.edges.clear();
        seen.facing.clear();
        let Some(facing) = Facing::new(&self.solids, values) else { return };
        facing.edges(front);
        seen.facing.extend_from_slice(&facing.faces);
        let mut swept = Swept {
            front,
            triangles: &self.solids.triangles,
            width: self.size[0],
            edges: &mut seen.edges,
            pieces: &mut seen.pieces,
        };
        sweep.pieces(values, self.size[1], &mut swept);
    }

    /// The colour of each face, and how bright it would be if it were white.
    pub(super) fn shade<T: Real>(
        &self,
        at: &ColourInputs<T>,
        world: &[Vector3<T>],
        facing: &[i32],
        faces: &mut Vec<[T; 3]>,
    ) {
        faces.clear();
        for (solid, colour) in self.solids.solids.iter().zip(&at.colours) {
            for face in solid.triangles.clone() {
                let side = facing.get(face).copied().unwrap_or_default();
                faces.push(match side {
                    0 => [T::zero(); 3],
                    _ => {
                        let bright = at.light.brightness(&self.lit(solid, face, world, side));
                        colour.map(|part| part * bright)
                    }
                });
            }
        }
    }

    /// A face as light sees it.
    fn lit<T: Real>(&self, solid: &Solid, face: usize, world: &[Vector3<T>], side: i32) -> Lit<T> {
        match solid.normal {
            Some(normal) => Lit::of_normal(normal.map(T::constant)),
            None => Lit::new(self.solids.triangles[face].map(|corner| world[corner]), side),
        }
    }

    /// Finds what is seen, and adds it up.
    pub(super) fn draw<T: Real>(
        &self,
        at: &ColourInputs<T>,
        image: &mut [T],
        seen: &mut VisibleFaces,
        scratch: &mut ColourScratch<T>,
    ) {
        let corners = at.places.corners(&self.solids);
        self.decide(&corners[0], seen, scratch);
        self.paint(at, &corners, seen, &mut scratch.fragments, image);
    }

    /// Adds up what is seen, with the corners in homogeneous coordinates and in the world.
    fn paint<T: Real>(
        &self,
        at: &ColourInputs<T>,
        [corners, world]: &[Vec<Vector3<T>>; 2],
        seen: &VisibleFaces,
        fragments: &mut Fragments<T>,
        image: &mut [T],
    ) {
        image.fill(T::zero());
        let mut faces = Vec::new();
        self.shade(at, world, &seen.facing, &mut faces);
        let moving = Moving { edges: &seen.edges, corners };
        fragments.each((&seen.pieces, &moving), faces.len(), self.size, |fragment| {
            let pixel = &mut image[CHANNELS * fragment.pixel..][..CHANNELS];
            for (to, colour) in pixel.iter_mut().zip(&faces[fragment.face as usize]) {
                *to += *colour * fragment.area;
            }
            pixel[3] += fragment.area;
        });
    }

    fn read<T: Real>(&self, inputs: &[T]) -> ColourInputs<T> {
        ColourInputs::read(inputs, self.solids.solids.len())
    }

    /// How much the colour and the coverage to the right of a piece, or below, are more; nothing where they are the same, as on
    /// both sides of edges within flat surfaces.
    pub(super) fn step<T: Real>(faces: &[[T; 3]], piece: &Piece) -> Option<[T; CHANNELS]> {
        let of = |side: u32| match faces.get(side as usize).filter(|_| side != NOTHING) {
            Some(&[r, g, b]) => [r, g, b, T::one()],
            None => [T::zero(); CHANNELS],
        };
        let [left, right] = piece.sides.map(of);
        let step: [T; CHANNELS] = std::array::from_fn(|k| right[k] - left[k]);
        step.iter().any(|x| !x.vanishes()).then_some(step)
    }

    /// Red, green and blue of a pixel of the image before a background of these, all linear.
    pub fn before<T: Real>(pixel: &[T; CHANNELS], behind: &[f64; 3]) -> [T; 3] {
        let left = T::one() - pixel[3];
        [0, 1, 2].map(|c| pixel[c] + left * behind[c])
    }
}

impl Node for ColourImage {
    type Solution = VisibleFaces;
    type Workspace<T: Real> = ColourScratch<T>;
    type Factor<T: Real> = ColourCorners<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut VisibleFaces,
        workspace: &mut ColourScratch<T>,
    ) {
        self.draw(&self.read(inputs), outputs, solution, workspace);
    }

    fn residual<T: Real>(
        &self,
        solution: &VisibleFaces,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let at = self.read(inputs);
        let corners = at.places.corners(&self.solids);
        self.paint(&at, &corners, solution, &mut Fragments::default(), residual);
        residual.iter_mut().zip(outputs).for_each(|(r, &output)| *r = output - *r);
    }

    fn factor<T: Real>(
        &self,
        _: &VisibleFaces,
        inputs: &[T],
        _: &[T],
        factor: &mut ColourCorners<T>,
    ) {
        [factor.image, factor.world] = self.read(inputs).places.corners(&self.solids);
    }

    fn jvp<T: Real>(
        &self,
        solution: &VisibleFaces,
        factor: &mut ColourCorners<T>,
        inputs: &[T],
        _: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        let (at, change) = (self.read(inputs), self.read(input_tangents));
        let [moved, moved_world] =
            at.places.push_forward(&self.solids, &factor.world, &change.places);
        let mut faces = Vec::new();
        self.shade(&at, &factor.world, &solution.facing, &mut faces);
        output_tangents.fill(T::zero());
        let moving = Moving { edges: &solution.edges, corners: &factor.image };
        for piece in &solution.pieces {
            let Some(pixel) = piece.pixel(self.size[0]) else { continue };
            let Some(step) = Self::step(&faces, piece) else { continue };
            let Some(slopes) = moving.slopes(piece) else { continue };
            let zero = T::zero();
            let area = slopes.iter().fold(zero, |sum, (corner, g)| sum + g.dot(&moved[*corner]));
            let target = &mut output_tangents[CHANNELS * pixel..][..CHANNELS];
            target.iter_mut().zip(step).for_each(|(to, step)| *to += step * area);
        }
        let mut changes = vec![[T::zero(); 3]; faces.len()];
        for (k, solid) in self.solids.solids.iter().enumerate() {
            for face in solid.triangles.clone() {
                let side = solution.facing.get(face).copied().unwrap_or_default();
                if side == 0 {
                    continue;
                }
                let lit = self.lit(solid, face, &factor.world, side);
                let corners = match solid.normal {
                    Some(_) => [Vector3::zeros(); 3],
                    None => self.solids.triangles[face].map(|corner| moved_world[corner]),
                };
                let bright = at.light.brightness(&lit);
                let brighter = at.light.brightness_change(&lit, corners, &change.light);
                let (colour, other) = (&at.colours[k], &change.colours[k]);
                changes[face] = [0, 1, 2].map(|c| other[c] * bright + colour[c] * brighter);
            }
        }
        let mut fragments = Fragments::default();
        fragments.each((&solution.pieces, &moving), faces.len(), self.size, |fragment| {
            let Fragment { face, pixel, area } = fragment;
            let target = &mut output_tangents[CHANNELS * pixel..][..3];
            target.iter_mut().zip(&changes[face as usize]).for_each(|(to, c)| *to += *c * area);
        });
    }

    fn vjp<T: Real>(
        &self,
        solution: &VisibleFaces,
        factor: &mut ColourCorners<T>,
        inputs: &[T],
        _: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        let at = self.read(inputs);
        let solids = self.solids.solids.len();
        let mut faces = Vec::new();
        self.shade(&at, &factor.world, &solution.facing, &mut faces);
        let moving = Moving { edges: &solution.edges, corners: &factor.image };
        let mut of_image = vec![Vector3::<T>::zeros(); factor.image.len()];
        for piece in &solution.pieces {
            let Some(pixel) = piece.pixel(self.size[0]) else { continue };
            let Some(step) = Self::step(&faces, piece) else { continue };
            let Some(slopes) = moving.slopes(piece) else { continue };
            let own = &output_adjoints[CHANNELS * pixel..][..CHANNELS];
            let weight = own.iter().zip(step).fold(T::zero(), |sum, (a, s)| sum + *a * s);
            slopes.iter().for_each(|(corner, g)| of_image[*corner] += g * weight);
        }
        let mut of_faces = vec![[T::zero(); 3]; faces.len()];
        let mut fragments = Fragments::default();
        fragments.each((&solution.pieces, &moving), faces.len(), self.size, |fragment| {
            let own = &output_adjoints[CHANNELS * fragment.pixel..];
            let of_face = &mut of_faces[fragment.face as usize];
            (0..3).for_each(|c| of_face[c] += own[c] * fragment.area);
        });
        let (of_places, rest) = input_adjoints.split_at_mut(SOLID * solids + PINHOLE);
        let (of_colours, of_light) = rest.split_at_mut(3 * solids);
        let mut of_world = vec![Vector3::<T>::zeros(); factor.world.len()];
        for (k, solid) in self.solids.solids.iter().enumerate() {
            let colour = at.colours[k];
            for face in solid.triangles.clone() {
                let side = solution.facing.get(face).copied().unwrap_or_default();
                if side == 0 || of_faces[face].iter().all(|x| x.vanishes()) {
                    continue;
                }
                let lit = self.lit(solid, face, &factor.world, side);
                let bright = at.light.brightness(&lit);
                let of_face = of_faces[face];
                (0..3).for_each(|c| of_colours[3 * k + c] += of_face[c] * bright);
                let adjoint = (0..3).fold(T::zero(), |sum, c| sum + of_face[c] * colour[c]);
                let corners = at.light.pull_back(&lit, adjoint, of_light);
                if solid.normal.is_some() {
                    continue;
                }
                for (corner, g) in self.solids.triangles[face].into_iter().zip(corners) {
                    of_world[corner] += g;
                }
            }
        }
        let factors: [&[Vector3<T>]; 3] = [&factor.world, &of_image, &of_world];
        at.places.pull_back(&self.solids, factors, of_places);
    }
}
