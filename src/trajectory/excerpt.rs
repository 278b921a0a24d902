//! Which rows of a recording are frames.

use super::column_map::{ColumnMap, Place};
use super::columns::Columns;
use super::recording_file::RecordingFile;
use crate::Error;
use crate::model::Model;

/// Which part of recordings is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excerpt {
    /// From this time on, s.
    pub from: f64,
    /// Until this time, s.
    pub until: f64,
    /// Every so many-th row is a frame.
    pub every: usize,
    /// How many frames there are a second, Hz, where there are as many rows: those nearest to such times.
    pub rate: Option<f64>,
}

impl Default for Excerpt {
    fn default() -> Self {
        Excerpt { from: f64::NEG_INFINITY, until: f64::INFINITY, every: 1, rate: None }
    }
}

impl Excerpt {
    /// Cuts a file to the time that is asked for.
    ///
    /// # Errors
    /// If there is no column of times, a time is no number, or nothing is left.
    pub fn cut(&self, file: &mut RecordingFile, map: &ColumnMap) -> Result<(), Error> {
        let times = file.times(map)?;
        let keep: Vec<bool> =
            times.iter().map(|time| (self.from..=self.until).contains(time)).collect();
        if !times.is_empty() && !keep.contains(&true) {
            let ends = [times[0], times[times.len() - 1]];
            let message = format!(
                "no row is from {} to {} s: the file has {} to {} s",
                self.from, self.until, ends[0], ends[1]
            );
            return Err(Error::input(&file.name, None, &map.time.0, message));
        }
        file.retain(&keep);
        Ok(())
    }

    /// Keeps the rows that are frames: those with anything in the columns of the state or in `others`, if there are `inputs`, which may
    /// have rows of their own; and of these every so many-th, or so many a second.
    ///
    /// # Errors
    /// If a column is missing, or a time is no number.
    pub fn thin(
        &self,
        file: &mut RecordingFile,
        (model, map): (&Model, &ColumnMap),
        others: &[&str],
        inputs: bool,
    ) -> Result<(), Error> {
        let others = others.iter().map(|name| file.column(name, ""));
        let others = others.collect::<Result<Vec<usize>, _>>()?;
        let columns = Columns::find(file, model, map)?;
        let columns: Vec<usize> = columns.all().chain(others).collect();
        let mut count = 0;
        let keep = file.rows().map(|row| {
            let frame = !inputs || columns.iter().any(|&column| !row.is_empty(column));
            count += usize::from(frame);
            frame && (count - 1).is_multiple_of(self.every)
        });
        let mut keep: Vec<bool> = keep.collect();
        if let Some(rate) = self.rate {
            keep_nearest(&file.times(map)?, rate, &mut keep);
        }
        file.retain(&keep);
        Ok(())
    }
}

/// Of the rows that are kept, those nearest to each whole number of periods after the first. Nothing is interpolated: what lies
/// between two measurements was not measured, and its errors would be shared.
fn keep_nearest(times: &[f64], rate: f64, keep: &mut [bool]) {
    let rows: Vec<usize> = (0..keep.len()).filter(|&k| keep[k]).collect();
    let Some(&begin) = rows.first() else { return };
    let periods = |k: usize| (times[k] - times[begin]) * rate;
    // The nearest row of the present period so far.
    let mut nearest = begin;
    for &k in &rows[1..] {
        let away = |k: usize| (periods(k) - periods(k).round()).abs();
        if periods(k).round() != periods(nearest).round() {
            nearest = k;
        } else if away(k) < away(nearest) {
            keep[nearest] = false;
            nearest = k;
        } else {
            keep[k] = false;
        }
    }
    // The last row may come before the time that it is nearest to, and another might have come between.
    if let [.., before, last] = rows[..]
        && nearest == last
        && periods(last).round() - periods(last) > 0.5 * (periods(last) - periods(before))
    {
        keep[last] = false;
    }
}

impl RecordingFile {
    /// Makes one of rows of the same time: the first of what they have in each column counts. Says in how many rows that were dropped
    /// something else stood. What are dates, seconds since 1970, counts from the first row on from here.
    ///
    /// # Errors
    /// If there is no column of times, or one of them is no number or before the last.
    pub fn merge_times(&mut self, map: &ColumnMap) -> Result<usize, Error> {
        self.demand_header()?;
        let column = self.time_column(map)?;
        self.demand_whole()?;
        self.begin_at_first(Place { column, scale: map.time.1 })?;
        let times = self.times(map)?;
        let mut keep = vec![true; times.len()];
        let (mut first, mut others) = (0, 0);
        for k in 1..times.len() {
            if times[k] < times[k - 1] {
                let message = format!(
                    "must increase from row to row, found {} after {}",
                    times[k],
                    times[k - 1]
                );
                let wrong = self.rows().nth(k).map(|row| row.error(column, message));
                return wrong.map_or(Ok(0), Err);
            }
            if times[k] != times[first] {
                first = k;
            } else {
                keep[k] = false;
                others += usize::from(self.merge(first, k, column));
            }
        }
        self.retain(&keep);
        Ok(others)
    }

    /// The times of all rows, s.
    ///
    /// # Errors
    /// If there is no column of times, or one of them is no number.
    pub fn times(&self, map: &ColumnMap) -> Result<Vec<f64>, Error> {
        self.demand_header()?;
        let column = self.time_column(map)?;
        self.demand_whole()?;
        let place = Place { column, scale: map.time.1 };
        self.rows().map(|row| self.time_of(&row, place)).collect()
    }

    fn time_column(&self, map: &ColumnMap) -> Result<usize, Error> {
        self.column(&map.time.0, "; [columns] of an experiment says which columns have other names")
    }
}
