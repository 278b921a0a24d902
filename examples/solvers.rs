//! What the contact solvers take and how far they are from Coulomb's law, scene by scene.
//!
//! Prints a Markdown table: one step from nothing, in scenes where impulses are shared by many
//! contacts. Iterations, and the error of the impulses on the bodies, M (v+ - v_p), relative to those of
//! the coupled problem, in the metric of the kinetic energy.
//!
//! ```text
//! cargo run --release --example solvers
//! ```

use stiction::error::Error;
use stiction::model::{ContactSolver, Model, Scene, Settings, StaggeredDerivative, System};
use stiction::simulation::{Rollout, StepReport};

const G: f64 = 9.81;

fn scene(gravity: [f64; 3], mu: f64, bodies: &str) -> Result<Scene, Error> {
    let text = format!(
        "gravity = {gravity:?}
         [simulation]
         time_step = 0.01
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         [[contact]]
         mu = {mu:?}
         {bodies}"
    );
    Scene::parse(&text, "built-in")
}

/// Cubes of 0.1 m on top of each other, the masses from below.
fn stack(masses: &[f64], force: [f64; 3], on: usize) -> Result<Scene, Error> {
    let cube = |(k, mass): (usize, &f64)| {
        let force = if k == on { force } else { [0.0; 3] };
        format!(
            "[[body]]
             name = 'cube{k}'
             mass = {mass:?}
             shape = {{ box = [0.05, 0.05, 0.05] }}
             position = [0, 0, {:?}]
             force = {force:?}\n",
            0.05 + 0.1 * k as f64
        )
    };
    scene([0.0, 0.0, -G], 0.5, &masses.iter().enumerate().map(cube).collect::<String>())
}

fn cube(start: &str) -> String {
    format!(
        "[[body]]
         name = 'cube'
         mass = 1
         shape = {{ box = [0.05, 0.05, 0.05] }}
         {start}"
    )
}

fn scenes() -> Result<Vec<(&'static str, Scene)>, Error> {
    let down = [0.0, 0.0, -G];
    let slide = cube(
        "position = [0, 0, 0.05]
         velocity = [1, 0.3, 0]
         angular_velocity = [0, 0, 5]",
    );
    let impact = cube(
        "position = [0, 0, 0.087]
         orientation = [0.88, 0.365, 0.3, 0.05]
         velocity = [1, -0.5, -2]
         angular_velocity = [0.5, -1, 2]",
    );
    let mut light_below = [1.0; 10];
    light_below[0] = 0.01;
    let ten = [1.0; 10];
    // The ground shakes: all are pushed at once, and the upper half has the other way to go.
    let mut shaken = stack(&ten, [0.0; 3], 0)?;
    for body in 0..10 {
        shaken.state.v[6 * body] = if body < 5 { 0.05 } else { -0.05 };
        shaken.state.v[6 * body + 1] = 0.02 * body as f64;
    }
    let (sin, cos) = 0.35_f64.sin_cos();
    let flat = cube("position = [0, 0, 0.05]");
    Ok(vec![
        ("cube, slide with spin", scene(down, 0.3, &slide)?),
        ("cube, sticks on a slope", scene([G * sin, 0.0, -G * cos], 0.5, &flat)?),
        ("cube, slips on a slope", scene([G * sin, 0.0, -G * cos], 0.2, &flat)?),
        ("cube, oblique impact", scene(down, 0.3, &impact)?),
        ("stack of ten", stack(&ten, [0.0; 3], 0)?),
        ("stack of ten, pushed", stack(&ten, [5.0, 0.0, 0.0], 5)?),
        ("stack of ten, shaken", shaken),
        ("nine on one 100 times lighter", stack(&light_below, [0.0; 3], 0)?),
    ])
}

/// What contact does to the velocities of all bodies in a step, [linear; angular] scaled so that its square is
/// twice a kinetic energy.
fn kick(scene: &Scene, solver: ContactSolver) -> (Vec<f64>, StepReport) {
    let Scene { model, parameters, state, inputs, .. } = scene;
    let settings = Settings { solver, ..scene.settings };
    let mut empty = model.clone();
    empty.pairs.clear();
    let after = |model: &Model| {
        let mut rollout =
            Rollout::new(System { model, parameters, settings: &settings }, state.clone());
        let report = rollout.step(inputs);
        (rollout.state.v, report)
    };
    let ((with, report), (without, _)) = (after(model), after(&empty));
    // The inertia of a cube is a number.
    let scale = |k: usize| {
        let body = k / 6;
        let (mass, inertia) =
            (parameters.mass(model, body), parameters.inertia(model, body)[(0, 0)]);
        if k % 6 < 3 { mass.sqrt() } else { inertia.sqrt() }
    };
    let pairs = with.iter().zip(&without).enumerate();
    (pairs.map(|(k, (a, b))| scale(k) * (a - b)).collect(), report)
}

fn norm(x: impl Iterator<Item = f64>) -> f64 {
    x.map(|x| x * x).sum::<f64>().sqrt()
}

fn main() -> Result<(), Error> {
    let staggered =
        |n_step| ContactSolver::Staggered { n_step, derivative: StaggeredDerivative::Implicit };
    let others = [
        staggered(3),
        staggered(10),
        staggered(50),
        ContactSolver::GaussSeidel,
        ContactSolver::ConvexRelaxation,
        ContactSolver::Pyramid,
        ContactSolver::ConvexPyramid,
    ];
    println!(
        "| scene | coupled | staggered, 3 passes | 10 | 50 | Gauss-Seidel | convex relaxation | pyramid | convex pyramid |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, scene) in scenes()? {
        let (right, report) = kick(&scene, ContactSolver::Coupled);
        let size = norm(right.iter().copied());
        let mut row = format!(
            "| {name} | {}, residual {:.0e} |",
            report.worst.iterations, report.worst.residual
        );
        for solver in others {
            let (found, report) = kick(&scene, solver);
            let error = norm(found.iter().zip(&right).map(|(a, b)| a - b)) / size;
            let error = match 100.0 * error {
                e if e < 1e-6 => "< 1e-6 %".to_string(),
                e if e < 0.01 => format!("{e:.0e} %"),
                e => format!("{e:.2} %"),
            };
            row += &format!(" {}: {error} |", report.worst.iterations);
        }
        println!("{row}");
    }
    Ok(())
}
