//! Coupled contact problems of cubes of 0.1 m, as the inputs of the node: for benches and counts of
//! instructions.

use stiction::argmin::{CoupledContact, Law};

const DT: f64 = 0.01;
const HALF: f64 = 0.05;
const FALL: f64 = -9.81 * DT;

/// A problem and, for a warm start, the one of the step before it.
pub struct Step {
    pub node: CoupledContact,
    pub inputs: Vec<f64>,
    pub before: Vec<f64>,
}

fn inertia(mass: f64) -> f64 {
    2.0 / 3.0 * mass * HALF * HALF
}

/// A contact of cube `second` at `arm` from its centre, and at `arm + [0, 0, 2 HALF]` of the one below
/// or on the ground.
struct Point {
    second: usize,
    arm: [f64; 3],
    target: f64,
}

/// Cubes of the given masses, on the ground or each on the one before, with their velocities without contact
/// [linear; angular].
fn problem(
    masses: &[f64],
    points: &[Point],
    velocities: &[[f64; 6]],
    mu: f64,
) -> (CoupledContact, Vec<f64>) {
    let mut node = CoupledContact { tolerance: 1e-10, ..CoupledContact::default() };
    for _ in masses {
        node.rows.add_tree(6);
    }
    let mut x = Vec::new();
    let mut compliances = Vec::new();
    for &Point { second, arm: [rx, ry, rz], .. } in points {
        let first = second.saturating_sub(1);
        node.add(Law::Coulomb, [first, second]);
        let rows = |rz: f64, sign: f64| {
            [
                [0.0, 0.0, 1.0, ry, -rx, 0.0],
                [1.0, 0.0, 0.0, 0.0, rz, -ry],
                [0.0, 1.0, 0.0, -rz, 0.0, rx],
            ]
            .map(|row| row.map(|x| sign * x))
        };
        let below = rows(rz + 2.0 * HALF, -1.0);
        let mut compliance = 0.0;
        for (r, row) in rows(rz, 1.0).into_iter().enumerate() {
            let turning = |mass: f64| (1.0 + (rx * rx + ry * ry) / (inertia(mass) / mass)) / mass;
            if second > 0 {
                x.extend(below[r]);
                compliance = turning(masses[first]);
            }
            x.extend(row);
            if r == 0 {
                compliance += turning(masses[second]);
            }
        }
        compliances.push(1e-6 * compliance);
    }
    for &mass in masses {
        for i in 0..6 {
            let root = if i < 3 { mass.sqrt() } else { inertia(mass).sqrt() };
            x.extend((0..6).map(|k| if i == k { root } else { 0.0 }));
        }
    }
    x.extend(velocities.iter().flatten());
    x.extend(points.iter().map(|point| point.target));
    x.extend(points.iter().map(|_| mu));
    x.extend(compliances);
    (node, x)
}

/// The four lower corners of a cube that is turned about the vertical.
fn corners(second: usize, angle: f64) -> Vec<Point> {
    let (sin, cos) = angle.sin_cos();
    let corner = |[x, y]: [f64; 2]| {
        let arm = [cos * x - sin * y, sin * x + cos * y, -HALF];
        Point { second, arm, target: 0.0 }
    };
    [[-HALF, -HALF], [HALF, -HALF], [-HALF, HALF], [HALF, HALF]].map(corner).into()
}

fn step(masses: &[f64], points: [&[Point]; 2], velocities: [&[[f64; 6]]; 2], mu: f64) -> Step {
    let (_, before) = problem(masses, points[0], velocities[0], mu);
    let (node, inputs) = problem(masses, points[1], velocities[1], mu);
    Step { node, inputs, before }
}

/// Names and problems.
pub fn all() -> Vec<(&'static str, Step)> {
    let flat = corners(0, 0.0);
    // A slide: in 10 ms it loses mu g dt, and turns.
    let lost = 0.4 * 9.81 * DT;
    let slide = step(
        &[1.0],
        [&flat, &corners(0, 0.5 * DT)],
        [
            &[[1.0, 0.2, FALL, 0.0, 0.0, 0.5]],
            &[[1.0 - 0.98 * lost, 0.2 - 0.2 * lost, FALL, 0.0, 0.0, 0.48]],
        ],
        0.4,
    );
    let held = [0.02, 0.01, FALL, 0.0, 0.0, 0.01];
    let stick =
        step(&[1.0], [&flat, &flat], [&[held], &[[0.019, 0.011, FALL, 0.0, 0.0, 0.01]]], 0.5);
    // Tilted about both axes, so that one corner arrives first; the others are just above. The step
    // before is a little earlier on the way down.
    let tilted = |wait: f64| {
        [
            ([-0.055, -0.052, -0.045], 0.0),
            ([0.044, -0.055, -0.035], -0.9),
            ([-0.052, 0.046, -0.037], -0.7),
        ]
        .map(|(arm, target)| Point { second: 0, arm, target: target - wait })
    };
    let down = [0.6, 0.2, -1.5, 2.0, -1.0, 0.5];
    let corner = step(&[1.0], [&tilted(0.05), &tilted(0.0)], [&[down], &[down]], 0.3);
    // Many points on one body: what counts is its six velocities.
    let spread = |angle: f64| -> Vec<Point> {
        let (sin, cos) = angle.sin_cos();
        let place = |k: usize| {
            let [x, y] = [k % 8, k / 8].map(|i| HALF * (i as f64 - 3.5) / 3.5);
            Point { second: 0, arm: [cos * x - sin * y, sin * x + cos * y, -HALF], target: 0.0 }
        };
        (0..64).map(place).collect()
    };
    let many_slide = step(
        &[1.0],
        [&spread(0.0), &spread(0.5 * DT)],
        [
            &[[1.0, 0.2, FALL, 0.0, 0.0, 0.5]],
            &[[1.0 - 0.98 * lost, 0.2 - 0.2 * lost, FALL, 0.0, 0.0, 0.48]],
        ],
        0.4,
    );
    let many_stick = step(&[1.0], [&spread(0.0), &spread(0.0)], [&[held], &[held]], 0.5);
    let masses = [1.0; 10];
    let tower: Vec<Point> = (0..10).flat_map(|k| corners(k, 0.0)).collect();
    let rest = [[0.0, 0.0, FALL, 0.0, 0.0, 0.0]; 10];
    let pushed = |push: f64| {
        let mut velocities = rest;
        velocities[5][0] = push;
        velocities
    };
    let tower_rest = step(&masses, [&tower, &tower], [&rest, &rest], 0.5);
    let pushed = step(&masses, [&tower, &tower], [&pushed(0.09), &pushed(0.1)], 0.5);
    vec![
        ("slide", slide),
        ("stick", stick),
        ("corner", corner),
        ("points64_slide", many_slide),
        ("points64_stick", many_stick),
        ("tower10", tower_rest),
        ("tower10_pushed", pushed),
    ]
}
