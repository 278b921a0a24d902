//! What bodies look like in pages, beside their shapes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;
use stiction::dynamics::Kinematics;
use stiction::model::Scene;
use stiction::view::{Appearance, Drawing, Live, LiveRequest, PackedTriangles};

use super::browser::{BEFORE, between, visit};
use crate::folder::Folder;
use crate::program::succeeds;

/// A base that does not move, and an arm that does, with looks each; a box that is not covered.
const SCENE: &str = r##"simulation.time_step = 0.01
gravity = [0, 0, 0]
[[contact]]
mu = 0.5
[[body]]
name = "base"
mass = 1
joint = { type = "fixed" }
position = [0, 0, 1]
orientation = [0.7071067811865476, 0, 0, 0.7071067811865476]
[[body.visual]]
mesh = "red.obj"
position = [1, 0, 0]
[[body]]
name = "arm"
parent = "base"
mass = 1
inertia = 0.1
joint = { type = "revolute", axis = [0, 0, 1] }
[[body.shape]]
name = "hull"
box = [0.1, 0.1, 0.1]
[[body.shape]]
name = "knob"
sphere = 0.05
position = [0, 0, 0.2]
drawn = true
color = "#00ff00"
[[body.visual]]
mesh = "red.obj"
color = "#0000ff"
[[body.visual]]
mesh = "none.obj"
[[body]]
name = "crate"
mass = 1
shape = { box = [0.1, 0.1, 0.1] }
position = [0, 3, 0]
"##;

const OBJ: &str = "v 0 0 0\nv 0.2 0 0\nv 0 0.4 0\nv 0 0 0.6\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", SCENE);
    folder.write("red.obj", &format!("mtllib red.mtl\nusemtl red\n{OBJ}"));
    folder.write("red.mtl", "newmtl red\nKd 1 0 0\n");
    folder
}

fn numbers(text: &str) -> Vec<u16> {
    let bytes = STANDARD.decode(text).unwrap();
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

fn vertices(mesh: &PackedTriangles) -> Vec<Vector3<f64>> {
    let part = |k: usize, x: u16| mesh.low[k] + f64::from(x) / 65_535.0 * mesh.size[k];
    let all = numbers(&mesh.vertices);
    all.chunks_exact(3).map(|v| Vector3::new(part(0, v[0]), part(1, v[1]), part(2, v[2]))).collect()
}

#[test]
fn looks_are_where_their_bodies_are() {
    let folder = folder("looks");
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let looks = Appearance::read(&scene.model);
    let [missing] = looks.warnings() else { panic!("{:?}", looks.warnings()) };
    assert!(missing.to_string().contains("none.obj"));
    let drawing = Drawing::new(&scene.model, &scene.parameters, &looks);
    assert_eq!(drawing.missing.len(), 1);
    assert_eq!(drawing.bodies, ["arm", "crate"]);
    assert_eq!(drawing.bare, [] as [usize; 0]);
    // One file is one mesh, with colours of its own.
    let [mesh] = &drawing.meshes[..] else { panic!("{}", drawing.meshes.len()) };
    let points = vertices(mesh);
    let expected = [[0.0; 3], [0.2, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.6]];
    for corner in expected.map(Vector3::from) {
        assert!(points.iter().any(|p| (p - corner).norm() < 1e-5), "{corner} {points:?}");
    }
    assert_eq!(numbers(&mesh.triangles).len(), 12);
    let [fixed, moving] = &drawing.looks[..] else { panic!("{:?}", drawing.looks) };
    assert_eq!((fixed.body, moving.body), (None, Some(0)));
    // The colour of a file comes before that of what names it.
    let red = Some([1.0, 0.0, 0.0, 1.0]);
    assert_eq!((fixed.color, moving.color), (red, red));
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &scene.state);
    let base = &kinematics.bodies[0];
    let [x, y, z, qw, qx, qy, qz] = fixed.pose;
    let turn = UnitQuaternion::from_quaternion(Quaternion::new(qw, qx, qy, qz));
    for p in &points {
        let placed = turn * p + Vector3::new(x, y, z);
        let own = base.rotation * (p + Vector3::x()) + base.position;
        assert!((placed - own).norm() < 1e-5, "{placed} {own}");
    }
    // The shapes of what has looks are covered, but for one that says otherwise.
    let covered: Vec<_> = drawing.shapes.iter().map(|s| (s.name.as_str(), s.covered)).collect();
    assert_eq!(covered, [("arm/hull", true), ("arm/knob", false), ("crate", false)]);
    let plain = Drawing::new(&scene.model, &scene.parameters, &Appearance::default());
    assert!(plain.shapes.iter().all(|shape| !shape.covered) && plain.looks.is_empty());
}

/// A page that runs by itself holds the looks, and a scene that names no files.
#[test]
fn a_page_by_itself_has_its_looks() {
    let folder = folder("looks-alone");
    folder.write("none.obj", OBJ);
    // What runs is another test's: here it is never started.
    folder.write("module.wasm", "\0asm live_answer");
    let page = ["view", "scene.toml", "-o", "page.html", "--module", "module.wasm"];
    succeeds(&folder.run(&page));
    let page = folder.read("page.html");
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert!(!data["scene"].as_str().unwrap().contains("mesh"), "{}", data["scene"]);
    let drawing = &data["playback"]["drawing"];
    let lengths = ["meshes", "looks"].map(|key| drawing[key].as_array().unwrap().len());
    assert_eq!(lengths, [2, 3]);
}

/// A mesh that touches by its hull is seen whole: a corner that the hull hides.
#[test]
fn meshes_of_shapes_are_seen_whole() {
    let folder = folder("looks-whole");
    let dented = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.2 0.2 0.2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 3 4 5\nf 4 2 5\n";
    folder.write("dented.obj", dented);
    let text =
        SCENE.replacen("box = [0.1, 0.1, 0.1]", "mesh = \"dented.obj\"\nscale = [2, 1, 1]", 1);
    folder.write("scene.toml", &text);
    let Scene { model, parameters, .. } = Scene::load(folder.path("scene.toml")).unwrap();
    let corners = |looks: &Appearance| {
        let drawing = Drawing::new(&model, &parameters, looks);
        let shape = drawing.shapes.iter().find(|shape| shape.name == "arm/hull").unwrap();
        shape.surface.vertices.chunks(3).map(|v| [v[0], v[1], v[2]]).collect::<Vec<_>>()
    };
    let whole = corners(&Appearance::read(&model));
    assert!(whole.len() == 5 && whole.contains(&[0.4, 0.2, 0.2]), "{whole:?}");
    assert_eq!(corners(&Appearance::default()).len(), 4);
}

/// Meshes are sent once: a page whose numbers are changed keeps them.
#[test]
fn a_changed_drawing_comes_without_meshes() {
    let folder = folder("looks-live");
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let looks = Appearance::read(&scene.model);
    let mut live = Live::with_looks(scene, looks);
    let mut request = LiveRequest::default();
    request.parameters.insert("base/position/x".into(), 2.0);
    let before = live.drawing().looks[0].pose[0];
    let drawing = live.answer(&request).drawing.unwrap();
    assert!(drawing.meshes.is_empty());
    assert_eq!(drawing.looks[0].pose[0], before + 2.0);
    assert_eq!(live.drawing().meshes.len(), 1);
}

/// What nobody sees hides nothing, and what has no size that can be drawn is told of.
#[test]
fn what_is_not_seen_covers_nothing() {
    let folder = folder("looks-unseen");
    for (from, to, told) in [
        ("color = \"#0000ff\"", "color = \"#0000ff00\"", false),
        ("color = \"#0000ff\"", "scale = [1e200, 1, 1]", true),
        ("color = \"#0000ff\"", "position = [1e200, 0, 0]", true),
    ] {
        folder.write("scene.toml", &SCENE.replace(from, to));
        // The colour of a file comes first: here it has none.
        folder.write("red.obj", OBJ);
        folder.write("none.obj", OBJ);
        let text = folder
            .read("scene.toml")
            .replace("mesh = \"none.obj\"", "box = [1, 1, 1]\ncolor = [1, 1, 1, 0]");
        folder.write("scene.toml", &text);
        let scene = Scene::load(folder.path("scene.toml")).unwrap();
        let looks = Appearance::read(&scene.model);
        let said: Vec<String> = looks.warnings().iter().map(|w| w.to_string()).collect();
        assert_eq!(
            said.iter().any(|w| w.contains("arm") && w.contains("no extent")),
            told,
            "{said:?}"
        );
        let drawing = Drawing::new(&scene.model, &scene.parameters, &looks);
        assert!(drawing.shapes.iter().all(|shape| !shape.covered), "{to}");
        assert!(drawing.size.is_finite() && drawing.looks.len() == 1, "{to}");
    }
}

/// A page of many triangles keeps to its size.
#[test]
fn large_meshes_become_smaller() {
    let folder = folder("looks-large");
    let n = 300;
    let mut text = String::new();
    for k in 0..(n + 1) * (n + 1) {
        let [x, y] = [k % (n + 1), k / (n + 1)].map(|x| x as f64 / n as f64);
        text += &format!("v {x} {y} {}\n", 0.1 * (7.0 * x).sin() * (5.0 * y).cos());
    }
    for k in 0..n * n {
        let a = 1 + k / n * (n + 1) + k % n;
        text += &format!("f {} {} {} {}\n", a, a + 1, a + n + 2, a + n + 1);
    }
    folder.write("red.obj", &text);
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    let looks = Appearance::read(&scene.model);
    let drawing = Drawing::new(&scene.model, &scene.parameters, &looks);
    let count = numbers(&drawing.meshes[0].triangles).len() / 3;
    assert!((20_000..=60_000).contains(&count), "{count}");
    for p in vertices(&drawing.meshes[0]) {
        let height = 0.1 * (7.0 * p.x).sin() * (5.0 * p.y).cos();
        assert!((p.z - height).abs() < 2e-4, "{p} {height}");
    }
}

/// In the page: red where a look is, the colour of the knob, and the shape that it covers when asked for.
#[test]
fn a_browser_shows_them() {
    let folder = folder("looks-browser");
    let run = folder.run(&["simulate", "scene.toml", "--steps", "1", "--view", "page.html"]);
    assert!(run.status.success());
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("none.obj"), "{said}");
    folder
        .write("page.html", &between(&folder.read("page.html"), BEFORE, include_str!("looks.js")));
    let address = format!("file://{}", folder.path("page.html").display());
    let Some(seen) = visit(&folder, &address) else { return };
    let number = |key: &str| seen[key].as_f64().unwrap_or_else(|| panic!("{key}: {seen:#}"));
    assert!(number("red") > 300.0 && number("green") > 20.0, "{seen:#}");
    assert!(number("red_of_shapes") < 0.7 * number("red"), "{seen:#}");
    assert!(number("changed_by_shapes") > 100.0, "{seen:#}");
    assert!(number("red_again") == number("red"), "{seen:#}");
    assert!(seen["notice"].as_str().unwrap().contains("none.obj"), "{seen:#}");
    // A drawing that comes without looks, as from the simulation in a page, leaves them.
    assert!(number("red_after_redraw") == number("red"), "{seen:#}");
    // Without files nothing is said.
    folder.write("none.obj", OBJ);
    let run = folder.run(&["simulate", "scene.toml", "--steps", "1", "--view", "page.html"]);
    succeeds(&run);
}

/// The motion as an animated picture, read by another program.
#[test]
fn a_motion_is_saved_as_a_picture() {
    let folder = folder("looks-apng");
    let text = SCENE.replace("gravity = [0, 0, 0]", "gravity = [0, 0, -9.81]");
    folder.write("scene.toml", &text.replace("mesh = \"none.obj\"", "box = [0.1, 0.1, 0.1]"));
    let run = ["simulate", "scene.toml", "--steps", "30", "--view", "page.html"];
    succeeds(&folder.run(&run));
    let page = folder.read("page.html");
    folder.write("page.html", &between(&page, BEFORE, include_str!("apng.js")));
    let address = format!("file://{}", folder.path("page.html").display());
    let Some(seen) = visit(&folder, &address) else { return };
    assert_eq!((&seen["stopped"], &seen["name"]), (&true.into(), &"stiction.png".into()));
    assert_eq!(seen["time_before"], seen["time_after"]);
    let bytes = STANDARD.decode(seen["picture"].as_str().unwrap()).unwrap();
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    // 0.3 s at 20 a second.
    let frames = decoder.info().animation_control().unwrap().num_frames;
    assert_eq!((frames, seen["duration"].as_f64().unwrap()), (7, 0.3));
    let mut pictures = Vec::new();
    for _ in 0..frames {
        let mut picture = vec![0; decoder.output_buffer_size().unwrap()];
        decoder.next_frame(&mut picture).unwrap();
        let frame = decoder.info().frame_control().unwrap();
        assert_eq!((frame.delay_num, frame.delay_den), (50, 1000));
        assert_eq!((frame.width, frame.height), decoder.info().size());
        pictures.push(picture);
    }
    assert!(decoder.info().width <= 640);
    // Something moves, and nothing is seen through.
    for pair in pictures.windows(2) {
        let changed = pair[0].iter().zip(&pair[1]).filter(|(a, b)| a != b).count();
        assert!(changed > 100, "{changed}");
    }
    assert!(
        pictures.iter().all(|picture| picture.iter().skip(3).step_by(4).all(|&alpha| alpha == 255))
    );
}
