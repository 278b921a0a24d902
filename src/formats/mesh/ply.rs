//! PLY: a head that names elements and their properties, then each element, as a line of text or as bytes.

use super::triangles::{MOST_CORNERS, Mesh, check_count};
use crate::Error;

/// One kind of element: `element vertex 8` and the properties below it.
struct Element<'a> {
    name: &'a str,
    count: usize,
    properties: Vec<Property<'a>>,
}

/// `property float x`, or `property list uchar int vertex_indices`.
struct Property<'a> {
    name: &'a str,
    /// Of what kind the count of a list is.
    list: Option<Kind>,
    kind: Kind,
}

/// How a number is stored.
#[derive(Clone, Copy)]
enum Kind {
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Kind {
    fn parse(word: &str) -> Result<Kind, String> {
        Ok(match word {
            "char" | "int8" => Kind::Signed(1),
            "short" | "int16" => Kind::Signed(2),
            "int" | "int32" => Kind::Signed(4),
            "uchar" | "uint8" => Kind::Unsigned(1),
            "ushort" | "uint16" => Kind::Unsigned(2),
            "uint" | "uint32" => Kind::Unsigned(4),
            "float" | "float32" => Kind::Float(4),
            "double" | "float64" => Kind::Float(8),
            _ => return Err(format!("{word:?} is no kind of number")),
        })
    }

    /// The number at the start of some bytes, and what is behind it.
    fn take(self, bytes: &[u8], big: bool) -> Option<(f64, &[u8])> {
        let (Kind::Signed(size) | Kind::Unsigned(size) | Kind::Float(size)) = self;
        let (own, rest) = bytes.split_at_checked(size)?;
        let mut word = [0; 8];
        // The lowest byte first.
        for (k, byte) in word[..size].iter_mut().enumerate() {
            *byte = own[if big { size - 1 - k } else { k }];
        }
        let bits = u64::from_le_bytes(word);
        let number = match self {
            Kind::Unsigned(_) => bits as f64,
            Kind::Signed(size) => {
                let above = 64 - 8 * size as u32;
                ((bits << above) as i64 >> above) as f64
            }
            Kind::Float(4) => f64::from(f32::from_bits(bits as u32)),
            Kind::Float(_) => f64::from_bits(bits),
        };
        Some((number, rest))
    }
}

/// How elements are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Text,
    Little,
    Big,
}

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    // Comments may be in any encoding. The head ends with its line.
    const END: &[u8] = b"end_header";
    let end = bytes.windows(END.len()).position(|window| window == END).unwrap_or(bytes.len());
    let end = bytes[end..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |k| end + k + 1);
    let (head, body) = bytes.split_at(end);
    let head = String::from_utf8_lossy(head);
    let mut last = 0;
    let lines = (1..).zip(head.lines());
    let (elements, encoding) = read_head(lines.inspect(|&(number, _)| last = number))
        .map_err(|message| Error::input(name, last.max(1), "", message))?;
    let mut mesh = Mesh::default();
    if encoding != Encoding::Text {
        let count = elements.iter().map(|element| element.count);
        check_count(count.fold(0, usize::saturating_add), name, None)?;
        read_bytes(body, &elements, encoding == Encoding::Big, &mut mesh)
            .map_err(|message| Error::input(name, None, "", message))?;
        return Ok(mesh);
    }
    let text = String::from_utf8_lossy(body);
    let mut lines = (head.lines().count() + 1..).zip(text.lines());
    for element in &elements {
        check_count(element.count, name, None)?;
        for k in 0..element.count {
            let Some((number, line)) = lines.next() else {
                let Element { name: kind, count, .. } = element;
                let message = format!("ends early: {count} of {kind:?} were announced, found {k}");
                return Err(Error::input(name, None, "", message));
            };
            let read = element.read(line, &mut mesh);
            read.map_err(|message| Error::input(name, number, "", message))?;
            check_count(mesh.triangles.len().max(mesh.points.len()), name, Some(number))?;
        }
    }
    Ok(mesh)
}

/// Reads up to `end_header`; errors are about the line read last.
fn read_head<'a>(
    mut lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<(Vec<Element<'a>>, Encoding), String> {
    let mut elements: Vec<Element> = Vec::new();
    let mut encoding = None;
    let split = |line: &'a str| line.split_ascii_whitespace().collect::<Vec<_>>();
    let mut words = || lines.next().map(|(_, line)| split(line));
    if words().as_deref() != Some(&["ply"][..]) {
        return Err("must begin with a line \"ply\"".into());
    }
    while let Some(words) = words() {
        match (words.as_slice(), elements.last_mut()) {
            ([] | ["comment" | "obj_info", ..], _) => {}
            (["format", "ascii", ..], _) => encoding = Some(Encoding::Text),
            (["format", "binary_little_endian", ..], _) => encoding = Some(Encoding::Little),
            (["format", "binary_big_endian", ..], _) => encoding = Some(Encoding::Big),
            (["format", other, ..], _) => {
                return Err(format!(
                    "the format must be ascii, binary_little_endian or binary_big_endian, found {other:?}"
                ));
            }
            (["element", name, count], _) => {
                let count = count.parse().map_err(|_| format!("{count:?} is no count"))?;
                elements.push(Element { name, count, properties: Vec::new() });
            }
            (["property", "list", count, kind, name], Some(element)) => {
                let (list, kind) = (Some(Kind::parse(count)?), Kind::parse(kind)?);
                element.properties.push(Property { name, list, kind });
            }
            (["property", kind, name], Some(element)) => {
                let kind = Kind::parse(kind)?;
                element.properties.push(Property { name, list: None, kind });
            }
            (["end_header"], _) => {
                let encoding =
                    encoding.ok_or("must say its format before, such as \"format ascii 1.0\"")?;
                return Ok((check_head(elements)?, encoding));
            }
            ([first, ..], _) => return Err(format!("{first:?} is not understood here")),
        }
    }
    Err("ends before end_header".into())
}

fn check_head(elements: Vec<Element>) -> Result<Vec<Element>, String> {
    let has = |name: &str| {
        let vertices = elements.iter().filter(|element| element.name == "vertex");
        vertices
            .flat_map(|element| &element.properties)
            .any(|own| own.name == name && own.list.is_none())
    };
    match ["x", "y", "z"].iter().all(|name| has(name)) {
        true => Ok(elements),
        false => Err("must have vertices with the properties x, y and z".into()),
    }
}

/// Reads elements that are stored as bytes.
fn read_bytes(
    mut bytes: &[u8],
    elements: &[Element],
    big: bool,
    mesh: &mut Mesh,
) -> Result<(), String> {
    for element in elements.iter().filter(|element| !element.properties.is_empty()) {
        for k in 0..element.count {
            let early = || {
                format!(
                    "ends early: {} of {:?} were announced, found {k}",
                    element.count, element.name
                )
            };
            let mut take = |kind: Kind| {
                let (number, rest) = kind.take(bytes, big).ok_or_else(early)?;
                bytes = rest;
                Ok::<f64, String>(number)
            };
            let mut point = [0.0; 3];
            for Property { name, list, kind } in &element.properties {
                let Some(list) = list else {
                    let number = take(*kind)?;
                    if let Some(axis) = ["x", "y", "z"].iter().position(|axis| axis == name) {
                        point[axis] = number;
                    }
                    continue;
                };
                let count = take(*list)?;
                if !(count >= 0.0 && count <= MOST_CORNERS as f64) {
                    return Err(format!("{count} must be a count of at most {MOST_CORNERS}"));
                }
                let items =
                    (0..count as usize).map(|_| take(*kind)).collect::<Result<Vec<f64>, _>>()?;
                if element.name == "face" && ["vertex_indices", "vertex_index"].contains(name) {
                    let known = mesh.points.len() as f64;
                    if let Some(wrong) = items.iter().find(|&&at| !(at >= 0.0 && at < known)) {
                        return Err(format!("there is no point {wrong} above"));
                    }
                    let face: Vec<usize> = items.into_iter().map(|at| at as usize).collect();
                    mesh.add_face(&face)?;
                }
            }
            if element.name == "vertex" {
                if !point.iter().all(|x| x.is_finite()) {
                    return Err("a vertex must be three finite numbers".into());
                }
                mesh.points.push(point);
            }
        }
    }
    Ok(())
}

impl Element<'_> {
    fn read(&self, line: &str, mesh: &mut Mesh) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace();
        let mut next = || words.next().ok_or_else(|| format!("{:?} ends early", self.name));
        let mut point = [0.0; 3];
        for property in &self.properties {
            let word = next()?;
            if property.list.is_some() {
                let count = word.parse().ok().filter(|&count: &usize| count <= MOST_CORNERS);
                let count = count
                    .ok_or_else(|| format!("{word:?} must be a count of at most {MOST_CORNERS}"))?;
                let items = (0..count).map(|_| next()).collect::<Result<Vec<_>, _>>()?;
                if self.name == "face"
                    && ["vertex_indices", "vertex_index"].contains(&property.name)
                {
                    mesh.add_face(&corners(&items, mesh.points.len())?)?;
                }
            } else if self.name == "vertex"
                && let Some(k) = ["x", "y", "z"].iter().position(|axis| *axis == property.name)
            {
                let number = word.parse().ok().filter(|x: &f64| x.is_finite());
                point[k] = number.ok_or("a vertex must be three finite numbers")?;
            }
        }
        if self.name == "vertex" {
            mesh.points.push(point);
        }
        Ok(())
    }
}

/// The points that a face names, which stand above it.
fn corners(words: &[&str], count: usize) -> Result<Vec<usize>, String> {
    let point = |word: &&str| {
        let found = word.parse().ok().filter(|&at: &usize| at < count);
        found.ok_or_else(|| format!("there is no point {word:?} above"))
    };
    words.iter().map(point).collect()
}
