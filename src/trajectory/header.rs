//! What the names of a recording's columns probably mean.

use std::collections::BTreeSet;

use super::RecordingFile;
use super::column_names::{Column, RECORDING, all, joints, topic_of};
use super::input_names::input_named;
use crate::model::Model;

/// What a header was understood as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Understood {
    /// Entries of `[columns]`: our name, and what stands behind it, as TOML.
    pub entries: Vec<(String, String)>,
    /// Columns that are nothing that is known here.
    pub unknown: Vec<String>,
    /// Bodies of which nothing was found.
    pub missing: Vec<String>,
}

/// The words of a column, and its unit if it names one.
struct Words {
    words: Vec<String>,
    unit: Option<&'static str>,
    /// How many of the first are of a topic.
    of_topic: usize,
}

/// Words of units, and the units.
const UNITS: [(&str, &str); 13] = [
    ("mm", "mm"),
    ("cm", "cm"),
    ("ms", "ms"),
    ("us", "us"),
    ("ns", "ns"),
    ("deg", "deg"),
    ("degrees", "deg"),
    ("rpm", "rpm"),
    ("sec", "s"),
    ("secs", "s"),
    ("seconds", "s"),
    ("rad", "rad"),
    ("meters", "m"),
];

/// Words that say nothing.
const FILLERS: [&str; 12] = [
    "pose", "rigid", "body", "object", "marker", "state", "msg", "data", "field", "world",
    "global", "linear",
];

/// What the parts of a name are called, by our fields; `*` stands for x, y or z.
const ALIASES: [(&str, &[&str]); 4] = [
    ("p", &["p*", "*", "t*", "pos *", "position *", "p *", "translation *", "pos*"]),
    (
        "q",
        &[
            "q*",
            "quat *",
            "quaternion *",
            "orientation *",
            "rotation *",
            "rot *",
            "q *",
            "r*",
            "quat*",
        ],
    ),
    ("v", &["v*", "vel *", "velocity *", "v *", "twist *"]),
    (
        "w",
        &[
            "w*",
            "omega *",
            "angular velocity *",
            "ang vel *",
            "angvel *",
            "angular *",
            "w *",
            "twist angular *",
        ],
    ),
];

impl Words {
    fn of(column: &str) -> Words {
        let mut words = Vec::new();
        let mut word = String::new();
        let mut lower = false;
        for c in column.chars() {
            let splits = !c.is_alphanumeric() || c.is_uppercase() && lower;
            if splits && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
            lower = c.is_lowercase();
        }
        if !word.is_empty() {
            words.push(word);
        }
        let known =
            |word: &str| UNITS.iter().find(|(name, _)| *name == word).map(|&(_, unit)| unit);
        let unit = words.last().and_then(|last| known(last)).filter(|_| words.len() > 1);
        if unit.is_some() {
            words.pop();
        }
        let of_topic = topic_of(column).map_or(0, |topic| Words::of(topic).words.len());
        Words { words, unit, of_topic }
    }

    /// Without words that say nothing, and without a name, if that is among them; of a topic nothing else counts.
    fn less(&self, name: &str) -> (Vec<&str>, bool) {
        let name = Words::of(name).words;
        let mut words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let at = (0..=words.len().saturating_sub(name.len()))
            .find(|&at| !name.is_empty() && words[at..].iter().take(name.len()).eq(name.iter()));
        let mut of_topic = self.of_topic;
        if let Some(at) = at {
            words.drain(at..at + name.len());
            of_topic -= name.len().min(of_topic.saturating_sub(at));
        }
        words.drain(..of_topic.min(words.len()));
        words.retain(|word| !FILLERS.contains(word));
        (words, at.is_some())
    }
}

/// Whether words are what a field of a free body or ball joint is called.
fn is_field(words: &[&str], field: &str) -> bool {
    let (kind, axis) = field.split_at(1);
    let aliases = ALIASES.iter().find(|(known, _)| *known == kind);
    let said = words.join(" ");
    aliases.is_some_and(|(_, aliases)| aliases.iter().any(|alias| alias.replace('*', axis) == said))
}

/// Whether words are what a joint's position (`q`) or rate (`v`) is called, beside its name.
fn is_joint_field(words: &[&str], field: &str) -> bool {
    let said = words.join(" ");
    match field {
        "q" => ["", "q", "angle", "pos", "position", "encoder"].contains(&said.as_str()),
        _ => ["v", "vel", "velocity", "rate", "speed"].contains(&said.as_str()),
    }
}

/// What the columns of a recording probably are, by their names.
pub fn understand(file: &RecordingFile, model: &Model) -> Understood {
    let columns: Vec<(&str, Words)> =
        file.columns().map(|column| (column, Words::of(column))).collect();
    let mut taken = BTreeSet::new();
    let mut found = Understood::default();
    let time = columns.iter().position(|(_, words)| {
        let said = words.words.join(" ");
        ["t", "time", "timestamp", "stamp", "zeit", "time stamp", "elapsed", "time elapsed"]
            .contains(&said.as_str())
    });
    if let Some(k) = time {
        taken.insert(k);
        let (name, Words { unit, .. }) = &columns[k];
        let unit = unit.filter(|&unit| unit != "s");
        if *name != "t" || unit.is_some() {
            found.entries.push(("t".into(), entry(name, unit)));
        }
    }
    let count = joints(model).count();
    for (body, _) in joints(model) {
        let own: Vec<Column> = all(model).filter(|column| column.body == body.name).collect();
        let names = [body.name.as_str(), body.joint.name.as_str()];
        let said = |words: &Words, field: &str| {
            names.into_iter().filter(|name| !name.is_empty()).any(|name| {
                let (rest, named) = words.less(name);
                let fits = if field.len() == 2 {
                    is_field(&rest, field)
                } else {
                    is_joint_field(&rest, field)
                };
                // Of several bodies each column names its own.
                fits && (named || count == 1 && !rest.is_empty())
            })
        };
        let find = |taken: &BTreeSet<usize>, column: &Column| {
            let free = |k: &usize| !taken.contains(k);
            let own =
                (0..columns.len()).filter(free).find(|&k| column.is(columns[k].0, count == 1));
            // What has the name of an input is one.
            let free = |k: &usize| free(k) && input_named(model, columns[*k].0).is_none();
            own.or_else(|| {
                (0..columns.len()).filter(free).find(|&k| said(&columns[k].1, column.field))
            })
        };
        let before = taken.len();
        let mut entries = Vec::new();
        for part in own.chunk_by(|a, b| a.field.len() == 2 && a.field[..1] == b.field[..1]) {
            let places: Vec<Option<usize>> = part
                .iter()
                .map(|column| {
                    let place = find(&taken, column);
                    taken.extend(place);
                    place
                })
                .collect();
            if places.iter().any(Option::is_none) {
                // A vector is recorded as a whole, or not.
                places.iter().flatten().for_each(|k| {
                    taken.remove(k);
                });
                let angles = ["yaw", "pitch", "roll"].map(|name| {
                    let is = |words: &Words| {
                        names.iter().any(|body| {
                            let (rest, named) = words.less(body);
                            rest == [name] && (named || count == 1)
                        })
                    };
                    columns.iter().position(|(_, words)| is(words))
                });
                let group = match &part[0].field[..1] {
                    "q" if part.len() == 4 => "orientation",
                    "p" => "position",
                    "w" => "angular_velocity",
                    _ if part.len() == 3 => "velocity",
                    field => field,
                };
                let ours = format!("{}/{group}", body.name);
                let unit = |k: usize| columns[k].1.unit;
                let alike = |[yaw, pitch, roll]: [usize; 3]| {
                    unit(yaw) == unit(pitch) && unit(pitch) == unit(roll)
                };
                let angles = match angles {
                    [Some(yaw), Some(pitch), Some(roll)] => {
                        Some([yaw, pitch, roll]).filter(|&a| alike(a))
                    }
                    _ => None,
                };
                if let (4, Some([yaw, pitch, roll])) = (part.len(), angles) {
                    taken.extend([yaw, pitch, roll]);
                    let list = [yaw, pitch, roll].map(|k| format!("{:?}", columns[k].0)).join(", ");
                    let unit =
                        if columns[yaw].1.unit == Some("deg") { ", unit = \"deg\"" } else { "" };
                    let said = format!(
                        "{{ columns = [{list}], as = \"euler\", sequence = \"zyx\", axes = \"moving\"{unit} }}"
                    );
                    entries.push((ours, said));
                } else {
                    entries.push((ours, "false".into()));
                }
                continue;
            }
            for (column, k) in part.iter().zip(places.into_iter().flatten()) {
                let (name, Words { unit, .. }) = &columns[k];
                let unit = match (column.is_rate(), *unit) {
                    (false, unit) => unit.filter(|unit| !["m", "rad", "s"].contains(unit)),
                    (true, Some("mm")) => Some("mm/s"),
                    (true, Some("cm")) => Some("cm/s"),
                    (true, Some("deg")) => Some("deg/s"),
                    (true, unit) => unit.filter(|&unit| unit == "rpm"),
                };
                let ours = column.name(false);
                if *name != ours || unit.is_some() {
                    entries.push((ours, entry(name, unit)));
                }
            }
        }
        if taken.len() == before {
            found.missing.push(body.name.clone());
            entries = vec![(format!("{}/*", body.name), "false".into())];
        }
        found.entries.extend(entries);
    }
    if file.is_of_table() {
        // What tells its recordings apart.
        let named = |name: &str| columns.iter().position(|(column, _)| *column == name);
        if let Some(k) = named(RECORDING) {
            taken.insert(k);
        } else if let Some(k) = ["episode_index", "episode"].into_iter().find_map(named) {
            taken.insert(k);
            found.entries.insert(0, (RECORDING.into(), entry(columns[k].0, None)));
        }
    }
    let used: BTreeSet<&str> = taken.iter().filter_map(|&k| topic_of(columns[k].0)).collect();
    // The messages of the first one used are the rows.
    if let Some(first) = taken.iter().find_map(|&k| topic_of(columns[k].0)) {
        let named =
            |field: &str| file.columns().find(|column| **column == format!("{first}.{field}"));
        if let Some(time) = named("header.stamp").or_else(|| named("log_time")) {
            found.entries.retain(|(ours, _)| ours != "t");
            found.entries.insert(0, ("t".into(), entry(time, None)));
        }
    }
    for (k, (name, _)) in columns.iter().enumerate() {
        let name = topic_of(name).unwrap_or(name);
        let is_known =
            taken.contains(&k) || used.contains(name) || input_named(model, name).is_some();
        if !is_known && found.unknown.last().is_none_or(|last| last != name) {
            found.unknown.push(name.to_string());
        }
    }
    found
}

/// What stands behind our name.
fn entry(column: &str, unit: Option<&str>) -> String {
    match unit {
        None => format!("{column:?}"),
        Some(unit) => format!("{{ column = {column:?}, unit = {unit:?} }}"),
    }
}
