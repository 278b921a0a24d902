//! Tasks on rigid bodies against closed forms and differences.

use stiction::identify::Outcome;
use stiction::optimize::{Task, landscape, optimize, optimize_from_starts};

use crate::differences::central;
use crate::folder::Folder;

const BALL: &str = "simulation.time_step = 0.01
half_space = [{ name = 'floor', normal = [0, 0, 1] }]
contact = [{ pair = 'floor-ball', mu = 0.5, restitution = 0.6 }]
[[body]]
name = 'ball'
mass = 0.5
shape = { sphere = 0.05 }
position = [0, 0, 1]
";

const SLIDE: &str = "simulation.time_step = 0.001
half_space = [{ name = 'floor', normal = [0, 0, 1] }]
contact = [{ pair = 'floor-box', mu = 0.3 }]
[[body]]
name = 'box'
mass = 1
shape = { box = [0.1, 0.1, 0.01] }
position = [0, 0, 0.01]
velocity = [1, 0, 0]
";

const CART: &str = "simulation.time_step = 0.01
[[body]]
name = 'cart'
mass = 2
joint = { type = 'prismatic', axis = [1, 0, 0] }
[[actuator]]
name = 'motor'
joint = 'cart'
type = 'motor'
";

fn task(folder: &Folder, scene: &str, text: &str) -> Task {
    folder.write("scene.toml", scene);
    folder.write("task.toml", &format!("scene = 'scene.toml'\n{text}"));
    Task::load(folder.path("task.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn variable(name: &str, rest: &str) -> String {
    format!("[[variable]]\nname = '{name}'\n{rest}\n")
}

/// In flight semi-implicit Euler is at x + n dt v + g dt² n (n + 1) / 2.
#[test]
fn a_throw_ends_at_its_target_by_each_method() {
    let folder = Folder::new("throw");
    let (n, dt) = (80.0, 0.01);
    let time = n * dt;
    let expected =
        [0.4 / time, -0.2 / time, (0.7 - 1.0 + 9.81 * dt * dt * n * (n + 1.0) / 2.0) / time];
    let variables: String = ["x", "y", "z"]
        .map(|k| {
            variable(&format!("ball/v{k}"), if k == "z" { "initial = 3" } else { "initial = 1" })
        })
        .concat();
    for (method, tolerance) in [
        ("method = 'gauss_newton'", 1e-9),
        ("method = 'lbfgsb'", 1e-5),
        ("method = 'adam'\niterations = 400\nadam = { rate = 0.2 }", 1e-3),
    ] {
        let text = format!(
            "duration = {time}\n{method}\n{variables}[[objective]]\nbody = 'ball'\ntarget = [0.4, -0.2, 0.7]\n"
        );
        let task = task(&folder, BALL, &text);
        let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
        assert_eq!(found.outcome, Outcome::Converged, "{method} {found:?}");
        for (x, expected) in found.x.iter().zip(expected) {
            assert!((x - expected).abs() < tolerance, "{method}: {found:?} {expected:?}");
        }
        if method.contains("gauss") {
            // Linear, but for the damping, which falls by a third.
            assert!(found.stages[0].simulations <= 8, "{found:?}");
        }
    }
}

/// v² = 2 mu g d, less the steps' first order.
#[test]
fn a_box_slides_as_far_as_it_should_by_its_speed_or_its_friction() {
    let folder = Folder::new("slide");
    let end = "[[objective]]\npoint = 'centre'\ntarget = [0.25, 0, 0]\naxes = ['x']\n";
    let by_speed = variable("box/vx", "lower = 0.1\nupper = 3");
    let task_by_speed = task(&folder, SLIDE, &format!("duration = 1\n{by_speed}{end}"));
    let found = optimize(&task_by_speed, &mut |_, _, _, _| true).unwrap();
    let expected = (2.0_f64 * 0.3 * 9.81 * 0.25).sqrt();
    assert!((found.x[0] / expected - 1.0).abs() < 5e-3, "{found:?} {expected}");
    assert!(found.evaluated.cost < 1e-18, "{found:?}");
    let by_friction = variable("floor-box/mu", "initial = 0.5");
    let task = task(&folder, SLIDE, &format!("duration = 1\n{by_friction}{end}"));
    let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
    let expected = 1.0 / (2.0 * 9.81 * 0.25);
    assert!((found.x[0] / expected - 1.0).abs() < 5e-3, "{found:?} {expected}");
}

/// The least effort that moves a cart and stops it is linear in time: from 6 m d / T² to minus that, and 12 m² d² / T³ its square
/// integral.
#[test]
fn the_least_effort_of_a_cart_is_a_straight_line() {
    let folder = Folder::new("cart");
    let text = "duration = 1\n[[variable]]\nname = 'motor/u'\nknots = 2\nscale = 10\n\
                [[objective]]\nbody = 'cart'\ntarget = [0.5, 0, 0]\naxes = ['x']\nweight = 1e4\n\
                [[objective]]\nbody = 'cart'\ntarget = [0.5, 0, 0]\naxes = ['x']\nweight = 1e4\ntime = 0.99\n\
                [[objective]]\neffort = 'motor/u'\nweight = 1e-3\nfrom = 0.01\n";
    let task = task(&folder, CART, text);
    assert_eq!(task.variable_names(), ["motor/u[0]", "motor/u[1]"]);
    let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
    let expected = 6.0 * 2.0 * 0.5;
    // The steps are 0.01 of the whole.
    assert!((found.x[0] / expected - 1.0).abs() < 0.03, "{:?}", found.x);
    assert!((found.x[1] / -expected - 1.0).abs() < 0.03, "{:?}", found.x);
}

#[test]
fn gradients_and_jacobians_are_those_of_differences() {
    let folder = Folder::new("task-gradient");
    let variables = [
        variable("ball/vx", "initial = 0.7"),
        variable("ball/wy", "initial = 3"),
        variable("floor-ball/mu", "initial = 0.2"),
        variable("ball/mass", ""),
        variable("ball/fz", "knots = 3\ninitial = [0.1, -0.2, 0.3]"),
    ]
    .concat();
    let text = format!(
        "duration = 0.6\n{variables}\
         [[objective]]\npoint = [0.01, 0.02, -0.03]\ntarget = [0.4, 0, 0.1]\nfrom = 0.3\nweight = 2\n\
         [[objective]]\nfrom_point = 'centre'\nto_point = [0, 0, 0.02]\ndirection = [0, 1, 1]\ntime = 0.5\n\
         [[objective]]\neffort = 'ball/fz'\nweight = 0.1\n"
    );
    let task = task(&folder, BALL, &text);
    let x = task.start();
    let (evaluated, jacobian) = task.jacobian(&x).unwrap();
    assert_eq!(evaluated, task.evaluate(&x));
    let (cost, gradient) = task.gradient(&x).unwrap();
    assert!((cost / evaluated.cost - 1.0).abs() < 1e-12);
    for j in 0..x.len() {
        let by_rows: f64 =
            (0..evaluated.residuals.len()).map(|i| jacobian[(i, j)] * evaluated.residuals[i]).sum();
        assert!((by_rows - gradient[j]).abs() < 1e-9 * (1.0 + gradient[j].abs()), "{j}");
        let moved = |h: f64| {
            let mut x = x.clone();
            x[j] += h;
            task.evaluate(&x).residuals
        };
        let expected = central(1e-6, moved);
        let scale = expected.iter().fold(1e-3, |most: f64, x| most.max(x.abs()));
        for (i, expected) in expected.iter().enumerate() {
            let e = (jacobian[(i, j)] - expected).abs() / scale;
            assert!(e < 1e-5, "{i} {j}: {} {expected}", jacobian[(i, j)]);
        }
    }
}

#[test]
fn a_landscape_is_the_cost_of_each_of_its_points_on_any_number_of_threads() {
    let folder = Folder::new("landscape");
    let variables = variable("ball/vx", "initial = 0.5") + &variable("ball/vz", "initial = 1");
    let text = format!("duration = 0.5\n{variables}[[objective]]\ntarget = [0.3, 0, 0.2]\n");
    let task = task(&folder, BALL, &text);
    let names = ["ball/vz", "ball/vx"];
    let found = landscape(&task, names, [0.5, 0.2], [4, 3], 1).unwrap();
    assert_eq!(found, landscape(&task, names, [0.5, 0.2], [4, 3], 3).unwrap());
    for (x, expected) in found.first.iter().zip([0.5, 0.5 + 1.0 / 3.0, 1.0 + 0.5 / 3.0, 1.5]) {
        assert!((x - expected).abs() < 1e-15, "{:?}", found.first);
    }
    for (at, cost) in found.cost.iter().enumerate() {
        let x = [found.second[at / 4], found.first[at % 4]];
        assert_eq!(*cost, task.evaluate(&x).cost);
    }
    let wrong = landscape(&task, ["ball/vz", "ball/vy"], [0.5, 0.2], [4, 3], 1).unwrap_err();
    assert!(wrong.to_string().contains("is no variable of the task"), "{wrong}");
}

/// Of a search that was ended on the way to its last stage the cost is of another task: it is not the best, however small.
#[test]
fn what_is_ended_early_is_not_the_best() {
    let folder = Folder::new("starts-ended");
    folder.write("scene.toml", BALL);
    // Without gravity it comes there, with it not: it is thrown up too slowly.
    let text = "scene = 'scene.toml'\nduration = 0.4\nstarts = 4\ncontinuation = { 'gravity/z' = [0, -9.81] }\n\
                [[variable]]\nname = 'ball/vz'\nlower = 0\nupper = 1\n\
                [[objective]]\ntarget = [0, 0, 1.2]\naxes = ['z']\n";
    folder.write("task.toml", text);
    let task = Task::load(folder.path("task.toml")).unwrap();
    let all = optimize_from_starts(&task, 2, &|_, _, _, _| true);
    let costs: Vec<f64> = all.starts.iter().map(|end| end.as_ref().unwrap().cost).collect();
    assert!(costs.iter().all(|cost| *cost > 0.01), "{costs:?}");
    let goes_on = |start: usize, stage: usize, _: usize, cost: f64| {
        assert!(start < 2, "{start} has begun");
        !(start == 1 && stage == 0 && cost < 1e-12)
    };
    let ended = optimize_from_starts(&task, 1, &goes_on);
    let [Ok(whole), Ok(part), Err(left), Err(_)] = &ended.starts[..] else {
        panic!("{:?}", ended.starts);
    };
    assert_eq!(whole, all.starts[0].as_ref().unwrap());
    assert!(part.cost < 1e-12 && left.to_string().contains("ended before this start"), "{part:?}");
    assert_eq!(ended.best.map(|(start, found)| (start, found.stages.len())), Some((0, 2)));
}
