//! Whether recordings can be what the scene takes them for, asked back in words before anything is fitted.
//!
//! What is in the air falls by gravity and what does not fall lies on something. Where a recording says otherwise, the
//! units, axes, orders and sizes that are mistaken most often are tried: one under which it does both is asked for.

mod joint_motion;
mod rates;
mod reading;
mod stretches;
mod track;

use reading::{Reading, amount};
use stretches::{Tally, hovers};
use track::{Subject, Track, median};

use super::Dataset;
use crate::model::Scene;
use crate::trajectory::Trajectory;

/// Recordings that are looked at, spread over all, and bodies: they are all made in the same way.
const RECORDINGS: usize = 40;
const BODIES: usize = 8;

/// What cannot be right about recordings of a scene, in words; nothing where nothing is found.
///
/// Free bodies are looked at, that no motor, force or loop acts on and that touch half-spaces and each other alone:
/// positions that fall, and rest, otherwise than gravity and the shapes allow (units of lengths and times, axes, order
/// of quaternions, sizes, height of the floor, frames too far apart), velocities that are not the rates of positions
/// and orientations, and what speeds up on the ground with nothing to push it.
///
/// Of joints with one coordinate, rates that are not those of positions; and of trees of such joints that no other
/// moving body can touch, motions that are none of the scene's: units of angles, slides and times, controls and forces
/// left out.
pub fn questions(scene: &Scene, recordings: &[Trajectory]) -> Vec<String> {
    questions_beside(scene, recordings, &[])
}

impl Dataset {
    /// What cannot be right about the recordings of a scene, in words: what is odd about their files, then [`questions`], but for what
    /// recorded inputs move.
    pub fn questions(&self, scene: &Scene) -> Vec<String> {
        let driven = self.inputs.iter().flatten().map(|input| input.place);
        let mut driven: Vec<usize> = driven.collect();
        driven.sort_unstable();
        driven.dedup();
        let driven = self.group().gather("driven inputs", 0, driven);
        let driven: Vec<usize> = driven.into_iter().flatten().collect();
        let wanted = (0..self.trajectories.len()).step_by(every(self.trajectories.len()));
        let some = self.with_recordings(&wanted.collect::<Vec<usize>>());
        let asked = questions_beside(scene, &some.trajectories, &driven);
        self.notes.iter().cloned().chain(asked).collect()
    }
}

/// Every so many-th recording is looked at.
fn every(recordings: usize) -> usize {
    recordings.div_ceil(RECORDINGS).max(1)
}

/// [`questions`] about what none of the inputs `driven` moves.
fn questions_beside(scene: &Scene, recordings: &[Trajectory], driven: &[usize]) -> Vec<String> {
    let every = every(recordings.len());
    let mut found = Vec::new();
    for subject in Subject::all(scene, driven).iter().take(BODIES) {
        let some = recordings.iter().step_by(every);
        let tracks: Vec<Track> = some.filter_map(|some| subject.track(scene, some)).collect();
        let own = asked(scene, subject, &tracks);
        let name = &scene.model.bodies[subject.body].name;
        found.extend(own.into_iter().map(|question| format!("{name}: {question}")));
    }
    let some: Vec<&Trajectory> = recordings.iter().step_by(every).collect();
    found.extend(joint_motion::of_joints(scene, &some, BODIES, driven));
    found
}

fn asked(scene: &Scene, subject: &Subject, tracks: &[Track]) -> Vec<String> {
    let gravity = scene.parameters.gravity();
    let mut found = Vec::new();
    let mut reading = Reading::plain();
    if gravity.norm() > 0.0 {
        let tally = |reading: &Reading| {
            let mut tally = Tally::default();
            tracks.iter().for_each(|track| tally.add(subject, track, gravity, reading));
            tally
        };
        let mut meant = tally(&reading);
        if meant.contradicts() || meant.good() == 0 {
            let wrong = evidence(&meant, gravity.norm());
            let mut others = Reading::others(-gravity.normalize());
            if !meant.heights.is_empty() {
                others.push(Reading::lifted(median(meant.heights.clone())));
            }
            // Some stretches are always mistaken: of these there must be clearly fewer.
            let most = Some(meant.share().map_or(0.25, |share| (0.5 * share).min(0.25)));
            let tried: Vec<(Reading, Tally)> = others
                .into_iter()
                .map(|other| {
                    let found = tally(&other);
                    (other, found)
                })
                .filter(|(_, found)| found.good() >= 6 && !found.contradicts())
                // Rest is rest at any rate.
                .filter(|(other, found)| other.time == 1.0 || found.falls >= 3 || found.brakes >= 6)
                .filter(|(_, found)| found.share() <= most)
                .collect();
            let least = tried.iter().filter_map(|(_, found)| found.share()).fold(1.0, f64::min);
            let best = tried.into_iter().find(|(_, found)| found.share() <= Some(least + 0.05));
            if let Some((other, fits)) = best {
                let all = fits.good() + fits.bad();
                found.push(format!(
                    "{wrong}: {} (Read so, {} of {all} stretches are as they should be)",
                    other.question,
                    fits.good()
                ));
                (reading, meant) = (other, fits);
            } else if meant.contradicts() && !meant.falls_about_right(gravity.norm()) {
                found.push(format!(
                    "{wrong}: are the units of positions and times, the direction of gravity, the order of quaternions \
                     (w, x, y, z), the size of the body (half extents, in m) and the height of the floor right?"
                ));
            } else {
                found.extend(far_apart(subject, tracks, gravity.norm()));
            }
        }
        if meant.pushed >= 3 && 10 * meant.pushed > meant.slides {
            found.push(format!(
                "it moves faster and faster along the ground ({} beyond what gravity does) with nothing in the \
                 scene that pushes it: is a force or an input missing?",
                amount(median(meant.pushes), "m/s²")
            ));
        }
    }
    let turns = rates::angular(tracks, &reading);
    // What is asked already is not asked again.
    let known = |question: &String| {
        found.iter().any(|found| found.contains("x, y, z, w") && question.contains("x, y, z, w"))
    };
    let turns = turns.filter(|question| !known(question));
    found.extend(turns);
    found.extend(rates::linear(tracks, &reading));
    found
}

/// What is not as it should be.
fn evidence(tally: &Tally, gravity: f64) -> String {
    let off_ground = tally.floats + tally.sinks;
    let height = median(tally.heights.clone());
    if tally.hangs >= off_ground && tally.hangs > 0 {
        let a = amount(median(tally.accelerations.clone()), "m/s²");
        return format!("in the air it accelerates by {a} where gravity is {gravity:.2}");
    }
    if tally.floats >= tally.sinks && tally.floats > 0 {
        return format!("it hangs in the air, {} over what it could rest on", amount(height, "m"));
    }
    if tally.sinks > 0 {
        let deep =
            if height < 0.0 { format!(", {} deep", amount(-height, "m")) } else { String::new() };
        return format!("it is inside what it could rest on{deep}");
    }
    "no stretch of the recordings is short and clear enough to show how it falls or rests"
        .to_string()
}

/// Frames between which everything is over, and yet the body is in the air in one after the other. What rests, rolls
/// or slides may do so as slowly as it likes.
fn far_apart(subject: &Subject, tracks: &[Track], gravity: f64) -> Option<String> {
    let hovers = tracks.iter().map(|track| hovers(subject, track, gravity));
    let [still, all] = hovers.fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
    if still < 6 || 2 * still < all {
        return None;
    }
    let radius = subject.radius;
    let intervals = tracks.iter().flat_map(|track| track.times.windows(2).map(|t| t[1] - t[0]));
    let interval = median(intervals.collect());
    let steps =
        tracks.iter().flat_map(|track| track.positions.windows(2)).map(|p| (p[1] - p[0]).norm());
    let furthest = steps.fold(0.0, f64::max);
    // To fall as far as it goes between two frames, and its own size.
    let time = (2.0 * (furthest + 2.0 * radius) / gravity).sqrt();
    (interval > 2.0 * time).then(|| {
        format!(
            "frames are {} apart, and it never goes further than what it falls in {}: are times in milliseconds, or a \
             count of frames?",
            amount(interval, "s"),
            amount(time, "s")
        )
    })
}
