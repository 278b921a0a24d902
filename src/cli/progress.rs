//! A progress bar for long runs.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::output;

/// A run that ends sooner gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often a line tells of it where there is no bar.
const INTERVAL: Duration = Duration::from_secs(60);

/// How far a run is, on standard error, if the run takes long: a bar on a terminal, else now and then a line.
pub(super) struct Progress {
    steps: usize,
    start: Instant,
    /// Whether there may be a bar.
    wanted: bool,
    bar: Option<ProgressBar>,
    told: Instant,
}

impl Progress {
    /// A run of so many steps; `json`: no bar.
    pub fn new(steps: usize, json: bool) -> Progress {
        let wanted = !json && std::io::stderr().is_terminal();
        let start = Instant::now();
        Progress { steps, start, wanted, bar: None, told: start }
    }

    /// So many steps are done.
    pub fn set(&mut self, done: usize) {
        if !self.wanted {
            if self.told.elapsed() > INTERVAL {
                self.told = Instant::now();
                output::note(&format!("{done} of {} done", self.steps));
            }
            return;
        }
        if self.bar.is_none() && self.start.elapsed() > PATIENCE {
            self.bar = Some(ProgressBar::new(self.steps as u64));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
