//! What recordings can tell of the parameters of an experiment, said before anything is fitted.
use super::Combination;
use super::fixed_inertia::{self, MassOverInertia};
use super::information::{Information, Resolution};
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::identify::search::ShortFit;
use crate::simulation::StepReport;
use crate::state::State;

/// How well a parameter shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Its standard error will be within its bounds.
    Visible,
    /// Its standard error will be wider than its bounds.
    Weak,
    /// Only together with others.
    Combined,
    /// Not at all.
    Invisible,
}

impl Visibility {
    /// The name used in results.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Visible => "visible",
            Visibility::Weak => "weak",
            Visibility::Combined => "combined",
            Visibility::Invisible => "invisible",
        }
    }
}

/// What is to be expected of a parameter, in its own unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Its name.
    pub name: String,
    /// The value at which it was asked.
    pub value: f64,
    /// How well it shows in the recordings, priors aside.
    pub visibility: Visibility,
    /// Its standard error for the stated noise, from recordings and priors; nothing if these leave it
    /// open.
    pub standard_error: Option<f64>,
    /// The same if all others were known; infinite if it leaves no trace.
    pub alone: f64,
    /// How far apart its bounds are; ten typical changes where one is missing.
    pub width: f64,
}

impl Expected {
    /// Whether it can be told, by recordings and priors.
    pub fn is_told(&self) -> bool {
        self.standard_error.is_some_and(|error| error <= self.width)
    }
}

/// What recordings can tell near given values.
#[derive(Clone, Debug)]
pub struct Observability {
    /// The free parameters.
    pub parameters: Vec<Expected>,
    /// See [`Information::singular_values`].
    pub singular_values: Vec<f64>,
    /// What leaves no trace, though each of its parameters does.
    pub combinations: Vec<Combination>,
    /// Masses of which only the ratio to an inertia shows that the scene holds fixed.
    pub masses_over_inertia: Vec<MassOverInertia>,
    /// Mean of the squared residuals there; 1 is noise alone.
    pub loss: f64,
    /// How the contact problems were solved there.
    pub report: StepReport,
    /// All that is not well, in sentences.
    pub remarks: Vec<String>,
}

impl Observability {
    /// Asks near `values` of all parameters; see [`Information::at`]. Nothing is fitted.
    pub fn at(
        experiment: &Experiment,
        dataset: &Dataset,
        values: &[f64],
        threads: usize,
    ) -> Observability {
        Observability::around(experiment, dataset, values, None, threads)
    }

    /// Asks where a short fit led; the loss is that of the recordings it looked at.
    pub fn after(
        experiment: &Experiment,
        dataset: &Dataset,
        fit: &ShortFit,
        threads: usize,
    ) -> Observability {
        let initial = Some(fit.initial_states.as_slice());
        let found = Observability::around(experiment, dataset, &fit.values, initial, threads);
        Observability { loss: fit.loss, ..found }
    }

    fn around(
        experiment: &Experiment,
        dataset: &Dataset,
        values: &[f64],
        initial: Option<&[State<f64>]>,
        threads: usize,
    ) -> Observability {
        let (information, ratios) =
            fixed_inertia::information(experiment, dataset, values, initial, threads);
        let mut found = Observability::of(&information);
        found.remarks.extend(ratios.iter().map(|ratio| ratio.sentence.clone()));
        found.masses_over_inertia = ratios;
        found
    }

    /// What an information matrix lets expect; what fixed numbers have to do with it, it does not know.
    pub fn of(information: &Information) -> Observability {
        let Information { unknowns, recordings, priors, loss, report } = information;
        let own = Resolution::of(unknowns, recordings);
        let all = Resolution::of(unknowns, &(recordings + priors));
        let combinations: Vec<Combination> = own
            .iter()
            .flat_map(|own| &own.blind)
            .map(|direction| Combination::new(unknowns, direction))
            .collect();
        let parameters: Vec<Expected> = unknowns
            .iter()
            .enumerate()
            .map(|(i, unknown)| {
                let error = own.as_ref().and_then(|own| own.errors[i]);
                let visibility = match (&own, error) {
                    (_, Some(error)) if error <= unknown.width => Visibility::Visible,
                    (_, Some(_)) => Visibility::Weak,
                    (Some(own), None) if !own.invisible.contains(&i) => Visibility::Combined,
                    _ => Visibility::Invisible,
                };
                Expected {
                    name: unknown.name.clone(),
                    value: unknown.value,
                    visibility,
                    standard_error: all.as_ref().and_then(|all| all.errors[i]),
                    alone: recordings[(i, i)].max(0.0).sqrt().recip(),
                    width: unknown.width,
                }
            })
            .collect();
        let mut remarks = Vec::new();
        if own.is_none() {
            remarks.push(
                "a residual or a derivative is not finite: check the scene, these values and the bounds"
                    .to_string(),
            );
        }
        for p in parameters.iter().filter(|_| own.is_some()) {
            let prior = if p.is_told() { "; its prior alone tells it" } else { "" };
            match p.visibility {
                Visibility::Invisible => {
                    remarks.push(format!("{} leaves no trace in the recordings{prior}", p.name));
                }
                Visibility::Weak => remarks.push(format!(
                    "{} shows only weakly: its standard error will be as wide as its bounds, {:.3}, or \
                     wider{prior}",
                    p.name, p.width
                )),
                Visibility::Combined | Visibility::Visible => {}
            }
        }
        for combination in &combinations {
            let told = |(name, _): &(String, f64)| {
                parameters.iter().any(|p| p.name == *name && p.is_told())
            };
            let advice = match combination.changes.iter().all(told) {
                true => "priors alone tell them apart",
                false => "fix one of them, give it a prior, or record another kind of motion",
            };
            remarks.push(format!("{}; {advice}", combination.sentence));
        }
        let singular_values = information.singular_values();
        let (loss, report) = (*loss, *report);
        let masses_over_inertia = Vec::new();
        Observability {
            parameters,
            singular_values,
            combinations,
            masses_over_inertia,
            loss,
            report,
            remarks,
        }
    }

    /// Whether recordings and priors tell all parameters.
    pub fn is_complete(&self) -> bool {
        self.parameters.iter().all(Expected::is_told)
    }
}
