//! What messages of ROS 2 are made of, by the text of their definition.

use std::collections::HashMap;

/// A message has so many structures at most, and so many in each other.
const MOST_STRUCTURES: usize = 1000;
const DEEPEST: usize = 50;

/// A message and all that is nested in it.
#[derive(Clone, Debug)]
pub(super) struct MessageDefinition {
    /// The message itself first.
    pub structures: Vec<Structure>,
}

/// Fields, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Structure {
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub kind: FieldKind,
    pub count: FieldCount,
}

/// What one of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Number(NumberType),
    Text,
    /// Seconds, and nanoseconds.
    Time,
    /// Likewise.
    Duration,
    /// One of the structures.
    Structure(usize),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberType {
    Signed(usize),
    Unsigned(usize),
    Single,
    Double,
}

/// How many there are of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldCount {
    One,
    Fixed(usize),
    Sequence,
}

impl NumberType {
    fn named(name: &str) -> Option<NumberType> {
        Some(match name {
            "bool" | "byte" | "char" | "uint8" => NumberType::Unsigned(1),
            "uint16" => NumberType::Unsigned(2),
            "uint32" => NumberType::Unsigned(4),
            "uint64" => NumberType::Unsigned(8),
            "int8" => NumberType::Signed(1),
            "int16" => NumberType::Signed(2),
            "int32" => NumberType::Signed(4),
            "int64" => NumberType::Signed(8),
            "float32" => NumberType::Single,
            "float64" => NumberType::Double,
            _ => return None,
        })
    }

    /// In bytes.
    pub fn size(self) -> usize {
        match self {
            NumberType::Signed(size) | NumberType::Unsigned(size) => size,
            NumberType::Single => 4,
            NumberType::Double => 8,
        }
    }
}

/// `package/Type`, of which files have `package/msg/Type`, too.
fn short(name: &str) -> String {
    let mut parts: Vec<&str> = name.split('/').collect();
    if parts.len() == 3 && parts[1] == "msg" {
        parts.remove(1);
    }
    parts.join("/")
}

/// The text of a structure: its short name, and the lines with their numbers from 1.
struct Section<'a> {
    name: String,
    lines: Vec<(usize, &'a str)>,
}

/// The message first, those that it uses after lines of `=`.
fn sections<'a>(name: &str, text: &'a str) -> Result<Vec<Section<'a>>, String> {
    let mut all = vec![Section { name: short(name), lines: Vec::new() }];
    let mut begins = false;
    for (k, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.len() > 2 && line.bytes().all(|byte| byte == b'=') {
            begins = true;
        } else if begins && !line.is_empty() {
            let named = line.strip_prefix("MSG:").map(str::trim).filter(|name| !name.is_empty());
            let named = named.ok_or_else(|| {
                format!("line {}: must be MSG: and the name of a message, found {line:?}", k + 1)
            })?;
            all.push(Section { name: short(named), lines: Vec::new() });
            begins = false;
        } else if let (false, Some(section)) = (begins, all.last_mut()) {
            section.lines.push((k + 1, line));
        }
    }
    Ok(all)
}

impl MessageDefinition {
    /// Reads the text of a definition (`ros2msg`) of a message of a name.
    ///
    /// # Errors
    /// The line, and in words what is wrong there.
    pub fn parse(name: &str, text: &str) -> Result<MessageDefinition, String> {
        let sections = sections(name, text)?;
        if sections.len() > MOST_STRUCTURES {
            return Err(format!("has more than {MOST_STRUCTURES} messages in it"));
        }
        let places = sections.iter().enumerate().rev();
        let places: HashMap<&str, usize> =
            places.map(|(k, section)| (section.name.as_str(), k)).collect();
        let mut structures = Vec::with_capacity(sections.len());
        for section in &sections {
            let mut fields = Vec::new();
            for &(line, text) in &section.lines {
                let field = field(text, &section.name, &places);
                fields.extend(field.map_err(|message| format!("line {line}: {message}"))?);
            }
            structures.push(Structure { fields });
        }
        let definition = MessageDefinition { structures };
        let mut depths = vec![None; sections.len()];
        match definition.depth(0, &mut depths, DEEPEST) {
            Some(_) => Ok(definition),
            None => Err(format!("has itself in it, or more than {DEEPEST} messages in each other")),
        }
    }

    /// How many structures are in each other in structure `k`, itself included; nothing if they are more than `most`, as where one has
    /// itself in it.
    fn depth(&self, k: usize, depths: &mut [Option<usize>], most: usize) -> Option<usize> {
        if let Some(known) = depths[k] {
            return (known <= most).then_some(known);
        }
        let below = most.checked_sub(1)?;
        let mut deepest = 0;
        for field in &self.structures[k].fields {
            if let FieldKind::Structure(inner) = field.kind {
                deepest = deepest.max(self.depth(inner, depths, below)?);
            }
        }
        depths[k] = Some(deepest + 1);
        Some(deepest + 1)
    }
}

/// The field of a line; nothing of a comment or a constant.
fn field(
    line: &str,
    section: &str,
    places: &HashMap<&str, usize>,
) -> Result<Option<Field>, String> {
    let code = line.split('#').next().unwrap_or_default();
    let mut words = code.split_whitespace();
    let Some(written) = words.next() else { return Ok(None) };
    let wrong = || format!("must be a type and a name, found {line:?}");
    let name = words.next().ok_or_else(wrong)?;
    if name.contains('=') || words.next().is_some_and(|word| word.starts_with('=')) {
        return Ok(None);
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(wrong());
    }
    let (one, count) = match written.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        None => (written, FieldCount::One),
        Some((one, "")) => (one, FieldCount::Sequence),
        Some((one, most)) if most.starts_with("<=") => (one, FieldCount::Sequence),
        Some((one, count)) => (one, FieldCount::Fixed(count.parse().map_err(|_| wrong())?)),
    };
    // Texts may have a longest length.
    let one = one.split("<=").next().unwrap_or_default();
    let kind = match (NumberType::named(one), one) {
        (Some(number), _) => FieldKind::Number(number),
        (None, "string") => FieldKind::Text,
        (None, "wstring") => {
            return Err("is of wstring, which versions of ROS write in different ways".into());
        }
        (None, _) => structure(one, section, places)?,
    };
    Ok(Some(Field { name: name.to_string(), kind, count }))
}

/// The structure of a name, which one of the same package may have without it.
fn structure(
    written: &str,
    section: &str,
    places: &HashMap<&str, usize>,
) -> Result<FieldKind, String> {
    let name = match (short(written), section.split_once('/')) {
        (name, Some((package, _))) if !name.contains('/') => {
            let own = format!("{package}/{name}");
            let header = name == "Header" && !places.contains_key(own.as_str());
            if header { "std_msgs/Header".to_string() } else { own }
        }
        (name, _) if name == "Header" => "std_msgs/Header".to_string(),
        (name, _) => name,
    };
    match name.as_str() {
        "builtin_interfaces/Time" => Ok(FieldKind::Time),
        "builtin_interfaces/Duration" => Ok(FieldKind::Duration),
        name => {
            let place = places.get(name).map(|&place| FieldKind::Structure(place));
            place.ok_or_else(|| format!("{written} is not defined"))
        }
    }
}
