//! Colour: what is visible, beside rays through boxes, and its derivative in all ways.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use stiction::Scene;
use stiction::ad::{self, Dual, NodeRule, Real, Var, with_node_rule};
use stiction::dynamics::Kinematics;
use stiction::render::{
    ColourImage, ColourInputs, ColourPicture, ColourView, ImageFit, ImageFitScratch, Light,
    RecordedImage, Sampling, SilhouetteInputs, Solids, to_linear,
};

use super::{furthest, mask, seen, turned};
use crate::random::Random;

/// Boxes that hide and pass through each other, on a floor that one of them is partly in.
fn boxes(size: &str) -> Scene {
    let camera = format!("eye = [0.3, -1.2, 0.75]\ntarget = [0, 0, 0.08]\nfov_y_deg = 36\n{size}");
    let one = |name: &str, half: [f64; 3], at: [f64; 3], q: [f64; 4]| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 1\nshape = {{ box = {half:?} }}\nposition = {at:?}\n{}\n",
            turned(q)
        )
    };
    let bodies = [
        "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = 0\n".to_string(),
        one("a", [0.05, 0.06, 0.07], [0.01, 0.02, 0.1], [0.9, 0.1, 0.3, 0.2]),
        one("b", [0.15, 0.02, 0.03], [0.03, 0.0, 0.12], [0.8, -0.3, 0.4, 0.1]),
        one("c", [0.06, 0.05, 0.09], [-0.14, -0.05, 0.05], [0.9, 0.2, -0.1, 0.3]),
        one("d", [0.03, 0.03, 0.2], [-0.1, 0.1, 0.11], [0.7, 0.1, 0.1, 0.5]),
    ];
    seen(&camera, &bodies.concat())
}

/// All of a scene as a node, with its inputs where it starts.
fn colours(scene: &Scene) -> (ColourImage, Vec<f64>) {
    let at = (&scene.model, &scene.parameters);
    let solids = Arc::new(Solids::of_scene(at.0, at.1, &[]));
    let kinematics = Kinematics::new(at.0, at.1, &scene.state);
    let inputs = ColourInputs {
        places: SilhouetteInputs::new(&solids, at, &kinematics, 0),
        colours: solids.colours(),
        light: Light::of(&scene.model.light.unwrap_or_default()),
    };
    (ColourImage { solids, size: scene.model.cameras[0].size }, inputs.flat())
}

pub(super) fn image<T: Real>(node: &ColourImage, inputs: &[T]) -> Vec<T> {
    let mut image = vec![T::zero(); 4 * node.size[0] * node.size[1]];
    T::call(node, inputs, &mut image, &mut Default::default(), &mut Default::default());
    image
}

/// Red, green and blue of all pixels of a scene before a black background.
pub(super) fn colours_before_black(scene: &Scene) -> Vec<[f64; 3]> {
    let (node, inputs) = colours(scene);
    image(&node, &inputs).as_chunks::<4>().0.iter().map(|&[r, g, b, _]| [r, g, b]).collect()
}

/// What a ray meets first of boxes and the floor: its colour.
fn traced(scene: &Scene, eye: &Vector3<f64>, ray: &Vector3<f64>, colours: &[[f64; 3]]) -> [f64; 3] {
    let light = Light::default();
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &scene.state);
    let mut best = (f64::INFINITY, Vector3::zeros(), [0.0; 3]);
    for (index, collider) in scene.model.colliders.iter().enumerate() {
        let body = &kinematics.bodies[collider.body.unwrap()];
        let half = scene.parameters.size(&scene.model, index);
        let rotation: &Matrix3<f64> = &body.rotation;
        let (o, d) = (rotation.tr_mul(&(eye - body.position)), rotation.tr_mul(ray));
        let (mut enter, mut leave, mut axis) = (f64::NEG_INFINITY, f64::INFINITY, 0);
        for k in 0..3 {
            let (a, b) = ((-half[k] - o[k]) / d[k], (half[k] - o[k]) / d[k]);
            if a.min(b) > enter {
                (enter, axis) = (a.min(b), k);
            }
            leave = leave.min(a.max(b));
        }
        if enter < leave && enter > 0.0 && enter < best.0 {
            let mut normal = Vector3::zeros();
            normal[axis] = -d[axis].signum();
            best = (enter, rotation * normal, colours[index]);
        }
    }
    let floor = -eye.z / ray.z;
    if floor > 0.0 && floor < best.0 {
        best = (floor, Vector3::z(), colours[scene.model.colliders.len()]);
    }
    let bright =
        light.ambient + light.direct * (-best.1.dot(&light.direction.normalize())).max(0.0);
    best.2.map(|part| part * bright)
}

#[test]
fn boxes_are_seen_as_rays_see_them() {
    let scene = boxes("size = [64, 48]");
    let (node, inputs) = colours(&scene);
    let found = image(&node, &inputs);
    let eye = Vector3::new(0.3, -1.2, 0.75);
    let ahead = (Vector3::new(0.0, 0.0, 0.08) - eye).normalize();
    let right = ahead.cross(&Vector3::z()).normalize();
    let down = ahead.cross(&right);
    let focal = 24.0 / 18.0_f64.to_radians().tan();
    let known: Vec<[f64; 3]> = node.solids.colours();
    let mut random = Random(7);
    let (samples, mut squares, mut most) = (24, 0.0, 0.0_f64);
    for pixel in 0..64 * 48 {
        let (x, y) = ((pixel % 64) as f64, (pixel / 64) as f64);
        let mut sum = [0.0; 3];
        for k in 0..samples * samples {
            let along =
                (x + ((k % samples) as f64 + random.uniform(0.0, 1.0)) / f64::from(samples)) - 32.0;
            let across =
                (y + ((k / samples) as f64 + random.uniform(0.0, 1.0)) / f64::from(samples)) - 24.0;
            let ray = ahead + right * (along / focal) + down * (across / focal);
            let colour = traced(&scene, &eye, &ray, &known);
            (0..3).for_each(|c| sum[c] += colour[c] / f64::from(samples * samples));
        }
        for c in 0..3 {
            let off = (found[4 * pixel as usize + c] - sum[c]).abs();
            squares += off * off;
            most = most.max(off);
        }
        assert!((found[4 * pixel as usize + 3] - 1.0).abs() < 1e-9, "the floor is everywhere");
    }
    let rms = (squares / (3.0 * 64.0 * 48.0)).sqrt();
    // Stratified samples of a pixel are off by about 24^-1.5 of a step in colour.
    assert!(rms < 1e-3 && most < 1e-2, "rms {rms:e}, most {most:e}");
}

/// The derivative of all numbers in input `k`.
fn along(node: &ColourImage, inputs: &[f64], k: usize, rule: NodeRule) -> Vec<f64> {
    with_node_rule(rule, || {
        let place = |i: usize| if i == k { 0 } else { usize::MAX };
        let x: Vec<Dual<f64, 1>> =
            inputs.iter().enumerate().map(|(i, &x)| Dual::variable(x, place(i))).collect();
        image(node, &x).iter().map(|number| number.tangent[0]).collect()
    })
}

#[test]
fn duals_through_the_pieces_and_differences_agree_with_the_derivative_by_hand() {
    let (node, inputs) = colours(&boxes("size = [48, 36]"));
    for k in 0..inputs.len() {
        let by_hand = along(&node, &inputs, k, NodeRule::ByJvp);
        let size = by_hand.iter().map(|x| x.abs()).fold(1.0, f64::max);
        let unrolled = along(&node, &inputs, k, NodeRule::Unrolled);
        let off = furthest(&unrolled, |number| by_hand[number]);
        assert!(off < 1e-9 * size, "input {k}: {off:e} of {size:e}");
        let h = 1e-6 / (1.0 + size / 1e3);
        let at = |h: f64| {
            let mut moved = inputs.clone();
            moved[k] += h;
            image(&node, &moved)
        };
        let (after, before) = (at(h), at(-h));
        let off = furthest(&by_hand, |number| (after[number] - before[number]) / (2.0 * h));
        assert!(off < 1e-5 * size, "input {k}: {off:e} of {size:e}");
    }
}

#[test]
fn the_adjoint_of_colours_is_the_transpose() {
    let (node, inputs) = colours(&boxes("size = [48, 36]"));
    let mut random = Random(3);
    let weights: Vec<f64> = (0..4 * 48 * 36).map(|_| random.uniform(-1.0, 1.0)).collect();
    let (_, adjoint) = ad::vjp(|x: &[Var]| image(&node, x), &inputs, |_| weights.clone()).unwrap();
    for (k, &found) in adjoint.iter().enumerate() {
        let column = along(&node, &inputs, k, NodeRule::ByJvp);
        let expected: f64 = column.iter().zip(&weights).map(|(a, b)| a * b).sum();
        let size: f64 = column.iter().zip(&weights).map(|(a, b)| (a * b).abs()).sum();
        // The floor, the last of five, is seen as far as 10 km: what its rotation moves by that cancels.
        let least = if (72..90).contains(&k) { 1e4 } else { 1.0 };
        assert!(
            (found - expected).abs() <= 1e-12 * size.max(least),
            "input {k}: {found} {expected}"
        );
    }
}

/// What covers a pixel is what the mask says, of round bodies too.
#[test]
fn colours_cover_what_the_mask_does() {
    let scene = super::derivatives::crowd("size = [64, 64]");
    let (node, inputs) = colours(&scene);
    let (found, covered) = (image(&node, &inputs), mask(&scene));
    let off = furthest(&covered, |pixel| found[4 * pixel + 3]);
    assert!(off < 1e-12, "{off:e}");
}

/// The sum of the squares of a frame, and its derivative, by differences of all pixels.
#[test]
fn the_residuals_of_a_frame_have_the_squares_of_all_colours() {
    let text = "size = [40, 30]\n[light]\ncolor = '#3050a0'";
    let scene = boxes(text);
    let mut other = boxes(text);
    other.state.q[0] += 0.02;
    other.state.q[9] -= 0.015;
    let recorded = ColourPicture::of([40, 30], &colours_before_black(&other));
    let target = RecordedImage::of_colours(&recorded);
    let fit = ImageFit::in_colour((&scene.model, &scene.parameters), 0, ColourView::All, &[]);
    type D = Dual<f64, 8>;
    let slots = ["b/half_extents/x", "floor/tilt/x", "front/eye/y", "front/fov_y"];
    let slots: Vec<usize> =
        slots.iter().map(|name| scene.model.parameter(name).unwrap().slots[0]).collect();
    let directions = [(4, 0), (5, 4), (6, 8), (7, 15)];
    // Values and derivatives of the sum, as residuals and plainly.
    for blur in [0.0, 4.0] {
        let compared = (&target, Sampling { blur }, 0.05);
        let mut parameters = scene.parameters.cast::<D>();
        for (lane, &slot) in slots.iter().enumerate() {
            parameters.values[slot] = D::variable(scene.parameters.values[slot], lane);
        }
        let mut displacement = vec![D::constant(0.0); 2 * scene.model.nv()];
        directions.iter().for_each(|&(lane, k)| displacement[k] = D::variable(0.0, lane));
        let state = scene.state.cast::<D>().moved(scene.model.coordinates(), &displacement);
        let kinematics = Kinematics::new(&scene.model, &parameters, &state);
        let (mut residuals, mut scratch) = (Vec::new(), ImageFitScratch::default());
        let at = (&scene.model, &parameters);
        fit.compare(at, &kinematics, compared, &mut scratch, &mut residuals);
        assert_eq!(residuals.len(), fit.residuals());
        let plain = |lane: usize, h: f64| {
            let mut parameters = scene.parameters.clone();
            if let Some(&slot) = slots.get(lane) {
                parameters.values[slot] += h;
            }
            let mut displacement = vec![0.0; 2 * scene.model.nv()];
            let moved = directions.iter().find(|(own, _)| *own == lane);
            moved.iter().for_each(|(_, k)| displacement[*k] = h);
            let state = scene.state.moved(scene.model.coordinates(), &displacement);
            let kinematics = Kinematics::new(&scene.model, &parameters, &state);
            let (mut residuals, mut scratch) = (Vec::new(), ImageFitScratch::default());
            let at = (&scene.model, &parameters);
            fit.compare(at, &kinematics, compared, &mut scratch, &mut residuals);
            residuals.iter().map(|r: &f64| r * r).sum::<f64>()
        };
        let square: f64 = residuals.iter().map(|r| r.value() * r.value()).sum();
        assert!((square / plain(0, 0.0) - 1.0).abs() < 1e-12);
        for lane in 0..8 {
            let slope: f64 = residuals.iter().map(|r| 2.0 * r.value() * r.tangent[lane]).sum();
            let expected = (plain(lane, 1e-6) - plain(lane, -1e-6)) / 2e-6;
            let off = (slope - expected).abs();
            assert!(
                off < 2e-5 * expected.abs().max(1.0),
                "blur {blur}, {lane}: {slope} {expected}"
            );
        }
        if blur == 0.0 {
            let seen = colours(&scene);
            let behind = [0x30, 0x50, 0xa0].map(|x| to_linear(f64::from(x) / 255.0));
            let image = image(&seen.0, &seen.1);
            let pixels = image.as_chunks::<4>().0.iter().zip(&recorded.values);
            let sum: f64 = pixels
                .flat_map(|(pixel, recorded)| {
                    [0, 1, 2].map(|c| {
                        let recorded = to_linear(f64::from(recorded[c]) / 255.0);
                        let seen = pixel[c] + (1.0 - pixel[3]) * behind[c];
                        ((seen - recorded) / 0.05).powi(2)
                    })
                })
                .sum();
            // Recorded light is kept in 16 bits.
            assert!((square / sum - 1.0).abs() < 1e-3, "{square} {sum}");
        }
    }
}

/// A box that is partly in the floor, head-on: its upper edge and the line in which it meets the floor are level, or nearly.
#[test]
fn level_edges_and_crossings_move() {
    let camera = "K = [[100, 0, 24], [0, 100, 18], [0, 0, 1]]\nR = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]\n\
        t = [0, 0.3, 2]\nsize = [48, 36]";
    let bodies = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'a'\nmass = 1\n\
        shape = { box = [0.21, 0.2, 0.17] }\nposition = [0.013, 0, 0.15]\n";
    let (node, start) = colours(&seen(camera, bodies));
    for turn in [0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, -1e-15, -1e-11] {
        let mut inputs = start.clone();
        // About y: entries 2 and 6 of the rotation.
        (inputs[2], inputs[6]) = (turn, -turn);
        // Where it is, and how high.
        for k in [9, 10, 11, 12, 14] {
            let by_hand = along(&node, &inputs, k, NodeRule::ByJvp);
            let size = by_hand.iter().map(|x| x.abs()).fold(1.0, f64::max);
            let at = |h: f64| {
                let mut moved = inputs.clone();
                moved[k] += h;
                image(&node, &moved)
            };
            let (after, before) = (at(1e-6), at(-1e-6));
            let off = furthest(&by_hand, |number| (after[number] - before[number]) / 2e-6);
            assert!(off < 1e-5 * size, "turned by {turn:e}, input {k}: {off:e} of {size:e}");
            if turn == 0.0 {
                let unrolled = along(&node, &inputs, k, NodeRule::Unrolled);
                let off = furthest(&unrolled, |number| by_hand[number]);
                assert!(off < 1e-9 * size, "input {k}: {off:e} of {size:e}");
            }
        }
    }
}

/// Derivatives that are found in several passes have one basis, and none are needed.
#[test]
fn residuals_of_colours_are_the_same_in_all_passes() {
    let scene = boxes("size = [40, 30]");
    let mut other = boxes("size = [40, 30]");
    other.state.q[0] += 0.02;
    let target =
        RecordedImage::of_colours(&ColourPicture::of([40, 30], &colours_before_black(&other)));
    let fit = ImageFit::in_colour((&scene.model, &scene.parameters), 0, ColourView::All, &[]);
    // The derivatives of residuals along some directions of all bodies.
    fn pass<const N: usize>(
        scene: &Scene,
        (fit, target): (&ImageFit, &RecordedImage),
        first: usize,
    ) -> Vec<Dual<f64, N>> {
        let mut displacement = vec![Dual::constant(0.0); 2 * scene.model.nv()];
        for (lane, to) in displacement.iter_mut().skip(first).take(N).enumerate() {
            *to = Dual::variable(0.0, lane);
        }
        let parameters = scene.parameters.cast();
        let state = scene.state.cast().moved(scene.model.coordinates(), &displacement);
        let kinematics = Kinematics::new(&scene.model, &parameters, &state);
        let (mut residuals, mut scratch) = (Vec::new(), ImageFitScratch::default());
        let compared = (target, Sampling::default(), 0.05);
        fit.compare(
            (&scene.model, &parameters),
            &kinematics,
            compared,
            &mut scratch,
            &mut residuals,
        );
        residuals
    }
    let whole = pass::<24>(&scene, (&fit, &target), 0);
    for first in (0..24).step_by(4) {
        let part = pass::<4>(&scene, (&fit, &target), first);
        for (own, all) in part.iter().zip(&whole) {
            assert_eq!(own.value(), all.value());
            (0..4).for_each(|lane| assert_eq!(own.tangent[lane], all.tangent[first + lane]));
        }
    }
    // Of velocities nothing changes.
    let still = pass::<4>(&scene, (&fit, &target), 24);
    assert!(still.iter().all(|r| r.tangent == [0.0; 4] && r.value().is_finite()));
    // Masks are no colours, and what is nowhere is not seen.
    let wrong = ImageFit::new((&scene.model, &scene.parameters), 0, &[0]);
    assert!(pass::<4>(&scene, (&wrong, &target), 0).iter().all(|r| r.value().is_nan()));
    let mut lost = boxes("size = [40, 30]");
    lost.state.q[1] = f64::NAN;
    assert!(pass::<4>(&lost, (&fit, &target), 0).iter().all(|r| r.value().is_nan()));
}
