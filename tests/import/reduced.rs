//! Meshes collide by hulls of few vertices.

use stiction::assemble::Description;
use stiction::formats::{LoadOptions, MAX_HULL_VERTICES};
use stiction::identify::Experiment;
use stiction::model::{Scene, Shape};

use super::{body, parse, read, refused, warnings};
use crate::folder::Folder;

/// Points on a ball of 0.1 m.
fn points(count: usize) -> Vec<[f64; 3]> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let point = |k: usize| {
        let z = 1.0 - (2 * k + 1) as f64 / count as f64;
        let (r, angle) = ((1.0 - z * z).sqrt(), golden * k as f64);
        [0.1 * r * angle.cos(), 0.1 * r * angle.sin(), 0.1 * z]
    };
    (0..count).map(point).collect()
}

fn mjcf(mesh: &str, geom: &str, count: usize) -> String {
    let numbers: Vec<String> = points(count).iter().flatten().map(f64::to_string).collect();
    let numbers = numbers.join(" ");
    format!(
        "<mujoco><asset><mesh name='m' {mesh} inertia='convex' vertex='{numbers}'/></asset><worldbody>\
         <body name='rock'><freejoint/><geom type='mesh' mesh='m' {geom}/></body></worldbody></mujoco>"
    )
}

fn vertices(description: &Description, name: &str) -> usize {
    match &body(description, name).colliders[0].shape {
        Shape::Convex(hull) => hull.vertices().len(),
        other => panic!("{}", other.name()),
    }
}

#[test]
fn a_mesh_has_the_mass_of_its_whole_hull() {
    let [all, reduced] = ["maxhullvert='-1'", ""].map(|mesh| read(&mjcf(mesh, "", 500)));
    assert_eq!(vertices(&all, "rock"), 500);
    assert_eq!(vertices(&reduced, "rock"), MAX_HULL_VERTICES);
    let [all, reduced] = [&all, &reduced].map(|description| body(description, "rock"));
    assert_eq!((all.mass, all.inertia), (reduced.mass, reduced.inertia));
    assert!(warnings(&mjcf("maxhullvert='-1'", "", 500)).is_empty());
    let warned = warnings(&mjcf("", "", 500));
    let [warning] = &warned[..] else { panic!("{warned:?}") };
    assert!(
        warning.starts_with("model.xml: max_hull_vertices: hulls of meshes (1, the largest of 500 vertices) are reduced to at most 64")
            && warning.contains(" m (that of rock)"),
        "{warning}"
    );
    // A ball of radius 0.1 with 64 corners, about 0.05 m apart.
    let short = warning.split("by at most ").nth(1).unwrap().split(' ').next().unwrap();
    let short: f64 = short.parse().unwrap();
    assert!((1e-3..8e-3).contains(&short), "{short}");
}

#[test]
fn few_vertices_are_left_as_they_are() {
    for count in [20, 64] {
        assert_eq!(vertices(&read(&mjcf("", "", count)), "rock"), count);
        assert!(warnings(&mjcf("", "", count)).is_empty());
    }
    assert_eq!(vertices(&read(&mjcf("maxhullvert='12'", "", 100)), "rock"), 12);
    // One that is mirrored too.
    assert_eq!(vertices(&read(&mjcf("scale='1 -1 1'", "", 100)), "rock"), 64);
}

#[test]
fn limits_that_are_none_are_refused_with_their_place() {
    for wrong in ["3", "0", "-2", "7.5", "nan"] {
        let message = refused(&mjcf(&format!("maxhullvert='{wrong}'"), "", 20));
        assert!(message.contains("maxhullvert") && message.starts_with("model.xml:1"), "{message}");
    }
    let text = mjcf("", "", 100);
    let load = |most| {
        let options = LoadOptions { max_hull_vertices: Some(most), ..LoadOptions::default() };
        Description::parse_xml(&text, "model.xml", options)
    };
    assert_eq!(vertices(&load(0).unwrap(), "rock"), 100);
    assert_eq!(vertices(&load(10).unwrap(), "rock"), 10);
    let message = load(3).unwrap_err().to_string();
    assert!(message.contains("max_hull_vertices: must be 0, for all, or at least 4"), "{message}");
    assert_eq!(vertices(&parse(&text).unwrap(), "rock"), 64);
}

#[test]
fn scene_files_say_it_beside_the_mesh() {
    let folder = Folder::new("reduced");
    let lines = points(200).iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect::<String>();
    folder.write("ball.obj", &lines);
    let scene = |extra: &str| {
        format!(
            "[simulation]\ntime_step = 0.01\n[[body]]\nname = \"ball\"\nmass = 1\nposition = [0, 0, 1]\n\
             shape = {{ mesh = \"ball.obj\"{extra} }}\n"
        )
    };
    let load = |extra: &str| {
        let path = folder.path("scene.toml");
        folder.write("scene.toml", &scene(extra));
        Description::load(path, LoadOptions::default())
    };
    let (all, reduced) = (load(", max_hull_vertices = 0").unwrap(), load("").unwrap());
    assert_eq!((vertices(&all, "ball"), vertices(&reduced, "ball")), (200, 64));
    assert!(all.warnings.is_empty() && reduced.warnings.len() == 1);
    folder.write("again.toml", &reduced.to_toml(folder.path("")));
    let again = Description::load(folder.path("again.toml"), LoadOptions::default()).unwrap();
    assert!(vertices(&again, "ball") == 64 && again.warnings.is_empty(), "{:?}", again.warnings);
    assert_eq!(body(&all, "ball").inertia, body(&reduced, "ball").inertia);
    for (most, expected) in [(0, 200), (64, 64), (20, 20), (500, 200)] {
        let description = load(&format!(", max_hull_vertices = {most}")).unwrap();
        assert_eq!(vertices(&description, "ball"), expected);
        // Written and read again it is the same.
        folder.write("again.toml", &description.to_toml(folder.path("")));
        let again = Description::load(folder.path("again.toml"), LoadOptions::default()).unwrap();
        assert_eq!(vertices(&again, "ball"), expected);
        // What was said once is not said again.
        assert!(
            description.warnings.is_empty() && again.warnings.is_empty(),
            "{:?}",
            again.warnings
        );
    }
    for wrong in ["3", "1", "-1", "6.5"] {
        let message = load(&format!(", max_hull_vertices = {wrong}")).unwrap_err().to_string();
        assert!(message.contains("scene.toml:7: body.ball.shape.max_hull_vertices"), "{message}");
    }
    folder.write(
        "box.toml",
        &scene("").replace("mesh = \"ball.obj\"", "box = [1, 1, 1], max_hull_vertices = 9"),
    );
    let message = Scene::load(folder.path("box.toml")).unwrap_err().to_string();
    assert!(message.contains("has a meaning for a mesh only"), "{message}");
    let options = LoadOptions { max_hull_vertices: Some(9), ..LoadOptions::default() };
    let message = Scene::load_with(folder.path("scene.toml"), options).unwrap_err().to_string();
    assert!(message.contains("a scene says it beside each mesh"), "{message}");
}

#[test]
fn an_experiment_says_it_of_what_it_names() {
    let folder = Folder::new("reduced-experiment");
    folder.write("model.xml", &mjcf("", "", 100));
    folder.write(
        "scene.toml",
        "[simulation]\ntime_step = 0.01\n[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = 0.1 }\n",
    );
    let load = |scene: &str, limit: &str| {
        let text = format!(
            "scene = \"{scene}\"\n{limit}\n[noise]\nposition = 0.001\nrotation_deg = 0.1\n\
             [[parameter]]\nname = \"gravity/z\"\nstart = -9.0\nlower = -20\nupper = -1\n"
        );
        folder.write("experiment.toml", &text);
        Experiment::load_planned(folder.path("experiment.toml")).map(|experiment| experiment.scene)
    };
    for (limit, expected) in
        [("", 64), ("max_hull_vertices = 10", 10), ("max_hull_vertices = 0", 100)]
    {
        let scene = load("model.xml", limit).unwrap();
        let Shape::Convex(hull) = &scene.model.colliders[0].shape else { panic!("{limit}") };
        assert_eq!(hull.vertices().len(), expected, "{limit}");
    }
    for (scene, limit, says) in [
        ("model.xml", "3", "experiment.toml:2: max_hull_vertices: must be 0, for all, or at least"),
        ("model.xml", "-1", "experiment.toml:2: max_hull_vertices: must be a whole number"),
        ("model.xml", "\"all\"", "experiment.toml:2: max_hull_vertices"),
        ("scene.toml", "10", "a scene says it beside each mesh"),
    ] {
        let error = load(scene, &format!("max_hull_vertices = {limit}")).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
