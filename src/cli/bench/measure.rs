//! What `stiction bench` measures of a scene.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::Error;
use crate::argmin::Mode;
use crate::cli::drive::{Drive, Settled, check_step};
use crate::cli::outcome::Outcome;
use crate::cli::output::{self, number};
use crate::cli::plausibility;
use crate::cli::progress::Progress;
use crate::collision::Detection;
use crate::contact::{Contacts, Impulses};
use crate::dynamics::FreeMotion;
use crate::linearize::{JacobianWorkspace, RolloutAdjoint, Selection, StepJacobian, step_jacobian};
use crate::model::{Scene, System};
use crate::simulation::{Rollout, StepReport};

/// What is measured: a scene, so many steps of it and Jacobians on the way.
pub(super) struct Bench<'a> {
    /// What the scene is called.
    pub path: &'a Path,
    pub scene: &'a Scene,
    pub steps: usize,
    pub jacobians: usize,
    pub settled: Option<Settled>,
    /// How often everything is timed, once at least.
    pub repeats: usize,
    /// Whether the result is for machines.
    pub json: bool,
}

/// How long things take, each added up over one rollout.
#[derive(Clone)]
pub(super) struct Times {
    pub step: Duration,
    free_motion: Duration,
    detection: Duration,
    /// Detection and what follows up to the impulses.
    contact: Duration,
    /// Time of the Jacobians; `None` if the contact solver has no derivatives.
    pub jacobians: Option<Duration>,
    /// The same of steps with their adjoints, what a step costs in the gradient of a rollout; `None` too where one has
    /// none.
    pub gradients: Option<Duration>,
}

/// What the solver did in the steps of a rollout.
#[derive(Default)]
pub(super) struct Statistics {
    pub report: StepReport,
    most_iterations: usize,
    pub touching: usize,
    most_touching: usize,
    modes: [usize; MODES.len()],
    /// Limits, dry friction and loops that acted.
    joints: usize,
    /// Jacobians that took steps on duals, and adjoints that took the tape.
    by_duals: usize,
    by_tape: usize,
}

const MODES: [Mode; 3] = [Mode::Stick, Mode::Slide, Mode::Clamp];

/// The best times of all repeats, and what the solver did.
pub(super) fn measure(bench: &Bench, drive: &mut Drive) -> Result<(Times, Statistics), Error> {
    let Bench { repeats, steps, json, .. } = *bench;
    let mut progress = Progress::new(3 * repeats * steps, json);
    let mut statistics = Statistics::default();
    let mut best: Option<Times> = None;
    for repeat in 0..repeats {
        let done = 3 * repeat * steps;
        let step = bench.time_steps(drive, |at| progress.set(done + at))?;
        let (times, counted) =
            bench.time_parts(drive, step, |at| progress.set(done + steps + 2 * at))?;
        best = Some(best.map_or(times.clone(), |best| best.least(&times)));
        statistics = counted;
    }
    drop(progress);
    let missing = || Error::input("--repeats", None, "", "must be at least 1, found 0");
    Ok((best.ok_or_else(missing)?, statistics))
}

/// Runs something and adds the time it takes.
fn timed<R>(total: &mut Duration, run: impl FnOnce() -> R) -> R {
    let begin = Instant::now();
    let result = run();
    *total += begin.elapsed();
    result
}

impl Times {
    /// The lesser of each.
    fn least(&self, other: &Times) -> Times {
        Times {
            step: self.step.min(other.step),
            free_motion: self.free_motion.min(other.free_motion),
            detection: self.detection.min(other.detection),
            contact: self.contact.min(other.contact),
            jacobians: self.jacobians.min(other.jacobians),
            gradients: self.gradients.min(other.gradients),
        }
    }
}

impl Bench<'_> {
    /// How it ended, with warnings of what is wrong.
    pub fn outcome(&self, statistics: &Statistics) -> Outcome {
        let (scene, report) = (self.scene, &statistics.report);
        output::warn_of_contacts(report, &scene.model, &scene.settings);
        plausibility::warn(&report.plausibility, "", &scene.model, scene.settings.time_step);
        let mut plausibility = report.plausibility;
        if let Some(settled) = &self.settled {
            settled.warn(scene);
            plausibility.merge(&settled.report.plausibility, 0);
        }
        Outcome::of(report.unsolved == 0, &plausibility)
    }

    fn system(&self) -> System<'_, f64> {
        self.scene.system()
    }

    /// The steps of a rollout and nothing else.
    fn time_steps(
        &self,
        drive: &mut Drive,
        mut done: impl FnMut(usize),
    ) -> Result<Duration, Error> {
        let mut total = Duration::ZERO;
        let mut rollout = Rollout::new(self.system(), self.scene.state.clone());
        for step in 1..=self.steps {
            self.drive(drive, step, &rollout);
            let report = timed(&mut total, || rollout.step(&drive.inputs));
            self.check(step, &rollout, &report)?;
            done(step);
        }
        Ok(total)
    }

    /// The times of a rollout in which the stages are done once more by themselves before each step, and some
    /// steps are linearised.
    fn time_parts(
        &self,
        drive: &mut Drive,
        step: Duration,
        mut done: impl FnMut(usize),
    ) -> Result<(Times, Statistics), Error> {
        let (system, model) = (self.system(), &self.scene.model);
        let differentiable = system.settings.solver.demand_derivatives("").is_ok();
        let zero = Duration::ZERO;
        let mut times = Times {
            step,
            free_motion: zero,
            detection: zero,
            contact: zero,
            jacobians: differentiable.then_some(zero),
            gradients: differentiable.then_some(zero),
        };
        let mut statistics = Statistics::default();
        let mut rollout = Rollout::new(system, self.scene.state.clone());
        let (mut motion, mut detection) = (FreeMotion::default(), Detection::default());
        let (mut points, mut contacts) = (Vec::new(), Contacts::default());
        let mut impulses: Vec<Impulses<f64>> = vec![Impulses::default(); model.trees.len()];
        let inputs = model.default_inputs();
        let selection = Selection { inputs: &inputs, parameters: &[] };
        let (mut workspace, mut jacobian) = (JacobianWorkspace::default(), StepJacobian::default());
        let mut adjoint = RolloutAdjoint::default();
        let mut taken = 0;
        for step in 1..=self.steps {
            self.drive(drive, step, &rollout);
            let (state, inputs) = (&rollout.state, &drive.inputs);
            let dt = system.settings.time_step;
            timed(&mut times.free_motion, || motion.start(&system, state, inputs, dt));
            timed(&mut times.detection, || detection.points_at_hand(&system, &motion, &mut points));
            timed(&mut times.contact, || {
                contacts.resolve(&system, state, &motion, &mut impulses);
            });
            // Evenly spread: as many are due by now as its share of the steps.
            let due = taken * self.steps < self.jacobians * step;
            if let Some(total) = times.jacobians.as_mut().filter(|_| due) {
                let mut memory = rollout.memory.clone();
                let (memory, workspace) = (&mut memory, &mut workspace);
                timed(total, || {
                    step_jacobian(
                        &system,
                        state,
                        inputs,
                        selection,
                        memory,
                        workspace,
                        &mut jacobian,
                    );
                });
                if let Some(total) = times.gradients.as_mut() {
                    adjoint.start_with(state, &rollout.memory);
                    adjoint.set_time(rollout.time());
                    let found = timed(total, || {
                        adjoint.step(&system, inputs);
                        adjoint.reverse(&system, |_, seed| seed.fill(1.0))
                    });
                    if found.is_err() {
                        times.gradients = None;
                    }
                    statistics.by_tape += adjoint.recorded_steps();
                }
                taken += 1;
                statistics.by_duals += usize::from(jacobian.dual_steps > 0);
            }
            let report = rollout.step(&drive.inputs);
            self.check(step, &rollout, &report)?;
            statistics.add(&rollout, &report);
            done(step);
        }
        statistics.report = rollout.report;
        Ok((times, statistics))
    }

    fn drive(&self, drive: &mut Drive, step: usize, rollout: &Rollout<f64>) {
        let start = (step - 1) as f64 * self.scene.settings.time_step;
        drive.update(self.scene, Some(start), &rollout.state);
    }

    fn check(&self, step: usize, rollout: &Rollout<f64>, report: &StepReport) -> Result<(), Error> {
        let time = step as f64 * self.scene.settings.time_step;
        let file = self.path.display().to_string();
        check_step(&file, (step, time), &rollout.state, report)
    }

    /// Microseconds a step of each stage. They are measured apart from the step, so that the rest, what is left
    /// of it, may come out as zero.
    pub fn stages(&self, times: &Times) -> [(&'static str, f64); 4] {
        let each = |time: Duration| microseconds(time, self.steps);
        let known = times.free_motion + times.contact;
        [
            ("free_motion", each(times.free_motion)),
            ("collision_detection", each(times.detection)),
            ("contact_solve", each(times.contact.saturating_sub(times.detection))),
            ("rest", each(times.step.saturating_sub(known))),
        ]
    }

    pub fn json(&self, times: &Times, statistics: &Statistics) -> Map<String, Value> {
        let Scene { model, settings, .. } = self.scene;
        let mut object = output::json_head("bench", 0, 1);
        object.insert("scene".into(), output::path(self.path));
        object.insert("steps".into(), self.steps.into());
        object.insert("repeats".into(), self.repeats.into());
        object.insert("time_step".into(), number(settings.time_step));
        object.insert("integrator".into(), settings.integrator.name().into());
        object.insert("contact_solver".into(), settings.solver.name().into());
        object.insert("tolerance".into(), number(settings.tolerance));
        object.insert("pushed_apart".into(), output::pushed_apart(self.scene));
        object.insert(
            "settled".into(),
            self.settled.as_ref().map(|settled| settled.json(self.scene)).into(),
        );
        let size = json!({
            "bodies": model.bodies.len(),
            "nq": model.nq(),
            "nv": model.nv(),
            "nu": model.nu(),
            "pairs": model.pairs.len(),
        });
        object.insert("model".into(), size);
        let step = microseconds(times.step, self.steps);
        let per_second = 1e6 / step;
        let speed = json!({
            "per_second": number(per_second),
            "microseconds": number(step),
            "real_time_factor": number(per_second * settings.time_step),
        });
        object.insert("step".into(), speed);
        let stages = self.stages(times).map(|(name, time)| (name.to_string(), number(time)));
        object.insert("stages".into(), Value::Object(stages.into_iter().collect()));
        let jacobian = times.jacobians.map(|time| {
            let time = microseconds(time, self.jacobians);
            json!({
                "count": self.jacobians,
                "columns": 2 * model.nv() + model.default_inputs().len(),
                "per_second": number(1e6 / time),
                "microseconds": number(time),
                "steps": number(time / step),
                "by_duals": statistics.by_duals,
            })
        });
        object.insert("jacobian".into(), jacobian.into());
        let gradient = times.gradients.map(|time| {
            let time = microseconds(time, self.jacobians);
            json!({
                "microseconds": number(time),
                "steps": number(time / step),
                "by_tape": statistics.by_tape,
            })
        });
        object.insert("gradient".into(), gradient.into());
        object.insert("solver".into(), output::solver_summary(&statistics.report, model));
        let mean = |sum: usize| number(sum as f64 / self.steps as f64);
        let modes =
            MODES.iter().zip(statistics.modes).map(|(m, n)| (m.name().to_string(), mean(n)));
        let per_step = json!({
            "iterations": mean(statistics.report.worst.iterations),
            "most_iterations": statistics.most_iterations,
            "contacts": mean(statistics.touching),
            "most_contacts": statistics.most_touching,
            "modes": Value::Object(modes.collect()),
            "joint_conditions": mean(statistics.joints),
        });
        object.insert("per_step".into(), per_step);
        object
    }

    pub fn text(&self, times: &Times, statistics: &Statistics) -> String {
        let Scene { model, settings, .. } = self.scene;
        let Bench { steps, .. } = self;
        let step = microseconds(times.step, *steps);
        let mut lines = vec![format!(
            "{}: bodies {}, nv {}, nu {}; {steps} steps of {} s, {}, solver {}, 1 thread, best of {}, \
             stiction {}",
            self.path.display(),
            model.bodies.len(),
            model.nv(),
            model.nu(),
            settings.time_step,
            settings.integrator.name(),
            settings.solver.name(),
            self.repeats,
            env!("CARGO_PKG_VERSION"),
        )];
        lines.extend(self.settled.as_ref().map(Settled::sentence));
        let per_second = 1e6 / step;
        let row = |name: &str, time: f64, rest: &str| format!("{name:<22}{time:>12.2} us{rest}");
        let speed = format!(
            "   {per_second:.0} a second, {:.1} times real time",
            per_second * settings.time_step
        );
        lines.push(row("step", step, &speed));
        for (name, time) in self.stages(times) {
            let share = format!("   {:.0} %", 100.0 * time / step);
            lines.push(row(&format!("  {}", name.replace('_', " ")), time, &share));
        }
        lines.push(match times.jacobians {
            Some(time) => {
                let time = microseconds(time, self.jacobians);
                let (count, columns) =
                    (self.jacobians, 2 * model.nv() + model.default_inputs().len());
                let by_duals = match statistics.by_duals {
                    0 => String::new(),
                    some => format!(", {some} by duals through the whole step"),
                };
                let rest = format!(
                    "   {:.0} a second, {:.1} steps each ({columns} columns; {count} of them{by_duals})",
                    1e6 / time,
                    time / step
                );
                row("Jacobians A, B", time, &rest)
            }
            None => format!("Jacobians: none by solver {}", settings.solver.name()),
        });
        lines.extend(times.gradients.map(|time| {
            let time = microseconds(time, self.jacobians);
            let rest = format!("   {:.1} steps each, the step with its adjoint", time / step);
            row("gradient", time, &rest)
        }));
        let Statistics { report, most_iterations, touching, most_touching, modes, joints, .. } =
            statistics;
        let mean = |sum: usize| sum as f64 / *steps as f64;
        let modes: Vec<String> = MODES
            .iter()
            .zip(modes)
            .map(|(mode, &count)| format!("{:.1} {}", mean(count), mode.name()))
            .collect();
        lines.push(format!(
            "a step: {:.1} contacts touch ({}), at most {most_touching}; {:.1} conditions of joints; {:.1} \
             iterations, at most {most_iterations}",
            mean(*touching),
            modes.join(", "),
            mean(*joints),
            mean(report.worst.iterations),
        ));
        lines.push(format!(
            "solver: {} unsolved, largest residual {:.1e} (tolerance {:e})",
            report.unsolved, report.worst.residual, settings.tolerance
        ));
        lines.join("\n")
    }
}

impl Statistics {
    /// Adds a step; `report` is of it alone.
    fn add(&mut self, rollout: &Rollout<f64>, report: &StepReport) {
        self.most_iterations = self.most_iterations.max(report.worst.iterations);
        let mut touching = 0;
        for contact in rollout.workspace.contacts() {
            if let Some(k) = MODES.iter().position(|&mode| mode == contact.mode) {
                self.modes[k] += 1;
                touching += 1;
            }
        }
        self.touching += touching;
        self.most_touching = self.most_touching.max(touching);
        let acting = rollout.workspace.joints().iter().filter(|joint| joint.mode != Mode::Break);
        self.joints += acting.count();
    }
}

/// The mean time, µs, of `count` runs that took `time` together.
pub(super) fn microseconds(time: Duration, count: usize) -> f64 {
    1e6 * time.as_secs_f64() / count as f64
}
