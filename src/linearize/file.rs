//! Jacobians as files for other programs, with everything needed to read them.
//!
//! | key | shape | content |
//! |---|---|---|
//! | `A`, `B`, `C` | N x 2nv x 2nv, N x 2nv x nu, N x 2nv x np | `dx+ = A dx + B du + C dp` |
//! | `x`, `f` | N x (nq + nv) | states `[q; v]` before and after each step, f(x, u) |
//! | `u` | N x nu | the selected inputs |
//! | `times` | N | times at which the steps start, s |
//! | `dt` | scalar | time step, s |
//! | `margins` | N | distance of each step to the nearest change of mode |
//! | `meta` | object | names, units, conventions in words, modes and solver health of each step |
//!
//! In `.npz` files, `meta` is an array of bytes that hold the JSON text in UTF-8: in Python
//! `json.loads(bytes(z["meta"]))`.

use ndarray::{ArrayViewD, Axis};
use serde_json::{Map, Value, json};

use super::{Convention, Linearization};
use crate::model::{ActuatorKind, ContactSolver, Integrator, Model, Settings, System};
use crate::simulation::StepReport;

/// Changes when a reader of these files would have to.
const FORMAT_VERSION: u32 = 2;

impl Linearization {
    /// What a reader has to know about the arrays: program and version, names of all rows and
    /// columns, conventions in words, settings, modes and solver health of each step. `system` is
    /// the one that was linearised.
    pub fn meta(&self, system: &System<f64>) -> Map<String, Value> {
        let System { model, parameters, settings } = *system;
        let mut meta = Map::new();
        let mut insert = |key: &str, value: Value| meta.insert(key.to_string(), value);
        insert("program", "stiction".into());
        insert("version", env!("CARGO_PKG_VERSION").into());
        insert("format", "stiction linearization".into());
        insert("format_version", FORMAT_VERSION.into());
        insert("steps", self.times.len().into());
        insert("time_step", settings.time_step.into());
        insert("integrator", integrator(settings).into());
        insert("convention", self.convention.name().into());
        insert("conventions", conventions(self.convention));
        let (n_step, derivative) = match settings.solver {
            ContactSolver::Staggered { n_step, derivative } => {
                (Some(n_step), Some(derivative.name()))
            }
            _ => (None, None),
        };
        insert(
            "settings",
            json!({
                "integrator": settings.integrator.name(),
                "solver": settings.solver.name(),
                "n_step": n_step,
                "derivative": derivative,
                "compliance": settings.compliance,
                "baumgarte": settings.baumgarte,
                "restitution_threshold": settings.restitution_threshold,
                "restitution_law": settings.restitution_law.name(),
                "static_speed": settings.static_speed,
                "split_impacts": settings.split_impacts,
                "keep_impulses": settings.keep_impulses,
                "smoothing": settings.smoothing,
                "tolerance": settings.tolerance,
            }),
        );
        let bodies: Vec<&str> = model.bodies.iter().map(|body| body.name.as_str()).collect();
        let [q, v, dq, dv] = self.convention.names(model);
        let units = Units { names: [&q, &v, &dq, &dv] };
        insert("state_units", units.state(model).into());
        insert("tangent_units", units.tangent(model).into());
        insert("input_units", self.input_units(model).into());
        insert("state_names", [q, v].concat().into());
        insert("tangent_names", [dq, dv].concat().into());
        insert("input_names", self.inputs.clone().into());
        insert("parameter_names", self.parameters.clone().into());
        let parameter = model.parameter_finder();
        let value = |name: &String| {
            let slot = parameter(name).and_then(|parameter| parameter.slots.first().copied());
            slot.and_then(|slot| parameters.values.get(slot)).copied()
        };
        insert("parameter_values", self.parameters.iter().map(value).collect::<Vec<_>>().into());
        let per_step = (0..self.times.len()).map(|k| {
            let contacts = self.modes[k].iter().map(|contact| {
                json!({
                    "pair": model.pair_name(contact.pair),
                    "friction": contact.regime.name(),
                    "point": contact.feature,
                    "mode": contact.mode.name(),
                    "target": contact.target.name(),
                    "gap": contact.gap,
                    "impulse": contact.impulse,
                })
            });
            health(&self.reports[k], self.determined[k], contacts.collect())
        });
        insert("modes", per_step.collect::<Vec<_>>().into());
        insert("bodies", bodies.into());
        meta
    }

    /// All arrays as one JSON object, matrices as lists of rows.
    pub fn to_json(&self, system: &System<f64>) -> String {
        let mut object = Map::new();
        for (name, array) in self.arrays() {
            object.insert(name.to_string(), nested(array));
        }
        object.insert("times".to_string(), self.times.clone().into());
        object.insert("dt".to_string(), system.settings.time_step.into());
        object.insert("margins".to_string(), self.margins().collect());
        object.insert("meta".to_string(), Value::Object(self.meta(system)));
        Value::Object(object).to_string() + "\n"
    }

    /// All arrays as an `.npz` archive of NumPy.
    ///
    /// # Errors
    /// If the archive cannot be put together, for instance because it is too large for its format.
    #[cfg(feature = "cli")]
    pub fn to_npz(&self, system: &System<f64>) -> std::io::Result<Vec<u8>> {
        let mut archive = crate::npz::Npz::new();
        for (name, array) in self.arrays() {
            archive.add(name, array.shape(), array.iter())?;
        }
        let margins: Vec<f64> = self.margins().collect();
        archive.add("times", &[self.times.len()], &self.times)?;
        archive.add("dt", &[], &[system.settings.time_step])?;
        archive.add("margins", &[margins.len()], &margins)?;
        let meta = Value::Object(self.meta(system)).to_string();
        archive.add_bytes("meta", meta.as_bytes())?;
        archive.finish()
    }

    /// Distance of each step to the nearest change of mode; infinite (null in JSON) without contacts.
    fn margins(&self) -> impl Iterator<Item = f64> + '_ {
        self.reports.iter().map(|report| report.worst.margin)
    }

    /// Units of u: of forces by their names, of controls by what the actuator does.
    fn input_units(&self, model: &Model) -> Vec<&'static str> {
        let known = model.input_names();
        let unit = |name: &String| match known.iter().position(|other| other == name) {
            Some(k) if k >= model.nv() => {
                match model.actuators.get(k - model.nv()).map(|actuator| actuator.kind) {
                    Some(ActuatorKind::Motor) => "gear^-1 of N m or N",
                    Some(ActuatorKind::Position) => "gear of rad or m",
                    Some(ActuatorKind::Affine) => "gear^-1 of N m or N per gain",
                    Some(ActuatorKind::Velocity) => "gear of rad/s or m/s",
                    // How much of a push acts.
                    None => "",
                }
            }
            Some(_) => force_unit(model, name),
            None => "",
        };
        self.inputs.iter().map(unit).collect()
    }

    fn arrays(&self) -> [(&'static str, ArrayViewD<'_, f64>); 6] {
        [
            ("A", self.a.view().into_dyn()),
            ("B", self.b.view().into_dyn()),
            ("C", self.c.view().into_dyn()),
            ("x", self.x.view().into_dyn()),
            ("f", self.f.view().into_dyn()),
            ("u", self.u.view().into_dyn()),
        ]
    }
}

/// Modes of a step and how well it was solved; a margin without contacts, infinite, is null.
fn health(report: &StepReport, determined: bool, contacts: Vec<Value>) -> Value {
    json!({
        "status": report.worst.status.name(),
        "unsolved": report.unsolved,
        "iterations": report.worst.iterations,
        "residual": report.worst.residual,
        "margin": report.worst.margin,
        "determined": determined,
        "contacts": contacts,
    })
}

/// An array as lists of lists.
fn nested(array: ArrayViewD<f64>) -> Value {
    match array.ndim() {
        1 => array.iter().copied().collect(),
        _ => array.axis_iter(Axis(0)).map(nested).collect(),
    }
}

fn integrator(settings: &Settings) -> String {
    let contact = settings.solver.description();
    let free = match settings.integrator {
        Integrator::SemiImplicit => {
            "semi-implicit Euler with impulses, implicit in the damping of joints"
        }
        Integrator::Implicit => {
            "Euler with impulses, linearly implicit in all that depends on velocities"
        }
        Integrator::ImplicitFast => {
            "Euler with impulses, linearly implicit in the damping of joints and the gains of motors"
        }
        Integrator::RungeKutta => {
            "Runge-Kutta of fourth order for what touches nothing, with impulses Euler"
        }
        // Of two states no file is written.
        Integrator::Bdf1 | Integrator::Bdf2 => return backward(settings),
    };
    let law = law(settings);
    format!(
        "{free}: v+ = v_free + M^-1 J' lambda, then q+ = q (+) dt v+. v_free has gravity and all forces over dt; \
         free rotation of lone bodies conserves angular momentum and energy. {law} at the velocities of the end of \
         the step; {contact}"
    )
}

fn backward(settings: &Settings) -> String {
    let contact = settings.solver.description();
    format!(
        "Backward differentiation formula: R(v+) = J' lambda, then q+ = q (+) dt v+; R = dt (inverse dynamics - forces) at q+ and v+, with \
         the accelerations (v+ - v) / dt. {} at the velocities of the end of the step; {contact}",
        law(settings)
    )
}

fn law(settings: &Settings) -> &'static str {
    match () {
        () if settings.solver.is_penalty() => "Contact and friction by penalty",
        () if settings.smoothing > 0.0 => "Contact smoothed by the product `smoothing` (J)",
        () => "Rigid contact with Coulomb friction",
    }
}

/// Units, by the names of coordinates: hinges turn, sliders move.
struct Units<'a> {
    /// Of q, v, dq, dv.
    names: [&'a [String]; 4],
}

impl Units<'_> {
    fn state(&self, model: &Model) -> Vec<&'static str> {
        let [q, v, ..] = self.names;
        let q = q.iter().map(|name| {
            let field = field(name);
            if field.starts_with('p') {
                "m"
            } else if field == "q" && !slides(model, name) {
                "rad"
            } else if field == "q" {
                "m"
            } else {
                "1"
            }
        });
        q.chain(v.iter().map(|name| speed(model, name))).collect()
    }

    fn tangent(&self, model: &Model) -> Vec<&'static str> {
        let [.., dq, dv] = self.names;
        let dq = dq.iter().map(|name| match field(name) {
            field if field.starts_with("dp") => "m",
            "dq" if slides(model, name) => "m",
            _ => "rad",
        });
        dq.chain(dv.iter().map(|name| speed(model, name))).collect()
    }
}

/// `v` of `link/v`.
fn field(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, field)| field)
}

/// Whether the joint of the body in a name is a slider.
fn slides(model: &Model, name: &str) -> bool {
    let owner = name.rsplit_once('/').map_or("", |(owner, _)| owner);
    let body = model.bodies.iter().find(|body| body.name == owner);
    body.is_some_and(|body| body.joint.kind.slides())
}

fn speed(model: &Model, name: &str) -> &'static str {
    match field(name).trim_start_matches('d') {
        "v" if slides(model, name) => "m/s",
        "vx" | "vy" | "vz" => "m/s",
        _ => "rad/s",
    }
}

fn force_unit(model: &Model, name: &str) -> &'static str {
    match field(name) {
        "set_vx" | "set_vy" | "set_vz" => "m/s",
        "set_wx" | "set_wy" | "set_wz" => "rad/s",
        "f" if slides(model, name) => "N",
        "fx" | "fy" | "fz" => "N",
        _ => "N m",
    }
}

fn conventions(convention: Convention) -> Value {
    json!({
        "units": "SI: m, s, kg, N, rad; those of each number in `state_units`, `tangent_units`, `input_units`",
        "frames": "world: right-handed, z up unless gravity says otherwise; body: its own axes and origin \
            (of a free body with one shape those of the shape)",
        "joints": convention.describe(),
        "state": "x = [q; v], the joints in q, then in v, in the order of `bodies`: names in `state_names`",
        "tangent": "dx = [dq; dv], numbers as in `tangent_names`: a displacement of x, and a change of v",
        "difference": "dx is taken at x[k], dx+ at f[k]. In the convention stiction, x (+) dx adds translations \
            and velocities and turns R into R exp([dr]x), the turn multiplied on the right; y (-) x is its \
            inverse, with dr = log(R_x' R_y)",
        "input": "u, numbers as in `input_names`, constant over the step: generalised forces along velocities, \
            velocities that are prescribed, and controls of actuators. What is not in u is as the scene or the file of controls has it",
        "parameters": "p, each by itself: a change of mass or size leaves the inertia (about the \
            centre of mass, along the body axes) as it is. kg, m, kg m^2, m/s^2; mu and \
            restitution without unit",
        "jacobians": "dx+ = A dx + B du + C dp, A[k][i][j] = d(f[k] component i) / d(x[k] \
            component j): rows and columns as in `tangent_names`, `input_names`, \
            `parameter_names`",
        "modes": "one entry a step. The Jacobians hold as long as these stay: contacts that touch, \
            by pair and point (corner of a box: bits 0, 1, 2 set on the upper side in x, y, z; 0 \
            for a sphere); mode stick, slide or clamp (at the friction limit, yet held); target: \
            what decided the normal velocity. margin: distance to the nearest change of mode, 0 at \
            a kink, null without contacts. determined: false where A, B or C holds NaN (null in \
            JSON), because a contact problem was not solved. gap at the start of the step (m); \
            impulse: on the second body",
        "contact_rows": "each contact has three rows, [normal out of the first solid of the pair, tangent 1, \
            tangent 2] in the world, and so has its impulse (N s); tangent 1 is the world's x axis made \
            perpendicular to the normal (y where the normal is within 26 degrees of x), tangent 2 = normal x \
            tangent 1. Contacts come in the order of `modes`",
    })
}
