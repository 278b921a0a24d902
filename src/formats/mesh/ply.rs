//! PLY as text: a head that names elements and their properties, then a line for each element.

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
    list: bool,
}

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    // What is binary is refused by the head; comments may be in any encoding.
    let text = String::from_utf8_lossy(bytes);
    let mut lines = (1..).zip(text.lines());
    let mut last = 0;
    let elements = read_head(lines.by_ref().inspect(|&(number, _)| last = number))
        .map_err(|message| Error::input(name, last.max(1), "", message))?;
    let mut mesh = Mesh::default();
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
) -> Result<Vec<Element<'a>>, String> {
    let mut elements: Vec<Element> = Vec::new();
    let mut is_text = false;
    let split = |line: &'a str| line.split_ascii_whitespace().collect::<Vec<_>>();
    let mut words = || lines.next().map(|(_, line)| split(line));
    if words().as_deref() != Some(&["ply"][..]) {
        return Err("must begin with a line \"ply\"".into());
    }
    while let Some(words) = words() {
        match (words.as_slice(), elements.last_mut()) {
            ([] | ["comment" | "obj_info", ..], _) => {}
            (["format", "ascii", ..], _) => is_text = true,
            (["format", other, ..], _) => {
                return Err(format!("must be of the format ascii, found {other:?}: convert it"));
            }
            (["element", name, count], _) => {
                let count = count.parse().map_err(|_| format!("{count:?} is no count"))?;
                elements.push(Element { name, count, properties: Vec::new() });
            }
            (["property", "list", _, _, name], Some(element)) => {
                element.properties.push(Property { name, list: true });
            }
            (["property", _, name], Some(element)) => {
                element.properties.push(Property { name, list: false });
            }
            (["end_header"], _) if is_text => return check_head(elements),
            (["end_header"], _) => return Err("must say \"format ascii 1.0\" before".into()),
            ([first, ..], _) => return Err(format!("{first:?} is not understood here")),
        }
    }
    Err("ends before end_header".into())
}

fn check_head(elements: Vec<Element>) -> Result<Vec<Element>, String> {
    let has = |name: &str| {
        let vertices = elements.iter().filter(|element| element.name == "vertex");
        vertices.flat_map(|element| &element.properties).any(|own| own.name == name && !own.list)
    };
    match ["x", "y", "z"].iter().all(|name| has(name)) {
        true => Ok(elements),
        false => Err("must have vertices with the properties x, y and z".into()),
    }
}

impl Element<'_> {
    fn read(&self, line: &str, mesh: &mut Mesh) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace();
        let mut next = || words.next().ok_or_else(|| format!("{:?} ends early", self.name));
        let mut point = [0.0; 3];
        for property in &self.properties {
            let word = next()?;
            if property.list {
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
