//! Clarabel, an interior point for conic programs, on the same problems.

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{self, NonnegativeConeT, SecondOrderConeT};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver};

use crate::families::Problem;

/// z, set up and solved to 1e-10: each problem is new.
pub fn solve(problem: &Problem) -> Vec<f64> {
    let (a, b, cones) = constraints(problem);
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: TOLERANCE,
        tol_gap_rel: TOLERANCE,
        tol_feas: TOLERANCE,
        ..Default::default()
    };
    let p = upper_triangle(&problem.p, problem.q.len());
    let mut solver = DefaultSolver::new(&p, &problem.q, &a, &b, &cones, settings)
        .expect("the sizes of the problem agree");
    solver.solve();
    solver.solution.x
}

const TOLERANCE: f64 = 1e-10;

// b - A z in the cones: z >= 0, or (R_i, z_i) in the second-order cone.
fn constraints(problem: &Problem) -> (CscMatrix<f64>, Vec<f64>, Vec<SupportedConeT<f64>>) {
    let (n, contacts) = (problem.q.len(), problem.radius.len());
    let columns = (0..=n).collect();
    let minus = vec![-1.0; n];
    if problem.radius.is_empty() {
        let a = CscMatrix::new(n, n, columns, (0..n).collect(), minus);
        return (a, vec![0.0; n], vec![NonnegativeConeT(n)]);
    }
    let rows = (0..n).map(|k| 3 * (k / 2) + 1 + k % 2).collect();
    let b = problem.radius.iter().flat_map(|&r| [r, 0.0, 0.0]).collect();
    let a = CscMatrix::new(3 * contacts, n, columns, rows, minus);
    (a, b, vec![SecondOrderConeT(3); contacts])
}

fn upper_triangle(p: &[f64], n: usize) -> CscMatrix<f64> {
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in (0..=j).filter(|i| p[i * n + j] != 0.0) {
            rows.push(i);
            values.push(p[i * n + j]);
        }
        starts.push(rows.len());
    }
    CscMatrix::new(n, n, starts, rows, values)
}
