//! Degenerate points of the coupled contact problem, each at the point itself: solved, in the mode that
//! the conventions say, with the derivative that they say.

use approx::assert_relative_eq;
use stiction::ad::{Node, Real};
use stiction::argmin::{ContactSolution, CoupledContact, Law, Mode};

/// v+, lambda, d(v+, lambda)/d(inputs) by rows, and the solution of `contacts` contacts of a point
/// mass of `mass`: row z is normal, x and y tangents.
struct Solved {
    outputs: Vec<f64>,
    rows: Vec<Vec<f64>>,
    solution: ContactSolution,
}

fn solve(node: &CoupledContact, inputs: &[f64]) -> Solved {
    let n = node.output_len();
    let (mut outputs, mut solution) = (vec![0.0; n], ContactSolution::default());
    f64::call(node, inputs, &mut outputs, &mut solution, &mut Default::default());
    let mut factor = Default::default();
    node.factor(&solution, inputs, &outputs, &mut factor);
    let row = |i: usize, factor: &mut _| {
        let (mut seed, mut adjoints) = (vec![0.0; n], vec![0.0; inputs.len()]);
        seed[i] = 1.0;
        node.vjp(&solution, factor, inputs, &outputs, &seed, &mut adjoints);
        adjoints
    };
    let rows: Vec<Vec<f64>> = (0..n).map(|i| row(i, &mut factor)).collect();
    for j in 0..inputs.len() {
        let (mut tangent, mut d) = (vec![0.0; inputs.len()], vec![0.0; n]);
        tangent[j] = 1.0;
        node.jvp(&solution, &mut factor, inputs, &outputs, &tangent, &mut d);
        for (i, &d) in d.iter().enumerate() {
            assert!(d.is_finite(), "d output {i} / d input {j} is {d}");
            let size = rows[i].iter().fold(0.0_f64, |size, d| size.max(d.abs()));
            assert!((d - rows[i][j]).abs() <= 1e-9 * size + 1e-10, "{i} {j}: {d} {}", rows[i][j]);
        }
    }
    Solved { outputs, rows, solution }
}

/// A point mass with `contacts` equal contacts.
fn point(contacts: usize, mass: f64, v: [f64; 3], mu: f64, compliance: f64) -> Solved {
    let node = CoupledContact::on_one_tree(contacts, 3, 1e-10);
    let mut x = Vec::new();
    for _ in 0..contacts {
        x.extend([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
    let root = mass.sqrt();
    x.extend([root, 0.0, 0.0, 0.0, root, 0.0, 0.0, 0.0, root]);
    x.extend(v);
    x.extend(vec![0.0; contacts]);
    x.extend(vec![mu; contacts]);
    x.extend(vec![compliance; contacts]);
    let solved = solve(&node, &x);
    assert!(solved.solution.report.status.is_solved(), "{:?}", solved.solution.report);
    solved
}

/// Places of the inputs of `point`.
fn place(contacts: usize, what: &str) -> usize {
    let free = 9 * contacts + 9;
    match what {
        "v" => free,
        "target" => free + 3,
        "mu" => free + 3 + contacts,
        _ => free + 3 + 2 * contacts,
    }
}

#[test]
fn without_friction_mu_opens_against_the_slip() {
    let s = point(1, 2.0, [0.3, -0.4, -1.0], 0.0, 0.0);
    assert_eq!(s.solution.modes, [Mode::Slide]);
    assert_relative_eq!(&s.outputs[..], &[0.3, -0.4, 0.0, 2.0, 0.0, 0.0][..], epsilon = 1e-12);
    // One-sided: d lambda_t / d mu = -lambda_n u / |u|.
    let mu = place(1, "mu");
    assert_relative_eq!(s.rows[4][mu], -2.0 * 0.6, max_relative = 1e-12);
    assert_relative_eq!(s.rows[5][mu], 2.0 * 0.8, max_relative = 1e-12);
    // Without slip either nothing says where to: zero.
    let s = point(1, 2.0, [0.0, 0.0, -1.0], 0.0, 0.0);
    assert_eq!(s.solution.modes, [Mode::Clamp]);
    assert!(s.rows[4][mu].abs() < 1e-12 && s.rows[5][mu].abs() < 1e-12);
}

#[test]
fn a_contact_that_just_touches_is_apart() {
    // lambda_n = 0 and u_n = 0: weakly active in the normal direction, hence R = 0 as well.
    for v in [[0.0, 0.0, 0.0], [0.5, 0.2, 0.0]] {
        let s = point(1, 1.0, v, 0.4, 0.0);
        assert_eq!(s.solution.modes, [Mode::Break]);
        assert_relative_eq!(&s.outputs[..3], &v[..], epsilon = 1e-15);
        assert_relative_eq!(s.rows[2][place(1, "v") + 2], 1.0);
        assert!(s.rows[3].iter().all(|d| *d == 0.0));
        assert_eq!(s.solution.report.margin, 0.0);
    }
}

#[test]
fn at_rest_exactly_friction_holds_and_at_its_limit_it_sticks() {
    // Zero sliding speed.
    let s = point(1, 1.0, [0.0, 0.0, -1.0], 0.5, 0.0);
    assert_eq!(s.solution.modes, [Mode::Stick]);
    assert!(
        s.outputs.iter().zip([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12)
    );
    assert!(s.rows[0][place(1, "v")].abs() < 1e-12);
    // Exactly on the cone, without slip: |lambda_t| = mu lambda_n. One of the two sides, and margin 0.
    let s = point(1, 1.0, [0.5, 0.0, -1.0], 0.5, 0.0);
    assert!(matches!(s.solution.modes[0], Mode::Stick | Mode::Clamp), "{:?}", s.solution.modes);
    assert!(s.solution.report.margin < 1e-12, "{:?}", s.solution.report);
    assert!(s.outputs[..3].iter().all(|v| v.abs() < 1e-12), "{:?}", s.outputs);
}

#[test]
fn redundant_contacts_share_alike() {
    for contacts in [2, 3, 7] {
        for compliance in [0.0, 1e-6] {
            for (v, mode) in [([0.1, 0.05, -1.0], Mode::Stick), ([3.0, 1.0, -1.0], Mode::Slide)] {
                let s = point(contacts, 1.5, v, 0.4, compliance);
                assert_eq!(s.solution.modes, vec![mode; contacts]);
                let each = 1.5 / contacts as f64;
                for x in s.outputs[3..].chunks_exact(3) {
                    assert_relative_eq!(x[0], each, max_relative = 1e-5);
                    let t = x[1].hypot(x[2]);
                    let expected = match mode {
                        Mode::Stick => 1.5 * 0.1_f64.hypot(0.05) / contacts as f64,
                        _ => 0.4 * each,
                    };
                    assert_relative_eq!(t, expected, max_relative = 1e-5);
                }
                // The velocity depends on the free one as with one contact.
                let one = point(1, 1.5, v, 0.4, 0.0);
                for i in 0..3 {
                    for k in 0..3 {
                        let (many, single) =
                            (s.rows[i][place(contacts, "v") + k], one.rows[i][place(1, "v") + k]);
                        assert!((many - single).abs() < 1e-5, "{many} {single}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_moved_gets_no_impulse() {
    // Rows of zeros: the second contact moves nothing and nothing moves it.
    let node = CoupledContact::on_one_tree(2, 3, 1e-10);
    let mut x = vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    x.extend([0.0; 9]);
    x.extend([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    x.extend([0.2, 0.0, -1.0]);
    x.extend([0.0, 0.0, 0.5, 0.5, 1e-6, 1e-6]);
    let s = solve(&node, &x);
    assert!(s.solution.report.status.is_solved(), "{:?}", s.solution.report);
    assert!(s.outputs[6..].iter().all(|x| *x == 0.0), "{:?}", s.outputs);
    // A normal that can be moved, tangents that cannot.
    x[9..12].copy_from_slice(&[0.0, 0.0, 1.0]);
    let s = solve(&node, &x);
    assert!(s.solution.report.status.is_solved(), "{:?}", s.solution.report);
    assert!(s.outputs.iter().all(|x| x.is_finite()));
}

#[test]
fn masses_of_a_million_to_one_and_the_other_way() {
    for [low, high] in [[1e-3, 1e3], [1e3, 1e-3], [1.0, 1e6], [1.0, 1e-6]] {
        // `high` lies on `low`, which lies on the ground; along the normal and two tangents.
        let mut node = CoupledContact { tolerance: 1e-10, ..CoupledContact::default() };
        for _ in 0..2 {
            node.rows.add_tree(3);
        }
        node.add(Law::Coulomb, [0, 0]);
        node.add(Law::Coulomb, [0, 1]);
        let rows = |sign: f64| [[0.0, 0.0, sign], [sign, 0.0, 0.0], [0.0, sign, 0.0]];
        let mut x: Vec<f64> = rows(1.0).concat();
        for (below, above) in rows(-1.0).iter().zip(&rows(1.0)) {
            x.extend(below.iter().chain(above));
        }
        for mass in [low, high] {
            let root = f64::sqrt(mass);
            x.extend([root, 0.0, 0.0, 0.0, root, 0.0, 0.0, 0.0, root]);
        }
        x.extend([0.0, 0.0, -0.1, 0.05, 0.0, -0.1]);
        x.extend([0.0, 0.0, 0.6, 0.6, 0.0, 0.0]);
        let s = solve(&node, &x);
        assert!(s.solution.report.status.is_solved(), "{low} {high}: {:?}", s.solution.report);
        let lambda = &s.outputs[6..];
        assert_relative_eq!(lambda[0], 0.1 * (low + high), max_relative = 1e-8);
        assert_relative_eq!(lambda[3], 0.1 * high, max_relative = 1e-8);
    }
}

#[test]
fn without_a_load_nothing_happens() {
    // Zero gravity, at rest: b = 0, and a scale of zero.
    let s = point(4, 1.0, [0.0; 3], 0.5, 1e-6);
    assert_eq!(s.solution.modes, [Mode::Break; 4]);
    assert!(s.outputs.iter().all(|x| *x == 0.0));
    assert_eq!(s.solution.report.residual, 0.0);
}

// The other laws, against each other and by hand: one body on rails, x.
#[test]
fn equality_interval_and_one_sided_rows_obey_their_laws() {
    let solve_row = |law: Law, free: f64, limit: f64, target: f64, compliance: f64| {
        let mut node = CoupledContact { tolerance: 1e-10, ..CoupledContact::default() };
        let tree = node.rows.add_tree(1);
        node.add(law, [tree, tree]);
        // J = 2, M = 4.
        let s = solve(&node, &[2.0, 2.0, free, target, limit, compliance]);
        assert!(s.solution.report.status.is_solved(), "{law:?}: {:?}", s.solution.report);
        s
    };
    // u = 2 v = 2 free + lambda.
    let s = solve_row(Law::Equality, 0.7, 0.0, 0.3, 0.0);
    assert_relative_eq!(s.outputs[1], 0.3 - 1.4, max_relative = 1e-12);
    let s = solve_row(Law::Equality, -0.7, 0.0, 0.3, 0.5);
    // (1 + c) lambda = target - 2 free
    assert_relative_eq!(s.outputs[1], 1.7 / 1.5, max_relative = 1e-12);
    let s = solve_row(Law::NonNegative, 0.7, 0.0, 0.3, 0.0);
    assert_eq!((s.outputs[1], s.solution.modes[0]), (0.0, Mode::Break));
    let s = solve_row(Law::NonNegative, -0.7, 0.0, 0.3, 0.0);
    assert_relative_eq!(s.outputs[1], 1.7, max_relative = 1e-12);
    // Dry friction: holds up to its limit, and brakes with it beyond.
    let s = solve_row(Law::Interval, 0.2, 1.0, 0.0, 0.0);
    assert_relative_eq!(s.outputs[1], -0.4, max_relative = 1e-12);
    assert_eq!(s.solution.modes[0], Mode::Stick);
    for (free, side) in [(0.9, -1.0), (-0.9, 1.0)] {
        let s = solve_row(Law::Interval, free, 1.0, 0.0, 0.0);
        assert_relative_eq!(s.outputs[1], side, max_relative = 1e-12);
        assert_relative_eq!(s.outputs[0], free + side * 0.5, max_relative = 1e-12);
        // d lambda / d limit
        assert_relative_eq!(s.rows[1][4], side, max_relative = 1e-12);
    }
}
