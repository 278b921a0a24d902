//! Scenes from files of others: MJCF, URDF, meshes.

mod cameras;
#[cfg(feature = "cli")]
mod command;
mod equipped;
mod fuzz;
mod inherited_gains;
mod limits;
mod meshes;
mod mjcf;
mod mujoco;
pub mod overlap;
#[cfg(feature = "cli")]
mod reach;
mod reduced;
mod surfaces;
mod urdf;
mod visuals;
mod write;

use stiction::Error;
use stiction::assemble::{BodyDescription, Description};
use stiction::formats::LoadOptions;

/// Reads the text of an MJCF or URDF.
pub fn parse(text: &str) -> Result<Description, Error> {
    Description::parse_xml(text, "model.xml", LoadOptions::default())
}

/// Reads a text that can be followed.
pub fn read(text: &str) -> Description {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The message about a text that cannot.
pub fn refused(text: &str) -> String {
    match parse(text) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted\n{text}"),
    }
}

/// The warnings about a text.
pub fn warnings(text: &str) -> Vec<String> {
    read(text).warnings.iter().map(Error::to_string).collect()
}

/// The body of a name.
pub fn body<'a>(description: &'a Description, name: &str) -> &'a BodyDescription {
    let found = description.bodies.iter().find(|body| body.name == name);
    found.unwrap_or_else(|| panic!("there is no body {name}"))
}

/// Panics unless all numbers are within a fraction of 1 (or of themselves, where they are larger).
pub fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * b.abs().max(1.0);
    let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
    assert!(same, "found {found:?}, expected {expected:?}");
}
