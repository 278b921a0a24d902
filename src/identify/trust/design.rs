//! Which experiment is the most informative: optimal design (`Pukelsheim93`).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use nalgebra::DMatrix;

use super::Combination;
use super::information::{Information, Resolution, Unknown};
use crate::Error;
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::model::Parameters;
use crate::simulation::Rollout;
use crate::trajectory::Trajectory;

/// An experiment that could be made, or has been.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// What it would tell.
    pub information: Information,
}

/// What a candidate, or two together, tell of the chosen parameters. What else the motion depends on (other free
/// parameters, fitted initial states) is taken for as unknown as the experiments say.
#[derive(Clone, Debug)]
pub struct Design {
    /// The candidates, by their places.
    pub candidates: Vec<usize>,
    /// Logarithm of the determinant of the information on the chosen parameters, in their typical changes
    /// (D-optimality); nothing if it is zero. With 2 ln 2 more, the ellipsoid of uncertainty has half the
    /// volume.
    pub log_determinant: Option<f64>,
    /// Standard errors of the chosen parameters, in their order and units; nothing where one stays open.
    pub standard_errors: Vec<Option<f64>>,
    /// How many combinations of the chosen parameters stay open.
    pub open: usize,
    /// Why the determinant is zero, in sentences.
    pub reasons: Vec<String>,
    /// The logarithm of the determinant, or, where that is zero, of what is told one by one.
    told: f64,
}

impl Design {
    /// What the candidates at `places` tell together of the parameters `chosen`. A parameter is one and the same
    /// in all candidates that name it; of one that a candidate does not identify it says nothing. A prior
    /// counts once.
    pub fn of(candidates: &[Candidate], places: &[usize], chosen: &[&str]) -> Design {
        let mut joint = Joint::default();
        for candidate in places.iter().filter_map(|&place| candidates.get(place)) {
            joint.add(&candidate.information);
        }
        // Typical changes of what none of these identifies are those that others state.
        let all = candidates.iter().flat_map(|candidate| &candidate.information.unknowns);
        for unknown in all.filter(|unknown| chosen.contains(&unknown.name.as_str())) {
            joint.place(unknown);
        }
        joint.design(places, chosen)
    }

    /// All candidates, the one that tells most first: the fewest open combinations, then the largest determinant.
    pub fn ranking(candidates: &[Candidate], chosen: &[&str]) -> Vec<Design> {
        let designs = (0..candidates.len()).map(|k| Design::of(candidates, &[k], chosen));
        let mut designs: Vec<Design> = designs.collect();
        designs.sort_by(Design::compared);
        designs
    }

    /// The two candidates that tell most together; nothing with fewer than two.
    pub fn best_pair(candidates: &[Candidate], chosen: &[&str]) -> Option<Design> {
        let pairs = (0..candidates.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
        pairs.map(|pair| Design::of(candidates, &pair, chosen)).min_by(Design::compared)
    }

    fn compared(&self, other: &Design) -> Ordering {
        self.open.cmp(&other.open).then(other.told.total_cmp(&self.told))
    }
}

/// The sum of information matrices that are of different parameters.
#[derive(Default)]
struct Joint {
    unknowns: Vec<Unknown>,
    places: BTreeMap<String, usize>,
    entries: BTreeMap<(usize, usize), f64>,
}

impl Joint {
    /// The place of a parameter, and whether it is new.
    fn place(&mut self, unknown: &Unknown) -> (usize, bool) {
        if let Some(&place) = self.places.get(&unknown.name) {
            return (place, false);
        }
        let place = self.unknowns.len();
        self.places.insert(unknown.name.clone(), place);
        self.unknowns.push(unknown.clone());
        (place, true)
    }

    fn add(&mut self, information: &Information) {
        let Information { unknowns, recordings, priors, .. } = information;
        let places: Vec<(usize, bool)> = unknowns.iter().map(|u| self.place(u)).collect();
        for (i, &(a, new)) in places.iter().enumerate() {
            for (j, &(b, _)) in places.iter().enumerate() {
                let prior = if new { priors[(i, j)] } else { 0.0 };
                *self.entries.entry((a, b)).or_default() += recordings[(i, j)] + prior;
            }
        }
    }

    fn design(&self, candidates: &[usize], chosen: &[&str]) -> Design {
        let n = self.unknowns.len();
        let at = |a: usize, b: usize| self.entries.get(&(a, b)).copied().unwrap_or(0.0);
        let places: Vec<usize> =
            chosen.iter().filter_map(|name| self.places.get(*name).copied()).collect();
        let mut design = Design {
            candidates: candidates.to_vec(),
            log_determinant: None,
            standard_errors: vec![None; places.len()],
            open: places.len(),
            reasons: Vec::new(),
            told: f64::NEG_INFINITY,
        };
        let Some(resolution) = Resolution::of(&self.unknowns, &DMatrix::from_fn(n, n, at)) else {
            design
                .reasons
                .push("a derivative is not finite: check scene and parameters".to_string());
            return design;
        };
        let Resolution { invisible, blind, errors, covariance } = resolution;
        for &i in invisible.iter().filter(|i| places.contains(i)) {
            design.reasons.push(format!("{} leaves no trace", self.unknowns[i].name));
        }
        let gone = design.reasons.len();
        for direction in blind.iter().filter(|d| places.iter().any(|&i| d[i] != 0.0)) {
            design.reasons.push(Combination::new(&self.unknowns, direction).sentence);
        }
        let mixed = |i: &&usize| blind.iter().any(|direction| direction[**i] != 0.0);
        design.open = gone + (design.reasons.len() - gone).min(places.iter().filter(mixed).count());
        design.standard_errors = places.iter().map(|&i| errors[i]).collect();
        // det of the information on the chosen ones = 1 / det of their part of the covariance
        let scale = |a: usize| self.unknowns[places[a]].scale;
        let part = DMatrix::from_fn(places.len(), places.len(), |a, b| {
            covariance[(places[a], places[b])] / (scale(a) * scale(b))
        });
        let logarithms = |diagonal: &mut dyn Iterator<Item = f64>| -> f64 {
            -2.0 * diagonal.map(f64::ln).sum::<f64>()
        };
        if design.open == 0
            && let Some(cholesky) = part.cholesky()
        {
            let determinant = logarithms(&mut cholesky.l().diagonal().iter().copied());
            (design.log_determinant, design.told) = (Some(determinant), determinant);
        } else {
            let told = design.standard_errors.iter().enumerate();
            design.told = logarithms(&mut told.filter_map(|(a, error)| Some((*error)? / scale(a))));
        }
        design
    }
}

impl Dataset {
    /// Instead of recordings, the motion that the scene of an experiment makes from its start under
    /// `parameters`, for `duration` s, with a frame every `substeps` steps of the scene (1 if the
    /// experiment says nothing): exact, and as much of it recorded as the experiment says. Sensors give zeros, which
    /// is all the same to what can be told.
    ///
    /// # Errors
    /// If that is less than one frame, or more than can be meant.
    pub fn planned(
        experiment: &Experiment,
        parameters: &Parameters<f64>,
        duration: f64,
    ) -> Result<Dataset, Error> {
        const MOST_STEPS: f64 = 1e6;
        let scene = &experiment.scene;
        let substeps = experiment.substeps.unwrap_or(1);
        let interval = scene.settings.time_step * substeps as f64;
        let frames = (duration / interval).round();
        let steps = frames * substeps as f64;
        if !(frames >= 1.0 && steps <= MOST_STEPS) {
            let message = format!(
                "a motion of {duration} s with a frame every {interval} s has {frames} frames and {steps} steps; it \
                 must have 1 to {MOST_STEPS:e} steps"
            );
            return Err(Error::input(&experiment.name, None, "duration", message));
        }
        if let Some(sensor) = experiment.masks.first() {
            let message = format!(
                "{}: what masks of a planned experiment would tell is not counted yet; leave the sensor out, or say what \
                 poses would tell",
                sensor.name
            );
            return Err(Error::input(&experiment.name, None, "sensor", message));
        }
        if let Some(input) = experiment.inputs.first() {
            let message = format!(
                "{}: what a planned experiment would record of it is not known; leave it out, and say in the scene what acts \
                 (`control`, `force`, [[push]])",
                input.name
            );
            return Err(Error::input(&experiment.name, None, "input", message));
        }
        let system = scene.system_with(parameters);
        let mut rollout = Rollout::new(system, scene.state.clone());
        let mut states = vec![scene.state.clone()];
        for _ in 0..frames as usize {
            rollout.advance(substeps, &scene.inputs);
            states.push(rollout.state.clone());
        }
        let times = (0..states.len()).map(|k| k as f64 * interval).collect();
        let recorded = experiment.columns.recorded();
        let name = format!("{} (planned)", experiment.name);
        let trajectory = Trajectory { name, times, states, recorded };
        // What the readings are does not matter to information, only that there are some.
        let channels: usize = experiment.sensors.iter().map(|sensor| sensor.channels()).sum();
        let readings = vec![vec![Some(0.0); channels]; trajectory.times.len()];
        let readings = if channels > 0 { vec![readings] } else { Vec::new() };
        let mut dataset = Dataset::with_readings(experiment, vec![trajectory], readings)?;
        // Exact states need no correction.
        dataset.velocity_lag = 0.0;
        Ok(dataset)
    }
}
