//! Wavefront OBJ: lines `v x y z` and `f a b c ...`, and the colours of materials.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::triangles::{MOST_CORNERS, Mesh, check_count};
use crate::Error;
use crate::formats::reach::stays;
use crate::model::Color;
use crate::text;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let mut mesh = Mesh::default();
    let mut colors = HashMap::new();
    let mut libraries = HashSet::new();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line_number = index + 1;
        let wrong = |message: String| Err(Error::input(name, line_number, "", message));
        // Names of materials may be in any encoding; numbers are ASCII.
        let line = String::from_utf8_lossy(line);
        let text = line.split('#').next().unwrap_or_default();
        let mut words = line.split('#').next().unwrap_or_default().split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut point = [0.0; 3];
                for x in &mut point {
                    *x = match words.next().map(str::parse::<f64>) {
                        Some(Ok(number)) if number.is_finite() => number,
                        _ => return wrong("a point must be three finite numbers".into()),
                    };
                }
                mesh.points.push(point);
                check_count(mesh.points.len(), name, Some(line_number))?;
            }
            Some("f") => {
                let mut face = Vec::new();
                for word in words {
                    // point/texture/normal; negative counts from the last point.
                    let first = word.split('/').next().unwrap_or_default();
                    let count = mesh.points.len();
                    let at = match first.parse::<i64>() {
                        Ok(at) if at > 0 => usize::try_from(at - 1).ok(),
                        Ok(at) if at < 0 => usize::try_from(at.unsigned_abs())
                            .ok()
                            .and_then(|back| count.checked_sub(back)),
                        _ => None,
                    };
                    match at {
                        Some(at) if at < count && face.len() < MOST_CORNERS => face.push(at),
                        Some(at) if at < count => {
                            return wrong(format!("a face has more than {MOST_CORNERS} corners"));
                        }
                        _ => return wrong(format!("there is no point {first:?} above")),
                    }
                }
                if let Err(message) = mesh.add_face(&face) {
                    return wrong(message);
                }
                check_count(mesh.triangles.len(), name, Some(line_number))?;
            }
            Some("mtllib") => {
                // Its name may have spaces in it.
                let library = text.trim_start().trim_start_matches("mtllib").trim();
                let within = stays(Path::new(library)) && libraries.insert(library.to_string());
                let path = Path::new(name).with_file_name(library);
                // Nobody misses a colour so much that there should be no mesh.
                if libraries.len() <= MOST_LIBRARIES
                    && let Some(text) = within.then(|| text::read_bytes(&path, MOST_BYTES).ok())
                {
                    materials(&text.unwrap_or_default(), &mut colors);
                }
            }
            Some("usemtl") => {
                let material = text.trim_start().trim_start_matches("usemtl").trim();
                mesh.paint(colors.get(material).copied());
            }
            _ => {}
        }
    }
    Ok(mesh)
}

/// Libraries of one mesh; of more the first are read.
const MOST_LIBRARIES: usize = 16;
/// Bytes of a library of materials.
const MOST_BYTES: u64 = 16 << 20;

/// Adds the colours in light from all sides of the materials of a library: `newmtl name`, `Kd r g b`, `d opacity`.
fn materials(bytes: &[u8], colors: &mut HashMap<String, Color>) {
    let text = String::from_utf8_lossy(bytes);
    let mut name = "";
    let mut opacity = 1.0;
    for line in text.lines().map(str::trim) {
        let number = |word: &str| word.parse().ok().filter(|x: &f64| x.is_finite());
        let numbers = || line.split_ascii_whitespace().skip(1).map_while(number);
        match line.split_ascii_whitespace().next() {
            Some("newmtl") => (name, opacity) = (line.trim_start_matches("newmtl").trim(), 1.0),
            Some("Kd") => {
                if let [r, g, b] = numbers().take(3).collect::<Vec<f64>>()[..] {
                    let color = [r, g, b].map(|part| part.clamp(0.0, 1.0));
                    colors.insert(name.to_string(), [color[0], color[1], color[2], opacity]);
                }
            }
            Some("d") => {
                opacity = numbers().next().unwrap_or(1.0).clamp(0.0, 1.0);
                colors.entry(name.to_string()).and_modify(|color| color[3] = opacity);
            }
            _ => {}
        }
    }
}

/// The text of a file of a surface.
#[cfg(feature = "cli")]
pub(crate) fn text(surface: &crate::model::Triangulation) -> String {
    use std::fmt::Write;

    let mut text = String::new();
    for v in &surface.vertices {
        let _ = writeln!(text, "v {:?} {:?} {:?}", v.x, v.y, v.z);
    }
    for [a, b, c] in &surface.triangles {
        let _ = writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1);
    }
    text
}
