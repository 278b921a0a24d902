//! Messages of ROS 2 in bytes: CDR, in its first version.

use std::borrow::Cow;

use super::byte_cursor::{ByteCursor, TooShort};
use super::field_path::{CHILD, FieldPath, FieldValue, LONGEST, is_list_of_names, is_stamp};
use super::message_definition::{
    Field, FieldCount, FieldKind, MessageDefinition, NumberType, Structure,
};

/// Bytes after a message that may fill its last word.
const PADDING: usize = 7;

/// Tells of all numbers of a message.
///
/// # Errors
/// In words, if the bytes are not those of such a message.
pub(super) fn read_cdr(
    definition: &MessageDefinition,
    bytes: &[u8],
    path: &mut FieldPath,
) -> Result<(), String> {
    let mut head = ByteCursor::new(bytes, true);
    let big_endian = match head.whole(4).map(|head| head >> 16) {
        Ok(0) => true,
        Ok(1) => false,
        Ok(kind) => {
            return Err(format!(
                "is of the kind {kind:#06x}: only plain CDR of the first version is read (0x0000, 0x0001)"
            ));
        }
        Err(TooShort) => return Err(short()),
    };
    let mut message = CdrMessage { definition, rest: ByteCursor::new(head.rest(), big_endian) };
    path.structure("", |path| message.structure(&definition.structures[0], path))
        .map_err(|TooShort| short())?;
    let left = message.rest.rest().len();
    if left > PADDING {
        return Err(format!("has {left} bytes more than its definition"));
    }
    Ok(())
}

fn short() -> String {
    "is shorter than its definition, or has a list longer than its bytes".into()
}

/// What is left of a message.
struct CdrMessage<'a> {
    definition: &'a MessageDefinition,
    rest: ByteCursor<'a>,
}

impl<'a> CdrMessage<'a> {
    fn structure(&mut self, structure: &Structure, path: &mut FieldPath) -> Result<(), TooShort> {
        if structure.fields.is_empty() {
            // What has no fields is written as a byte.
            self.rest.bytes(1)?;
        }
        let mut fields = structure.fields.iter();
        fields.try_for_each(|field| path.inside(&field.name, |path| self.field(field, path)))
    }

    fn field(&mut self, field: &Field, path: &mut FieldPath) -> Result<(), TooShort> {
        let count = match field.count {
            FieldCount::One => return self.one(field, path),
            FieldCount::Fixed(count) => count,
            FieldCount::Sequence => self.count()?,
        };
        // Each takes a byte, at least.
        if count > self.rest.rest().len() {
            return Err(TooShort);
        }
        match field.kind {
            FieldKind::Text if is_list_of_names(&field.name) && count <= LONGEST => {
                let names = (0..count).map(|_| self.text()).collect::<Result<Vec<_>, _>>()?;
                path.set_names(names);
                Ok(())
            }
            FieldKind::Text => (0..count).try_for_each(|_| self.text().map(|_| ())),
            FieldKind::Number(number) if count > LONGEST => {
                self.rest.align(number.size())?;
                let bytes = count.checked_mul(number.size()).ok_or(TooShort)?;
                self.rest.bytes(bytes).map(|_| ())
            }
            _ => path.list(
                count,
                self,
                |message, _| message.child(field.kind),
                |message, path, _| message.one(field, path),
            ),
        }
    }

    fn one(&mut self, field: &Field, path: &mut FieldPath) -> Result<(), TooShort> {
        match field.kind {
            FieldKind::Number(number) => path.put(self.number(number)?),
            FieldKind::Text => {
                self.text()?;
            }
            FieldKind::Time => {
                let time = self.nanoseconds()?;
                if is_stamp(&field.name) {
                    path.set_stamp(time);
                }
                path.put(FieldValue::Time(time));
            }
            FieldKind::Duration => path.put(FieldValue::Number(1e-9 * self.nanoseconds()? as f64)),
            FieldKind::Structure(k) => {
                let structure = &self.definition.structures[k];
                path.structure(&field.name, |path| self.structure(structure, path))?;
            }
        }
        Ok(())
    }

    /// What the structure that comes next says it is of, if it does.
    fn child(&self, kind: FieldKind) -> Option<String> {
        let FieldKind::Structure(k) = kind else { return None };
        let fields = &self.definition.structures[k].fields;
        let is_child = |field: &Field| {
            field.name == CHILD && (field.kind, field.count) == (FieldKind::Text, FieldCount::One)
        };
        let before = fields.iter().position(is_child)?;
        let mut ahead = CdrMessage { definition: self.definition, rest: self.rest };
        let mut nobody = |_: &str, _, _| ();
        // Silent: looking ahead from there again would take twice as long with each level.
        let mut path = FieldPath::silent(&mut nobody);
        fields[..before].iter().try_for_each(|field| ahead.field(field, &mut path)).ok()?;
        let name = ahead.text().ok()?;
        (!name.is_empty()).then(|| name.into_owned())
    }

    fn number(&mut self, number: NumberType) -> Result<FieldValue, TooShort> {
        self.rest.align(number.size())?;
        let bits = self.rest.whole(number.size())?;
        Ok(match number {
            NumberType::Single => FieldValue::Number(f64::from(f32::from_bits(bits as u32))),
            NumberType::Double => FieldValue::Number(f64::from_bits(bits)),
            NumberType::Signed(size) => {
                let unused = 64 - 8 * size;
                FieldValue::Whole((bits << unused) as i64 >> unused)
            }
            NumberType::Unsigned(_) => {
                i64::try_from(bits).map_or(FieldValue::Number(bits as f64), FieldValue::Whole)
            }
        })
    }

    /// Seconds and nanoseconds.
    fn nanoseconds(&mut self) -> Result<i64, TooShort> {
        self.rest.align(4)?;
        let (seconds, rest) = (self.rest.whole(4)?, self.rest.whole(4)?);
        Ok(i64::from(seconds as u32 as i32) * 1_000_000_000 + rest as i64)
    }

    fn count(&mut self) -> Result<usize, TooShort> {
        self.rest.align(4)?;
        self.rest.length()
    }

    fn text(&mut self) -> Result<Cow<'a, str>, TooShort> {
        self.rest.align(4)?;
        let text = self.rest.text()?;
        // It ends with a zero.
        Ok(match text {
            Cow::Borrowed(text) => text.trim_end_matches('\0').into(),
            Cow::Owned(text) => text.trim_end_matches('\0').to_string().into(),
        })
    }
}
