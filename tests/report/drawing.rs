//! Surfaces of shapes.

use nalgebra::{Matrix3, Vector3};
use stiction::dynamics::Kinematics;
use stiction::model::Scene;
use stiction::view::{Appearance, Drawing, DrawnAxis, Triangles};

/// The scene of a body with a shape, or without.
fn scene(shape: &str) -> Scene {
    let text = format!(
        "[simulation]\ntime_step = 0.01\n[[half_space]]\nname = \"floor\"\nnormal = [0, 0, 2]\n\
         offset = -9\n[[body]]\nname = \"body\"\nmass = 2\n{shape}\n[[contact]]\nmu = 0.3\n"
    );
    Scene::parse(&text, "scene.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn corners(surface: &Triangles) -> impl Iterator<Item = [Vector3<f64>; 3]> + '_ {
    let at = |&k: &usize| Vector3::from_column_slice(&surface.vertices[3 * k..3 * k + 3]);
    surface.triangles.chunks_exact(3).map(move |t| [at(&t[0]), at(&t[1]), at(&t[2])])
}

/// Volume, its first and its second moments, from the tetrahedra to the origin.
fn moments(surface: &Triangles) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for [a, b, c] in corners(surface) {
        let (v, s) = (a.dot(&b.cross(&c)) / 6.0, a + b + c);
        volume += v;
        first += s * (v / 4.0);
        second += [a, b, c, s].iter().map(|x| x * x.transpose()).sum::<Matrix3<f64>>() * (v / 20.0);
    }
    (volume, first, second)
}

/// Every side of a triangle is that of its neighbour, the other way round.
fn is_closed(surface: &Triangles) -> bool {
    let sides: Vec<[usize; 2]> = surface
        .triangles
        .chunks_exact(3)
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .collect();
    sides.iter().all(|&[a, b]| {
        let count = |side: [usize; 2]| sides.iter().filter(|&&other| other == side).count();
        count([a, b]) == 1 && count([b, a]) == 1
    })
}

#[test]
fn surfaces_hold_the_volume_of_their_shapes() {
    let tilted = "position = [1, 2, 3]\norientation = [0.8, 0.6, 0, 0]";
    for shape in [
        "box = [0.1, 0.2, 0.3]",
        "sphere = 0.4",
        "capsule = [0.1, 0.3]",
        "cylinder = [0.2, 0.1]",
        "wedge = [0.3, 0.2, 0.1]",
        "convex = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]\nscale = [1, 2, 0.5]",
    ] {
        let scene = scene(&format!("inertia = 1\n[[body.shape]]\n{shape}\n{tilted}"));
        let drawing = Drawing::new(&scene.model, &scene.parameters, &Appearance::default());
        assert_eq!((drawing.bodies.len(), drawing.shapes.len()), (1, 1), "{shape}");
        let surface = &drawing.shapes[0].surface;
        assert!(is_closed(surface), "{shape}");
        let (volume, first, _) = moments(surface);
        let size = scene.parameters.size(&scene.model, 0).into();
        let solid = scene.model.colliders[0].shape.uniform_solid(size);
        // Round shapes have 32 sides.
        assert!((volume / solid.volume - 1.0).abs() < 0.02, "{shape} {volume}");
        let turn = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
            0.8, 0.6, 0.0, 0.0,
        ));
        let center = Vector3::new(1.0, 2.0, 3.0) + turn * solid.center_of_mass;
        assert!((first / volume - center).norm() < 1e-3, "{shape} {}", first / volume);
    }
}

/// They are drawn as frames, as large as a box of their mass and inertia: a thin rod from its middle to its end.
#[test]
fn bodies_without_a_shape_have_no_surface() {
    let Scene { model, parameters, .. } = scene("inertia = [0.03, 0.03, 1e-9]");
    let drawing = Drawing::new(&model, &parameters, &Appearance::default());
    assert_eq!((drawing.shapes.len(), &drawing.bare[..]), (0, &[0][..]));
    let half = (3.0 * 0.03 / parameters.mass(&model, 0)).sqrt();
    assert!((drawing.size / half - 1.0).abs() < 1e-6, "{} {half}", drawing.size);
}

#[test]
fn joints_have_their_axes() {
    let text = "[[body]]\nname = \"base\"\nmass = 1\ninertia = 1\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 1\n\
                parent = \"base\"\njoint = { type = \"revolute\", axis = [0, 2, 0], anchor = [0.1, 0, 0.3] }\n";
    let text = format!("simulation.time_step = 0.01\n{text}");
    let Scene { model, parameters, .. } = Scene::parse(&text, "arm.toml").unwrap();
    let drawing = Drawing::new(&model, &parameters, &Appearance::default());
    let axis = DrawnAxis { body: 1, point: [0.1, 0.0, 0.3], direction: [0.0, 1.0, 0.0] };
    assert_eq!(drawing.axes, [axis]);
}

#[test]
fn uneven_ground_faces_up_and_keeps_its_rim() {
    let rows: Vec<String> = (0..150)
        .map(|i| {
            let row = (0..3).map(|j| format!("{:.3}", 0.1 * f64::from((i * 7 + j * 3) % 5)));
            format!("[{}]", row.collect::<Vec<_>>().join(", "))
        })
        .collect();
    let field = format!("height_field = [{}]\nspacing = [0.5, 0.1]", rows.join(", "));
    let mut text = "[[body.shape]]\nsphere = 0.1\nposition = [0, 0, 3]\n".to_string();
    text += &format!("[[shape]]\nname = \"hills\"\n{field}\nposition = [1, 0, -2]");
    let Scene { model, parameters, .. } = scene(&text);
    let drawing = Drawing::new(&model, &parameters, &Appearance::default());
    let hills = drawing.shapes.iter().find(|shape| shape.name == "hills").unwrap();
    assert_eq!(hills.body, None);
    let covered: f64 = corners(&hills.surface)
        .map(|[a, b, c]| {
            let up = (b - a).cross(&(c - a)).z / 2.0;
            assert!(up > 0.0);
            up
        })
        .sum();
    assert!((covered - 1.0 * 14.9).abs() < 1e-2, "{covered}");
    assert!(hills.surface.vertices.len() < 3 * 3 * 100);
}

#[test]
fn what_does_not_move_is_drawn_where_it_is() {
    let text = "parent = \"base\"\njoint = { type = \"fixed\" }\nposition = [0, 0, 1]\n\
                [[body.shape]]\nbox = [0.1, 0.1, 0.1]\n\
                [[body]]\nname = \"base\"\nmass = 1\njoint = { type = \"fixed\" }\n\
                position = [5, 0, 0]\norientation = [0.7071067811865476, 0, 0.7071067811865476, 0]\n\
                inertia = 1\n[[body]]\nname = \"arm\"\nmass = 1\nparent = \"base\"\n\
                joint = { type = \"revolute\", axis = [0, 0, 1] }\nshape = { sphere = 0.1 }";
    let scene = scene(text);
    let drawing = Drawing::new(&scene.model, &scene.parameters, &Appearance::default());
    assert_eq!(drawing.bodies, ["arm"]);
    let fixed = drawing.shapes.iter().find(|shape| shape.name == "body").unwrap();
    assert_eq!(fixed.body, None);
    let (volume, first, _) = moments(&fixed.surface);
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &scene.state);
    let body = scene.model.bodies.iter().position(|body| body.name == "body").unwrap();
    assert!((first / volume - kinematics.bodies[body].position).norm() < 1e-4);
    assert!((first / volume - Vector3::new(6.0, 0.0, 0.0)).norm() < 1e-4);
    assert_eq!(drawing.grounds[0].normal, [0.0, 0.0, 1.0]);
    assert_eq!(drawing.grounds[0].offset, -9.0);
}
