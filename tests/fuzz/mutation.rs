//! Changes to a text that know its lines, tables, numbers, lists and names.

use std::ops::Range;

use crate::random::Random;

/// What numbers are replaced by.
const NUMBERS: [&str; 24] = [
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "0.5",
    "3",
    "1e-9",
    "1e-5",
    "1e3",
    "1e5",
    "1e9",
    "1e15",
    "1e150",
    "1e-150",
    "1e300",
    "-1e300",
    "1e-300",
    "1e308",
    "nan",
    "inf",
    "-inf",
    "4294967296",
    "99999999999999999999",
];

/// The text with one to four changes.
pub fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_string();
    for _ in 0..1 + random.below(4) {
        mutate(&mut text, random);
    }
    text
}

fn mutate(text: &mut String, random: &mut Random) {
    match random.below(10) {
        0..5 => number(text, random),
        5 => line(text, random),
        6 => table(text, random),
        7 => list(text, random),
        8 => name(text, random),
        _ => piece(text, random),
    }
}

fn pick(ranges: &[Range<usize>], random: &mut Random) -> Option<Range<usize>> {
    ranges.get(random.below(ranges.len())).cloned()
}

/// Where numbers stand that are no part of a name.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let mut ranges = Vec::new();
    let mut end = 0;
    for (start, c) in text.char_indices() {
        let before = text[..start].chars().next_back();
        let in_name = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '/' | '.'));
        if start < end || !(c.is_ascii_digit() || c == '-') || in_name {
            continue;
        }
        let rest = &text[start..];
        let length = rest.find(|c| !(digit(c) || c == 'e')).unwrap_or(rest.len());
        end = start + length;
        ranges.push(start..end);
    }
    ranges
}

/// A number becomes another, or a multiple of itself.
fn number(text: &mut String, random: &mut Random) {
    let Some(range) = pick(&numbers(text), random) else { return };
    let value: Option<f64> = text[range.clone()].parse().ok();
    let new = match value {
        Some(value) if random.below(3) == 0 => {
            let factors = [2.0, -1.0, 10.0, 1e3, 1e-3, 1e6, 1.0 + 1e-12];
            format!("{:?}", value * factors[random.below(factors.len())])
        }
        _ => NUMBERS[random.below(NUMBERS.len())].to_string(),
    };
    text.replace_range(range, &new);
}

/// A line is left out, doubled or swapped with another.
fn line(text: &mut String, random: &mut Random) {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(3) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a]),
        _ => lines.swap(a, b),
    }
    *text = lines.join("\n");
}

/// A table is left out or doubled.
fn table(text: &mut String, random: &mut Random) {
    let mut starts: Vec<usize> = text.match_indices("\n[").map(|(at, _)| at + 1).collect();
    starts.push(text.len());
    let tables: Vec<_> = starts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    let Some(range) = pick(&tables, random) else { return };
    let table = format!("{}\n", &text[range.clone()]);
    match random.below(2) {
        0 => text.replace_range(range, ""),
        _ => text.insert_str(range.start, &table),
    }
}

/// The last entry of a list is left out or doubled.
fn list(text: &mut String, random: &mut Random) {
    let ends = text.match_indices(']').map(|(at, _)| at);
    let last = |end: usize| {
        let start = text[..end].rfind([',', '[', '\n'])?;
        text[start..].starts_with(',').then_some(start..end)
    };
    let entries: Vec<_> = ends.filter_map(last).collect();
    let Some(range) = pick(&entries, random) else { return };
    let entry = text[range.clone()].to_string();
    match random.below(2) {
        0 => text.replace_range(range, ""),
        _ => text.insert_str(range.end, &entry),
    }
}

/// A name becomes another one of the file, or a very long one.
fn name(text: &mut String, random: &mut Random) {
    let marks: Vec<usize> = text.match_indices(['"', '\'']).map(|(at, _)| at).collect();
    let names: Vec<_> = marks.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]).collect();
    let (from, to) = (pick(&names, random), pick(&names, random));
    let (Some(from), Some(to)) = (from, to) else { return };
    let new = match random.below(3) {
        0 => "x".repeat(10_000),
        _ => text[from].to_string(),
    };
    text.replace_range(to, &new);
}

/// A piece is left out, or all from there on.
fn piece(text: &mut String, random: &mut Random) {
    let mut ends = [random.below(text.len() + 1); 2];
    ends[1] = match random.below(4) {
        0 => text.len(),
        _ => (ends[0] + random.below(40)).min(text.len()),
    };
    let [start, end] = ends.map(|mut at| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    });
    text.replace_range(start..end, "");
}
