//! Motions sampled over time, inputs over time, and the CSV files of both.

mod column_map;
mod column_names;
mod columns;
mod controls;
mod file_columns;
mod files;
mod recorded;
mod rows;
mod sampled;
mod side_columns;

pub use column_map::ColumnMap;
pub use columns::ColumnSelection;
pub use controls::Controls;
pub use file_columns::{NamedFile, load_file_columns};
pub use files::expand;
pub use recorded::{Known, Recorded};
pub use sampled::Trajectory;
pub use side_columns::load_columns;
