//! The command line: one file a command.
//!
//! Exit codes: 0 done; 1 not converged, or a check failed; 2 bad input; 3 something was simulated that no body does.
//! With `--json`, standard output holds one JSON object and nothing else; messages and progress go to standard error.

mod archive;
mod bench;
mod comparison;
mod contact_log;
mod design;
mod drive;
mod evaluate;
mod export;
mod fit_result;
mod given_recordings;
mod gradcheck;
mod held_out;
mod help;
mod identify;
mod identify_soft;
mod import;
mod init;
mod interrupt;
mod lacking;
mod learned;
mod linearize;
mod linearize_soft;
mod lock;
mod loopback;
mod models;
mod observability;
mod optimize;
mod outcome;
mod output;
mod plausibility;
mod processes;
mod progress;
mod render;
mod report_folder;
mod resume;
mod run_length;
mod scene_options;
mod simulate;
mod simulate_soft;
mod stages;
mod view;
mod watched;
mod whole_files;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use outcome::Outcome;
use processes::Processes;

use crate::Error;

/// Differentiable simulation of rigid contact with friction.
#[derive(Parser)]
#[command(name = "stiction", version, about, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
    /// Tell every warning about a file, however many there are
    #[arg(long, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Simulate(simulate::Arguments),
    Identify(identify::Arguments),
    Evaluate(evaluate::Arguments),
    Design(design::Arguments),
    Optimize(optimize::Arguments),
    Gradcheck(gradcheck::Arguments),
    Linearize(linearize::Arguments),
    Render(render::Arguments),
    View(view::Arguments),
    Bench(bench::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
    Init(init::Arguments),
    Help(help::Arguments),
}

/// Runs the program on the arguments of the process.
pub fn main() -> ExitCode {
    interrupt::catch_limits();
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) if processes::first_speaks(&error) => error.exit(),
        Err(error) => return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
    };
    if program.verbose {
        output::be_verbose();
    }
    // Processes that were started together end together, when all is said.
    let joined = match &program.command {
        Command::Identify(_) => Processes::join(),
        _ => Ok(Processes::alone()),
    };
    let (processes, result) = match joined {
        Ok(processes) => {
            let result = processes.group.end(run(program.command, &processes));
            (Some(processes), result)
        }
        Err(error) => (None, Err(error)),
    };
    let code = match result {
        Ok(_) if output::lost() => ExitCode::from(2),
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Implausible) => ExitCode::from(3),
        Err(error) => {
            output::say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    };
    drop(processes);
    code
}

fn run(command: Command, processes: &Processes) -> Result<Outcome, Error> {
    match command {
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Identify(arguments) if !arguments.models.is_empty() => {
            models::run(&arguments, &processes.group)
        }
        Command::Identify(arguments) => identify::run(&arguments, &processes.group),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Design(arguments) => design::run(&arguments),
        Command::Optimize(arguments) => optimize::run(&arguments),
        Command::Gradcheck(arguments) => gradcheck::run(&arguments),
        Command::Linearize(arguments) => linearize::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Help(arguments) => help::run(&Program::command(), &arguments),
    }
}
