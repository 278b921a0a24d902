//! The built-in experiment: six recorded slides of a flat box.
//!
//! The recordings are made by `examples/slides`, an independent simulator (projected Gauss-Seidel
//! on the cone, no code in common with this crate), with 1 mm and 0.2 degrees of noise.

use super::Dataset;
use crate::Error;
use crate::identify::experiment::Experiment;
use crate::model::Scene;
use crate::table::{self, Table};
use crate::trajectory::Trajectory;

const SCENE: &str = include_str!("../../../examples/slides/scene.toml");
const EXPERIMENT: &str = include_str!("../../../examples/slides/experiment.toml");
const SLIDES: [(&str, &str); 6] = [
    ("slide_1.csv", include_str!("../../../examples/slides/slide_1.csv")),
    ("slide_2.csv", include_str!("../../../examples/slides/slide_2.csv")),
    ("slide_3.csv", include_str!("../../../examples/slides/slide_3.csv")),
    ("slide_4.csv", include_str!("../../../examples/slides/slide_4.csv")),
    ("slide_5.csv", include_str!("../../../examples/slides/slide_5.csv")),
    ("slide_6.csv", include_str!("../../../examples/slides/slide_6.csv")),
];

impl Experiment {
    /// The built-in experiment: the friction of a box from six recorded slides.
    pub fn builtin() -> Result<Experiment, Error> {
        let name = "built-in slides";
        let scene = Scene::parse(SCENE, "built-in scene.toml")?;
        let document = table::parse(EXPERIMENT, name)?;
        Experiment::read(&Table::root(EXPERIMENT, name, &document), name, scene)
    }
}

impl Dataset {
    /// The recordings of the built-in experiment.
    pub fn builtin(experiment: &Experiment) -> Result<Dataset, Error> {
        let model = &experiment.scene.model;
        let slides = SLIDES.iter().map(|(name, text)| Trajectory::parse(text, name, model));
        Dataset::new(experiment, slides.collect::<Result<_, _>>()?)
    }
}
