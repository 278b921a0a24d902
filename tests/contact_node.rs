//! The coupled contact node on random problems: laws, and derivatives against each other.

use std::ops::Range;

use nalgebra::Matrix6;
use stiction::ad::{self, NodeRule, Real, with_node_rule};
use stiction::argmin::{ContactSolution, CoupledContact, Law, Mode};

use crate::random::Random;

/// A random problem: generic rows, or those of corners of a flat box (dependent).
pub fn problem(
    random: &mut Random,
    contacts: usize,
    flat: bool,
    compliance: f64,
) -> (CoupledContact, Vec<f64>) {
    let node = CoupledContact::on_one_tree(contacts, 6, 1e-10);
    let mut x = Vec::new();
    for i in 0..contacts {
        let r = if flat {
            [[-1.0, 1.0][i % 2] * 0.3, [-1.0, 1.0][i / 2 % 2] * 0.2, -0.1]
        } else {
            [random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3), -0.1]
        };
        // Point velocity v + w x r, rows z, x, y.
        let rows = [
            [0.0, 0.0, 1.0, r[1], -r[0], 0.0],
            [1.0, 0.0, 0.0, 0.0, r[2], -r[1]],
            [0.0, 1.0, 0.0, -r[2], 0.0, r[0]],
        ];
        x.extend(rows.iter().flatten());
    }
    let mut l = [0.0; 36];
    for i in 0..6 {
        for k in 0..i {
            l[i * 6 + k] = if flat { 0.0 } else { random.uniform(-0.05, 0.05) };
        }
        l[i * 6 + i] = if i < 3 { 1.0 } else { random.uniform(0.1, 0.3) };
    }
    x.extend(l);
    let mut v = random.vector::<6>(1.0);
    v[2] = -random.uniform(0.05, 1.0);
    x.extend(v);
    x.extend((0..contacts).map(|_| 0.0));
    x.extend((0..contacts).map(|_| random.uniform(0.1, 1.0)));
    x.extend((0..contacts).map(|_| compliance));
    (node, x)
}

pub fn run<T: Real>(node: &CoupledContact, x: &[T]) -> (Vec<T>, ContactSolution) {
    let mut y = vec![T::zero(); node.output_len()];
    let mut solution = ContactSolution::default();
    T::call(node, x, &mut y, &mut solution, &mut Default::default());
    (y, solution)
}

#[test]
fn solutions_obey_the_laws() {
    let mut random = Random(1);
    let mut seen = std::collections::HashMap::<Mode, usize>::new();
    let mut unsolved = 0;
    for case in 0..2000 {
        let contacts = 1 + case % 6;
        let flat = case % 3 == 0;
        let compliance = if case % 2 == 0 { 1e-6 } else { 0.0 };
        let (node, x) = problem(&mut random, contacts, flat, compliance);
        let (y, solution) = run(&node, &x);
        // Compliances this small leave a few of the crooked ones unsolved, and said to be so.
        if !solution.report.status.is_solved() {
            assert!(
                !flat && solution.report.residual > 1e-10,
                "case {case}: {:?}",
                solution.report
            );
            unsolved += 1;
            continue;
        }
        let (v, lambda) = y.split_at(6);
        for i in 0..contacts {
            *seen.entry(solution.modes[i]).or_default() += 1;
            let u: Vec<f64> =
                (0..3).map(|r| (0..6).map(|k| x[(3 * i + r) * 6 + k] * v[k]).sum()).collect();
            let mu = x[x.len() - 2 * contacts + i];
            let (n, t) = (lambda[3 * i], lambda[3 * i + 1].hypot(lambda[3 * i + 2]));
            let gap = u[0] + compliance * n;
            assert!(n >= -1e-12 && gap >= -1e-9 && n * gap < 1e-9, "case {case}: {n} {gap}");
            assert!(t <= mu * n + 1e-9, "case {case}: friction {t} over {}", mu * n);
            // Maximum dissipation: lambda_t . u_t = -mu lambda_n |u_t|
            let power = lambda[3 * i + 1] * u[1] + lambda[3 * i + 2] * u[2];
            assert!((power + mu * n * u[1].hypot(u[2])).abs() < 1e-9, "case {case}");
        }
    }
    assert!(unsolved <= 20, "{unsolved}");
    for mode in [Mode::Break, Mode::Stick, Mode::Slide] {
        assert!(seen.get(&mode).copied().unwrap_or(0) > 200, "{mode:?} hardly occurs: {seen:?}");
    }
}

#[test]
fn four_ways_to_differentiate_agree() {
    let mut random = Random(2);
    let (mut checked, mut worst_unrolled) = (0, 0.0_f64);
    for case in 0..300 {
        let contacts = 1 + case % 4;
        let flat = case % 3 == 0;
        let compliance = if case % 2 == 0 { 1e-4 } else { 0.0 };
        let (node, x) = problem(&mut random, contacts, flat, compliance);
        let (y, solution) = run(&node, &x);
        if solution.report.margin < 1e-6 {
            continue;
        }
        checked += 1;
        let dx: Vec<f64> = x.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let w: Vec<f64> = y.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
        let [jvp, residual, unrolled] = [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled]
            .map(|rule| with_node_rule(rule, || ad::jvp(|x| run(&node, x).0, &x, &dx).unwrap().1));
        let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| w.clone()).unwrap();
        let scale = jvp.iter().fold(1.0_f64, |s, t| s.max(t.abs()));
        for k in 0..y.len() {
            assert!(
                (jvp[k] - residual[k]).abs() <= 1e-8 * scale,
                "case {case}, {:?}: jvp {jvp:?}, residual {residual:?}",
                solution.modes,
            );
            worst_unrolled = worst_unrolled.max((jvp[k] - unrolled[k]).abs() / scale);
        }
        let forward: f64 = w.iter().zip(&jvp).map(|(a, b)| a * b).sum();
        let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
        assert!((forward - backward).abs() <= 1e-8 * scale, "case {case}: {forward} {backward}");
    }
    assert!(checked > 250, "{checked}");
    assert!(worst_unrolled < 1e-6, "{worst_unrolled}");
}

/// The tangent of `run` along `dx` by `rule`.
fn tangent(node: &CoupledContact, x: &[f64], dx: &[f64], rule: NodeRule) -> Vec<f64> {
    with_node_rule(rule, || ad::jvp(|x| run(node, x).0, x, dx).unwrap().1)
}

/// The largest difference, relative to the largest of the first.
fn apart(x: &[f64], y: &[f64]) -> f64 {
    let size = x.iter().fold(f64::MIN_POSITIVE, |size, x| size.max(x.abs()));
    x.iter().zip(y).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs())) / size
}

/// A body on feet at heights that differ by a tilt, which stick; and what its inputs change by when each foot moves.
fn feet(random: &mut Random, count: usize, tilt: f64, compliance: f64) -> [Vec<f64>; 2] {
    let rows = |[x, y, z]: [f64; 3], one: f64| {
        [[0.0, 0.0, one, y, -x, 0.0], [one, 0.0, 0.0, 0.0, z, -y], [0.0, one, 0.0, -z, 0.0, x]]
    };
    let (mut x, mut dx) = (Vec::new(), Vec::new());
    for i in 0..count {
        let place = [
            [-0.3, 0.3][i % 2],
            (i / 2) as f64 * 0.2 - 0.3,
            -0.1 + tilt * random.uniform(-1.0, 1.0),
        ];
        x.extend(rows(place, 1.0).iter().flatten());
        dx.extend(rows(random.vector::<3>(1.0), 0.0).iter().flatten());
    }
    for i in 0..6 {
        let inertia = if i < 3 { 1.0 } else { random.uniform(0.1, 0.3) };
        x.extend((0..6).map(|k| if i == k { inertia } else { 0.0 }));
    }
    x.extend(
        (0..6)
            .map(|k| if k == 2 { -random.uniform(0.5, 1.0) } else { random.uniform(-0.05, 0.05) }),
    );
    for value in [0.0, 0.8, compliance] {
        x.extend((0..count).map(|_| value));
    }
    let moved = dx.len();
    dx.extend(x[moved..].iter().map(|_| random.uniform(-1.0, 1.0)));
    [x, dx]
}

/// Whether a problem is solved off all borders; then `jvp` has to agree with the residual within `bounds` of velocities and
/// of impulses, and with `vjp`.
fn compare(
    [x, dx]: &[Vec<f64>; 2],
    random: &mut Random,
    case: &str,
    bounds: [f64; 2],
) -> Option<ContactSolution> {
    let node = CoupledContact::on_one_tree((x.len() - 42) / 21, 6, 1e-10);
    let (y, solution) = run(&node, x);
    if !solution.report.status.is_solved() || solution.report.margin < 1e-6 {
        return None;
    }
    let by = |rule| tangent(&node, x, dx, rule);
    let (jvp, residual) = (by(NodeRule::ByJvp), by(NodeRule::ByResidual));
    for (part, bound) in [0..6, 6..y.len()].into_iter().zip(bounds) {
        let found = apart(&jvp[part.clone()], &residual[part]);
        assert!(found < bound, "{case}, {:?}: {found:e}: {jvp:?} {residual:?}", solution.modes);
    }
    let unrolled = by(NodeRule::Unrolled);
    let found = apart(&unrolled[..6], &residual[..6]);
    assert!(found < 1e-6, "{case}, {:?}: {found:e}: {unrolled:?} {residual:?}", solution.modes);
    let w: Vec<f64> = y.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
    let (_, adjoint) = ad::vjp(|x| run(&node, x).0, x, |_| w.clone()).unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let size: f64 = w.iter().zip(&jvp).map(|(w, y)| (w * y).abs()).sum();
    let gap = (dot(&w, &jvp) - dot(&adjoint, dx)).abs();
    assert!(gap <= 1e-8 * size, "{case}, {:?}: {gap} of {size}", solution.modes);
    Some(solution)
}

/// Feet whose tangential rows are dependent but for a tilt: the tape was wrong by O(1) here.
#[test]
fn derivatives_of_tilted_feet_agree() {
    let mut random = Random(7);
    let mut checked = 0;
    for count in [4, 6, 8] {
        for compliance in [0.0, 1e-6, 1e-3] {
            for tilt in [0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5] {
                for _ in 0..5 {
                    let problem = feet(&mut random, count, tilt, compliance);
                    let case = format!("{count} feet, compliance {compliance}, tilt {tilt}");
                    // Impulses have a part that the rows' tilts decide.
                    let bounds = [1e-8, f64::INFINITY];
                    let found = compare(&problem, &mut random, &case, bounds);
                    checked += usize::from(found.is_some());
                }
            }
        }
    }
    assert!(checked > 150, "{checked}");
}

/// Feet of which all or every other one has a compliance, that stick, slide in one direction, or spin: the compliant
/// conditions are then more than motions, with friction that follows, beside rigid ones that share the rule.
#[test]
fn derivatives_of_compliant_and_rigid_feet_agree() {
    let mut random = Random(8);
    let (mut seen, mut checked) = ([0; 3], 0);
    for case in 0..360 {
        let count = [3, 4, 5, 6, 8][case % 5];
        let (motion, rigid) = (case / 5 % 3, case / 15 % 3);
        let mut problem = feet(&mut random, count, 0.0, 1e-3);
        let [x, _] = &mut problem;
        let free = 18 * count + 36;
        match motion {
            0 => {}
            1 => x[free..free + 2].copy_from_slice(&[2.0, 0.7]),
            _ => x[free + 5] = 8.0,
        }
        let limits = free + 6 + count;
        x[limits..limits + count].iter_mut().for_each(|mu| *mu = random.uniform(0.2, 0.4));
        // None, every other one, all but two.
        for (k, c) in x[limits + count..].iter_mut().enumerate() {
            let is_rigid = [false, k % 2 == 0, k >= 2][rigid];
            *c = if is_rigid { 0.0 } else { *c * random.uniform(0.5, 2.0) };
        }
        let name = format!("case {case}: {count} feet, motion {motion}, rigid {rigid}");
        let Some(solution) = compare(&problem, &mut random, &name, [1e-8, 1e-6]) else { continue };
        checked += 1;
        for mode in solution.modes {
            match mode {
                Mode::Stick => seen[0] += 1,
                Mode::Slide => seen[1] += 1,
                _ => seen[2] += 1,
            }
        }
    }
    println!("{checked} problems, sticking, sliding, other: {seen:?}");
    assert!(checked > 250 && seen[0] > 200 && seen[1] > 500, "{checked} {seen:?}");
}

/// Two bodies that slide, one of them ten million times as heavy: its row is short, but not dependent.
#[test]
fn friction_of_a_heavy_body_follows_its_normal_impulse() {
    let mut node = CoupledContact { tolerance: 1e-12, ..CoupledContact::default() };
    let trees = [node.rows.add_tree(3), node.rows.add_tree(3)];
    trees.into_iter().for_each(|tree| node.add(Law::Coulomb, [tree, tree]));
    let unit = |size: f64| (0..9).map(move |k| if k % 4 == 0 { size } else { 0.0 });
    let mut x: Vec<f64> = unit(1.0).chain(unit(1.0)).collect();
    x.extend(unit(1.0).chain(unit(1e7_f64.sqrt())));
    x.extend([-1.0, 3.0, 0.0, -1.0, 3.0, 0.0]);
    x.extend([0.0, 0.0, 0.5, 0.5, 0.0, 0.0]);
    let mut dx = vec![0.0; x.len()];
    (dx[36], dx[39]) = (1.0, 1.0);
    let jvp = tangent(&node, &x, &dx, NodeRule::ByJvp);
    // Faster down by 1, more friction by mu.
    approx::assert_relative_eq!(jvp[..6], [0.0, 0.5, 0.0, 0.0, 0.5, 0.0], epsilon = 1e-9);
    assert!(apart(&jvp, &tangent(&node, &x, &dx, NodeRule::ByResidual)) < 1e-8);
}

/// Nothing to differentiate, and inputs that no problem has.
#[test]
fn problems_of_no_size_and_of_a_wrong_one_do_not_end_the_process() {
    for (contacts, velocities) in [(0, 0), (0, 3), (1, 0)] {
        let node = CoupledContact::on_one_tree(contacts, velocities, 1e-10);
        let x = vec![1.0; node.input_len()];
        let jvp = tangent(&node, &x, &vec![1.0; x.len()], NodeRule::ByJvp);
        assert_eq!(jvp.len(), node.output_len());
    }
    let node = CoupledContact::on_one_tree(1, 3, 1e-10);
    assert!(tangent(&node, &[1.0; 5], &[1.0; 5], NodeRule::ByJvp).iter().all(|x| x.is_nan()));
}

// A contact that moves its body by nothing but rounding asks for impulses that nobody has.
#[test]
fn impulses_that_nothing_could_have_are_no_solution() {
    let node = CoupledContact::on_one_tree(1, 6, 1e-10);
    let solve = |lever: f64| {
        let mut x = vec![0.0; 18];
        (x[0], x[1 + 6], x[2 + 12]) = (lever, lever, lever);
        x.extend((0..36).map(|k| if k % 7 == 0 { 1.0 } else { 0.0 }));
        x.extend([0.0; 6]);
        // The target, friction, compliance.
        x.extend([30.0, 0.5, 0.0]);
        let (y, solution) = run(&node, &x);
        (y[6], solution.report)
    };
    let (impulse, report) = solve(1e-17);
    assert!(!report.status.is_solved() && report.residual.is_infinite(), "{impulse} {report:?}");
    for lever in [1.0, 1e-3] {
        let (impulse, report) = solve(lever);
        assert!(report.status.is_solved(), "{report:?}");
        assert!((impulse * lever * lever / 30.0 - 1.0).abs() < 1e-9, "{impulse}");
    }
}

/// Boxes on each other, `count` of them, on four corners each, with mu = 0.8 but for `mu` below the middle one, which moves
/// along x at `speed` with those above: the node, its inputs, and what these change by where corners move in their planes, so
/// that what is dependent stays so. With `rigid` one more body lies by itself on something rigid.
fn tower(
    random: &mut Random,
    (count, rigid): (usize, bool),
    (mu, speed): (f64, f64),
) -> (CoupledContact, [Vec<f64>; 2]) {
    let mut node = CoupledContact { tolerance: 1e-12, ..CoupledContact::default() };
    (0..count).for_each(|_| _ = node.rows.add_tree(6));
    if rigid {
        node.rows.add_tree(1);
    }
    // Of a body whose corner is at r: normal, tangents.
    let rows = |[x, y, z]: [f64; 3], one: f64| {
        [[0.0, 0.0, one, y, -x, 0.0], [one, 0.0, 0.0, 0.0, z, -y], [0.0, one, 0.0, -z, 0.0, x]]
    };
    let (mut x, mut dx) = (Vec::new(), Vec::new());
    for k in 0..count {
        for corner in 0..4 {
            node.add(Law::Coulomb, [k.saturating_sub(1), k]);
            let [x0, y0] = [0.3 * [-1.0, 1.0][corner % 2], 0.2 * [-1.0, 1.0][corner / 2]];
            let [own, other] = [-0.1, 0.1].map(|z| rows([x0, y0, z], 1.0));
            let [dx0, dy0] = random.vector::<2>(1.0);
            let moved = rows([dx0, dy0, 0.0], 0.0);
            for ((own, other), moved) in own.iter().zip(&other).zip(&moved) {
                if k > 0 {
                    x.extend(other.iter().map(|x| -x));
                    dx.extend(moved.iter().map(|x| -x));
                }
                x.extend(own);
                dx.extend(moved);
            }
        }
    }
    let last = |numbers: &mut Vec<f64>, value| numbers.extend(rigid.then_some(value));
    if rigid {
        node.add(Law::NonNegative, [count, count]);
    }
    last(&mut x, 1.0);
    last(&mut dx, 0.0);
    let mut vary = |numbers: &[f64], scale: f64, x: &mut Vec<f64>, dx: &mut Vec<f64>| {
        x.extend(numbers);
        dx.extend(numbers.iter().map(|_| scale * random.uniform(-1.0, 1.0)));
    };
    for k in 0..count {
        for i in 0..6 {
            let inertia = if i < 3 { 1.0 } else { 0.1 + 0.01 * (k % 7 + i) as f64 };
            let row: Vec<f64> = (0..6).map(|j| if i == j { inertia } else { 0.0 }).collect();
            vary(&row, 1.0, &mut x, &mut dx);
        }
    }
    last(&mut x, 1.0);
    last(&mut dx, 0.0);
    let middle = count / 2;
    for k in 0..count {
        let along = if k >= middle { speed } else { 0.0 };
        vary(&[along, 0.002, -0.05, 0.001, -0.001, 0.001], 1.0, &mut x, &mut dx);
    }
    last(&mut x, -0.05);
    last(&mut dx, 0.0);
    for of in 0..3 {
        for k in 0..count {
            let value = [0.0, if k == middle { mu } else { 0.8 }, 1e-5][of];
            vary(&[value; 4], [0.1, 0.1, 1e-5][of], &mut x, &mut dx);
        }
        last(&mut x, 0.0);
        last(&mut dx, 0.0);
    }
    (node, [x, dx])
}

/// Many trees are differentiated by sparse blocks, unless there is something rigid, which is dense: both of the same tower, of
/// velocities and impulses, forward and in reverse.
#[test]
fn blocks_differentiate_as_dense_matrices_do() {
    let count = 13;
    for (mu, speed) in [(0.8, 0.0), (0.01, 0.3)] {
        let [(modes, blocks), (other_modes, dense)] = [false, true].map(|rigid| {
            let (node, [x, dx]) = tower(&mut Random(40), (count, rigid), (mu, speed));
            let (y, solution) = run(&node, &x);
            assert!(solution.report.status.is_solved(), "{:?}", solution.report);
            let (velocities, lambda) = (0..6 * count, node.rows.velocities());
            let impulses = lambda..lambda + 12 * count;
            let jvp = tangent(&node, &x, &dx, NodeRule::ByJvp);
            let mut weights = Random(7);
            let mut w = vec![0.0; y.len()];
            let seeded = velocities.clone().chain(impulses.clone());
            seeded.for_each(|k| w[k] = weights.uniform(-1.0, 1.0));
            let (_, adjoint) = ad::vjp(|x| run(&node, x).0, &x, |_| w.clone()).unwrap();
            let forward: f64 = w.iter().zip(&jvp).map(|(w, y)| w * y).sum();
            let backward: f64 = adjoint.iter().zip(&dx).map(|(a, b)| a * b).sum();
            let size: f64 = w.iter().zip(&jvp).map(|(w, y)| (w * y).abs()).sum();
            assert!((forward - backward).abs() < 1e-12 * size, "{speed}: {forward} {backward}");
            let of = |x: &[f64], part: &Range<usize>| x[part.clone()].to_vec();
            let mut numbers = vec![
                ("velocities", of(&y, &velocities)),
                ("impulses", of(&y, &impulses)),
                ("jvp of velocities", of(&jvp, &velocities)),
                ("jvp of impulses", of(&jvp, &impulses)),
            ];
            // Not by the entries of J, most of which would make independent what is not, where both may say what they
            // like. In each part the last is of what is rigid.
            let more = usize::from(rigid);
            let mut start = 12 * 6 + (count - 1) * 12 * 12 + more;
            for (name, length) in
                [("mass", 36), ("free", 6), ("target", 4), ("mu", 4), ("compliance", 4)]
            {
                let end = start + length * count;
                numbers.push((name, of(&adjoint, &(start..end))));
                start = end + more;
            }
            assert_eq!(start, x.len());
            (solution.modes[..4 * count].to_vec(), numbers)
        });
        assert_eq!(modes, other_modes, "{speed}");
        assert_eq!(modes.contains(&Mode::Slide), speed > 0.0, "{speed}: {modes:?}");
        assert_ne!(blocks[3], dense[3], "both are dense");
        for ((name, a), (_, b)) in blocks.iter().zip(&dense) {
            let most = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            assert!(most > 0.0 || (*name == "mu" && speed == 0.0), "{speed}: no {name}");
            assert!(apart(a, b) < 1e-9, "{speed}, {name}: {:e}", apart(a, b));
        }
    }
}

/// A link that jams between two others, of an arm of six joints with dry friction: two joints are held by one contact, whose rows are
/// nearly of rank two, at the edge of its cone, while the others turn. Who carries how much is not unique, and the friction of a joint
/// is a hundred-thousandth of that of the contact.
#[test]
fn a_jam_with_dry_friction_in_its_joints_goes_on_from_the_last_step() {
    struct Step {
        contact: [[f64; 2]; 3],
        /// L to the -T, row by row from the diagonal on.
        inverse: [f64; 21],
        free: [f64; 6],
        target: f64,
        compliance: f64,
    }
    let mut node = CoupledContact { tolerance: 1e-10, ..CoupledContact::default() };
    let tree = node.rows.add_tree(6);
    node.add(Law::Coulomb, [tree; 2]);
    (0..6).for_each(|_| node.add(Law::Interval, [tree; 2]));
    let inputs = |step: &Step| {
        let mut inverse = Matrix6::zeros();
        let places = (0..6).flat_map(|row| (row..6).map(move |column| (row, column)));
        places.zip(step.inverse).for_each(|(place, entry)| inverse[place] = entry);
        // Column by column, of the transpose: row by row.
        let factor = inverse.try_inverse().unwrap();
        let rows = step.contact.iter().flat_map(|[a, b]| [*a, *b, 0.0, 0.0, 0.0, 0.0]);
        let mut x: Vec<f64> = rows.chain(Matrix6::identity().iter().copied()).collect();
        x.extend(factor.iter());
        x.extend(step.free);
        x.extend([step.target, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        x.extend([1.0, 2e-5, 2e-5, 2e-5, 2e-5, 2e-5, 2e-5]);
        x.extend([step.compliance, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        x
    };
    let first = Step {
        contact: [
            [-0.007475608949668044, -0.05260906666723616],
            [-0.0723603488997507, -0.1219889281871941],
            [0.007878118159532486, 0.02520060601872725],
        ],
        inverse: [
            1.3875596388877054,
            -0.6157672768372026,
            0.23564521691060297,
            0.1691257913858608,
            -0.01929152952435641,
            -0.02013908399860228,
            1.0691287733560022,
            -0.2382681582076789,
            0.04133645538758182,
            -0.0029693545120730146,
            -0.007165943173167022,
            1.2967307206384697,
            -0.8612397386491739,
            0.047641246062813135,
            0.04665575463627014,
            8.67512390795599,
            0.8226077916524415,
            -0.618098549320617,
            17.273043342020355,
            -0.13117556777031408,
            86.56935412642908,
        ],
        free: [
            -0.016299246523438598,
            0.06315317068652086,
            6.557655632204835,
            -14.693730408066319,
            -1.1226185089874299,
            7.604018771854755,
        ],
        target: 4.519830690274951e-9,
        compliance: 2.902820437721174e-9,
    };
    let second = Step {
        contact: [
            [-0.007475608949555658, -0.05260906666701765],
            [-0.072360348899783, -0.12198892818698005],
            [0.007878118159544045, 0.025200606018758804],
        ],
        inverse: [
            1.3877671794100817,
            -0.6152272647220993,
            0.23728543518267617,
            0.16957961968281388,
            -0.017382045211830715,
            -0.02044201328450487,
            1.073911015249988,
            -0.23544359837085024,
            0.030661368138696802,
            -0.0029055997177623583,
            -0.006440335975901651,
            1.293907627028722,
            -0.8745596975608689,
            0.04856710836708175,
            0.04771372446247829,
            8.725657228108856,
            0.8171010683166117,
            -0.6227028581658649,
            17.272370866905177,
            -0.13037880008924943,
            86.5701833628543,
        ],
        free: [
            -0.016086138263343916,
            0.06297528605794486,
            6.5262706770093475,
            -14.832991263270888,
            -1.1198387458792745,
            7.462076697437726,
        ],
        target: 4.477911097477971e-9,
        compliance: 2.9223055841045643e-9,
    };
    let (_, mut solution) = run(&node, &inputs(&first));
    assert!(solution.report.status.is_solved(), "{:?}", solution.report);
    // 3, after sweeps; 58 where Newton, which goes from one edge of the cone to another, was followed by a search from nothing.
    let mut y = vec![0.0; node.output_len()];
    f64::call(&node, &inputs(&second), &mut y, &mut solution, &mut Default::default());
    let report = &solution.report;
    assert!(report.status.is_solved() && report.iterations <= 10, "{report:?}");
}
