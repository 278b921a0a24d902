//! The `[[equality]]` tables of a scene file.

use crate::Error;
use crate::assemble::EqualityDescription;
use crate::model::EqualityKind;
use crate::table::Table;

/// Reads an equality whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<EqualityDescription, Error> {
    let kind = match table.required("type", table.string("type")?)? {
        "connect" => EqualityKind::Connect,
        "weld" => EqualityKind::Weld,
        "hinge" => EqualityKind::Hinge,
        "distance" => EqualityKind::Distance,
        "joint" => EqualityKind::Joint,
        other => {
            let message = format!(
                "must be \"connect\", \"weld\", \"hinge\", \"distance\" or \"joint\", found {other:?}"
            );
            return Err(table.error("type", message));
        }
    };
    let own: &[&str] = match kind {
        EqualityKind::Connect => &["bodies", "anchors"],
        EqualityKind::Weld => &["bodies", "anchors", "orientation"],
        EqualityKind::Hinge => &["bodies", "anchors", "axis", "orientation"],
        EqualityKind::Distance => &["bodies", "anchors", "distance"],
        EqualityKind::Joint => &["joints", "offset", "ratio"],
    };
    table.only(&[&["name", "type", "stiffness", "damping"], own].concat())?;
    let stiffness = table.number("stiffness")?;
    if stiffness.is_none() && table.has("damping") {
        return Err(table.error("damping", "has no meaning without stiffness, beside which it is"));
    }
    let two = |field: &str| {
        let names = table.required(field, table.strings(field)?)?;
        let found = names.len();
        <[&str; 2]>::try_from(names)
            .map_err(|_| table.error(field, format!("must be two names, found {found}")))
    };
    let (mut bodies, mut joints) = ([None, None], [String::new(), String::new()]);
    let mut anchors = [[0.0; 3]; 2];
    if kind == EqualityKind::Joint {
        joints = two("joints")?.map(str::to_string);
    } else {
        bodies = two("bodies")?.map(|name| (name != "world").then(|| name.to_string()));
        anchors = table.required("anchors", table.matrix("anchors")?)?;
    }
    Ok(EqualityDescription {
        line: None,
        name,
        kind,
        bodies,
        anchors,
        orientation: table.numbers("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]),
        axis: match kind {
            EqualityKind::Hinge => table.required("axis", table.numbers("axis")?)?,
            _ => [0.0; 3],
        },
        distance: match kind {
            EqualityKind::Distance => table.required("distance", table.number("distance")?)?,
            _ => 0.0,
        },
        joints,
        offset: table.number("offset")?.unwrap_or(0.0),
        ratio: table.number("ratio")?.unwrap_or(1.0),
        stiffness,
        damping: table.number("damping")?.unwrap_or(0.0),
    })
}
