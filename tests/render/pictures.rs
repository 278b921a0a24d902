//! Images in files.

use stiction::render::Picture;

/// A PNG of these bytes.
fn png(size: [u32; 2], color: png::ColorType, depth: png::BitDepth, bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(bytes).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn masks_are_grey_of_8_or_16_bits_or_alpha() {
    use png::{BitDepth, ColorType};
    let read = |color, depth, bytes: &[u8]| {
        Picture::parse_mask(&png([2, 1], color, depth, bytes), "mask.png").unwrap()
    };
    let grey = read(ColorType::Grayscale, BitDepth::Eight, &[255, 51]);
    assert_eq!((grey.size, grey.values.as_slice()), ([2, 1], &[65535, 13107][..]));
    let fine = read(ColorType::Grayscale, BitDepth::Sixteen, &[1, 2, 0, 3]);
    assert_eq!(fine.values, [258, 3]);
    // One bit a pixel, as painting programs save black and white.
    let bits = read(ColorType::Grayscale, BitDepth::One, &[0b0100_0000]);
    assert_eq!(bits.values, [0, 65535]);
    let colours = read(ColorType::Rgb, BitDepth::Eight, &[7, 7, 7, 255, 255, 255]);
    assert_eq!(colours.values, [7 * 257, 65535]);
    // What is opaque all over says nothing by that.
    let opaque = read(ColorType::GrayscaleAlpha, BitDepth::Eight, &[9, 255, 8, 255]);
    assert_eq!(opaque.values, [9 * 257, 8 * 257]);
    let cut_out = read(ColorType::Rgba, BitDepth::Eight, &[1, 2, 3, 0, 4, 5, 6, 255]);
    assert_eq!(cut_out.values, [0, 65535]);
    // Out of view: all of it is transparent, whatever colour that has.
    let away = read(ColorType::Rgba, BitDepth::Eight, &[255, 255, 255, 0, 255, 255, 255, 0]);
    assert_eq!(away.values, [0, 0]);
}

#[test]
fn what_is_no_mask_is_refused_in_words() {
    use png::{BitDepth, ColorType};
    let refused = |bytes: &[u8], says: &str| {
        let error = Picture::parse_mask(bytes, "mask.png").unwrap_err().to_string();
        assert!(error.starts_with("mask.png") && error.contains(says), "{error}");
    };
    refused(b"no image", "is not read as a PNG");
    refused(b"", "is not read as a PNG");
    let whole = png([2, 2], ColorType::Grayscale, BitDepth::Eight, &[1, 2, 3, 4]);
    refused(&whole[..whole.len() - 20], "is not read as a PNG");
    let colour = png([2, 1], ColorType::Rgb, BitDepth::Eight, &[7, 7, 7, 7, 8, 7]);
    refused(&colour, "is in colour, as at column 1, row 0");
    // A header that claims more than there is memory.
    let mut huge = whole.clone();
    huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    refused(&huge, "");
}

#[test]
fn what_is_written_is_read_again() {
    let values: Vec<f64> = (0..12).map(|k| k as f64 / 11.0).collect();
    let picture = Picture::of([4, 3], &values);
    let mut bytes = Vec::new();
    picture.write_png(&mut bytes).unwrap();
    let read = Picture::parse_mask(&bytes, "mask.png").unwrap();
    assert_eq!(read.size, [4, 3]);
    for (found, expected) in read.values.iter().zip(values) {
        assert!((f64::from(*found) / 65535.0 - expected).abs() <= 0.5 / 255.0 + 1e-5);
    }
}

/// Mutated files: a picture, or a message.
#[test]
fn broken_files_do_not_panic() {
    let whole = png([8, 8], png::ColorType::Rgba, png::BitDepth::Eight, &[100; 256]);
    let mut random = crate::random::Random(4);
    for _ in 0..crate::cases::count(20_000, 0.1) {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(4) {
            let place = random.below(bytes.len());
            bytes[place] = random.bits() as u8;
        }
        bytes.truncate(1 + random.below(bytes.len()));
        let _ = Picture::parse_mask(&bytes, "mask.png");
    }
}
