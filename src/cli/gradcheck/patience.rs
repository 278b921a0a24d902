//! How long a check may take.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::progress::Progress;
use crate::cli::{interrupt, output};

/// How long a check may take, and how many states were to be checked, and were.
pub(super) struct Patience {
    start: Instant,
    limit: Duration,
    pub progress: Progress,
    pub checked: usize,
    pub asked: usize,
}

impl Patience {
    /// From now on.
    pub fn new(limit: Duration, progress: Progress) -> Self {
        Patience { start: Instant::now(), limit, progress, checked: 0, asked: 0 }
    }

    pub fn lasts(&self) -> bool {
        !interrupt::interrupted() && self.start.elapsed() < self.limit
    }

    /// Says so if states were left out; how many were asked for and checked.
    pub fn told(self) -> Value {
        let Patience { checked, asked, limit, progress, .. } = self;
        drop(progress);
        if checked < asked {
            let why = match interrupt::interrupted() {
                true => "interrupted".to_string(),
                false => format!("{} s are over (--limit)", limit.as_secs_f64()),
            };
            output::warn(&format!("{checked} of {asked} states were checked: {why}"));
        }
        json!({ "asked": asked, "checked": checked })
    }
}
