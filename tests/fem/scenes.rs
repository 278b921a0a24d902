//! Scenes of soft bodies: read, simulated, written.

use stiction::argmin::Status;
use stiction::model::{Scene, TetrahedralMesh};
use stiction::soft::{SoftRollout, SoftScene};

fn parse(text: &str) -> Result<SoftScene, String> {
    let scene = SoftScene::parse(text, "soft.toml").map_err(|error| error.to_string())?;
    Ok(scene.expect("soft bodies"))
}

const BOX: &str = "[[soft]]\nname = 'box'\nshape = { box = [0.05, 0.04, 0.02] }\nresolution = 0.04\n\
                   density = 800\nyoungs_modulus = 1e6\npoisson_ratio = 0.3\n";

fn scene(settings: &str, body: &str) -> String {
    format!("[simulation]\n{settings}\n{BOX}{body}")
}

/// The centre of mass is that of BDF1 under gravity, x_n = x_0 + n dt v_0 + g dt² n (n + 1) / 2, however the body swings.
#[test]
fn in_flight_the_centre_of_mass_falls_as_a_point_does() {
    let text = scene(
        "time_step = 0.002",
        "position = [0.1, 0.2, 0.3]\nvelocity = [1, 2, 3]\nangular_velocity = [20, -30, 10]\nviscosity = 3\n",
    );
    let scene = parse(&text).unwrap();
    let body = &scene.bodies[0];
    assert!((body.mass() - 800.0 * 0.1 * 0.08 * 0.04).abs() < 1e-12);
    let mut rollout = SoftRollout::new(&scene);
    let steps = 50;
    for _ in 0..steps {
        assert_eq!(rollout.step().worst.status, Status::Solved);
    }
    let (n, dt) = (f64::from(steps), 0.002);
    let fallen = -9.81 * dt * dt * n * (n + 1.0) / 2.0;
    let expected = [0.1 + n * dt, 0.2 + 2.0 * n * dt, 0.3 + 3.0 * n * dt + fallen];
    for (x, expected) in body.mean(&rollout.states()[0].position).iter().zip(expected) {
        assert!((x - expected).abs() < 1e-11, "{x} {expected}");
    }
}

/// BDF2 is exact for what accelerates evenly, if its first step does not take the body to have moved as it does before.
#[test]
fn bdf2_loses_nothing_of_the_speed_of_a_fall() {
    let text =
        scene("time_step = 0.002\nintegrator = 'bdf2'", "velocity = [1, 0, 0]\nviscosity = 3\n");
    let scene = parse(&text).unwrap();
    let mut rollout = SoftRollout::new(&scene);
    for step in 1..=20 {
        assert_eq!(rollout.step().worst.status, Status::Solved);
        let v = scene.bodies[0].mean(&rollout.states()[0].velocity);
        let expected = [1.0, 0.0, -9.81 * 0.002 * f64::from(step)];
        assert!((0..3).all(|k| (v[k] - expected[k]).abs() < 1e-11), "{step}: {v:?} {expected:?}");
    }
}

/// Where all that touches slides, friction is mu times the normal force, whatever both are at each vertex: the speed down a
/// slope is that of a rigid box, v = g t (sin a - mu cos a) less mu v_n, to which what leaves the slope amounts.
#[test]
fn a_soft_box_slides_down_a_slope_as_a_rigid_one_and_sticks_where_friction_holds_it() {
    let angle = 0.5_f64;
    let (sin, cos) = angle.sin_cos();
    let slope = |mu: f64, speed: f64| {
        let body = format!(
            "position = [{}, 0, {}]\norientation = [{}, 0, {}, 0]\nvelocity = [{}, 0, {}]\n\
             [[half_space]]\nname = 'slope'\nnormal = [{sin}, 0, {cos}]\n[[contact]]\nmu = {mu}\n",
            0.02 * sin,
            0.02 * cos,
            (angle / 2.0).cos(),
            (angle / 2.0).sin(),
            speed * cos,
            -speed * sin,
        );
        parse(&scene("time_step = 0.002", &body)).unwrap()
    };
    let run = |scene: &SoftScene, steps: usize| {
        let mut rollout = SoftRollout::new(scene);
        for _ in 0..steps {
            let report = rollout.step();
            assert_eq!(report.worst.status, Status::Solved, "{report:?}");
        }
        let v = scene.bodies[0].mean(&rollout.states()[0].velocity);
        [v[0] * cos - v[2] * sin, v[0] * sin + v[2] * cos]
    };
    let (steps, mu) = (100, 0.3);
    let [along, normal] = run(&slope(mu, 1.0), steps);
    let time = 0.002 * steps as f64;
    let expected = 1.0 + 9.81 * time * (sin - mu * cos) - mu * normal;
    assert!((along / expected - 1.0).abs() < 1e-3, "{along} {expected}");
    // It comes to rest: what viscosity there is not, BDF1 takes out.
    let [along, normal] = run(&slope(0.8, 0.0), 400);
    assert!(along.abs() < 1e-9 && normal.abs() < 1e-9, "{along:e} {normal:e}");
}

#[test]
fn energy_is_that_of_a_rigid_body_before_anything_bends() {
    let text = scene("time_step = 1e-3", "position = [0, 0, 2]\nvelocity = [3, 0, 4]\n");
    let scene = parse(&text).unwrap();
    let [kinetic, elastic, potential] = SoftRollout::new(&scene).energies();
    let mass = scene.bodies[0].mass();
    assert!((kinetic / (12.5 * mass) - 1.0).abs() < 1e-12, "{kinetic}");
    assert!(elastic.abs() < 1e-12 && (potential / (9.81 * 2.0 * mass) - 1.0).abs() < 1e-12);
}

#[test]
fn what_is_wrong_is_said_with_line_and_field() {
    let cases = [
        (
            "",
            "density = 800",
            "density = -1",
            "soft.toml:8: soft.box.density: must be positive, found -1",
        ),
        ("", "youngs_modulus = 1e6\n", "", "needs youngs_modulus (Pa) and poisson_ratio"),
        (
            "",
            "poisson_ratio = 0.3",
            "poisson_ratio = 0.5",
            "must be at least 0 and less than 0.5, found 0.5",
        ),
        ("", "resolution = 0.04", "resolution = 0", "soft.box.shape: box"),
        ("", "resolution = 0.04\n", "", "soft.box.resolution: is missing"),
        ("", "shape = { box = [0.05, 0.04, 0.02] }", "shape = { cone = 1 }", "cone"),
        ("", "shape = { box = [0.05, 0.04, 0.02] }\n", "", "write mesh = \"file\""),
        ("integrator = 'semi_implicit'", "", "", "must be \"bdf1\" or \"bdf2\""),
        ("solver = 'pyramid'", "", "", "must be one of \"coupled\", \"hybrid\""),
        ("tolerance = 1", "", "", "simulation.tolerance: must be positive and at most 1e-3"),
    ];
    for (settings, from, to, expected) in cases {
        let text = scene(&format!("time_step = 1e-3\n{settings}"), "").replacen(from, to, 1);
        let found = parse(&text).unwrap_err();
        assert!(found.contains(expected) && !found.contains('\n'), "{found}\n{expected}");
    }
    let ground = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -1\n";
    for (more, expected) in [
        ("", "contact: is missing for floor-box"),
        (
            "[[contact]]\npair = 'floor-ball'\nmu = 1\n",
            "must be one of floor-box, found \"floor-ball\"",
        ),
        ("[[contact]]\nmu = -1\n", "mu: must not be negative"),
        ("[[contact]]\nmu = 1\n[[contact]]\nmu = 1\n", "is given twice"),
        ("[[body]]\nname = 'b'\n", "body.b"),
        ("[[half_space]]\nname = 'wall'\nnormal = [0, 0, 0]\n", "must have a direction"),
        ("[[contact]]\nmu = 1\n[[soft]]\nname = 'box'\n", "\"box\" is taken"),
    ] {
        let found = parse(&(scene("time_step = 1e-3", ground) + more)).unwrap_err();
        assert!(found.contains(expected) && !found.contains('\n'), "{found}\n{expected}");
    }
    // What knows rigid bodies only.
    let found = Scene::parse(&scene("time_step = 1e-3", ""), "soft.toml").unwrap_err();
    assert!(found.to_string().contains("soft: soft bodies are known to"), "{found}");
}

#[test]
fn what_is_odd_is_warned_of() {
    let warnings = |text: &str| parse(text).unwrap().warnings.join("\n");
    let rigid = scene("time_step = 1e-3", "").replace("ratio = 0.3", "ratio = 0.49");
    assert!(warnings(&rigid).contains("linear tetrahedra lock"));
    let large = scene("time_step = 1e-3", "").replace("[0.05, 0.04, 0.02]", "[50, 40, 20]");
    assert!(warnings(&large.replace("0.04\n", "40\n")).contains("if that is mm"));
    let ground = "position = [0, 0, 0.01]\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[contact]]\nmu = 1\n";
    assert!(warnings(&scene("time_step = 1e-3", ground)).contains("m inside what it touches"));
    assert_eq!(warnings(&scene("time_step = 1e-3", "")), "");
}

#[cfg(feature = "cli")]
#[test]
fn the_program_simulates_them_and_writes_what_others_read() {
    let folder = crate::folder::Folder::new("soft");
    folder.write("ball.toml", include_str!("../../examples/soft_ball/scene.toml"));
    let said = |arguments: &[&str]| {
        let output = folder.run(arguments);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, _, error) = said(&[
        "simulate",
        "ball.toml",
        "--steps",
        "20",
        "-o",
        "ball.csv",
        "--vtu",
        "ball",
        "--vtu-every",
        "10",
    ]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let rows = folder.read("ball.csv");
    let header =
        "t,ball/px,ball/py,ball/pz,ball/vx,ball/vy,ball/vz,ball/top/px,ball/top/py,ball/top/pz";
    assert_eq!((rows.lines().next(), rows.lines().count()), (Some(header), 22));
    // The frame is a mesh of as many tetrahedra, in the place of the last row.
    let scene = parse(&folder.read("ball.toml")).unwrap();
    let mesh = TetrahedralMesh::load(folder.path("ball/motion_0000020.vtu")).unwrap();
    assert_eq!(mesh.tetrahedra.len(), scene.bodies[0].mesh.tetrahedra.len());
    let last: Vec<f64> =
        rows.lines().last().unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    let centre = scene.bodies[0].mean(&mesh.nodes);
    assert!((0..3).all(|k| (centre[k] - last[1 + k]).abs() < 1e-12), "{centre:?} {last:?}");
    let marker = mesh.nodes[scene.bodies[0].markers[0].node];
    assert!((0..3).all(|k| (marker[k] - last[7 + k]).abs() < 1e-12), "{marker:?} {last:?}");
    let times: Vec<f64> = times_of(&folder.read("ball/motion.pvd"));
    assert_eq!(times, [0.0, 0.01, 0.02]);
    let (code, json, _) =
        said(&["simulate", "ball.toml", "--steps", "5", "-o", "ball.npz", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["solver"]["unsolved"]), (Some(0), &0.into()));
    assert!(json["energy"]["last"]["kinetic"].as_f64().unwrap() > 0.0);
    // All nodes at all times, of which the masses make the centre of mass in the CSV.
    let file = std::fs::File::open(folder.path("ball.npz")).unwrap();
    let mut archive = ndarray_npy::NpzReader::new(file).unwrap();
    let x: ndarray::Array3<f64> = archive.by_name("ball/x").unwrap();
    let mass: ndarray::Array1<f64> = archive.by_name("ball/mass").unwrap();
    let tetrahedra: ndarray::Array2<i64> = archive.by_name("ball/tetrahedra").unwrap();
    assert_eq!(x.dim(), (6, mass.len(), 3));
    assert_eq!(tetrahedra.dim(), (mesh.tetrahedra.len(), 4));
    let corners = mesh.tetrahedra.iter().flatten();
    assert!(tetrahedra.iter().zip(corners).all(|(a, &b)| *a == b as i64));
    let fifth: Vec<f64> =
        rows.lines().nth(6).unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    for k in 0..3 {
        let moment: f64 = (0..mass.len()).map(|node| mass[node] * x[(5, node, k)]).sum();
        assert!((moment / mass.sum() - fifth[1 + k]).abs() < 1e-12, "{k}");
    }
    for (arguments, expected) in [
        (&["bench", "ball.toml"][..], "soft bodies are known to"),
        (
            &["simulate", "ball.toml", "--view", "x.html", "-o", "./x.html"],
            "x.html: is to hold two things; give each a name of its own",
        ),
        (
            &["simulate", "ball.toml", "--vtu", "new", "--view", "new/motion.pvd"],
            "motion.pvd: is to hold two things",
        ),
        (
            &["simulate", "ball.toml", "--vtu", "new", "-o", "./new/motion_0000001.vtu"],
            "motion_0000001.vtu: is the name of a frame",
        ),
        (
            &["simulate", "ball.toml", "--vtu-every", "2"],
            "--vtu-every: must be at least 1, beside --vtu DIR",
        ),
    ] {
        let (code, _, error) = said(arguments);
        assert!(code == Some(2) && error.contains(expected), "{code:?} {error}");
    }
}

/// Of soft and rigid bodies: the columns of both, what drives them from a file, states in archives, and how they were solved.
#[cfg(feature = "cli")]
#[test]
fn the_program_simulates_soft_and_rigid_bodies() {
    let folder = crate::folder::Folder::new("mixed");
    folder.write("push.toml", include_str!("../../examples/soft_push/scene.toml"));
    folder.write("controls.csv", "t,motor/u\n0,0\n0.02,-0.06\n");
    let said = |arguments: &[&str]| {
        let output = folder.run(arguments);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let steps = ["simulate", "push.toml", "--steps", "20"];
    let driven = ["-o", "push.csv", "--controls", "controls.csv", "--view", "push.html"];
    let (code, _, error) = said(&[&steps[..], &driven].concat());
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(folder.read("push.html").contains("\"box\""));
    let rows = folder.read("push.csv");
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    assert_eq!(header[..2], ["t", "block/px"]);
    let column = |name: &str| -> Vec<f64> {
        let at = header.iter().position(|own| *own == name).unwrap();
        rows.lines().skip(1).map(|row| row.split(',').nth(at).unwrap().parse().unwrap()).collect()
    };
    // Before its time nothing turns the arm but gravity.
    let (v, q) = (column("arm/v"), column("arm/q"));
    assert_eq!((v.len(), q[0]), (21, 0.1));
    let scene = parse(&folder.read("push.toml")).unwrap();
    let mut alone = scene.rigid.as_deref().unwrap().clone();
    alone.inputs.fill(0.0);
    let mut simulation = alone.simulate();
    simulation.run(5);
    assert!((v[5] - simulation["arm/v"]).abs() < 1e-12, "{v:?}");
    assert!(v[20] < v[5] - 1.0, "{v:?}");
    let (code, json, _) = said(&[&steps[..], &["-o", "push.npz", "--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["rigid"]["solver"]["unsolved"]), (Some(0), &0.into()));
    let file = std::fs::File::open(folder.path("push.npz")).unwrap();
    let mut archive = ndarray_npy::NpzReader::new(file).unwrap();
    let [states, velocities]: [ndarray::Array2<f64>; 2] =
        ["q", "v"].map(|name| archive.by_name(name).unwrap());
    assert_eq!((states.dim(), velocities.dim()), ((21, 8), (21, 7)));
    assert!((states[(0, 7)] - 0.1).abs() < 1e-15 && velocities[(20, 6)] < -1.0);
    let (code, _, error) = said(&["simulate", "push.toml", "--kp", "1"]);
    assert!(code == Some(2) && error.contains("write an [[actuator]]"), "{code:?} {error}");
    let (code, json, error) = said(&["gradcheck", "push.toml", "--steps", "1", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["status"]), (Some(0), &"passed".into()), "{error}");
    assert!(json["max_forward_vs_adjoint"].as_f64().unwrap() < 1e-8, "{json}");
    let rows = json["rows"].as_array().unwrap();
    for name in ["box/mass", "block/youngs_modulus", "motor/u", "block/shape", "arm/v"] {
        assert!(rows.iter().any(|row| row["input"] == name), "{name}: {rows:?}");
    }
}

/// The times of a collection.
#[cfg(feature = "cli")]
fn times_of(text: &str) -> Vec<f64> {
    let starts = text.match_indices("timestep=\"").map(|(at, key)| &text[at + key.len()..]);
    starts.map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
}

/// Lengths and tensions of cables and forces of holds, in rows and archives alike.
#[cfg(feature = "cli")]
#[test]
fn what_holds_and_pulls_is_written_down() {
    let folder = crate::folder::Folder::new("soft-forces");
    let text = include_str!("../../examples/soft_finger/scene.toml");
    folder.write("finger.toml", &text.replace("resolution = 0.01", "resolution = 0.02"));
    for file in ["finger.csv", "finger.npz"] {
        let output = folder.run(&["simulate", "finger.toml", "--steps", "30", "-o", file]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let rows = folder.read("finger.csv");
    let header: Vec<&str> = rows.lines().next().unwrap().split(',').collect();
    let last: Vec<f64> =
        rows.lines().last().unwrap().split(',').map(|number| number.parse().unwrap()).collect();
    let at = |name: &str| last[header.iter().position(|own| *own == name).unwrap()];
    let file = std::fs::File::open(folder.path("finger.npz")).unwrap();
    let mut archive = ndarray_npy::NpzReader::new(file).unwrap();
    for name in ["tendon/length", "tendon/tension"] {
        let column: ndarray::Array1<f64> = archive.by_name(name).unwrap();
        assert_eq!((column.len(), column[30]), (31, at(name)), "{name}");
    }
    let force: ndarray::Array2<f64> = archive.by_name("root/force").unwrap();
    assert_eq!(force.row(30).to_vec(), ["root/fx", "root/fy", "root/fz"].map(at));
    assert!(at("tendon/tension") > 1.0 && at("root/fz") > 0.1);
}
