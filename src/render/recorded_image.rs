//! Images that were recorded, in little space.

use std::ops::Range;

use super::picture::{ColourPicture, Picture, to_linear};
use crate::packed::packed;

/// A recorded image: a mask, of each row from the first to the last covered pixel; or colours, which have their brightness in its
/// place.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedImage {
    /// Width and height of the whole, px.
    pub size: [usize; 2],
    /// Of each row between the first and the last that are not empty: the place in the whole of its first covered pixel, and
    /// where its values begin.
    spans: Vec<[u32; 2]>,
    first_row: usize,
    /// Coverage, row by row, in units of 1 / 65535.
    values: Vec<u16>,
    borders: usize,
    /// Light of all pixels, red, green and blue, row by row, in units of 1 / 65535; nothing of masks.
    colours: Vec<u16>,
}

/// Neighbours that differ by more than this tell where an outline is: a fiftieth of a pixel.
const OUTLINE: u16 = 1311;

impl RecordedImage {
    /// Of the brightness of a picture.
    pub fn of(picture: &Picture) -> RecordedImage {
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
        let mut mask = RecordedImage {
            size,
            spans,
            first_row: rows.start,
            values,
            borders: 0,
            colours: Vec::new(),
        };
        mask.borders = mask.count_borders();
        mask
    }

    /// Of colours.
    pub fn of_colours(picture: &ColourPicture) -> RecordedImage {
        let unit = |x: f64| (x * 65535.0).round() as u16;
        let light =
            picture.values.iter().map(|pixel| pixel.map(|x| to_linear(f64::from(x) / 255.0)));
        let bright =
            |pixel: &[f64; 3]| pixel.iter().zip(BRIGHTNESS).map(|(x, part)| x * part).sum();
        let values = light.clone().map(|pixel| unit(bright(&pixel))).collect();
        let mut image = RecordedImage::of(&Picture { size: picture.size, values });
        image.colours = light.flatten().map(unit).collect();
        image
    }

    /// Whether it has colours.
    pub fn is_coloured(&self) -> bool {
        !self.colours.is_empty()
    }

    /// Takes all numbers of it from an image: one a pixel of a mask, three of colours.
    pub(super) fn take_from(&self, image: &mut [f64]) {
        if !self.is_coloured() {
            return self.each(|pixel, covered| image[pixel] -= covered);
        }
        image.iter_mut().zip(&self.colours).for_each(|(to, &x)| *to -= f64::from(x) / 65535.0);
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
        self.colours.iter().for_each(|x| tell(&x.to_le_bytes()));
    }

    /// The rows that are not empty.
    pub(super) fn rows(&self) -> Range<usize> {
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

/// What red, green and blue count in how bright light is (ITU-R BT.709).
pub(super) const BRIGHTNESS: [f64; 3] = [0.2126, 0.7152, 0.0722];

packed!(RecordedImage { size, spans, first_row, values, borders, colours });
