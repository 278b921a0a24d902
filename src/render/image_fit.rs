//! How far a mask is from a recorded one, as few residuals.
//!
//! A frame has tens of thousands of pixels, and what it says of a motion are six numbers a body. With the residuals r of its pixels
//! and their Jacobian J in the poses, A = J'J = U L U' and b = J'r, the residuals sqrt(L_i) u_i'dx + u_i'b / sqrt(L_i), and
//! one more for what is left of |r|, have the same sum of squares, the same J'J and the same J'r. So a least-squares
//! search sees all pixels, and no more than these numbers go on to duals and tapes.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

use super::coverage::cover;
use super::pinhole::{PINHOLE, Pinhole};
use super::silhouette::{Borders, SilhouetteScratch};
use super::solids::Placed;
use super::{Picture, Sampling, Silhouette, SilhouetteInputs, Solids};
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Model, Parameters};

/// A recorded mask: the part of it that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Width and height of the whole, px.
    pub size: [usize; 2],
    first: [usize; 2],
    width: usize,
    /// Coverage, row by row, in units of 1 / 65535.
    values: Vec<u16>,
}

impl Target {
    /// Of the brightness of a picture.
    pub fn of(picture: &Picture) -> Target {
        let [width, height] = picture.size;
        let seen = |&(k, _): &(usize, &u16)| picture.values[k] > 0;
        let places =
            picture.values.iter().enumerate().filter(seen).map(|(k, _)| [k % width, k / width]);
        let mut bounds: Option<[[usize; 2]; 2]> = None;
        for [x, y] in places {
            let [low, high] = bounds.unwrap_or([[x, y], [x, y]]);
            bounds = Some([[low[0].min(x), low[1].min(y)], [high[0].max(x), high[1].max(y)]]);
        }
        let [first, last] = bounds.map_or([[0; 2]; 2], |[low, high]| [low, high.map(|x| x + 1)]);
        let rows = first[1]..last[1].min(height);
        let values = rows.flat_map(|y| &picture.values[y * width + first[0]..y * width + last[0]]);
        Target {
            size: picture.size,
            first,
            width: last[0] - first[0],
            values: values.copied().collect(),
        }
    }

    /// Whether nothing is covered.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Tells all of it, to be told from others by.
    pub(crate) fn bytes(&self, tell: &mut impl FnMut(&[u8])) {
        for number in self.size.iter().chain(&self.first).chain([&self.width]) {
            tell(&number.to_le_bytes());
        }
        self.values.iter().for_each(|x| tell(&x.to_le_bytes()));
    }

    /// Calls `see` with each pixel that is not empty by its place and how much of it is covered.
    fn each(&self, mut see: impl FnMut(usize, f64)) {
        if self.width == 0 {
            return;
        }
        for (row, values) in self.values.chunks_exact(self.width).enumerate() {
            let first = (self.first[1] + row) * self.size[0] + self.first[0];
            values.iter().enumerate().for_each(|(k, &x)| see(first + k, f64::from(x) / 65535.0));
        }
    }

    /// How many pixels tell where an outline is: those beside which another has another value.
    pub fn borders(&self) -> usize {
        if self.width == 0 {
            return 0;
        }
        let rows = self.values.len() / self.width;
        let at = |x: isize, y: isize| match (usize::try_from(x), usize::try_from(y)) {
            (Ok(x), Ok(y)) if x < self.width && y < rows => self.values[y * self.width + x],
            _ => 0,
        };
        let places = (0..rows as isize).flat_map(|y| (0..self.width as isize).map(move |x| [x, y]));
        let differs = |&[x, y]: &[isize; 2]| {
            [[-1, 0], [1, 0], [0, -1], [0, 1]]
                .into_iter()
                .any(|[dx, dy]| at(x + dx, y + dy) != at(x, y))
        };
        places.filter(differs).count()
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
    /// Of each pixel its row among `rows`, if it has one.
    places: Vec<u32>,
    rows: Vec<f64>,
    pixels: Vec<usize>,
    blocks: Vec<f64>,
    blurred: Vec<f64>,
}

/// What eigenvalues of J'J, scaled to ones along its diagonal, count as zero.
const RANK: f64 = 1e-12;

impl ImageFit {
    /// A camera that looks at `bodies`.
    pub fn new(
        (model, parameters): (&Model, &Parameters<f64>),
        camera: usize,
        bodies: &[usize],
    ) -> ImageFit {
        let solids = Solids::new(model, parameters, bodies);
        let seen = solids.bodies();
        let place = |body: usize| seen.iter().position(|&other| other == body).unwrap_or(0);
        ImageFit {
            camera,
            bodies: seen.len(),
            owners: solids.solids.iter().map(|solid| place(solid.body)).collect(),
            silhouette: Silhouette { solids: Arc::new(solids), size: model.cameras[camera].size },
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

    /// How many numbers an image is a function of: poses, sizes and places of shapes, the camera.
    fn columns(&self) -> usize {
        POSE * self.bodies + SOLID * self.owners.len() + PINHOLE
    }

    /// How many residuals a frame has.
    pub fn residuals(&self) -> usize {
        self.columns() + 1
    }

    /// Appends the residuals of a frame: of a mask, sampled, over the standard deviation of a pixel. `robust` makes of the
    /// residual of a pixel the one that counts, with its slope.
    pub fn compare<T: Real>(
        &self,
        (model, parameters): (&Model, &Parameters<T>),
        kinematics: &Kinematics<T>,
        (target, sampling, noise): (&Target, Sampling, f64),
        robust: impl Fn(f64) -> [f64; 2],
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
        if T::ORDER == 0 {
            // Whatever they are made of, squares have one sum.
            let mut square = 0.0;
            self.differences(&values, target, sampling, scratch, |r| {
                square += robust(r / noise)[0].powi(2)
            });
            residuals.resize(residuals.len() + columns, T::zero());
            residuals.push(T::constant(square.sqrt()));
            return;
        }
        let (mut a, mut b, mut square): (DMatrix<f64>, DVector<f64>, f64) =
            (DMatrix::zeros(columns, columns), DVector::zeros(columns), 0.0);
        self.linearize(&values, target, sampling, scratch, |r, row| {
            let [r, slope] = robust(r / noise);
            let slope = slope / noise;
            square += r * r;
            for (i, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                b[i] += slope * x * r;
                for (j, &y) in row[..=i].iter().enumerate() {
                    a[(i, j)] += slope * slope * x * y;
                }
            }
        });
        a.fill_upper_triangle_with_lower_triangle();
        let moved = self.moved(&at, &values);
        let scale =
            DVector::from_fn(
                columns,
                |i, _| if a[(i, i)] > 0.0 { 1.0 / a[(i, i)].sqrt() } else { 0.0 },
            );
        let scaled = DMatrix::from_fn(columns, columns, |i, j| a[(i, j)] * scale[i] * scale[j]);
        let eigen = scaled.symmetric_eigen();
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

    /// Calls `see` with the residual of each sample that has one.
    fn differences(
        &self,
        at: &SilhouetteInputs<f64>,
        target: &Target,
        sampling: Sampling,
        scratch: &mut ImageFitScratch,
        mut see: impl FnMut(f64),
    ) {
        let size = self.silhouette.size;
        let [corners, _] = at.corners(&self.silhouette.solids);
        let ImageFitScratch { borders, scratch: own, image, blocks, blurred, .. } = scratch;
        self.silhouette.decide(&corners, borders, own);
        image.resize(size[0] * size[1], 0.0);
        cover(&borders.pieces, &borders.edges, &corners, size, image);
        target.each(|pixel, covered| image[pixel] -= covered);
        if sampling.blur > 0.0 {
            sampling.reduce(size, image, blocks);
            sampling.blur(sampling.size(size), blocks, blurred);
            std::mem::swap(image, blocks);
        }
        image.iter().filter(|r| **r != 0.0).for_each(|&r| see(r));
    }

    /// Calls `see` with the residual of each sample and its derivative in all numbers that an image is a function of.
    fn linearize(
        &self,
        at: &SilhouetteInputs<f64>,
        target: &Target,
        sampling: Sampling,
        scratch: &mut ImageFitScratch,
        mut see: impl FnMut(f64, &[f64]),
    ) {
        let columns = self.columns();
        let size = self.silhouette.size;
        let pixels = size[0] * size[1];
        let [corners, world] = at.corners(&self.silhouette.solids);
        let ImageFitScratch {
            borders,
            scratch: own,
            image,
            places,
            rows,
            pixels: listed,
            blocks,
            blurred,
        } = scratch;
        self.silhouette.decide(&corners, borders, own);
        image.resize(pixels, 0.0);
        cover(&borders.pieces, &borders.edges, &corners, size, image);
        target.each(|pixel, covered| image[pixel] -= covered);
        // The derivatives of pixels that have any.
        places.clear();
        places.resize(pixels, u32::MAX);
        rows.clear();
        listed.clear();
        let mut owner_of = vec![0; world.len()];
        for (k, solid) in self.silhouette.solids.solids.iter().enumerate() {
            owner_of[solid.first..solid.first + solid.corners.len()].fill(k);
        }
        for (pixel, [a, b], m) in self.silhouette.slopes(borders, &corners) {
            if places[pixel] == u32::MAX {
                places[pixel] = listed.len() as u32;
                listed.push(pixel);
                rows.resize(rows.len() + columns, 0.0);
            }
            let first = places[pixel] as usize * columns;
            let row = &mut rows[first..first + columns];
            for (corner, g) in [(a, corners[b].cross(&m)), (b, m.cross(&corners[a]))] {
                self.pull_back(at, (owner_of[corner], corner), &world[corner], &g, row);
            }
        }
        if sampling.blur <= 0.0 {
            for (pixel, &r) in image.iter().enumerate() {
                match places[pixel] {
                    u32::MAX if r == 0.0 => {}
                    u32::MAX => see(r, &[]),
                    place => {
                        see(r, &rows[place as usize * columns..(place as usize + 1) * columns])
                    }
                }
            }
            return;
        }
        // Sums over blocks, a layer for the residual and one for each column.
        let block = sampling.block();
        let [across, down] = sampling.size(size);
        let layer = across * down;
        blocks.clear();
        blocks.resize(layer * (columns + 1), 0.0);
        let share = 1.0 / (block * block) as f64;
        let place = |pixel: usize| pixel / size[0] / block * across + pixel % size[0] / block;
        sampling.reduce(size, image, blurred);
        blocks[..layer].copy_from_slice(blurred);
        for (&pixel, row) in listed.iter().zip(rows.chunks_exact(columns.max(1))) {
            for (k, &x) in row.iter().enumerate() {
                blocks[(k + 1) * layer + place(pixel)] += share * x;
            }
        }
        for image in blocks.chunks_exact_mut(layer) {
            sampling.blur([across, down], image, blurred);
        }
        let mut row = vec![0.0; columns];
        for sample in 0..layer {
            for (k, x) in row.iter_mut().enumerate() {
                *x = blocks[(k + 1) * layer + sample];
            }
            see(blocks[sample], &row);
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
