//! The derivative of coverage in all ways.

use stiction::Scene;
use stiction::ad::{Dual, NodeRule, Real};
use stiction::dynamics::Kinematics;
use stiction::render::{ImageFit, ImageFitScratch, Picture, RecordedImage, Sampling};

use super::{agrees, along, furthest, image, is_transpose, mask, seen, silhouette, step, turned};

/// Three bodies that hide parts of each other, of all kinds of shapes.
pub(super) fn crowd(size: &str) -> Scene {
    let camera = format!("eye = [0.1, -1, 0.75]\ntarget = [0, 0, 0.06]\nfov_y_deg = 36\n{size}");
    let bodies = format!(
        "[[body]]\nname = 'a'\nmass = 1\nshape = {{ box = [0.05, 0.06, 0.07] }}\nposition = [0.01, 0.02, 0.1]\n{}\n\
         [[body]]\nname = 'b'\nmass = 1\nposition = [0.07, -0.1, 0.12]\nshape = {{ sphere = 0.06 }}\n\
         [[body]]\nname = 'c'\nmass = 1\ninertia = 0.01\nposition = [-0.1, -0.1, 0.12]\n{}\n\
         [[body.shape]]\nname = 'rod'\ncylinder = [0.03, 0.08]\nposition = [0, 0.01, 0.02]\n\
         [[body.shape]]\nname = 'tip'\ncapsule = [0.02, 0.03]\nposition = [0.05, 0.01, 0.02]",
        turned([0.9, 0.1, 0.3, 0.2]),
        turned([0.3, 0.5, -0.2, 0.7])
    );
    seen(&camera, &bodies)
}

#[test]
fn duals_through_the_pieces_and_differences_agree_with_the_derivative_by_hand() {
    let (node, inputs) = silhouette(&crowd("size = [64, 64]"));
    for k in 0..inputs.len() {
        agrees(&node, &inputs, k, step, Some((NodeRule::Unrolled, 1e-10)));
    }
}

/// Fewer pixels: the residual has a row for each.
#[test]
fn duals_through_the_residual_agree_with_the_derivative_by_hand() {
    let (node, inputs) = silhouette(&crowd("size = [8, 8]"));
    for k in 0..inputs.len() {
        agrees(&node, &inputs, k, step, Some((NodeRule::ByResidual, 1e-10)));
    }
}

#[test]
fn the_adjoint_is_the_transpose() {
    let (node, inputs) = silhouette(&crowd("size = [48, 48]"));
    is_transpose(&node, &inputs, |_| 1.0);
}

/// Edges that lie along rows of pixels have a derivative too.
#[test]
fn level_edges_move() {
    let camera = "K = [[100, 0, 32], [0, 100, 24], [0, 0, 1]]\nR = [[1, 0, 0], [0, -1, 0], [0, 0, -1]]\nt = [0, 0, 1]\nsize = [64, 48]";
    let sheet = |name: &str, x: f64, y: f64| {
        format!(
            "[[body]]\nname = '{name}'\nmass = 1\nposition = [{x}, {y}, -1e-9]\nshape = {{ box = [0.103, 0.0522, 1e-9] }}\n"
        )
    };
    // One behind the other, a bit aside.
    let scene =
        seen(camera, &format!("{}{}", sheet("a", 0.001, 0.002), sheet("b", 0.0313, 0.0351)));
    let (node, inputs) = silhouette(&scene);
    // Where they are and how wide: they have no height to speak of.
    for k in (9..14).chain(27..32) {
        agrees(&node, &inputs, k, |_| 1e-7, Some((NodeRule::Unrolled, 1e-9)));
    }
}

/// And so do those that are so by rounding only, a piece of them or all.
#[test]
fn nearly_level_edges_move_as_level_ones() {
    let camera = "K = [[100, 0, 32], [0, 100, 24], [0, 0, 1]]\nR = [[1, 0, 0], [0, -1, 0], [0, 0, -1]]\nt = [0, 0, 1]\nsize = [64, 48]";
    let sheet = "[[body]]\nname = 'a'\nmass = 1\nposition = [0.001, 0.0023, -1e-9]\nshape = { box = [0.203, 0.0522, 1e-9] }\n";
    let (node, inputs) = silhouette(&seen(camera, sheet));
    for turn in [1e-17, 1e-16, 3e-16, 1e-15, 1e-14, 1e-12, -1e-16, -3e-16, -1e-15, -1e-13] {
        let mut turned = inputs.clone();
        // About z: entries 1 and 3 of the rotation.
        (turned[1], turned[3]) = (-turn, turn);
        for k in (9..14).chain([1, 3]) {
            let level = along(&node, &inputs, k, NodeRule::ByJvp);
            let nearly = along(&node, &turned, k, NodeRule::ByJvp);
            let size = level.iter().map(|x| x.abs()).fold(1.0, f64::max);
            let off = furthest(&nearly, |pixel| level[pixel]);
            assert!(off < 1e-9 * size, "turned by {turn:e}, input {k}: {off:e} of {size:e}");
        }
    }
}

/// Few residuals have the sum of squares, and its derivatives, that all pixels have.
#[test]
fn the_residuals_of_a_frame_stand_for_all_pixels() {
    let scene = crowd("size = [64, 64]");
    let mut other = crowd("size = [64, 64]");
    other.state.q[0] += 0.01;
    other.state.q[9] -= 0.006;
    let target = RecordedImage::of(&Picture::of([64, 64], &mask(&other)));
    let fit = ImageFit::new((&scene.model, &scene.parameters), 0, &[0, 1, 2]);
    type D = Dual<f64, 8>;
    // Directions of the state, a size, a place and the camera.
    let slots = ["b/radius", "c/tip/position/x", "front/eye/y", "front/fov_y"];
    let slots: Vec<usize> =
        slots.iter().map(|name| scene.model.parameter(name).unwrap().slots[0]).collect();
    let mut parameters = scene.parameters.cast::<D>();
    for (lane, &slot) in slots.iter().enumerate() {
        parameters.values[slot] = D::variable(scene.parameters.values[slot], lane);
    }
    let mut displacement = vec![D::constant(0.0); 2 * scene.model.nv()];
    for (lane, k) in [(4, 0), (5, 4), (6, 8), (7, 15)] {
        displacement[k] = D::variable(0.0, lane);
    }
    let state = scene.state.cast::<D>().moved(scene.model.coordinates(), &displacement);
    let kinematics = Kinematics::new(&scene.model, &parameters, &state);
    // All pixels.
    let (node, _) = silhouette(&scene);
    let inputs = stiction::render::SilhouetteInputs::new(
        &node.solids,
        (&scene.model, &parameters),
        &kinematics,
        0,
    );
    let seen = image(&node, &inputs.flat());
    let recorded = Picture::of([64, 64], &mask(&other)).values;
    let pixels: Vec<D> = seen
        .iter()
        .zip(&recorded)
        .map(|(&x, &y)| (x - D::constant(f64::from(y) / 65535.0)) / 0.05)
        .collect();
    let mut residuals = Vec::new();
    let mut scratch = ImageFitScratch::default();
    let compared = (&target, Sampling::default(), 0.05);
    fit.compare((&scene.model, &parameters), &kinematics, compared, &mut scratch, &mut residuals);
    assert_eq!(residuals.len(), fit.residuals());
    same_equations(&residuals, &pixels, 1e-9);
    // Through a blur the residuals of both ways through the same blur are one, too: here by that of each lane.
    let mut blurred = Vec::new();
    let compared = (&target, Sampling { blur: 5.0 }, 0.05);
    fit.compare((&scene.model, &parameters), &kinematics, compared, &mut scratch, &mut blurred);
    let plain = |h: f64| {
        let mut parameters = scene.parameters.clone();
        parameters.values[slots[0]] += h;
        let kinematics = Kinematics::new(&scene.model, &parameters, &scene.state);
        let mut residuals = Vec::new();
        fit.compare(
            (&scene.model, &parameters),
            &kinematics,
            compared,
            &mut ImageFitScratch::default(),
            &mut residuals,
        );
        residuals.iter().map(|r: &f64| r * r).sum::<f64>()
    };
    let slope: f64 = blurred.iter().map(|r| 2.0 * r.value() * r.tangent[0]).sum();
    let expected = (plain(1e-6) - plain(-1e-6)) / 2e-6;
    assert!((slope - expected).abs() < 1e-6 * expected.abs(), "{slope} {expected}");
    let square: f64 = blurred.iter().map(|r| r.value() * r.value()).sum();
    assert!((square / plain(0.0) - 1.0).abs() < 1e-12);
}

fn same_equations(found: &[Dual<f64, 8>], expected: &[Dual<f64, 8>], tolerance: f64) {
    let sum =
        |all: &[Dual<f64, 8>], of: &dyn Fn(&Dual<f64, 8>) -> f64| all.iter().map(of).sum::<f64>();
    let size = |i: usize| sum(expected, &|r| r.tangent[i] * r.tangent[i]).sqrt();
    let of_values = sum(expected, &|r| r.value() * r.value()).sqrt();
    let same = |of: &dyn Fn(&Dual<f64, 8>) -> f64, size: f64, what: &str| {
        let (found, expected) = (sum(found, of), sum(expected, of));
        assert!((found - expected).abs() <= tolerance * size, "{what}: {found} {expected}");
    };
    same(&|r| r.value() * r.value(), of_values * of_values, "r'r");
    for i in 0..8 {
        assert!(size(i) > 1.0);
        same(&|r| r.value() * r.tangent[i], of_values * size(i), &format!("J'r {i}"));
        for j in 0..=i {
            same(&|r| r.tangent[i] * r.tangent[j], size(i) * size(j), &format!("J'J {i} {j}"));
        }
    }
}
