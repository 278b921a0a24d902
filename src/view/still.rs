//! What a camera sees of a scene, as a picture.

use std::sync::Arc;

use crate::Error;
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::formats::Looks;
use crate::model::{Lighting, Model, Parameters, Scene};
use crate::render::{
    ColourImage, ColourInputs, ColourPicture, Light, Picture, Pinhole, Silhouette,
    SilhouetteInputs, Solids, to_linear,
};
use crate::state::State;

/// Width and height of pictures where no camera says it, px.
const USUAL_SIZE: [usize; 2] = [640, 480];

/// A scene before a camera: one of its own, or one from where all of it is seen.
#[derive(Clone, Debug)]
pub struct Still<'a> {
    model: &'a Model,
    parameters: &'a Parameters<f64>,
    solids: Arc<Solids>,
    viewpoint: Viewpoint,
    lighting: Lighting,
    mask: bool,
}

/// From where it is seen.
#[derive(Clone, Copy, Debug)]
enum Viewpoint {
    /// A camera of the scene.
    Camera(usize),
    /// A camera that sees all of it.
    Usual(Pinhole<f64>),
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub enum StillPicture {
    /// How much of each pixel is covered.
    Mask(Picture),
    /// Its colours.
    Colour {
        /// The picture.
        picture: ColourPicture,
        /// Whether nothing is seen in it.
        is_empty: bool,
    },
}

impl StillPicture {
    /// Whether nothing is seen.
    pub fn is_empty(&self) -> bool {
        match self {
            StillPicture::Mask(picture) => picture.values.iter().all(|&x| x == 0),
            StillPicture::Colour { is_empty, .. } => *is_empty,
        }
    }

    /// The same, masks in grey.
    pub fn in_colour(self) -> ColourPicture {
        match self {
            StillPicture::Mask(picture) => picture.in_colour(),
            StillPicture::Colour { picture, .. } => picture,
        }
    }
}

impl<'a> Still<'a> {
    /// All of a scene in colour, by one of its cameras, or one that sees all of it where it starts; and what could not be read of
    /// what it looks like.
    pub fn in_colour(scene: &'a Scene, camera: Option<usize>) -> (Still<'a>, Vec<Error>) {
        let (meshes, warnings) = Looks::default().of(&scene.model);
        let solids = Solids::of_scene(&scene.model, &scene.parameters, &meshes);
        (Still::of(scene, camera, solids, false), warnings)
    }

    /// The mask of some bodies.
    pub fn masked(scene: &'a Scene, camera: Option<usize>, bodies: &[usize]) -> Still<'a> {
        let solids = Solids::new(&scene.model, &scene.parameters, bodies);
        Still::of(scene, camera, solids, true)
    }

    fn of(scene: &'a Scene, camera: Option<usize>, solids: Solids, mask: bool) -> Still<'a> {
        let usual = Viewpoint::Usual(Pinhole::around([[-0.5; 3], [0.5; 3]], USUAL_SIZE));
        let still = Still {
            model: &scene.model,
            parameters: &scene.parameters,
            solids: Arc::new(solids),
            viewpoint: camera.map_or(usual, Viewpoint::Camera),
            lighting: scene.model.light.unwrap_or_default(),
            mask,
        };
        still.framing([&scene.state])
    }

    /// The same by a camera that sees all of it in all of these states, if it is none of the scene.
    pub fn framing<'b>(mut self, states: impl IntoIterator<Item = &'b State<f64>>) -> Still<'a> {
        if matches!(self.viewpoint, Viewpoint::Camera(_)) {
            return self;
        }
        let at = (self.model, self.parameters);
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for state in states {
            let kinematics = Kinematics::new(at.0, at.1, state);
            for corner in self.solids.bounded_corners(at, &kinematics) {
                for k in 0..3 {
                    (low[k], high[k]) = (low[k].min(corner[k]), high[k].max(corner[k]));
                }
            }
        }
        if low[0] <= high[0] {
            self.viewpoint = Viewpoint::Usual(Pinhole::around([low, high], USUAL_SIZE));
        }
        self
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.solids.is_empty()
    }

    /// Width and height of its pictures, px.
    pub fn size(&self) -> [usize; 2] {
        match self.viewpoint {
            Viewpoint::Camera(camera) => self.model.cameras[camera].size,
            Viewpoint::Usual(_) => USUAL_SIZE,
        }
    }

    /// What is seen with these parameters in a state.
    pub fn draw(&self, parameters: &Parameters<f64>, state: &State<f64>) -> StillPicture {
        let at = (self.model, parameters);
        let kinematics = Kinematics::new(at.0, at.1, state);
        let pinhole = match self.viewpoint {
            Viewpoint::Camera(camera) => Pinhole::of(at.0, at.1, &kinematics, camera),
            Viewpoint::Usual(usual) => usual,
        };
        let (solids, size) = (self.solids.clone(), self.size());
        let places = SilhouetteInputs::seen_from(&solids, at, &kinematics, pinhole);
        let pixels = size[0] * size[1];
        let (seen, scratch) = (&mut Default::default(), &mut Default::default());
        if self.mask {
            let mut image = vec![0.0; pixels];
            let node = Silhouette { solids, size };
            f64::call(&node, &places.flat(), &mut image, seen, scratch);
            return StillPicture::Mask(Picture::of(size, &image));
        }
        let colours = solids.colours();
        let light = Light::of(&self.lighting);
        let inputs = ColourInputs { places, colours, light }.flat();
        let mut image = vec![0.0; 4 * pixels];
        let (seen, scratch) = (&mut Default::default(), &mut Default::default());
        f64::call(&ColourImage { solids, size }, &inputs, &mut image, seen, scratch);
        let image = image.as_chunks::<4>().0;
        let [red, green, blue, _] = self.lighting.background.map(to_linear);
        let behind = [red, green, blue];
        let light: Vec<[f64; 3]> =
            image.iter().map(|pixel| ColourImage::before(pixel, &behind)).collect();
        let is_empty = image.iter().all(|pixel| pixel[3] == 0.0);
        StillPicture::Colour { picture: ColourPicture::of(size, &light), is_empty }
    }
}
