//! The place in a file that is being read: words of texts, numbers of binary files; errors name the line or the byte.

use crate::Error;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// A place in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    pub encoding: Encoding,
    pub name: &'a str,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Cursor { bytes, at: 0, line: 1, encoding: Encoding::Text, name }
    }

    /// A line of a file that is read otherwise, for errors.
    pub fn at_line(name: &'a str, line: usize) -> Self {
        Cursor { line, ..Cursor::new(&[], name) }
    }

    /// No place in what is no file, for errors.
    pub fn unplaced(name: &'a str) -> Self {
        Cursor::at_line(name, 0)
    }

    /// An error here: at the line of a text, at the byte of a binary file.
    pub fn error(&self, message: impl std::fmt::Display) -> Error {
        match self.encoding {
            Encoding::Text => Error::input(self.name, self.line(), "", message.to_string()),
            _ => Error::input(self.name, None, "", format!("byte {}: {message}", self.at)),
        }
    }

    /// The line, in a text.
    pub fn line(&self) -> Option<usize> {
        (self.encoding == Encoding::Text && self.line > 0).then_some(self.line)
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn advance(&mut self, count: usize) -> &'a [u8] {
        let (start, end) = (self.at, self.at + count.min(self.bytes.len() - self.at));
        let passed = &self.bytes[start..end];
        self.at = end;
        if self.encoding == Encoding::Text {
            self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        }
        passed
    }

    /// The rest of the line, without its end; none at the end of the file.
    pub fn rest_of_line(&mut self) -> Option<String> {
        if self.rest().is_empty() {
            return None;
        }
        let length = self.rest().iter().position(|&byte| byte == b'\n');
        let line = self.advance(length.map_or(self.rest().len(), |length| length + 1));
        Some(String::from_utf8_lossy(line).trim().to_string())
    }

    /// Passes blanks and ends of lines.
    pub fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.advance(blanks);
    }

    /// The next word of a text; none at the end of the file.
    pub fn try_word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let length = self.rest().iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        (length > 0).then(|| self.advance(length))
    }

    /// The next word of a text.
    pub fn word(&mut self) -> Result<&'a [u8], Error> {
        self.try_word().ok_or_else(|| self.error("ends early"))
    }

    /// A word as a number of a kind.
    fn parse<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, Error> {
        let word = self.word()?;
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            let found = String::from_utf8_lossy(word);
            self.error(format!("must be {what}, found {found:?}"))
        })
    }

    /// As many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        match count <= self.rest().len() {
            true => Ok(self.advance(count)),
            false => Err(self.error(format!("ends early: {count} bytes are needed"))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        if self.encoding == Encoding::BigEndian {
            array.reverse();
        }
        Ok(array)
    }

    /// A whole number, of 4 bytes in a binary file.
    pub fn int(&mut self) -> Result<i64, Error> {
        match self.encoding {
            Encoding::Text => self.parse("a whole number"),
            _ => Ok(i64::from(i32::from_le_bytes(self.array()?))),
        }
    }

    /// A whole number, of 8 bytes in a binary file.
    pub fn long(&mut self) -> Result<i64, Error> {
        match self.encoding {
            Encoding::Text => self.parse("a whole number"),
            _ => Ok(i64::from_le_bytes(self.array()?)),
        }
    }

    /// A finite number, of 8 bytes in a binary file.
    pub fn float(&mut self) -> Result<f64, Error> {
        let number = match self.encoding {
            Encoding::Text => self.parse("a number")?,
            _ => f64::from_le_bytes(self.array()?),
        };
        self.finite(number)
    }

    /// A finite number, of 4 bytes in a binary file.
    pub fn single(&mut self) -> Result<f64, Error> {
        let number = match self.encoding {
            Encoding::Text => self.parse("a number")?,
            _ => f64::from(f32::from_le_bytes(self.array()?)),
        };
        self.finite(number)
    }

    fn finite(&self, number: f64) -> Result<f64, Error> {
        match number.is_finite() {
            true => Ok(number),
            false => Err(self.error(format!("must be finite, found {number}"))),
        }
    }

    /// That `count` of something, each of at least `bytes` bytes in a binary file, can be in what is left: what a file claims
    /// reserves no memory that it does not fill.
    pub fn count(&self, count: i64, bytes: usize, what: &str) -> Result<usize, Error> {
        // A number and a blank.
        let each = if self.encoding == Encoding::Text { 2 } else { bytes };
        // The last number of a text may have no blank behind it.
        let most = (self.rest().len() + 1) / each.max(1);
        usize::try_from(count).ok().filter(|&count| count <= most).ok_or_else(|| {
            let left = self.rest().len();
            self.error(format!("announces {count} {what}, but {left} bytes are left"))
        })
    }
}
