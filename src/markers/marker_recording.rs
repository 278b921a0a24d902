//! Recorded places of markers, or of points of a surface, from CSV files.

use std::collections::HashMap;

use super::marker_table::MarkerTable;
use crate::Error;
use crate::soft::{SoftBody, SoftRollout, SoftScene, SoftStart};
use crate::trajectory::Controls;

/// Where the markers of a body were seen, or points of its surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkerRecording {
    /// The file.
    pub name: String,
    /// s, increasing.
    pub times: Vec<f64>,
    /// In each frame each marker of the body, in its order (m), none where it was not seen; or nothing, where points were.
    pub places: Vec<Vec<Option<[f64; 3]>>>,
    /// In each frame points of the surface of which nothing is known but where they were seen (m).
    pub clouds: Vec<Vec<[f64; 3]>>,
    /// What led and drove rigid bodies beside the soft one, from the first frame on.
    pub controls: Option<Controls>,
}

/// A box of the world with sides along its axes: of each its least and its largest coordinate (m).
pub type Region = [[f64; 3]; 2];

/// What `[columns]` calls the coordinates of points, and what they are called otherwise.
pub(super) const POINTS: (&str, [&str; 3]) = ("points", ["x", "y", "z"]);

impl MarkerRecording {
    /// Reads a CSV file: a column `t` (s), and of each marker of the body `body/marker/px`, `py` and `pz` (m), or what `columns`
    /// calls them: three names by the name of a marker, one by `t`. Empty fields were not seen.
    ///
    /// # Errors
    /// If the file cannot be read, or is no such table: with line and column.
    pub fn parse(
        text: &str,
        file: &str,
        body: &SoftBody,
        columns: &HashMap<String, Vec<String>>,
    ) -> Result<MarkerRecording, Error> {
        let mut table = MarkerTable::new(text, file, time_column(columns))?;
        let mut markers = Vec::with_capacity(body.markers.len());
        for marker in &body.markers {
            let usual = || {
                ["px", "py", "pz"]
                    .map(|axis| format!("{}/{}/{axis}", body.name, marker.name))
                    .into()
            };
            let names: Vec<String> = columns.get(&marker.name).cloned().unwrap_or_else(usual);
            markers.push(table.columns(&marker.name, &names)?);
        }
        let mut recording = MarkerRecording { name: file.to_string(), ..Self::default() };
        while let Some(now) = table.next_time()? {
            if let Some(last) = recording.times.last().filter(|last| now <= **last) {
                let message = format!("must increase from row to row, found {now} after {last}");
                return Err(table.wrong_time(message));
            }
            let mut frame = Vec::with_capacity(markers.len());
            for &marker in &markers {
                frame.push(table.place(marker)?);
            }
            recording.times.push(now);
            recording.places.push(frame);
            recording.clouds.push(Vec::new());
        }
        if recording.times.len() < 2 {
            return Err(Error::input(file, None, "", "has fewer than two rows"));
        }
        Ok(recording)
    }

    /// Reads a CSV file of point clouds, as depth cameras see them: columns `t` (s), `x`, `y` and `z` (m), or what `columns` calls them:
    /// one name by `t`, three by `points`. Rows of one time are a frame. Points outside `region` are those of something else, and are
    /// left out.
    ///
    /// # Errors
    /// If the file cannot be read, or is no such table: with line and column. If fewer than two frames have points.
    pub fn parse_clouds(
        text: &str,
        file: &str,
        columns: &HashMap<String, Vec<String>>,
        region: Option<Region>,
    ) -> Result<MarkerRecording, Error> {
        let mut table = MarkerTable::new(text, file, time_column(columns))?;
        let (key, usual) = POINTS;
        let usual = usual.map(str::to_string);
        let axes = table.columns(key, columns.get(key).map_or(&usual[..], Vec::as_slice))?;
        let inside = |point: &[f64; 3]| {
            let within = |[low, high]: Region| {
                point.iter().zip(low).zip(high).all(|((x, low), high)| (low..=high).contains(x))
            };
            region.is_none_or(within)
        };
        let mut recording = MarkerRecording { name: file.to_string(), ..Self::default() };
        let mut last = f64::NEG_INFINITY;
        while let Some(now) = table.next_time()? {
            if now < last {
                let message =
                    format!("must not decrease from row to row, found {now} after {last}");
                return Err(table.wrong_time(message));
            }
            last = now;
            let Some(point) = table.place(axes)?.filter(inside) else { continue };
            if recording.times.last().is_none_or(|time| *time < now) {
                recording.times.push(now);
                recording.places.push(Vec::new());
                recording.clouds.push(Vec::new());
            }
            recording.clouds.last_mut().into_iter().for_each(|cloud| cloud.push(point));
        }
        if recording.times.len() < 2 {
            let message = match region {
                Some(_) => "has points in the region at fewer than two times",
                None => "has points at fewer than two times",
            };
            return Err(Error::input(file, None, "", message));
        }
        Ok(recording)
    }

    /// From the first frame to a time after it (s), that included.
    pub fn until(&self, duration: f64) -> MarkerRecording {
        let last = self.times.first().map_or(0.0, |first| first + duration);
        let count = self.times.iter().filter(|&&time| time <= last + 1e-9).count();
        MarkerRecording {
            name: self.name.clone(),
            times: self.times[..count].to_vec(),
            places: self.places.iter().take(count).cloned().collect(),
            clouds: self.clouds.iter().take(count).cloned().collect(),
            controls: self.controls.clone(),
        }
    }

    /// Has a scene start as the recording did, where its soft body starts like this.
    pub fn place(&self, scene: &mut SoftScene, start: SoftStart) {
        scene.bodies[0].start_at(start);
        if let (Some(controls), Some(rigid)) = (&self.controls, &mut scene.rigid) {
            controls.place(&rigid.model, &mut rigid.state);
        }
    }

    /// Has what led and drove rigid bodies act in the next step.
    pub fn drive(&self, rollout: &mut SoftRollout) {
        let (step, dt) = (rollout.steps(), rollout.scene().time_step);
        if let (Some(controls), Some(inputs)) = (&self.controls, rollout.rigid_inputs()) {
            controls.apply(step as f64 * dt, dt, inputs);
        }
    }

    /// How many residuals it gives: three of each marker that was seen, one of each point.
    pub fn count(&self) -> usize {
        let markers = self.places.iter().flatten().flatten().count();
        3 * markers + self.clouds.iter().map(Vec::len).sum::<usize>()
    }
}

fn time_column(columns: &HashMap<String, Vec<String>>) -> Option<&str> {
    columns.get("t").and_then(|names| names.first()).map(String::as_str)
}
