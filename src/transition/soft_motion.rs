//! The motion of soft bodies as a function of some of their numbers, and of what acts on rigid bodies beside them over time, on flat
//! arrays: what the interfaces to other languages call.

use std::sync::Arc;

use crate::Error;
use crate::model::Model;
use crate::soft::{InputSchedule, SoftNumber, SoftParameter, SoftRollout, SoftScene, SoftTangents};

/// Steps of a motion at most.
const MOST_STEPS: usize = 10_000_000;

/// A scene of soft bodies and its motion, in parameters p and inputs U.
///
/// The N nodes of all soft bodies stand one after the other, three numbers each; so do the steps of U, nu numbers each. What is not given
/// is that of the scene.
///
/// ```
/// use std::sync::Arc;
/// use stiction::soft::SoftScene;
/// use stiction::transition::SoftMotion;
///
/// let text = "simulation.time_step = 0.01
/// [[soft]]
/// name = 'block'
/// shape = { box = [0.05, 0.05, 0.05] }
/// resolution = 0.1
/// density = 500
/// youngs_modulus = 1e5
/// poisson_ratio = 0.3";
/// let scene = Arc::new(SoftScene::parse(text, "block.toml")?.expect("it has a soft body"));
/// let motion = SoftMotion::new("block.toml", scene, &["block/velocity_x".to_string()], &[])?;
/// let mut places = Vec::new();
/// motion.follow(10, Some(&[2.0]), None, &mut |at| places.push(at.states()[0].position[0]))?;
/// assert!((places[10][0] - (places[0][0] + 0.2)).abs() < 1e-12);
/// # Ok::<(), stiction::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SoftMotion {
    name: String,
    scene: Arc<SoftScene>,
    parameters: Vec<(String, SoftParameter)>,
    inputs: Vec<(String, usize)>,
}

/// What a motion is weighed with, each for the start and all steps, or empty: weights of places and velocities of nodes, and of small
/// changes of the state of the rigid bodies, (steps + 1) 2 nv numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct CourseWeights<'a> {
    /// Of places.
    pub x: &'a [f64],
    /// Of velocities.
    pub v: &'a [f64],
    /// Of rigid bodies.
    pub rigid: &'a [f64],
}

/// The gradient of a weighed motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftGradient {
    /// In p.
    pub parameters: Vec<f64>,
    /// In U, if that was given.
    pub inputs: Vec<f64>,
    /// The places of all nodes over the motion, m.
    pub x: Vec<f64>,
    /// Steps in which bodies were not solved that nothing is asked of: of others there is no derivative then.
    pub unsolved: usize,
}

impl SoftMotion {
    /// A scene whose p and u are what these name. `name` is its file in messages.
    ///
    /// # Errors
    /// If there is no such parameter or input.
    pub fn new(
        name: &str,
        scene: Arc<SoftScene>,
        parameters: &[String],
        inputs: &[String],
    ) -> Result<SoftMotion, Error> {
        let mut motion =
            SoftMotion { name: name.into(), scene, parameters: Vec::new(), inputs: Vec::new() };
        let known = motion.all_input_names();
        for own in inputs {
            let place = known.iter().position(|name| name == own);
            let place = place
                .ok_or_else(|| Error::unknown_name(name, own, "is no input", (own, &known)))?;
            motion.inputs.push((own.clone(), place));
        }
        for own in parameters {
            let parameter = motion.scene.parameter(own).ok_or_else(|| {
                let all = motion.all_parameter_names();
                Error::unknown_name(name, own, "is no parameter", (own, &all))
            })?;
            motion.parameters.push((own.clone(), parameter));
        }
        Ok(motion)
    }

    /// The scene.
    pub fn scene(&self) -> &Arc<SoftScene> {
        &self.scene
    }

    /// N.
    pub fn nodes(&self) -> usize {
        self.scene.bodies.iter().map(|body| body.position.len()).sum()
    }

    /// Of each body its name, its first node and how many it has.
    pub fn bodies(&self) -> Vec<(String, usize, usize)> {
        let mut first = 0;
        let each = self.scene.bodies.iter().map(|body| {
            let count = body.position.len();
            first += count;
            (body.name.clone(), first - count, count)
        });
        each.collect()
    }

    /// The node of each marker, by "body/marker".
    pub fn markers(&self) -> Vec<(String, usize)> {
        let bodies = self.scene.bodies.iter().zip(self.bodies());
        let each = bodies.flat_map(|(body, (name, first, _))| {
            body.markers.iter().map(move |own| (format!("{name}/{}", own.name), first + own.node))
        });
        each.collect()
    }

    /// The names of p.
    pub fn parameter_names(&self) -> Vec<String> {
        self.parameters.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All names that p may have.
    pub fn all_parameter_names(&self) -> Vec<String> {
        self.scene.parameters().into_iter().map(|(name, _)| name).collect()
    }

    /// The names of u.
    pub fn input_names(&self) -> Vec<String> {
        self.inputs.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All names that u may have: none without rigid bodies.
    pub fn all_input_names(&self) -> Vec<String> {
        self.model().map(Model::input_names).unwrap_or_default()
    }

    /// The names of the state of the rigid bodies: configuration, then velocities.
    pub fn state_names(&self) -> Vec<String> {
        let both = |model: &Model| [model.configuration_names(), model.velocity_names()].concat();
        self.model().map(both).unwrap_or_default()
    }

    /// How many velocities the rigid bodies have.
    pub fn nv(&self) -> usize {
        self.model().map_or(0, Model::nv)
    }

    fn model(&self) -> Option<&Model> {
        self.scene.rigid.as_deref().map(|scene| &scene.model)
    }

    /// p of the scene.
    pub fn values(&self) -> Vec<f64> {
        self.parameters.iter().map(|(_, own)| self.scene.value(*own)).collect()
    }

    /// The scene with values of p, and of u in each of some steps.
    fn with(
        &self,
        steps: usize,
        p: Option<&[f64]>,
        inputs: Option<&[f64]>,
    ) -> Result<SoftScene, Error> {
        self.series(steps, 1)?;
        let mut scene = SoftScene::clone(&self.scene);
        let wrong = |what: &str, message: String| Error::input(&self.name, None, what, message);
        if let Some(p) = p {
            if p.len() != self.parameters.len() {
                let (count, found) = (self.parameters.len(), p.len());
                return Err(wrong("p", format!("must be {count} numbers, found {found}")));
            }
            for ((_, parameter), value) in self.parameters.iter().zip(p) {
                scene.set(*parameter, *value);
            }
            scene.check().map_err(|message| wrong("p", message.to_string()))?;
        }
        let width = self.inputs.len();
        let Some(values) = inputs.filter(|values| width + values.len() > 0) else {
            return Ok(scene);
        };
        if steps.checked_mul(width) != Some(values.len()) {
            let message = format!("must be {steps} times {width} numbers, found {}", values.len());
            return Err(wrong("U", message));
        }
        if let Some(k) = values.iter().position(|x| !x.is_finite()) {
            let (step, name) = (k / width, &self.inputs[k % width].0);
            return Err(wrong("U", format!("{name} is not finite in step {step}")));
        }
        let times: Vec<f64> = (0..steps).map(|step| scene.span(step)[0]).collect();
        for (j, &(_, input)) in self.inputs.iter().enumerate() {
            let values = values.iter().skip(j).step_by(width).copied().collect();
            scene.schedules.push(InputSchedule { input, times: times.clone(), values });
        }
        Ok(scene)
    }

    /// How many numbers a series has that has `each` at the start and after each step.
    ///
    /// # Errors
    /// If there are too many steps.
    pub fn series(&self, steps: usize, each: usize) -> Result<usize, Error> {
        let most = steps <= MOST_STEPS;
        let count = steps.checked_add(1).and_then(|count| count.checked_mul(each));
        count.filter(|_| most).ok_or_else(|| {
            let message = format!("must be at most {MOST_STEPS}, found {steps}");
            Error::input(&self.name, None, "steps", message)
        })
    }

    /// Simulates: `visit` sees the start and what comes of each step. How many of them were not solved.
    ///
    /// # Errors
    /// If p or U are not as many numbers, or none that the scene can have, or there are too many steps.
    pub fn follow(
        &self,
        steps: usize,
        p: Option<&[f64]>,
        inputs: Option<&[f64]>,
        visit: &mut dyn FnMut(&SoftRollout),
    ) -> Result<usize, Error> {
        let scene = self.with(steps, p, inputs)?;
        let mut rollout = SoftRollout::new(&scene);
        let mut unsolved = 0;
        visit(&rollout);
        for _ in 0..steps {
            unsolved += usize::from(rollout.step().unsolved > 0);
            visit(&rollout);
        }
        Ok(unsolved)
    }

    /// Where the nodes are after some steps (m), and row by row how that changes with p, by forward sensitivities.
    ///
    /// # Errors
    /// As [`follow`](Self::follow); or if a step was not solved, or its conditions determine no derivative.
    pub fn jacobian(
        &self,
        steps: usize,
        p: Option<&[f64]>,
        inputs: Option<&[f64]>,
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let scene = self.with(steps, p, inputs)?;
        let numbers: Vec<SoftParameter> = self.parameters.iter().map(|(_, own)| *own).collect();
        let mut tangents = SoftTangents::new(&scene, &numbers);
        for step in 1..=steps {
            let report = tangents.step();
            let report = report.map_err(|error| Error::undefined(&self.name, error.to_string()))?;
            if report.unsolved > 0 {
                let message = format!("step {step} was not solved: try a smaller time step");
                return Err(Error::undefined(&self.name, message));
            }
        }
        let states = tangents.rollout.states().iter();
        let x = states.flat_map(|state| state.position.as_flattened()).copied().collect();
        let width = numbers.len();
        let mut slopes = vec![0.0; 3 * self.nodes() * width];
        for (body, (_, first, _)) in self.bodies().into_iter().enumerate() {
            for (column, own) in tangents.columns(body).enumerate() {
                let Some((moved, _)) = own else { continue };
                for (k, slope) in moved.as_flattened().iter().enumerate() {
                    slopes[(3 * first + k) * width + column] = *slope;
                }
            }
        }
        Ok((x, slopes))
    }

    /// The gradient of a weighed motion in p, and where U is given in that, by the adjoint.
    ///
    /// # Errors
    /// As [`jacobian`](Self::jacobian); or if weights are neither none nor as many as what they are of, or all none.
    pub fn vjp(
        &self,
        steps: usize,
        p: Option<&[f64]>,
        inputs: Option<&[f64]>,
        weights: CourseWeights,
    ) -> Result<SoftGradient, Error> {
        let (nodes, width) = (self.nodes(), 2 * self.nv());
        for (what, found, each) in [
            ("weights.x", weights.x, 3 * nodes),
            ("weights.v", weights.v, 3 * nodes),
            ("weights.rigid", weights.rigid, width),
        ] {
            let count = self.series(steps, each)?;
            if !found.is_empty() && found.len() != count {
                let message =
                    format!("must be {} times {each} numbers, found {}", steps + 1, found.len());
                return Err(Error::input(&self.name, None, what, message));
            }
        }
        // A motion is kept for its adjoint: it has no more steps than what weighs it.
        if [weights.x, weights.v, weights.rigid].iter().all(|own| own.is_empty()) {
            let message = "must be given of places, velocities or rigid bodies";
            return Err(Error::input(&self.name, None, "weights", message));
        }
        let first = self.scene.schedules.len();
        let scene = self.with(steps, p, inputs)?;
        let mut numbers: Vec<SoftParameter> = self.parameters.iter().map(|(_, own)| *own).collect();
        if inputs.is_some() {
            let body = scene.bodies.len();
            let of = |step| {
                let number = move |j| SoftNumber::Scheduled(first + j, step);
                (0..self.inputs.len()).map(move |j| SoftParameter { body, number: number(j) })
            };
            numbers.extend((0..steps).flat_map(of));
        }
        let firsts: Vec<usize> = self.bodies().iter().map(|(_, first, _)| *first).collect();
        let record = scene.record(steps);
        let add = |to: &mut [f64], from: &[f64], at: usize| {
            let own = from.get(at..).unwrap_or_default();
            to.iter_mut().zip(own).for_each(|(to, weight)| *to += weight);
        };
        let mut weigh = |step: usize, body: usize, x: &mut [[f64; 3]], v: &mut [[f64; 3]]| {
            let at = 3 * (step * nodes + firsts[body]);
            add(x.as_flattened_mut(), weights.x, at);
            add(v.as_flattened_mut(), weights.v, at);
        };
        let mut weigh_rigid =
            |step: usize, tangent: &mut [f64]| add(tangent, weights.rigid, step * width);
        let gradient = record.gradient_beside(&numbers, &mut weigh, &mut weigh_rigid);
        let mut parameters =
            gradient.map_err(|error| Error::undefined(&self.name, error.to_string()))?;
        let states = record.states.iter().flatten();
        Ok(SoftGradient {
            inputs: parameters.split_off(self.parameters.len()),
            parameters,
            x: states.flat_map(|state| state.position.as_flattened()).copied().collect(),
            unsolved: record.reports.iter().filter(|report| report.unsolved > 0).count(),
        })
    }
}
