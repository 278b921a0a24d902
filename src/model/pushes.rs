//! Known forces that act for a while.

/// A force on a point of a body, known in the world, that acts for a while: its point (in the body, m) and itself (in the
/// world, N) are [parameters](super::Parameters), and how much of it acts is an input of a step, 1 for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Push {
    /// Its name: the input is `name/u`, the parameters are `name/point/x`, .. and `name/force/x`, ..
    pub name: String,
    /// The body.
    pub body: usize,
    /// When it begins to act, s after the start.
    pub from: f64,
    /// When it ends, s after the start.
    pub until: f64,
}

impl Push {
    /// The share of a step from `time` on over `duration` (s) in which it acts.
    pub fn share(&self, time: f64, duration: f64) -> f64 {
        let begin = self.from.max(time);
        let end = self.until.min(time + duration);
        let share = ((end - begin) / duration).clamp(0.0, 1.0);
        // Steps are counted, and their times round.
        if share < ROUNDING {
            0.0
        } else if share > 1.0 - ROUNDING {
            1.0
        } else {
            share
        }
    }
}

/// Shares of a step below this are those of rounding.
const ROUNDING: f64 = 1e-9;
