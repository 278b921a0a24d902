//! The `[[push]]` tables of a scene file.

use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::assemble::PushDescription;
use crate::table::Table;

/// Reads a push whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<PushDescription, Error> {
    table.only(&["name", "body", "point", "force", "from", "until"])?;
    let from = table.number("from")?.unwrap_or(0.0);
    let until = table.required("until", table.number("until")?)?;
    Ok(PushDescription {
        line: None,
        name,
        body: table.required("body", table.string("body")?)?.to_string(),
        point: table.numbers("point")?.unwrap_or([0.0; 3]),
        force: table.required("force", table.numbers("force")?)?,
        time: [from, until],
    })
}

/// Writes a push.
pub(super) fn write(text: &mut String, push: &PushDescription) {
    text.push_str("\n[[push]]\n");
    field(text, "name", &string(&push.name));
    field(text, "body", &string(&push.body));
    field(text, "point", &list(&push.point));
    field(text, "force", &list(&push.force));
    field(text, "from", &number(push.time[0]));
    field(text, "until", &number(push.time[1]));
}
