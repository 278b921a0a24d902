//! Images in files.

use std::io::{Cursor, Write};
use std::path::Path;

use png::{BitDepth, ColorType, Decoder, Encoder, Transformations};

use crate::Error;
use crate::text::read_bytes;

/// An image of one number a pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Width and height, px.
    pub size: [usize; 2],
    /// Row by row from above, in units of 1 / 65535.
    pub values: Vec<u16>,
}

/// Bytes of one file, and pixels.
const MOST_BYTES: u64 = 256 << 20;
const MOST_PIXELS: usize = 1 << 26;

impl Picture {
    /// Of numbers from 0 to 1.
    pub fn of(size: [usize; 2], values: &[f64]) -> Picture {
        let value = |&x: &f64| (x.clamp(0.0, 1.0) * 65535.0).round() as u16;
        Picture { size, values: values.iter().map(value).collect() }
    }

    /// Reads a mask from a PNG file: its alpha if it has one and is not opaque all over, else its brightness, of 8 or 16 bits.
    ///
    /// # Errors
    /// If the file is no PNG, is cut short, or is in colour.
    pub fn load_mask(path: impl AsRef<Path>) -> Result<Picture, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        Picture::parse_mask(&read_bytes(path, MOST_BYTES)?, &name)
    }

    /// Reads the bytes of such a file; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`load_mask`](Self::load_mask).
    pub fn parse_mask(bytes: &[u8], name: &str) -> Result<Picture, Error> {
        let wrong = |message: String| Error::input(name, None, "", message);
        let mut decoder = Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(Transformations::EXPAND);
        let no_png = |error: png::DecodingError| {
            wrong(format!("is not read as a PNG: {error}; convert it, or save it again"))
        };
        let mut reader = decoder.read_info().map_err(no_png)?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        // One colour that is called transparent is no alpha of pixels.
        let own_alpha =
            matches!(reader.info().color_type, ColorType::GrayscaleAlpha | ColorType::Rgba);
        if width.checked_mul(height).is_none_or(|pixels| pixels > MOST_PIXELS) {
            return Err(wrong(format!("has {width} x {height} pixels, more than {MOST_PIXELS}")));
        }
        let most = reader.output_buffer_size();
        let mut buffer = vec![0; most.unwrap_or(0)];
        let frame = reader.next_frame(&mut buffer).map_err(no_png)?;
        let buffer = &buffer[..frame.buffer_size()];
        let samples: Vec<u16> = match frame.bit_depth {
            BitDepth::Sixteen => {
                buffer.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
            }
            // Times 257 makes 255 the largest.
            _ => buffer.iter().map(|&x| u16::from(x) * 257).collect(),
        };
        let channels = frame.color_type.samples();
        let colours = match frame.color_type {
            ColorType::Grayscale | ColorType::GrayscaleAlpha => 1,
            _ => 3,
        };
        let pixels = || samples.chunks_exact(channels);
        let alphas = || pixels().map(|pixel| pixel[channels - 1]);
        // What is opaque all over says nothing by that; what is transparent all over, that nothing is there.
        if own_alpha && alphas().any(|alpha| alpha != u16::MAX) {
            return Ok(Picture { size: [width, height], values: alphas().collect() });
        }
        if let Some(k) = pixels().position(|pixel| pixel[..colours].iter().any(|&x| x != pixel[0]))
        {
            let message = format!(
                "is in colour, as at column {}, row {}: a mask is grey, 0 where nothing is and the largest number where \
                 bodies cover a pixel, or has them as its alpha",
                k % width,
                k / width
            );
            return Err(wrong(message));
        }
        Ok(Picture { size: [width, height], values: pixels().map(|pixel| pixel[0]).collect() })
    }

    /// Writes a PNG of 8 bits.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_png(&self, to: impl Write) -> std::io::Result<()> {
        let byte = |&x: &u16| ((u32::from(x) + 128) / 257) as u8;
        let bytes: Vec<u8> = self.values.iter().map(byte).collect();
        write(to, self.size, ColorType::Grayscale, &bytes)
    }
}

/// The light of a number of a file or a screen, both from 0 to 1 (sRGB, IEC 61966-2-1).
pub fn to_linear(x: f64) -> f64 {
    if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

/// The number of a file or a screen for a light, both from 0 to 1: [`to_linear`] back.
pub fn to_screen(x: f64) -> f64 {
    if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

/// An image in colour.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourPicture {
    /// Width and height, px.
    pub size: [usize; 2],
    /// Red, green and blue, row by row from above.
    pub values: Vec<[u8; 3]>,
}

impl ColourPicture {
    /// Of light from 0 to 1; what is brighter is cut off.
    pub fn of(size: [usize; 2], light: &[[f64; 3]]) -> ColourPicture {
        let byte = |x: f64| (to_screen(x.clamp(0.0, 1.0)) * 255.0).round() as u8;
        ColourPicture { size, values: light.iter().map(|pixel| pixel.map(byte)).collect() }
    }

    /// Writes a PNG.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_png(&self, to: impl Write) -> std::io::Result<()> {
        write(to, self.size, ColorType::Rgb, self.values.as_flattened())
    }
}

fn write(to: impl Write, size: [usize; 2], color: ColorType, bytes: &[u8]) -> std::io::Result<()> {
    let [width, height] = size.map(|side| side as u32);
    let mut encoder = Encoder::new(to, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    writer.finish()?;
    Ok(())
}
