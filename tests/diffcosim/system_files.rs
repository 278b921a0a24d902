//! Files of systems of points: what is wrong is said with its place.

use stiction::maximal::PointScene;

use super::archive::task_file;

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let text = std::fs::read_to_string(task_file("CP3")).unwrap();
    let top = std::fs::read_to_string(task_file("Gyro")).unwrap();
    for (text, from, to, expected) in [
        (&text, "dimension = 2", "dimension = 4", "dimension"),
        (&text, "dimension = 2", "", "dimension"),
        (&text, "step = 0.01", "step = -1.0", "must be positive, found -1 (s)"),
        (&text, "step = 0.01", "stepp = 0.01", "stepp"),
        (&text, "mass = 0.1\n", "mass = 0.0\n", "body[0].mass: must be positive, found 0 (kg)"),
        (&text, "point = 0", "point = 3", "tether[0].point: must be a whole number from 0 to 2"),
        (&text, "points = [0, 1]", "points = [0, 1.5]", "rod[0].points"),
        (&text, "points = [0, 1]", "points = [1, 1]", "a rod holds two points"),
        (&text, "friction = 0.5", "friction = [0.5, 0.1]", "one of each contact (3), found 2"),
        (&text, "friction = 0.5", "friction = -0.5", "friction[0]: must be not negative"),
        (&text, "restitution = 0.0", "restitution = 1.5", "restitution[0]: must be from 0 to 1"),
        (&text, "restitution = 0.0", "", "restitution"),
        (
            &text,
            "[0.0, 1.0, 1.0]",
            "[0.0, 2.0, 1.0]",
            "a wall's normal must have length 1, found 2",
        ),
        (&text, "[0.0, 1.0, 1.0]", "[0.0, 1.0]", "walls"),
        (&text, "\"chain\"", "\"chains\"", "start"),
        (&text, "gravity = [0.0, -9.81]", "gravity = [0.0]", "gravity: must be 2 numbers, found 1"),
        (&top, "moments = [0.24, 0.24, 0.04]", "moments = [0.24]", "body[0].moments"),
        (&top, "moments = [0.24, 0.24, 0.04]", "", "weights"),
        (&top, "body = 0", "body = 1", "contact.rim.body"),
        (&top, "points = 20", "points = 0", "points"),
        (&top, "radius = 0.3", "radius = -0.3", "contact.rim.radius: must be positive"),
        (&top, "[1.5, 0.0, 0.0, -0.5]", "[0.0]", "not all zero"),
        (&top, "walls = [[0.0, 1.0, 0.0, 0.33]]", "", "contact.rim: meets walls"),
        (&text, "[contact]", "[contact]\nbend = 0.1", "contact.bend: is of a [rope]"),
        (&text, "step = 0.01", "step = 0.01\nspeed = 3.0", "speed: is of start"),
        (&text, "length = 0.4", "length = 0.0", "rod[0].length: must be positive"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = PointScene::parse(&text.replacen(from, to, 1), "a.toml").unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(expected), "{from} -> {to}: {shown}");
        assert!(shown.starts_with("a.toml") && !shown.contains('\n'), "{shown}");
    }
}

#[test]
fn the_tasks_are_those_of_the_paper() {
    for (name, points, equations, contacts, surfaces) in [
        ("BP5-e", 5, 0, 30, 1),
        ("BP5", 5, 0, 30, 30),
        ("BD5", 15, 15, 30, 30),
        ("CP3-e", 3, 3, 3, 1),
        ("CP3", 3, 3, 3, 1),
        ("Gyro-e", 4, 9, 1, 1),
        ("Gyro", 4, 9, 1, 1),
        ("Rope", 10, 0, 19, 1),
    ] {
        let system = PointScene::load(task_file(name)).unwrap().system;
        let found =
            (system.points(), system.equations(), system.contacts().len(), system.surfaces());
        assert_eq!(found, (points, equations, contacts, surfaces), "{name}");
    }
}
