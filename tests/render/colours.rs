//! Colour: what is visible, beside rays through boxes, and its derivative in all ways.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use stiction::Scene;
use stiction::ad::{Dual, NodeRule, Real};
use stiction::dynamics::Kinematics;
use stiction::model::{SeenMesh, Triangulation};
use stiction::render::{
    ColourImage, ColourInputs, ColourPicture, ColourView, ImageFit, ImageFitScratch, Light,
    RecordedImage, Sampling, SilhouetteInputs, Solids, to_linear,
};

use super::{agrees, furthest, image, is_transpose, mask, seen, step, turned};
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

#[test]
fn duals_through_the_pieces_and_differences_agree_with_the_derivative_by_hand() {
    let (node, inputs) = colours(&boxes("size = [48, 36]"));
    for k in 0..inputs.len() {
        agrees(&node, &inputs, k, step, Some((NodeRule::Unrolled, 1e-9)));
    }
}

#[test]
fn the_adjoint_of_colours_is_the_transpose() {
    let (node, inputs) = colours(&boxes("size = [48, 36]"));
    // The floor, the last of five, is seen as far as 10 km: what its rotation moves by that cancels.
    is_transpose(&node, &inputs, |k| if (72..90).contains(&k) { 1e4 } else { 1.0 });
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
            let unrolled = (turn == 0.0).then_some((NodeRule::Unrolled, 1e-9));
            agrees(&node, &inputs, k, |_| 1e-6, unrolled);
        }
    }
}

/// What is only seen is drawn as the same box that is a shape, wherever it stands on its body.
#[test]
fn meshes_that_are_seen_stand_where_they_are_on_their_body() {
    let camera = "eye = [0.3, -1.2, 0.75]\ntarget = [0, 0, 0.08]\nfov_y_deg = 30\nsize = [48, 36]";
    let (pose, on_body) = (turned([0.9, 0.1, 0.3, 0.2]), turned([0.5, -0.4, 0.1, 0.6]));
    let body = |shape: &str| {
        format!(
            "[[body]]\nname = 'a'\nmass = 1\ninertia = 0.01\nposition = [0.02, 0.03, 0.1]\n{pose}\n{shape}"
        )
    };
    let shape = format!(
        "[[body.shape]]\nbox = [0.1, 0.06, 0.04]\nposition = [0.03, -0.02, 0.05]\n{on_body}"
    );
    let (shown, inputs) = colours(&seen(camera, &body(&shape)));
    let scene = seen(camera, &body(""));
    let corner = |k: usize| {
        let sign = |axis: usize| if k >> axis & 1 == 1 { 1.0 } else { -1.0 };
        Vector3::new(0.1 * sign(0), 0.06 * sign(1), 0.04 * sign(2))
    };
    let sides =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let surface = Triangulation {
        vertices: (0..8).map(corner).collect(),
        triangles: sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    };
    let wxyz: [f64; 4] = {
        let q = [0.5, -0.4, 0.1, 0.6_f64];
        let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.map(|x| x / size)
    };
    let mesh = SeenMesh {
        body: Some(0),
        surface: Arc::new(surface),
        colour: None,
        position: [0.03, -0.02, 0.05],
        orientation: wxyz,
    };
    let at = (&scene.model, &scene.parameters);
    let solids = Arc::new(Solids::of_scene(at.0, at.1, &[mesh]));
    let kinematics = Kinematics::new(at.0, at.1, &scene.state);
    let places = SilhouetteInputs::new(&solids, at, &kinematics, 0);
    let known = ColourInputs { places, colours: vec![[0.2, 0.5, 0.7]], light: Light::default() };
    let node = ColourImage { solids, size: [48, 36] };
    let found = image(&node, &known.flat());
    let mut expected = inputs.clone();
    let at = expected.len() - 8;
    expected[at..].copy_from_slice(&known.flat()[known.flat().len() - 8..]);
    let expected = image(&shown, &expected);
    assert!(expected.iter().sum::<f64>() > 40.0, "it is seen");
    assert!(furthest(&found, |number| expected[number]) < 1e-12);
}

/// The inside of an open surface is seen too, as bright as its other side is turned, and moves.
#[test]
fn open_surfaces_are_seen_from_behind() {
    let scene = seen(
        "eye = [0.2, -1.2, 0.4]\ntarget = [0, 0, 0]\nfov_y_deg = 30\nsize = [32, 24]",
        "[[body]]\nname = 'a'\nmass = 1\ninertia = 0.01",
    );
    let corners = [[-0.1, 0.02, -0.1], [0.12, 0.0, -0.09], [0.1, -0.03, 0.11], [-0.11, 0.01, 0.1]];
    let drawn = |triangles: Vec<[usize; 3]>| {
        let vertices = corners.iter().map(|&corner| Vector3::from(corner)).collect();
        let mesh = SeenMesh {
            body: Some(0),
            surface: Arc::new(Triangulation { vertices, triangles }),
            colour: None,
            position: [0.0; 3],
            orientation: [1.0, 0.0, 0.0, 0.0],
        };
        let at = (&scene.model, &scene.parameters);
        let solids = Arc::new(Solids::of_scene(at.0, at.1, &[mesh]));
        let kinematics = Kinematics::new(at.0, at.1, &scene.state);
        let inputs = ColourInputs {
            places: SilhouetteInputs::new(&solids, at, &kinematics, 0),
            colours: solids.colours(),
            light: Light::default(),
        };
        (ColourImage { solids, size: [32, 24] }, inputs.flat())
    };
    let front = drawn(vec![[0, 1, 2], [0, 2, 3]]);
    let behind = drawn(vec![[0, 2, 1], [0, 3, 2]]);
    let (seen, other) = (image(&front.0, &front.1), image(&behind.0, &behind.1));
    assert!(seen.iter().sum::<f64>() > 50.0, "it is seen");
    assert!(furthest(&seen, |number| other[number]) < 1e-12);
    for k in 0..behind.1.len() {
        agrees(&behind.0, &behind.1, k, step, Some((NodeRule::Unrolled, 1e-9)));
    }
}

/// The brightness that reports show is that of the picture before its background.
#[test]
fn the_brightness_of_a_fit_is_that_of_its_colours() {
    let scene = boxes("size = [40, 30]\n[light]\ncolor = '#3050a0'");
    let at = (&scene.model, &scene.parameters);
    let fit = ImageFit::in_colour(at, 0, ColourView::All, &[]);
    let kinematics = Kinematics::new(at.0, at.1, &scene.state);
    let found: Vec<f64> = fit.image(at, &kinematics);
    let (node, inputs) = colours(&scene);
    let behind = [0x30, 0x50, 0xa0].map(|x| to_linear(f64::from(x) / 255.0));
    for (pixel, seen) in image(&node, &inputs).as_chunks::<4>().0.iter().enumerate() {
        // Rec. 709.
        let of = [0.2126, 0.7152, 0.0722];
        let light: f64 = (0..3).map(|c| of[c] * (seen[c] + (1.0 - seen[3]) * behind[c])).sum();
        assert!((found[pixel] - light).abs() < 1e-12, "pixel {pixel}: {} {light}", found[pixel]);
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
