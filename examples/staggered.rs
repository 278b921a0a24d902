//! How far the staggered projections of `[LeLidec21]` (Algorithm 1) are from the contact law they
//! alternate towards, in the impulses and in their derivatives.
//!
//! Prints a Markdown table: one step of a cube in five situations, solved as one problem (the
//! reference) and by 3, 10 and 50 passes from nothing, and by one pass from the solution itself. All
//! errors are relative and of what is unique, the impulse on the body J' lambda = M (v+ - v_p), in
//! the metric of the kinetic energy: the impulse, its derivative in mu (that of M v+), and its
//! derivative in the velocity before the step (that of M v+ without the part that needs no contact).
//! A body that sticks does not depend on mu: there, in brackets, the derivative that the
//! alternation finds nevertheless, relative to the impulse.
//!
//! The tape, the duals and differences agree on every derivative of the alternation: it is wrong
//! because the program is cut short, not because it is differentiated wrongly. The last row of each
//! scene is the telling one: the impulses are exact, and their derivatives are not. It starts from
//! impulses without derivatives, as the Jacobian of a single step does; a rollout hands them on.
//!
//! ```text
//! cargo run --release --example staggered
//! ```

use nalgebra::{SMatrix, SVector};
use stiction::ad::{Dual, LANES, Real};
use stiction::contact::{Contacts, Impulses};
use stiction::dynamics::FreeMotion;
use stiction::error::Error;
use stiction::linalg::solve_lower;
use stiction::model::{ContactSolver, Scene, Settings, StaggeredDerivative, System};
use stiction::state::NV;

/// Name, coefficient of friction and start of each scene. The slope is gravity's.
const SCENES: [(&str, f64, &str, &str); 5] = [
    (
        "slide with spin on four corners",
        0.2,
        "[0, 0, -9.81]",
        "position = [0, 0, 0.0501]
        velocity = [1.5, 0.4, -0.05]
        angular_velocity = [0, 0, 3]",
    ),
    (
        "sticking on a slope",
        0.8,
        "[2.5, -1.5, -9.3]",
        "position = [0, 0, 0.0501]
        velocity = [0.002, 0.001, -0.03]",
    ),
    (
        "landing on an edge",
        0.3,
        "[0, 0, -9.81]",
        "position = [0, 0, 0.0708]
        orientation = [0.92387953, 0, 0.38268343, 0]
        velocity = [0.3, 0.5, -1]
        angular_velocity = [0.1, 0.2, -0.3]",
    ),
    (
        "landing on a corner",
        0.1,
        "[0, 0, -9.81]",
        "position = [0, 0, 0.087]
        orientation = [0.88, 0.365, 0.3, 0.05]
        velocity = [0.3, 0.5, -1]
        angular_velocity = [0.5, -1, 2]",
    ),
    (
        "oblique impact",
        0.1,
        "[0, 0, -9.81]",
        "position = [0, 0, 0.087]
        orientation = [0.88, 0.365, 0.3, 0.05]
        velocity = [1, -0.5, -2]
        angular_velocity = [0.5, -1, 2]",
    ),
];

/// Derivatives in mu, then in the velocity.
type Scalar = Dual<f64, LANES>;

/// The impulse L^-1 J' lambda of a step and its derivatives.
struct Impulse {
    value: SVector<f64, NV>,
    mu: SVector<f64, NV>,
    velocity: SMatrix<f64, NV, NV>,
    /// Of the contact law, as the solver reports it.
    residual: f64,
    /// The impulses of the points, to start the next solve from.
    memory: Impulses<f64>,
}

/// The impulse of the first step of `scene` with the given solver and memory.
fn impulse(scene: &Scene, solver: ContactSolver, memory: &Impulses<f64>) -> Impulse {
    let settings = Settings { solver, ..scene.settings };
    let mut parameters = scene.parameters.cast::<Scalar>();
    for name in scene.model.parameter_names().iter().filter(|name| name.ends_with("mu")) {
        for slot in scene.model.parameter(name).map_or(Vec::new(), |found| found.slots) {
            parameters.values[slot] = Dual::variable(scene.parameters.values[slot], 0);
        }
    }
    let mut state = scene.state.cast::<Scalar>();
    for (k, v) in state.v.iter_mut().enumerate() {
        *v = Dual::variable(v.value, 1 + k);
    }
    let system = System { model: &scene.model, parameters: &parameters, settings: &settings };
    let wrench = [Scalar::constant(0.0); NV];
    let dt = Scalar::constant(settings.time_step);
    let mut motion = FreeMotion::default();
    motion.start(&system, &state, &wrench, dt);
    let mut memory = vec![memory.cast::<Scalar>()];
    let mut contacts = Contacts::default();
    contacts.resolve(&system, &state, &motion, &mut memory);
    let report = contacts.reports().next().map(|island| island.report).unwrap_or_default();
    let ([free], velocity, [memory]) = (&motion.lone[..], &contacts.velocities, &memory[..]) else {
        unreachable!("one body")
    };
    assert!(report.status.is_solved(), "{solver:?}: {report:?}");
    // L' (v+ - v_p) = L^-1 J' lambda
    let impulse: [Scalar; NV] = std::array::from_fn(|k| {
        (k..NV).fold(Scalar::constant(0.0), |sum, i| {
            sum + free.mass_factor[i * NV + k] * (velocity[i] - free.free_velocity[i])
        })
    });
    // Velocities before the step are measured in the same metric: d/d(L' v) = d/dv L^-T.
    let factor = free.mass_factor.map(|l| l.value);
    let by_velocity = impulse.map(|x| {
        let mut row: [f64; NV] = std::array::from_fn(|k| x.tangent[1 + k]);
        solve_lower(&factor, NV, &mut row);
        row
    });
    Impulse {
        value: SVector::from_fn(|i, _| impulse[i].value),
        mu: SVector::from_fn(|i, _| impulse[i].tangent[0]),
        velocity: SMatrix::from_fn(|i, k| by_velocity[i][k]),
        residual: report.residual,
        memory: memory.value(),
    }
}

/// The alternation and its own derivative.
fn passes(n_step: usize) -> ContactSolver {
    ContactSolver::Staggered { n_step, derivative: StaggeredDerivative::Unrolled }
}

/// A relative error, as a percentage of two digits.
fn percent(error: f64) -> String {
    match 100.0 * error {
        p if p < 1e-8 => "< 1e-8 %".into(),
        p if p < 0.01 => format!("{p:.0e} %"),
        p if p < 0.995 => format!("{p:.2} %"),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// The three errors of `found`.
fn errors(found: &Impulse, right: &Impulse) -> String {
    let force = (found.value - right.value).norm() / right.value.norm();
    let velocity = (found.velocity - right.velocity).norm() / right.velocity.norm();
    let mu = (found.mu - right.mu).norm();
    let mu = if right.mu.norm() > 1e-9 * right.value.norm() {
        percent(mu / right.mu.norm())
    } else {
        format!("({})", percent(mu / right.value.norm()))
    };
    format!("{:.0e} | {} | {mu} | {}", found.residual, percent(force), percent(velocity))
}

fn main() -> Result<(), Error> {
    println!("| scene | passes | residual | impulse | its d/dmu | its d/dv |");
    println!("|---|---|---|---|---|---|");
    for (name, mu, gravity, start) in SCENES {
        let text = format!(
            "gravity = {gravity}
            [simulation]
            time_step = 0.005
            [[half_space]]
            name = 'floor'
            normal = [0, 0, 1]
            [[body]]
            name = 'cube'
            mass = 0.37
            shape = {{ box = [0.05, 0.05, 0.05] }}
            {start}
            [[contact]]
            mu = {mu}
            restitution = {}",
            if name == "oblique impact" { 0.6 } else { 0.0 }
        );
        let scene = Scene::parse(&text, name)?;
        let nothing = Impulses::default();
        let right = impulse(&scene, ContactSolver::Coupled, &nothing);
        for n_step in [3, 10, 50] {
            let found = impulse(&scene, passes(n_step), &nothing);
            println!("| {name} | {n_step} from nothing | {} |", errors(&found, &right));
        }
        let found = impulse(&scene, passes(1), &right.memory);
        println!("| {name} | 1 from the solution | {} |", errors(&found, &right));
    }
    Ok(())
}
