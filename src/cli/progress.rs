//! A progress bar for long runs.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

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
                let left = seconds_left(self.start.elapsed(), done, self.steps);
                output::note(&format!("{done} of {} done{left}", self.steps));
            }
            return;
        }
        if self.bar.is_none() && self.start.elapsed() > PATIENCE {
            let bar = ProgressBar::new(self.steps as u64).with_elapsed(self.start.elapsed());
            let style = ProgressStyle::with_template("{wide_bar} {pos}/{len}{msg}");
            self.bar = Some(match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            });
        }
        if let Some(bar) = &self.bar {
            bar.set_message(seconds_left(self.start.elapsed(), done, self.steps));
            bar.set_position(done as u64);
        }
    }
}

/// About how long the rest takes, where so many of so many parts took so long.
pub(super) fn seconds_left(taken: Duration, done: usize, parts: usize) -> String {
    if done == 0 {
        return String::new();
    }
    let left = taken.mul_f64((parts - done.min(parts)) as f64 / done as f64);
    format!(", about {:.0} s left", left.as_secs_f64().ceil())
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
