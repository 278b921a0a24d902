//! XML read element by element: every message names file, line and attribute. Depth and sizes are limited,
//! so that no file takes the stack, the memory or hours.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use roxmltree::{Document, Node, ParsingOptions};

use crate::{Error, text};

/// Bytes of one file: a hundred times the largest robot found in public.
const MOST_BYTES: u64 = 64 << 20;
/// Elements of one file.
const MOST_ELEMENTS: u32 = 1_000_000;
/// How deep elements stand in each other. Readers recurse over them.
const MOST_LEVELS: usize = 200;
/// Bytes of a text between elements.
const MOST_TEXT: usize = 200;
/// Attributes of one element; they are compared pairwise.
const MOST_ATTRIBUTES: usize = 200;
/// Declarations of name spaces, which every element below carries along.
const MOST_NAME_SPACES: usize = 100;

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Its name.
    pub tag: String,
    /// The file it stands in.
    pub file: Arc<str>,
    /// The line it starts in.
    pub line: usize,
    /// Its attributes, in their order.
    pub attributes: Vec<Attribute>,
    /// The elements in it.
    pub children: Vec<Element>,
    /// The text in it, if it is short and no elements are.
    pub text: String,
}

/// An attribute.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub name: String,
    pub value: String,
    pub line: usize,
}

/// The text of a file of at most [`MOST_BYTES`].
pub(super) fn read(path: &Path) -> Result<String, Error> {
    text::read(path, MOST_BYTES)
}

/// Parses a file; its root element.
pub(super) fn parse(text: &str, file: &str) -> Result<Element, Error> {
    let document = document(text, file)?;
    let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
    let lines = Lines(newlines.map(|(at, _)| at).collect());
    let mut left = MOST_ELEMENTS;
    convert(document.root_element(), &Arc::from(file), &lines, &mut left, 1)
}

/// Parses a file within the limits.
pub(super) fn document<'a>(text: &'a str, file: &str) -> Result<Document<'a>, Error> {
    check_bytes(text, file)?;
    check_shape(text, file)?;
    let options = ParsingOptions { nodes_limit: 4 * MOST_ELEMENTS, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let line = error.pos().row as usize;
        // The parser ends its message with the place, which stands in front here.
        let message = error.to_string().replace('\n', " ");
        let message = message.split(" at ").next().unwrap_or_default().to_string();
        Error::input(file, line, "", format!("is not XML: {message}"))
    })
}

fn check_bytes(text: &str, file: &str) -> Result<(), Error> {
    match text.len() as u64 > MOST_BYTES {
        true => Err(Error::input(file, None, "", format!("is larger than {MOST_BYTES} bytes"))),
        false => Ok(()),
    }
}

/// Refuses what would take the parser hours, before it starts: too many levels, attributes, name spaces.
fn check_shape(text: &str, file: &str) -> Result<(), Error> {
    let refuse = |at: usize, what: String| {
        let line = 1 + text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count();
        Err(Error::input(file, line, "", what))
    };
    let bytes = text.as_bytes();
    let find = |from: usize, what: &str| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        let found = rest.windows(what.len()).position(|window| window == what.as_bytes());
        found.map_or(text.len(), |at| from + at + what.len())
    };
    let (mut at, mut level, mut spaces) = (0, 0_usize, 0);
    while let Some(start) = bytes[at..].iter().position(|&byte| byte == b'<') {
        let start = at + start;
        let rest = &bytes[start..];
        if rest.starts_with(b"<!--") {
            at = find(start + 4, "-->");
            continue;
        }
        if rest.starts_with(b"<![CDATA[") {
            at = find(start, "]]>");
            continue;
        }
        // To the `>` outside of quotes.
        let (mut quote, mut quotes, mut end) = (None, 0, start + 1);
        while end < bytes.len() {
            match (bytes[end], quote) {
                (b'>', None) => break,
                (mark @ (b'"' | b'\''), None) => (quote, quotes) = (Some(mark), quotes + 1),
                (mark, Some(open)) if mark == open => quote = None,
                _ => {}
            }
            end += 1;
        }
        if quotes > MOST_ATTRIBUTES {
            let what = format!("has an element of more than {MOST_ATTRIBUTES} attributes");
            return refuse(start, what);
        }
        let tag = &bytes[start..end];
        spaces += tag.windows(5).filter(|window| window == b"xmlns").count();
        if spaces > MOST_NAME_SPACES {
            return refuse(start, format!("has more than {MOST_NAME_SPACES} name spaces"));
        }
        match tag.get(1) {
            Some(b'/') => level = level.saturating_sub(1),
            Some(b'?' | b'!') => {}
            _ if tag.last() == Some(&b'/') => {}
            _ => level += 1,
        }
        if level > MOST_LEVELS {
            let what = format!("has elements more than {MOST_LEVELS} levels deep in each other");
            return refuse(start, what);
        }
        at = end.min(bytes.len());
    }
    Ok(())
}

/// Where lines end.
struct Lines(Vec<usize>);

impl Lines {
    fn line(&self, at: usize) -> usize {
        1 + self.0.partition_point(|&end| end < at)
    }
}

fn convert(
    node: Node,
    file: &Arc<str>,
    lines: &Lines,
    left: &mut u32,
    level: usize,
) -> Result<Element, Error> {
    let line = lines.line(node.range().start);
    let refuse = |message: String| Err(Error::input(&**file, line, "", message));
    if *left == 0 {
        return refuse(format!("has more than {MOST_ELEMENTS} elements"));
    }
    // Entities may hold more levels than the text.
    if level > MOST_LEVELS {
        return refuse(format!("has elements more than {MOST_LEVELS} levels deep in each other"));
    }
    *left -= 1;
    let attributes = node.attributes().map(|attribute| Attribute {
        name: attribute.name().to_string(),
        value: attribute.value().to_string(),
        line: lines.line(attribute.range().start),
    });
    let text = node.text().map(str::trim).filter(|text| text.len() <= MOST_TEXT);
    Ok(Element {
        text: text.unwrap_or_default().to_string(),
        // With its prefix, which the extensions of other tools have.
        tag: match node.tag_name().namespace() {
            Some(_) => format!("other:{}", node.tag_name().name()),
            None => node.tag_name().name().to_string(),
        },
        file: file.clone(),
        line,
        attributes: attributes.collect(),
        children: node
            .children()
            .filter(Node::is_element)
            .map(|child| convert(child, file, lines, left, level + 1))
            .collect::<Result<_, _>>()?,
    })
}

impl Element {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        let attribute = self.attributes.iter().find(|attribute| attribute.name == name);
        attribute.map(|attribute| attribute.value.as_str())
    }

    /// The value of an attribute that must be there.
    pub fn required(&self, name: &str) -> Result<&str, Error> {
        self.get(name).ok_or_else(|| self.error(name, "is missing"))
    }

    /// The first element in it of that name.
    pub fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.tag == tag)
    }

    /// The elements in it of that name.
    pub fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> + 'a {
        self.children.iter().filter(move |child| child.tag == tag)
    }

    /// The line of an attribute, or of the element if it has no such attribute.
    pub fn line_of(&self, name: &str) -> usize {
        let attribute = self.attributes.iter().find(|attribute| attribute.name == name);
        attribute.map_or(self.line, |attribute| attribute.line)
    }

    /// What messages call an attribute: `geom.foot.size`.
    pub fn path(&self, name: &str) -> String {
        let mut path = self.tag.clone();
        for part in [self.get("name").unwrap_or_default(), name] {
            if !part.is_empty() {
                path = format!("{path}.{part}");
            }
        }
        path
    }

    /// An error about an attribute, or about the element if `name` is empty.
    pub fn error(&self, name: &str, message: impl Into<String>) -> Error {
        Error::input(&*self.file, self.line_of(name), self.path(name), message)
    }

    /// Finite numbers.
    pub fn list(&self, name: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let numbers = text.split_ascii_whitespace().map(|word| match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => {
                let word: String = word.chars().take(40).collect();
                Err(self.error(name, format!("must be finite numbers, found {word:?}")))
            }
        });
        numbers.collect::<Result<_, _>>().map(Some)
    }

    /// `N` finite numbers.
    pub fn numbers<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, Error> {
        let Some(values) = self.list(name)? else { return Ok(None) };
        let found = values.len();
        let numbers = <[f64; N]>::try_from(values);
        let message = || format!("must be {N} numbers, found {found}");
        numbers.map(Some).map_err(|_| self.error(name, message()))
    }

    /// A finite number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, Error> {
        Ok(self.numbers(name)?.map(|[number]: [f64; 1]| number))
    }

    /// A number that is not negative.
    pub fn amount(&self, name: &str) -> Result<Option<f64>, Error> {
        let number = self.number(name)?;
        match number {
            Some(found) if found < 0.0 => {
                Err(self.error(name, format!("must not be negative, found {found}")))
            }
            _ => Ok(number),
        }
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, Error> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.error(name, "must be a whole number")),
        }
    }

    /// One of some words.
    pub fn word<V: Copy>(&self, name: &str, words: &[(&str, V)]) -> Result<Option<V>, Error> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == text) {
            Some(&(_, value)) => Ok(Some(value)),
            None => {
                let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
                let text: String = text.chars().take(40).collect();
                let message = format!("must be {}, found {text:?}", known.join(" or "));
                Err(self.error(name, message))
            }
        }
    }

    /// True or false.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Error> {
        self.word(name, &[("true", true), ("false", false)])
    }
}

/// What a file says that has no effect here, or another: gathered, so that what stands in a thousand lines
/// is said once.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    entries: Vec<Remark>,
    places: HashMap<(Arc<str>, String, String), usize>,
}

#[derive(Debug)]
struct Remark {
    file: Arc<str>,
    field: String,
    message: String,
    lines: Vec<usize>,
}

/// How many lines a warning lists.
const MOST_LINES: usize = 10;

impl Remarks {
    /// Remembers a remark about an attribute, or about the element if `name` is empty.
    pub fn add(&mut self, element: &Element, name: &str, message: impl Into<String>) {
        let field = match name.is_empty() {
            true => element.tag.clone(),
            false => format!("{}.{name}", element.tag),
        };
        self.add_at(&element.file, element.line_of(name), &field, message);
    }

    /// The same, about a field in a line.
    pub fn add_at(
        &mut self,
        file: &Arc<str>,
        line: usize,
        field: &str,
        message: impl Into<String>,
    ) {
        let message = message.into();
        let (file, field) = (file.clone(), field.to_string());
        let key = (file.clone(), field.clone(), message.clone());
        match self.places.get(&key) {
            Some(&index) => self.entries[index].lines.push(line),
            None => {
                self.places.insert(key, self.entries.len());
                self.entries.push(Remark { file, field, message, lines: vec![line] });
            }
        }
    }

    /// The warnings, in the order in which their reasons were met.
    pub fn finish(self) -> Vec<Error> {
        let warning = |remark: Remark| {
            let Remark { file, field, mut message, mut lines } = remark;
            lines.dedup();
            let mut others = lines.iter().skip(1).take(MOST_LINES).map(usize::to_string);
            if let Some(first) = others.next() {
                let listed = others.fold(first, |list, line| format!("{list}, {line}"));
                let rest = lines.len().saturating_sub(1 + MOST_LINES);
                let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
                message = format!("{message} (also in lines {listed}{rest})");
            }
            Error::input(&*file, lines[0], field, message)
        };
        self.entries.into_iter().map(warning).collect()
    }
}

/// An attribute that acts on the motion and is not followed, unless it has a value that does nothing.
pub(super) struct Unfollowed {
    pub name: &'static str,
    /// The value that does nothing; `""`: every value acts.
    pub neutral: &'static str,
    /// What happens instead.
    pub instead: &'static str,
}

impl Element {
    /// Remarks on attributes that are not among `followed`, nor among `inert` ones that do not act on the
    /// motion.
    pub fn remark_on_others(
        &self,
        followed: &[&str],
        inert: &[&str],
        unfollowed: &[Unfollowed],
        remarks: &mut Remarks,
    ) {
        for Attribute { name, value, .. } in &self.attributes {
            if followed.contains(&name.as_str()) || inert.contains(&name.as_str()) {
                continue;
            }
            match unfollowed.iter().find(|entry| entry.name == name) {
                Some(entry) if same(value, entry.neutral) => {}
                Some(entry) => remarks.add(self, name, entry.instead),
                None => remarks.add(self, name, "is not known here, and ignored"),
            }
        }
    }
}

/// Whether two values are the same words, or the same numbers.
fn same(value: &str, other: &str) -> bool {
    if other.is_empty() {
        return false;
    }
    let number = |word: &str| word.parse::<f64>().ok();
    let mut others = other.split_ascii_whitespace();
    let mut last = others.next().unwrap_or_default();
    // A list shorter than the value goes on with its last word.
    value.split_ascii_whitespace().enumerate().all(|(index, word)| {
        if index > 0 {
            last = others.next().unwrap_or(last);
        }
        word == last || number(word).is_some() && number(word) == number(last)
    })
}
