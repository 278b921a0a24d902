//! Terms of contact, round edges and drag that a scene does not have, at numbers by which they do nothing: a score test says what each
//! would gain.

use nalgebra::Vector3;

use crate::identify::experiment::Experiment;
use crate::model::{
    AddedTerm, ContactSolver, Grain, Model, Pair, Parameters, RestitutionLaw, SurfaceTerm,
};

/// How fast friction at rest is forgotten where nobody says it, m/s.
const STRIBECK_SPEED: f64 = 0.1;
/// Pairs beyond the first so many are left as they are.
const MOST_PAIRS: usize = 40;

/// Shapes with sharp edges beyond the first so many are left as they are.
const MOST_ROUNDED: usize = 10;

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
        if mu > 0.0 && pair.grain.is_none() {
            let across = AddedTerm::Surface(index, SurfaceTerm::MuAcross, mu);
            add("mu_across", vec![AddedTerm::Grain(index, grain(model, pair)), across]);
        }
        let settings = &experiment.scene.settings;
        let softens = !settings.split_impacts && settings.restitution_law == RestitutionLaw::Newton;
        let solver = experiment.scene.settings.solver;
        let couples = !matches!(solver, ContactSolver::Staggered { .. }) && !solver.is_penalty();
        for (term, counts) in [
            (SurfaceTerm::RestitutionFalloff, true),
            (SurfaceTerm::Softness, softens && !pair.terms.has(SurfaceTerm::Stiffness)),
            (SurfaceTerm::DampingTime, pair.terms.has(SurfaceTerm::Softness)),
            (SurfaceTerm::Damping, pair.terms.has(SurfaceTerm::Stiffness)),
            (SurfaceTerm::TorsionRadius, couples),
            (SurfaceTerm::RollingResistance, couples),
        ] {
            if counts && !pair.terms.has(term) {
                add(term.name(), vec![AddedTerm::Surface(index, term, 0.0)]);
            }
        }
    }
    // Edges of what bodies touch with.
    let sharp = model.colliders.iter().enumerate().filter(|(_, own)| own.can_be_rounded());
    for (index, collider) in sharp.filter(|(_, own)| own.body.is_some()).take(MOST_ROUNDED) {
        let name = format!("{}/radius", collider.name);
        found.push(AbsentTerm { name, added: vec![AddedTerm::Rounding(index)] });
    }
    let lone = model.trees.iter().filter(|tree| tree.lone).flat_map(|tree| &tree.bodies);
    let still = lone.filter(|&&body| {
        !model.is_prescribed(body) && model.drags.iter().all(|drag| drag.body != body)
    });
    for &body in still {
        for field in ["linear", "quadratic"] {
            let name = format!("{}/drag/{field}", model.bodies[body].name);
            found.push(AbsentTerm { name, added: vec![AddedTerm::Drag(body)] });
        }
    }
    found
}

/// The direction in which friction is tried apart: the first axis of what is not round, which turns with it; for what is round of the
/// other solid, which is often the world.
fn grain(model: &Model, pair: &Pair) -> Grain {
    let round = model.colliders[pair.second].shape.is_round();
    Grain { side: usize::from(!round), axis: Vector3::x() }
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
