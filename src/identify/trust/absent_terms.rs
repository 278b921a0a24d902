//! Terms of contact and drag that a scene does not have, at numbers by which they do nothing: a score test says what each
//! would gain. Friction in an ellipse is not among them, as no recording is asked for its direction.

use crate::identify::experiment::Experiment;
use crate::model::{AddedTerm, ContactSolver, Parameters, SurfaceTerm};

/// How fast friction at rest is forgotten where nobody says it, m/s.
const STRIBECK_SPEED: f64 = 0.1;
/// Pairs beyond the first so many are left as they are.
const MOST_PAIRS: usize = 40;

/// A number that a scene does not have.
pub(super) struct AbsentTerm {
    /// What it will be called.
    pub name: String,
    /// What it takes.
    pub added: Vec<AddedTerm>,
}

/// What the scene of an experiment does not have, where its numbers are `now`.
pub(super) fn absent_terms(experiment: &Experiment, now: &Parameters<f64>) -> Vec<AbsentTerm> {
    let model = &experiment.scene.model;
    let mut found = Vec::new();
    let own = model.pairs.iter().enumerate().filter(|(_, pair)| pair.surfaces.is_none());
    for (index, pair) in own.take(MOST_PAIRS) {
        let mu = now.mu(model, index);
        let mut add = |field: &str, added: Vec<AddedTerm>| {
            found.push(AbsentTerm { name: format!("{}/{field}", pair.name), added });
        };
        if !pair.two_regimes && mu > 0.0 {
            let speed = AddedTerm::Surface(index, SurfaceTerm::StribeckSpeed, STRIBECK_SPEED);
            add("mu_static", vec![AddedTerm::StaticFriction(index, mu), speed]);
        }
        let couples = !matches!(experiment.scene.settings.solver, ContactSolver::Staggered { .. });
        for (term, counts) in [
            (SurfaceTerm::RestitutionFalloff, true),
            (SurfaceTerm::TorsionRadius, couples),
            (SurfaceTerm::RollingResistance, couples),
        ] {
            if counts && !pair.terms.has(term) {
                add(term.name(), vec![AddedTerm::Surface(index, term, 0.0)]);
            }
        }
    }
    let lone = model.trees.iter().filter(|tree| tree.lone).flat_map(|tree| &tree.bodies);
    let still = lone.filter(|&&body| model.drags.iter().all(|drag| drag.body != body));
    for &body in still {
        for field in ["linear", "quadratic"] {
            let name = format!("{}/drag/{field}", model.bodies[body].name);
            found.push(AbsentTerm { name, added: vec![AddedTerm::Drag(body)] });
        }
    }
    found
}

/// What several of them take, each once.
pub(super) fn together<'a>(terms: impl Iterator<Item = &'a AbsentTerm>) -> Vec<AddedTerm> {
    let mut all: Vec<AddedTerm> = Vec::new();
    for &added in terms.flat_map(|term| &term.added) {
        if !all.contains(&added) {
            all.push(added);
        }
    }
    all
}
