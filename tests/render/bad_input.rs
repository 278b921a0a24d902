//! Cameras, masks and pushes that cannot be.

use stiction::Scene;
use stiction::assemble::Description;
use stiction::identify::Dataset;

use crate::folder::Folder;

const BODY: &str = "[[body]]\nname = 'box'\nmass = 1\nshape = { box = [0.1, 0.1, 0.1] }\n";
const CAMERA: &str = "eye = [0, -1, 0]\ntarget = [0, 0, 0]\nfov_y_deg = 40\nsize = [8, 8]\n";

#[test]
fn cameras_and_pushes_are_refused_with_their_place() {
    let camera = |fields: &str| format!("[[camera]]\nname = 'front'\n{fields}");
    let push = |fields: &str| format!("[[push]]\nname = 'shove'\n{fields}");
    let k = "K = [[100, 0, 4], [0, 100, 4], [0, 0, 1]]\n";
    let r = "R = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]\n";
    for (text, says) in [
        (
            camera(&CAMERA.replace("eye = [0, -1, 0]", "eye = [0, 0, 0]")),
            "camera.front.target: is where the eye is",
        ),
        (camera(&format!("{CAMERA}up = [0, 2, 0]")), "camera.front.up: is along the view"),
        (camera(&CAMERA.replace("40", "200")), "camera.front.fov_y: must be between 0 and pi"),
        (
            camera(&CAMERA.replace("[8, 8]", "[8, 0]")),
            "camera.front.size: must be two whole numbers",
        ),
        (
            camera(&CAMERA.replace("[8, 8]", "[8, 1.5]")),
            "camera.front.size: must be the width and the height",
        ),
        (camera(&CAMERA.replace("size = [8, 8]", "")), "camera.front.size: is missing"),
        (camera(&format!("{CAMERA}fov_y = 1")), "camera.front.fov_y_deg: is fov_y in degrees"),
        (
            camera(&format!("{CAMERA}body = 'lid'")),
            "camera.front.body: the scene has no body \"lid\"; it has box",
        ),
        (camera(&format!("{CAMERA}{k}")), "camera.front.eye: is given by K, R and t already"),
        (
            camera(&format!(
                "size = [8, 8]\n{k}{}t = [0, 0, 1]",
                r.replace("[1, 0, 0]", "[1, 0.1, 0]")
            )),
            "camera.front.R: must be a rotation",
        ),
        (
            camera(&format!(
                "size = [8, 8]\n{}{r}t = [0, 0, 1]",
                k.replace("[0, 0, 1]", "[0, 0, 2]")
            )),
            "camera.front.K: must be [[fx, 0, cx]",
        ),
        (
            push("body = 'lid'\nforce = [1, 0, 0]\nuntil = 1"),
            "push.shove.body: the scene has no body \"lid\"",
        ),
        (
            push("body = 'box'\nforce = [1, 0, 0]\nfrom = 2\nuntil = 1"),
            "push.shove.until: must be later than `from`",
        ),
        (push("body = 'box'\nforce = [1, 0, 0]"), "push.shove.until: is missing"),
        (push("body = 'box'\nuntil = 1"), "push.shove.force: is missing"),
    ] {
        let text = format!("[simulation]\ntime_step = 0.01\n{BODY}{text}\n");
        let error = Scene::parse(&text, "scene.toml").unwrap_err().to_string();
        assert!(error.contains(says), "{error}\n{text}");
        assert!(error.starts_with("scene.toml:"), "{error}");
    }
}

/// A folder with a scene, a white mask of 8 x 8 px, and a recording.
fn recorded(name: &str, rows: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write(
        "scene.toml",
        &format!("[simulation]\ntime_step = 0.01\n{BODY}[[camera]]\nname = 'front'\n{CAMERA}"),
    );
    for (file, size, value) in [("white.png", 8, 1.0), ("black.png", 8, 0.0), ("large.png", 9, 1.0)]
    {
        let picture = stiction::render::Picture::of([size; 2], &vec![value; size * size]);
        let mut bytes = Vec::new();
        picture.write_png(&mut bytes).unwrap();
        std::fs::write(folder.path(file), bytes).unwrap();
    }
    folder.write("colour.png", "no image");
    folder.write("front.csv", rows);
    folder
}

fn experiment(sensor: &str) -> String {
    format!(
        "scene = 'scene.toml'\ndata = ['front.csv']\n[columns]\n'box/*' = false\n[[sensor]]\n{sensor}\n\
         [[parameter]]\nname = 'gravity/z'\nstart = -9"
    )
}

#[test]
fn sensors_of_masks_are_refused_with_their_place() {
    let folder = recorded("bad_masks", "t,front\n0,white.png\n0.1,white.png\n");
    for (sensor, says) in [
        ("camera = 'side'", "the scene has no camera \"side\"; its [[camera]] are: front"),
        ("camera = 'front'\ncompare = 'depth'", "must be \"mask\""),
        ("camera = 'front'\nbackground = 'white.png'", "for compare = \"colour\""),
        (
            "camera = 'front'\ncompare = 'colour'\nbodies = ['box']",
            "are those before a `background`",
        ),
        ("camera = 'front'\ncompare = 'colour'\nbackground = 'none.png'", "none.png"),
        (
            "camera = 'front'\ncompare = 'colour'\nbackground = 'large.png'",
            "has 9 x 9 pixels, and the camera 8 x 8",
        ),
        ("camera = 'front'\nbodies = ['lid']", "the scene has no body \"lid\""),
        ("camera = 'front'\nbodies = []", "none of the bodies has a shape"),
        ("camera = 'front'\nnoise = 0", "must be positive"),
        ("camera = 'front'\nblur = [1, 2, 0]", "must be a falling list"),
        ("camera = 'front'\nblur = [2, 1]", "must be a falling list"),
        ("camera = 'front'\ndelay = 0.1", "delay"),
    ] {
        let error = folder.experiment(&experiment(sensor)).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn colours_that_cannot_be_are_refused_with_file_and_line() {
    let rows = "t,front\n0,white.png\n0.1,frame.png\n";
    let compare = "camera = 'front'\ncompare = 'colour'";
    let cases: [(&str, png::ColorType, Vec<u8>, &str); 3] = [
        ("clear", png::ColorType::Rgba, vec![9; 256], "is transparent, as at column 0, row 0"),
        ("grey_clear", png::ColorType::GrayscaleAlpha, vec![9; 128], "is transparent"),
        ("cut", png::ColorType::Rgb, vec![9; 192], "is not read as a PNG"),
    ];
    for (name, color, bytes, says) in cases {
        let folder = recorded(&format!("bad_colours_{name}"), rows);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 8, 8);
        encoder.set_color(color);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&bytes).unwrap();
        writer.finish().unwrap();
        if name == "cut" {
            file.truncate(file.len() - 30);
        }
        std::fs::write(folder.path("frame.png"), &file).unwrap();
        let experiment = folder.experiment(&experiment(compare)).unwrap();
        let error = Dataset::load(&experiment).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("front.csv:3"), "{error}");
    }
    let folder = recorded("bad_colours_black", "t,front\n0,black.png\n0.1,black.png\n");
    let experiment = folder.experiment(&experiment(compare)).unwrap();
    let error = Dataset::load(&experiment).unwrap_err().to_string();
    assert!(error.contains("all of its images are black"), "{error}");
    // Grey frames are colours too.
    let folder = recorded("grey_colours", "t,front\n0,white.png\n0.1,white.png\n");
    let experiment = folder.experiment(&self::experiment(compare)).unwrap();
    assert!(Dataset::load(&experiment).is_ok());
}

#[test]
fn lights_are_refused_with_their_place() {
    let scene = |light: &str| {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n[light]\n{light}\n[[body]]\nname = 'a'\nmass = 1\nshape = {{ sphere = 0.1 }}"
        );
        stiction::Scene::parse(&text, "scene.toml")
    };
    for (light, says) in [
        ("direction = [0, 0, 0]", "must be a vector with a length"),
        ("direct = 1.5", "must be from 0 to 1"),
        ("ambient = -0.1", "must be from 0 to 1"),
        ("color = 'blue'", "must be \"#rrggbb\""),
        ("colour = '#000000'", "light.colour: is not a field here"),
    ] {
        let error = scene(light).unwrap_err().to_string();
        assert!(error.contains("scene.toml:4") && error.contains(says), "{error}");
    }
    // What is said is written again.
    let own = scene("direction = [1, 0.5, -2]\ndirect = 0.25\ncolor = '#102030'").unwrap();
    let written = Description::of(&own, &own.parameters, "again").to_toml(".");
    let again = stiction::Scene::parse(&written, "again.toml").unwrap();
    assert!(own.model.light.is_some() && again.model.light == own.model.light);
}

#[test]
fn masks_that_cannot_be_are_refused_with_file_and_line() {
    for (name, rows, says) in [
        (
            "no_column",
            "t\n0\n0.1\n",
            "front: the column is missing, which names the image of each frame",
        ),
        ("no_file", "t,front\n0,white.png\n0.1,none.png\n", "front.csv:3: front"),
        ("no_image", "t,front\n0,white.png\n0.1,colour.png\n", "is not read as a PNG"),
        (
            "other_size",
            "t,front\n0,white.png\n0.1,large.png\n",
            "has 9 x 9 pixels, and the camera 8 x 8",
        ),
        ("all_black", "t,front\n0,black.png\n0.1,black.png\n", "all of its masks are empty"),
        ("nothing", "t,front\n0,\n0.1,\n", "has no mask"),
    ] {
        let folder = recorded(&format!("bad_masks_{name}"), rows);
        let experiment = folder.experiment(&experiment("camera = 'front'")).unwrap();
        let error = Dataset::load(&experiment).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("front.csv"), "{error}");
    }
}

#[test]
fn a_density_is_of_a_known_volume() {
    let folder = recorded("bad_density", "t,front\n0,white.png\n0.1,white.png\n");
    let parameters = |more: &str| {
        let text =
            experiment("camera = 'front'").replace("gravity/z", "box/density").replace("-9", "5");
        format!("{text}\n{more}")
    };
    assert!(folder.experiment(&parameters("")).is_ok());
    let size = "[[parameter]]\nname = 'box/half_extents/x'\nstart = 0.1";
    let error = folder.experiment(&parameters(size)).unwrap_err();
    assert!(error.contains("box/density stands for mass and inertia at the volume"), "{error}");
    let held = format!("{size}\nfixed = true");
    assert!(folder.experiment(&parameters(&held)).is_ok());
    let other = experiment("camera = 'front'").replace("gravity/z", "lid/density");
    let error = folder.experiment(&other).unwrap_err();
    assert!(error.contains("a density needs a body with mass"), "{error}");
    let backwards =
        experiment("camera = 'front'").replace("gravity/z", "front/fov_y").replace("-9", "-0.7");
    assert!(folder.experiment(&backwards).unwrap_err().contains("start"));
}
