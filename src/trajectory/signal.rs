//! A number over time, known at some times.

use crate::ad::Real;

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
    /// Which pieces that covers is decided by the value of `from`, which has a derivative: where it ends with a piece, that of one side.
    pub fn mean<T: Real>(&self, from: T, duration: f64) -> T {
        let until = from + T::constant(duration);
        let last = self.times.len() - 1;
        let mut sum = T::zero();
        // Piece k begins at time k - 1; the first and the last have no end.
        let first = self.times.partition_point(|&time| time <= from.value());
        for piece in first..=last + 1 {
            let begin = piece.checked_sub(1).map(|k| self.times[k]);
            let end = self.times.get(piece);
            if begin.is_some_and(|begin| begin >= until.value()) {
                break;
            }
            let bounded = |x: T| match (begin, end) {
                (Some(begin), _) if x.value() < begin => T::constant(begin),
                (_, Some(&end)) if x.value() > end => T::constant(end),
                _ => x,
            };
            let (a, b) = (bounded(from), bounded(until));
            let middle = (a + b) * 0.5;
            let value = match (self.between, begin, end) {
                (Between::Linear, Some(begin), Some(&end)) => {
                    let slope = (self.values[piece] - self.values[piece - 1]) / (end - begin);
                    (middle - T::constant(begin)) * slope + T::constant(self.values[piece - 1])
                }
                _ => T::constant(self.values[piece.saturating_sub(1)]),
            };
            sum += (b - a) * value;
        }
        sum / duration
    }

    /// What it is at a time; of a held one, where it changes, what it is from there on.
    fn at(&self, time: f64) -> f64 {
        let next = self.times.partition_point(|&known| known <= time);
        let value = |k: usize| self.values[k];
        match (next.checked_sub(1), self.times.get(next)) {
            (None, _) => value(0),
            (Some(k), Some(&end)) if self.between == Between::Linear => {
                let share = (time - self.times[k]) / (end - self.times[k]);
                value(k) + share * (value(next) - value(k))
            }
            (Some(k), _) => value(k),
        }
    }

    /// How fast its [mean](Self::mean) changes with the time it begins at.
    pub fn mean_rate(&self, from: f64, duration: f64) -> f64 {
        (self.at(from + duration) - self.at(from)) / duration
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
