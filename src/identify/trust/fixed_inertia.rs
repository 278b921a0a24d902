//! Masses of which recordings tell only the ratio to an inertia that the scene holds fixed.
//!
//! Gravity and Coulomb friction scale with the mass: if all masses and inertias are scaled by one factor, and with them
//! whatever else has kilograms in its unit, all motions stay the same. Where no force of known size acts, and no
//! other mass is known, a mass is told only because an inertia is held: a wrong one makes the mass wrong by the same
//! factor. Here that inertia is freed in one factor for each body, and what leaves no trace then is looked at.

use nalgebra::{DMatrix, DVector};

use super::combination::{list, same};
use super::information::{Information, Resolution, Unknown};
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, FreeParameter};
use crate::identify::search::Fit;
use crate::model::{ParameterRef, Parameters};
use crate::state::State;

/// Free parameters, a mass among them, that recordings tell only in proportion to inertias that are held fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct MassOverInertia {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// The bodies whose inertia is held.
    pub bodies: Vec<String>,
    /// All of this as a sentence.
    pub sentence: String,
}

/// What the inertia of a body has fixed while its mass is free.
struct Held {
    body: String,
    /// Places among the parameters of the scene, and what stands there; none is 0.
    numbers: Vec<(usize, f64)>,
}

/// The information near `values` (see [`Information::at`]), and the masses that it tells by an inertia that is held.
pub(super) fn information(
    experiment: &Experiment,
    dataset: &Dataset,
    values: &[f64],
    initial: Option<&[State<f64>]>,
    threads: usize,
) -> (Information, Vec<MassOverInertia>) {
    let held = held(experiment, values);
    let numbers: Vec<(usize, f64)> = held.iter().flat_map(|held| held.numbers.clone()).collect();
    let mut values = values.to_vec();
    let mut freed = experiment.clone();
    for &(slot, value) in &numbers {
        let slots = ParameterRef { slots: vec![slot] };
        let unbounded = [f64::NEG_INFINITY, f64::INFINITY];
        freed.parameters.push(FreeParameter::new("", slots, value, unbounded));
        values.push(value);
    }
    let mut all = Information::around(&freed, dataset, &values, initial, threads);
    let own = all.unknowns.len() - numbers.len();
    let factors = factors(&held, own);
    let mut unknowns = all.unknowns.clone();
    unknowns.truncate(own);
    unknowns.extend(held.iter().map(Held::factor));
    let found = match held.is_empty() {
        true => Vec::new(),
        false => ratios(&unknowns, own, &(factors.tr_mul(&all.recordings) * &factors)),
    };
    all.unknowns.truncate(own);
    for matrix in [&mut all.recordings, &mut all.priors] {
        *matrix = matrix.view((0, 0), (own, own)).into_owned();
    }
    (all, found)
}

/// The masses that a fit has found only in proportion to an inertia that is held: sentences.
pub fn masses_over_inertia(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
) -> Vec<String> {
    let values: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
    if held(experiment, &values).is_empty() {
        return Vec::new();
    }
    let initial = Some(fit.initial_states.as_slice());
    let (_, found) = information(experiment, dataset, &values, initial, threads);
    found.into_iter().map(|found| found.sentence).collect()
}

/// What inertias have fixed of bodies whose masses are free. Sizes count as they are in the scene.
fn held(experiment: &Experiment, values: &[f64]) -> Vec<Held> {
    let Experiment { scene, parameters, .. } = experiment;
    let mut now: Parameters<f64> = scene.parameters.clone();
    for (parameter, &value) in parameters.iter().zip(values) {
        parameter.set(if parameter.fixed { parameter.start } else { value }, &mut now);
    }
    let slot =
        |name: &str| scene.model.parameter(name).and_then(|found| found.slots.first().copied());
    let free = |slot: usize| parameters.iter().any(|p| !p.fixed && p.slots.slots.contains(&slot));
    let bodies = scene.model.bodies.iter().filter_map(|body| {
        let name = &body.name;
        slot(&format!("{name}/mass")).filter(|&mass| free(mass))?;
        let fields = ["xx", "yy", "zz", "xy", "xz", "yz"];
        let slots = fields.iter().filter_map(|field| slot(&format!("{name}/inertia/{field}")));
        let fixed = slots.filter(|&slot| !free(slot)).map(|slot| (slot, now.values[slot]));
        let numbers: Vec<(usize, f64)> = fixed.filter(|(_, x)| *x != 0.0).collect();
        (!numbers.is_empty()).then(|| Held { body: name.clone(), numbers })
    });
    bodies.collect()
}

impl Held {
    /// The factor by which it changes, as an unknown.
    fn factor(&self) -> Unknown {
        let name = self.body.clone();
        Unknown { name, value: 1.0, scale: 1.0, width: 10.0, keeps_sign: true }
    }
}

/// The change of parameters and held numbers, in rows, with each parameter and each factor of an inertia.
fn factors(held: &[Held], own: usize) -> DMatrix<f64> {
    let count = held.iter().map(|held| held.numbers.len()).sum::<usize>();
    let mut factors = DMatrix::identity(own + count, own + held.len());
    factors.view_mut((own, own), (count, held.len())).fill(0.0);
    let mut row = own;
    for (column, held) in held.iter().enumerate() {
        for &(_, value) in &held.numbers {
            factors[(row, own + column)] = value;
            row += 1;
        }
    }
    factors
}

/// The directions without a trace in which the factor of an inertia, which stand behind the `own` parameters, and
/// parameters grow by the same share.
fn ratios(unknowns: &[Unknown], own: usize, matrix: &DMatrix<f64>) -> Vec<MassOverInertia> {
    let blind = Resolution::of(unknowns, matrix).map_or(Vec::new(), |found| found.blind);
    let of_direction = |direction: &DVector<f64>| {
        let parts: Vec<(&Unknown, f64)> =
            unknowns.iter().zip(direction.iter().copied()).filter(|(_, x)| *x != 0.0).collect();
        let share = |(unknown, x): &(&Unknown, f64)| x / unknown.value;
        let first = share(parts.first()?);
        if !parts.iter().all(|part| same(share(part), first)) {
            return None;
        }
        let names = |places: std::ops::Range<usize>| -> Vec<String> {
            let seen = places.filter(|&i| direction[i] != 0.0);
            seen.map(|i| unknowns[i].name.clone()).collect()
        };
        let (parameters, bodies) = (names(0..own), names(own..unknowns.len()));
        let of_mass = parameters.iter().any(|name| name.ends_with("/mass"));
        (of_mass && !bodies.is_empty()).then(|| MassOverInertia::new(parameters, bodies))
    };
    blind.iter().filter_map(of_direction).collect()
}

impl MassOverInertia {
    fn new(parameters: Vec<String>, bodies: Vec<String>) -> MassOverInertia {
        let masses: Vec<&str> =
            parameters.iter().map(String::as_str).filter(|name| name.ends_with("/mass")).collect();
        let inertias: Vec<String> = bodies.iter().map(|body| format!("{body}/inertia")).collect();
        let sentence = format!(
            "what the recordings tell of {} is the ratio to the inertia that the scene holds fixed ({}): all scaled by \
             one factor leave no trace; if that inertia is not known, neither is {}. Weigh the body, fix its mass and \
             free its inertia, or record a motion under a force of known size",
            list(&parameters),
            list(&inertias),
            list(&masses),
        );
        MassOverInertia { parameters, bodies, sentence }
    }
}
