//! Motions sampled over time, inputs over time, and the files of both.

mod column_map;
mod column_names;
mod columns;
mod controls;
mod excerpt;
mod file_columns;
mod files;
mod header;
mod input_names;
#[cfg(feature = "mcap")]
mod mcap_bag;
#[cfg(not(feature = "mcap"))]
mod no_mcap;
#[cfg(not(feature = "parquet"))]
mod no_parquet;
#[cfg(feature = "parquet")]
mod parquet_table;
mod prescribed_motion;
mod recorded;
mod recorded_frames;
mod recording_file;
mod recording_source;
mod rotation_form;
mod sampled;
mod signal;
mod text_rows;
mod units;
mod wanted_columns;

pub use column_map::{ColumnMap, ColumnSource};
pub use columns::ColumnSelection;
pub use controls::Controls;
pub use excerpt::Excerpt;
pub use file_columns::NamedFile;
pub use files::{expand, expand_all};
pub use header::{Understood, understand};
pub use input_names::{input_named, known_inputs, quantity_of};
pub use recorded::{Known, Recorded};
pub use recorded_frames::RecordedFrames;
pub use recording_file::RecordingFile;
pub use recording_source::{RecordingSource, load_recordings, recordings_of};
pub use rotation_form::RotationForm;
pub use sampled::Trajectory;
pub use signal::{Between, Signal};
pub use units::{Quantity, in_si};
pub use wanted_columns::WantedColumns;
