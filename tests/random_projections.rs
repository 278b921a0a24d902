//! Random problems of the families of `reference/qcqp`, NC from 1 to 64: every one solved, or said
//! not to be, and differentiated alike in every way.

use stiction::ad::{Dual, Node, NodeRule, Real, with_node_rule};
use stiction::argmin::{
    DiskQcqp, NonnegativeQp, ProjectionMethod, ProjectionSettings, ProjectionWorkspace, Report,
};

use crate::cases;
use crate::families::{Family, Problem, disks, half_lines};

/// Problems of a full run (`STICTION_CASES=full`), and the part of them that runs by default.
const PROBLEMS: usize = 100_000;
const BY_DEFAULT: f64 = 0.04;

/// One in so many may stay unsolved, if its report says so.
const PER_FAILURE: usize = 10_000;

/// The `k`-th problem: kinds and families in turn, NC uniform in its logarithm, many small ones.
fn problem(k: usize) -> (Family, usize, Problem) {
    let families = Family::ALL.len() + Family::OF_QP.len();
    let (kind, seed) = (k % families, k as u64);
    let place = (k / families) as f64 * 0.618_033_988_749_894_9;
    let contacts = 64.5_f64.powf(place.fract()) as usize;
    if kind < Family::ALL.len() {
        let family = Family::ALL[kind];
        (family, contacts, disks(family, contacts, seed))
    } else {
        let family = Family::OF_QP[kind - Family::ALL.len()];
        (family, contacts, half_lines(family, contacts, seed))
    }
}

/// Whether P can be singular for so many contacts.
pub fn is_singular(family: Family, contacts: usize) -> bool {
    contacts > 1 && matches!(family, Family::CubeSlide | Family::CubeMix | Family::CubeStick)
}

fn name(family: Family, contacts: usize, problem: &Problem) -> String {
    let kind = if problem.radius.is_empty() { "qp" } else { "qcqp" };
    format!("{kind} {} {contacts}", family.name())
}

fn solve(
    problem: &Problem,
    settings: ProjectionSettings,
    workspace: &mut ProjectionWorkspace<f64>,
) -> (Vec<f64>, Report) {
    let (n, inputs, mut z) = (problem.q.len(), problem.inputs(), vec![0.0; problem.q.len()]);
    if problem.radius.is_empty() {
        let mut solution = Default::default();
        NonnegativeQp { n, settings }.primal(&inputs, &mut z, &mut solution, workspace);
        (z, solution.report)
    } else {
        let (contacts, mut solution) = (n / 2, Default::default());
        DiskQcqp { contacts, settings }.primal(&inputs, &mut z, &mut solution, workspace);
        (z, solution.report)
    }
}

/// |z - Proj(z - (Pz + q))| over max(|z|, |q_i / P_ii|): the measure of the reference data, which
/// shares nothing with the solver's.
fn natural_residual(problem: &Problem, z: &[f64]) -> f64 {
    let n = z.len();
    let target = |i: usize| {
        let row = &problem.p[i * n..][..n];
        z[i] - problem.q[i] - row.iter().zip(z).map(|(p, z)| p * z).sum::<f64>()
    };
    let mut distance = 0.0_f64;
    if problem.radius.is_empty() {
        for (i, z) in z.iter().enumerate() {
            distance = distance.max((z - target(i).max(0.0)).abs());
        }
    } else {
        for (i, radius) in problem.radius.iter().enumerate() {
            let (x, y) = (target(2 * i), target(2 * i + 1));
            let ratio = (radius / x.hypot(y)).min(1.0);
            distance = distance.max((z[2 * i] - ratio * x).abs());
            distance = distance.max((z[2 * i + 1] - ratio * y).abs());
        }
    }
    let scale = (0..n).map(|i| z[i].abs().max((problem.q[i] / problem.p[i * n + i]).abs()));
    distance / scale.fold(0.0, f64::max)
}

#[test]
fn every_random_problem_is_solved_or_reported() {
    let problems = cases::count(PROBLEMS, BY_DEFAULT);
    let mut workspace = ProjectionWorkspace::default();
    let settings = ProjectionSettings::default();
    let (mut unsolved, mut worst) = (0, (0.0, String::new()));
    for k in 0..problems {
        let (family, contacts, problem) = problem(k);
        let name = || format!("problem {k}, {}", name(family, contacts, &problem));
        let (z, report) = solve(&problem, settings, &mut workspace);
        assert!(z.iter().all(|z| z.is_finite()), "{}: {z:?}", name());
        assert!(report.margin >= 0.0 && report.residual >= 0.0, "{}: {report:?}", name());
        let residual = natural_residual(&problem, &z);
        let is_met = residual <= 1e-10;
        if !report.status.is_solved() {
            unsolved += 1;
            println!("{}: {}, residual {residual:.1e}", name(), report.status);
        }
        assert!(is_met || !report.status.is_solved(), "{}: {residual:e}, {report:?}", name());
        if is_met && residual > worst.0 {
            worst = (residual, name());
        }
    }
    println!(
        "{problems} problems, {unsolved} unsolved, largest residual {:.1e} ({})",
        worst.0, worst.1
    );
    assert!(unsolved <= problems / PER_FAILURE, "{unsolved} of {problems} unsolved");
}

#[test]
fn every_method_finds_the_same_solution() {
    let problems = cases::count(PROBLEMS / 20, BY_DEFAULT);
    let mut workspace = ProjectionWorkspace::default();
    for k in 0..problems {
        let (family, contacts, problem) = problem(k);
        let name = name(family, contacts, &problem);
        let motion = |method| {
            let settings = ProjectionSettings { method, ..Default::default() };
            let (z, report) = solve(&problem, settings, &mut workspace);
            let is_required = method == ProjectionMethod::InteriorPoint;
            assert!(report.status.is_solved() || !is_required, "{name} by {method:?}: {report:?}");
            let rows = problem.p.chunks_exact(z.len());
            let product = rows.map(|row| row.iter().zip(&z).map(|(p, z)| p * z).sum());
            report.status.is_solved().then(|| product.collect::<Vec<f64>>())
        };
        // Pz is unique for every P. Of the other methods each leaves some of the ill-conditioned
        // problems unsolved.
        let found = [
            ProjectionMethod::InteriorPoint,
            ProjectionMethod::Auto,
            ProjectionMethod::ProjectedNewton,
            ProjectionMethod::Admm,
        ]
        .map(motion);
        let size = problem.q.iter().fold(0.0_f64, |size, q| size.max(q.abs()));
        for other in found[1..].iter().flatten() {
            for (a, b) in other.iter().zip(found[0].iter().flatten()) {
                assert!((a - b).abs() <= 1e-6 * size, "{name}: {a} or {b}");
            }
        }
    }
}

/// w'dz along `tangent` by duals that pass nodes by `rule`.
fn forward<N: Node>(rule: NodeRule, node: &N, problem: &Problem, tangent: &[f64]) -> f64 {
    let inputs: Vec<Dual<f64, 1>> =
        problem.inputs().iter().zip(tangent).map(|(&x, &dx)| Dual::new(x, [dx])).collect();
    let mut z = vec![Dual::default(); problem.q.len()];
    with_node_rule(rule, || {
        Real::call(node, &inputs, &mut z, &mut Default::default(), &mut Default::default());
    });
    z.iter().zip(&problem.w).map(|(z, w)| z.tangent[0] * w).sum()
}

/// The adjoint along `tangent`, jvp and residual duals; errors relative to the terms of the first.
fn compare<N: Node>(node: &N, problem: &Problem) -> [f64; 2] {
    let (n, inputs) = (problem.q.len(), problem.inputs());
    // Along what keeps a singular P within its range: P and q scaled, R changed at will.
    let tangent: Vec<f64> = inputs
        .iter()
        .enumerate()
        .map(|(k, x)| {
            x * if k < n * n {
                0.3
            } else if k < n * n + n {
                -0.7
            } else {
                (k as f64).sin()
            }
        })
        .collect();
    let (mut z, mut adjoints) = (vec![0.0; n], vec![0.0; inputs.len()]);
    let (mut solution, mut factor) = (N::Solution::default(), N::Factor::default());
    f64::call(node, &inputs, &mut z, &mut solution, &mut Default::default());
    node.factor(&solution, &inputs, &z, &mut factor);
    node.vjp(&solution, &mut factor, &inputs, &z, &problem.w, &mut adjoints);
    let terms = adjoints.iter().zip(&tangent).map(|(a, t)| a * t);
    let (vjp, scale) = terms.fold((0.0, 0.0), |(s, m): (f64, f64), t| (s + t, m + t.abs()));
    let error = |x: f64| {
        let difference = (vjp - x).abs();
        if difference == 0.0 { 0.0 } else { difference / scale.max(x.abs()) }
    };
    [NodeRule::ByJvp, NodeRule::ByResidual]
        .map(|rule| error(forward(rule, node, problem, &tangent)))
}

#[test]
fn adjoints_tangents_and_residual_duals_agree() {
    let problems = cases::count(PROBLEMS / 10, BY_DEFAULT);
    let (mut worst, mut names) = ([0.0; 3], [const { String::new() }; 3]);
    for k in 0..problems {
        let (family, contacts, problem) = problem(k);
        if contacts > 16 {
            continue;
        }
        let errors = if problem.radius.is_empty() {
            compare(&NonnegativeQp { n: contacts, ..Default::default() }, &problem)
        } else {
            compare(&DiskQcqp { contacts, ..Default::default() }, &problem)
        };
        // Residual duals find the rank of a singular Jacobian by a general decomposition, to fewer
        // digits.
        let by_residual = if is_singular(family, contacts) { 2 } else { 1 };
        for (i, error) in [(0, errors[0]), (by_residual, errors[1])] {
            if error >= worst[i] {
                worst[i] = error;
                names[i] = format!("problem {k}, {}", name(family, contacts, &problem));
            }
        }
    }
    println!("errors {worst:?} of {names:?}");
    assert!(worst[0] <= 1e-9, "vjp and jvp: {:e}, {}", worst[0], names[0]);
    assert!(worst[1] <= 2e-8, "vjp and residual duals: {:e}, {}", worst[1], names[1]);
    assert!(worst[2] <= 1e-3, "the same where P is singular: {:e}, {}", worst[2], names[2]);
}
