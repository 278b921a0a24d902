//! The system of [Zhong21]: learn the potential, the masses, the friction and the restitution of a mechanism from short recordings of
//! its motion, through impacts.
//!
//! ```sh
//! cargo run --release --example diffcosim -- train CP3
//! ```

mod arrays;
mod billiards;
mod data;
mod figures;
mod model;
mod noise;
mod table;
mod task;
mod throw;
mod train;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What goes wrong, in one line.
type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(name = "diffcosim", about = "Learn a mechanism from short recordings, through impacts")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate random motions of a task and write pieces of them
    Data(data::Options),
    /// Learn a task
    Train(train::Options),
    /// Draw predictions of what was learned
    Figures(figures::Options),
    /// Shoot the white ball so that the last ball ends where it should
    Billiards(billiards::Options),
    /// Throw a disk so that it lands where it should, or rises straight
    Throw(throw::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Data(options) => data::run(&options),
        Command::Train(options) => train::run(&options),
        Command::Figures(options) => figures::run(&options),
        Command::Billiards(options) => billiards::run(&options),
        Command::Throw(options) => throw::run(&options),
    };
    match done {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// The folder of this example.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/diffcosim")
}
