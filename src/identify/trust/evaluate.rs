//! How far whole rollouts from the first frame are from the recordings.

use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::identify::parallel;
use crate::identify::residuals::{in_flight, recorded, replay, whole_turns};
use crate::linalg::norm;
use crate::model::{Joint, Model, Parameters};
use crate::packed::packed;
use crate::simulation::StepReport;
use crate::state::State;
use crate::trajectory::Known;

/// Which state a rollout starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RolloutStart {
    /// The recorded one of the first frame.
    #[default]
    Recorded,
    /// The one from which the motion up to the first contact comes nearest to the recorded frames; that
    /// of the first frame where there are too few of them.
    Flight,
}

impl RolloutStart {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            RolloutStart::Recorded => "recorded",
            RolloutStart::Flight => "flight",
        }
    }
}

/// The error of one trajectory, over bodies and time (the first frame included).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrajectoryError {
    /// Where it comes from.
    pub name: String,
    /// Recorded frames.
    pub frames: usize,
    /// Mean distance in % of the experiment's length scale, of free bodies and along slides, if any of these is
    /// recorded.
    pub position_error_percent: Option<f64>,
    /// Mean angle of orientations (of free bodies and ball joints), degrees; where there are none, that of
    /// hinges, if there are any.
    pub rotation_error_deg: Option<f64>,
    /// Mean angle of hinges, degrees, if there are any. Whole turns of hinges without limits do not count.
    pub joint_error_deg: Option<f64>,
    /// How its contact problems were solved.
    pub report: StepReport,
    /// How far the simulation is off at each frame; of several processes the first one knows.
    pub over_time: Vec<FrameError>,
}

impl TrajectoryError {
    /// Whether its error of rotation is that of its hinges, for lack of orientations.
    pub fn turns_by_hinges_only(&self) -> bool {
        self.joint_error_deg.is_some() && self.joint_error_deg == self.rotation_error_deg
    }
}

/// How far a simulated state is from the recorded one, means over the bodies; nothing where nothing of the
/// kind is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameError {
    /// Distance of free bodies and along slides, m.
    pub position: Option<f64>,
    /// Angle of orientations; where there are none, of hinges, rad.
    pub rotation: Option<f64>,
    /// Angle of hinges, rad.
    pub joint: Option<f64>,
}

/// Errors of all trajectories, of the configurations that are recorded: sensors have no part in them.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// One a trajectory, in order.
    pub trajectories: Vec<TrajectoryError>,
    /// Mean over the trajectories that have one.
    pub position_error_percent: Option<f64>,
    /// Likewise.
    pub rotation_error_deg: Option<f64>,
    /// Likewise.
    pub joint_error_deg: Option<f64>,
}

/// Simulates every trajectory from its first recorded frame (of those that miss something at single frames, the
/// first complete one) to its end and measures the distance.
pub fn evaluate(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    threads: usize,
) -> Evaluation {
    evaluate_from(experiment, dataset, parameters, RolloutStart::Recorded, threads)
}

/// [`evaluate`] from a start of choice.
pub fn evaluate_from(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    start: RolloutStart,
    threads: usize,
) -> Evaluation {
    evaluate_while(experiment, dataset, parameters, (start, threads), &|| true)
}

/// [`evaluate_from`] as long as `go_on` says so, which is asked before each recording: there are no errors of those that are
/// left out.
pub(crate) fn evaluate_while(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    (start, threads): (RolloutStart, usize),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Evaluation {
    rollouts(experiment, dataset, parameters, threads, |k| {
        if !go_on() {
            return None;
        }
        let trajectory = &dataset.trajectories[k];
        let first = trajectory.first_complete();
        let steps = trajectory.steps() - first;
        let flight = match start {
            RolloutStart::Recorded => None,
            RolloutStart::Flight => in_flight(experiment, dataset, parameters, (k, first), steps),
        };
        Some(flight.unwrap_or_else(|| recorded(experiment, dataset, (k, first))))
    })
}

/// [`evaluate`] from states of choice: `start` gives that of each trajectory by its index, at its first frame, or
/// its first complete one ([`Trajectory::first_complete`](crate::trajectory::Trajectory::first_complete)).
pub fn evaluate_with(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    threads: usize,
    start: impl Fn(usize) -> State<f64> + Sync,
) -> Evaluation {
    rollouts(experiment, dataset, parameters, threads, |k| Some(start(k)))
}

/// [`evaluate_with`] but for recordings that have no start.
fn rollouts(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    threads: usize,
    start: impl Fn(usize) -> Option<State<f64>> + Sync,
) -> Evaluation {
    let own = dataset.own_recordings();
    let found = parallel(threads, own.len(), |at| {
        let k = own[at];
        let Some(start) = start(k) else { return TrajectoryError::default() };
        let trajectory = &dataset.trajectories[k];
        let model = &experiment.scene.model;
        let system = dataset.system(&experiment.scene, parameters);
        let first = trajectory.first_complete();
        let part = (k, first, trajectory.steps() - first);
        let inputs = &experiment.scene.inputs;
        let mut errors = Errors::default();
        let nothing = FrameError { position: None, rotation: None, joint: None };
        let mut over_time = vec![nothing; trajectory.states.len()];
        let report = replay(system, dataset, part, start, inputs, |frame, state| {
            let mut here = Errors::default();
            here.add(model, trajectory.recorded.at(frame), state, &trajectory.states[frame]);
            errors.merge(&here);
            let [position, orientation, hinge] = here.means();
            over_time[frame] =
                FrameError { position, rotation: orientation.or(hinge), joint: hinge };
        });
        let [position, orientation, hinge] = errors.means();
        let joint_error_deg = hinge.map(f64::to_degrees);
        TrajectoryError {
            name: trajectory.name.clone(),
            frames: trajectory.states.len(),
            position_error_percent: position.map(|x| 100.0 * x / experiment.length_scale),
            rotation_error_deg: orientation.map(f64::to_degrees).or(joint_error_deg),
            joint_error_deg,
            report,
            over_time,
        }
    });
    let trajectories = gathered(dataset, found);
    let mean = |error: fn(&TrajectoryError) -> Option<f64>| {
        let errors: Vec<f64> = trajectories.iter().filter_map(error).collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    };
    Evaluation {
        position_error_percent: mean(|t| t.position_error_percent),
        rotation_error_deg: mean(|t| t.rotation_error_deg),
        joint_error_deg: mean(|t| t.joint_error_deg),
        trajectories,
    }
}

/// One kind of error over all recordings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSpread {
    /// Mean over the recordings.
    pub mean: f64,
    /// Half of the recordings have less.
    pub median: f64,
    /// Nine tenths of the recordings have at most this.
    pub most_of_nine_tenths: f64,
    /// The least, and which recording has it.
    pub least: (f64, usize),
    /// The largest, and which recording has it.
    pub largest: (f64, usize),
}

impl Evaluation {
    /// The errors of one kind over the recordings that have one; none if none has.
    pub fn summary(&self, of: impl Fn(&TrajectoryError) -> Option<f64>) -> Option<ErrorSpread> {
        let errors = self.trajectories.iter().enumerate();
        let mut errors: Vec<(f64, usize)> = errors.filter_map(|(k, t)| Some((of(t)?, k))).collect();
        errors.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (&least, &largest) = (errors.first()?, errors.last()?);
        let count = errors.len();
        let mean = errors.iter().map(|(error, _)| error).sum::<f64>() / count as f64;
        let median = (errors[(count - 1) / 2].0 + errors[count / 2].0) / 2.0;
        // The smallest number that so many do not exceed.
        let most_of_nine_tenths = errors[(9 * count).div_ceil(10) - 1].0;
        Some(ErrorSpread { mean, median, most_of_nine_tenths, least, largest })
    }

    /// The recordings from the one with the least error to the one with the largest, by [`position_error_percent`], or by
    /// the others where there is none.
    ///
    /// [`position_error_percent`]: TrajectoryError::position_error_percent
    pub fn sorted(&self) -> Vec<&TrajectoryError> {
        let mut sorted: Vec<&TrajectoryError> = self.trajectories.iter().collect();
        let key = |t: &TrajectoryError| {
            let rotation = t.rotation_error_deg.unwrap_or(f64::INFINITY);
            [t.position_error_percent.unwrap_or(f64::INFINITY), rotation]
        };
        sorted.sort_by(|a, b| {
            let [a, b] = [key(a), key(b)];
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
        });
        sorted
    }

    /// Whether there is an error of any kind, and all are finite.
    pub fn is_finite(&self) -> bool {
        let errors = [self.position_error_percent, self.rotation_error_deg];
        let mut errors = errors.into_iter().flatten().peekable();
        errors.peek().is_some() && errors.all(f64::is_finite)
    }
}

/// Sums over joints and frames: distances, angles of orientations, angles of hinges; and how many there
/// are of each.
#[derive(Default)]
pub(crate) struct Errors {
    sums: [f64; 3],
    counts: [usize; 3],
}

impl Errors {
    pub(crate) fn add(
        &mut self,
        model: &Model,
        known: Known,
        simulated: &State<f64>,
        recorded: &State<f64>,
    ) {
        let away = simulated.difference(model.coordinates(), recorded);
        for joint in model.bodies.iter().map(|body| &body.joint) {
            let [linear, angular] = recorded_directions(known, joint);
            let angles = 1 + usize::from(joint.kind.has_axis());
            for (kind, directions) in [(0, linear), (angles, angular)] {
                if directions.is_empty() {
                    continue;
                }
                let parts = directions.iter().map(|&k| away[k] - whole_turns(joint, away[k]));
                self.sums[kind] += norm(&parts.collect::<Vec<f64>>());
                self.counts[kind] += 1;
            }
        }
    }

    /// Numbers of one.
    pub(crate) const NUMBERS: usize = 6;

    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        self.sums.into_iter().chain(self.counts.map(|count| count as f64))
    }

    pub(crate) fn of(numbers: &[f64]) -> Errors {
        let number = |k: usize| numbers.get(k).copied().unwrap_or_default();
        Errors { sums: [0, 1, 2].map(number), counts: [3, 4, 5].map(|k| number(k) as usize) }
    }

    pub(crate) fn merge(&mut self, other: &Errors) {
        for kind in 0..3 {
            self.sums[kind] += other.sums[kind];
            self.counts[kind] += other.counts[kind];
        }
    }

    pub(crate) fn means(&self) -> [Option<f64>; 3] {
        [0, 1, 2].map(|k| (self.counts[k] > 0).then(|| self.sums[k] / self.counts[k] as f64))
    }
}

/// The directions of a joint in which its configuration is recorded, by their places in the velocity:
/// along which it moves, and about which it turns.
fn recorded_directions(known: Known, joint: &Joint) -> [Vec<usize>; 2] {
    let linear = joint.kind.translations();
    let recorded = (0..joint.kind.nv()).filter(|&k| known.configuration(joint, k));
    let (moves, turns): (Vec<usize>, Vec<usize>) = recorded.partition(|&k| k < linear);
    [moves, turns].map(|directions| directions.into_iter().map(|k| joint.v + k).collect())
}

/// The errors of all recordings at all processes; over time at the first alone, which draws them.
fn gathered(dataset: &Dataset, mut own: Vec<TrajectoryError>) -> Vec<TrajectoryError> {
    let group = dataset.group();
    if group.is_alone() {
        return own;
    }
    let over_time: Vec<Vec<FrameError>> =
        own.iter_mut().map(|error| std::mem::take(&mut error.over_time)).collect();
    let mut all = dataset.shares.all("errors of recordings", own, dataset.trajectories.len());
    let over_time = group.gather_at_first("errors over time", over_time).into_iter().flatten();
    all.iter_mut().zip(over_time).for_each(|(error, own)| error.over_time = own);
    all
}

packed!(FrameError { position, rotation, joint });
packed!(TrajectoryError {
    name,
    frames,
    position_error_percent,
    rotation_error_deg,
    joint_error_deg,
    report,
    over_time,
});
