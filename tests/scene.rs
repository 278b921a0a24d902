//! Scene files: what is read, and what is said about bad ones.

use approx::assert_relative_eq;
use stiction::ad::{Dual, LANES, Real};
use stiction::model::{
    ContactSolver, Parameters, Scene, Settings, Shape, Solid, StaggeredDerivative,
};
use stiction::state::State;

const SCENE: &str = r#"gravity = [0, 0, -9.81]
[simulation]
time_step = 0.01
solver = "staggered"
n_step = 7

[[half_space]]
name = "floor"
normal = [0, 0, 2]
offset = 0.5

[[body]]
name = "cube"
mass = 0.4
inertia = [2e-3, 3e-3, 4e-3, 1e-4, 2e-4, 3e-4]
center_of_mass = [0.01, 0.02, 0.03]
shape = { box = [0.1, 0.2, 0.3] }
position = [1, 2, 0.8]
orientation = [1.0005, 0, 0, 0]
velocity = [1, 2, 3]
angular_velocity = [4, 5, 6]
force = [7, 8, 9]
torque = [10, 11, 12]

[[body]]
name = "ball"
mass = 2
shape = { sphere = 0.25 }
position = [0, 0, 0.75]

[[contact]]
mu = 0.3
[[contact]]
pair = "floor-ball"
mu = 0.1
restitution = 0.5
"#;

pub fn scene() -> Scene {
    Scene::parse(SCENE, "scene.toml").unwrap()
}

/// The message about [`SCENE`] with a passage replaced.
fn complaint(passage: &str, replacement: &str) -> String {
    assert_eq!(SCENE.matches(passage).count(), 1, "{passage}");
    let error = Scene::parse(&SCENE.replace(passage, replacement), "scene.toml").unwrap_err();
    assert!(error.is_input());
    error.to_string()
}

/// Whether a message is one line that starts with its place.
#[track_caller]
pub fn assert_message(message: &str, place: &str, says: &str) {
    assert!(message.starts_with(&format!("{place}: ")), "{message}");
    assert!(message.contains(says), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn a_scene_is_read_as_written() {
    let Scene { model, parameters, state, settings, inputs, .. } = scene();
    assert_eq!(
        settings.solver,
        ContactSolver::Staggered { n_step: 7, derivative: StaggeredDerivative::Unrolled }
    );
    assert_eq!(Settings { solver: ContactSolver::Coupled, ..settings }, Settings::new(0.01));
    assert_eq!(model.half_spaces[0].normal.as_slice(), [0.0, 0.0, 1.0]);
    assert_eq!(parameters.plane(&model, 0).offset, 0.5);
    assert_eq!(
        [&model.colliders[0].shape, &model.colliders[1].shape],
        [&Shape::Box, &Shape::Sphere]
    );
    let pairs: Vec<_> = model.pairs.iter().map(|p| (&p.name[..], p.first, p.second)).collect();
    assert_eq!(
        pairs,
        [
            ("floor-cube", Solid::HalfSpace(0), 0),
            ("floor-ball", Solid::HalfSpace(0), 1),
            ("cube-ball", Solid::Collider(0), 1),
        ]
    );

    assert_eq!(parameters.values.len(), model.parameter_count());
    assert_eq!(parameters.gravity().as_slice(), [0.0, 0.0, -9.81]);
    assert_eq!([parameters.mass(&model, 0), parameters.mass(&model, 1)], [0.4, 2.0]);
    assert_eq!(parameters.center_of_mass(&model, 0).as_slice(), [0.01, 0.02, 0.03]);
    let inertia = parameters.inertia(&model, 0);
    assert_eq!(inertia.diagonal().as_slice(), [2e-3, 3e-3, 4e-3]);
    assert_eq!([inertia.m12, inertia.m13, inertia.m23], [1e-4, 2e-4, 3e-4]);
    assert_eq!(inertia, inertia.transpose());
    assert_eq!(parameters.size(&model, 0).as_slice(), [0.1, 0.2, 0.3]);
    assert_eq!(parameters.size(&model, 1).x, 0.25);
    assert_eq!([parameters.mu(&model, 0), parameters.restitution(&model, 0)], [0.3, 0.0]);
    assert_eq!([parameters.mu(&model, 1), parameters.restitution(&model, 1)], [0.1, 0.5]);

    assert_eq!((model.bodies.len(), model.nq(), model.nv()), (2, 14, 12));
    assert_eq!(state.q[..7], [1.0, 2.0, 0.8, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(state.q[7..], [0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(state.v[..6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(state.velocity(0).as_slice(), [1.0, 2.0, 3.0]);
    assert_eq!(state.angular_velocity(0).as_slice(), [4.0, 5.0, 6.0]);
    assert_eq!(state.v[6..], [0.0; 6]);
    assert_eq!(inputs[..6], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
    assert_eq!(inputs[6..], [0.0; 6]);
}

#[test]
fn solids_of_uniform_density_have_the_inertia_of_the_integral() {
    // Midpoint sums of y² + z² over the solid converge as 1/n².
    let (n, mass, size) = (100, 3.0, [0.1, 0.2, 0.3]);
    let middle = |k: usize, h: f64| h * ((2 * k + 1) as f64 / n as f64 - 1.0);
    for shape in [Shape::Box, Shape::Sphere] {
        let size = if shape == Shape::Box { size } else { [0.2; 3] };
        let (mut volume, mut moments) = (0.0, [0.0; 3]);
        for cell in 0..n * n * n {
            let point = [cell % n, cell / n % n, cell / n / n];
            let [x, y, z] = [0, 1, 2].map(|i| middle(point[i], size[i]).powi(2));
            if shape == Shape::Box || x + y + z < size[0] * size[0] {
                volume += 1.0;
                moments = [moments[0] + y + z, moments[1] + x + z, moments[2] + x + y];
            }
        }
        let inertia = shape.uniform_inertia(mass, size);
        for (closed, sum) in inertia.into_iter().zip(moments) {
            assert_relative_eq!(closed, mass * sum / volume, max_relative = 2e-3);
        }
    }
    // A sphere has 2/5 m r²; a scene without an inertia uses it.
    let Scene { model, parameters, .. } = scene();
    let inertia = parameters.inertia(&model, 1);
    assert_relative_eq!(inertia, nalgebra::Matrix3::identity() * (0.4 * 2.0 * 0.25 * 0.25));
}

#[test]
fn two_joints_of_one_name_are_refused() {
    let arm = |name: &str, joint: &str| {
        format!(
            "[[body]]
            name = '{name}'
            joint = {{ type = 'revolute', name = '{joint}', axis = [0, 1, 0] }}
            mass = 1
            inertia = 1
            "
        )
    };
    let read = |second: &str| {
        let text = ["simulation.time_step = 0.01\n", &arm("a", "hinge"), &arm("b", second)];
        Scene::parse(&text.concat(), "scene.toml")
    };
    assert!(read("other").is_ok() && read("").is_ok());
    let message = read("hinge").unwrap_err().to_string();
    assert!(
        message.starts_with("scene.toml:9: body.b.joint.name: \"hinge\" is taken"),
        "{message}"
    );
    assert!(message.ends_with("(the other: body.a.joint.name, line 4)"), "{message}");
    // A motor at "b" would turn the joint of that name or the joint of that body.
    let motor = "[[actuator]]\nname = 'motor'\njoint = 'b'";
    let of = |first: &str, second: &str| {
        let arms = [arm("a", first), arm("b", second)].concat();
        Scene::parse(&format!("simulation.time_step = 0.01\n{arms}{motor}"), "scene.toml")
    };
    assert!(of("", "").is_ok() && of("", "b").is_ok());
    let message = of("b", "").unwrap_err().to_string();
    assert!(message.starts_with("scene.toml:14: actuator.motor.joint: \"b\" is both"), "{message}");
    assert!(message.ends_with("(the other: body.a.joint.name, line 4)"), "{message}");
}

#[test]
fn names_address_slots() {
    let Scene { model, parameters, .. } = scene();
    let names = model.parameter_names();
    assert_eq!(names.len(), 3 + 13 + 11 + 6 + 3 + 1);
    assert_eq!(
        names[..5],
        ["gravity/x", "gravity/y", "gravity/z", "cube/mass", "cube/center_of_mass/x"]
    );
    let slots: Vec<usize> = names
        .iter()
        .map(|name| {
            let slots = model.parameter(name).unwrap().slots;
            assert_eq!(slots.len(), 1, "{name}");
            slots[0]
        })
        .collect();
    // Sizes of the ball, static friction of the pairs.
    let unused = [27, 28, 31, 34, 37];
    let used: Vec<usize> = (0..model.parameter_count()).filter(|s| !unused.contains(s)).collect();
    assert_eq!(slots, used);

    let value = |name: &str| parameters.values[model.parameter(name).unwrap().slots[0]];
    assert_eq!(value("gravity/z"), -9.81);
    assert_eq!(value("ball/mass"), 2.0);
    assert_eq!(value("cube/center_of_mass/y"), 0.02);
    assert_eq!([value("cube/inertia/zz"), value("cube/inertia/xz")], [4e-3, 2e-4]);
    assert_eq!([value("cube/half_extents/z"), value("ball/radius")], [0.3, 0.25]);
    assert_eq!([value("floor-ball/mu"), value("floor-ball/restitution")], [0.1, 0.5]);
    assert_eq!(
        [value("floor/offset"), value("floor/tilt/x"), value("floor/tilt/y")],
        [0.5, 0.0, 0.0]
    );
    assert_eq!(value("contact/relative_compliance"), 1.0);

    assert_eq!(model.parameter("cube/inertia").unwrap().slots, [7, 8, 9]);
    assert_eq!(model.parameter("cube/half_extents").unwrap().slots, [13, 14, 15]);
    for unknown in ["ball/half_extents", "cube/radius", "cube", "cubemass", "floor/mu", ""] {
        assert_eq!(model.parameter(unknown), None, "{unknown}");
    }
}

#[test]
fn casts_keep_values_and_drop_derivatives() {
    let Scene { model, parameters, state, .. } = scene();
    let dual: Parameters<Dual<f64, LANES>> = parameters.cast();
    assert_eq!(dual.value(), parameters);
    assert_eq!(dual.mass(&model, 0), Dual::constant(0.4));
    let mut existing = Parameters::default();
    parameters.cast_into(&mut existing);
    assert_eq!(existing, dual);
    assert_eq!(state.cast::<Dual<f64, LANES>>().value(), state);
    assert_eq!(State::<f64>::at_origin(2).orientation(1), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn bad_scenes_are_refused_with_their_place() {
    let cube = "scene.toml:12: body.cube";
    for (passage, replacement, place, says) in [
        // The format.
        ("mass = 0.4", "mass = = 0.4", "scene.toml:14: body.mass", ""),
        ("mass = 0.4", "mass = 0.4\nmass = 1", "scene.toml:15: body.mass", "duplicate key"),
        ("mass = 0.4", "masss = 0.4", "scene.toml:14: body.cube.masss", "fields are name, mass"),
        ("mass = 0.4", "", "scene.toml:12: body.cube.mass", "is missing"),
        ("mass = 0.4", "mass = \"1\"", "scene.toml:14: body.cube.mass", "found a string"),
        ("name = \"cube\"", "", "scene.toml:12: body[0].name", "is missing"),
        ("[simulation]", "[simulations]", "scene.toml:2: simulations", "is not a field"),
        (
            "[simulation]\ntime_step = 0.01\nsolver = \"staggered\"\nn_step = 7",
            "",
            "scene.toml:1: simulation",
            "is missing",
        ),
        ("[[half_space]]", "[half_space]", "scene.toml:7: half_space", "[[half_space]]"),
        (
            "torque = [10, 11, 12]",
            "torque = [10, 11]",
            "scene.toml:23: body.cube.torque",
            "3 numbers, found 2",
        ),
        // Settings.
        (
            "time_step = 0.01",
            "time_step = 0",
            "scene.toml:3: simulation.time_step",
            "positive, found 0 (s)",
        ),
        ("time_step = 0.01", "", "scene.toml:2: simulation.time_step", "is missing"),
        ("\"staggered\"", "\"lcp\"", "scene.toml:4: simulation.solver", "found \"lcp\""),
        ("\"staggered\"", "\"coupled\"", "scene.toml:5: simulation.n_step", "staggered"),
        ("n_step = 7", "n_step = 0", "scene.toml:5: simulation.n_step", "at least 1"),
        ("n_step = 7", "baumgarte = 1.5", "scene.toml:5: simulation.baumgarte", "between 0 and 1"),
        ("n_step = 7", "compliance = -1", "scene.toml:5: simulation.compliance", "negative"),
        ("n_step = 7", "tolerance = 0", "scene.toml:5: simulation.tolerance", "positive"),
        ("n_step = 7", "tolerance = 1e9", "scene.toml:5: simulation.tolerance", "at most 1e-3"),
        ("n_step = 7", "compliance = 1e9", "scene.toml:5: simulation.compliance", "at most 1"),
        ("n_step = 7", "n_step = 1000000", "scene.toml:5: simulation.n_step", "at most 1000"),
        (
            "n_step = 7",
            "restitution_threshold = -1",
            "scene.toml:5: simulation.restitution_threshold",
            "(m/s)",
        ),
        // Numbers.
        (
            "mass = 0.4",
            "mass = -1",
            "scene.toml:14: body.cube.mass",
            "must be positive, found -1 (kg)",
        ),
        ("-9.81", "-inf", "scene.toml:1: gravity", "must be finite"),
        (
            "position = [1, 2, 0.8]",
            "position = [nan, 2, 1]",
            "scene.toml:18: body.cube.position",
            "finite, found NaN",
        ),
        (
            "velocity = [1, 2, 3]",
            "velocity = [1e999, 2, 1]",
            "scene.toml:20: body.cube.velocity",
            "finite",
        ),
        ("[0.1, 0.2, 0.3]", "[0.1, 0.0, 0.3]", "scene.toml:17: body.cube.shape.box", "positive"),
        (
            "{ sphere = 0.25 }",
            "{ sphere = -0.25 }",
            "scene.toml:28: body.ball.shape.sphere",
            "positive",
        ),
        ("{ sphere = 0.25 }", "{}", "scene.toml:28: body.ball.shape", "{ sphere = radius }"),
        ("{ sphere = 0.25 }", "{ cone = 1 }", "scene.toml:28: body.ball.shape.cone", "box, sphere"),
        (
            "1e-4, 2e-4, 3e-4]",
            "1e-2, 2e-4, 3e-4]",
            "scene.toml:15: body.cube.inertia",
            "positive definite",
        ),
        (
            "[2e-3, 3e-3, 4e-3, 1e-4, 2e-4, 3e-4]",
            "[2e-3, 3e-3, 6e-3]",
            "scene.toml:15: body.cube.inertia",
            "sum of the other two",
        ),
        (
            "[2e-3, 3e-3, 4e-3, 1e-4, 2e-4, 3e-4]",
            "[2e-3, 3e-3]",
            "scene.toml:15: body.cube.inertia",
            "found 2 numbers",
        ),
        (
            "inertia = [2e-3, 3e-3, 4e-3, 1e-4, 2e-4, 3e-4]",
            "",
            "scene.toml:12: body.cube.inertia",
            "center_of_mass at [0, 0, 0]",
        ),
        ("1.0005", "1.01", "scene.toml:19: body.cube.orientation", "norm 1.01"),
        (
            "normal = [0, 0, 2]",
            "normal = [0, 0, 0]",
            "scene.toml:9: half_space.floor.normal",
            "zero",
        ),
        ("normal = [0, 0, 2]", "", "scene.toml:7: half_space.floor.normal", "missing"),
        ("mu = 0.3", "mu = -0.3", "scene.toml:32: contact[0].mu", "negative, found -0.3"),
        (
            "restitution = 0.5",
            "restitution = 1.5",
            "scene.toml:36: contact.floor-ball.restitution",
            "between 0 and 1",
        ),
        // Names.
        ("\"ball\"", "\"cube\"", "scene.toml:26: body[1].name", "(the other: line 13)"),
        ("\"ball\"", "\"floor\"", "scene.toml:26: body[1].name", "taken"),
        ("\"ball\"", "\"gravity\"", "scene.toml:26: body[1].name", "taken"),
        ("\"cube\"", "\"/cube\"", "scene.toml:13: body[0].name", "'/'"),
        ("\"ball\"", "\"floor-cube\"", "scene.toml:34: contact[1].pair", "floor-floor-cube"),
        (
            "\"floor-ball\"",
            "\"floor-bal\"",
            "scene.toml:34: contact[1].pair",
            "the pairs are floor-cube, floor-ball",
        ),
        ("pair = \"floor-ball\"", "", "scene.toml:33: contact[1].pair", "missing"),
        ("[[contact]]\nmu = 0.3\n", "", cube, "\"floor-cube\""),
        // Where it starts.
        (
            "position = [0, 0, 0.75]",
            "position = [0, 0, 0.7]",
            "scene.toml:29: body.ball.position",
            "5.000e-2 m deep in \"floor\"",
        ),
        (
            "position = [1, 2, 0.8]",
            "position = [1, 2, 0.7]",
            "scene.toml:18: body.cube.position",
            "0.1 m",
        ),
    ] {
        assert_message(&complaint(passage, replacement), place, says);
    }
    let twice = format!("{SCENE}[[contact]]\npair = \"floor-ball\"\nmu = 1\n");
    let error = Scene::parse(&twice, "scene.toml").unwrap_err();
    assert_message(&error.to_string(), "scene.toml:38: contact.floor-ball.pair", "given twice");
    assert_eq!((error.file(), error.line()), ("scene.toml", Some(38)));
    assert_eq!((error.field(), error.message()), ("contact.floor-ball.pair", "is given twice"));
    let empty = Scene::parse("simulation.time_step = 0.1", "scene.toml").unwrap_err();
    assert_message(&empty.to_string(), "scene.toml:1: body", "at least one [[body]]");
    let colliding = SCENE.replace("\"ball\"", "\"floor-cube\"").replace("floor-ball", "floor-cube");
    let error = Scene::parse(&colliding, "scene.toml").unwrap_err();
    assert_message(&error.to_string(), "scene.toml:13: body.cube.name", "\"floor-cube\"");
    let absent = Scene::load("no/such.toml").unwrap_err();
    assert!(!absent.is_input());
    assert_message(&absent.to_string(), "no/such.toml", "");
}

#[test]
fn flat_plates_and_shallow_contact_are_allowed() {
    let plate = "[1e-3, 3e-3, 4e-3]";
    let text = SCENE.replace("[2e-3, 3e-3, 4e-3, 1e-4, 2e-4, 3e-4]", plate);
    Scene::parse(&text.replace("0.75]", "0.7251]"), "scene.toml").unwrap();
    Scene::parse(&SCENE.replace("mass = 2", "mass = 1_000"), "scene.toml").unwrap();
}

#[test]
fn a_tilted_box_is_measured_at_its_lowest_corner() {
    // On its diagonal edge a cube of half extent 0.2 reaches 0.2 √2 below its centre.
    let tilted = |height: f64| {
        let half = std::f64::consts::FRAC_PI_8;
        let orientation = format!("[{}, {}, 0, 0]", half.cos(), half.sin());
        SCENE
            .replace("[0.1, 0.2, 0.3]", "[0.2, 0.2, 0.2]")
            .replace("[1.0005, 0, 0, 0]", &orientation)
            .replace("[1, 2, 0.8]", &format!("[1, 2, {}]", 0.5 + height))
    };
    let reach = 0.2 * 2f64.sqrt();
    Scene::parse(&tilted(reach - 0.0199), "scene.toml").unwrap();
    Scene::parse(&tilted(reach - 0.0201), "scene.toml").unwrap_err();
}

#[test]
fn normals_of_any_length_are_scaled_to_one() {
    for length in ["1e-200", "1e200", "3"] {
        let text = format!(
            "simulation.time_step = 0.01\n[[half_space]]\nname = \"floor\"\n\
             normal = [0, 0, {length}]\n[[body]]\nname = \"ball\"\nmass = 1\n\
             shape = {{ sphere = 0.1 }}\nposition = [0, 0, 1]\n[[contact]]\nmu = 0.1\n"
        );
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        assert_eq!(scene.model.half_spaces[0].normal.as_slice(), [0.0, 0.0, 1.0]);
    }
}

// Two bodies that start in each other would be thrown apart.
#[test]
fn bodies_that_start_in_each_other_are_refused() {
    let scene = |a: &str, b: &str, position: [f64; 3], contact: &str| {
        let text = format!(
            "[simulation]
             time_step = 0.01
             [[contact]]
             {contact}
             [[body]]
             name = 'a'
             mass = 1
             shape = {a}
             [[body]]
             name = 'b'
             mass = 1
             shape = {b}
             orientation = [0.92387953, 0.38268343, 0, 0]
             position = {position:?}"
        );
        Scene::parse(&text, "scene.toml").map(|_| ()).map_err(|error| error.to_string())
    };
    let (cube, ball) = ("{ box = [0.1, 0.1, 0.1] }", "{ sphere = 0.1 }");
    // The edge of the turned cube is 0.1414 m from its centre: 0.2414 m is where it touches.
    let (touching, inside) = ([0.0, 0.0, 0.2401], [0.0, 0.0, 0.22]);
    assert_eq!(scene(cube, cube, touching, "mu = 0.3"), Ok(()));
    let refused = scene(cube, cube, inside, "mu = 0.3").unwrap_err();
    for says in ["body.b.position", "2.142e-2 m deep in \"a\"", "collide = false"] {
        assert!(refused.contains(says), "{refused}");
    }
    assert_eq!(scene(cube, cube, inside, "collide = false"), Ok(()));
    // A ball beside an edge of a cube, 0.1 m and a little from it.
    assert_eq!(scene(cube, ball, [0.0, 0.171, 0.171], "mu = 0.3"), Ok(()));
    assert!(scene(cube, ball, [0.0, 0.15, 0.15], "mu = 0.3").is_err());
    assert!(scene(ball, ball, [0.0; 3], "mu = 0.3").is_err());
    assert_eq!(scene(ball, ball, [0.12, 0.12, 0.12], "mu = 0.3"), Ok(()));
}
