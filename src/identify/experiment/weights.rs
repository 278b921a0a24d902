//! The weights of learned terms as parameters: many numbers under one name, known beforehand to be small.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::parameter::is_weight;
use super::{Experiment, FreeParameter, Prior};
use crate::Error;
use crate::model::{LearnedKind, LearnedTerm, ParameterRef, Scene};
use crate::state::State;
use crate::table::Table;

/// Standard deviation of a weight beforehand, where the experiment says nothing.
const SPREAD: f64 = 3.0;
/// What varies by less, m, rad, m/s or rad/s, is taken to stand still.
const LEAST_WIDTH: f64 = 1e-9;
/// The size of the first weights of hidden layers: over inputs from -1 to 1 their numbers then differ from each other.
const GAIN: f64 = 4.0;
/// The size of the last weights of a term to begin with that has no slope where they are nothing.
const SMALL: f64 = 0.1;

/// The term whose weights a `[[parameter]]` table names, if it does.
pub(super) fn of_term(table: &Table, scene: &Scene) -> Result<Option<usize>, Error> {
    let Some(name) = table.string("name")? else { return Ok(None) };
    let all = name.rsplit_once('/').map_or("", |(all, _)| all);
    if is_weight(name) && scene.model.weights_named(all).is_some() {
        let message = format!(
            "is one of many that have no meaning alone: name {all:?}, which is all of them"
        );
        return Err(table.error("name", message));
    }
    Ok(scene.model.weights_named(name))
}

/// Reads a `[[parameter]]` table of the weights of a term.
pub(super) fn read(table: &Table, scene: &Scene, term: usize) -> Result<Vec<FreeParameter>, Error> {
    for field in ["full", "tied", "start", "lower", "upper", "scale", "transform"] {
        if table.has(field) {
            let message = "has no meaning for weights: they have no bounds, and start where the scene has them, or at random";
            return Err(table.error(field, message));
        }
    }
    let mut sd = SPREAD;
    if let Some(prior) = table.table("prior")? {
        prior.only(&["sd"])?;
        sd = prior.required("sd", prior.number("sd")?)?;
        prior.demand("sd", sd > 0.0, "must be positive", sd, "")?;
    }
    let fixed = table.boolean("fixed")?.unwrap_or(false);
    let name = &scene.model.learned[term].name;
    let weights = scene.model.weight_slots(term).enumerate().map(|(k, slot)| {
        let slots = ParameterRef { slots: vec![slot] };
        let start = scene.parameters.values[slot];
        let bounds = [f64::NEG_INFINITY, f64::INFINITY];
        let own = FreeParameter::new(&format!("{name}/weights/{k}"), slots, start, bounds);
        FreeParameter { scale: 1.0, prior: Some(Prior { mean: start, sd }), fixed, ..own }
    });
    Ok(weights.collect())
}

/// Whether a term has no weights yet.
fn is_blank(scene: &Scene, term: usize) -> bool {
    scene.parameters.weights(&scene.model, term).iter().all(|&x| x == 0.0)
}

impl Experiment {
    /// Lets terms that have no weights yet and are searched for start at random, by the seed of the experiment: with last
    /// weights of nothing, so that they do nothing, but of viscous friction, which has no slope there.
    pub fn draw_weights(&mut self) {
        for term in 0..self.scene.model.learned.len() {
            if !is_blank(&self.scene, term) {
                continue;
            }
            let own_term = &self.scene.model.learned[term];
            let LearnedTerm { network, kind, .. } = own_term;
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(term as u64);
            let mut weights = network.random(&mut random);
            let mut scales = vec![1.0; weights.len()];
            let (inputs, hidden) = (network.inputs(), network.sizes()[1]);
            if network.sizes().len() > 2 {
                let (matrix, biases) = weights.split_at_mut(inputs * hidden);
                let (matrix_scales, bias_scales) = scales.split_at_mut(inputs * hidden);
                let rows = matrix.chunks_exact_mut(inputs);
                let rows = rows.zip(matrix_scales.chunks_exact_mut(inputs));
                for ((row, row_scales), (bias, scale)) in
                    rows.zip(biases.iter_mut().zip(bias_scales))
                {
                    *bias *= GAIN;
                    for (input, (x, own)) in row.iter_mut().zip(row_scales).enumerate() {
                        let [middle, half] = own_term.span(input);
                        *own = half.recip();
                        *x *= GAIN / half;
                        *bias -= *x * middle;
                        *scale += (middle / half).abs();
                    }
                }
            }
            let before_last = network.sizes()[network.sizes().len() - 2];
            let last = weights.len() - network.outputs() * (1 + before_last);
            let shrink = if *kind == LearnedKind::Dissipation { SMALL } else { 0.0 };
            weights[last..].iter_mut().for_each(|x| *x *= shrink);
            let slots = self.scene.model.weight_slots(term);
            for parameter in self.parameters.iter_mut().filter(|p| !p.fixed) {
                let own = parameter.slots.slots[0].checked_sub(slots.start);
                let Some(own) = own.filter(|&own| own < weights.len()) else { continue };
                parameter.start = weights[own];
                if let Some(prior) = &mut parameter.prior {
                    prior.mean = weights[own];
                    prior.sd *= scales[own] / parameter.scale;
                }
                parameter.scale = scales[own];
            }
        }
    }

    /// Takes what these recorded `states` visit for the range of terms without weights whose scene says none, and lets these start
    /// accordingly.
    pub fn take_ranges<'a>(&mut self, states: impl Iterator<Item = &'a State<f64>> + Clone) {
        self.take_ranges_among(states, |range| range);
    }

    /// [`take_ranges`](Self::take_ranges) of what several processes have, each its `states`: `among` makes ranges of all of what one has.
    pub(crate) fn take_ranges_among<'a>(
        &mut self,
        states: impl Iterator<Item = &'a State<f64>> + Clone,
        among: impl Fn(Vec<[f64; 2]>) -> Vec<[f64; 2]>,
    ) {
        for term in 0..self.scene.model.learned.len() {
            if !is_blank(&self.scene, term) || !self.scene.model.learned[term].range.is_empty() {
                continue;
            }
            let own = &mut self.scene.model.learned[term];
            let mut range = Vec::new();
            for place in 0..own.of.len() {
                let values = states.clone().filter_map(|state| own.quantity_in(place, state));
                let values = values.filter(|x| x.is_finite());
                let ends = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| {
                    [least.min(x), most.max(x)]
                });
                range.push(ends);
            }
            let range = among(range);
            // What no recording says, or what never changes, has no range.
            let varies = |&[least, most]: &[f64; 2]| {
                LearnedTerm::is_range([least, most]) && most - least > LEAST_WIDTH
            };
            if range.iter().all(varies) {
                own.range = range;
            }
        }
        self.draw_weights();
    }
}
