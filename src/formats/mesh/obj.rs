//! Wavefront OBJ: lines `v x y z` and `f a b c ...`; all others are about looks.

use super::triangles::{MOST_CORNERS, Mesh, check_count};
use crate::Error;

/// Reads a file.
pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Mesh, Error> {
    let mut mesh = Mesh::default();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line_number = index + 1;
        let wrong = |message: String| Err(Error::input(name, line_number, "", message));
        // Names of materials may be in any encoding; numbers are ASCII.
        let line = String::from_utf8_lossy(line);
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
            _ => {}
        }
    }
    Ok(mesh)
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
