//! iLQR on exact Jacobians of steps with contact: a cube is pushed to a place, an arm swung up, a hopper made to
//! jump, and a quadruped held against pushes by planning anew at every step. Each is done with Jacobians by
//! differences of the same simulator, too.
//!
//! `cargo run --release --example ilqr -- [push|swing|hop|balance|all] [--out FOLDER] [--view] [--second-order]`
//! prints tables and writes a figure of each as SVG into FOLDER (default `examples/ilqr`); with `--view` also pages that
//! play the motions; with `--second-order` the first three are searched by DDP, with the step's second derivatives.

mod balance;
mod box_qp;
mod cost;
mod dynamics;
mod optimiser;
mod picture;
mod playback;
mod tasks;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use balance::{Balance, Controller, PUSHES, Run};
use dynamics::{Effort, Jacobians};
use optimiser::{Options, Solution};
use picture::{Curve, Panel};
use tasks::{Outcome, Task};

/// Names and places of numbers of x or u.
type Numbers = [(&'static str, usize)];

/// What is drawn of each task: numbers of x, what they are, numbers of u.
const DRAWN: [(&str, &Numbers, &str, &Numbers); 3] = [
    ("push", &[("x", 0), ("y", 1)], "cube (m)", &[("along x", 0), ("along y", 1)]),
    ("swing", &[("shoulder", 0), ("elbow", 1)], "rad", &[("shoulder", 0), ("elbow", 1)]),
    ("hop", &[("trunk", 0)], "height (m)", &[("hip", 0), ("knee", 1)]),
];

/// Steps of the quadruped, the last of which must be near where it stood.
const STEPS: usize = 150;
/// Steps of the first push that are planned with Jacobians of each kind, to measure their cost.
const MEASURED: usize = 20;

fn main() -> ExitCode {
    match Program::parse().and_then(|program| program.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

struct Program {
    what: String,
    folder: PathBuf,
    view: bool,
    second_order: bool,
}

impl Program {
    fn parse() -> Result<Program, String> {
        let mut program = Program {
            what: "all".into(),
            folder: "examples/ilqr".into(),
            view: false,
            second_order: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--out" => program.folder = arguments.next().ok_or("--out needs a folder")?.into(),
                "--view" => program.view = true,
                "--second-order" => program.second_order = true,
                "push" | "swing" | "hop" | "balance" | "all" => program.what = argument,
                other => {
                    return Err(format!("{other}: give push, swing, hop, balance or all"));
                }
            }
        }
        Ok(program)
    }

    fn run(&self) -> Result<(), String> {
        let wanted = |name: &str| self.what == name || self.what == "all";
        if self.what != "balance" {
            println!(
                "| task | Jacobians | iterations to the goal, of each first guess | of all | ends | us a Jacobian | over exact |"
            );
            println!("|---|---|---|---|---|---|---|");
        }
        for task in tasks::all().map_err(text)?.iter().filter(|task| wanted(task.name)) {
            self.task(task)?;
        }
        if wanted("balance") {
            self.balance()?;
        }
        Ok(())
    }

    fn task(&self, task: &Task) -> Result<(), String> {
        let (mut solutions, mut exact) = (Vec::new(), 0.0);
        for jacobians in Jacobians::ALL {
            let options = Options { second_order: self.second_order, ..Options::default() };
            let solve = |guess: &i32| task.solve(*guess, jacobians, &options);
            let outcomes = tasks::GUESSES
                .iter()
                .map(solve)
                .collect::<Result<Vec<Outcome>, _>>()
                .map_err(text)?;
            let mean = mean_time(outcomes.iter().map(|outcome| &outcome.dynamics.effort));
            if jacobians == Jacobians::Exact {
                exact = mean;
            }
            let number = |k: Option<usize>| k.map_or("-".into(), |k| k.to_string());
            let reached: Vec<String> = outcomes.iter().map(|o| number(o.reached)).collect();
            // Nothing if a search has not reached the goal.
            let total = number(outcomes.iter().map(|outcome| outcome.reached).sum());
            let nv = outcomes[0].dynamics.transition.nv();
            println!(
                "| {} (nv {nv}) | {} | {} | {total} | {} | {mean:.1} | {:.1} |",
                task.name,
                jacobians.name(),
                reached.join(", "),
                ends(&outcomes),
                mean / exact
            );
            for miss in &outcomes[0].misses {
                eprintln!("  {}: {:.4}, asked for {}", miss.what, miss.value, miss.tolerance);
            }
            solutions.extend(outcomes.into_iter().next());
        }
        let costs = solutions.iter().zip(Jacobians::ALL).map(|(outcome, jacobians)| {
            let history = outcome.solution.history.iter().enumerate();
            Curve {
                name: jacobians.name(),
                points: history.map(|(k, &cost)| (k as f64, cost)).collect(),
            }
        });
        let first = &solutions[0].solution;
        let drawn = DRAWN.iter().find(|(name, ..)| *name == task.name);
        let (_, drawn, unit, inputs) = drawn.ok_or("a task that is not drawn")?;
        let panels = [
            Panel {
                title: format!("{}: cost", task.name),
                axes: ["iteration", "log10 of the cost"],
                logarithmic: true,
                curves: costs.collect(),
            },
            task_panel(task, first, drawn, ["time (s)", unit], |k| &first.states[k]),
            task_panel(task, first, inputs, ["time (s)", "N or N m"], |k| {
                first.inputs[k.min(first.inputs.len() - 1)].as_slice()
            }),
        ];
        self.write(&format!("{}.svg", task.name), &picture::draw(&panels)?)?;
        if self.view {
            let forces = vec![0.0; task.scene.model.nv()];
            let inputs = |solution: &Solution| -> Vec<Vec<f64>> {
                solution.inputs.iter().map(|u| [&forces, u.as_slice()].concat()).collect()
            };
            let page = playback::page(task.name, &task.scene, &[("found", inputs(first))]);
            self.write(&format!("{}.html", task.name), &page.map_err(text)?)?;
        }
        Ok(())
    }

    fn balance(&self) -> Result<(), String> {
        let balance = Balance::new().map_err(text)?;
        let exact = Controller::Predictive(Jacobians::Exact, 1);
        println!(
            "\n| push for 0.1 s | controller | trunk at most off by | lowest corner | after {STEPS} steps off by | lowest corner | tilted by |"
        );
        println!("|---|---|---|---|---|---|---|");
        let mut shown = Vec::new();
        for push in PUSHES {
            for controller in [Controller::Constant, Controller::Gains, exact] {
                let run = balance.run(controller, push, STEPS).map_err(text)?;
                let [x, y, _] = push.force;
                println!(
                    "| {x}, {y} N | {} | {:.3} m | {:.3} m | {:.3} m | {:.3} m | {:.2} rad |",
                    controller.name(),
                    run.away(0),
                    run.lowest(),
                    run.away(STEPS),
                    run.trunk(STEPS),
                    run.tilt(STEPS),
                );
                shown.push((controller, run));
            }
        }
        shown.truncate(3);
        println!("\n| Jacobians | us a Jacobian | over exact |\n|---|---|---|");
        let mut fast = 0.0;
        for jacobians in Jacobians::ALL {
            let controller = Controller::Predictive(jacobians, 1);
            let run = balance.run(controller, PUSHES[0], MEASURED).map_err(text)?;
            let mean = mean_time([&run.effort].into_iter());
            if jacobians == Jacobians::Exact {
                fast = mean;
            }
            println!("| {} | {mean:.0} | {:.1} |", jacobians.name(), mean / fast);
        }
        let dt = balance.scene.settings.time_step;
        let panel = |title: &str, label, component: &dyn Fn(&Run, usize) -> f64| Panel {
            title: title.into(),
            axes: ["time (s)", label],
            logarithmic: false,
            curves: shown
                .iter()
                .map(|(controller, run)| Curve {
                    name: controller.name(),
                    points: (0..run.states.len())
                        .map(|k| (k as f64 * dt, component(run, k)))
                        .collect(),
                })
                .collect(),
        };
        let panels = [
            panel("pushed aside", "trunk aside (m)", &|run, k| run.states[k][1]),
            panel("height", "trunk (m)", &|run, k| run.states[k][2]),
        ];
        self.write("balance.svg", &picture::draw(&panels)?)?;
        if self.view {
            let motions: Vec<(&str, Vec<Vec<f64>>)> = shown
                .into_iter()
                .map(|(controller, run)| (controller.name(), run.inputs))
                .collect();
            let page = playback::page("balance", &balance.scene, &motions).map_err(text)?;
            self.write("balance.html", &page)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, contents: &str) -> Result<(), String> {
        write(&self.folder, name, contents)
    }
}

/// How the searches end, each status once.
fn ends(outcomes: &[Outcome]) -> String {
    let mut names: Vec<&str> = outcomes.iter().map(|o| o.solution.status.name()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// What `of` gives for each step, as lines over time.
fn task_panel<'a>(
    task: &Task,
    solution: &Solution,
    named: &Numbers,
    axes: [&'static str; 2],
    of: impl Fn(usize) -> &'a [f64],
) -> Panel {
    let dt = task.scene.settings.time_step;
    let line = |&(name, index): &(&'static str, usize)| Curve {
        name,
        points: (0..solution.states.len()).map(|k| (k as f64 * dt, of(k)[index])).collect(),
    };
    Panel {
        title: task.name.into(),
        axes,
        logarithmic: false,
        curves: named.iter().map(line).collect(),
    }
}

/// Microseconds a Jacobian.
fn mean_time<'a>(efforts: impl Iterator<Item = &'a Effort>) -> f64 {
    let (mut time, mut count) = (0.0, 0);
    for effort in efforts {
        time += effort.jacobian_time.as_secs_f64();
        count += effort.jacobians;
    }
    1e6 * time / count.max(1) as f64
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn write(folder: &Path, name: &str, contents: &str) -> Result<(), String> {
    let path = folder.join(name);
    let error = |e| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(folder).map_err(error)?;
    std::fs::write(&path, contents).map_err(error)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
