//! Symbols that a shared library expects of the program that loads it (ELF, 64 bits, little-endian).
//!
//! A module of Python expects the interpreter's, which other programs do not have. Of a copy whose exported functions never come to
//! them they can be made weak: a loader leaves such a symbol zero where it finds none.

/// Of the header of the file: what it begins with, and where its table of sections is.
const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const SECTIONS: usize = 40;
const SECTION_COUNT: usize = 60;
/// Of a section: its length in the table, its kind, its place, its size, and the section of its names.
const SECTION: usize = 64;
const KIND: usize = 4;
const PLACE: usize = 24;
const SIZE: usize = 32;
const LINK: usize = 40;
/// The kind of the table of symbols that loaders read.
const DYNAMIC_SYMBOLS: u32 = 11;
/// Of a symbol: its length in the table, its binding and type, and the section that it is in, 0 if undefined.
const SYMBOL: usize = 24;
const INFO: usize = 4;
const OWNER: usize = 6;
const GLOBAL: u8 = 1;
const WEAK: u8 = 2;

/// Makes the undefined symbols weak whose names have one of these beginnings. A file of another format stays what it is.
pub(super) fn weaken(library: &mut [u8], beginnings: &[&str]) {
    for place in undefined(library, beginnings).unwrap_or_default() {
        if let Some(info) = library.get_mut(place + INFO).filter(|info| **info >> 4 == GLOBAL) {
            *info = WEAK << 4 | *info & 15;
        }
    }
}

/// Where the entries of undefined symbols with such names are; nothing of another format.
fn undefined(library: &[u8], beginnings: &[&str]) -> Option<Vec<usize>> {
    let number = |at: usize| word(library, at).map(u64::from_le_bytes);
    let place = |at: usize| usize::try_from(number(at)?).ok();
    let half = |at: usize| word(library, at).map(u16::from_le_bytes);
    let kind = |section: usize| word(library, section + KIND).map(u32::from_le_bytes);
    if !library.starts_with(MAGIC) {
        return None;
    }
    let first = place(SECTIONS)?;
    let section = |k: usize| first.checked_add(k * SECTION).filter(|at| *at < library.len());
    let mut all = (0..usize::from(half(SECTION_COUNT)?)).filter_map(section);
    let symbols = all.find(|at| kind(*at) == Some(DYNAMIC_SYMBOLS))?;
    let link = word(library, symbols + LINK).map(u32::from_le_bytes)?;
    let names = place(section(usize::try_from(link).ok()?)? + PLACE)?;
    let (begin, size) = (place(symbols + PLACE)?, place(symbols + SIZE)?);
    let end = begin.checked_add(size).filter(|end| *end <= library.len())?;
    let entries = (begin..end).step_by(SYMBOL).filter(|at| {
        let name = word(library, *at).map(u32::from_le_bytes).and_then(|k| usize::try_from(k).ok());
        let name = name.and_then(|k| library.get(names.checked_add(k)?..)).unwrap_or_default();
        half(at + OWNER) == Some(0) && beginnings.iter().any(|own| name.starts_with(own.as_bytes()))
    });
    Some(entries.collect())
}

/// The bytes from a place on.
fn word<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
