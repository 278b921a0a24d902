//! Jacobians as files for other programs, with everything needed to read them.
//!
//! | key | shape | content |
//! |---|---|---|
//! | `A`, `B`, `C` | N x 2nv x 2nv, N x 2nv x nv, N x 2nv x np | `dx+ = A dx + B du + C dp` |
//! | `x`, `x_next` | N x (nq + nv) | states `[q; v]` before and after each step |
//! | `u` | N x (nv + nu) | forces along the velocities, then controls |
//! | `times` | N | times at which the steps start, s |
//! | `dt` | scalar | time step, s |
//! | `meta` | object | names, conventions in words, modes and solver health of each step |
//!
//! In `.npz` files, `meta` is an array of bytes that hold the JSON text in UTF-8: in Python
//! `json.loads(bytes(z["meta"]))`.

use ndarray::{ArrayViewD, Axis};
use serde_json::{Map, Value, json};

use super::Linearization;
use crate::model::{ContactSolver, System};
use crate::simulation::StepReport;

/// Changes when a reader of these files would have to.
const FORMAT_VERSION: u32 = 1;

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
        insert("integrator", integrator(settings.solver).into());
        insert("convention", convention());
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
                "static_speed": settings.static_speed,
                "split_impacts": settings.split_impacts,
                "keep_impulses": settings.keep_impulses,
                "tolerance": settings.tolerance,
            }),
        );
        let bodies: Vec<&str> = model.bodies.iter().map(|body| body.name.as_str()).collect();
        let names = |fields: &[&str], rotation: usize, number: &str| {
            model.coordinate_names(fields, &fields[rotation..], number)
        };
        let (q, v) = (model.configuration_names(), model.velocity_names());
        let dq = names(&["dpx", "dpy", "dpz", "drx", "dry", "drz"], 3, "dq");
        let dv = names(&["dvx", "dvy", "dvz", "dwx", "dwy", "dwz"], 3, "dv");
        insert("state_names", [q, v].concat().into());
        insert("tangent_names", [dq, dv].concat().into());
        insert("input_names", self.inputs.clone().into());
        insert("parameter_names", self.parameters.clone().into());
        let value = |name: &String| {
            let slot = model.parameter(name).and_then(|parameter| parameter.slots.first().copied());
            slot.and_then(|slot| parameters.values.get(slot)).copied()
        };
        insert("parameter_values", self.parameters.iter().map(value).collect::<Vec<_>>().into());
        let per_step = (0..self.times.len()).map(|k| {
            let contacts = self.modes[k].iter().map(|contact| {
                json!({
                    "pair": model.pairs[contact.pair].name,
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
        object.insert("meta".to_string(), Value::Object(self.meta(system)));
        Value::Object(object).to_string() + "\n"
    }

    /// All arrays as an `.npz` archive of NumPy.
    ///
    /// # Errors
    /// If the archive cannot be put together, for instance because it is too large for its format.
    #[cfg(feature = "cli")]
    pub fn to_npz(
        &self,
        system: &System<f64>,
    ) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
        let mut file = std::io::Cursor::new(Vec::new());
        let mut archive = ndarray_npy::NpzWriter::new_compressed(&mut file);
        for (name, array) in self.arrays() {
            archive.add_array(name, &array)?;
        }
        archive.add_array("times", &ndarray::aview1(&self.times))?;
        archive.add_array("dt", &ndarray::arr0(system.settings.time_step))?;
        let meta = Value::Object(self.meta(system)).to_string();
        archive.add_array("meta", &ndarray::aview1(meta.as_bytes()))?;
        archive.finish()?;
        Ok(file.into_inner())
    }

    fn arrays(&self) -> [(&'static str, ArrayViewD<'_, f64>); 6] {
        [
            ("A", self.a.view().into_dyn()),
            ("B", self.b.view().into_dyn()),
            ("C", self.c.view().into_dyn()),
            ("x", self.x.view().into_dyn()),
            ("x_next", self.x_next.view().into_dyn()),
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

fn integrator(solver: ContactSolver) -> String {
    let contact = match solver {
        ContactSolver::Coupled => "normal and friction impulses are solved for as one problem",
        ContactSolver::Staggered { .. } => "normal and friction impulses are solved for in turn",
        ContactSolver::GaussSeidel => "impulses are solved for by Gauss-Seidel sweeps",
        ContactSolver::ConvexRelaxation => "impulses minimise a convex relaxation",
        ContactSolver::Pyramid => "friction is limited along each tangent by itself (a pyramid)",
    };
    format!(
        "semi-implicit Euler with impulses: v+ = v_free + M^-1 J' lambda, then q+ = q (+) dt v+. \
         v_free has gravity and u over dt; free rotation conserves angular momentum and energy. \
         Rigid contact with Coulomb friction at the velocities of the end of the step; {contact}"
    )
}

fn convention() -> Value {
    json!({
        "units": "SI: m, s, kg, N, rad",
        "frames": "world: right-handed, z up unless gravity says otherwise; body: axes and origin \
            of its shape, the origin at the centre of the shape",
        "state": "x = [q; v], all bodies in q, then all bodies in v, in the order of `bodies`. q \
            of a body: position of its origin in the world (3, m), orientation as a unit \
            quaternion w, x, y, z, body to world (4). v of a body: linear velocity of its origin \
            in the WORLD frame (3, m/s), angular velocity in the BODY frame (3, rad/s)",
        "tangent": "dx = [dq; dv], all bodies in dq, then all bodies in dv. dq of a body: \
            translation of its origin in the WORLD frame (3, m), rotation vector in the BODY frame \
            (3, rad). dv: change of v",
        "difference": "right-trivialised: x (+) dx adds translations and velocities and turns R \
            into R exp([dr]x), the turn multiplied on the right; y (-) x is its inverse, with dr = \
            log(R_x' R_y). dx is taken at x[k], dx+ at x_next[k]",
        "input": "u, 6 a body: force on the body origin in the WORLD frame (N), torque in the BODY \
            frame (N m), constant over the step",
        "parameters": "p, each by itself: a change of mass or size leaves the inertia (about the \
            centre of mass, along the body axes) as it is. kg, m, kg m^2, m/s^2; mu and \
            restitution without unit",
        "jacobians": "dx+ = A dx + B du + C dp, A[k][i][j] = d(x_next[k] component i) / d(x[k] \
            component j): rows and columns as in `tangent_names`, `input_names`, \
            `parameter_names`",
        "modes": "one entry a step. The Jacobians hold as long as these stay: contacts that touch, \
            by pair and point (corner of a box: bits 0, 1, 2 set on the upper side in x, y, z; 0 \
            for a sphere); mode stick, slide or clamp (at the friction limit, yet held); target: \
            what decided the normal velocity. margin: distance to the nearest change of mode, 0 at \
            a kink, null without contacts. determined: false where A, B or C holds NaN (null in \
            JSON), because a contact problem was not solved. gap at the start of the step (m); impulse on the body \
            (N s) along [normal out of the half-space, tangent 1, tangent 2]",
    })
}
