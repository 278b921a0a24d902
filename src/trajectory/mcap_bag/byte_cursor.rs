//! Numbers and texts in bytes, of which none is trusted.

use std::borrow::Cow;

/// What is left of some bytes, and how many were taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteCursor<'a> {
    rest: &'a [u8],
    taken: usize,
    /// Whether the last byte of a number is its lowest.
    big_endian: bool,
}

/// The bytes end before what should stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooShort;

impl<'a> ByteCursor<'a> {
    /// At the beginning.
    pub fn new(bytes: &'a [u8], big_endian: bool) -> ByteCursor<'a> {
        ByteCursor { rest: bytes, taken: 0, big_endian }
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], TooShort> {
        let (own, rest) = self.rest.split_at_checked(count).ok_or(TooShort)?;
        self.rest = rest;
        self.taken += count;
        Ok(own)
    }

    /// Goes on to a multiple of `size` from the beginning.
    pub fn align(&mut self, size: usize) -> Result<(), TooShort> {
        let over = self.taken % size;
        let padding = if over == 0 { 0 } else { size - over };
        self.bytes(padding).map(|_| ())
    }

    /// The next number of so many bytes, at most 8, without a sign.
    pub fn whole(&mut self, size: usize) -> Result<u64, TooShort> {
        let bytes = self.bytes(size)?.iter();
        let next = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Ok(if self.big_endian { bytes.fold(0, next) } else { bytes.rev().fold(0, next) })
    }

    /// A length of four bytes, which no more bytes follow than there are.
    pub fn length(&mut self) -> Result<usize, TooShort> {
        let length = self.whole(4)? as usize;
        if length > self.rest.len() { Err(TooShort) } else { Ok(length) }
    }

    /// A text after its length.
    pub fn text(&mut self) -> Result<Cow<'a, str>, TooShort> {
        let length = self.length()?;
        self.bytes(length).map(String::from_utf8_lossy)
    }
}
