//! What cameras see of a scene: masks and colours, exactly, and how they change with all that moves.
//!
//! A pixel of a mask is the share of its square that bodies cover. Bodies are surfaces of triangles; of those that face the
//! camera only the outline is left, edges between what faces it and what does not (`outline`). Along a row of pixels the
//! outlines are crossed from left to right, and inside is where more of them were entered than left (`coverage`), so that
//! bodies and parts of one that hide each other count once. Which edges cross, and which pieces of them border what is
//! covered, is decided on values and handed down as data.
//!
//! The derivative is that of the pieces: where the line l of an edge (l's = 0 at its points s = (x, y, 1), in px) moves, the area
//! beside a piece of length L with the middle m changes by L dl'm / |(l_x, l_y)|, and with l = a x b for its ends in
//! homogeneous coordinates dl'm = da'(b x m) + db'(m x a). It exists but where corners or crossings coincide, faces are seen
//! edge-on, or an edge lies along the border of pixels: there it has a side.
//!
//! | | |
//! |---|---|
//! | [`Pinhole`] | a camera: from points of the world to homogeneous coordinates of its image |
//! | [`Solids`] | the surfaces of bodies |
//! | [`Silhouette`] | the mask as a node, inputs are poses, sizes and the camera |
//! | [`ColourImage`] | colours as a node: which face is visible where (`visibility`), its area in each pixel (`fragments`), its brightness by the [`Light`] |
//! | [`ImageFit`] | how far a mask or colours are from a [`RecordedImage`], as few residuals with the same J'J and J'r |
//! | [`Picture`], [`ColourPicture`] | images of files |

mod colour_fit;
mod colour_image;
mod coverage;
mod fragments;
mod image_fit;
mod outline;
mod picture;
mod piece;
mod pinhole;
mod recorded_image;
mod row_table;
mod sampling;
mod shading;
mod silhouette;
mod solids;
mod strips;
mod visibility;

pub use colour_image::{ColourImage, ColourInputs};
pub use image_fit::{ColourView, ImageFit, ImageFitScratch};
pub use picture::{ColourPicture, Picture, to_linear, to_screen, write_animation};
pub use pinhole::Pinhole;
pub use recorded_image::RecordedImage;
pub use sampling::Sampling;
pub use shading::Light;
pub use silhouette::{Silhouette, SilhouetteInputs};
pub use solids::Solids;
