//! A model with its numbers, and where it starts.

use super::{Model, Parameters, PushedApart, Settings, System};
use crate::Error;
use crate::state::State;

/// Everything a simulation starts from, read from a TOML file:
///
/// ```toml
/// gravity = [0, 0, -9.81]            # m/s², this is the default
/// strict = true                      # this is the default; false: inertias that no solid has, and bodies that
///                                    # start in each other, are warnings
/// overlap = "refuse"                 # this is the default; "push": what starts in each other is pushed apart
///
/// [simulation]
/// time_step = 0.01                   # s
/// integrator = "semi_implicit"       # or "implicit", "implicit_fast", "runge_kutta", "bdf1", "bdf2": see `Integrator`
/// solver = "staggered"               # the default is "coupled"; others: see `ContactSolver::ALL`
/// n_step = 5                         # only with "staggered"
/// derivative = "unrolled"            # only with "staggered": or "implicit", see `StaggeredDerivative`
/// # compliance, baumgarte, restitution_threshold, restitution_law, static_speed, split_impacts, keep_impulses, smoothing,
/// # tolerance: see `Settings`
///
/// [[half_space]]
/// name = "floor"
/// normal = [0, 0, 1]                 # out of the ground, any length
/// offset = 0                         # m along the unit normal, this is the default
///
/// [[body]]
/// name = "cube"
/// mass = 0.37                        # kg
/// shape = { box = [0.05, 0.05, 0.05] }   # half extents, m; or { sphere = 0.05 }
/// inertia = [8e-4, 8e-4, 8e-4]       # kg m² about the centre of mass: one number, xx yy zz, or
///                                    # xx yy zz xy xz yz; if left out, of uniform density
/// center_of_mass = [0, 0, 0]         # m, in the body; if inertia is left out, that of the shape
/// position = [0, 0, 0.05]            # of the origin of the body in the world, m
/// orientation = [1, 0, 0, 0]         # w x y z, body to world
/// velocity = [1, 0, 0]               # of the origin of the body in the world, m/s
/// angular_velocity = [0, 0, 0]       # in the body frame, rad/s
/// force = [0, 0, 0]                  # constant, at the origin of the body, in the world, N
/// torque = [0, 0, 0]                 # constant, in the body frame, N m
/// drag = { quadratic = 0.01 }        # of the air: also linear; none if left out
///
/// [[body]]
/// name = "arm"
/// parent = "cube"                    # what it hangs on; left out: the world
/// joint = { type = "revolute", name = "elbow", axis = [0, 1, 0], limits = [-1, 1], damping = 0.1 }
///                                    # type: "free" (the default without parent), "fixed", "ball",
///                                    # "revolute", "prismatic"; others: anchor = [x, y, z] (a point on the
///                                    # axis, in the body), armature, friction, stiffness, rest; q and v
///                                    # at the start (of a ball a quaternion and three rates)
/// position = [0.1, 0, 0]             # in the parent at q = 0, as is orientation
/// mass = 0.1
/// inertia = 1e-4
/// [[body.shape]]                     # any number of shapes
/// name = "tip"
/// sphere = 0.01                      # or box = [hx, hy, hz]
/// position = [0.1, 0, 0]             # in the body, as is orientation
/// mu = 0.5                           # instead of a [[contact]]: of two that touch, the larger numbers
/// restitution = 0.1                  # count; also mu_static
/// # material = "steel"               # instead of these three: see below
/// contype = 1                        # bits: two touch if one's contype meets the other's conaffinity
/// conaffinity = 1
///
/// [[shape]]                          # the same, fixed to the world
///
/// [[material]]                       # numbers that all surfaces made of it share: `steel/mu`
/// name = "steel"
/// mu = 0.5                           # also mu_static, restitution
///
/// [[contact]]                        # without `pair`: for all pairs that have none of their own
/// pair = "floor-cube"                # half-space and body, or two bodies in the order of the file
/// mu = 0.2
/// mu_static = 0.3                    # of contacts at rest; if left out, there is only mu
/// restitution = 0                    # this is the default
/// torsion_radius = 0.001             # and other terms, each off if left out: see `SurfaceTerm`
///
/// [[contact]]
/// pair = "cube-other"
/// collide = false                    # these two pass through each other
///
/// [[contact]]
/// bodies = ["arm", "other"]          # no shape of one touches any of the other
/// collide = false
///
/// [[actuator]]
/// name = "motor"
/// joint = "elbow"                    # by its name, or that of its body
/// type = "position"                  # or "motor", "velocity": see `ActuatorKind`
/// gear = 1
/// kp = 100
/// kd = 2
/// control_range = [-1, 1]
/// force_range = [-5, 5]
/// control = 0                        # at the start
///
/// [[equality]]
/// name = "loop"
/// type = "connect"                   # or "weld" (orientation), "distance" (distance), "joint" (joints,
///                                    # offset, ratio)
/// bodies = ["arm", "world"]
/// anchors = [[0.1, 0, 0], [0, 0, 1]] # a point of each, in its frame
///
/// [[keyframe]]                       # a state to start from by name (`--keyframe home`)
/// name = "home"
/// q = [0, 0, 0.05, 1, 0, 0, 0, 0.5]  # of all joints in the order of the file; v also, and controls of
///                                    # all actuators: what is left out stays
/// ```
///
/// Bodies joined by a joint do not touch each other, unless `touch_parents = true` at the top. Nor do shapes that start
/// inside each other where their bodies are joined, or hang on the same one, unless a `[[contact]]` names the pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Names and topology.
    pub model: Model,
    /// The physical numbers.
    pub parameters: Parameters<f64>,
    /// Where the bodies start.
    pub state: State<f64>,
    /// How it is simulated.
    pub settings: Settings,
    /// What a step takes, see [`step`](crate::simulation::step): constant forces along all velocities (of a
    /// free body, force at the origin in the world frame, N, and torque in the body frame, N m), then
    /// a control for each actuator, and for each push how much of it acts when it does.
    pub inputs: Vec<f64>,
    /// States by name.
    pub keyframes: Vec<Keyframe>,
    /// What was pushed apart on the way to where the bodies start, if anything was.
    pub pushed_apart: Option<PushedApart>,
    /// What was not understood or looks wrong, with its place in the file.
    pub warnings: Vec<Error>,
}

impl Scene {
    /// What steps of the scene are functions of besides state and inputs.
    pub fn system(&self) -> System<'_, f64> {
        self.system_with(&self.parameters)
    }

    /// The same with other parameters in the place of its own.
    pub fn system_with<'a, T>(&'a self, parameters: &'a Parameters<T>) -> System<'a, T> {
        System { model: &self.model, parameters, settings: &self.settings }
    }

    /// The inputs of steps that have no time: none of the pushes acts.
    pub fn still_inputs(&self) -> Vec<f64> {
        let mut inputs = self.inputs.clone();
        let first = self.model.nv() + self.model.actuators.len();
        inputs[first..].fill(0.0);
        inputs
    }

    /// Starts from a keyframe; an error that names those there are if there is none of this name.
    pub fn start_at(&mut self, keyframe: &str, file: &str) -> Result<(), Error> {
        let Some(found) = self.keyframes.iter().find(|known| known.name == keyframe) else {
            let names: Vec<&str> = self.keyframes.iter().map(|known| known.name.as_str()).collect();
            let complaint = format!("there is no keyframe {keyframe:?}");
            return Err(Error::unknown_name(file, "keyframe", complaint, (keyframe, &names)));
        };
        if let Some(q) = &found.q {
            self.state.q.clone_from(q);
            self.pushed_apart = None;
        }
        if let Some(v) = &found.v {
            self.state.v.clone_from(v);
            for k in (0..v.len()).filter(|&k| self.model.is_prescribed_velocity(k)) {
                self.inputs[k] = v[k];
            }
        }
        if let Some(controls) = &found.controls {
            let first = self.model.nv();
            self.inputs[first..first + controls.len()].copy_from_slice(controls);
        }
        Ok(())
    }
}

/// A state by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframe {
    /// Its name.
    pub name: String,
    /// The configuration, in the order of the bodies of the file.
    pub q: Option<Vec<f64>>,
    /// The velocities.
    pub v: Option<Vec<f64>>,
    /// The controls.
    pub controls: Option<Vec<f64>>,
}
