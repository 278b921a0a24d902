//! What a user meets first: a scene that is simulated and differentiated by the names of its numbers.

use approx::assert_relative_eq;
use stiction::Scene;
use stiction::simulation::Rollout;

const DT: f64 = 0.001;
const GRAVITY: f64 = 9.81;

/// A flat box on the floor, and what is said of it besides.
fn slide(more: &str) -> Scene {
    let text = format!(
        "gravity = [0, 0, -{GRAVITY}]
[simulation]
time_step = {DT}
{more}
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[contact]]
pair = 'floor-box'
mu = 0.3
[[body]]
name = 'box'
mass = 2
shape = {{ box = [0.1, 0.1, 0.01] }}
position = [0, 0, 0.01]
velocity = [1, 0, 0]"
    );
    Scene::parse(&text, "slide.toml").unwrap()
}

#[test]
fn the_gradient_of_a_slide_is_that_of_its_closed_form() {
    let scene = slide("");
    let names = ["floor-box/mu", "box/vx", "box/px", "box/fx", "gravity/z"];
    let (distance, slopes) = scene
        .gradient(names, |simulation| {
            simulation.run(600);
            simulation["box/px"]
        })
        .unwrap();
    // Each step takes mu g dt from the velocity until less is left, and moves by dt times what is left.
    let (mu, loss) = (0.3, 0.3 * GRAVITY * DT);
    let n = (1.0 / loss).floor();
    let expected = DT * (n - loss * n * (n + 1.0) / 2.0);
    assert_relative_eq!(distance, expected, max_relative = 1e-6);
    let by_loss = -DT * n * (n + 1.0) / 2.0;
    let exact = [
        by_loss * GRAVITY * DT,
        DT * n,
        1.0,
        // A force takes from what friction does to the 2 kg.
        -by_loss * DT / 2.0,
        -by_loss * mu * DT,
    ];
    for (name, (found, exact)) in names.iter().zip(slopes.iter().zip(exact)) {
        assert!((found / exact - 1.0).abs() < 1e-6, "{name}: {found} {exact}");
    }
}

#[test]
fn numbers_have_names() {
    let scene = slide("");
    let mut simulation = scene.simulate();
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    simulation.run(20);
    simulation["box/fx"] = 0.5;
    simulation["box/vy"] += 0.25;
    assert_eq!(simulation.inputs, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let report = simulation.step();
    rollout.advance(20, &scene.inputs);
    rollout.state.v[1] += 0.25;
    assert_eq!(report, rollout.step(&[0.5, 0.0, 0.0, 0.0, 0.0, 0.0]));
    assert_eq!(simulation.state(), &rollout.state);
    assert_eq!(simulation["box/py"], rollout.state.q[1]);
    assert_eq!(simulation.get("box/wz"), rollout.state.v.get(5));
    assert!(simulation.get("box/q").is_none() && simulation.get_mut("floor/px").is_none());
    assert!(simulation.point("lid", [0.0; 3]).is_none());

    let arm = "simulation.time_step = 0.01
[[body]]
name = 'arm'
mass = 1
inertia = 0.1
position = [0, 0, 1]
joint = { type = 'revolute', axis = [0, 1, 0], q = [0.3] }";
    let arm = Scene::parse(arm, "arm.toml").unwrap();
    let tip = arm.simulate().point("arm", [0.0, 0.0, 2.0]).unwrap();
    assert_relative_eq!(tip.x, 2.0 * 0.3_f64.sin(), epsilon = 1e-15);
    assert_relative_eq!(tip.z, 1.0 + 2.0 * 0.3_f64.cos(), epsilon = 1e-15);
}

#[test]
#[should_panic(expected = "there is no number \"box/x\"; there are box/px, box/py, box/pz, box/qw")]
fn a_number_that_there_is_not_is_named_with_those_there_are() {
    let _ = slide("").simulate()["box/x"];
}

#[test]
fn names_that_stand_for_nothing_or_for_the_same_are_refused() {
    let scene = slide("");
    let message = |scene: &Scene, names: &[&str]| {
        scene.gradient(names, |simulation| simulation["box/px"]).unwrap_err().to_string()
    };
    let unknown = message(&scene, &["floor-box/mu", "floor-box/friction"]);
    assert!(unknown.starts_with("scene: floor-box/friction"), "{unknown}");
    for name in ["floor-box/mu", "box/mass", "gravity/z", "box/px", "box/wz", "box/fx"] {
        assert!(unknown.contains(&format!("{name}, ")) || unknown.contains(name), "{unknown}");
    }
    // Single numbers of a quaternion cannot change alone.
    assert!(message(&scene, &["box/qx"]).contains("is no parameter, number of the start or input"));
    assert!(message(&scene, &["box/vx", "box/vx"]).contains("is named twice"));
    let shared = message(&scene, &["box/inertia", "box/inertia/xx"]);
    assert!(shared.contains("shares a number with box/inertia"), "{shared}");
    let solver = message(&slide("solver = 'gauss_seidel'"), &["floor-box/mu"]);
    assert!(solver.contains("gauss_seidel has no derivatives"), "{solver}");
}
