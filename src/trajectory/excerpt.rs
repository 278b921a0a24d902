//! Which rows of a recording are frames.

use super::column_map::ColumnMap;
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
}

impl Default for Excerpt {
    fn default() -> Self {
        Excerpt { from: f64::NEG_INFINITY, until: f64::INFINITY, every: 1 }
    }
}

impl Excerpt {
    /// Cuts a file to the time that is asked for, and makes one of rows of the same time: the first of what they have in each column
    /// counts. Says in how many rows that were dropped something else stood.
    ///
    /// # Errors
    /// If there is no column of times, a time is no number, or nothing is left.
    pub fn cut(&self, file: &mut RecordingFile, map: &ColumnMap) -> Result<usize, Error> {
        let name = &map.time.0;
        let times = file.times(map)?;
        let column = file.column(name, "")?;
        let within = |time: f64| (self.from..=self.until).contains(&time);
        let mut keep: Vec<bool> = times.iter().map(|&time| within(time)).collect();
        if !times.is_empty() && !keep.contains(&true) {
            let ends = [times[0], times[times.len() - 1]];
            let message = format!(
                "no row is from {} to {} s: the file has {} to {} s",
                self.from, self.until, ends[0], ends[1]
            );
            return Err(Error::input(&file.name, None, name, message));
        }
        let (mut first, mut others) = (0, 0);
        for k in 1..times.len() {
            if times[k] < times[k - 1] {
                let message = format!(
                    "must increase from row to row, found {} after {}",
                    times[k],
                    times[k - 1]
                );
                let wrong = file.rows().nth(k).map(|row| row.error(column, message));
                return wrong.map_or(Ok(0), Err);
            }
            if times[k] != times[first] {
                first = k;
            } else if keep[k] {
                keep[k] = false;
                others += usize::from(file.merge(first, k, column));
            }
        }
        file.retain(&keep);
        Ok(others)
    }

    /// Keeps the rows that are frames: those with anything in the columns of the state or in `others`, if there are `inputs`, which may
    /// have rows of their own; and of these every so many-th.
    ///
    /// # Errors
    /// If a column is missing.
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
        let keep: Vec<bool> = keep.collect();
        file.retain(&keep);
        Ok(())
    }
}

impl RecordingFile {
    /// The times of all rows, s.
    ///
    /// # Errors
    /// If there is no column of times, or one of them is no number.
    pub fn times(&self, map: &ColumnMap) -> Result<Vec<f64>, Error> {
        let (name, scale) = (&map.time.0, map.time.1);
        self.demand_header()?;
        let needed = "; [columns] of an experiment says which columns have other names";
        let column = self.column(name, needed)?;
        self.demand_whole()?;
        self.rows().map(|row| Ok(scale.of(row.number(column)?))).collect()
    }
}
