//! Areas that are known otherwise.

use approx::assert_abs_diff_eq;
use stiction::render::ColourImage;

use super::{image, mask, seen, silhouette, turned};
use crate::cases;
use crate::random::Random;

/// Straight from above, 1 m from the plane z = 0, 100 px a metre there; x to the right, y up.
const ABOVE: &str = "eye = [0, 0, 1]\ntarget = [0, 0, 0]\nup = [0, 1, 0]\nK = [[100, 0, 32], [0, 100, 24], [0, 0, 1]]\nsize = [64, 48]";

/// [`ABOVE`] by matrices.
fn above() -> String {
    "K = [[100, 0, 32], [0, 100, 24], [0, 0, 1]]\nR = [[1, 0, 0], [0, -1, 0], [0, 0, -1]]\nt = [0, 0, 1]\nsize = [64, 48]".to_string()
}

/// A flat box whose top is in the plane z = 0.
fn sheet(name: &str, x: f64, y: f64, half: [f64; 2]) -> String {
    let [a, b] = half;
    format!(
        "[[body]]\nname = '{name}'\nmass = 1\nposition = [{x}, {y}, -1e-9]\nshape = {{ box = [{a}, {b}, 1e-9] }}\n"
    )
}

#[test]
fn a_square_covers_its_pixels_and_shares_of_those_on_its_edge() {
    assert!(ABOVE.contains("eye"));
    // From 22.3 to 41.8 across and from 20.2 to 27.6 down.
    let (x, y) = ((0.5 * (22.3 + 41.8) - 32.0) / 100.0, -(0.5 * (20.2 + 27.6) - 24.0) / 100.0);
    let scene = seen(&above(), &sheet("a", x, y, [0.0975, 0.037]));
    let found = mask(&scene);
    let share = |from: f64, to: f64, k: usize| {
        ((k as f64 + 1.0).min(to) - (k as f64).max(from)).clamp(0.0, 1.0)
    };
    for row in 0..48 {
        for column in 0..64 {
            let expected = share(22.3, 41.8, column) * share(20.2, 27.6, row);
            assert_abs_diff_eq!(found[row * 64 + column], expected, epsilon = 2e-7);
        }
    }
}

#[test]
fn what_two_cover_counts_once() {
    // 20 x 10 and 12 x 16 px, which share 6 x 5.
    let first = sheet("a", 0.0, 0.0, [0.1, 0.05]);
    let second = sheet("b", 0.1, 0.08, [0.06, 0.08]);
    let area = |bodies: &str| mask(&seen(&above(), bodies)).iter().sum::<f64>();
    assert_abs_diff_eq!(area(&first), 200.0, epsilon = 1e-5);
    assert_abs_diff_eq!(area(&second), 192.0, epsilon = 1e-5);
    assert_abs_diff_eq!(area(&format!("{first}{second}")), 200.0 + 192.0 - 30.0, epsilon = 1e-5);
}

/// A cone of light that touches a ball beside the axis of the camera meets the image in an ellipse.
#[test]
fn the_outline_of_a_ball_is_an_ellipse() {
    let camera = "eye = [0, 0, 0]\ntarget = [0, 1, 0]\nfov_y_deg = 60\nsize = [512, 512]";
    let ball = |r: f64| {
        format!(
            "[[body]]\nname = 'a'\nmass = 1\nposition = [0.3, 2, 0.2]\nshape = {{ sphere = {r} }}"
        )
    };
    let focal = 256.0 / 30.0_f64.to_radians().tan();
    // Half angle of the cone a, and of its axis from that of the camera b: semi axes by the ends along the line through the
    // middle, tan(b + a) and tan(b - a), and A = pi a b.
    let area = |r: f64| {
        let centre = [0.3, 2.0, 0.2_f64];
        let away = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (a, b) = ((r / away).asin(), (centre[1] / away).acos());
        let long = 0.5 * ((b + a).tan() - (b - a).tan());
        // The section of a cone: the square of the short one is long² (1 - e²) with e = sin b / cos a.
        let short = long * (1.0 - (b.sin() / a.cos()).powi(2)).sqrt();
        std::f64::consts::PI * long * short * focal * focal
    };
    for r in [0.1, 0.2, 0.4] {
        let found: f64 = mask(&seen(camera, &ball(r))).iter().sum();
        // Of 64 sides: the inscribed polygon has 1 - (2 pi / 64)² / 6 of a circle, and some corners more or less are seen.
        let off = found / area(r) - 1.0;
        assert!(off < 0.0 && off > -4e-3, "{r}: {off}");
    }
    // And how it grows.
    let grow = |area: &dyn Fn(f64) -> f64| (area(0.201) - area(0.199)) / 0.002;
    let found = grow(&|r| mask(&seen(camera, &ball(r))).iter().sum());
    assert!((found / grow(&area) - 1.0).abs() < 4e-3);
}

/// Of something convex the sum over all pixels is the area of the hull of its projected corners.
#[test]
fn pixels_sum_to_the_projected_area() {
    let mut random = Random(5);
    for _ in 0..cases::count(1000, 0.2) {
        let q = random.vector::<4>(1.0);
        let half: Vec<f64> = (0..3).map(|_| random.uniform(0.02, 0.12)).collect();
        let at = random.vector::<3>(0.15);
        let body = format!(
            "[[body]]\nname = 'a'\nmass = 1\nposition = {at:?}\n{}\nshape = {{ box = {half:?} }}",
            turned(q)
        );
        let scene = seen(
            "eye = [0.2, -1.2, 0.4]\ntarget = [0, 0, 0]\nfov_y_deg = 40\nsize = [96, 96]",
            &body,
        );
        let (node, inputs) = silhouette(&scene);
        let found: f64 = image(&node, &inputs).iter().sum();
        // By matrices of its own.
        let (r, p) = (&inputs[..9], &inputs[9..12]);
        let camera = &inputs[18..];
        let mut points = Vec::new();
        for corner in 0..8 {
            let sign = |k: usize| if corner >> k & 1 == 1 { half[k] } else { -half[k] };
            let world: Vec<f64> = (0..3)
                .map(|i| (0..3).map(|j| r[3 * i + j] * sign(j)).sum::<f64>() + p[i])
                .collect();
            let along = |axis: usize| {
                (0..3).map(|k| camera[3 * axis + 3 + k] * (world[k] - camera[k])).sum::<f64>()
            };
            let z = along(2);
            points.push([
                along(0) / z * camera[12] + camera[14],
                along(1) / z * camera[13] + camera[15],
            ]);
        }
        let expected = hull_area(points);
        assert_abs_diff_eq!(found, expected, epsilon = 1e-9 * expected);
    }
}

/// By Andrew's monotone chain.
fn hull_area(mut points: Vec<[f64; 2]>) -> f64 {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while chain.len() > 1
                && turn(chain[chain.len() - 2], chain[chain.len() - 1], point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut points.iter().copied());
    hull.extend(half(&mut points.iter().rev().copied()));
    let next = hull.iter().cycle().skip(1);
    0.5 * hull.iter().zip(next).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>().abs()
}

/// Cameras anywhere, inside of bodies, behind and beside them.
#[test]
fn any_camera_sees_shares_from_0_to_1() {
    let mut random = Random(7);
    let bodies = format!(
        "[[body]]\nname = 'a'\nmass = 1\nshape = {{ box = [0.3, 0.2, 0.1] }}\n\
         [[body]]\nname = 'b'\nmass = 1\nposition = [0.2, 0.1, 0.2]\n{}\nshape = {{ capsule = [0.1, 0.2] }}\n\
         [[body]]\nname = 'c'\nmass = 1\nposition = [-0.2, 0.1, 0]\nshape = {{ wedge = [0.2, 0.1, 0.1] }}",
        turned([0.9, 0.3, 0.2, 0.1])
    );
    let camera = "eye = [0, -2, 0]\ntarget = [0, 0, 0]\nfov_y_deg = 60\nsize = [12, 9]";
    let scene = seen(camera, &bodies);
    let (node, start) = silhouette(&scene);
    let coloured = ColourImage { solids: node.solids.clone(), size: node.size };
    let first = start.len() - 16;
    for case in 0..cases::count(100_000, 0.05) {
        let mut inputs = start.clone();
        for solid in inputs[..first].chunks_exact_mut(18) {
            let q = random.vector::<4>(1.0);
            let [w, x, y, z] = q.map(|x| x / q.iter().map(|x| x * x).sum::<f64>().sqrt());
            solid[..9].copy_from_slice(&[
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - w * z),
                2.0 * (x * z + w * y),
                2.0 * (x * y + w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - w * x),
                2.0 * (x * z - w * y),
                2.0 * (y * z + w * x),
                1.0 - 2.0 * (x * x + y * y),
            ]);
            let far = 10.0_f64.powf(random.uniform(-3.0, 1.0));
            solid[9..12].copy_from_slice(&random.vector::<3>(far));
        }
        let eye = 10.0_f64.powf(random.uniform(-3.0, 1.0));
        inputs[first..first + 3].copy_from_slice(&random.vector::<3>(eye));
        let covered = image(&node, &inputs);
        for (pixel, &x) in covered.iter().enumerate() {
            assert!((-1e-9..=1.0 + 1e-9).contains(&x), "case {case}, pixel {pixel}: {x}");
        }
        // What is visible in front of each other covers the same, whatever passes through what.
        inputs.extend([1.0, 0.5, 0.25].repeat(3));
        inputs.extend([0.4, 0.8, -1.0, 0.5, 0.5]);
        let seen = image(&coloured, &inputs);
        for (pixel, (own, &x)) in seen.as_chunks::<4>().0.iter().zip(&covered).enumerate() {
            assert!((own[3] - x).abs() < 1e-9, "case {case}, pixel {pixel}: {own:?} {x}");
            let shares = [own[0], 2.0 * own[1], 4.0 * own[2]];
            let within = |c: &f64| (0.5 * x - 1e-9..=x + 1e-9).contains(c);
            assert!(shares.iter().all(within), "case {case}, pixel {pixel}: {own:?} {x}");
        }
    }
}
