//! What long work in stages is at: a heading a stage, a bar on a terminal, else lines, with the time that is left.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{is_silent, note, print};
use super::progress::seconds_left;

/// How often a line tells of a stage where there is no bar.
const INTERVAL: Duration = Duration::from_secs(15);

/// Work in stages, as it is told of.
pub(super) struct Stages {
    /// Whether nothing is printed on standard output.
    quiet: bool,
    bar: Option<ProgressBar>,
    stage: &'static str,
    begun: Instant,
    told: Instant,
}

impl Stages {
    /// `quiet`: standard output is for something else.
    pub fn new(quiet: bool) -> Stages {
        let terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        let bar = (!quiet && terminal && !is_silent()).then(ProgressBar::no_length);
        Stages { quiet, bar, stage: "", begun: Instant::now(), told: Instant::now() }
    }

    /// Begins a stage, unless it goes on: of so many parts, if that is known.
    pub fn enter(&mut self, stage: &'static str, parts: Option<usize>) {
        if self.stage == stage {
            return;
        }
        (self.stage, self.begun, self.told) = (stage, Instant::now(), Instant::now());
        let Some(bar) = &self.bar else {
            return self.print(stage);
        };
        bar.suspend(|| print(stage));
        bar.reset();
        bar.set_message("");
        match parts {
            Some(parts) => bar.set_length(parts as u64),
            None => bar.unset_length(),
        }
        // Time that is left is known where the end is.
        let time = if parts.is_some() { "{bar:24} {pos}/{len}, {eta} left" } else { "{spinner}" };
        if let Ok(style) = ProgressStyle::with_template(&format!("{time} {{msg}} [{{elapsed}}]")) {
            bar.set_style(style);
        }
        bar.tick();
    }

    /// Something of the stage, a line of its own where there is no bar.
    pub fn tell(&self, message: String) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(message);
                bar.tick();
            }
            None => self.print(&message),
        }
    }

    /// So many of so many parts of the stage are done.
    pub fn done(&mut self, number: usize, parts: usize) {
        if number == 0 {
            // It may be done once more.
            (self.begun, self.told) = (Instant::now(), Instant::now());
            self.bar.iter().for_each(ProgressBar::reset);
        }
        if let Some(bar) = &self.bar {
            return bar.set_position(number as u64);
        }
        if self.told.elapsed() > INTERVAL && number > 0 {
            self.told = Instant::now();
            let left = seconds_left(self.begun.elapsed(), number, parts);
            note(&format!("{}: {number} of {parts}{left}", self.stage));
        }
    }

    fn print(&self, line: &str) {
        if !self.quiet {
            print(line);
        }
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
