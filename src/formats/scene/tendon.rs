//! The `[[tendon]]` tables of a scene file.

use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::assemble::{TendonDescription, TendonPathDescription};
use crate::table::Table;

/// Reads a tendon whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<TendonDescription, Error> {
    table.only(&[
        "name",
        "joints",
        "coefficients",
        "bodies",
        "points",
        "stiffness",
        "damping",
        "rest",
        "slack",
        "pulls_only",
        "range",
        "friction",
    ])?;
    let alike = |field: &str, names: usize, numbers: usize| match names == numbers {
        true => Ok(()),
        false => Err(table.error(field, format!("must be {names}, one for each, found {numbers}"))),
    };
    let path = match (table.strings("joints")?, table.strings("bodies")?) {
        (Some(joints), None) => {
            if table.has("points") {
                return Err(table.error("points", "is for tendons between `bodies`"));
            }
            let numbers = table.list("coefficients")?.unwrap_or_else(|| vec![1.0; joints.len()]);
            alike("coefficients", joints.len(), numbers.len())?;
            let names = joints.into_iter().map(str::to_string);
            TendonPathDescription::Joints(names.zip(numbers).collect())
        }
        (None, Some(bodies)) => {
            if table.has("coefficients") {
                return Err(table.error("coefficients", "is for tendons of `joints`"));
            }
            let points = table.required("points", table.rows("points")?)?;
            alike("points", bodies.len(), points.len())?;
            let mut path = Vec::new();
            for (body, point) in bodies.into_iter().zip(points) {
                let found = point.len();
                let point = <[f64; 3]>::try_from(point).map_err(|_| {
                    table.error("points", format!("must be three numbers each, found {found}"))
                })?;
                path.push(((body != "world").then(|| body.to_string()), point));
            }
            TendonPathDescription::Points(path)
        }
        (Some(_), Some(_)) => {
            return Err(table.error("bodies", "must not be given beside `joints`"));
        }
        (None, None) => {
            let message = "must be given, or else `bodies` with `points`: what its length is";
            return Err(table.error("joints", message));
        }
    };
    Ok(TendonDescription {
        line: None,
        name,
        path,
        stiffness: table.number("stiffness")?.unwrap_or(0.0),
        damping: table.number("damping")?.unwrap_or(0.0),
        rest: table.number("rest")?,
        slack: table.number("slack")?.unwrap_or(0.0),
        pulls_only: table.boolean("pulls_only")?.unwrap_or(false),
        range: table.numbers("range")?,
        friction: table.number("friction")?.unwrap_or(0.0),
    })
}

/// Writes a tendon called `name`, with the `names` of bodies there.
pub(super) fn write(
    text: &mut String,
    tendon: &TendonDescription,
    name: &str,
    names: impl Fn(&str) -> String,
) {
    text.push_str("\n[[tendon]]\n");
    field(text, "name", &string(name));
    let all = |names: Vec<String>| format!("[{}]", names.join(", "));
    match &tendon.path {
        TendonPathDescription::Joints(joints) => {
            let called = joints.iter().map(|(joint, _)| string(&names(joint))).collect();
            field(text, "joints", &all(called));
            let numbers: Vec<f64> = joints.iter().map(|(_, number)| *number).collect();
            field(text, "coefficients", &list(&numbers));
        }
        TendonPathDescription::Points(points) => {
            let called = |body: &Option<String>| match body {
                Some(body) => string(&names(body)),
                None => string("world"),
            };
            field(text, "bodies", &all(points.iter().map(|(body, _)| called(body)).collect()));
            field(text, "points", &all(points.iter().map(|(_, point)| list(point)).collect()));
        }
    }
    for (what, value) in [
        ("stiffness", tendon.stiffness),
        ("damping", tendon.damping),
        ("slack", tendon.slack),
        ("friction", tendon.friction),
    ] {
        if value != 0.0 {
            field(text, what, &number(value));
        }
    }
    if let Some(rest) = tendon.rest.filter(|_| tendon.stiffness != 0.0 || tendon.pulls_only) {
        field(text, "rest", &number(rest));
    }
    if tendon.pulls_only {
        field(text, "pulls_only", "true");
    }
    if let Some(range) = tendon.range {
        field(text, "range", &list(&range));
    }
}
