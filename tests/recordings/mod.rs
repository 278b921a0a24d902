//! Recordings as others make them: inputs over time, units, frames, orders, files of several kinds.

mod contact_forces;
mod headers;
mod inertial;
mod inputs;
mod parquet_damaged;
mod parquet_files;
mod parquet_writer;
mod pushed_box;
mod signals;
mod written_otherwise;
