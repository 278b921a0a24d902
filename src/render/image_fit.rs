//! How far a mask is from a recorded one, as few residuals.
//!
//! A frame has tens of thousands of pixels, and what it says of a motion is what it says of a few poses. With the residuals r of its pixels
//! and their Jacobian J in the poses, A = J'J = U L U' and b = J'r, the residuals sqrt(L_i) u_i'dx + u_i'b / sqrt(L_i), and
//! one more for what is left of |r|, have the same sum of squares, the same J'J and the same J'r. So a least-squares
//! search sees all pixels, and no more than these numbers go on to duals and tapes.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DMatrix, DMatrixView, DVector, DVectorView, Matrix3, SymmetricEigen, Vector3};

use super::coverage::cover;
use super::piece::Piece;
use super::pinhole::{PINHOLE, Pinhole};
use super::silhouette::{Borders, SilhouetteScratch};
use super::solids::{Placed, Source};
use super::{Picture, Sampling, Silhouette, SilhouetteInputs, Solids};
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters};
use crate::packed::packed;

/// A recorded mask: of each row from the first to the last covered pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedMask {
    /// Width and height of the whole, px.
    pub size: [usize; 2],
    /// Of each row between the first and the last that are not empty: the place in the whole of its first covered pixel, and
    /// where its values begin.
    spans: Vec<[u32; 2]>,
    first_row: usize,
    /// Coverage, row by row, in units of 1 / 65535.
    values: Vec<u16>,
    borders: usize,
}

/// Neighbours that differ by more than this tell where an outline is: a fiftieth of a pixel.
const OUTLINE: u16 = 1311;

impl RecordedMask {
    /// Of the brightness of a picture.
    pub fn of(picture: &Picture) -> RecordedMask {
        let width = picture.size[0].max(1);
        let (mut spans, mut values) = (Vec::new(), Vec::new());
        let mut rows = 0..0;
        for (row, line) in picture.values.chunks_exact(width).enumerate() {
            let first = line.iter().position(|&x| x > 0);
            let last = line.iter().rposition(|&x| x > 0);
            if let (Some(_), true) = (first, rows.is_empty()) {
                rows = row..row;
            }
            let begin = [row * width + first.unwrap_or(0), values.len()].map(|x| x as u32);
            spans.push(begin);
            if let (Some(first), Some(last)) = (first, last) {
                values.extend_from_slice(&line[first..=last]);
                rows.end = row + 1;
            }
        }
        let spans = spans.get(rows.clone()).unwrap_or_default().to_vec();
        let size = picture.size;
        let mut mask = RecordedMask { size, spans, first_row: rows.start, values, borders: 0 };
        mask.borders = mask.count_borders();
        mask
    }

    /// Whether nothing is covered.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Tells all of it, to be told from others by.
    pub(crate) fn bytes(&self, tell: &mut impl FnMut(&[u8])) {
        self.size.iter().for_each(|number| tell(&number.to_le_bytes()));
        self.spans.as_flattened().iter().for_each(|number| tell(&number.to_le_bytes()));
        self.values.iter().for_each(|x| tell(&x.to_le_bytes()));
    }

    /// The rows that are not empty.
    fn rows(&self) -> Range<usize> {
        self.first_row..self.first_row + self.spans.len()
    }

    /// Calls `see` with each pixel that is not empty by its place and how much of it is covered.
    pub fn each(&self, mut see: impl FnMut(usize, f64)) {
        for (k, &[place, begin]) in self.spans.iter().enumerate() {
            let end = self.spans.get(k + 1).map_or(self.values.len(), |next| next[1] as usize);
            let line = &self.values[begin as usize..end];
            line.iter()
                .enumerate()
                .for_each(|(k, &x)| see(place as usize + k, f64::from(x) / 65535.0));
        }
    }

    /// How many pixels tell where an outline is: those beside which another has another value.
    pub fn borders(&self) -> usize {
        self.borders
    }

    fn count_borders(&self) -> usize {
        let [width, height] = self.size;
        let at = |x: usize, y: usize| {
            let Some(k) = y.checked_sub(self.first_row).filter(|&k| k < self.spans.len()) else {
                return 0;
            };
            let [place, begin] = self.spans[k].map(|x| x as usize);
            let end = self.spans.get(k + 1).map_or(self.values.len(), |next| next[1] as usize);
            let Some(from) = (y * width + x).checked_sub(place) else { return 0 };
            self.values.get(begin + from).copied().filter(|_| begin + from < end).unwrap_or(0)
        };
        let mut count = 0;
        self.each(|pixel, _| {
            let (x, y) = (pixel % width, pixel / width);
            let sides = [
                x.checked_sub(1).map(|x| [x, y]),
                (x + 1 < width).then_some([x + 1, y]),
                y.checked_sub(1).map(|y| [x, y]),
                (y + 1 < height).then_some([x, y + 1]),
            ];
            let differs = |[a, b]: [usize; 2]| at(a, b).abs_diff(at(x, y)) > OUTLINE;
            count += usize::from(sides.into_iter().flatten().any(differs));
        });
        count
    }
}

/// What a camera sees of some bodies, to be compared with recorded masks.
#[derive(Clone, Debug)]
pub struct ImageFit {
    silhouette: Silhouette,
    camera: usize,
    /// How many bodies there are, and of each solid its place among these.
    bodies: usize,
    owners: Vec<usize>,
}

/// Numbers of a pose, and of a solid: its sizes and its place in the body.
const POSE: usize = 6;
const SOLID: usize = 6;

/// Scratch memory.
#[derive(Clone, Default)]
pub struct ImageFitScratch {
    borders: Borders,
    scratch: SilhouetteScratch,
    image: Vec<f64>,
    /// Its pixels in rows in which anything is seen or was recorded.
    within: Range<usize>,
    /// Of each pixel its row among the derivatives, if it has one.
    places: Vec<u32>,
    pixels: Vec<usize>,
    /// Derivatives, pixel by pixel.
    rows: Vec<f64>,
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
        let solids = Solids::new(model, parameters, bodies);
        let leaders = solids.leaders();
        let mut seen = leaders.clone();
        seen.sort_unstable();
        seen.dedup();
        let place = |leader: &usize| seen.iter().position(|other| other == leader).unwrap_or(0);
        ImageFit {
            camera,
            bodies: seen.len(),
            owners: leaders.iter().map(place).collect(),
            silhouette: Silhouette { solids: Arc::new(solids), size: model.cameras[camera].size },
        }
    }

    /// What it looks at and from where, to be told from others by.
    pub(crate) fn identity(&self) -> String {
        let solids = self.silhouette.solids.solids.iter();
        let colliders = solids.filter_map(|solid| match solid.source {
            Source::Collider(index) => Some(index),
            _ => None,
        });
        format!("{} {:?}", self.camera, colliders.collect::<Vec<_>>())
    }

    /// Whether there is anything to see.
    pub fn sees(&self) -> bool {
        !self.silhouette.solids.is_empty()
    }

    /// Width and height of its images, px.
    pub fn size(&self) -> [usize; 2] {
        self.silhouette.size
    }

    /// What is seen.
    pub fn image<T: Real>(
        &self,
        at: (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
    ) -> Vec<T> {
        let node = &self.silhouette;
        let inputs = SilhouetteInputs::new(&node.solids, at, kinematics, self.camera).flat();
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
        (target, sampling, noise): (&RecordedMask, Sampling, f64),
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
        let count = slopes.len() / columns;
        samples.iter_mut().for_each(|r| *r /= noise);
        slopes.iter_mut().for_each(|x| *x /= noise);
        let square: f64 = samples.iter().map(|r| r * r).sum();
        let jacobian = DMatrixView::from_slice(slopes, count, columns);
        let a: DMatrix<f64> = jacobian.tr_mul(&jacobian);
        let b: DVector<f64> = jacobian.tr_mul(&DVectorView::from_slice(&samples[..count], count));
        let moved = self.moved(&at, &values);
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
        target: &RecordedMask,
        scratch: &mut ImageFitScratch,
    ) {
        let size = self.silhouette.size;
        let [corners, _] = at.corners(&self.silhouette.solids);
        let ImageFitScratch { borders, scratch: own, image, within, .. } = scratch;
        self.silhouette.decide(&corners, borders, own);
        image.resize(size[0] * size[1], 0.0);
        cover(&borders.pieces, &borders.moving(&corners), size, image);
        target.each(|pixel, covered| image[pixel] -= covered);
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
        let columns = if at.is_some() { self.columns() } else { 0 };
        scratch.pixels.clear();
        scratch.slopes.clear();
        if let Some(at) = at {
            self.differentiate(at, scratch);
        }
        let ImageFitScratch {
            image, within, places, pixels, rows, samples, slopes, blurred, ..
        } = scratch;
        let others = within.clone().zip(&image[within.clone()]).filter(|(_, r)| **r != 0.0);
        samples.clear();
        let count = pixels.len();
        if sampling.blur <= 0.0 {
            samples.extend(pixels.iter().map(|&pixel| image[pixel]));
            let flat = |pixel: usize| at.is_none() || places[pixel] == u32::MAX;
            samples.extend(others.filter(|(pixel, _)| flat(*pixel)).map(|(_, &r)| r));
            slopes.resize(count * columns, 0.0);
            for (k, row) in rows.chunks_exact(columns.max(1)).take(count).enumerate() {
                row.iter().enumerate().for_each(|(column, &x)| slopes[column * count + k] = x);
            }
            return;
        }
        // Sums over blocks, a layer for the residual and one for each number; as far as there is anything.
        let seen = others.clone().map(|(pixel, _)| pixel);
        let Some(blocks) = sampling.blocks(size, seen.chain(pixels.iter().copied())) else {
            return;
        };
        samples.resize(blocks.count(), 0.0);
        let share = blocks.share();
        for (pixel, &r) in others {
            samples[blocks.place(pixel)] += share * r;
        }
        sampling.blur(&blocks, samples, blurred);
        slopes.resize(blocks.count() * columns, 0.0);
        for (&pixel, row) in pixels.iter().zip(rows.chunks_exact(columns.max(1))) {
            let place = blocks.place(pixel);
            let layers = slopes[place..].iter_mut().step_by(blocks.count());
            layers.zip(row).for_each(|(to, &x)| *to += share * x);
        }
        for layer in slopes.chunks_exact_mut(blocks.count()) {
            sampling.blur(&blocks, layer, blurred);
        }
    }

    /// Finds the derivatives of all pixels that have any.
    fn differentiate(&self, at: &SilhouetteInputs<f64>, scratch: &mut ImageFitScratch) {
        let columns = self.columns();
        let [corners, world] = at.corners(&self.silhouette.solids);
        let ImageFitScratch { borders, image, places, pixels, rows, .. } = scratch;
        places.clear();
        places.resize(image.len(), u32::MAX);
        rows.clear();
        let mut owners = vec![0; world.len()];
        for (k, solid) in self.silhouette.solids.solids.iter().enumerate() {
            owners[solid.first..solid.first + solid.corners.len()].fill(k);
        }
        for (pixel, sign, slopes) in self.silhouette.slopes(borders, &corners) {
            if places[pixel] == u32::MAX {
                places[pixel] = pixels.len() as u32;
                pixels.push(pixel);
                rows.resize(rows.len() + columns, 0.0);
            }
            let first = places[pixel] as usize * columns;
            let row = &mut rows[first..first + columns];
            for &(corner, g) in slopes.iter() {
                self.pull_back(at, (owners[corner], corner), &world[corner], &(g * sign), row);
            }
        }
    }

    /// Adds what the adjoint `g` of the homogeneous coordinates of a corner makes of all numbers.
    fn pull_back(
        &self,
        at: &SilhouetteInputs<f64>,
        (solid, corner): (usize, usize),
        point: &Vector3<f64>,
        g: &Vector3<f64>,
        row: &mut [f64],
    ) {
        let first = row.len() - PINHOLE;
        let (row, of_camera) = row.split_at_mut(first);
        let g = at.pinhole.pull_back(point, g, of_camera);
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

packed!(RecordedMask { size, spans, first_row, values, borders });
