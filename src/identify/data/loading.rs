//! Recordings read from files, by one process or by several, each its share.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::Vector3;

use super::{Dataset, DrivenInput, compare, introduce};
use crate::Error;
use crate::identify::experiment::{Experiment, MaskSensor, Reading};
use crate::identify::peers::{Alone, Group, Peers, Shares};
use crate::packed::packed;
use crate::parallel::parallel;
use crate::render::{ColourPicture, Picture, RecordedImage};
use crate::trajectory::{
    NamedFile, Recorded, RecordingFile, RecordingSource, Trajectory, input_named, load_recordings,
};

impl Dataset {
    /// Reads the recordings of an experiment.
    pub fn load(experiment: &Experiment) -> Result<Dataset, Error> {
        Dataset::load_on(experiment, 1)
    }

    /// [`load`](Self::load) on so many threads, on which the result does not depend.
    ///
    /// # Errors
    /// Those of the first recording that has any.
    pub fn load_on(experiment: &Experiment, threads: usize) -> Result<Dataset, Error> {
        Dataset::load_among(experiment, Box::new(Alone), threads)
    }

    /// The recordings of an experiment, of which each of several processes reads and holds its share. All have to call it, with the same
    /// experiment, as everything that takes the dataset then.
    ///
    /// # Errors
    /// Those of the first recording that has any, at all processes; and which process has another version, experiment or list of
    /// recordings, or rounds otherwise.
    pub fn load_among(
        experiment: &Experiment,
        peers: Box<dyn Peers>,
        threads: usize,
    ) -> Result<Dataset, Error> {
        let group = Arc::new(Group::new(peers));
        introduce(&group, String::new())?;
        let few = compare(&group, experiment, None)?;
        let mut dataset = Dataset::load_shares(experiment, &group, threads)?;
        dataset.notes.extend(few);
        Ok(dataset)
    }

    /// [`load_among`](Self::load_among) a group that has come together.
    pub(crate) fn load_shares(
        experiment: &Experiment,
        group: &Arc<Group>,
        threads: usize,
    ) -> Result<Dataset, Error> {
        let count = experiment.data.len();
        let shares = Shares::new(group.clone(), count);
        let own = shares.held(count);
        let read = load_recordings(&experiment.data[own], threads, experiment, |file| {
            ReadRecording::of_file(experiment, file)
        });
        Dataset::of_recordings(experiment, read, shares, (&experiment.data, count))
    }

    /// Recordings that are there already, in the place of those that an experiment names; on so many threads, as
    /// [`load_on`](Self::load_on).
    ///
    /// # Errors
    /// Those of the first recording that has any; and if there are none.
    pub fn of_files(
        experiment: &Experiment,
        files: &[RecordingFile],
        threads: usize,
    ) -> Result<Dataset, Error> {
        Dataset::of_files_shares(experiment, files, &Arc::default(), threads)
    }

    /// [`of_files`](Self::of_files), all of which every process of a group has.
    pub(crate) fn of_files_shares(
        experiment: &Experiment,
        files: &[RecordingFile],
        group: &Arc<Group>,
        threads: usize,
    ) -> Result<Dataset, Error> {
        let shares = Shares::new(group.clone(), files.len());
        if files.is_empty() {
            return Err(Error::input(&experiment.name, None, "data", "there are no recordings"));
        }
        let own = shares.held(files.len());
        let read = parallel(threads, own.len(), |k| {
            ReadRecording::of_file(experiment, files[own.start + k].clone())
        });
        Dataset::of_recordings(experiment, read, shares, (&[], files.len()))
    }

    /// The recordings that were read here, the first of them that of number `shares.held(count).start`, and those that others hold.
    fn of_recordings(
        experiment: &Experiment,
        read: Vec<Result<ReadRecording, Error>>,
        shares: Shares,
        (sources, count): (&[RecordingSource], usize),
    ) -> Result<Dataset, Error> {
        let first = shares.held(count).start;
        let numbered = read.into_iter().enumerate();
        let read: Result<Vec<ReadRecording>, (usize, Error)> =
            numbered.map(|(k, read)| read.map_err(|error| (first + k, error))).collect();
        shares.group.first_error(read.as_ref().err().cloned())?;
        let mut read = read.unwrap_or_default();
        let told: Vec<Told> = read.iter().map(ReadRecording::told).collect();
        let told = match shares.group.is_alone() {
            true => told,
            false => shares.all("recordings", told, count),
        };
        in_one_place(sources, &told)?;
        let mut trajectories = Vec::with_capacity(count);
        let (mut readings, mut masks, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        let mut notes = Vec::new();
        let mut driven: Vec<Vec<usize>> = Vec::with_capacity(count);
        let mut own = read.drain(..);
        for (k, told) in told.into_iter().enumerate() {
            notes.extend(told.notes);
            driven.push(told.driven);
            let recording = match shares.holds(k) {
                true => own.next(),
                false => None,
            };
            let elsewhere = || ReadRecording {
                trajectory: Trajectory {
                    name: told.name,
                    times: told.times,
                    states: Vec::new(),
                    recorded: told.recorded,
                },
                readings: (!experiment.sensors.is_empty()).then(Vec::new),
                masks: (!experiment.masks.is_empty()).then(Vec::new),
                driven: Vec::new(),
                notes: Vec::new(),
                begin: told.begin,
            };
            let recording = recording.unwrap_or_else(elsewhere);
            trajectories.push(recording.trajectory);
            readings.extend(recording.readings);
            masks.extend(recording.masks);
            inputs.push(recording.driven);
        }
        let scene = &experiment.scene;
        let mut dataset = Dataset::cut(experiment, trajectories, readings, shares)?;
        dataset.masks = masks;
        let names = scene.model.input_names();
        for (place, name) in names.iter().enumerate() {
            let count = driven.iter().filter(|driven| driven.contains(&place)).count();
            if count > 0 && count < driven.len() {
                notes.push(format!(
                    "{name} is driven in {count} of {} recordings, and in the others what the scene has",
                    driven.len()
                ));
            }
        }
        if driven.iter().any(|driven| !driven.is_empty()) {
            let retimed = |(k, driven): (usize, Vec<DrivenInput>)| {
                let times = &dataset.trajectories[k].times;
                let clock: Vec<f64> =
                    (0..times.len()).map(|frame| dataset.clock(k, frame)).collect();
                driven.into_iter().map(|input| input.retimed(times, &clock)).collect()
            };
            dataset.inputs = inputs.into_iter().enumerate().map(retimed).collect();
            dataset.lead(&scene.model);
        }
        dataset.notes = notes;
        Ok(dataset)
    }
}

/// Readings of the sensors in our units, and of markers and of forces in the world in that of the scene: where one of x, y and z is missing, all are if that is
/// turned.
fn in_our_units(experiment: &Experiment, mut rows: Vec<Vec<Option<f64>>>) -> Vec<Vec<Option<f64>>> {
    let frames = &experiment.columns.frames;
    for row in &mut rows {
        let mut rest = row.as_mut_slice();
        for sensor in &experiment.sensors {
            let (own, others) = rest.split_at_mut(sensor.channels());
            rest = others;
            own.iter_mut().flatten().for_each(|x| *x *= sensor.factor);
            let is_place = matches!(sensor.reads, Reading::Marker { .. });
            if frames.world.is_some() && (is_place || sensor.is_along_the_world()) {
                let place = match *own {
                    [Some(x), Some(y), Some(z)] if is_place => {
                        Some(frames.point(Vector3::new(x, y, z)))
                    }
                    [Some(x), Some(y), Some(z)] => Some(frames.vector(Vector3::new(x, y, z))),
                    _ => None,
                };
                own.iter_mut().enumerate().for_each(|(k, x)| *x = place.map(|place| place[k]));
            }
        }
    }
    rows
}

/// The masks that a recording names.
fn masks_of(
    experiment: &Experiment,
    file: &RecordingFile,
    names: &[&str],
) -> Result<Vec<Vec<Option<RecordedImage>>>, Error> {
    let sensors = &experiment.masks;
    let mask = |(sensor, named): (&MaskSensor, Option<NamedFile>)| {
        let Some(NamedFile { path, line }) = named else { return Ok(None) };
        let place =
            |message: String| Error::input(file.name(), line, sensor.column.as_str(), message);
        let read = || match sensor.fit.is_coloured() {
            true => Ok(RecordedImage::of_colours(&ColourPicture::load(&path)?)),
            false => Ok(RecordedImage::of(&Picture::load_mask(&path)?)),
        };
        let image = read().map_err(|error: Error| place(error.to_string()))?;
        let (found, expected) = (image.size, sensor.fit.size());
        if found != expected {
            let message = format!(
                "{} has {} x {} pixels, and the camera {} x {}: `size` of the [[camera]] must be that of its images",
                path.display(),
                found[0],
                found[1],
                expected[0],
                expected[1]
            );
            return Err(place(message));
        }
        Ok(Some(image))
    };
    let frame = |row: Vec<Option<NamedFile>>| sensors.iter().zip(row).map(mask).collect();
    let frames = file.files(names)?.into_iter().map(frame);
    let frames = frames.collect::<Result<Vec<Vec<Option<RecordedImage>>>, Error>>()?;
    for (k, sensor) in sensors.iter().enumerate() {
        let seen = |frame: &Vec<Option<RecordedImage>>| {
            frame[k].as_ref().is_some_and(|mask| !mask.is_empty())
        };
        if !frames.iter().any(seen) {
            let message = match sensor.fit.is_coloured() {
                true => "has no image, or all of its images are black: nothing was seen",
                false => "has no mask, or all of its masks are empty: nothing was seen",
            };
            return Err(Error::input(file.name(), None, &sensor.column, message));
        }
    }
    Ok(frames)
}

/// What the rows of a recording hold.
struct ReadRecording {
    trajectory: Trajectory,
    /// Of sensors, if the experiment has any.
    readings: Option<Vec<Vec<Option<f64>>>>,
    /// Likewise of cameras.
    masks: Option<Vec<Vec<Option<RecordedImage>>>>,
    driven: Vec<DrivenInput>,
    notes: Vec<String>,
    /// What times count from, s.
    begin: f64,
}

/// An error if a recording of a table goes on in another file, as its times do. Others of one name in two files are two recordings.
fn in_one_place(sources: &[RecordingSource], told: &[Told]) -> Result<(), Error> {
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    for (k, source) in sources.iter().enumerate() {
        let Some(place) = source.place() else { continue };
        let Some(other) = before.insert(place, k) else { continue };
        let [(first, begin), (times, next)] = [other, k].map(|k| (&told[k].times, told[k].begin));
        let (Some(last), Some(start)) = (first.last(), times.first()) else { continue };
        let step = (last - first[0]) / (first.len() - 1).max(1) as f64;
        let between = (next + start) - (begin + last);
        if between > 0.0 && between <= 2.0 * step {
            let message = format!(
                "goes on where {} ends: a recording is to be in one file, or under another name",
                told[other].name
            );
            return Err(Error::input(&told[k].name, None, "", message));
        }
    }
    Ok(())
}

/// What all processes know of a recording.
#[derive(Clone, Default)]
struct Told {
    name: String,
    /// What times count from, s.
    begin: f64,
    times: Vec<f64>,
    recorded: Recorded,
    notes: Vec<String>,
    /// The inputs that are driven.
    driven: Vec<usize>,
}

packed!(Told { name, begin, times, recorded, notes, driven });

impl ReadRecording {
    fn told(&self) -> Told {
        let Trajectory { name, times, recorded, .. } = &self.trajectory;
        Told {
            name: name.clone(),
            begin: self.begin,
            times: times.clone(),
            recorded: recorded.clone(),
            notes: self.notes.clone(),
            driven: self.driven.iter().map(|input| input.place).collect(),
        }
    }

    fn of_file(experiment: &Experiment, mut file: RecordingFile) -> Result<ReadRecording, Error> {
        let Experiment { scene, columns, excerpt, sensors, .. } = experiment;
        let names: Vec<&str> =
            sensors.iter().flat_map(|sensor| &sensor.columns).map(String::as_str).collect();
        let images: Vec<&str> = experiment.masks.iter().map(|mask| mask.column.as_str()).collect();
        let others = file.merge_times(columns)?;
        let mut notes: Vec<String> =
            file.remarks().iter().map(|remark| format!("{}: {remark}", file.name())).collect();
        if others > 0 {
            notes.push(format!(
                "{}: {others} rows have the time of the row before and other numbers: only the first of each time counts",
                file.name()
            ));
        }
        let driven = DrivenInput::find(experiment, &file)?;
        for (columns, needed) in [
            (&names, ", which a [[sensor]] reads"),
            (&images, ", which names the image of each frame"),
        ] {
            columns.iter().try_for_each(|name| file.column(name, needed).map(|_| ()))?;
        }
        let beside = [&names[..], &images[..]].concat();
        let model = &scene.model;
        excerpt.cut(&mut file, columns)?;
        let named = file.columns().any(|column| input_named(model, column).is_some());
        let sparse = named || !experiment.inputs.is_empty();
        excerpt.thin(&mut file, (model, columns), &beside, sparse)?;
        let trajectory = Trajectory::of_file(&file, model, columns)?;
        let readings = match sensors.is_empty() {
            true => None,
            false => Some(in_our_units(experiment, file.numbers(&names)?)),
        };
        let masks = match images.is_empty() {
            true => None,
            false => Some(masks_of(experiment, &file, &images)?),
        };
        let begin = file.begin(columns);
        Ok(ReadRecording { trajectory, readings, masks, driven, notes, begin })
    }
}
