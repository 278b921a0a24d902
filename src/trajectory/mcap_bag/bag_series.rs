//! Numbers of a topic at the times of another.

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
    /// What dates count from, ns.
    origin: i64,
}

impl<'a> BagSeries<'a> {
    /// By a clock, which all of its messages have. All columns have the same messages.
    pub fn new(
        columns: Vec<&'a BagColumn>,
        messages: &[MessageTimes],
        (clock, origin): (Clock, i64),
    ) -> Self {
        let Some(first) = columns.first() else {
            return BagSeries { columns, known: Vec::new(), longest: 0.0, origin };
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
        let usual = between.get(between.len() * 9 / 10).copied().unwrap_or_default();
        BagSeries { columns, known, longest: LONGEST_GAP * usual as f64, origin }
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
        let share = (time - begin) as f64 / between;
        let turns = self.columns.len() == 4;
        // Both signs of a quaternion are the same turn.
        if turns && a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
            b.iter_mut().for_each(|x| *x = -*x);
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
