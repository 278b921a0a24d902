//! The projections at their kinks, in closed form, and on inputs that have no answer.

use approx::assert_relative_eq;
use stiction::ad::{self, Dual, Node, NodeRule, Real, Var, with_node_rule};
use stiction::argmin::{
    BoundMode, BoundSolution, DiskMode, DiskQcqp, DiskSolution, NonnegativeQp, ProjectionMethod,
    ProjectionSettings, Status,
};

use crate::families::{Family, Problem, disks};
use crate::random_projections::is_singular;

/// z, its Jacobian by rows (adjoints of the unit vectors) and the solution.
fn evaluate<N: Node>(node: &N, inputs: &[f64], n: usize) -> (Vec<f64>, Vec<Vec<f64>>, N::Solution) {
    let (mut z, mut solution, mut factor) =
        (vec![0.0; n], N::Solution::default(), N::Factor::default());
    f64::call(node, inputs, &mut z, &mut solution, &mut Default::default());
    node.factor(&solution, inputs, &z, &mut factor);
    let row = |i: usize| {
        let mut seed = vec![0.0; n];
        seed[i] = 1.0;
        let mut adjoints = vec![0.0; inputs.len()];
        node.vjp(&solution, &mut factor, inputs, &z, &seed, &mut adjoints);
        adjoints
    };
    let rows: Vec<_> = (0..n).map(row).collect();
    // Transposes of each other also at kinks.
    for j in 0..inputs.len() {
        let (mut tangent, mut dz) = (vec![0.0; inputs.len()], vec![0.0; n]);
        tangent[j] = 1.0;
        node.jvp(&solution, &mut factor, inputs, &z, &tangent, &mut dz);
        let column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
        assert_relative_eq!(&dz[..], &column[..], epsilon = 1e-15, max_relative = 1e-13);
    }
    (z, rows, solution)
}

fn disk(p: [f64; 4], q: [f64; 2], r: f64) -> (Vec<f64>, Vec<Vec<f64>>, DiskSolution) {
    let node = DiskQcqp { contacts: 1, ..Default::default() };
    evaluate(&node, &[p[0], p[1], p[2], p[3], q[0], q[1], r], 2)
}

fn half_line(p: f64, q: f64) -> (Vec<f64>, Vec<Vec<f64>>, BoundSolution) {
    evaluate(&NonnegativeQp { n: 1, ..Default::default() }, &[p, q], 1)
}

const IDENTITY: [f64; 4] = [1.0, 0.0, 0.0, 1.0];

#[test]
fn one_sliding_contact_is_a_normalised_vector() {
    // P = 1: z = -R q / |q|.
    let (z, rows, solution) = disk(IDENTITY, [3.0, 4.0], 0.5);
    assert_eq!(solution.modes, [DiskMode::Slide]);
    assert_relative_eq!(&z[..], &[-0.3, -0.4][..], max_relative = 1e-15);
    // dz/dq = -R / |q| (1 - n n'), dz/dR = -q / |q|, dz/dP = -(dz/dq) z'.
    let dq = [[-0.064, 0.048], [0.048, -0.036]];
    for i in 0..2 {
        assert_relative_eq!(&rows[i][4..6], &dq[i][..], max_relative = 1e-14);
        assert_relative_eq!(rows[i][6], [-0.6, -0.8][i], max_relative = 1e-15);
        for (k, l) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_relative_eq!(rows[i][2 * k + l], dq[i][k] * z[l], max_relative = 1e-14);
        }
    }
    // gamma R / |q| = (|q| - R) / (2 |q|)
    assert_relative_eq!(solution.report.margin, 0.45, max_relative = 1e-14);
}

#[test]
fn one_sticking_contact_is_a_linear_solve() {
    let (z, rows, solution) = disk([2.0, 0.0, 0.0, 4.0], [-1.0, 1.0], 1.0);
    assert_eq!(solution.modes, [DiskMode::Stick]);
    assert_eq!(z, [0.5, -0.25]);
    assert_relative_eq!(&rows[0][4..], &[-0.5, 0.0, 0.0][..], max_relative = 1e-15);
    assert_relative_eq!(&rows[1][4..], &[0.0, -0.25, 0.0][..], max_relative = 1e-15);
    assert_relative_eq!(solution.report.margin, 1.0 - 0.3125_f64.sqrt(), max_relative = 1e-14);
}

#[test]
fn a_point_disk_has_one_sided_derivatives() {
    // R = 0 (a contact without normal force or without friction): dz/dR = -g / |g|, dz/dq = 0.
    let (z, rows, solution) = disk(IDENTITY, [3.0, 4.0], 0.0);
    assert_eq!((z, &solution.modes[..]), (vec![0.0; 2], &[DiskMode::None][..]));
    assert!(solution.report.status.is_solved());
    for (row, dr) in rows.iter().zip([-0.6, -0.8]) {
        assert_eq!(row[..6], [0.0; 6]);
        assert_relative_eq!(row[6], dr, max_relative = 1e-15);
    }
    // Without a force as well there is no direction.
    let (z, rows, _) = disk(IDENTITY, [0.0; 2], 0.0);
    assert_eq!((z, rows), (vec![0.0; 2], vec![vec![0.0; 7]; 2]));
}

#[test]
fn weakly_active_constraints_count_as_inactive() {
    let (z, rows, solution) = disk(IDENTITY, [-1.0, 0.0], 1.0);
    assert_eq!((z, &solution.modes[..]), (vec![1.0, 0.0], &[DiskMode::Stick][..]));
    assert_relative_eq!(&rows[0][4..], &[-1.0, 0.0, 0.0][..], max_relative = 1e-15);
    assert_eq!(solution.report.margin, 0.0);

    let (z, rows, solution) = half_line(2.0, 0.0);
    assert_eq!((z, &solution.modes[..]), (vec![0.0], &[BoundMode::Free][..]));
    assert_relative_eq!(&rows[0][..], &[0.0, -0.5][..], max_relative = 1e-15);
    assert_eq!(solution.report.margin, 0.0);
}

#[test]
fn half_lines_have_two_modes() {
    let (z, rows, solution) = half_line(2.0, -3.0);
    assert_eq!((z, &solution.modes[..]), (vec![1.5], &[BoundMode::Free][..]));
    assert_relative_eq!(&rows[0][..], &[-0.75, -0.5][..], max_relative = 1e-15);
    let (z, rows, solution) = half_line(2.0, 3.0);
    assert_eq!((z, &solution.modes[..]), (vec![0.0], &[BoundMode::Active][..]));
    assert_eq!(rows[0], [0.0, 0.0]);
}

#[test]
fn no_force_and_no_curvature() {
    // q = 0: nothing moves.
    assert_eq!(disk(IDENTITY, [0.0; 2], 1.0).0, [0.0; 2]);
    // P = 0: straight to the rim, and turning with q.
    let (z, rows, solution) = disk([0.0; 4], [0.0, 2.0], 0.5);
    assert!(solution.report.status.is_solved());
    assert_eq!(z, [0.0, -0.5]);
    assert_relative_eq!(&rows[0][4..], &[-0.25, 0.0, 0.0][..], epsilon = 1e-15);
    // Both: the solution of least norm.
    let (z, rows, _) = disk([0.0; 4], [0.0; 2], 0.5);
    assert_eq!((z, rows), (vec![0.0; 2], vec![vec![0.0; 7]; 2]));
    // A half-line without a minimum is said to be unsolved.
    let (z, _, solution) = half_line(0.0, -1.0);
    assert!(!solution.report.status.is_solved() && z[0].is_finite(), "{solution:?}");
}

#[test]
fn an_empty_problem_is_solved() {
    let (z, _, solution) = evaluate(&NonnegativeQp::default(), &[], 0);
    assert!(z.is_empty() && solution.report.status.is_solved());
    assert_eq!(solution.report.margin, f64::INFINITY);
    let (z, _, solution) = evaluate(&DiskQcqp::default(), &[], 0);
    assert!(z.is_empty() && solution.report.status.is_solved());
}

#[test]
fn inadmissible_inputs_give_zero() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for k in 0..7 {
            let mut inputs = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5];
            inputs[k] = bad;
            let node = DiskQcqp { contacts: 1, ..Default::default() };
            let (z, rows, solution) = evaluate(&node, &inputs, 2);
            assert_eq!(solution.report.status, Status::InvalidInput);
            assert_eq!((z, rows), (vec![0.0; 2], vec![vec![0.0; 7]; 2]));
        }
        let (z, rows, solution) = half_line(1.0, bad);
        assert_eq!(solution.report.status, Status::InvalidInput);
        assert_eq!((z, rows), (vec![0.0], vec![vec![0.0; 2]]));
    }
    // A negative radius or curvature is not admissible either.
    assert_eq!(disk(IDENTITY, [1.0; 2], -0.1).2.report.status, Status::InvalidInput);
    assert_eq!(half_line(-1.0, 1.0).2.report.status, Status::InvalidInput);
}

#[test]
fn the_answer_does_not_depend_on_units() {
    let p = [2.0, 0.3, 0.1, -0.2, 0.3, 1.0, 0.4, 0.2, 0.1, 0.4, 3.0, 0.5, -0.2, 0.2, 0.5, 1.5];
    let q = [1.0, -2.0, 0.5, 3.0];
    let node = DiskQcqp { contacts: 2, ..Default::default() };
    let inputs = |mass: f64, impulse: f64| -> Vec<f64> {
        let p = p.iter().map(|p| p / mass);
        let q = q.iter().map(|q| q * impulse / mass);
        p.chain(q).chain([0.7 * impulse, 0.4 * impulse]).collect()
    };
    let (z, _, solution) = evaluate(&node, &inputs(1.0, 1.0), 4);
    for (mass, impulse) in [(1e-4, 1.0), (1e5, 1.0), (1.0, 1e-9), (1e-3, 1e6)] {
        let (scaled, _, other) = evaluate(&node, &inputs(mass, impulse), 4);
        assert!(other.report.status.is_solved());
        assert_eq!(other.modes, solution.modes);
        assert_relative_eq!(other.report.margin, solution.report.margin, max_relative = 1e-9);
        for (a, b) in scaled.iter().zip(&z) {
            assert_relative_eq!(a / impulse, b, max_relative = 1e-11);
        }
    }
}

#[test]
fn a_warm_start_saves_iterations_and_changes_nothing() {
    let inputs = [2.0, 0.3, 0.3, 1.0, -1.0, -2.0];
    let node = NonnegativeQp { n: 2, ..Default::default() };
    let (mut z, mut solution, mut workspace) =
        ([0.0; 2], BoundSolution::default(), Default::default());
    f64::call(&node, &inputs, &mut z, &mut solution, &mut workspace);
    let (cold, first) = (solution.report.iterations, z);
    assert!(cold > 0);
    f64::call(&node, &inputs, &mut z, &mut solution, &mut workspace);
    assert_eq!((solution.report.iterations, z), (0, first));
    // A guess of another problem is ignored, and a cold start repeats bit by bit.
    solution.warm_start = vec![1.0; 3];
    f64::call(&node, &inputs, &mut z, &mut solution, &mut workspace);
    assert_eq!((solution.report.iterations, z), (cold, first));
}

#[test]
fn second_derivatives_carry_through() {
    let second = |rule| {
        type Inner = Dual<f64, 1>;
        let node = DiskQcqp { contacts: 1, ..Default::default() };
        let inputs: Vec<Dual<Inner, 1>> = [1.0, 0.0, 0.0, 1.0, 3.0, 4.0, 0.5]
            .iter()
            .enumerate()
            .map(|(k, &x)| {
                let seed = if k == 5 { 1.0 } else { 0.0 };
                Dual::new(Inner::new(x, [seed]), [Inner::constant(seed)])
            })
            .collect();
        let mut z = [Dual::default(); 2];
        with_node_rule(rule, || {
            Real::call(&node, &inputs, &mut z, &mut Default::default(), &mut Default::default());
        });
        z.map(|z| z.tangent[0].tangent[0])
    };
    // z = -R q / |q|: d2z/dy2 = -R (x (3 y^2 - r^2), -3 y x^2) / r^5
    let expected = [-0.5 * 3.0 * 23.0 / 3125.0, 0.5 * 3.0 * 4.0 * 9.0 / 3125.0];
    assert_relative_eq!(&second(NodeRule::ByJvp)[..], &expected[..], max_relative = 1e-13);
    assert_relative_eq!(&second(NodeRule::Unrolled)[..], &expected[..], max_relative = 1e-12);
}

#[test]
fn the_iterations_themselves_run_on_the_tape() {
    let node = DiskQcqp { contacts: 2, ..Default::default() };
    let p = [2.0, 0.3, 0.1, -0.2, 0.3, 1.0, 0.4, 0.2, 0.1, 0.4, 3.0, 0.5, -0.2, 0.2, 0.5, 1.5];
    let inputs = [&p[..], &[1.0, -2.0, 0.5, 3.0, 0.7, 9.0]].concat();
    let (_, rows, solution) = evaluate(&node, &inputs, 4);
    assert_eq!(solution.modes, [DiskMode::Slide, DiskMode::Stick]);
    for (i, row) in rows.iter().enumerate() {
        let unrolled = |x: &[Var]| {
            let mut z = [Var::constant(0.0); 4];
            node.primal(x, &mut z, &mut Default::default(), &mut Default::default());
            z[i]
        };
        let (_, gradient) = ad::gradient(unrolled, &inputs).expect("a fresh recording");
        // The solver reads a symmetric P from either triangle; only the sum is defined.
        let tie =
            |x: &[f64]| -> Vec<f64> { (0..16).map(|k| x[k] + x[4 * (k % 4) + k / 4]).collect() };
        assert_relative_eq!(
            &tie(&gradient)[..],
            &tie(row)[..],
            epsilon = 1e-13,
            max_relative = 1e-11
        );
        assert_relative_eq!(&gradient[16..], &row[16..], epsilon = 1e-13, max_relative = 1e-11);
    }
}

/// `evaluate` of two disks with P of 4 x 4.
fn two_disks(
    p: [[f64; 4]; 4],
    q: [f64; 4],
    r: [f64; 2],
) -> (Vec<f64>, Vec<Vec<f64>>, DiskSolution) {
    let inputs = [&p.concat()[..], &q, &r].concat();
    evaluate(&DiskQcqp { contacts: 2, ..Default::default() }, &inputs, 4)
}

#[test]
fn a_point_disk_moves_its_neighbour_as_it_grows() {
    // mu = 0 at the first contact: the second is alone, its derivatives those of one disk.
    let p =
        [[2.0, 0.0, 0.5, 0.0], [0.0, 2.0, 0.0, 0.5], [0.5, 0.0, 2.0, 0.0], [0.0, 0.5, 0.0, 2.0]];
    let (z, rows, solution) = two_disks(p, [1.0, 0.0, -0.4, 0.2], [0.0, 1.0]);
    assert_eq!(solution.modes, [DiskMode::None, DiskMode::Stick]);
    assert_relative_eq!(&z[..], &[0.0, 0.0, 0.2, -0.1][..], epsilon = 1e-15);
    // z_1 = R d with d against g = q + Pz, and the second moves by -1/4 of it.
    let g = [1.1, -0.05_f64];
    let d = g.map(|x| -x / g[0].hypot(g[1]));
    assert_relative_eq!(rows[0][20], d[0], max_relative = 1e-14);
    assert_relative_eq!(rows[2][20], -0.25 * d[0], max_relative = 1e-14);
    assert_relative_eq!(rows[3][20], -0.25 * d[1], max_relative = 1e-14);
    assert_relative_eq!(&rows[2][16..20], &[0.0, 0.0, -0.5, 0.0][..], epsilon = 1e-15);
}

#[test]
fn redundant_contacts_get_the_derivative_of_least_norm() {
    // Twice the same contact: only the sum of the impulses matters, and both take half of a change.
    let p =
        [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]];
    let (z, rows, solution) = two_disks(p, [-0.5, 0.2, -0.5, 0.2], [1.0, 1.0]);
    assert!(solution.report.status.is_solved());
    assert_eq!(solution.modes, [DiskMode::Stick; 2]);
    assert_relative_eq!(z[0] + z[2], 0.5, max_relative = 1e-14);
    assert_relative_eq!(z[1] + z[3], -0.2, max_relative = 1e-14);
    for (i, row) in rows.iter().enumerate() {
        let of = |k: usize| if (k + i).is_multiple_of(2) { -0.25 } else { 0.0 };
        assert_relative_eq!(&row[16..20], &[0, 1, 2, 3].map(of)[..], epsilon = 1e-14);
    }

    let qp = NonnegativeQp { n: 2, ..Default::default() };
    let (z, rows, solution) = evaluate(&qp, &[1.0, 1.0, 1.0, 1.0, -1.0, -1.0], 2);
    assert!(solution.report.status.is_solved());
    assert_relative_eq!(z[0] + z[1], 1.0, max_relative = 1e-14);
    for row in rows {
        assert_relative_eq!(&row[4..], &[-0.25, -0.25][..], epsilon = 1e-14);
    }
}

#[test]
fn a_direction_without_mass_is_left_at_rest() {
    // Rows of P that are zero, without force: the solution of least norm, and no derivative.
    let (z, rows, solution) = disk([2.0, 0.0, 0.0, 0.0], [-1.0, 0.0], 1.0);
    assert!(solution.report.status.is_solved());
    assert_eq!((z, &solution.modes[..]), (vec![0.5, 0.0], &[DiskMode::Stick][..]));
    assert_relative_eq!(&rows[0][4..], &[-0.5, 0.0, 0.0][..], epsilon = 1e-15);
    assert_eq!(rows[1], [0.0; 7]);
    // With force: to the rim, there is nothing to stop it.
    let (z, _, solution) = disk([2.0, 0.0, 0.0, 0.0], [-1.0, 1.0], 1.0);
    assert!(solution.report.status.is_solved());
    assert_eq!(solution.modes, [DiskMode::Slide]);
    assert_relative_eq!(z[0].hypot(z[1]), 1.0, max_relative = 1e-15);
    // A half-line beside one that has curvature.
    let qp = NonnegativeQp { n: 2, ..Default::default() };
    let (z, rows, solution) = evaluate(&qp, &[2.0, 0.0, 0.0, 0.0, -1.0, 0.0], 2);
    assert!(solution.report.status.is_solved());
    assert_eq!(z, [0.5, 0.0]);
    assert_relative_eq!(&rows[0][4..], &[-0.5, 0.0][..], epsilon = 1e-15);
    assert_eq!(rows[1], [0.0; 6]);
}

#[test]
fn weakly_active_among_others_counts_as_inactive() {
    // The first disk ends on its rim with g = 0, the second slides.
    let p =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];
    let (z, rows, solution) = two_disks(p, [-3.0, -4.0, 0.0, 7.0], [5.0, 0.5]);
    assert_eq!(solution.modes, [DiskMode::Stick, DiskMode::Slide]);
    assert_relative_eq!(&z[..], &[3.0, 4.0, 0.0, -0.5][..], epsilon = 1e-15);
    assert_relative_eq!(&rows[0][16..], &[-1.0, 0.0, 0.0, 0.0, 0.0, 0.0][..], epsilon = 1e-14);
    assert!(solution.report.margin <= 1e-15);
}

/// Largest entry of |x - y| over that of y.
fn difference(x: &[f64], y: &[f64]) -> f64 {
    let size = y.iter().fold(0.0_f64, |size, y| size.max(y.abs()));
    x.iter().zip(y).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs())) / size
}

fn solve(contacts: usize, problem: &Problem) -> (Vec<f64>, DiskSolution) {
    let node = DiskQcqp { contacts, ..Default::default() };
    let (mut z, mut solution) = (vec![0.0; 2 * contacts], DiskSolution::default());
    f64::call(&node, &problem.inputs(), &mut z, &mut solution, &mut Default::default());
    assert!(solution.report.status.is_solved(), "{:?}", solution.report);
    (z, solution)
}

#[test]
fn no_unit_of_mass_changes_what_is_found() {
    for family in Family::ALL {
        for contacts in [4, 16] {
            let problem = disks(family, contacts, 5);
            let (z, solution) = solve(contacts, &problem);
            for factor in [1e6, 1e-6] {
                // P and q times a factor: the same impulses.
                let mut scaled = problem.clone();
                scaled.p.iter_mut().chain(&mut scaled.q).for_each(|x| *x *= factor);
                let (other, found) = solve(contacts, &scaled);
                // They are not unique where P is singular.
                if !is_singular(family, contacts) {
                    assert_eq!(found.modes, solution.modes, "{}", family.name());
                    assert!(difference(&other, &z) <= 1e-7, "{}", family.name());
                }
            }
        }
    }
}

#[test]
fn masses_of_a_million_to_one_are_solved() {
    // Every second contact is on a body a million times as heavy: S P S, S q and R / S have the
    // solution z / S.
    for seed in 0..20 {
        let problem = disks(Family::Well, 8, seed);
        let (z, _) = solve(8, &problem);
        let stretch = |k: usize| if (k / 2).is_multiple_of(2) { 1.0 } else { 1e-3 };
        let mut heavy = problem.clone();
        heavy.p.iter_mut().enumerate().for_each(|(k, p)| *p *= stretch(k / 16) * stretch(k % 16));
        heavy.q.iter_mut().enumerate().for_each(|(k, q)| *q *= stretch(k));
        heavy.radius.iter_mut().enumerate().for_each(|(i, r)| *r /= stretch(2 * i));
        let (other, _) = solve(8, &heavy);
        let other: Vec<f64> = other.iter().enumerate().map(|(k, z)| z * stretch(k)).collect();
        assert!(difference(&other, &z) <= 1e-8, "{seed}: {other:?} and {z:?}");
    }
}

#[test]
fn every_method_is_honest_about_what_has_no_minimum() {
    use ProjectionMethod::{Admm, Auto, InteriorPoint, ProjectedNewton};
    for method in [Auto, ProjectedNewton, InteriorPoint, Admm] {
        let settings = ProjectionSettings { method, ..Default::default() };
        let node = NonnegativeQp { n: 2, settings };
        let (z, _, solution) = evaluate(&node, &[1.0, 0.0, 0.0, 0.0, 1.0, -1.0], 2);
        assert!(!solution.report.status.is_solved(), "{method:?}: {z:?}");
        assert!(z.iter().all(|z| z.is_finite()), "{method:?}: {z:?}");
    }
}
