//! What is read of a file: topics, when their messages were recorded, and the numbers that are wanted.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::bag_records::{BagReader, ChannelRecord, MessageRecord, SchemaRecord};
use super::cdr_message::read_cdr;
use super::field_path::{FieldPath, FieldValue};
use super::json_message::read_json;
use super::message_definition::MessageDefinition;
use crate::Error;
use crate::trajectory::recording_file::DATES;
use crate::trajectory::wanted_columns::WantedColumns;

/// A file has so many columns that are wanted at most.
const MOST_COLUMNS: usize = 1 << 14;
/// So many names that are not are remembered of a topic.
const MOST_NAMES: usize = 1 << 14;
/// So many numbers are held at most.
const MOST_POINTS: u64 = crate::text::MOST_BYTES / size_of::<Point>() as u64;

/// Definitions of messages are read up to so many bytes, one and all of them.
const LONGEST_DEFINITION: usize = 1 << 24;

/// The names of the times that a file has of each message.
pub(super) const LOG_TIME: &str = "log_time";
pub(super) const PUBLISH_TIME: &str = "publish_time";

/// What a file has of a topic.
#[derive(Debug, Default)]
pub(super) struct BagTopic {
    pub name: String,
    pub messages: Vec<MessageTimes>,
    pub columns: Vec<BagColumn>,
    /// Why its messages cannot be read, in words.
    pub unusable: Option<String>,
    is_wanted: bool,
    /// Of names, which column it is, if it is wanted.
    known: HashMap<String, Option<usize>>,
}

/// When a message was recorded, sent, and what it says was measured; ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageTimes {
    pub log: i64,
    pub publish: i64,
    pub stamp: Option<i64>,
}

/// A number over time.
#[derive(Debug, Default)]
pub(super) struct BagColumn {
    pub name: String,
    pub points: Vec<Point>,
    /// The same to the last digit, of times (ns) and of whole numbers; 0 where it is none.
    pub whole: Vec<i64>,
    /// Whether it is of times.
    pub is_time: bool,
    /// Whether some of its numbers are times and others are none.
    is_mixed: bool,
}

impl BagColumn {
    /// The number in the message of point `k`; of dates, what is since `origin` (ns), in s.
    pub fn number(&self, k: usize, origin: i64) -> f64 {
        match self.is_time {
            true if is_date(self.whole[k]) => seconds(self.whole[k], origin),
            true => seconds(self.whole[k], 0),
            false => self.points[k].number,
        }
    }
}

/// What a time (ns) is since another, in s.
pub(super) fn seconds(time: i64, since: i64) -> f64 {
    1e-9 * time.saturating_sub(since) as f64
}

/// Whether a time (ns) counts from a day in 1970.
pub(super) fn is_date(time: i64) -> bool {
    seconds(time, 0) > DATES
}

/// A number in a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// The number of the message in its topic.
    pub message: usize,
    /// When it was measured, if that is said; ns.
    pub stamp: Option<i64>,
    pub number: f64,
}

/// How the messages of a channel are written.
#[derive(Clone, Debug)]
enum MessageFormat {
    Cdr(Rc<MessageDefinition>),
    Json,
    /// As none that is read.
    Other,
}

#[derive(Debug)]
struct BagSchema {
    name: String,
    encoding: String,
    /// Nothing where it is too long.
    text: Option<String>,
    /// Read once for all channels.
    definition: OnceCell<Result<Rc<MessageDefinition>, String>>,
}

/// What is read of a file.
pub(super) struct BagTopics<'w> {
    pub file: String,
    pub topics: Vec<BagTopic>,
    pub wanted: &'w dyn WantedColumns,
    schemas: HashMap<u16, BagSchema>,
    channels: HashMap<u16, (usize, MessageFormat)>,
    points: u64,
    columns: usize,
    /// Bytes of all definitions.
    defined: usize,
}

impl<'w> BagTopics<'w> {
    /// None yet.
    pub fn new(file: String, wanted: &'w dyn WantedColumns) -> BagTopics<'w> {
        BagTopics {
            file,
            topics: Vec::new(),
            wanted,
            schemas: HashMap::new(),
            channels: HashMap::new(),
            points: 0,
            columns: 0,
            defined: 0,
        }
    }

    /// How messages of a channel are written; in words, why that is not read.
    fn format(&self, channel: &ChannelRecord) -> Result<MessageFormat, String> {
        let schema = self.schemas.get(&channel.schema);
        match (channel.encoding, schema) {
            ("json", _) => Ok(MessageFormat::Json),
            ("cdr", Some(schema)) if schema.encoding == "ros2msg" => {
                let read = || {
                    let long =
                        || format!("definitions are read up to {LONGEST_DEFINITION} bytes in all");
                    let text = schema.text.as_ref().ok_or_else(long);
                    let found = text.and_then(|text| MessageDefinition::parse(&schema.name, text));
                    let found = found.map(Rc::new);
                    found.map_err(|message| {
                        format!("the definition of {} is wrong: {message}", schema.name)
                    })
                };
                schema.definition.get_or_init(read).clone().map(MessageFormat::Cdr)
            }
            ("cdr", Some(BagSchema { encoding, .. })) => Err(format!(
                "its messages are defined in {encoding:?}, and of cdr only those in ros2msg are read"
            )),
            ("cdr", None) => Err("the definition of its messages is missing".into()),
            (other, _) => Err(format!(
                "its messages are of the encoding {other:?}: only cdr (ROS 2) and json are read"
            )),
        }
    }
}

impl BagTopic {
    /// Takes a number of the last message.
    fn put(
        &mut self,
        wanted: &dyn WantedColumns,
        path: &str,
        value: FieldValue,
        stamp: Option<i64>,
    ) {
        let column = match self.known.get(path) {
            Some(column) => *column,
            None => {
                let column = wanted.has(path).then_some(self.columns.len());
                // One more than there may be is enough to say so.
                if self.columns.len() > MOST_COLUMNS {
                    return;
                }
                if column.is_some() {
                    self.columns.push(BagColumn { name: path.to_string(), ..BagColumn::default() });
                }
                if column.is_some() || self.known.len() < MOST_NAMES {
                    self.known.insert(path.to_string(), column);
                }
                column
            }
        };
        let message = self.messages.len().saturating_sub(1);
        if let Some(times) = self.messages.last_mut() {
            times.stamp = times.stamp.or(stamp);
        }
        let Some(column) = column.and_then(|column| self.columns.get_mut(column)) else { return };
        // What a message has twice counts once.
        if column.points.last().is_some_and(|last| last.message == message) {
            return;
        }
        let (number, whole) = match value {
            FieldValue::Number(number) => (number, 0),
            FieldValue::Whole(whole) => (whole as f64, whole),
            FieldValue::Time(time) => (seconds(time, 0), time),
        };
        let is_time = matches!(value, FieldValue::Time(_));
        // What is no number tells nothing of what others are.
        if !number.is_nan() {
            column.is_mixed |= !column.points.is_empty() && is_time != column.is_time;
            column.is_time = is_time;
        } else if column.is_time {
            return;
        }
        column.points.push(Point { message, stamp, number });
        column.whole.push(whole);
    }

    /// The names of all columns that were seen, wanted or not.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.known.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

impl BagReader for BagTopics<'_> {
    fn schema(&mut self, schema: SchemaRecord) {
        if self.schemas.contains_key(&schema.id) {
            return;
        }
        self.defined = self.defined.saturating_add(schema.text.len());
        let is_read = self.defined <= LONGEST_DEFINITION;
        let text = is_read.then(|| String::from_utf8_lossy(schema.text).into_owned());
        self.schemas.insert(
            schema.id,
            BagSchema {
                name: schema.name.to_string(),
                encoding: schema.encoding.to_string(),
                text,
                definition: OnceCell::new(),
            },
        );
    }

    fn channel(&mut self, channel: ChannelRecord) {
        if self.channels.contains_key(&channel.id) {
            return;
        }
        let place = self.topics.iter().position(|topic| topic.name == channel.topic);
        let place = place.unwrap_or_else(|| {
            self.topics.push(BagTopic {
                name: channel.topic.to_string(),
                is_wanted: self.wanted.may_begin(&format!("{}.", channel.topic)),
                ..BagTopic::default()
            });
            self.topics.len() - 1
        });
        let mut format = MessageFormat::Other;
        if self.topics[place].is_wanted {
            match self.format(&channel) {
                Ok(found) => format = found,
                Err(message) => self.topics[place].unusable = Some(message),
            }
        }
        self.channels.insert(channel.id, (place, format));
    }

    fn wants(&self, channel: u16) -> bool {
        self.channels.get(&channel).is_none_or(|(topic, _)| self.topics[*topic].is_wanted)
    }

    fn message(&mut self, message: MessageRecord) -> Result<(), Error> {
        let Some((place, format)) = self.channels.get(&message.channel) else {
            let message =
                format!("a message is of channel {}, which is not declared", message.channel);
            return Err(Error::input(&self.file, None, "", message + "; try `mcap recover`"));
        };
        let (topic, wanted) = (&mut self.topics[*place], self.wanted);
        let [log, publish] = [message.log_time, message.publish_time]
            .map(|time| i64::try_from(time).unwrap_or(i64::MAX));
        topic.messages.push(MessageTimes { log, publish, stamp: None });
        let name = topic.name.clone();
        for (field, time) in [(LOG_TIME, log), (PUBLISH_TIME, publish)] {
            topic.put(wanted, &format!("{name}.{field}"), FieldValue::Time(time), None);
        }
        let before = topic.columns.len();
        let mut put = 0;
        let mut sink = |path: &str, value, stamp| {
            put += 1;
            topic.put(wanted, path, value, stamp);
        };
        let mut path = FieldPath::new(&name, &mut sink);
        let read = match format {
            MessageFormat::Cdr(definition) => read_cdr(definition, message.bytes, &mut path),
            MessageFormat::Json => read_json(message.bytes, &mut path),
            MessageFormat::Other => Ok(()),
        };
        let wrong =
            |message: String| Error::input(&self.file, topic.messages.len(), &topic.name, message);
        read.map_err(|message| wrong(format!("the message {message}")))?;
        if let Some(mixed) = topic.columns.iter().find(|column| column.is_mixed) {
            let message =
                format!("{} is a time in some messages and a number in others", mixed.name);
            return Err(wrong(message));
        }
        self.columns += topic.columns.len() - before;
        self.points += put.min(topic.columns.len() as u64) + 2;
        if self.columns > MOST_COLUMNS || self.points > MOST_POINTS {
            return Err(wrong(format!(
                "there are more than {MOST_COLUMNS} columns, or {MOST_POINTS} numbers: name fewer in [columns]"
            )));
        }
        Ok(())
    }
}
