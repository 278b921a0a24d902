//! Numbers of a topic at the times of another.

use std::f64::consts::PI;

use super::bag_topics::{BagColumn, MessageTimes, Point};

/// Between messages that are farther apart than so many times what nine of ten are, nothing is known.
const LONGEST_GAP: f64 = 4.0;

/// By which times messages of different topics are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// What they say they were measured at.
    Stamp,
    Log,
    Publish,
}

impl Clock {
    /// The time of a message.
    pub fn of(self, times: &MessageTimes, stamp: Option<i64>) -> i64 {
        match self {
            Clock::Stamp => stamp.unwrap_or(times.log),
            Clock::Log => times.log,
            Clock::Publish => times.publish,
        }
    }
}

/// Numbers that belong together, over time: one, or the four of a quaternion.
pub(super) struct BagSeries<'a> {
    columns: Vec<&'a BagColumn>,
    /// Times (ns), increasing, and where in the columns they are.
    known: Vec<(i64, usize)>,
    /// ns.
    longest: f64,
    /// Of what may be angles that begin again after a turn.
    half_turn: Option<f64>,
    /// What dates count from, ns.
    origin: i64,
}

/// Half a turn, in rad or degrees, of numbers that are all within a turn from its half down to it, or from 0 on.
fn half_turn(column: &BagColumn) -> Option<f64> {
    let numbers = || column.points.iter().map(|point| point.number).filter(|x| !x.is_nan());
    let (low, high) = (numbers().fold(0.0, f64::min), numbers().fold(0.0, f64::max));
    let within = |half: &f64| {
        let [half, turn] = [1.001 * half, 2.002 * half];
        low >= -half && high <= half || low >= 0.0 && high <= turn
    };
    [PI, 180.0].into_iter().find(within)
}

impl<'a> BagSeries<'a> {
    /// By a clock, which all of its messages have. All columns have the same messages.
    pub fn new(
        columns: Vec<&'a BagColumn>,
        messages: &[MessageTimes],
        (clock, origin): (Clock, i64),
    ) -> Self {
        let Some(first) = columns.first() else {
            return BagSeries { columns, known: Vec::new(), longest: 0.0, half_turn: None, origin };
        };
        let time =
            |(k, point): (usize, &Point)| (clock.of(&messages[point.message], point.stamp), k);
        let mut known: Vec<(i64, usize)> = first.points.iter().enumerate().map(time).collect();
        known.sort_unstable();
        // Of the same time the first that is a number counts.
        known.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same && first.points[kept.1].number.is_nan() {
                kept.1 = next.1;
            }
            same
        });
        let mut between: Vec<i64> =
            known.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).collect();
        between.sort_unstable();
        // The least that nine of ten do not exceed.
        let nine = (between.len() * 9).div_ceil(10).saturating_sub(1);
        let usual = between.get(nine).copied().unwrap_or_default();
        let half_turn = if columns.len() == 1 { half_turn(first) } else { None };
        BagSeries { columns, known, longest: LONGEST_GAP * usual as f64, half_turn, origin }
    }

    /// What they are at a time (ns), on the line between the messages before and after; nothing where there are none, or
    /// they are too far apart.
    pub fn at(&self, time: i64) -> Option<Vec<f64>> {
        let next = self.known.partition_point(|&(known, _)| known < time);
        let &(end, b) = self.known.get(next)?;
        if end == time {
            return Some(self.values(b));
        }
        let &(begin, a) = self.known.get(next.checked_sub(1)?)?;
        let between = end.saturating_sub(begin) as f64;
        if between > self.longest {
            return None;
        }
        let (a, mut b) = (self.values(a), self.values(b));
        let share = time.saturating_sub(begin) as f64 / between;
        let turns = self.columns.len() == 4;
        // Both signs of a quaternion are the same turn.
        if turns && a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
            b.iter_mut().for_each(|x| *x = -*x);
        }
        // On which side of a turn it is between them is not known.
        if self.half_turn.is_some_and(|half| (b[0] - a[0]).abs() > half) {
            return None;
        }
        let mut values: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + share * (b - a)).collect();
        if turns {
            let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            values.iter_mut().for_each(|x| *x /= length);
        }
        Some(values)
    }

    /// What they are in the message of point `k`.
    pub fn values(&self, k: usize) -> Vec<f64> {
        self.columns.iter().map(|column| column.number(k, self.origin)).collect()
    }
}
