//! Messages in JSON, as Foxglove's tools write them.

use std::convert::Infallible;

use serde_json::{Map, Value};

use super::field_path::{CHILD, FieldPath, FieldValue, is_list_of_names, is_stamp};

/// Bytes of a message, of which memory takes about sixteen times as many.
const LONGEST_TEXT: usize = 1 << 24;

/// Tells of all numbers of a message.
///
/// # Errors
/// In words, if it is no JSON.
pub(super) fn read_json(bytes: &[u8], path: &mut FieldPath) -> Result<(), String> {
    if bytes.len() > LONGEST_TEXT {
        return Err(format!("is longer than the {LONGEST_TEXT} bytes that are read of JSON"));
    }
    let message: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("is no JSON: {error}"))?;
    value("", &message, path);
    Ok(())
}

fn value(field: &str, found: &Value, path: &mut FieldPath) {
    match found {
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => path.put(FieldValue::Whole(whole)),
            (None, Some(number)) => path.put(FieldValue::Number(number)),
            (None, None) => {}
        },
        Value::Bool(is) => path.put(FieldValue::Whole(i64::from(*is))),
        // Was not measured.
        Value::Null => path.put(FieldValue::Number(f64::NAN)),
        Value::String(_) => {}
        Value::Array(list) => {
            let own = |list: &mut &Vec<Value>, k: usize| {
                Some(list[k].get(CHILD)?.as_str().filter(|name| !name.is_empty())?.to_string())
            };
            let walk = |list: &mut &Vec<Value>, path: &mut FieldPath, k: usize| {
                value("", &list[k], path);
                Ok::<(), Infallible>(())
            };
            let mut from = list;
            let Ok(()) = path.list(list.len(), &mut from, own, walk);
        }
        Value::Object(fields) => match nanoseconds(fields) {
            Some(time) => path.put(FieldValue::Time(time)),
            None => path.structure(field, |path| structure(fields, path)),
        },
    }
}

fn structure(fields: &Map<String, Value>, path: &mut FieldPath) {
    // They come in no order: first what holds for all others.
    for (name, found) in fields {
        let header = found.get("stamp").filter(|_| name == "header");
        let stamp = header.or(Some(found).filter(|_| is_stamp(name)));
        if let Some(time) = stamp.and_then(Value::as_object).and_then(nanoseconds) {
            path.set_stamp(time);
        }
        let names = found.as_array().filter(|_| is_list_of_names(name));
        let names: Option<Vec<&str>> =
            names.and_then(|names| names.iter().map(Value::as_str).collect());
        if let Some(names) = names {
            path.set_names(names.into_iter().map(Into::into));
        }
    }
    for (name, found) in fields {
        path.inside(name, |path| value(name, found, path));
    }
}

/// The time that an object of seconds and nanoseconds is.
fn nanoseconds(fields: &Map<String, Value>) -> Option<i64> {
    let rest = fields.get("nsec").or_else(|| fields.get("nanosec"))?.as_i64()?;
    let seconds = fields.get("sec").filter(|_| fields.len() == 2)?.as_i64()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(rest)
}
