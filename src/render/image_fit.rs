//! How far an image is from a recorded one, as few residuals.
//!
//! A frame has tens of thousands of pixels, and what it says of a motion is what it says of a few poses. With the residuals r of its pixels
//! and their Jacobian J in the poses, A = J'J = U L U' and b = J'r, the residuals sqrt(L_i) u_i'dx + u_i'b / sqrt(L_i), and
//! one more for what is left of |r|, have the same sum of squares, the same J'J and the same J'r. So a least-squares
//! search sees all pixels, and no more than these numbers go on to duals and tapes.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DMatrix, DMatrixView, DVector, DVectorView, Matrix3, SymmetricEigen, Vector3};

use super::colour_fit::{ColourFit, ColourFitScratch, ImageNumbers};
use super::coverage::cover;
use super::piece::Piece;
use super::pinhole::{PINHOLE, Pinhole};
use super::row_table::RowTable;
use super::sampling::Blocks;
use super::silhouette::{Borders, SilhouetteScratch};
use super::solids::{Placed, Source, linear};
use super::{Light, RecordedImage, Sampling, Silhouette, SilhouetteInputs, Solids};
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters, SeenMesh};

/// What a camera sees of some bodies, to be compared with recorded images.
#[derive(Clone, Debug)]
pub struct ImageFit {
    silhouette: Silhouette,
    /// What is seen in colour, where that is compared.
    colour: Option<ColourFit>,
    camera: usize,
    /// How many bodies there are, and of each solid its place among these.
    bodies: usize,
    owners: Vec<usize>,
    /// The numbers that an image is a function of and that can change: all of masks, of which few pixels do; of colours none of the
    /// poses of what is fixed to the world. It is one answer for all derivatives of a frame: their residuals have one basis.
    changing: Vec<usize>,
}

/// What colours are compared of.
#[derive(Clone, Debug)]
pub enum ColourView {
    /// All shapes of the scene, before the colour of its light.
    All,
    /// These bodies, before a picture of all else, linear.
    Before(Vec<usize>, Vec<[f64; 3]>),
}

/// Numbers of a pose, and of a solid: its sizes and its place in the body.
const POSE: usize = 6;
const SOLID: usize = 6;

/// Scratch memory.
#[derive(Clone, Default)]
pub struct ImageFitScratch {
    borders: Borders,
    scratch: SilhouetteScratch,
    colours: ColourFitScratch,
    /// One number a pixel of a mask, three of colours.
    image: Vec<f64>,
    /// Those of its pixels in rows in which anything is seen or was recorded.
    within: Range<usize>,
    table: RowTable,
    /// Samples: residuals, and of those that have derivatives these, number by number.
    samples: Vec<f64>,
    slopes: Vec<f64>,
    blurred: Vec<f64>,
}

/// What eigenvalues of J'J, scaled to ones along its diagonal, count as zero.
const RANK: f64 = 1e-12;
/// Iterations for these; two or three a number are usual.
const MOST_ITERATIONS: usize = 100_000;

impl ImageFit {
    /// A camera that looks at `bodies`.
    pub fn new(
        (model, parameters): (&Model, &Parameters<f64>),
        camera: usize,
        bodies: &[usize],
    ) -> ImageFit {
        ImageFit::of(Solids::new(model, parameters, bodies), None, (model, camera))
    }

    /// A camera that sees colours, and these meshes where bodies look otherwise than what touches.
    pub fn in_colour(
        (model, parameters): (&Model, &Parameters<f64>),
        camera: usize,
        view: ColourView,
        meshes: &[SeenMesh],
    ) -> ImageFit {
        let light = model.light.unwrap_or_default();
        let (solids, background) = match view {
            ColourView::All => {
                (Solids::of_scene(model, parameters, meshes), vec![linear(light.background)])
            }
            ColourView::Before(bodies, picture) => {
                (Solids::new(model, parameters, &bodies), picture)
            }
        };
        ImageFit::of(solids, Some(ColourFit::new(Light::of(&light), background)), (model, camera))
    }

    fn of(solids: Solids, colour: Option<ColourFit>, (model, camera): (&Model, usize)) -> ImageFit {
        let solids = Arc::new(solids);
        let leaders = solids.leaders();
        let mut seen = leaders.clone();
        seen.sort_unstable();
        seen.dedup();
        let place = |leader: &usize| seen.iter().position(|other| other == leader).unwrap_or(0);
        let moves = |leader: &usize| match solids.solids[*leader].body {
            Some(body) => model.bodies[body].tree.is_some(),
            None => solids.solids[*leader].is_boundless(),
        };
        let mut fit = ImageFit {
            camera,
            bodies: seen.len(),
            owners: leaders.iter().map(place).collect(),
            changing: Vec::new(),
            silhouette: Silhouette { solids: solids.clone(), size: model.cameras[camera].size },
            colour,
        };
        let poses = POSE * fit.bodies;
        let can_change = |&k: &usize| !fit.is_coloured() || k >= poses || moves(&seen[k / POSE]);
        fit.changing = (0..fit.columns()).filter(can_change).collect();
        fit
    }

    /// What it looks at and from where, to be told from others by.
    pub(crate) fn identity(&self) -> String {
        let solids = self.silhouette.solids.solids.iter();
        let colliders = solids.filter_map(|solid| match solid.source {
            Source::Collider(index) => Some(index),
            _ => None,
        });
        let colliders: Vec<usize> = colliders.collect();
        match &self.colour {
            None => format!("{} {colliders:?}", self.camera),
            Some(colour) => {
                format!("{} {colliders:?} {}", self.camera, colour.identity(&self.silhouette))
            }
        }
    }

    /// Whether there is anything to see.
    pub fn sees(&self) -> bool {
        !self.silhouette.solids.is_empty()
    }

    /// Width and height of its images, px.
    pub fn size(&self) -> [usize; 2] {
        self.silhouette.size
    }

    /// Whether it sees colours.
    pub fn is_coloured(&self) -> bool {
        self.colour.is_some()
    }

    /// Numbers a pixel.
    fn channels(&self) -> usize {
        if self.is_coloured() { 3 } else { 1 }
    }

    /// What is seen: how much of each pixel is covered, or its brightness.
    pub fn image<T: Real>(
        &self,
        at: (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
    ) -> Vec<T> {
        let node = &self.silhouette;
        let inputs = SilhouetteInputs::new(&node.solids, at, kinematics, self.camera);
        if let Some(colour) = &self.colour {
            return colour.brightness(node, inputs);
        }
        let inputs = inputs.flat();
        let mut image = vec![T::zero(); node.size[0] * node.size[1]];
        T::call(node, &inputs, &mut image, &mut Borders::default(), &mut T::Workspace::default());
        image
    }

    /// How many numbers an image is a function of: poses, sizes and places of shapes, the camera.
    fn columns(&self) -> usize {
        POSE * self.bodies + SOLID * self.owners.len() + PINHOLE
    }

    /// How many residuals a frame has.
    pub fn residuals(&self) -> usize {
        self.columns() + 1
    }

    /// Appends the [`residuals`](Self::residuals) of a frame: of what is seen where `kinematics` has the bodies, less a mask of the
    /// size of the camera, sampled, over the standard deviation of a pixel (of which values are 0 to 1). They have the squares and
    /// first derivatives of those of all pixels; not numbers where these are not finite.
    pub fn compare<T: Real>(
        &self,
        (model, parameters): (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
        (target, sampling, noise): (&RecordedImage, Sampling, f64),
        scratch: &mut ImageFitScratch,
        residuals: &mut Vec<T>,
    ) {
        let at = SilhouetteInputs::new(
            &self.silhouette.solids,
            (model, parameters),
            kinematics,
            self.camera,
        );
        let values = value(&at);
        let columns = self.columns();
        let moved = self.moved(&at, &values);
        let same = target.is_coloured() == self.is_coloured() && target.size == self.size();
        if !(same && values.is_finite()) {
            residuals.resize(residuals.len() + columns + 1, T::constant(f64::NAN));
            return;
        }
        self.differences(&values, target, scratch);
        if T::ORDER == 0 {
            // Whatever they are made of, squares have one sum.
            self.sample(None, sampling, scratch);
            let square: f64 = scratch.samples.iter().map(|r| (r / noise).powi(2)).sum();
            residuals.resize(residuals.len() + columns, T::zero());
            residuals.push(T::constant(square.sqrt()));
            return;
        }
        self.sample(Some(&values), sampling, scratch);
        let ImageFitScratch { samples, slopes, .. } = scratch;
        let unused = columns - self.changing.len();
        residuals.resize(residuals.len() + unused, T::zero());
        let moved: Vec<T> = self.changing.iter().map(|&k| moved[k]).collect();
        let columns = self.changing.len();
        let count = slopes.len() / columns.max(1);
        samples.iter_mut().for_each(|r| *r /= noise);
        slopes.iter_mut().for_each(|x| *x /= noise);
        let square: f64 = samples.iter().map(|r| r * r).sum();
        let jacobian = DMatrixView::from_slice(slopes, count, columns);
        let a: DMatrix<f64> = jacobian.tr_mul(&jacobian);
        let b: DVector<f64> = jacobian.tr_mul(&DVectorView::from_slice(&samples[..count], count));
        let scale =
            DVector::from_fn(
                columns,
                |i, _| if a[(i, i)] > 0.0 { 1.0 / a[(i, i)].sqrt() } else { 0.0 },
            );
        let scaled = DMatrix::from_fn(columns, columns, |i, j| a[(i, j)] * scale[i] * scale[j]);
        let found = SymmetricEigen::try_new(scaled, f64::EPSILON, MOST_ITERATIONS);
        let Some(eigen) = found else {
            // Not finite: as far off as can be.
            residuals.resize(residuals.len() + columns + 1, T::constant(f64::NAN));
            return;
        };
        let mut left = square;
        for (&size, u) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
            if size.is_nan() || size <= RANK {
                residuals.push(T::zero());
                continue;
            }
            let root = size.sqrt();
            let constant =
                u.iter().zip(&scale).zip(&b).map(|((u, s), b)| u * s * b).sum::<f64>() / root;
            left -= constant * constant;
            let mut residual = T::constant(constant);
            for ((&u, &scale), &dx) in u.iter().zip(&scale).zip(&moved) {
                if scale > 0.0 {
                    residual += dx * (root * u / scale);
                }
            }
            residuals.push(residual);
        }
        residuals.push(T::constant(left.max(0.0).sqrt()));
    }

    /// How far all numbers that an image is a function of are from their values: zero, with derivatives.
    fn moved<T: Real>(&self, at: &SilhouetteInputs<T>, values: &SilhouetteInputs<f64>) -> Vec<T> {
        let mut moved = Vec::with_capacity(self.columns());
        let less = |x: T, value: f64| x - T::constant(value);
        for body in 0..self.bodies {
            let solid = self.owners.iter().position(|&owner| owner == body).unwrap_or(0);
            let (placed, value) = (&at.placed[solid], &values.placed[solid]);
            moved.extend((0..3).map(|k| less(placed.position[k], value.position[k])));
            // R R0' - 1 is the cross product with the turn, in the world.
            let turn = placed.rotation * value.rotation.transpose().map(T::constant);
            for (i, j) in [(2, 1), (0, 2), (1, 0)] {
                let twice = turn[(i, j)] - turn[(j, i)];
                moved.push(less(twice, twice.value()) * 0.5);
            }
        }
        for (placed, value) in at.placed.iter().zip(&values.placed) {
            moved.extend((0..3).map(|k| less(placed.size[k], value.size[k])));
            moved.extend((0..3).map(|k| less(placed.offset[k], value.offset[k])));
        }
        let (flat, value) = (at.pinhole.flat(), values.pinhole.flat());
        moved.extend(flat.iter().zip(value).map(|(&x, value)| less(x, value)));
        moved
    }

    /// Finds what is seen less what was recorded, pixel by pixel.
    fn differences(
        &self,
        at: &SilhouetteInputs<f64>,
        target: &RecordedImage,
        scratch: &mut ImageFitScratch,
    ) {
        let size = self.silhouette.size;
        if let Some(colour) = &self.colour {
            scratch.within = 0..size[0] * size[1];
            colour.see(&self.silhouette, at, &mut scratch.colours, &mut scratch.image);
            return target.take_from(&mut scratch.image);
        }
        let [corners, _] = at.corners(&self.silhouette.solids);
        let ImageFitScratch { borders, scratch: own, image, within, .. } = scratch;
        self.silhouette.decide(&corners, borders, own);
        image.resize(size[0] * size[1], 0.0);
        cover(&borders.pieces, &borders.moving(&corners), size, image);
        target.take_from(image);
        let row = |piece: &Piece| piece.row as usize;
        let seen = borders
            .pieces
            .first()
            .map_or(0..0, |first| row(first)..borders.pieces.last().map_or(0, row) + 1);
        let rows = match (seen.is_empty(), target.rows()) {
            (true, recorded) => recorded,
            (false, recorded) if recorded.is_empty() => seen,
            (false, recorded) => seen.start.min(recorded.start)..seen.end.max(recorded.end),
        };
        *within = rows.start * size[0]..rows.end * size[0];
    }

    /// Samples the differences, and if it is said where all is their derivatives: those of pixels that have any come first.
    fn sample(
        &self,
        at: Option<&SilhouetteInputs<f64>>,
        sampling: Sampling,
        scratch: &mut ImageFitScratch,
    ) {
        let size = self.silhouette.size;
        let channels = self.channels();
        let columns = if at.is_some() { self.changing.len() } else { 0 };
        scratch.table.clear(0, columns);
        scratch.slopes.clear();
        if let Some(at) = at {
            self.differentiate(at, scratch);
        }
        let ImageFitScratch { image, within, table, samples, slopes, blurred, .. } = scratch;
        let (entries, rows) = (&table.entries, &table.rows);
        let within = channels * within.start..channels * within.end;
        let others = within.clone().zip(&image[within]).filter(|(_, r)| **r != 0.0);
        samples.clear();
        let count = entries.len();
        if sampling.blur <= 0.0 {
            samples.extend(entries.iter().map(|&entry| image[entry]));
            let flat = |entry: usize| at.is_none() || !table.has(entry);
            samples.extend(others.filter(|(entry, _)| flat(*entry)).map(|(_, &r)| r));
            slopes.resize(count * columns, 0.0);
            for (k, row) in rows.chunks_exact(columns.max(1)).take(count).enumerate() {
                row.iter().enumerate().for_each(|(column, &x)| slopes[column * count + k] = x);
            }
            return;
        }
        // Sums over blocks, a layer for the residual and one for each number; as far as there is anything.
        let own = || entries.iter().map(|entry| entry / channels);
        let (blocks, changing) = match channels {
            1 => {
                let seen = others.clone().map(|(entry, _)| entry);
                let Some(blocks) = sampling.blocks(size, seen.chain(own())) else { return };
                (blocks, None)
            }
            // All of an image in colour is seen, and little of it changes.
            _ => (Blocks::all(sampling, size), Some(sampling.blocks(size, own()))),
        };
        let share = blocks.share();
        let layer = blocks.count();
        samples.resize(channels * layer, 0.0);
        for (entry, &r) in others {
            samples[blocks.place(entry / channels) + entry % channels * layer] += share * r;
        }
        samples.chunks_exact_mut(layer).for_each(|layer| sampling.blur(&blocks, layer, blurred));
        let blocks = match changing {
            None => blocks,
            Some(None) => return,
            Some(Some(changing)) => {
                let (first, last) = blocks.sorted_by(&changing);
                let parts = [first, last];
                blurred.clear();
                for part in &parts {
                    for layer in samples.chunks_exact(layer) {
                        blurred.extend(part.iter().map(|&place| layer[place]));
                    }
                }
                std::mem::swap(samples, blurred);
                changing
            }
        };
        let layer = blocks.count();
        slopes.resize(channels * layer * columns, 0.0);
        for (&entry, row) in entries.iter().zip(rows.chunks_exact(columns.max(1))) {
            let place = blocks.place(entry / channels) + entry % channels * layer;
            let layers = slopes[place..].iter_mut().step_by(channels * layer);
            layers.zip(row).for_each(|(to, &x)| *to += share * x);
        }
        slopes.chunks_exact_mut(layer).for_each(|layer| sampling.blur(&blocks, layer, blurred));
    }

    /// Finds the derivatives of all numbers of the image that have any.
    fn differentiate(&self, at: &SilhouetteInputs<f64>, scratch: &mut ImageFitScratch) {
        scratch.table.clear(scratch.image.len(), self.changing.len());
        let [corners, world] = at.corners(&self.silhouette.solids);
        let owners = self.silhouette.solids.owners();
        let ImageFitScratch { borders, table, colours, .. } = scratch;
        if let Some(colour) = &self.colour {
            let numbers = ImageNumbers {
                count: self.columns(),
                moving: &self.changing,
                pull_back: &|corner, adjoints, row| {
                    self.pull_back(at, (owners[corner], corner), &world[corner], adjoints, row);
                },
            };
            return colour.differentiate(&self.silhouette, at, (colours, table), &numbers);
        }
        let zero = Vector3::zeros();
        for (pixel, sign, slopes) in self.silhouette.slopes(borders, &corners) {
            let row = table.row(pixel);
            for &(corner, g) in slopes.iter() {
                let point = &world[corner];
                self.pull_back(at, (owners[corner], corner), point, [&(g * sign), &zero], row);
            }
        }
    }

    /// Adds what the adjoints of a corner, of its homogeneous coordinates and of its place in the world, make of all numbers.
    fn pull_back(
        &self,
        at: &SilhouetteInputs<f64>,
        (solid, corner): (usize, usize),
        point: &Vector3<f64>,
        [of_image, of_world]: [&Vector3<f64>; 2],
        row: &mut [f64],
    ) {
        let first = row.len() - PINHOLE;
        let (row, of_camera) = row.split_at_mut(first);
        let g = at.pinhole.pull_back(point, of_image, of_camera) + of_world;
        let placed = &at.placed[solid];
        let moment = (point - placed.position).cross(&g);
        let shape = &self.silhouette.solids.solids[solid];
        let inside = placed.rotation.tr_mul(&g);
        let along = shape.along(&shape.corners[corner - shape.first]).tr_mul(&inside);
        let [pose, own] = [POSE * self.owners[solid], POSE * self.bodies + SOLID * solid];
        for k in 0..3 {
            row[pose + k] += g[k];
            row[pose + 3 + k] += moment[k];
            row[own + k] += along[k];
            row[own + 3 + k] += inside[k];
        }
    }
}

/// The values of inputs.
fn value<T: Real>(at: &SilhouetteInputs<T>) -> SilhouetteInputs<f64> {
    let vector = |v: &Vector3<T>| v.map(|x| x.value());
    let matrix = |m: &Matrix3<T>| m.map(|x| x.value());
    let placed = at.placed.iter().map(|placed| Placed {
        rotation: matrix(&placed.rotation),
        position: vector(&placed.position),
        size: vector(&placed.size),
        offset: vector(&placed.offset),
    });
    let Pinhole { eye, axes, focal, center } = &at.pinhole;
    SilhouetteInputs {
        placed: placed.collect(),
        pinhole: Pinhole {
            eye: vector(eye),
            axes: [0, 1, 2].map(|k| vector(&axes[k])),
            focal: focal.map(|x| x.value()),
            center: center.map(|x| x.value()),
        },
    }
}
