//! Colours beside recorded ones.

use nalgebra::Vector3;

use super::colour_image::{CHANNELS, ColourImage, ColourInputs, ColourScratch, VisibleFaces};
use super::fragments::Fragment;
use super::piece::Moving;
use super::recorded_image::BRIGHTNESS;
use super::row_table::RowTable;
use super::shading::{LIGHT, Light, Lit};
use super::{Silhouette, SilhouetteInputs};
use crate::ad::Real;
use crate::fnv::Fnv;

/// The light, and what is behind all bodies: one colour, or one a pixel, linear.
#[derive(Clone, Debug)]
pub(super) struct ColourFit {
    light: Light<f64>,
    background: Vec<[f64; 3]>,
}

/// Adds what adjoints of a corner make of numbers.
type PullBack<'a> = dyn Fn(usize, [&Vector3<f64>; 2], &mut [f64]) + 'a;

/// The numbers that an image is a function of.
pub(super) struct ImageNumbers<'a> {
    pub count: usize,
    /// Those that change.
    pub moving: &'a [usize],
    /// Adds to a row what the adjoints of a corner, of its homogeneous coordinates and of its place in the world, make of all
    /// numbers.
    pub pull_back: &'a PullBack<'a>,
}

/// Scratch memory.
#[derive(Clone, Default)]
pub(super) struct ColourFitScratch {
    seen: VisibleFaces,
    scratch: ColourScratch<f64>,
    /// Colours before the background.
    image: Vec<f64>,
    faces: Vec<[f64; 3]>,
    /// How the brightness of each face changes: nothing where that is not known yet, empty where it does not.
    brighter: Vec<Option<Vec<f64>>>,
    whole: Vec<f64>,
}

impl ColourFit {
    pub fn new(light: Light<f64>, background: Vec<[f64; 3]>) -> Self {
        ColourFit { light, background }
    }

    /// To be told from others by.
    pub fn identity(&self, node: &Silhouette) -> String {
        let behind = Fnv::of(self.background.as_flattened());
        let colours: Vec<[f64; 3]> = node.solids.solids.iter().map(|solid| solid.colour).collect();
        format!("{:?} {behind} {colours:?}", self.light)
    }

    fn behind(&self, pixel: usize) -> &[f64; 3] {
        let own = self.background.get(pixel).or(self.background.first());
        own.unwrap_or(&[0.0; 3])
    }

    fn inputs<T: Real>(&self, node: &Silhouette, places: SilhouetteInputs<T>) -> ColourInputs<T> {
        ColourInputs { places, colours: node.solids.colours(), light: self.light.cast() }
    }

    fn node(node: &Silhouette) -> ColourImage {
        ColourImage { solids: node.solids.clone(), size: node.size }
    }

    /// How bright all pixels are.
    pub fn brightness<T: Real>(&self, node: &Silhouette, places: SilhouetteInputs<T>) -> Vec<T> {
        let inputs = self.inputs(node, places).flat();
        let image = Self::node(node);
        let mut seen = vec![T::zero(); CHANNELS * node.size[0] * node.size[1]];
        T::call(&image, &inputs, &mut seen, &mut Default::default(), &mut Default::default());
        let pixel = |(k, pixel): (usize, &[T; CHANNELS])| {
            let light = ColourImage::before(pixel, self.behind(k));
            light[0] * BRIGHTNESS[0] + light[1] * BRIGHTNESS[1] + light[2] * BRIGHTNESS[2]
        };
        seen.as_chunks::<CHANNELS>().0.iter().enumerate().map(pixel).collect()
    }

    /// Finds three numbers a pixel.
    pub fn see(
        &self,
        node: &Silhouette,
        places: &SilhouetteInputs<f64>,
        scratch: &mut ColourFitScratch,
        image: &mut Vec<f64>,
    ) {
        let inputs = self.inputs(node, places.clone());
        let ColourFitScratch { seen, scratch, image: before, .. } = scratch;
        before.resize(CHANNELS * node.size[0] * node.size[1], 0.0);
        Self::node(node).draw(&inputs, before, seen, scratch);
        image.clear();
        for (k, pixel) in before.as_chunks::<CHANNELS>().0.iter().enumerate() {
            image.extend(ColourImage::before(pixel, self.behind(k)));
        }
    }

    /// Finds the derivatives of all numbers of the image that have any.
    pub fn differentiate(
        &self,
        node: &Silhouette,
        places: &SilhouetteInputs<f64>,
        (scratch, table): (&mut ColourFitScratch, &mut RowTable),
        numbers: &ImageNumbers,
    ) {
        let ColourFitScratch { seen, scratch, faces, brighter, whole, .. } = scratch;
        let ImageNumbers { count, moving, pull_back } = numbers;
        let size = node.size;
        let at = self.inputs(node, places.clone());
        let [corners, world] = places.corners(&node.solids);
        Self::node(node).shade(&at, &world, &seen.facing, faces);
        let owners = node.solids.owners();
        let edges = Moving { edges: &seen.edges, corners: &corners };
        let none = Vector3::zeros();
        for piece in &seen.pieces {
            let Some(pixel) = piece.pixel(size[0]) else { continue };
            let Some([r, g, b, covered]) = ColourImage::step(faces, piece) else { continue };
            let Some(slopes) = edges.slopes(piece) else { continue };
            whole.clear();
            whole.resize(*count, 0.0);
            for &(corner, g) in slopes.iter() {
                pull_back(corner, [&g, &none], whole);
            }
            let behind = self.behind(pixel);
            for (c, step) in [r, g, b].into_iter().enumerate() {
                let step = step - covered * behind[c];
                let row = table.row(3 * pixel + c);
                row.iter_mut().zip(*moving).for_each(|(to, &k)| *to += step * whole[k]);
            }
        }
        brighter.clear();
        brighter.resize(faces.len(), None);
        let triangles = &node.solids.triangles;
        scratch.fragments.each((&seen.pieces, &edges), faces.len(), size, |fragment| {
            let Fragment { face, pixel, area } = fragment;
            let face = face as usize;
            let solid = owners[triangles[face][0]];
            let slope = brighter[face].get_or_insert_with(|| {
                if node.solids.solids[solid].normal.is_some() {
                    return Vec::new();
                }
                let lit = Lit::new(triangles[face].map(|k| world[k]), seen.facing[face]);
                let of_world = at.light.pull_back(&lit, 1.0, &mut [0.0; LIGHT]);
                whole.clear();
                whole.resize(*count, 0.0);
                for (corner, g) in triangles[face].into_iter().zip(of_world) {
                    pull_back(corner, [&none, &g], whole);
                }
                let slope: Vec<f64> = moving.iter().map(|&k| whole[k]).collect();
                if slope.iter().all(|x| *x == 0.0) { Vec::new() } else { slope }
            });
            if slope.is_empty() {
                return;
            }
            for (c, own) in at.colours[solid].into_iter().enumerate() {
                let row = table.row(3 * pixel + c);
                row.iter_mut().zip(&*slope).for_each(|(to, x)| *to += own * area * x);
            }
        });
    }
}
