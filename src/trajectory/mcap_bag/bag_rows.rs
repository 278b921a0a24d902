//! A recording of what was read: a row for each message of one topic, with the numbers of all others at its time. Inputs, which are
//! known between frames, have rows of their own.

use std::collections::BTreeMap;

use super::bag_series::{BagSeries, Clock};
use super::bag_topics::{
    BagColumn, BagTopic, BagTopics, LOG_TIME, MessageTimes, PUBLISH_TIME, Point, is_date, seconds,
};
use crate::Error;
use crate::trajectory::column_names::TIME;
use crate::trajectory::recording_file::{NumberRow, RecordingFile, TableColumns, UnusableColumn};

/// Rows with all columns have so many numbers at most.
const MOST_NUMBERS: usize = (crate::text::MOST_BYTES / 8) as usize;

/// The rows of a recording, in the order of their times.
struct BagRows<'a> {
    /// Whose messages are frames.
    topic: &'a BagTopic,
    /// Of the column of times.
    name: String,
    clock: Clock,
    /// Whether that column has the times of the clock.
    is_clock: bool,
    /// What dates count from, ns.
    origin: i64,
    rows: Vec<BagRow<'a>>,
}

/// A row: a message of the topic of frames, or of one of inputs.
#[derive(Clone, Copy)]
struct BagRow<'a> {
    topic: &'a BagTopic,
    message: usize,
    /// By the clock, ns.
    at: i64,
    /// What the column of times says; as a whole number, if it is one.
    time: f64,
    whole: Option<i64>,
}

/// The recording, with the column of times that is wanted; if that has our own name or none is wanted, of the topic that is the only one,
/// or has most messages.
///
/// # Errors
/// If the times are not said, and there are several topics with columns that are wanted.
pub(super) fn rows_of(bag: &BagTopics) -> Result<RecordingFile, Error> {
    let time = bag.wanted.time();
    let found = bag.topics.iter().find_map(|topic| {
        let column = topic.columns.iter().find(|column| Some(column.name.as_str()) == time)?;
        Some(BagRows::of_column(topic, column))
    });
    let found = match (found, time) {
        (None, None | Some(TIME)) => only_topic(bag, time.is_some())?.map(BagRows::of_topic),
        (found, _) => found,
    };
    let (header, rows) = match found {
        Some(rows) => rows.with_inputs(bag).with_numbers(bag)?,
        None => {
            let columns = bag.topics.iter().flat_map(|topic| &topic.columns);
            (columns.map(|column| column.name.clone()).collect(), Vec::new())
        }
    };
    let unusable = bag.topics.iter().filter_map(|topic| {
        let message = topic.unusable.clone()?;
        Some(UnusableColumn { name: format!("{}.", topic.name), row: None, message })
    });
    let table = TableColumns {
        path: bag.file.clone(),
        names: told(&bag.topics).into(),
        unusable: unusable.collect(),
        here: Vec::new(),
    };
    Ok(RecordingFile::of_table(bag.file.clone(), &header, rows, table))
}

/// The names for messages: all topics, and the columns of those that are wanted.
fn told(topics: &[BagTopic]) -> Vec<String> {
    let names = topics.iter().map(|topic| topic.name.as_str());
    names.chain(topics.iter().flat_map(BagTopic::names)).map(String::from).collect()
}

/// The topic whose messages are rows where that is not said.
fn only_topic<'a>(bag: &'a BagTopics, demanded: bool) -> Result<Option<&'a BagTopic>, Error> {
    let own = bag.topics.iter().filter(|topic| !topic.columns.is_empty());
    let names: Vec<&str> = own.clone().map(|topic| topic.name.as_str()).collect();
    if demanded && names.len() > 1 {
        let message = format!(
            "which messages are the rows? `t = \"{}.header.stamp\"` in [columns] takes those of that topic, or `.{LOG_TIME}` when \
             they were recorded; columns are read of {}",
            names[0],
            names.join(", ")
        );
        return Err(Error::input(&bag.file, None, TIME, message));
    }
    // Of as many the first.
    Ok(own.rev().max_by_key(|topic| topic.messages.len()))
}

/// The columns of a topic, the four of a quaternion together; without those of a name.
fn groups<'a>(topic: &'a BagTopic, except: &str) -> Vec<Vec<&'a BagColumn>> {
    let columns: BTreeMap<&str, &BagColumn> =
        topic.columns.iter().map(|column| (column.name.as_str(), column)).collect();
    let quaternion = |name: &str| {
        let (of, _) =
            name.rsplit_once('.').filter(|(_, end)| ["x", "y", "z", "w"].contains(end))?;
        let parts =
            ["x", "y", "z", "w"].map(|end| columns.get(format!("{of}.{end}").as_str()).copied());
        let [Some(x), Some(y), Some(z), Some(w)] = parts else { return None };
        let alike = [y, z, w].iter().all(|other| {
            let messages = other.points.iter().map(|point| point.message);
            messages.eq(x.points.iter().map(|point| point.message))
        });
        // Four numbers of these names that are no turn stay what they are.
        let is_turn = |k: usize| {
            let parts = [x, y, z, w].map(|part| part.points[k].number);
            let norm = parts.iter().map(|x| x * x).sum::<f64>().sqrt();
            norm.is_nan() || (norm - 1.0).abs() <= 0.01
        };
        (alike && (0..x.points.len()).all(is_turn)).then(|| vec![x, y, z, w])
    };
    let mut groups = Vec::new();
    for column in topic.columns.iter().filter(|column| column.name != except) {
        match quaternion(&column.name) {
            None => groups.push(vec![column]),
            Some(group) if group[0].name == column.name => groups.push(group),
            Some(_) => {}
        }
    }
    groups
}

impl<'a> BagRows<'a> {
    /// The messages that have something in a column of times.
    fn of_column(topic: &'a BagTopic, column: &'a BagColumn) -> BagRows<'a> {
        let is = |field: &str| {
            let rest = column.name.strip_prefix(&topic.name);
            rest.and_then(|rest| rest.strip_prefix('.')) == Some(field)
        };
        let points = || column.points.iter().zip(&column.whole);
        let clock = match column.is_time {
            true if is(PUBLISH_TIME) => Clock::Publish,
            true if points().all(|(point, &time)| point.stamp == Some(time)) => Clock::Stamp,
            _ => Clock::Log,
        };
        let is_clock = column.is_time && (clock != Clock::Log || is(LOG_TIME));
        let row = |(point, &whole): (&Point, &i64)| BagRow {
            topic,
            message: point.message,
            at: clock.of(&topic.messages[point.message], point.stamp),
            time: point.number,
            whole: (column.is_time || whole != 0 && whole as f64 == point.number).then_some(whole),
        };
        let rows = points().map(row).collect();
        BagRows::sorted(topic, &column.name, (clock, is_clock, column.is_time), rows)
    }

    /// All messages of a topic, at their stamps if all have some, and else when they were recorded.
    fn of_topic(topic: &'a BagTopic) -> BagRows<'a> {
        let stamped = topic.messages.iter().all(|times| times.stamp.is_some());
        let clock = if stamped { Clock::Stamp } else { Clock::Log };
        let row = |(message, times): (usize, &MessageTimes)| {
            let at = clock.of(times, times.stamp);
            BagRow { topic, message, at, time: 0.0, whole: Some(at) }
        };
        let rows = topic.messages.iter().enumerate().map(row).collect();
        BagRows::sorted(topic, TIME, (clock, true, true), rows)
    }

    /// In the order of their times, which count from the first, if that is a date.
    fn sorted(
        topic: &'a BagTopic,
        name: &str,
        (clock, is_clock, is_time): (Clock, bool, bool),
        mut rows: Vec<BagRow<'a>>,
    ) -> BagRows<'a> {
        match is_time {
            true => rows.sort_by_key(|row| row.whole),
            false => rows.sort_by(|a, b| a.time.total_cmp(&b.time)),
        }
        let first =
            rows.first().map_or(0, |row| if is_time { row.whole.unwrap_or(0) } else { row.at });
        let origin = if is_date(first) { first } else { 0 };
        if is_time {
            for row in &mut rows {
                row.time = seconds(row.whole.unwrap_or(0), origin);
                row.whole = None;
            }
        }
        BagRows { topic, name: name.to_string(), clock, is_clock, origin, rows }
    }

    /// Whether a column has rows of its own: an input, known by the same clock.
    fn has_rows(&self, bag: &BagTopics, topic: &BagTopic, column: &BagColumn) -> bool {
        !std::ptr::eq(topic, self.topic)
            && self.is_clock
            && bag.wanted.is_input(&column.name)
            && self.clock_of(column) == self.clock
    }

    /// By which clock a column is known.
    fn clock_of(&self, column: &BagColumn) -> Clock {
        let stamped = || column.points.iter().all(|point| point.stamp.is_some());
        if self.clock == Clock::Stamp && !stamped() { Clock::Log } else { self.clock }
    }

    /// Adds a row for each message of other topics that has inputs.
    fn with_inputs(mut self, bag: &'a BagTopics) -> BagRows<'a> {
        let mut more = Vec::new();
        for topic in &bag.topics {
            let mut times: BTreeMap<usize, i64> = BTreeMap::new();
            for column in topic.columns.iter().filter(|own| self.has_rows(bag, topic, own)) {
                let time =
                    |point: &Point| self.clock.of(&topic.messages[point.message], point.stamp);
                times.extend(column.points.iter().map(|point| (point.message, time(point))));
            }
            let row = |(message, at)| BagRow {
                topic,
                message,
                at,
                time: seconds(at, self.origin),
                whole: None,
            };
            more.extend(times.into_iter().map(row));
        }
        if !more.is_empty() {
            self.rows.append(&mut more);
            // Frames before inputs of the same time.
            self.rows.sort_by_key(|row| row.at);
        }
        self
    }

    /// The numbers of columns that belong together, in all rows.
    ///
    /// # Errors
    /// If none of them is of the time of the rows.
    fn numbers(
        &self,
        bag: &BagTopics,
        topic: &BagTopic,
        columns: &[&BagColumn],
    ) -> Result<Vec<Vec<f64>>, Error> {
        let mut numbers = vec![vec![f64::NAN; self.rows.len()]; columns.len()];
        let Some(&first) = columns.first() else { return Ok(numbers) };
        let clock = self.clock_of(first);
        let has_rows = self.has_rows(bag, topic, first);
        let series = BagSeries::new(columns.to_vec(), &topic.messages, (clock, self.origin));
        let mut before: Option<Vec<f64>> = None;
        for (k, row) in self.rows.iter().enumerate() {
            let is_frame = std::ptr::eq(row.topic, self.topic);
            // What the message of the row has is taken from there.
            let here = first.points.binary_search_by_key(&row.message, |point| point.message);
            let found = match here {
                Ok(place) if std::ptr::eq(row.topic, topic) && is_frame != has_rows => {
                    Some(series.values(place))
                }
                _ if !is_frame || has_rows => None,
                _ if clock == self.clock => series.at(row.at),
                _ => series.at(clock.of(&row.topic.messages[row.message], None)),
            };
            let Some(mut found) = found else { continue };
            // Of the two signs of a quaternion that which goes on; what was recorded here stays as it is.
            let own = std::ptr::eq(topic, self.topic);
            let against =
                |before: &Vec<f64>| found.iter().zip(before).map(|(a, b)| a * b).sum::<f64>() < 0.0;
            if columns.len() == 4 && !own && before.as_ref().is_some_and(against) {
                found.iter_mut().for_each(|x| *x = -*x);
            }
            numbers.iter_mut().zip(&found).for_each(|(column, &x)| column[k] = x);
            before = Some(found);
        }
        let times = |own: bool| {
            let rows = self.rows.iter().filter(move |row| std::ptr::eq(row.topic, topic) == own);
            let times = rows.map(|row| row.at);
            times.clone().min().zip(times.max())
        };
        let is_late = match (has_rows, times(true), times(false)) {
            (true, Some(own), Some(frames)) => own.0 > frames.1 || own.1 < frames.0,
            (true, ..) => false,
            (false, ..) => before.is_none() && !first.points.is_empty() && !self.rows.is_empty(),
        };
        if is_late && !std::ptr::eq(topic, self.topic) {
            let message = format!(
                "no message is of the time of the rows, which are those of {}: if their clocks differ, `t = \"{}.{LOG_TIME}\"` goes by when \
                 both were recorded",
                self.topic.name, self.topic.name
            );
            return Err(Error::input(&bag.file, None, &first.name, message));
        }
        Ok(numbers)
    }

    /// The names of all columns, and the rows.
    ///
    /// # Errors
    /// If they are too many.
    fn with_numbers(&self, bag: &BagTopics) -> Result<(Vec<String>, Vec<NumberRow>), Error> {
        let (count, wide) = (self.rows.len(), bag.topics.iter().map(|t| t.columns.len()).sum());
        if count.saturating_mul(wide) > MOST_NUMBERS {
            let message = format!(
                "{count} rows of {wide} numbers are more than is read at once: name fewer columns, or a slower topic for the times"
            );
            return Err(Error::input(&bag.file, None, &self.name, message));
        }
        let (mut header, mut numbers) = (vec![self.name.clone()], Vec::new());
        for topic in &bag.topics {
            for group in groups(topic, &self.name) {
                header.extend(group.iter().map(|column| column.name.clone()));
                numbers.append(&mut self.numbers(bag, topic, &group)?);
            }
        }
        let row = |(k, row): (usize, &BagRow)| NumberRow {
            line: row.message + 1,
            numbers: [row.time].into_iter().chain(numbers.iter().map(|column| column[k])).collect(),
            whole: row.whole.map(|whole| (0, whole)).into_iter().collect(),
        };
        Ok((header, self.rows.iter().enumerate().map(row).collect()))
    }
}
