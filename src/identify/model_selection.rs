//! Competing models of the same recordings: which explains those better that it was not fitted to.

use std::collections::BTreeMap;

use super::cross_validation::{Judged, distinct, folds, judged, of_originals, started_at};
use super::data::Dataset;
use super::experiment::{Experiment, InitialState};
use super::search::{Fit, FitStatus, Problem};
use super::statistics::{holm, p_value};
use super::trust::{PairedDifference, RolloutStart, TrajectoryError, evaluate_from};
use crate::Error;
use crate::fnv::Fnv;

/// Folds where nothing is said.
pub const FOLDS: usize = 5;
/// Fewest recordings, apart from copies, of which some judge fits to the others.
const FEWEST: usize = 4;
/// Squares of residuals below this are those of recordings without noise.
const EXACT: f64 = 1e-12;
/// A difference that chance makes less often than this is told.
const TOLD: f64 = 0.05;

/// A model with its recordings, and its fit to all of them.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The model.
    pub experiment: Experiment,
    /// The recordings, the same for all.
    pub dataset: Dataset,
    /// The fit.
    pub fit: Fit,
}

/// How two models do on recordings that they were not fitted to.
#[derive(Clone, Debug)]
pub struct ModelPair {
    /// The model with less loss, by its place among all.
    pub better: usize,
    /// The other one.
    pub other: usize,
    /// Logarithms of the loss of each recording, of the other one before and of the better one now. Its standard error, as
    /// those of the errors below, is of recordings that are judged by fits which err alike (`Nadeau03`).
    pub loss: PairedDifference,
    /// Errors of positions, %, likewise; nothing where none is recorded.
    pub position: Option<PairedDifference>,
    /// Errors of rotations, degrees.
    pub rotation: Option<PairedDifference>,
    /// How likely chance makes as much between models that are as good.
    pub p_value: f64,
    /// The same of all neighbours in the ranking together; nothing of others.
    pub adjusted_p_value: Option<f64>,
}

impl ModelPair {
    /// Whether one is better, beyond what chance makes (95 %, of neighbours all together).
    pub fn is_told(&self) -> bool {
        self.adjusted_p_value.unwrap_or(self.p_value) < TOLD
    }
}

/// Models from the best to the worst, and how sure that is.
#[derive(Clone, Debug)]
pub struct ModelSelection {
    /// Recordings, apart from copies.
    pub recordings: usize,
    /// Each was judged by a fit to all folds but its own.
    pub folds: usize,
    /// The geometric mean of the losses of all recordings, of each model; nothing of one without a fit to judge.
    pub losses: Vec<Option<f64>>,
    /// The models by their places, the best first; those without a fit last.
    pub ranking: Vec<usize>,
    /// All pairs of models that have fits, in the order of the ranking.
    pub pairs: Vec<ModelPair>,
}

/// What each model is compared by: an error unless losses of all mean the same, and there are enough recordings.
///
/// # Errors
/// Which model differs from the first one, and in what.
pub fn demand_comparable(models: &[(&Experiment, &Dataset)]) -> Result<(), Error> {
    let [first, others @ ..] = models else { return Ok(()) };
    let known = first.1.originals();
    for other in others {
        if let Some((field, what)) = difference(*first, *other) {
            let message = format!(
                "{what} than in {}: losses can be compared only where recordings, what is measured, and the noise are \
                 the same",
                first.0.name
            );
            return Err(Error::input(&other.0.name, None, field, message));
        }
    }
    let count = distinct(&known);
    if count < FEWEST {
        let message = format!(
            "{count} recordings that differ are too few to compare models: some have to judge fits to the others; give \
             {FEWEST} or more"
        );
        return Err(Error::input(&first.0.name, None, "data", message));
    }
    Ok(())
}

/// What of two experiments is not the same: the field, and how to say it.
fn difference(
    (one, recordings): (&Experiment, &Dataset),
    (other, its): (&Experiment, &Dataset),
) -> Option<(&'static str, String)> {
    let named = |dataset: &Dataset| -> Vec<String> {
        dataset.trajectories.iter().map(|t| t.name.clone()).collect()
    };
    if recordings.trajectories.len() != its.trajectories.len() {
        let (own, all) = (its.trajectories.len(), recordings.trajectories.len());
        return Some(("data", format!("has {own} recordings, not {all}: other ones")));
    }
    let hashes = measured(one, recordings);
    for (k, own) in measured(other, its).iter().enumerate() {
        if *own != hashes[k] {
            let (name, before) = (&named(its)[k], &named(recordings)[k]);
            let message = match name == before {
                true => format!("reads {name} otherwise, or other numbers of it,"),
                false => format!("has the recording {name} where {before} is: other ones"),
            };
            return Some(("data", message));
        }
    }
    let joints = |experiment: &Experiment| -> BTreeMap<String, String> {
        let bodies = &experiment.scene.model.bodies;
        let own = experiment.joint_noise.iter();
        own.map(|(k, noise)| (bodies[*k].name.clone(), format!("{noise:?}"))).collect()
    };
    let sensors = |experiment: &Experiment| -> String {
        let said = experiment.sensors.iter().map(|sensor| {
            let kind = std::mem::discriminant(&sensor.reads);
            let times = sensor.delay_range;
            format!("{}{kind:?}{:?}{}{times:?}", sensor.name, sensor.columns, sensor.factor)
        });
        let cameras = experiment.masks.iter().map(|mask| format!("{}{}", mask.name, mask.column));
        said.chain(cameras).collect()
    };
    let channels = |experiment: &Experiment| -> Vec<f64> {
        let sensors = experiment.sensors.iter().map(|sensor| sensor.noise);
        sensors.chain(experiment.masks.iter().map(|mask| mask.noise)).collect()
    };
    let fields = [
        ("sensor", "has other sensors", sensors(one) != sensors(other)),
        ("noise", "has another noise", one.noise != other.noise || joints(one) != joints(other)),
        ("sensor.noise", "has another noise of sensors", channels(one) != channels(other)),
        ("loss", "has another loss", format!("{:?}", one.robust) != format!("{:?}", other.robust)),
        ("window", "has other windows", recordings.windows != its.windows),
        ("initial_state", "starts windows otherwise", one.initial_state != other.initial_state),
        ("velocity_lag", "has another velocity_lag", one.velocity_lag != other.velocity_lag),
        ("length_scale", "has another length_scale", one.length_scale != other.length_scale),
    ];
    let found = fields.into_iter().find(|(.., differs)| *differs);
    if let Some((field, what, _)) = found {
        return Some((field, what.to_string()));
    }
    let numbers = |experiment: &Experiment, dataset: &Dataset| {
        Problem::new(experiment, dataset, 1).residual_count()
    };
    let (before, now) = (numbers(one, recordings), numbers(other, its));
    (before != now)
        .then(|| ("", format!("compares {now} numbers of the recordings, not {before}: others")))
}

/// A hash of what was measured in each recording, by the names of bodies.
fn measured(experiment: &Experiment, dataset: &Dataset) -> Vec<u64> {
    let mut bodies: Vec<_> = experiment.scene.model.bodies.iter().collect();
    bodies.sort_by(|a, b| a.name.cmp(&b.name));
    dataset.each_recording("what was measured", 1, |recording| {
        let trajectory = &dataset.trajectories[recording];
        let mut hash = Fnv::default();
        hash.add(&Fnv::of(&trajectory.times).to_le_bytes());
        for body in &bodies {
            let joint = &body.joint;
            let (q, v) = (joint.q..joint.q + joint.kind.nq(), joint.v..joint.v + joint.kind.nv());
            let recorded = &trajectory.recorded;
            if !(recorded.q[q.clone()].contains(&true) || recorded.v[v.clone()].contains(&true)) {
                continue;
            }
            hash.add(format!("{}{}", body.name, joint.kind.name()).as_bytes());
            for (frame, state) in trajectory.states.iter().enumerate() {
                let known = recorded.at(frame);
                let places = q.clone().map(|k| (known.q(k), state.q[k]));
                for (known, x) in places.chain(v.clone().map(|k| (known.v(k), state.v[k]))) {
                    // 0 and -0 are the same.
                    let bits = if known { (x + 0.0).to_bits() } else { u64::MAX };
                    hash.add(&bits.to_le_bytes());
                }
            }
        }
        hash.add(format!("{:?}", dataset.readings.get(recording)).as_bytes());
        for mask in dataset.masks.get(recording).into_iter().flatten().flatten() {
            hash.add(&[u8::from(mask.is_some())]);
            mask.iter().for_each(|mask| mask.bytes(&mut |bytes| hash.add(bytes)));
        }
        hash.value()
    })
}

/// What is known of a model on recordings that it was not fitted to: of those that are no copies.
struct HeldOutErrors {
    losses: Vec<f64>,
    position: Vec<f64>,
    rotation: Vec<f64>,
}

/// Compares models of the same recordings ([`demand_comparable`]) by cross-validation: each recording is judged by fits to all
/// folds but its own, of which there are `count` (at most as many as there are recordings, apart from copies, which are in the
/// fold of what they are copies of). Each fit begins at that to all. `watch` is told of each model, and may end it by returning
/// false: then nothing is returned.
///
/// # Errors
/// Those of [`demand_comparable`], and what ends the work of several processes.
pub fn compare_models(
    models: &[Contender],
    count: usize,
    threads: usize,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<ModelSelection>, Error> {
    let pairs: Vec<_> = models.iter().map(|model| (&model.experiment, &model.dataset)).collect();
    demand_comparable(&pairs)?;
    let Some(first) = models.first() else { return Ok(None) };
    let originals = first.dataset.originals();
    let recordings = distinct(&originals);
    let folds_of = folds(&originals, count.clamp(2, recordings));
    let mut errors = Vec::new();
    for (number, model) in models.iter().enumerate() {
        if !first.dataset.group().agreed(watch(number)) {
            return Ok(None);
        }
        errors.push(held_out(model, &folds_of, &originals, threads));
        model.dataset.demand_agreement()?;
    }
    let mean = |own: &HeldOutErrors| own.losses.iter().sum::<f64>() / recordings as f64;
    let means: Vec<Option<f64>> = errors.iter().map(|own| own.as_ref().map(mean)).collect();
    let mut ranking: Vec<usize> = (0..models.len()).collect();
    let key = |k: usize| means[k].unwrap_or(f64::INFINITY);
    ranking.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    let folds = folds_of.iter().max().map_or(0, |last| last + 1);
    let mut pairs = Vec::new();
    let paired = |before: &[f64], now: &[f64]| {
        let mut pairs = PairedDifference::new(before, now)?;
        pairs.standard_error = pairs.standard_error.map(|error| error * shared_fits(folds));
        Some(pairs)
    };
    for (place, &better) in ranking.iter().enumerate() {
        for &other in &ranking[place + 1..] {
            let (Some(now), Some(before)) = (&errors[better], &errors[other]) else { continue };
            let Some(loss) = paired(&before.losses, &now.losses) else { continue };
            pairs.push(ModelPair {
                better,
                other,
                loss,
                position: paired(&before.position, &now.position),
                rotation: paired(&before.rotation, &now.rotation),
                p_value: by_chance(&loss),
                adjusted_p_value: None,
            });
        }
    }
    let is_neighbour = |pair: &&mut ModelPair| {
        ranking.windows(2).any(|two| two[0] == pair.better && two[1] == pair.other)
    };
    let mut neighbours: Vec<&mut ModelPair> = pairs.iter_mut().filter(is_neighbour).collect();
    let own: Vec<f64> = neighbours.iter().map(|pair| pair.p_value).collect();
    let adjusted = holm(&own).into_iter().map(Some);
    neighbours.iter_mut().zip(adjusted).for_each(|(pair, own)| pair.adjusted_p_value = own);
    let losses = means.into_iter().map(|mean| mean.map(f64::exp)).collect();
    Ok(Some(ModelSelection { recordings, folds, losses, ranking, pairs }))
}

/// Recordings are judged by fits that share most of what they are fitted to, and err alike: by how much that makes standard errors
/// larger than those of differences that are independent (`Nadeau03`).
fn shared_fits(folds: usize) -> f64 {
    let folds = folds.max(2) as f64;
    (1.0 + folds / (folds - 1.0)).sqrt()
}

/// How likely chance makes as much of a mean difference.
fn by_chance(pairs: &PairedDifference) -> f64 {
    match pairs.standard_error {
        _ if pairs.difference == 0.0 => 1.0,
        Some(error) if error > 0.0 => p_value(pairs.difference / error, pairs.count - 1),
        Some(_) => 0.0,
        None => 1.0,
    }
}

fn held_out(
    model: &Contender,
    folds: &[usize],
    originals: &[usize],
    threads: usize,
) -> Option<HeldOutErrors> {
    let Contender { experiment, dataset, fit } = model;
    if fit.status == FitStatus::Infeasible || !fit.loss.is_finite() {
        return None;
    }
    let start = match experiment.initial_state {
        InitialState::Recorded => RolloutStart::Recorded,
        InitialState::Flight | InitialState::Fitted => RolloutStart::Flight,
    };
    let Judged { losses, found } =
        judged(&started_at(experiment, fit), dataset, fit, folds, threads)?;
    // What is below is rounding, and no model is better by it.
    let least = |loss: &f64| loss.max(EXACT.ln());
    let losses: Vec<f64> = losses.iter().map(least).collect();
    let mut errors = vec![[None; 2]; dataset.trajectories.len()];
    for (fold, parameters) in found.iter().enumerate() {
        let evaluation = evaluate_from(experiment, dataset, parameters, start, threads);
        let of = |t: &TrajectoryError| [t.position_error_percent, t.rotation_error_deg];
        let all = errors.iter_mut().zip(&evaluation.trajectories).enumerate();
        all.filter(|(k, _)| folds[*k] == fold).for_each(|(_, (own, t))| *own = of(t));
    }
    let errors = of_originals(originals, &errors);
    let kind = |place: usize| errors.iter().filter_map(|own| own[place]).collect();
    let losses = of_originals(originals, &losses);
    Some(HeldOutErrors { losses, position: kind(0), rotation: kind(1) })
}
