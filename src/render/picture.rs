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
        let Samples { size: [width, height], values, channels, own_alpha } =
            Samples::decode(bytes, name)?;
        let colours = if channels < 3 { 1 } else { 3 };
        let pixels = || values.chunks_exact(channels);
        let alphas = || pixels().map(|pixel| pixel[channels - 1]);
        // What is opaque all over says nothing by that; what is transparent all over, that nothing is there.
        if own_alpha && alphas().any(|alpha| alpha != u16::MAX) {
            return Ok(Picture { size: [width, height], values: alphas().collect() });
        }
        if let Some(k) = pixels().position(|pixel| pixel[..colours].iter().any(|&x| x != pixel[0]))
        {
            let message = format!(
                "is in colour, as at column {}, row {}: a mask is grey, 0 where nothing is and the largest number where \
                 bodies cover a pixel, or has them as its alpha; draw it with `stiction render --mask`, or set \
                 compare = \"colour\"",
                k % width,
                k / width
            );
            return Err(wrong(message));
        }
        Ok(Picture { size: [width, height], values: pixels().map(|pixel| pixel[0]).collect() })
    }

    /// The same in grey.
    pub fn in_colour(&self) -> ColourPicture {
        let byte = |&x: &u16| [((u32::from(x) + 128) / 257) as u8; 3];
        ColourPicture { size: self.size, values: self.values.iter().map(byte).collect() }
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

/// The numbers of a PNG.
struct Samples {
    size: [usize; 2],
    /// Pixel by pixel, in units of 1 / 65535.
    values: Vec<u16>,
    /// Numbers of a pixel: 1 or 3 for its colour, and 1 for its alpha.
    channels: usize,
    /// Whether each pixel has an alpha of its own.
    own_alpha: bool,
}

impl Samples {
    fn decode(bytes: &[u8], name: &str) -> Result<Samples, Error> {
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
        let values: Vec<u16> = match frame.bit_depth {
            BitDepth::Sixteen => {
                buffer.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
            }
            // Times 257 makes 255 the largest.
            _ => buffer.iter().map(|&x| u16::from(x) * 257).collect(),
        };
        Ok(Samples {
            size: [width, height],
            values,
            channels: frame.color_type.samples(),
            own_alpha,
        })
    }
}

impl ColourPicture {
    /// Reads a PNG file of 8 or 16 bits, grey or in colour.
    ///
    /// # Errors
    /// If the file is no PNG, is cut short, or is transparent anywhere.
    pub fn load(path: impl AsRef<Path>) -> Result<ColourPicture, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        ColourPicture::parse(&read_bytes(path, MOST_BYTES)?, &name)
    }

    /// Reads the bytes of such a file; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(bytes: &[u8], name: &str) -> Result<ColourPicture, Error> {
        let Samples { size, values, channels, .. } = Samples::decode(bytes, name)?;
        let byte = |x: u16| ((u32::from(x) + 128) / 257) as u8;
        let mut colours = Vec::with_capacity(values.len() / channels);
        for (k, pixel) in values.chunks_exact(channels).enumerate() {
            if matches!(channels, 2 | 4) && pixel[channels - 1] != u16::MAX {
                let (column, row) = (k % size[0], k / size[0]);
                let message = format!(
                    "is transparent, as at column {column}, row {row}: a frame in colour has all that the camera saw; \
                     save it without alpha, or compare masks"
                );
                return Err(Error::input(name, None, "", message));
            }
            let own = if channels < 3 { [pixel[0]; 3] } else { [pixel[0], pixel[1], pixel[2]] };
            colours.push(own.map(byte));
        }
        Ok(ColourPicture { size, values: colours })
    }

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

/// Writes pictures of one size that follow each other after `delay` (s), again and again, as an animated PNG.
///
/// # Errors
/// Those of the writer, and if there is no picture.
pub fn write_animation(
    to: impl Write,
    pictures: &[ColourPicture],
    delay: f64,
) -> std::io::Result<()> {
    let none = || std::io::Error::other("there is no picture");
    let size = pictures.first().ok_or_else(none)?.size;
    let [width, height] = size.map(|side| side as u32);
    let mut encoder = Encoder::new(to, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_animated(pictures.len() as u32, 0)?;
    let milliseconds = (1000.0 * delay).round().clamp(1.0, f64::from(u16::MAX)) as u16;
    encoder.set_frame_delay(milliseconds, 1000)?;
    let mut writer = encoder.write_header()?;
    for picture in pictures {
        writer.write_image_data(picture.values.as_flattened())?;
    }
    writer.finish()?;
    Ok(())
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
