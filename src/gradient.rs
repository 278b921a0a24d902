//! The gradient of whatever a simulation comes to, in numbers of its scene by name.

use crate::Error;
use crate::ad::{self, Real, Var};
use crate::model::{ParameterRef, Scene};
use crate::simulation::Simulation;

/// What messages call a scene that has no file.
const SCENE: &str = "scene";

/// What a name stands for.
enum Variable {
    Parameter(ParameterRef),
    /// A number of the start, or an input.
    Start(String),
}

impl Scene {
    /// What `f` makes of a simulation of the scene, and its derivatives in the numbers called `names`, by reverse mode:
    /// one simulation and one sweep back, however many names there are.
    ///
    /// Names are those of [parameters](crate::model::Model::parameter_names); of numbers of the state that the
    /// simulation starts from (`box/px`, `box/vx`; quaternions have no derivatives by single numbers); and of inputs, as
    /// they act from the first step on (`box/fx`, `motor/u`). The simulation starts where the scene does.
    ///
    /// All steps are recorded, which takes memory in proportion to them: for long rollouts see
    /// [`RolloutSteps`](crate::simulation::RolloutSteps).
    ///
    /// ```
    /// use stiction::Scene;
    ///
    /// let scene = Scene::parse("
    ///     simulation.time_step = 0.001
    ///     half_space = [{ name = 'floor', normal = [0, 0, 1] }]
    ///     contact = [{ pair = 'floor-box', mu = 0.3 }]
    ///     [[body]]
    ///     name = 'box'
    ///     mass = 1
    ///     shape = { box = [0.1, 0.1, 0.01] }
    ///     position = [0, 0, 0.01]
    ///     velocity = [1, 0, 0]", "scene.toml")?;
    /// let (distance, slopes) = scene.gradient(["floor-box/mu", "box/vx"], |simulation| {
    ///     simulation.run(500);
    ///     simulation["box/px"]
    /// })?;
    /// // A slide is v²/(2 mu g) long.
    /// let expected = 1.0 / (2.0 * 0.3 * 9.81);
    /// assert!((distance / expected - 1.0).abs() < 0.005);
    /// assert!((slopes[0] / (-expected / 0.3) - 1.0).abs() < 0.005);
    /// assert!((slopes[1] / (2.0 * expected) - 1.0).abs() < 0.005);
    /// # Ok::<(), stiction::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a name stands for nothing (the message has those there are), or for what another one does; if the contact
    /// solver of the scene has no derivatives; if the tape is full.
    pub fn gradient<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
        f: impl FnOnce(&mut Simulation<Var>) -> Var,
    ) -> Result<(f64, Vec<f64>), Error> {
        self.settings.solver.demand_derivatives(SCENE)?;
        let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_string()).collect();
        let variables = self.variables(&names)?;
        let start = self.simulate();
        let value = |variable: &Variable| match variable {
            Variable::Parameter(parameter) => self.parameters.values[parameter.slots[0]],
            Variable::Start(name) => start[name.as_str()],
        };
        let x: Vec<f64> = variables.iter().map(value).collect();
        let simulated = |x: &[Var]| {
            let mut parameters = self.parameters.cast();
            for (variable, &x) in variables.iter().zip(x) {
                if let Variable::Parameter(parameter) = variable {
                    parameter.slots.iter().for_each(|&slot| parameters.values[slot] = x);
                }
            }
            let inputs = self.inputs.iter().map(|&u| Var::constant(u)).collect();
            let system = self.system_with(&parameters);
            let mut simulation = Simulation::new(system, self.state.cast(), inputs);
            for (variable, &x) in variables.iter().zip(x) {
                if let Variable::Start(name) = variable {
                    simulation[name.as_str()] = x;
                }
            }
            f(&mut simulation)
        };
        ad::gradient(simulated, &x).map_err(|error| Error::undefined(SCENE, error.to_string()))
    }

    /// What names stand for, each for something else.
    fn variables(&self, names: &[String]) -> Result<Vec<Variable>, Error> {
        let model = &self.model;
        let (q, v, u) = (model.configuration_names(), model.velocity_names(), model.input_names());
        let of_quaternion = |name: &str| {
            ["qw", "qx", "qy", "qz"].contains(&name.rsplit('/').next().unwrap_or(name))
        };
        let mut others = q.into_iter().filter(|name| !of_quaternion(name)).collect::<Vec<_>>();
        others.extend(v.into_iter().chain(u));
        let find = |(k, name): (usize, &String)| {
            if names[..k].contains(name) {
                return Err(Error::input(SCENE, None, name, "is named twice"));
            }
            if let Some(parameter) = model.parameter(name) {
                return Ok(Variable::Parameter(parameter));
            }
            if others.contains(name) {
                return Ok(Variable::Start(name.clone()));
            }
            let message = format!(
                "is no parameter, number of the start or input; there are {}",
                [model.told_parameter_names(), others.clone()].concat().join(", ")
            );
            Err(Error::input(SCENE, None, name, message))
        };
        let variables = names.iter().enumerate().map(find).collect::<Result<Vec<_>, _>>()?;
        // Two names may share a number, as that of a component and that of three that are tied.
        let parameters: Vec<String> =
            names.iter().filter(|name| model.parameter(name).is_some()).cloned().collect();
        model.parameters_named(&parameters, SCENE)?;
        Ok(variables)
    }
}
