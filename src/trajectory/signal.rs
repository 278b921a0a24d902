//! A number over time, known at some times.

use crate::ad::Real;
use crate::packed::{packed, packed_names};

/// What a [`Signal`] is between the times at which it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Between {
    /// What it was at the last of them.
    #[default]
    Held,
    /// On the line from one to the next.
    Linear,
}

/// A number over time, known at some times; before the first what it is there, after the last what it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    times: Vec<f64>,
    values: Vec<f64>,
    between: Between,
}

/// Times that are so near, in s, are the same: rows and steps round differently.
pub(super) const SAME_TIME: f64 = 1e-9;
/// Ends of steps so near, in steps, to where a signal changes are there.
const NEAR: f64 = 1e-6;

impl Signal {
    /// A signal known at increasing times (s); nothing if there are none.
    pub fn new(known: impl IntoIterator<Item = (f64, f64)>, between: Between) -> Option<Signal> {
        let (times, values): (Vec<f64>, Vec<f64>) = known.into_iter().unzip();
        (!times.is_empty()).then_some(Signal { times, values, between })
    }

    /// What it is between the times at which it is known.
    pub fn between(&self) -> Between {
        self.between
    }

    /// The times at which it is known, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// What it is there.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Puts each time at which it is known where `to` says, in the same order.
    pub fn retime(&mut self, to: impl Fn(f64) -> f64) {
        self.times.iter_mut().for_each(|time| *time = to(*time));
    }

    /// Its mean over `duration` (s) from `from` on.
    ///
    /// Its derivative is the difference of what it is at both ends over `duration`; at an end where a held signal changes, the mean of
    /// the derivatives of both sides.
    pub fn mean<T: Real>(&self, from: T, duration: f64) -> T {
        let begin = from.value();
        let away = from - T::constant(begin);
        // By the rate in the middle, so that second derivatives are those of the mean, too.
        let rate = self.mean_rate(from - away * 0.5, duration);
        T::constant(self.mean_value(begin, duration)) + away * rate
    }

    /// How fast its [mean](Self::mean) changes with the time it begins at.
    pub fn mean_rate<T: Real>(&self, from: T, duration: f64) -> T {
        let near = NEAR * duration;
        (self.at(from + T::constant(duration), near) - self.at(from, near)) / duration
    }

    fn mean_value(&self, from: f64, duration: f64) -> f64 {
        let until = from + duration;
        let last = self.times.len() - 1;
        let (mut sum, mut whole) = (0.0, 0.0);
        // Piece k begins at time k - 1; the first and the last have no end.
        let first = self.times.partition_point(|&time| time <= from);
        for piece in first..=last + 1 {
            let begin = piece.checked_sub(1).map(|k| self.times[k]);
            let end = self.times.get(piece);
            if begin.is_some_and(|begin| begin >= until) {
                break;
            }
            let a = begin.map_or(from, |begin| begin.max(from));
            let b = end.map_or(until, |&end| end.min(until));
            let value = match (self.between, begin, end) {
                (Between::Linear, Some(begin), Some(&end)) => {
                    let slope = (self.values[piece] - self.values[piece - 1]) / (end - begin);
                    self.values[piece - 1] + slope * (0.5 * (a + b) - begin)
                }
                _ => self.values[piece.saturating_sub(1)],
            };
            sum += (b - a) * value;
            whole += b - a;
        }
        // Not `duration`, which rounds otherwise far from time 0.
        if whole > 0.0 { sum / whole } else { self.at(from, 0.0) }
    }

    /// What it is at a time; of a held one, so `near` to where it changes, the mean of before and after.
    fn at<T: Real>(&self, time: T, near: f64) -> T {
        let now = time.value();
        let next = self.times.partition_point(|&known| known <= now);
        let value = |k: usize| self.values[k];
        match (next.checked_sub(1), self.times.get(next)) {
            (Some(k), Some(&end)) if self.between == Between::Linear => {
                let slope = (value(next) - value(k)) / (end - self.times[k]);
                (time - T::constant(self.times[k])) * slope + T::constant(value(k))
            }
            (Some(k), _)
                if k > 0 && self.between == Between::Held && now - self.times[k] <= near =>
            {
                T::constant(0.5 * (value(k - 1) + value(k)))
            }
            (Some(k), Some(&end)) if self.between == Between::Held && end - now <= near => {
                T::constant(0.5 * (value(k) + value(next)))
            }
            (k, _) => T::constant(value(k.unwrap_or(0))),
        }
    }

    /// Its mean over `duration` from `from` on, to the bit what it holds where it changes at the ends at most.
    pub(super) fn held_mean(&self, from: f64, duration: f64) -> f64 {
        let piece = |time: f64| self.times.partition_point(|&known| known <= time);
        let (first, last) = (piece(from + SAME_TIME), piece(from + duration - SAME_TIME));
        match self.between {
            Between::Held if first >= last => self.values[first.saturating_sub(1)],
            _ => self.mean(from, duration),
        }
    }
}

packed_names!(Between { Held, Linear });
packed!(Signal { times, values, between });
