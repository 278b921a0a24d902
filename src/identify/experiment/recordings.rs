//! What an experiment says of its recordings: `[columns]` and `[recordings]`.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};

use super::input::{RecordedInput, between};
use crate::Error;
use crate::model::{Model, Scene};
use crate::state::unit_quaternion;
use crate::table::Table;
use crate::trajectory::{
    ColumnMap, ColumnSource, Excerpt, RecordedFrames, RotationForm, in_si, input_named, quantity_of,
};

/// The `[columns]` table: patterns for whole bodies first, then groups, so that single columns can differ. Columns of inputs are
/// pushed to `inputs`, and their numbers to the parameters of the scene; those that are not to be used to `unused`.
pub(super) fn read_columns(
    root: &Table,
    scene: &mut Scene,
    inputs: &mut Vec<RecordedInput>,
    unused: &mut Vec<usize>,
) -> Result<ColumnMap, Error> {
    let mut columns = ColumnMap::new(&scene.model);
    columns.fill.clone_from(&scene.state);
    let Some(table) = root.table("columns")? else { return Ok(columns) };
    let mut fields = table.fields();
    fields.sort_by_key(|field| match field.rsplit('/').next() {
        Some("*") => 0,
        Some("position" | "orientation" | "velocity" | "angular_velocity") => 1,
        _ => 2,
    });
    for field in fields {
        let place = input_named(&scene.model, field);
        let source = match table.boolean(field) {
            Ok(Some(false)) => None,
            Ok(_) => {
                let message = "must be the name of a column, or false if it is not recorded";
                return Err(table.error(field, message));
            }
            Err(_) => Some(source(&table, field)?),
        };
        if let Some(place) = place {
            match source {
                None => unused.push(place),
                Some(said) => inputs.push(input(&table, field, place, &said, scene)?),
            }
            continue;
        }
        let set = match source {
            None => columns.set(&scene.model, field, None),
            Some(Said::Name(name)) => columns.set(&scene.model, field, Some(name)),
            Some(Said::Source(inner, source)) => {
                if let Some(inner) = inner.as_ref().filter(|inner| inner.has("between")) {
                    return Err(inner.error("between", "is of inputs"));
                }
                let set = columns.set_source(&scene.model, field, &source);
                set.map_err(|(inside, message)| match &inner {
                    Some(inner) => inner.error(inside, message),
                    None => table.error(field, message),
                })?;
                continue;
            }
        };
        set.map_err(|message| table.error(field, message))?;
    }
    Ok(columns)
}

/// What a field of `[columns]` says.
enum Said<'a> {
    /// The name of a column.
    Name(&'a str),
    /// More than that, in a table of its own or as a list of names.
    Source(Option<Table<'a>>, ColumnSource),
}

fn source<'a>(table: &Table<'a>, field: &str) -> Result<Said<'a>, Error> {
    if table.is_list(field) {
        let names = table.strings(field)?.unwrap_or_default();
        let columns = names.into_iter().map(String::from).collect();
        return Ok(Said::Source(None, ColumnSource { columns, ..ColumnSource::default() }));
    }
    if let Ok(name) = table.string(field) {
        return Ok(Said::Name(name.unwrap_or_default()));
    }
    let not = |_| {
        let message = "must be the name of a column, a list of them, a table such as { column = \"x\", unit = \"mm\" }, or false \
                       if it is not recorded";
        table.error(field, message)
    };
    let Some(inner) = table.table(field).map_err(not)? else {
        return Ok(Said::Name(""));
    };
    inner.only(&[
        "column", "columns", "unit", "scale", "offset", "as", "sequence", "axes", "frame",
        "between",
    ])?;
    let columns = match (inner.string("column")?, inner.strings("columns")?) {
        (Some(_), Some(_)) => return Err(inner.error("columns", "is given beside `column`")),
        (Some(one), None) => vec![one.to_string()],
        (None, names) => names.unwrap_or_default().into_iter().map(String::from).collect(),
    };
    let in_body = match inner.string("frame")? {
        None => None,
        Some("body") => Some(true),
        Some("world") => Some(false),
        Some(other) => {
            let message = format!("must be \"world\" or \"body\", found {other:?}");
            return Err(inner.error("frame", message));
        }
    };
    let scale = inner.number("scale")?;
    inner.demand("scale", scale != Some(0.0), "must not be 0", scale.unwrap_or(1.0), "")?;
    let source = ColumnSource {
        columns,
        unit: inner.string("unit")?.map(String::from),
        scale,
        offset: inner.number("offset")?,
        form: rotation_form(&inner)?,
        in_body,
    };
    Ok(Said::Source(Some(inner), source))
}

/// How an orientation is written.
fn rotation_form(table: &Table) -> Result<Option<RotationForm>, Error> {
    let form = match table.string("as")? {
        None => None,
        Some("wxyz") => Some(RotationForm::Wxyz),
        Some("xyzw") => Some(RotationForm::Xyzw),
        Some("rotation_vector") => Some(RotationForm::RotationVector),
        Some("matrix") => Some(RotationForm::Matrix),
        Some("euler") => {
            let sequence = table.required("sequence", table.string("sequence")?)?;
            let axes: Vec<usize> = sequence.chars().filter_map(|axis| "xyz".find(axis)).collect();
            let axes: Option<[usize; 3]> = axes.try_into().ok();
            let axes = axes.filter(|a| sequence.len() == 3 && a[0] != a[1] && a[1] != a[2]);
            let axes = axes.ok_or_else(|| {
                let message = format!(
                    "must be three axes, of which no two that follow each other are the same, such as \"zyx\", found {sequence:?}"
                );
                table.error("sequence", message)
            })?;
            let moving = match table.string("axes")? {
                Some("moving") => true,
                Some("fixed") => false,
                found => {
                    let message = format!(
                        "must be \"moving\" (each turn about an axis of the body as it is turned already) or \"fixed\" (about \
                         axes that stay), {}",
                        found.map_or("which is missing".into(), |found| format!("found {found:?}"))
                    );
                    return Err(table.error("axes", message));
                }
            };
            Some(RotationForm::Euler { axes, moving })
        }
        Some(other) => {
            let message = format!(
                "must be \"wxyz\", \"xyzw\", \"euler\", \"rotation_vector\" or \"matrix\", found {other:?}"
            );
            return Err(table.error("as", message));
        }
    };
    let euler = matches!(form, Some(RotationForm::Euler { .. }));
    if let Some(field) = ["sequence", "axes"].into_iter().find(|field| table.has(field) && !euler) {
        return Err(table.error(field, "is of as = \"euler\""));
    }
    Ok(form)
}

/// The input of a step that a field of `[columns]` is about.
fn input(
    table: &Table,
    field: &str,
    place: usize,
    said: &Said,
    scene: &mut Scene,
) -> Result<RecordedInput, Error> {
    let (column, how, factor) = match said {
        Said::Name(name) => (*name, Default::default(), 1.0),
        Said::Source(None, _) => return Err(table.error(field, "must be the name of one column")),
        Said::Source(Some(inner), source) => {
            for field in ["offset", "as", "sequence", "axes", "frame"] {
                if inner.has(field) {
                    let message = "is not of inputs; an [[input]] has a bias";
                    return Err(inner.error(field, message));
                }
            }
            let quantity =
                quantity_of(&scene.model, field).unwrap_or(crate::trajectory::Quantity::Control);
            let unit = source.unit.as_deref().map_or(Ok(1.0), |unit| in_si(unit, quantity));
            let unit = unit.map_err(|message| inner.error("unit", message))?;
            let name = match source.columns.as_slice() {
                [] => field,
                [name] => name.as_str(),
                _ => return Err(inner.error("columns", "must be one name")),
            };
            (name, between(inner)?, unit * source.scale.unwrap_or(1.0))
        }
    };
    if column.trim().is_empty() {
        return Err(
            table.error(field, "must be the name of a column, or false if it is not to be used")
        );
    }
    Ok(RecordedInput::single(field, place, (column, how, factor), &mut scene.parameters))
}

/// The `[recordings]` table.
pub(super) fn read_excerpt(
    root: &Table,
    model: &Model,
) -> Result<(Excerpt, RecordedFrames), Error> {
    let (mut excerpt, mut frames) = (Excerpt::default(), RecordedFrames::default());
    let Some(table) = root.table("recordings")? else { return Ok((excerpt, frames)) };
    table.only(&["from", "until", "every", "rate", "up", "position", "orientation", "tracked"])?;
    excerpt.from = table.number("from")?.unwrap_or(excerpt.from);
    excerpt.until = table.number("until")?.unwrap_or(excerpt.until);
    if excerpt.from >= excerpt.until {
        let message = format!("must be after `from`, {} s", excerpt.from);
        return Err(table.error("until", message));
    }
    excerpt.every = table.count("every", MOST_EVERY)?.unwrap_or(1);
    excerpt.rate = table.number("rate")?;
    if let Some(rate) = excerpt.rate {
        if table.has("every") {
            return Err(table.error("rate", "is given beside `every`; give one of them"));
        }
        table.demand("rate", rate > 0.0, "must be positive", rate, "Hz")?;
    }
    let up = match table.string("up")? {
        None => None,
        Some(up) => {
            // By a quarter turn: y about x, x about y.
            let turned = match up {
                "z" => UnitQuaternion::identity(),
                "y" => UnitQuaternion::new_normalize(Quaternion::new(1.0, 1.0, 0.0, 0.0)),
                "x" => UnitQuaternion::new_normalize(Quaternion::new(1.0, 0.0, -1.0, 0.0)),
                _ => {
                    let message = format!("must be \"x\", \"y\" or \"z\", found {up:?}");
                    return Err(table.error("up", message));
                }
            };
            Some(turned)
        }
    };
    if up.is_some() && table.has("orientation") {
        return Err(table.error("orientation", "is given beside `up`; give one of them"));
    }
    if up.is_some() || table.has("position") || table.has("orientation") {
        let mut pose = pose(&table)?;
        pose.rotation = up.unwrap_or(pose.rotation);
        frames.world = Some(pose);
    }
    if let Some(tracked) = table.table("tracked")? {
        for body in tracked.fields() {
            let found = model.bodies.iter().position(|other| other.name == body);
            let found = found.ok_or_else(|| {
                let known: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
                let message = format!("the scene has no such body; it has {}", known.join(", "));
                tracked.error(body, message)
            })?;
            let Some(table) = tracked.table(body)? else { continue };
            table.only(&["position", "orientation"])?;
            frames.tracked.insert(found, pose(&table)?);
        }
    }
    Ok((excerpt, frames))
}

/// More rows from frame to frame are taken for a mistake.
const MOST_EVERY: usize = 1_000_000;

/// Position and orientation.
fn pose(table: &Table) -> Result<Isometry3<f64>, Error> {
    let [x, y, z] = table.numbers::<3>("position")?.unwrap_or_default();
    let q = table.numbers::<4>("orientation")?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
    let [w, i, j, k] = unit_quaternion(q).map_err(|norm| {
        table.error(
            "orientation",
            format!("must be a quaternion w x y z of norm 1, its norm is {norm}"),
        )
    })?;
    let turn = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
    Ok(Isometry3::from_parts(Translation3::new(x, y, z), turn))
}
