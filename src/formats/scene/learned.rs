//! The `[[learned]]` tables of a scene file.

use super::toml_values::{field, list, number, string};
use crate::Error;
use crate::assemble::LearnedDescription;
use crate::formats::{reach, weights_file};
use crate::model::LearnedKind;
use crate::network::Activation;
use crate::table::Table;

/// Numbers of the hidden layer, where the file says nothing.
const LAYERS: [usize; 1] = [16];
/// The largest number of layers, and of numbers in one.
const MOST_LAYERS: usize = 20;
const WIDEST: usize = 100_000;

/// Reads a term whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<LearnedDescription, Error> {
    table.only(&[
        "name",
        "kind",
        "of",
        "on",
        "layers",
        "activation",
        "amplitude",
        "range",
        "weights",
    ])?;
    let kind = table.required("kind", table.string("kind")?)?;
    let kind = known(table, "kind", kind, &LearnedKind::ALL, LearnedKind::name)?;
    let activation = match table.string("activation")? {
        Some(found) => known(table, "activation", found, &Activation::ALL, Activation::name)?,
        None => Activation::Tanh,
    };
    let names = |field: &str| -> Result<Option<Vec<String>>, Error> {
        // One name need not be a list.
        if let Ok(one) = table.string(field) {
            return Ok(one.map(|name| vec![name.to_string()]));
        }
        let all = table.strings(field)?;
        Ok(all.map(|names| names.into_iter().map(str::to_string).collect()))
    };
    let mut layers = match table.list("layers")? {
        None => LAYERS.to_vec(),
        Some(sizes) => {
            let size = |&x: &f64| {
                let whole = x.fract() == 0.0 && (1.0..=WIDEST as f64).contains(&x);
                let message = format!("must be whole numbers from 1 to {WIDEST}, found {x}");
                if whole { Ok(x as usize) } else { Err(table.error("layers", message)) }
            };
            if sizes.len() > MOST_LAYERS {
                let found = sizes.len();
                let message = format!("must be at most {MOST_LAYERS}, found {found}");
                return Err(table.error("layers", message));
            }
            sizes.iter().map(size).collect::<Result<_, _>>()?
        }
    };
    let range = match table.rows("range")? {
        None => Vec::new(),
        Some(rows) => {
            let pair = |row: &Vec<f64>| {
                let message = "must be a list of pairs [least, largest], one for each of `of`";
                <[f64; 2]>::try_from(row.as_slice()).map_err(|_| table.error("range", message))
            };
            rows.iter().map(pair).collect::<Result<_, _>>()?
        }
    };
    let mut archived = None;
    let (weights, archive) = read_weights(table, &mut layers, &mut archived)?;
    Ok(LearnedDescription {
        line: None,
        name,
        kind,
        of: table.required("of", names("of")?)?,
        on: names("on")?.unwrap_or_default(),
        layers,
        activation,
        amplitude: table.number("amplitude")?.unwrap_or(1.0),
        range,
        weights,
        archived,
        archive,
    })
}

/// The weights, and the archive they are from: a list of numbers, or the name of a file beside the scene, which says what
/// `layers` are unless the scene does.
fn read_weights(
    table: &Table,
    layers: &mut Vec<usize>,
    archived: &mut Option<Vec<usize>>,
) -> Result<(Option<Vec<f64>>, Option<String>), Error> {
    let Ok(file) = table.string("weights") else {
        return Ok((table.list("weights")?, None));
    };
    let Some(file) = file else { return Ok((None, None)) };
    let wrong = |message: String| table.error("weights", message);
    let path = table.directory().join(file);
    reach::check(&path, table.directory()).map_err(wrong)?;
    let found = weights_file::load(&path).map_err(|error| wrong(error.to_string()))?;
    let hidden = &found.sizes[1..found.sizes.len() - 1];
    if !table.has("layers") {
        *layers = hidden.to_vec();
    } else if hidden != layers {
        let message = format!("{file} has hidden layers of {hidden:?}, and `layers` is {layers:?}");
        return Err(wrong(message));
    }
    *archived = Some(found.sizes);
    Ok((Some(found.values), Some(file.to_string())))
}

/// The one of `all` that is called `found`.
fn known<T: Copy>(
    table: &Table,
    field: &str,
    found: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    all.iter().copied().find(|&one| name(one) == found).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|&one| format!("{:?}", name(one))).collect();
        let message = format!("must be one of {}, found {found:?}", names.join(", "));
        table.error(field, message)
    })
}

/// Writes a term.
pub(super) fn write(text: &mut String, term: &LearnedDescription) {
    text.push_str("\n[[learned]]\n");
    field(text, "name", &string(&term.name));
    field(text, "kind", &string(term.kind.name()));
    let names = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| string(name)).collect();
        format!("[{}]", names.join(", "))
    };
    field(text, "of", &names(&term.of));
    if !term.on.is_empty() {
        field(text, "on", &names(&term.on));
    }
    let layers: Vec<String> = term.layers.iter().map(usize::to_string).collect();
    field(text, "layers", &format!("[{}]", layers.join(", ")));
    field(text, "activation", &string(term.activation.name()));
    field(text, "amplitude", &number(term.amplitude));
    if !term.range.is_empty() {
        let pairs: Vec<String> = term.range.iter().map(|pair| list(pair)).collect();
        field(text, "range", &format!("[{}]", pairs.join(", ")));
    }
    match (&term.archive, &term.weights) {
        (Some(archive), _) => field(text, "weights", &string(archive)),
        (None, Some(weights)) => field(text, "weights", &list(weights)),
        (None, None) => {}
    }
}
