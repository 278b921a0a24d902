//! What a report shows of cameras: recorded masks beside the fit, and how they change with parameters.

use std::path::Path;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::Serialize;

use crate::identify::{Dataset, Experiment, Fit, MaskFrame, mask_frames, mask_sensitivities};
use crate::render::ColourPicture;
use crate::state::State;

/// The most frames of a clip.
const MOST_FRAMES: usize = 60;
/// Pixels of all of its frames, which are held at once.
const MOST_PIXELS: usize = 40_000_000;
/// Pixels around what is seen.
const MARGIN: usize = 6;

/// What a camera saw in a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MaskClip {
    /// Camera and recording.
    pub name: String,
    /// Width and height of its pictures, px.
    pub size: [usize; 2],
    /// s.
    pub times: Vec<f64>,
    /// Pictures: recorded and fit, one over the other (PNG, base64).
    pub pictures: Vec<String>,
    /// Of each the root of the mean square of the difference, of all pixels of the image.
    pub differences: Vec<f64>,
    /// How pictures change with parameters.
    pub sensitivities: Vec<SensitivityPicture>,
}

/// How what is seen changes with a parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SensitivityPicture {
    /// What it shows, in words.
    pub caption: String,
    /// The picture (PNG, base64).
    pub picture: String,
}

/// A part of an image.
struct Part {
    first: [usize; 2],
    size: [usize; 2],
}

/// What all cameras saw in the recordings that are `shown`.
pub(super) fn mask_clips(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    starts: &[State<f64>],
    shown: &[(usize, &str)],
) -> Vec<MaskClip> {
    let mut clips = Vec::new();
    for (place, &(recording, rank)) in shown.iter().enumerate() {
        for (sensor, camera) in experiment.masks.iter().enumerate() {
            let at = (recording, sensor);
            let start = &starts[recording];
            let [width, height] = camera.fit.size();
            let most = (MOST_PIXELS / (width * height).max(1)).clamp(1, MOST_FRAMES);
            let frames = mask_frames(experiment, dataset, &fit.identified, at, start, most);
            if frames.is_empty() {
                continue;
            }
            let part = Part::about(&frames);
            // Of the first one: they are much alike.
            let sensitivities = match place {
                0 => mask_sensitivities(experiment, dataset, fit, at, start),
                _ => Vec::new(),
            };
            let sensitivities = sensitivities.into_iter().filter_map(|s| {
                let most = s.change.iter().map(|x| x.abs()).fold(0.0, f64::max);
                (most > 0.0).then(|| SensitivityPicture {
                    caption: format!("{}, at {:.3} s", s.name, s.time),
                    picture: encoded(
                        &part.colours(s.size[0], |pixel| signed(s.change[pixel] / most)),
                    ),
                })
            });
            let path = Path::new(&dataset.trajectories[recording].name);
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            clips.push(MaskClip {
                name: format!("{}: {name} ({rank})", camera.name),
                size: part.size,
                times: frames.iter().map(|frame| frame.time).collect(),
                pictures: frames.iter().map(|frame| encoded(&overlay(frame, &part))).collect(),
                differences: frames.iter().map(|frame| frame.difference).collect(),
                sensitivities: sensitivities.collect(),
            });
        }
    }
    clips
}

impl Part {
    /// All that is seen or recorded in some frame.
    fn about(frames: &[MaskFrame]) -> Part {
        let [width, height] = frames[0].seen.size;
        let (mut low, mut high) = ([width, height], [0, 0]);
        for picture in frames.iter().flat_map(|frame| [&frame.seen, &frame.recorded]) {
            let covered = picture.values.iter().enumerate().filter(|(_, x)| **x > 0);
            for place in covered.map(|(pixel, _)| [pixel % width, pixel / width]) {
                for k in 0..2 {
                    low[k] = low[k].min(place[k]);
                    high[k] = high[k].max(place[k] + 1);
                }
            }
        }
        let all = [width, height];
        let first = low.map(|x| x.saturating_sub(MARGIN));
        let last = [0, 1].map(|k| (high[k] + MARGIN).min(all[k]));
        match first[0] < last[0] && first[1] < last[1] {
            true => Part { first, size: [last[0] - first[0], last[1] - first[1]] },
            false => Part { first: [0, 0], size: all },
        }
    }

    /// A picture of this part of an image of some width.
    fn colours(&self, width: usize, colour: impl Fn(usize) -> [f64; 3]) -> ColourPicture {
        let [x0, y0] = self.first;
        let [across, down] = self.size;
        let pixels = (0..down).flat_map(|y| (0..across).map(move |x| (y0 + y) * width + x0 + x));
        let byte = |x: f64| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        ColourPicture {
            size: self.size,
            values: pixels.map(|pixel| colour(pixel).map(byte)).collect(),
        }
    }
}

/// White where nothing is; grey where both are; blue where only the recording is, orange where only the fit.
fn overlay(frame: &MaskFrame, part: &Part) -> ColourPicture {
    const BOTH: [f64; 3] = [0.55, 0.57, 0.6];
    const RECORDED: [f64; 3] = [0.1, 0.35, 0.8];
    const SEEN: [f64; 3] = [0.9, 0.45, 0.05];
    let share = |x: u16| f64::from(x) / 65535.0;
    part.colours(frame.seen.size[0], |pixel| {
        let (seen, recorded) =
            (share(frame.seen.values[pixel]), share(frame.recorded.values[pixel]));
        let both = seen.min(recorded);
        std::array::from_fn(|k| {
            1.0 - both * (1.0 - BOTH[k])
                - (recorded - both) * (1.0 - RECORDED[k])
                - (seen - both) * (1.0 - SEEN[k])
        })
    })
}

/// White at 0, orange above and blue below.
fn signed(x: f64) -> [f64; 3] {
    let colour = if x > 0.0 { [0.9, 0.45, 0.05] } else { [0.1, 0.35, 0.8] };
    // What is small is to be seen, too.
    let size = x.abs().sqrt();
    colour.map(|c| 1.0 - size * (1.0 - c))
}

fn encoded(picture: &ColourPicture) -> String {
    let mut bytes = Vec::new();
    // Memory takes all that is written.
    match picture.write_png(&mut bytes) {
        Ok(()) => BASE64_STANDARD.encode(bytes),
        Err(_) => String::new(),
    }
}
