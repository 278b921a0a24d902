//! Parameters from masks.

use stiction::Scene;
use stiction::identify::{Dataset, Experiment, Fit, fit};
use stiction::render::Picture;
use stiction::simulation::Rollout;

use super::mask;
use crate::folder::Folder;
use crate::shared::shared;

/// A box of a density of 3 that is pushed at a corner for 0.1 s, and a camera.
fn pushed(density: f64) -> String {
    let mass = density * 8.0 * 0.4 * 0.3 * 0.25;
    format!(
        "[simulation]\ntime_step = {}\nintegrator = 'runge_kutta'\n\
         [[camera]]\nname = 'front'\neye = [0, -4, 1]\ntarget = [0, 0, 0]\nfov_y_deg = 50\nsize = [96, 96]\n\
         [[body]]\nname = 'parcel'\nmass = {mass}\nshape = {{ box = [0.4, 0.3, 0.25] }}\n\
         [[push]]\nname = 'shove'\nbody = 'parcel'\npoint = [0.4, -0.3, 0.25]\nforce = [12, 5, 9]\nuntil = 0.1\n",
        1.0 / 240.0
    )
}

/// Masks of a simulation at every eighth step.
fn record(folder: &Folder, scene: &Scene, frames: usize, begin: f64) {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut table = "t,front\n".to_string();
    let mut now = scene.clone();
    for frame in 0..frames {
        if frame > 0 {
            rollout.advance(8, &scene.inputs);
        }
        now.state = rollout.state.clone();
        let name = format!("mask_{frame}.png");
        // 16 bits are as good as the fit is.
        let values: Vec<u8> = Picture::of([96, 96], &mask(&now))
            .values
            .iter()
            .flat_map(|x| x.to_be_bytes())
            .collect();
        let mut encoder =
            png::Encoder::new(std::fs::File::create(folder.path(&name)).unwrap(), 96, 96);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Sixteen);
        encoder.write_header().unwrap().write_image_data(&values).unwrap();
        table.push_str(&format!("{},{name}\n", begin + frame as f64 / 30.0));
    }
    folder.write("front.csv", &table);
}

fn found(experiment: &Experiment, threads: usize) -> Fit {
    let dataset = Dataset::load(experiment).unwrap();
    fit(experiment, &dataset, threads, &mut |_| true).unwrap()
}

fn experiment(start: f64, more: &str) -> String {
    format!(
        "scene = 'scene.toml'\ndata = ['front.csv']\n{more}\n[columns]\n'parcel/*' = false\n\
         [[sensor]]\ncamera = 'front'\nnoise = 0.01\n\
         [[parameter]]\nname = 'parcel/density'\nstart = {start}\nlower = 0.2\nupper = 30\n"
    )
}

#[test]
fn density_from_masks_of_a_push() {
    let folder = Folder::new("density_from_masks");
    record(&folder, &Scene::parse(&pushed(3.0), "truth.toml").unwrap(), 20, 0.0);
    let mut bits = Vec::new();
    for (start, threads) in [(0.6, 1), (0.6, 2), (12.0, 1)] {
        folder.write("scene.toml", &pushed(start));
        let experiment = folder.experiment(&experiment(start, "")).unwrap();
        let fit = found(&experiment, threads);
        let density = fit.parameters[0].value;
        // 16 bits a pixel.
        assert!((density / 3.0 - 1.0).abs() < 2e-6, "from {start}: {density}");
        assert!(fit.parameters[0].standard_error.unwrap() < 1e-3);
        bits.push(density.to_bits());
    }
    assert_eq!(bits[0], bits[1]);
    // Reverse mode goes there too.
    folder.write("scene.toml", &pushed(2.6));
    let text = experiment(2.6, "method = 'l-bfgs-b'");
    let fit = found(&folder.experiment(&text).unwrap(), 1);
    assert!((fit.parameters[0].value / 3.0 - 1.0).abs() < 1e-4, "{}", fit.parameters[0].value);
}

/// Pushes act by the times that recordings have.
#[test]
fn recordings_may_begin_late() {
    let folder = Folder::new("late_masks");
    record(&folder, &Scene::parse(&pushed(3.0), "truth.toml").unwrap(), 20, 2.0);
    let late = |from: f64| {
        pushed(2.5).replace("until = 0.1", &format!("from = {from}\nuntil = {}", from + 0.1))
    };
    folder.write("scene.toml", &late(2.0));
    let text = experiment(2.5, "");
    let density = found(&folder.experiment(&text).unwrap(), 1).parameters[0].value;
    assert!((density / 3.0 - 1.0).abs() < 2e-6, "{density}");
    // By another clock nothing is pushed, and no density is told.
    folder.write("scene.toml", &late(0.0));
    let fit = found(&folder.experiment(&text).unwrap(), 1);
    assert!(!fit.parameters[0].observable);
}

#[test]
fn a_camera_that_stands_elsewhere_is_found() {
    let folder = Folder::new("camera_from_masks");
    record(&folder, &Scene::parse(&pushed(3.0), "truth.toml").unwrap(), 20, 0.0);
    // 5 degrees and 10 % off.
    folder.write("scene.toml", &pushed(3.0).replace("eye = [0, -4, 1]", "eye = [0.3, -4.35, 1.2]"));
    let mut text = experiment(2.0, "");
    for (name, start) in
        [("eye/x", 0.3), ("eye/y", -4.35), ("eye/z", 1.2), ("target/x", 0.0), ("target/z", 0.0)]
    {
        text.push_str(&format!(
            "[[parameter]]\nname = 'front/{name}'\nstart = {start}\nscale = 0.1\n"
        ));
    }
    let fit = found(&folder.experiment(&text).unwrap(), 1);
    let expected = [3.0, 0.0, -4.0, 1.0, 0.0, 0.0];
    for (parameter, expected) in fit.parameters.iter().zip(expected) {
        assert!((parameter.value - expected).abs() < 1e-4, "{parameter:?}");
    }
}

/// Masks by another renderer of motions by another integrator.
#[test]
fn density_from_masks_that_mitsuba_made() {
    let Some(reference) = shared("reference/gradsim") else { return };
    let truth = std::fs::read_to_string(reference.join("push/truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
    for (shape, start) in [("box", 2.0), ("banana", 12.0)] {
        let case = &truth["cases"][shape];
        let density = case["density"].as_f64().unwrap();
        let share = start / density;
        let inertia: Vec<f64> = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
            .map(|(i, j)| share * case["inertia"][i][j].as_f64().unwrap())
            .to_vec();
        let folder = Folder::new(&format!("mitsuba_{shape}"));
        std::fs::copy(reference.join(format!("shapes/{shape}.obj")), folder.path("shape.obj"))
            .unwrap();
        folder.write("scene.toml", &format!(
            "[simulation]\ntime_step = {}\nintegrator = 'runge_kutta'\n\
             [[camera]]\nname = 'front'\neye = [0, -6.92820323027551, 4]\ntarget = [0, 0, 0]\nfov_y_deg = 60\nsize = [256, 256]\n\
             [[body]]\nname = 'thing'\nmass = {}\ninertia = {inertia:?}\ncenter_of_mass = [0, 0, 0]\n\
             orientation = {}\nshape = {{ mesh = 'shape.obj', max_hull_vertices = 0 }}\n\
             [[push]]\nname = 'shove'\nbody = 'thing'\npoint = {}\nforce = {}\nuntil = 0.1\n",
            1.0 / 300.0,
            share * case["mass"].as_f64().unwrap(),
            case["start"]["quaternion_wxyz"],
            case["push"]["point_in_body"],
            case["push"]["force_in_world"],
        ));
        let mut table = "t,front\n".to_string();
        for frame in 0..24 {
            let file = reference.join(format!("push/{shape}/mask_{frame:02}.png"));
            table.push_str(&format!(
                "{},{}\n",
                frame as f64 / 30.0,
                file.canonicalize().unwrap().display()
            ));
        }
        folder.write("front.csv", &table);
        let experiment = folder
            .experiment(&format!(
                "scene = 'scene.toml'\ndata = ['front.csv']\n[columns]\n'thing/*' = false\n\
             [[sensor]]\ncamera = 'front'\nnoise = 0.01\nblur = [8, 4, 0]\n\
             [[parameter]]\nname = 'thing/density'\nstart = {start}\nlower = 0.5\nupper = 50\n"
            ))
            .unwrap();
        let found = found(&experiment, 2).parameters[0].value;
        assert!((found / density - 1.0).abs() < 5e-5, "{shape}: {found} for {density}");
    }
}

/// Six real tosses of a cube, as a camera sees them: friction and restitution are those that poses tell.
#[test]
fn real_tosses_by_masks_tell_what_poses_do() {
    let Some(reference) = shared("reference/gradsim/tosses") else { return };
    let Some(data) = shared("data/cube_tosses/train") else { return };
    let folder = Folder::new("tosses_by_masks");
    folder.write(
        "scene.toml",
        "[simulation]
        time_step = 0.0033783783783783786
        restitution_threshold = 0.05
        [[camera]]
        name = 'front'
        eye = [0, -1, 0.75]
        target = [0, 0, 0.06]
        fov_y_deg = 36
        size = [256, 256]
        [[half_space]]
        name = 'floor'
        normal = [0, 0, 1]
        [[body]]
        name = 'cube'
        mass = 0.37
        inertia = 0.00081
        shape = { box = [0.0524, 0.0524, 0.0524] }
        position = [0, 0, 0.0524]
        [[contact]]
        pair = 'floor-cube'
        mu = 0.18
        restitution = 0.125",
    );
    for toss in ["099", "139", "241", "363", "409", "490"] {
        let rows = std::fs::read_to_string(data.join(format!("toss_{toss}.csv"))).unwrap();
        let first: Vec<&str> = rows.lines().nth(1).unwrap().split(',').skip(1).take(7).collect();
        let mut table = "t,front,px,py,pz,qw,qx,qy,qz\n".to_string();
        for frame in 0..50 {
            let file = reference.join(format!("toss_{toss}/mask_{frame:02}.png"));
            let pose = if frame == 0 { first.join(",") } else { ",,,,,,".to_string() };
            let file = file.canonicalize().unwrap();
            table.push_str(&format!("{},{},{pose}\n", f64::from(frame) / 74.0, file.display()));
        }
        folder.write(&format!("toss_{toss}.csv"), &table);
    }
    let experiment = folder
        .experiment(
            "scene = 'scene.toml'
        data = ['toss_*.csv']
        initial_state = 'flight'
        length_scale = 0.1048
        huber = 3.0
        starts = 1
        [columns]
        'cube/vx' = false
        'cube/vy' = false
        'cube/vz' = false
        'cube/wx' = false
        'cube/wy' = false
        'cube/wz' = false
        [[sensor]]
        camera = 'front'
        noise = 1.0
        [[parameter]]
        name = 'floor-cube/mu'
        start = 0.4
        lower = 0.01
        upper = 1.0
        [[parameter]]
        name = 'floor-cube/restitution'
        start = 0.4
        lower = 0.0
        upper = 0.9
        [[parameter]]
        name = 'cube/inertia/xx'
        tied = ['cube/inertia/yy', 'cube/inertia/zz']
        start = 0.0006
        lower = 0.0002
        upper = 0.003",
        )
        .unwrap();
    let found = found(&experiment, 2);
    // Value and standard error, by halves: from poses, from these masks.
    for (parameter, [poses, error, own]) in
        found.parameters.iter().zip([[0.1724, 0.0023, 0.0095], [0.26, 0.04, 0.16]])
    {
        let both: f64 = 1.96 * f64::hypot(error, own);
        let value = parameter.value;
        assert!((value - poses).abs() < both, "{}: {value}, by poses {poses}", parameter.name);
    }
}
