//! Whether a step did what bodies can do: a solver may meet its conditions with motions that nothing makes.

use super::oddity::{Implausible, Oddity};
use super::step_report::StepReport;
use super::workspace::Workspace;
use crate::ad::Real;
use crate::argmin::ContactData;
use crate::model::{Model, Solid, System};
use crate::state::State;

/// Contacts and joints may leave this many times the kinetic energy that the motion without them has and that their
/// targets ask for: none should leave more than once, but a stretched arm is heavy along itself.
const MOST_ENERGY: f64 = 100.0;
/// What an impulse moves at the least, relative to the inertia there is.
const LEAST_MOVED: f64 = 1e-6;
/// No velocity is beyond, m/s or rad/s: that of light.
const MOST_SPEED: f64 = 3e8;
/// Shapes may be this part of their size deeper in each other than they are thick: long ones that turn fast are, for
/// a step.
const TURNED: f64 = 0.1;

/// What is wrong with a step, if anything: `state` and `workspace` are those after it. Nothing is allocated where
/// nothing looks wrong.
///
/// It is no proof. What is found is none of what gravity, inputs, restitution or pushing shapes apart again could do;
/// what is not found may be wrong all the same.
pub fn plausible<T: Real>(
    system: &System<T>,
    state: &State<T>,
    workspace: &Workspace<T>,
    report: &StepReport,
) -> Option<Implausible> {
    let model = system.model;
    let numbers = model.bodies.iter().map(|body| {
        let joint = &body.joint;
        (joint.q..joint.q + joint.kind.nq(), joint.v..joint.v + joint.kind.nv())
    });
    for (body, (q, v)) in numbers.enumerate() {
        if !state.q[q].iter().chain(&state.v[v.clone()]).all(|x| x.value().is_finite()) {
            return Some(Implausible { body, oddity: Oddity::NotFinite });
        }
        let speed = state.v[v].iter().fold(0.0, |most: f64, x| most.max(x.value().abs()));
        if speed > MOST_SPEED {
            return Some(Implausible { body, oddity: Oddity::Speed(speed) });
        }
    }
    if !report.worst.residual.is_finite() {
        let size = |impulse: [f64; 3]| impulse.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let records = workspace.contacts().map(|record| (size(record.impulse), record.bodies));
        let largest = records.max_by(|a, b| a.0.total_cmp(&b.0));
        let body = largest.and_then(|(_, [first, second])| second.or(first)).unwrap_or(0);
        return Some(Implausible { body, oddity: Oddity::Impulse });
    }
    energy(system, workspace).or_else(|| depth(system, workspace))
}

/// Whether contacts and joints have left more energy than they can: an impulse takes from a relative velocity what it
/// does not turn into its target.
fn energy<T: Real>(system: &System<T>, workspace: &Workspace<T>) -> Option<Implausible> {
    let System { model, parameters, settings } = *system;
    // Smoothed contacts push from afar.
    if settings.smoothing > 0.0 {
        return None;
    }
    for (island, problem) in workspace.parts().1.solved() {
        let (node, inputs, outputs, _) = problem.solved();
        // Guests have energy that is not seen here.
        if node.rows.blocks().is_empty() || island.has_guests {
            continue;
        }
        let data = node.data(inputs);
        let (mut free, mut left, mut most, mut inertia) = (0.0, 0.0, 0.0, 0.0);
        let mut body = 0;
        let led = |place: usize| model.is_prescribed_tree(island.trees[place]);
        // What is led takes along what it touches, and gives as much energy as that needs.
        let taken = |i: usize| surface_speed(&data, i, led, outputs);
        for (place, &tree) in island.trees.iter().enumerate() {
            if led(place) {
                continue;
            }
            let (l, range) = (data.factor(place), data.rows.tree(place));
            free += kinetic_energy(l, &data.free[range.clone()]);
            let own = kinetic_energy(l, &outputs[range.clone()]);
            left += own;
            if own > most {
                (most, body) = (own, fastest(model, tree, &outputs[range]));
            }
            inertia += l.iter().map(|x| x.value() * x.value()).sum::<f64>();
            let bodies = model.trees[tree].bodies.iter();
            inertia += bodies.map(|&body| parameters.mass(model, body).value()).sum::<f64>();
        }
        let gravity = parameters.gravity().map(|x| x.value());
        let fall = gravity.norm() * settings.time_step;
        let asked = data.target.iter().map(|target| target.value().abs()).sum::<f64>();
        let asked = asked + (0..data.blocks().len()).map(taken).sum::<f64>();
        let given = free + 0.5 * inertia * (asked * asked + fall * fall);
        if left <= MOST_ENERGY * given {
            continue;
        }
        // What is asked of a short lever takes more.
        let mut row = Vec::new();
        let of = data.blocks().iter().enumerate().map(|(i, block)| {
            row.clear();
            row.resize(data.rows.velocities(), T::zero());
            block.add_times(data.row(i, 0), T::one(), &mut row);
            data.solve_factor(&mut row);
            let moved = row.iter().map(|x| x.value() * x.value()).sum::<f64>();
            let target = data.target[i].value().abs() + taken(i);
            0.5 * target * target / moved.max(LEAST_MOVED / inertia)
        });
        let given = given + of.sum::<f64>();
        if left > MOST_ENERGY * given {
            return Some(Implausible { body, oddity: Oddity::Energy { left, given } });
        }
    }
    None
}

/// How fast the trees that are led go where a block of rows touches them, along all of its rows, m/s.
fn surface_speed<T: Real>(
    data: &ContactData<T>,
    i: usize,
    led: impl Fn(usize) -> bool,
    velocities: &[T],
) -> f64 {
    let block = &data.blocks()[i];
    let along = |r: usize| {
        let row = data.row(i, r);
        let own = block.parts().filter(|(tree, _)| led(*tree));
        own.map(|(tree, part)| {
            let velocities = &velocities[data.rows.tree(tree)];
            let entries = row[part].iter().zip(velocities);
            entries.map(|(x, v)| x.value() * v.value()).sum::<f64>()
        })
        .sum::<f64>()
    };
    (0..block.rows).map(|r| along(r).abs()).sum()
}

/// |L' v|² / 2
fn kinetic_energy<T: Real>(l: &[T], v: &[T]) -> f64 {
    let n = v.len();
    let column = |c: usize| (c..n).map(|r| l[r * n + c].value() * v[r].value()).sum::<f64>();
    0.5 * (0..n).map(|c| column(c) * column(c)).sum::<f64>()
}

/// The body of a tree whose joint is fastest.
fn fastest<T: Real>(model: &Model, tree: usize, v: &[T]) -> usize {
    let tree = &model.trees[tree];
    let speed = |&body: &usize| {
        let joint = &model.bodies[body].joint;
        let first = joint.v.saturating_sub(tree.v.start);
        v[first..].iter().take(joint.kind.nv()).fold(0.0, |most: f64, x| most.max(x.value().abs()))
    };
    let fastest = tree.bodies.iter().copied().max_by(|a, b| speed(a).total_cmp(&speed(b)));
    fastest.unwrap_or(0)
}

/// Whether a contact is deeper than the thinner of both is thick.
fn depth<T: Real>(system: &System<T>, workspace: &Workspace<T>) -> Option<Implausible> {
    let System { model, parameters, .. } = *system;
    for record in workspace.contacts().filter(|record| record.gap < 0.0) {
        let depth = -record.gap;
        let is_through = |collider: usize| {
            let shape = &model.colliders[collider].shape;
            let (size, radius) = parameters.core(model, collider);
            let (size, radius) = (size.map(|x| x.value()).into(), radius.value());
            let thickness = 2.0 * (shape.thickness(size) + radius);
            shape.is_solid()
                && depth > thickness
                && depth > thickness + TURNED * (shape.bounding_radius(size) + radius)
        };
        let (first, second) = model.solids(record.pair);
        let first = match first {
            Solid::HalfSpace(_) => None,
            Solid::Collider(first) => Some(first),
        };
        let [one, other] = record.bodies;
        if let Some(body) = other.or(one)
            && (is_through(second) || first.is_some_and(is_through))
        {
            return Some(Implausible { body, oddity: Oddity::Depth(depth) });
        }
    }
    None
}
