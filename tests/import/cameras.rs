//! Cameras of MJCF.

use stiction::Scene;
use stiction::assemble::Description;
use stiction::model::CameraNumbers;

use super::parse;

/// The cameras of a file with this default class, in this world.
fn read(defaults: &str, world: &str) -> Result<Description, String> {
    let text = format!(
        "<mujoco><compiler angle='degree'/><default>{defaults}</default><worldbody>{world}</worldbody></mujoco>"
    );
    parse(&text).map_err(|error| error.to_string())
}

const BODY: &str = "<body name='cart' pos='1 0 0.5' euler='0 0 90'><freejoint/><geom size='0.1'/>";

fn numbers(scene: &Description, k: usize) -> &CameraNumbers<f64> {
    &scene.cameras[k].numbers
}

fn close(found: [f64; 3], expected: [f64; 3]) {
    let off = |k: usize| (found[k] - expected[k]).abs();
    assert!((0..3).all(|k| off(k) < 1e-12), "{found:?} {expected:?}");
}

#[test]
fn cameras_look_along_their_negative_z() {
    let scene = read(
        "<camera resolution='320 240' fovy='60'/>",
        &format!(
            "<camera name='front' pos='0 -2 0.5' xyaxes='1 0 0 0 0 1'/>\
             <frame pos='0 0 1' euler='0 0 90'><camera name='cart' pos='1 0 0' fovy='30'/></frame>\
             {BODY}<camera pos='0.1 0 0.2' zaxis='-1 0 0' resolution='64 48'/></body>"
        ),
    )
    .unwrap();
    let cameras = &scene.cameras;
    let names: Vec<&str> = cameras.iter().map(|camera| camera.name.as_str()).collect();
    // What has no name is counted; no two things have one.
    assert_eq!(names, ["front", "cart_camera", "camera3"]);
    assert_eq!(cameras[0].size, [320, 240]);
    assert_eq!((cameras[2].size, cameras[2].body.as_deref()), ([64, 48], Some("cart")));
    let front = numbers(&scene, 0);
    close(front.eye, [0.0, -2.0, 0.5]);
    close(front.target, [0.0, -1.0, 0.5]);
    close(front.up, [0.0, 0.0, 1.0]);
    assert!((front.fov_y - 60.0_f64.to_radians()).abs() < 1e-12);
    // Down from above, turned by a right angle about z.
    let above = numbers(&scene, 1);
    close(above.eye, [0.0, 1.0, 1.0]);
    close(above.target, [0.0, 1.0, 0.0]);
    close(above.up, [-1.0, 0.0, 0.0]);
    assert!((above.fov_y - 30.0_f64.to_radians()).abs() < 1e-12);
    // In the frame of its body.
    let carried = numbers(&scene, 2);
    close(carried.eye, [0.1, 0.0, 0.2]);
    close(carried.target, [1.1, 0.0, 0.2]);
}

#[test]
fn a_camera_looks_at_its_target_where_the_file_has_it() {
    let scene = read(
        "",
        &format!(
            "<camera name='watch' mode='targetbody' target='cart' pos='1 -3 0.5'/>{BODY}\
             <camera name='back' mode='targetbodycom' target='post' pos='0 0 0.1'/></body>\
             <body name='post' pos='4 0 0.6'><geom size='0.1'/></body>"
        ),
    )
    .unwrap();
    assert_eq!(scene.cameras[0].size, [640, 480]);
    let watch = numbers(&scene, 0);
    close(watch.target, [1.0, -2.0, 0.5]);
    close(watch.up, [0.0, 0.0, 1.0]);
    // The cart is turned by a right angle about z: along x of the world is along -y of it.
    let back = numbers(&scene, 1);
    close(back.target, [0.0, -1.0, 0.1]);
    assert!((back.fov_y - 45.0_f64.to_radians()).abs() < 1e-12);
}

/// By the length of the lens, in pixels or beside the height of the sensor.
#[test]
fn lenses_say_how_much_is_seen() {
    let scene = read(
        "",
        "<camera resolution='100 200' sensorsize='0.01 0.02' focal='0.03 0.03'/>\
         <camera resolution='100 200' sensorsize='0.01 0.02' focalpixel='150 100'/>\
         <camera resolution='100 200' sensorsize='0.02 0.02' focal='0.03 0.03'/>",
    )
    .unwrap();
    // Pixels that are as long as wide, focal lengths in px, pixels that are twice as wide.
    let aspects = [0, 1, 2].map(|k| numbers(&scene, k).aspect);
    assert!(aspects.iter().zip([1.0, 1.5, 0.5]).all(|(a, b)| (a - b).abs() < 1e-12), "{aspects:?}");
    assert!((numbers(&scene, 0).fov_y - 2.0 * (1.0_f64 / 3.0).atan()).abs() < 1e-12);
    assert!((numbers(&scene, 1).fov_y - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
}

/// Views are in degrees whatever other angles are in, classes are those of bodies, and names are kept for who has them.
#[test]
fn views_are_in_degrees_and_classes_are_inherited() {
    let text = "<mujoco><compiler angle='radian'/><default><camera fovy='50'/><default class='low'>\
        <camera fovy='20' euler='1.5707963267948966 0 0'/></default></default><worldbody>\
        <camera/><camera name='camera1'/><body name='b' childclass='low'><geom size='1'/><camera name='own'/></body>\
        </worldbody></mujoco>";
    let scene = parse(text).unwrap();
    let names: Vec<&str> = scene.cameras.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["camera1_camera", "camera1", "own"]);
    let views = [0, 2].map(|k| numbers(&scene, k).fov_y.to_degrees());
    assert!((views[0] - 50.0).abs() < 1e-12 && (views[1] - 20.0).abs() < 1e-12, "{views:?}");
    close(numbers(&scene, 2).target, [0.0, 1.0, 0.0]);
}

#[test]
fn cameras_are_written_with_the_scene() {
    let scene =
        read("", &format!("<camera name='front' pos='0 -2 0.5' euler='80 5 3'/>{BODY}</body>"))
            .unwrap();
    let again = Scene::parse(&scene.to_toml("."), "again.toml").unwrap();
    let read = Description::of(&again, &again.parameters, "again");
    assert_eq!(again.model.cameras[0].size, scene.cameras[0].size);
    let (a, b) = (numbers(&scene, 0), numbers(&read, 0));
    close(a.eye, b.eye);
    close(a.target, b.target);
    close(a.up, b.up);
}

#[test]
fn cameras_that_cannot_be_are_refused() {
    for (camera, says) in [
        ("fovy='190'", "fovy: must be between 0 and 180 degrees"),
        ("resolution='10.5 10'", "resolution: must be two whole numbers from 1 to 8192"),
        ("mode='follow'", "mode: must be fixed, track"),
        ("mode='targetbody'", "target: is missing"),
        ("mode='targetbody' target='sun'", "there is no body \"sun\""),
    ] {
        let error = read("", &format!("<camera {camera}/>{BODY}</body>")).unwrap_err();
        assert!(error.contains(says) && error.starts_with("model.xml:"), "{error}");
    }
}
