//! MCAP files, as ROS 2 and Foxglove record them: topics with messages at times of their own, a recording a file.

mod bag_records;
mod bag_rows;
mod bag_series;
mod bag_topics;
mod byte_cursor;
mod cdr_message;
mod chunk_bytes;
mod field_path;
mod json_message;
mod message_definition;

use std::path::Path;

use super::recording_file::RecordingFile;
use super::wanted_columns::WantedColumns;
use crate::Error;
use bag_records::read_records;
use bag_rows::rows_of;
use bag_topics::BagTopics;

/// Reads the columns that are wanted of a file: a row for each message of the topic that has the times.
///
/// # Errors
/// If it cannot be read, is damaged, or does not say which topic has the times. What is wrong with messages of topics that nobody wants
/// is not.
pub(super) fn read_bag(path: &Path, wanted: &dyn WantedColumns) -> Result<RecordingFile, Error> {
    let name = path.display().to_string();
    let mut topics = BagTopics::new(name.clone(), wanted);
    let cut = read_records(path, &mut topics)?;
    if topics.topics.iter().all(|topic| topic.messages.is_empty()) {
        let found = topics.topics.iter().map(|topic| topic.name.as_str());
        let found: Vec<&str> = found.collect();
        if let Some(cut) = cut {
            return Err(Error::input(name, None, "", cut));
        }
        if found.is_empty() {
            return Err(Error::input(name, None, "", "has no topics"));
        }
    }
    let file = rows_of(&topics)?;
    Ok(match cut {
        Some(remark) => file.with_remark(remark),
        None => file,
    })
}
