//! Files with mistakes in them: an error with a line or a description, never a panic.

use stiction::assemble::Description;
use stiction::formats::{LoadOptions, Mesh};

use crate::cases;
use crate::random::Random;

/// Models with about everything that is read.
const MODELS: [&str; 4] = [
    include_str!("models/kinds.xml"),
    include_str!("models/classes.xml"),
    include_str!("models/arm.urdf"),
    include_str!("models/kinds.urdf"),
];

const MESHES: [(&str, &str); 3] = [
    ("obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/2/2 4//3\nf 2 3 4\nf -4 -1 -2\n"),
    (
        "stl",
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n\
         endfacet\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\n\
         endfacet\nendsolid a\n",
    ),
    (
        "ply",
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
         element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n\
         3 0 2 1\n4 0 1 3 2\n",
    ),
];

/// What numbers are replaced by.
const NUMBERS: [&str; 18] = [
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-0",
    "",
    "0",
    "1e308",
    "-1e308",
    "1e-320",
    "-1",
    "4294967296",
    "99999999999999999999",
    "1,5",
    "0x10",
    "1e",
    "٣",
    "1 2 3 4 5 6 7 8 9",
];

/// A place between two characters.
fn place(text: &str, random: &mut Random) -> usize {
    let mut at = random.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The ranges that a search finds.
fn ranges(text: &str, start: char, end: &[char]) -> Vec<std::ops::Range<usize>> {
    let starts = text.match_indices(start).map(|(at, _)| at);
    let range = |at: usize| {
        let rest = &text[at + 1..];
        rest.find(end).map(|length| at..at + 1 + length + 1)
    };
    starts.filter_map(range).filter(|range| text.is_char_boundary(range.end)).collect()
}

/// One change.
fn mutate(text: &mut String, random: &mut Random) {
    match random.below(9) {
        // A byte flipped, where that leaves text.
        0 => {
            let at = random.below(text.len());
            let mut bytes = std::mem::take(text).into_bytes();
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
            *text = String::from_utf8_lossy(&bytes).into_owned();
        }
        // A piece left out, or doubled, or moved.
        1..=3 => {
            let (a, b) = (place(text, random), place(text, random));
            let (a, b) = (a.min(b), a.max(b));
            let mut end = b.min(a + 200);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let piece = text[a..end].to_string();
            if random.below(2) == 0 {
                text.replace_range(a..end, "");
            }
            if random.below(2) == 0 {
                let at = place(text, random);
                text.insert_str(at, &piece);
            }
        }
        // An element left out or doubled.
        4 => {
            let tags = ranges(text, '<', &['>']);
            if let Some(tag) = tags.get(random.below(tags.len())).cloned() {
                let element = text[tag.clone()].to_string();
                match random.below(2) {
                    0 => text.replace_range(tag, ""),
                    _ => text.insert_str(tag.end, &element),
                }
            }
        }
        // A value replaced by another's, or by a number.
        5 => {
            let values = ranges(text, '"', &['"']);
            let from = values.get(random.below(values.len())).cloned();
            let to = values.get(random.below(values.len())).cloned();
            if let (Some(from), Some(to)) = (from, to) {
                let value = text[from].to_string();
                text.replace_range(to, &value);
            }
        }
        _ => {
            let digits = |c: char| c.is_ascii_digit() || "+-.".contains(c);
            let starts: Vec<usize> = text
                .char_indices()
                .filter(|&(at, c)| digits(c) && !text[..at].ends_with(digits))
                .map(|(at, _)| at)
                .collect();
            if let Some(&at) = starts.get(random.below(starts.len())) {
                let length = text[at..].find(|c| !digits(c)).unwrap_or(text.len() - at);
                let number = NUMBERS[random.below(NUMBERS.len())];
                text.replace_range(at..at + length, number);
            }
        }
    }
}

/// Reads a text as far as commands do, and writes it if it can be followed.
fn attempt(text: &str, floating_base: bool) {
    let options = LoadOptions { floating_base, ..LoadOptions::default() };
    match Description::parse_xml(text, "model.xml", options) {
        Ok(description) => {
            if let Err(error) = description.scene() {
                assert!(!error.message().is_empty());
            }
            assert!(!description.to_toml("").is_empty());
            for warning in &description.warnings {
                assert!(warning.line().is_some(), "{warning} has no line\n{text}");
            }
        }
        Err(error) => assert!(error.line().is_some(), "{error} has no line\n{text}"),
    }
}

#[test]
fn mutated_models_are_refused_or_read() {
    let count = cases::count(1_000_000, 0.005);
    let mut random = Random(1);
    for case in 0..count {
        let mut text = MODELS[case % MODELS.len()].to_string();
        for _ in 0..1 + random.below(4) {
            mutate(&mut text, &mut random);
        }
        attempt(&text, random.below(4) == 0);
    }
}

#[test]
fn mutated_meshes_are_refused_or_read() {
    let count = cases::count(100_000, 0.02);
    let mut random = Random(2);
    for case in 0..count {
        let (ending, text) = MESHES[case % MESHES.len()];
        let mut text = text.to_string();
        for _ in 0..1 + random.below(4) {
            mutate(&mut text, &mut random);
        }
        if let Err(error) = Mesh::parse(text.as_bytes(), ending, "mesh") {
            assert!(!error.message().is_empty());
        }
    }
}

#[test]
fn mutated_binary_meshes_are_refused_or_read() {
    let mut stl = vec![0; 80];
    stl.extend(2_u32.to_le_bytes());
    for corner in [0.0_f32, 1.0] {
        let numbers = [0.0, 0.0, 1.0, 0.0, 0.0, corner, 1.0, 0.0, corner, 0.0, 1.0, corner];
        stl.extend(numbers.iter().flat_map(|x: &f32| x.to_le_bytes()));
        stl.extend([0, 0]);
    }
    let mut msh: Vec<u8> = [4_u32, 0, 0, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
    msh.extend((0..12_u8).flat_map(|k| f32::from(k % 5).to_le_bytes()));
    msh.extend([0_u32, 1, 2].iter().flat_map(|x| x.to_le_bytes()));
    assert!(Mesh::parse(&stl, "stl", "mesh").is_ok() && Mesh::parse(&msh, "msh", "mesh").is_ok());
    let mut random = Random(3);
    for case in 0..cases::count(200_000, 0.02) {
        let (ending, mut bytes) =
            if case % 2 == 0 { ("stl", stl.clone()) } else { ("msh", msh.clone()) };
        for _ in 0..1 + random.below(4) {
            match random.below(3) {
                0 => bytes.truncate(random.below(bytes.len() + 1)),
                1 => {
                    let at = random.below(bytes.len());
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = random.bits() as u8;
                    }
                }
                _ => bytes.extend(random.bits().to_le_bytes()),
            }
        }
        if let Err(error) = Mesh::parse(&bytes, ending, "mesh") {
            assert!(!error.message().is_empty());
        }
    }
}
