//! Recordings as others make them: inputs over time, units, frames, orders, files of several kinds.

mod contact_forces;
mod headers;
mod inertial;
mod inputs;
mod mcap_damaged;
mod mcap_files;
mod mcap_messages;
mod mcap_times;
mod mcap_writer;
mod parquet_damaged;
mod parquet_files;
mod parquet_writer;
mod pushed_box;
mod signals;
mod written_otherwise;
