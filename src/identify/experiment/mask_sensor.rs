//! Cameras that recorded images: masks, of how much of each pixel bodies cover, or colours.

use std::path::Path;
use std::sync::Arc;

use crate::Error;
use crate::formats::Looks;
use crate::model::{Model, Parameters};
use crate::render::{ColourPicture, ColourView, ImageFit, to_linear};
use crate::table::Table;

/// A camera whose images are compared with what it would see of the simulation.
#[derive(Clone, Debug)]
pub struct MaskSensor {
    /// Its name.
    pub name: String,
    /// The column of the recordings that holds the names of image files, relative to the recording; nothing where there is no
    /// image.
    pub column: String,
    /// Standard deviation of a pixel, of which the values are 0 to 1.
    pub noise: f64,
    /// Blurs that the search goes through, from coarse to fine, px.
    pub blur: Vec<f64>,
    /// The camera and the bodies it sees.
    pub fit: Arc<ImageFit>,
}

/// Blurs where nothing is said, as shares of the height of an image.
const BLURS: [f64; 3] = [1.0 / 32.0, 1.0 / 64.0, 0.0];
/// The largest blur, as a share of the height of an image.
const WIDEST: f64 = 0.25;
/// The noise of a pixel where nothing is said.
const NOISE: f64 = 0.02;

impl MaskSensor {
    /// Reads a `[[sensor]]` table that has a `camera`, of an experiment in this directory.
    pub(super) fn read(
        table: &Table,
        directory: &Path,
        model: &Model,
        parameters: &Parameters<f64>,
    ) -> Result<MaskSensor, Error> {
        const FIELDS: [&str; 8] =
            ["name", "camera", "compare", "background", "column", "bodies", "noise", "blur"];
        table.only(&FIELDS)?;
        let camera = table.required("camera", table.string("camera")?)?;
        let Some(index) = model.cameras.iter().position(|known| known.name == camera) else {
            let known: Vec<&str> = model.cameras.iter().map(|known| known.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            let message =
                format!("the scene has no camera {camera:?}; its [[camera]] are: {known}");
            return Err(table.error("camera", message));
        };
        let coloured = match table.string("compare")? {
            None | Some("mask") => false,
            Some("colour") => true,
            Some(other) => {
                let message = format!(
                    "must be \"mask\", how much of a pixel bodies cover, or \"colour\", found {other:?}"
                );
                return Err(table.error("compare", message));
            }
        };
        let background = match table.string("background")? {
            Some(_) if !coloured => {
                let message = "is a picture of all but the bodies, for compare = \"colour\"";
                return Err(table.error("background", message));
            }
            Some(file) => {
                let read = ColourPicture::load(directory.join(file));
                Some(read.map_err(|error| table.error("background", error.to_string()))?)
            }
            None => None,
        };
        if let Some(found) = background.as_ref().map(|picture| picture.size)
            && found != model.cameras[index].size
        {
            let [width, height] = model.cameras[index].size;
            let message = format!(
                "has {} x {} pixels, and the camera {width} x {height}",
                found[0], found[1]
            );
            return Err(table.error("background", message));
        }
        if coloured && background.is_none() && table.has("bodies") {
            let message = "are those before a `background`; without one all of the scene is seen";
            return Err(table.error("bodies", message));
        }
        let moves = |body: usize| model.bodies[body].tree.is_some();
        let bodies = match table.strings("bodies")? {
            None => (0..model.bodies.len()).filter(|&body| moves(body)).collect(),
            Some(names) => {
                let find = |name: &str| {
                    model.bodies.iter().position(|body| body.name == name).ok_or_else(|| {
                        let known: Vec<&str> =
                            model.bodies.iter().map(|b| b.name.as_str()).collect();
                        let known = known.join(", ");
                        table.error(
                            "bodies",
                            format!("the scene has no body {name:?}; it has {known}"),
                        )
                    })
                };
                names.into_iter().map(find).collect::<Result<Vec<usize>, _>>()?
            }
        };
        let scene = (model, parameters);
        let fit = match (coloured, background) {
            (false, _) => ImageFit::new(scene, index, &bodies),
            (true, None) => {
                ImageFit::in_colour(scene, index, ColourView::All, &Looks::default().of(model).0)
            }
            (true, Some(picture)) => {
                let light = |pixel: &[u8; 3]| pixel.map(|x| to_linear(f64::from(x) / 255.0));
                let light = picture.values.iter().map(light).collect();
                ImageFit::in_colour(scene, index, ColourView::Before(bodies, light), &[])
            }
        };
        if !fit.sees() {
            let message = "none of the bodies has a shape, so that nothing of them is seen";
            return Err(table.error(if table.has("bodies") { "bodies" } else { "camera" }, message));
        }
        let noise = table.number("noise")?.unwrap_or(NOISE);
        table.demand("noise", noise > 0.0, "must be positive", noise, "")?;
        let height = fit.size()[1] as f64;
        let blur =
            table.list("blur")?.unwrap_or_else(|| BLURS.map(|share| share * height).to_vec());
        let falls = blur.windows(2).all(|pair| pair[0] > pair[1]);
        if blur.last() != Some(&0.0) || !falls || blur[0] > WIDEST * height {
            let most = WIDEST * height;
            let message = format!(
                "must be a falling list of px, of at most {most}, that ends with 0, found {blur:?}"
            );
            return Err(table.error("blur", message));
        }
        let name = table.string("name")?.unwrap_or(camera).to_string();
        let column = table.string("column")?.unwrap_or(&name).to_string();
        Ok(MaskSensor { name, column, noise, blur, fit: Arc::new(fit) })
    }
}
