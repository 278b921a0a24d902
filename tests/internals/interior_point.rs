//! The interior-point method for cone programs, against closed forms and its conditions.

use stiction::argmin::{BlockRows, Report, Status};
use stiction::internals::{ConeInteriorPoint, ConeProgramData};
use stiction::linalg::dot;

/// Bodies side by side, each with contacts of three rows; entries from a fixed sequence.
fn program(bodies: usize, velocities: usize, contacts: usize) -> (BlockRows, Vec<f64>) {
    let mut rows = BlockRows::default();
    (0..bodies).for_each(|_| _ = rows.add_tree(velocities));
    for i in 0..contacts {
        rows.add_block(3, [i % bodies, (i + 1 + i / bodies) % bodies]);
    }
    let entry = |k: usize| (1.0 + (7 * k * k % 101) as f64).sin();
    let w = (0..rows.entries()).map(entry).collect();
    (rows, w)
}

fn solve(data: &ConeProgramData, shift: bool) -> (Vec<f64>, Report) {
    let mut f = vec![0.0; data.rows.rows()];
    let report = ConeInteriorPoint::default().solve(data, shift, 1e-9, &mut f);
    (f, report)
}

#[test]
fn one_sliding_contact_in_closed_form() {
    let mut rows = BlockRows::default();
    let tree = rows.add_tree(3);
    rows.add_block(3, [tree, tree]);
    let w = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    for scale in [1e-6, 1.0, 1e6] {
        let b = [-scale, 3.0 * scale, 4.0 * scale];
        let data = ConeProgramData {
            rows: &rows,
            w: &w,
            b: &b,
            mu: &[0.5],
            compliance: &[0.0],
            least: &[0.0],
        };
        // Coulomb: f_n stops the normal velocity. Relaxed: -b projected on the cone.
        for (shift, normal) in [(true, 1.0), (false, (1.0 + 0.5 * 5.0) / 1.25)] {
            let (f, report) = solve(&data, shift);
            assert!(report.status.is_solved(), "{report:?}");
            for (f, expected) in f.iter().zip([1.0, -0.3, -0.4]) {
                assert!((f - expected * normal * scale).abs() < 1e-7 * scale, "{f}");
            }
        }
    }
}

#[test]
fn meets_its_conditions_in_either_space() {
    // More velocities than impulses, fewer, and many redundant contacts.
    for (bodies, velocities, contacts) in [(5, 6, 4), (3, 6, 9), (2, 3, 24)] {
        let (rows, w) = program(bodies, velocities, contacts);
        let b: Vec<f64> = (0..rows.rows()).map(|k| (3.0 * k as f64).cos() - 0.3).collect();
        let mu: Vec<f64> = (0..contacts).map(|i| 0.4 * (i % 4) as f64).collect();
        let least: Vec<f64> = (0..contacts).map(|i| 0.2 * (i % 3) as f64).collect();
        let compliance = vec![1e-3; contacts];
        let data = ConeProgramData {
            rows: &rows,
            w: &w,
            b: &b,
            mu: &mu,
            compliance: &compliance,
            least: &least,
        };
        let (f, report) = solve(&data, false);
        assert!(report.residual < 1e-6, "{report:?}");
        let (mut y, mut u) = (vec![0.0; rows.velocities()], vec![0.0; rows.rows()]);
        rows.transpose_times(&w, &f, &mut y);
        rows.times(&w, &y, &mut u);
        // First-order optimality: of all admissible impulses f has the least f'g.
        let gradient: Vec<f64> = (0..f.len())
            .map(|k| u[k] + b[k] + if k % 3 == 0 { 1e-3 * f[k] } else { 0.0 })
            .collect();
        for i in 0..contacts {
            let (f, g) = (&f[3 * i..3 * i + 3], &gradient[3 * i..3 * i + 3]);
            let slope = g[0] - mu[i] * g[1].hypot(g[2]);
            assert!(slope > -1e-7, "{slope}");
            assert!(f[1].hypot(f[2]) <= mu[i] * f[0] * (1.0 + 1e-9) + 1e-12);
            assert!(f[0] >= least[i]);
            let work = dot(f, g);
            let best = least[i] * slope;
            // The last problem has impulses of a thousand.
            assert!((work - best).abs() < 1e-6 * (1.0 + f[0]), "{work} {best}");
        }
    }
}

#[test]
fn what_nothing_pushes_and_what_is_no_number() {
    let (rows, w) = program(2, 3, 3);
    let (zero, mu) = ([0.0; 9], [0.5; 3]);
    let none = [0.0; 3];
    let data =
        |w, b| ConeProgramData { rows: &rows, w, b, mu: &mu, compliance: &none, least: &none };
    let (f, report) = solve(&data(&w, &zero), true);
    assert!(report.status.is_solved() && f == zero);
    let broken = vec![f64::NAN; w.len()];
    let (f, report) = solve(&data(&broken, &[1.0; 9]), true);
    assert!(report.status == Status::InvalidInput && f == zero);
}
