//! What is learned, as a file.

use std::path::Path;

use stiction::learn::{
    Activation, Chunks, LearnedSystem, Network, TrainingSettings, TrainingState,
};
use stiction::maximal::{Formulation, ImpactRule, PointParameters, PointScene, PointSystem};

use crate::Failure;
use crate::arrays::{Archive, vector, write};

/// Which model of [Zhong21].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    CmLagrangian,
    CmHamiltonian,
    CmrLagrangian,
    CmrHamiltonian,
}

/// CMr's epsilon (1/kg).
const EPSILON: f64 = 0.01;

impl Model {
    pub const ALL: [Model; 4] =
        [Model::CmLagrangian, Model::CmHamiltonian, Model::CmrLagrangian, Model::CmrHamiltonian];

    pub fn name(self) -> &'static str {
        match self {
            Model::CmLagrangian => "CM-CLNN",
            Model::CmHamiltonian => "CM-CHNN",
            Model::CmrLagrangian => "CMr-CLNN",
            Model::CmrHamiltonian => "CMr-CHNN",
        }
    }

    /// By its name, or all.
    pub fn parse(name: &str) -> Result<Vec<Model>, Failure> {
        if name == "all" {
            return Ok(Model::ALL.to_vec());
        }
        let found = Model::ALL.into_iter().find(|model| model.name() == name);
        let names = Model::ALL.map(Model::name).join(", ");
        Ok(vec![
            found.ok_or_else(|| {
                format!("--models: must be all or one of {names}, found {name:?}")
            })?,
        ])
    }

    pub fn system(
        self,
        system: &PointSystem,
        hidden: &[usize],
        epsilon: Option<f64>,
    ) -> Result<LearnedSystem, Failure> {
        let is_regularized = matches!(self, Model::CmrLagrangian | Model::CmrHamiltonian);
        if let Some(epsilon) = epsilon {
            if !is_regularized {
                return Err(format!("--epsilon: is of CMr, not of {}", self.name()).into());
            }
            if !(epsilon > 0.0 && epsilon.is_finite()) {
                return Err(format!("--epsilon: must be positive, found {epsilon} (1/kg)").into());
            }
        }
        let (formulation, regularization) = match self {
            Model::CmLagrangian => (Formulation::Lagrangian, 0.0),
            Model::CmHamiltonian => (Formulation::Hamiltonian, 0.0),
            Model::CmrLagrangian => (Formulation::Lagrangian, epsilon.unwrap_or(EPSILON)),
            Model::CmrHamiltonian => (Formulation::Hamiltonian, epsilon.unwrap_or(EPSILON)),
        };
        let sizes = [&[system.coordinates()], hidden, &[1]].concat();
        let network = Network::new(&sizes, Activation::Softplus)?;
        let rule = ImpactRule { regularization, ..ImpactRule::default() };
        Ok(LearnedSystem::new(system.clone(), network, formulation, rule)?)
    }
}

/// What a file of this program keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The unknowns that are best on the pieces kept to choose by, and their error there.
    pub best: (f64, Vec<f64>),
    /// Where the search stands.
    pub state: TrainingState,
    /// What the search is of: it goes on with nothing else.
    pub settings: Vec<(&'static str, f64)>,
}

/// What a search is of.
pub fn settings(
    scene: &PointScene,
    learned: &LearnedSystem,
    model: Model,
    training: &TrainingSettings,
    recordings: [&Chunks; 2],
) -> Vec<(&'static str, f64)> {
    let PointParameters { masses, moments, friction, restitution } = &scene.parameters;
    let sum = |numbers: &[f64]| -> f64 {
        numbers.iter().enumerate().map(|(k, x)| x / (k + 1) as f64).sum()
    };
    vec![
        ("model", Model::ALL.iter().position(|m| *m == model).unwrap_or(0) as f64),
        ("epsilon", learned.rule.regularization),
        ("updates", training.updates as f64),
        ("batch", training.batch as f64),
        ("rate", training.rate),
        ("clip", training.clip.min(f64::MAX)),
        ("seed", training.seed as f64),
        ("step of the system", scene.system.step),
        ("masses of the task", sum(masses)),
        ("moments of the task", sum(moments)),
        ("gravity of the task", sum(&scene.system.potential.gravity)),
        ("friction of the task", sum(friction)),
        ("restitution of the task", sum(restitution)),
        ("number of pieces", recordings[0].count() as f64),
        ("sum over the pieces", recordings.iter().map(|chunks| sum(chunks.values())).sum()),
    ]
}

/// Writes the unknowns `found` (W0, b0, W1, .., p, mu, e) and where the search stands.
pub fn save(
    path: &Path,
    system: &LearnedSystem,
    learned: &Learned,
    found: &[f64],
) -> Result<(), Failure> {
    let mut arrays = Vec::new();
    let error = learned.best.0;
    let mut at = 0;
    let mut take = |shape: &[usize]| {
        let count: usize = shape.iter().product();
        at += count;
        (shape.to_vec(), found[at - count..at].to_vec())
    };
    for (name, shape) in shapes(system) {
        let (shape, values) = take(&shape);
        arrays.push((name, shape, values));
    }
    let state = &learned.state;
    arrays.push(vector("search_unknowns", &state.unknowns));
    arrays.push(vector("search_mean", &state.mean));
    arrays.push(vector("search_square", &state.square));
    arrays.push(("search_updates".into(), vec![], vec![state.updates as f64]));
    arrays.push(("search_error".into(), vec![], vec![error.min(f64::MAX)]));
    let settings: Vec<f64> = learned.settings.iter().map(|(_, x)| *x).collect();
    arrays.push(vector("search_settings", &settings));
    write(path, &arrays)
}

/// Names and shapes of all unknowns in their order.
fn shapes(system: &LearnedSystem) -> Vec<(String, Vec<usize>)> {
    let mut all = Vec::new();
    for (k, (rows, columns)) in system.network.shapes().enumerate() {
        all.push((format!("W{k}"), vec![rows, columns]));
        all.push((format!("b{k}"), vec![rows]));
    }
    let count = system.unknowns();
    let bodies = system.system.bodies().len();
    let is_even = count.inertias.is_multiple_of(bodies);
    let shape = if is_even { vec![bodies, count.inertias / bodies] } else { vec![count.inertias] };
    all.push(("p".into(), shape));
    all.push(("mu".into(), vec![count.surfaces]));
    all.push(("e".into(), vec![count.surfaces]));
    all
}

/// Of which model a file is, and CMr's epsilon, if the file says it.
pub fn kind(path: &Path) -> Result<Option<(Model, Option<f64>)>, Failure> {
    let Some(settings) = Archive::open(path)?.array("search_settings")? else { return Ok(None) };
    let mut settings = settings.iter().copied();
    let (index, epsilon) = (settings.next().unwrap_or(0.0), settings.next().unwrap_or(0.0));
    let model = Model::ALL.get(index as usize).copied();
    Ok(model.map(|model| (model, (epsilon > 0.0).then_some(epsilon))))
}

/// The unknowns of a file.
pub fn load(path: &Path, system: &LearnedSystem) -> Result<Vec<f64>, Failure> {
    let mut archive = Archive::open(path)?;
    let mut best = Vec::new();
    for (name, shape) in shapes(system) {
        best.extend(archive.shaped(&name, &shape)?);
    }
    Ok(best)
}

/// What [`save`] wrote, if it is of a search with these settings; a search that begins at the unknowns of a file that has none.
pub fn resume(
    path: &Path,
    system: &LearnedSystem,
    settings: Vec<(&'static str, f64)>,
) -> Result<Learned, Failure> {
    let best = load(path, system)?;
    let mut archive = Archive::open(path)?;
    if !archive.has("search_unknowns")? {
        let state = TrainingState::new(best.clone());
        return Ok(Learned { best: (f64::INFINITY, best), state, settings });
    }
    let shown = path.display();
    let found = archive.shaped("search_settings", &[settings.len()])?;
    for ((name, expected), found) in settings.iter().zip(found) {
        if found != *expected {
            return Err(format!("{shown}: is of a search with another {name}, {found} and not {expected}: --resume goes on with the same options").into());
        }
    }
    let size = [best.len()];
    let [unknowns, mean, square] =
        ["search_unknowns", "search_mean", "search_square"].map(|name| archive.shaped(name, &size));
    let updates = archive.number("search_updates")?;
    if updates < 0.0 || updates.fract() != 0.0 || updates > 1e12 {
        return Err(
            format!("{shown}: search_updates: must be a whole number, found {updates}").into()
        );
    }
    let state = TrainingState {
        unknowns: unknowns?,
        mean: mean?,
        square: square?,
        updates: updates as usize,
    };
    let error = archive.number("search_error")?;
    Ok(Learned {
        best: (if error == f64::MAX { f64::INFINITY } else { error }, best),
        state,
        settings,
    })
}
