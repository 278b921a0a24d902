//! A format of meshes that was added: PLY.

use stiction::formats::Mesh;
use stiction::model::Shape;

use crate::folder::Folder;
use crate::scenes::scene;

/// A ramp, with what exporters add: comments, normals, colours, edges, a face of four corners, ends of lines of two bytes.
const RAMP: &str = "ply\r
format ascii 1.0\r
comment made by hand, of a wedge
obj_info x
element vertex 6
property float confidence
property float x
property float y
property double z
property uchar red
element face 5
property list uchar int vertex_indices
property uchar flags
element edge 1
property int vertex1
property int vertex2
end_header
nan -1 -1 -1 7
1 -1 1 -1 7\r
1 1 -1 -1 7
1 1 1 -1.0e0 7
1 1 -1 1 7
1 1 1 1 7
4 0 1 3 2 0
4 2 3 5 4 0
4 0 4 5 1 0
3 0 2 4 1
3 1 5 3 1
0 1
";

fn refused(text: &str) -> String {
    match Mesh::parse(text.as_bytes(), "ply", "m") {
        Err(error) => error.to_string(),
        Ok(mesh) => panic!("accepted: {mesh:?}\n{text}"),
    }
}

#[test]
fn points_and_faces_are_those_of_the_file() {
    let mesh = Mesh::parse(RAMP.as_bytes(), "ply", "ramp.ply").unwrap();
    assert_eq!((mesh.points.len(), mesh.triangles.len()), (6, 8));
    assert_eq!((mesh.points[0], mesh.points[4]), ([-1.0; 3], [1.0, -1.0, 1.0]));
    assert_eq!(mesh.triangles[..3], [[0, 1, 3], [0, 3, 2], [2, 3, 5]]);
    // The same as OBJ.
    let points = mesh.points.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces =
        mesh.triangles.iter().map(|t| format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    let obj: String = points.chain(faces).collect();
    assert_eq!(mesh, Mesh::parse(obj.as_bytes(), "obj", "ramp.obj").unwrap());
}

#[test]
fn scenes_name_them() {
    let folder = Folder::new("ply");
    folder.write("ramp.PLY", RAMP);
    let text = "[simulation]\ntime_step = 0.01\n[[body]]\nname = 'ramp'\nmass = 1\n\
                shape = { mesh = 'ramp.PLY', scale = [0.3, 0.2, 0.1] }";
    folder.write("scene.toml", text);
    let loaded = stiction::Scene::load(folder.path("scene.toml")).unwrap();
    // A wedge of these sizes is the same body.
    let wedge = scene(&text.replace("mesh = 'ramp.PLY', scale =", "wedge ="));
    let [one, other] = [&loaded, &wedge].map(|scene| {
        let shape: &Shape = &scene.model.colliders[0].shape;
        shape.uniform_solid([0.3, 0.2, 0.1])
    });
    assert!((one.inertia - other.inertia).amax() < 1e-15 && one.volume > 0.0);
    let away =
        loaded.parameters.inertia(&loaded.model, 0) - wedge.parameters.inertia(&wedge.model, 0);
    assert!(away.amax() < 1e-15, "{away}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (from, to, says) in [
        ("ply\r", "plie", "m:1: must begin with a line \"ply\""),
        ("ascii", "binary", "m:2: the format must be ascii, binary_little_endian or binary_big"),
        ("property float y", "property quad y", "\"quad\" is no kind of number"),
        ("format ascii", "comment", "must say its format before"),
        ("element vertex 6", "element vertex -6", "m:5: \"-6\" is no count"),
        ("element vertex 6", "property float x", "m:5: \"property\" is not understood here"),
        ("element vertex 6", "element vertex 60000000", "has more than 5000000 points"),
        ("property float y", "property float why", "m:17: must have vertices with the properties"),
        ("end_header\n", "", "\"nan\" is not understood here"),
        ("1 -1 1 -1 7\r", "1 -1 inf -1 7", "m:19: a vertex must be three finite numbers"),
        ("1 -1 1 -1 7\r", "1 -1 1", "m:19: \"vertex\" ends early"),
        ("4 0 4 5 1 0", "4 0 4 6 1 0", "m:26: there is no point \"6\" above"),
        ("4 0 4 5 1 0", "2 0 4 0", "m:26: a face must have three corners or more"),
        (
            "4 0 4 5 1 0",
            "99999999999 0 4 5 1 0",
            "m:26: \"99999999999\" must be a count of at most",
        ),
        ("3 0 2 4 1\n3 1 5 3 1\n0 1\n", "", "ends early: 5 of \"face\" were announced, found 3"),
    ] {
        assert!(RAMP.contains(from), "{from}");
        let message = refused(&RAMP.replacen(from, to, 1));
        assert!(message.contains(says), "{message}, not {says}");
    }
    assert!(refused("").contains("m:1: must begin"));
    assert!(refused("ply\nformat ascii 1.0\n").contains("ends before end_header"));
    let message = Mesh::parse(b"", "off", "a.off").unwrap_err().to_string();
    assert_eq!(
        message,
        "a.off: \"off\" meshes are not read; convert it to one of .obj, .stl, .ply, .msh, .dae, .glb"
    );
}
