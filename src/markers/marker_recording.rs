//! Recorded places of markers, from CSV files.

use std::collections::HashMap;

use crate::Error;
use crate::soft::SoftBody;

/// Where the markers of a body were seen.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerRecording {
    /// The file.
    pub name: String,
    /// s, increasing.
    pub times: Vec<f64>,
    /// In each frame each marker of the body, in its order (m); none where it was not seen.
    pub places: Vec<Vec<Option<[f64; 3]>>>,
}

/// The column of times, if no other is named.
const TIME: &str = "t";

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
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.trim(csv::Trim::All).from_reader(text.as_bytes());
        let csv_error = |error: csv::Error| {
            let line = error.position().map(|position| position.line() as usize);
            Error::input(file, line, "", error.to_string())
        };
        let header = reader.headers().map_err(csv_error)?.clone();
        let find = |name: &str| {
            let mut places = header.iter().enumerate().filter(|(_, own)| *own == name);
            match (places.next(), places.next()) {
                (Some((place, _)), None) => Ok(place),
                (Some(_), Some(_)) => Err(Error::input(file, 1, name, "is a column twice")),
                _ => {
                    let known: Vec<&str> = header.iter().collect();
                    let message = format!(
                        "is no column; there are {}: name others in [columns] of the experiment",
                        known.join(", ")
                    );
                    Err(Error::input(file, 1, name, message))
                }
            }
        };
        let time = find(columns.get(TIME).map_or(TIME, |names| &names[0]))?;
        let mut markers = Vec::with_capacity(body.markers.len());
        for marker in &body.markers {
            let usual = || {
                ["px", "py", "pz"]
                    .map(|axis| format!("{}/{}/{axis}", body.name, marker.name))
                    .into()
            };
            let names: Vec<String> = columns.get(&marker.name).cloned().unwrap_or_else(usual);
            markers.push([find(&names[0])?, find(&names[1])?, find(&names[2])?]);
        }
        let mut recording =
            MarkerRecording { name: file.to_string(), times: Vec::new(), places: Vec::new() };
        for record in reader.records() {
            let record = record.map_err(csv_error)?;
            let line = record.position().map(|position| position.line() as usize);
            let wrong = |column: usize, message: String| {
                Error::input(file, line, header.get(column).unwrap_or(""), message)
            };
            let measured = |column: usize| match record.get(column).unwrap_or("") {
                "" => Ok(None),
                text if text.eq_ignore_ascii_case("nan") => Ok(None),
                text => match text.parse::<f64>() {
                    Ok(number) if number.is_finite() => Ok(Some(number)),
                    _ => Err(wrong(column, format!("must be a finite number, found {text:?}"))),
                },
            };
            let now = measured(time)?.ok_or_else(|| wrong(time, "must be a number".into()))?;
            if let Some(last) = recording.times.last().filter(|last| now <= **last) {
                let message = format!("must increase from row to row, found {now} after {last}");
                return Err(wrong(time, message));
            }
            let mut frame = Vec::with_capacity(markers.len());
            for [x, y, z] in &markers {
                let place = (measured(*x)?, measured(*y)?, measured(*z)?);
                frame.push(match place {
                    (Some(x), Some(y), Some(z)) => Some([x, y, z]),
                    _ => None,
                });
            }
            recording.times.push(now);
            recording.places.push(frame);
        }
        if recording.times.len() < 2 {
            return Err(Error::input(file, None, "", "has fewer than two rows"));
        }
        Ok(recording)
    }

    /// From the first frame to a time after it (s), that included.
    pub fn until(&self, duration: f64) -> MarkerRecording {
        let last = self.times[0] + duration;
        let count = self.times.iter().filter(|&&time| time <= last + 1e-9).count();
        MarkerRecording {
            name: self.name.clone(),
            times: self.times[..count].to_vec(),
            places: self.places[..count].to_vec(),
        }
    }

    /// How many numbers were seen.
    pub fn count(&self) -> usize {
        3 * self.places.iter().flatten().flatten().count()
    }
}
