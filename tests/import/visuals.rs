//! What bodies look like: files of meshes with colours, and what URDF, MJCF and scenes say of looks.

use nalgebra::Vector3;
use stiction::assemble::Description;
use stiction::formats::{LoadOptions, Looks, Mesh};
use stiction::model::{Scene, Shape, Triangulation, Visual, VisualForm};

use super::{assert_near, body, parse, read, refused, warnings};
use crate::folder::Folder;
use crate::random::Random;

/// A tetrahedron in two colours, which its scene shows twice: moved by nodes in nodes and by one that stands for another, once
/// mirrored; in centimetres.
const COLLADA: &str = r##"<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_effects>
<effect id="red"><profile_COMMON><technique sid="c"><phong><emission><color>1 1 1 1</color></emission>
<diffuse><color>0.8 0.1 0.2 0</color></diffuse></phong></technique></profile_COMMON></effect>
<effect id="picture"><profile_COMMON><technique sid="c"><lambert><diffuse><texture texture="t"/></diffuse></lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m1"><instance_effect url="#red"/></material>
<material id="m2"><instance_effect url="#picture"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="16">0 0 0 9 100 0 0 9 0 100 0 9 0 0 100 9</float_array>
<technique_common><accessor source="#pa" count="4" stride="4"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles material="one" count="2"><input semantic="NORMAL" source="#n" offset="0"/><input semantic="VERTEX" source="#v" offset="1"/>
<p>7 0 7 2 7 1  7 0 7 1 7 3</p></triangles>
<polylist material="two" count="2"><input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3</vcount><p>0 3 2 1 2 3</p></polylist>
<lines material="two"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>
</mesh></geometry></library_geometries>
<library_nodes><node id="n2"><scale>1 1 -2</scale>
<instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="s">
<node><translate>0 0 300</translate><node><rotate>0 0 1 90</rotate><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="one" target="#m1"/><instance_material symbol="two" target="#m2"/></technique_common></bind_material>
</instance_geometry></node></node>
<node><matrix>1 0 0 500  0 1 0 0  0 0 1 0  0 0 0 1</matrix><instance_node url="#n2"/></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"##;

/// In glTF: a corner of a cube, moved and scaled, half red in the light.
fn glb() -> Vec<u8> {
    let json = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
"nodes":[{"translation":[1,2,3],"children":[1]},{"scale":[2,2,2],"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1,"material":0}]}],
"materials":[{"pbrMetallicRoughness":{"baseColorFactor":[0.5,0,1,0.25]}}],
"buffers":[{"byteLength":72}],
"bufferViews":[{"buffer":0,"byteOffset":0,"byteLength":48},{"buffer":0,"byteOffset":48,"byteLength":24}],
"accessors":[{"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,1]},
{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}]}"#;
    let points: [f32; 12] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1.];
    let corners: [u16; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];
    let mut binary: Vec<u8> = points.iter().flat_map(|x| x.to_le_bytes()).collect();
    binary.extend(corners.iter().flat_map(|x| x.to_le_bytes()));
    packed_glb(&json.replace('\n', ""), &binary)
}

/// A file of both parts.
fn packed_glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut file = b"glTF".to_vec();
    let word = |n: usize| (n as u32).to_le_bytes();
    file.extend([word(2), word(12 + 8 + json.len() + 8 + binary.len())].concat());
    file.extend([word(json.len()), *b"JSON"].concat());
    file.extend(&json);
    file.extend([word(binary.len()), *b"BIN\0"].concat());
    file.extend(binary);
    file
}

/// A tetrahedron as PLY of bytes.
fn ply(big: bool) -> Vec<u8> {
    let order = if big { "big" } else { "little" };
    let mut file = format!(
        "ply\nformat binary_{order}_endian 1.0\ncomment \u{e9}\nelement vertex 4\nproperty float64 x\nproperty uchar red\n\
         property float y\nproperty short z\nelement face 4\nproperty list uchar int vertex_indices\nproperty double quality\nend_header\n"
    )
    .into_bytes();
    fn ordered<const N: usize>(mut bytes: [u8; N], big: bool) -> [u8; N] {
        if big {
            bytes.reverse();
        }
        bytes
    }
    for [x, y, z] in [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]] {
        file.extend(ordered(f64::from(x).to_le_bytes(), big));
        file.push(200);
        file.extend(ordered((y as f32).to_le_bytes(), big));
        file.extend(ordered((z as i16).to_le_bytes(), big));
    }
    for face in [[0_i32, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        file.push(3);
        face.iter().for_each(|k| file.extend(ordered(k.to_le_bytes(), big)));
        file.extend([0; 8]);
    }
    file
}

fn volume(surface: &Triangulation) -> f64 {
    let of = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|k| surface.vertices[k]);
        a.dot(&b.cross(&c)) / 6.0
    };
    surface.triangles.iter().map(of).sum()
}

fn whole(mesh: &Mesh) -> Triangulation {
    let vertices = mesh.points.iter().map(|&point| point.into()).collect();
    Triangulation { vertices, triangles: mesh.triangles.clone() }
}

/// Every instance at its place, in metres; faces keep their outside when mirrored, and their colours.
#[test]
fn collada_shows_its_scene() {
    let mesh = Mesh::parse(COLLADA.as_bytes(), "dae", "a.dae").unwrap();
    let expected = [
        // Turned by 90 degrees, then up by 3 m.
        [0.0, 0.0, 3.0, 0.0, 1.0, 3.0, -1.0, 0.0, 3.0, 0.0, 0.0, 4.0],
        // Mirrored and stretched, then along by 5 m.
        [5.0, 0.0, 0.0, 6.0, 0.0, 0.0, 5.0, 1.0, 0.0, 5.0, 0.0, -2.0],
    ];
    assert_near(mesh.points.as_flattened(), expected.as_flattened(), 1e-14);
    assert!((volume(&whole(&mesh)) - (1.0 + 2.0) / 6.0).abs() < 1e-12);
    let parts = mesh.parts([1.0; 3]);
    let counts: Vec<_> = parts.iter().map(|(s, color)| (s.triangles.len(), *color)).collect();
    assert_eq!(counts, [(6, None), (2, Some([0.8, 0.1, 0.2, 1.0]))]);
    // Comments stand anywhere, and a colour that is none is none.
    let text = COLLADA
        .replace("9 100 0 0 9", "9 100 <!-- a point --> 0 0 9")
        .replace("0.8 0.1 0.2 0", "nan 0.1 0.2 0");
    let mesh = Mesh::parse(text.as_bytes(), "dae", "a.dae").unwrap();
    assert_near(mesh.points.as_flattened(), expected.as_flattened(), 1e-14);
    assert_eq!(mesh.parts([1.0; 3]).len(), 1);
    // A library that nobody shows is shown as it is.
    let library = COLLADA.replace("<scene><instance_visual_scene url=\"#s\"/></scene>", "");
    let mesh = Mesh::parse(library.as_bytes(), "dae", "a.dae").unwrap();
    assert!((volume(&whole(&mesh)) - 1.0 / 6.0).abs() < 1e-12);
}

#[test]
fn collada_says_what_is_wrong() {
    let refused = |from: &str, to: &str| {
        assert!(COLLADA.contains(from), "{from}");
        let text = COLLADA.replace(from, to);
        Mesh::parse(text.as_bytes(), "dae", "a.dae").unwrap_err().to_string()
    };
    assert!(refused("0 3 2 1 2 3", "0 3 9 1 2 3").contains("p: there is no point \"9\""));
    assert!(refused("<vcount>3 3</vcount>", "<vcount>3 4</vcount>").contains("fewer corners"));
    assert!(refused("0 100 9</float_array>", "0 nan 9</float_array>").contains("not finite"));
    assert!(refused("0 100 9</float_array>", "0 x 9</float_array>").contains("must be numbers"));
    assert!(refused("POSITION", "OTHER").contains("whose positions are not in the file"));
    assert!(refused("</COLLADA>", "").contains("is not XML"));
    // A node that stands for one above it would have no end.
    let circle =
        refused("<instance_geometry url=\"#g\"/></node>", "<instance_node url=\"#n2\"/></node>");
    assert!(circle.contains("levels deep"), "{circle}");
    let twice = "<instance_node url=\"#n2\"/><instance_node url=\"#n2\"/></node>";
    let many = refused("<instance_geometry url=\"#g\"/></node>", twice);
    assert!(many.contains("levels deep") || many.contains("nodes"), "{many}");
}

#[test]
fn gltf_shows_its_scene() {
    let mesh = Mesh::parse(&glb(), "glb", "a.glb").unwrap();
    let expected = [1.0, 2.0, 3.0, 3.0, 2.0, 3.0, 1.0, 4.0, 3.0, 1.0, 2.0, 5.0];
    assert_near(mesh.points.as_flattened(), &expected, 1e-14);
    assert!((volume(&whole(&mesh)) - 8.0 / 6.0).abs() < 1e-12);
    let [(_, Some(color))] = &mesh.parts([1.0; 3])[..] else { panic!("{:?}", mesh.colors) };
    // Half the light is 188 of 255 on a screen.
    assert_near(color, &[188.0 / 255.0, 0.0, 1.0, 0.25], 3e-3);
    let refused = |file: &[u8]| Mesh::parse(file, "glb", "a.glb").unwrap_err().to_string();
    assert!(refused(b"glTF").contains("is not glTF 2.0"));
    let swapped = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let file = glb();
        let at = file.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        [&file[..at], to.as_bytes(), &file[at + from.len()..]].concat()
    };
    let message = refused(&swapped("\"count\":12", "\"count\":99"));
    assert!(message.contains("more data than the file has"), "{message}");
    // Many nodes of one mesh are as many points.
    let nodes = format!("\"nodes\":[{}0]", "0,".repeat(99_000));
    let file = String::from_utf8_lossy(&glb()).into_owned();
    let json = file[file.find('{').unwrap()..=file.rfind("}]}").unwrap() + 2].to_string();
    let json = json.replace("\"nodes\":[0]", &nodes).replace("\"count\":4,", "\"count\":2000,");
    let json = json
        .replace("\"byteLength\":48", "\"byteLength\":24000")
        .replace("\"byteOffset\":48", "\"byteOffset\":24000");
    let message = refused(&packed_glb(&json, &vec![0; 24_024]));
    assert!(message.contains("more than 5000000 points"), "{message}");
    let mut outside = glb();
    let last = outside.len() - 2;
    outside[last] = 4;
    assert!(refused(&outside).contains("there is no point 4"));
}

#[test]
fn ply_of_bytes_is_that_of_text() {
    let text = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n\
                property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 -1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    let text = Mesh::parse(text.as_bytes(), "ply", "a.ply").unwrap();
    for big in [false, true] {
        assert_eq!(Mesh::parse(&ply(big), "ply", "a.ply").unwrap(), text);
    }
    // What has no properties has no bytes, however many there are of it; of all together there are few enough.
    let head = |elements: &str| {
        let file = String::from_utf8_lossy(&ply(false)).replace("element face 4", "element face 0");
        let (head, rest) = file.split_once("end_header").unwrap();
        Mesh::parse(format!("{head}{elements}end_header{rest}").as_bytes(), "ply", "a.ply")
    };
    let empty = "element a 4000000\n";
    assert!(head(&empty.repeat(2000)).unwrap_err().to_string().contains("more than 5000000"));
    let mut short = ply(false);
    short.truncate(short.len() - 1);
    let message = Mesh::parse(&short, "ply", "a.ply").unwrap_err().to_string();
    assert!(message.contains("4 of \"face\" were announced, found 3"), "{message}");
}

#[test]
fn obj_has_the_colours_of_its_library() {
    let folder = Folder::new("obj-colours");
    let solid = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    folder.write(
        "a.obj",
        &format!(
            "mtllib my colours.mtl\n{solid}f 1 3 2\nusemtl a b\nf 1 2 4\nusemtl skin\nf 1 4 3\nusemtl a b\nf 2 3 4\n"
        ),
    );
    folder.write(
        "my colours.mtl",
        "newmtl a b\nKd 1 0.5 0\nd 0.5\nnewmtl skin\nKd nan 1 1\nd nan\nmap_Kd skin.png\n",
    );
    let mesh = Mesh::load(folder.path("a.obj")).unwrap();
    let parts = mesh.parts([1.0; 3]);
    let counts: Vec<_> = parts.iter().map(|(s, color)| (s.triangles.len(), *color)).collect();
    assert_eq!(counts, [(2, None), (2, Some([1.0, 0.5, 0.0, 0.5]))]);
    // A library elsewhere is not looked at, one that is missing is not missed.
    for library in ["../outside.mtl", "/etc/hosts", "none.mtl"] {
        folder.write("b.obj", &format!("mtllib {library}\n{solid}usemtl x\nf 1 3 2\nf 1 2 4\n"));
        assert_eq!(Mesh::load(folder.path("b.obj")).unwrap().parts([1.0; 3]).len(), 1);
    }
}

/// Fewer triangles, near the same surface.
#[test]
fn clusters_look_like_the_surface() {
    let ball = Shape::Sphere.surface_of_sides(Vector3::repeat(0.3), 400);
    let before = ball.triangles.len();
    for most in [100, 1000, 10_000] {
        let fewer = ball.clustered(most);
        let count = fewer.triangles.len();
        assert!(count <= most && count > most / 4, "{most}: {count} of {before}");
        let corners = fewer.triangles.as_flattened().len();
        assert!(corners > 0 && fewer.triangles.iter().flatten().all(|&k| k < fewer.vertices.len()));
        // The error of a ball of n triangles is of order 1 / n.
        let near = 8.0 / count as f64;
        for v in &fewer.vertices {
            assert!((v.norm() / 0.3 - 1.0).abs() < near, "{most}: {}", v.norm());
        }
        let solid = 4.0 / 3.0 * std::f64::consts::PI * 0.3_f64.powi(3);
        assert!((volume(&fewer) / solid - 1.0).abs() < 2.0 * near, "{most}: {}", volume(&fewer));
    }
    // Flat sides and sharp edges stay where they are: every vertex of a cut box lies on it.
    let mut faces = Triangulation { vertices: Vec::new(), triangles: Vec::new() };
    let n = 40;
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let first = faces.vertices.len();
            for k in 0..(n + 1) * (n + 1) {
                let [a, b] = [k % (n + 1), k / (n + 1)].map(|x| 2.0 * x as f64 / n as f64 - 1.0);
                let mut v = Vector3::zeros();
                (v[axis], v[(axis + 1) % 3], v[(axis + 2) % 3]) = (side, side * a, b);
                faces.vertices.push(v);
            }
            for k in 0..n * n {
                let corner = first + k / n * (n + 1) + k % n;
                let [a, b, c, d] = [corner, corner + 1, corner + n + 2, corner + n + 1];
                faces.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    assert!((volume(&faces) - 8.0).abs() < 1e-9, "{}", volume(&faces));
    let fewer = faces.clustered(2000);
    assert!(fewer.triangles.len() <= 2000);
    for v in &fewer.vertices {
        assert!((v.amax() - 1.0).abs() < 2e-3, "{v}");
    }
    assert!((volume(&fewer) - 8.0).abs() < 0.05, "{}", volume(&fewer));
    assert_eq!(faces.clustered(usize::MAX), faces);
}

const ROBOT: &str = r#"<robot name="r">
<material name="steel"><color rgba="0.5 0.6 0.7 1"/></material>
<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><mesh filename="base.obj" scale="2 2 -2"/></geometry>
<material name="steel"/></visual>
<visual><geometry><cylinder radius="0.1" length="0.4"/></geometry><material name="own"><color rgba="1 0 0 0.5"/></material></visual>
<visual><geometry><sphere radius="0.1"/></geometry></visual>
<visual><geometry><sphere radius="0.1"/></geometry><material name="glass"><color rgba="1 1 1 0"/></material></visual>
<visual><geometry><torus radius="0.1"/></geometry></visual>
<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>"#;

#[test]
fn urdf_looks_like_its_visuals() {
    let description = read(ROBOT);
    let [mesh, rod, ball] = &description.bodies[0].visuals[..] else {
        panic!("{:?}", description.bodies[0].visuals)
    };
    let path = std::path::Path::new("").join("base.obj");
    assert_eq!(mesh.form, VisualForm::File { path, scale: [2.0, 2.0, -2.0] });
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert_near(&mesh.position, &[1.0, 2.0, 3.0], 1e-15);
    assert_near(&mesh.orientation, &[half, 0.0, 0.0, half], 1e-15);
    assert_eq!(mesh.color, Some([0.5, 0.6, 0.7, 1.0]));
    assert_eq!(rod.form, VisualForm::Solid(Shape::Cylinder, [0.1, 0.2, 0.0]));
    assert_eq!((rod.color, ball.color), (Some([1.0, 0.0, 0.0, 0.5]), None));
    assert!(!description.bodies[0].colliders[0].drawn);
    let said = warnings(ROBOT);
    assert!(said.iter().any(|w| w.contains("is not a shape here: it is not seen")), "{said:?}");
    // A robot of which no file of a look is there still moves.
    parse(ROBOT).unwrap().scene().unwrap();
}

/// Geoms that touch nothing are seen, those of the groups from 3 on are not; where a mesh is seen, what touches is not.
#[test]
fn mjcf_looks_like_its_geoms() {
    let text = r#"<mujoco><asset><material name="red" rgba="1 0 0 1" texture="check"/>
<texture name="check" type="2d" builtin="checker" rgb1="1 1 1" rgb2="0 0 0"/>
<mesh name="m" file="m.obj" scale="0.001 0.001 0.001"/>
<mesh name="gone" file="gone.obj" refpos="0 0 1"/><mesh name="moved" vertex="0 0 0 1 0 0 0 1 0 0 0 1" refpos="0 0 1" scale="1 1 -1"/></asset>
<default><default class="seen"><geom contype="0" conaffinity="0" group="2" mass="0"/></default></default>
<worldbody><geom type="box" size="1 1 1" rgba="0 0 1 1"/>
<body name="a" pos="0 0 9"><freejoint/>
<geom name="touch" type="sphere" size="0.1"/><geom name="hidden" type="sphere" size="0.1" pos="1 0 0" group="3"/>
<frame pos="0 0 1"><geom class="seen" type="box" size="1 2 3" pos="0 1 0" material="red"/></frame></body>
<body name="eye" pos="0 0 15"><freejoint/><geom name="head" type="sphere" size="0.1"/>
<geom class="seen" type="ellipsoid" size="0.01 0.01 0.02"/></body>
<body name="b" pos="0 0 19"><freejoint/><geom name="hull" type="sphere" size="0.1"/>
<geom class="seen" type="mesh" mesh="m" rgba="0 1 0 1"/><geom class="seen" type="mesh" mesh="moved"/>
<geom class="seen" type="ellipsoid" size="1 2 3"/><geom class="seen" type="box" size="1 1 1" rgba="1 1 1 0"/>
<geom class="seen" type="mesh" mesh="gone"/>
<geom class="seen" type="box" size="1 1 1" group="4"/></body></worldbody></mujoco>"#;
    let description = read(text);
    assert_eq!(description.colliders[0].color, Some([0.0, 0.0, 1.0, 1.0]));
    assert!(description.colliders[0].drawn);
    let a = body(&description, "a");
    let drawn: Vec<_> = a.colliders.iter().map(|c| (c.name.as_str(), c.drawn)).collect();
    assert_eq!(drawn, [("touch", true), ("hidden", false)]);
    let [seen] = &a.visuals[..] else { panic!("{:?}", a.visuals) };
    assert_eq!(seen.form, VisualForm::Solid(Shape::Box, [1.0, 2.0, 3.0]));
    assert_near(&seen.position, &[0.0, 1.0, 1.0], 1e-15);
    assert_near(&seen.color.unwrap(), &[0.5, 0.0, 0.0, 1.0], 1e-15);
    // A look that is no mesh covers nothing; one whose mesh is not there is told of, and nothing else minds.
    assert!(body(&description, "eye").colliders[0].drawn);
    let said: Vec<_> = description.warnings.iter().map(|w| w.to_string()).collect();
    assert!(said.iter().any(|w| w.contains("is not seen") && w.contains("gone.obj")), "{said:?}");
    let b = body(&description, "b");
    assert!(!b.colliders[0].drawn);
    let [file, moved, egg] = &b.visuals[..] else { panic!("{:?}", b.visuals) };
    assert_eq!(file.form, VisualForm::File { path: "m.obj".into(), scale: [0.001; 3] });
    assert_eq!(file.color, Some([0.0, 1.0, 0.0, 1.0]));
    let VisualForm::Surface(moved) = &moved.form else { panic!("{moved:?}") };
    // From z = 0 and 1 to -1 and 0, then mirrored; its faces look outwards.
    let heights: Vec<f64> = moved.vertices.iter().map(|v| v.z).collect();
    assert!(heights.iter().all(|z| [0.0, 1.0].contains(z)), "{heights:?}");
    assert!((volume(moved) - 1.0 / 6.0).abs() < 1e-12, "{}", volume(moved));
    let VisualForm::Surface(egg) = &egg.form else { panic!("{egg:?}") };
    for v in &egg.vertices {
        let norm = v.component_div(&Vector3::new(1.0, 2.0, 3.0)).norm();
        assert!((norm - 1.0).abs() < 1e-12);
    }
    // What a mesh weighs is asked of its file even so.
    let heavy = text.replace("mass=\"0\"/></default>", "/></default>");
    assert!(refused(&heavy).contains("m.obj"));
    // A look of nothing is a mistake.
    assert!(refused(&text.replace("mesh=\"m\"", "mesh=\"n\"")).contains("there is no mesh \"n\""));
}

/// What a scene says of looks is written, and read, as it was.
#[test]
fn scenes_keep_looks() {
    let folder = Folder::new("scene-looks");
    folder
        .write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    let text = r##"simulation.time_step = 0.01
[[visual]]
box = [1, 2, 3]
color = "#0080ff"
[[body]]
name = "a"
mass = 1
[[body.shape]]
sphere = 0.1
color = [0.1, 0.2, 0.3]
drawn = true
[[body.visual]]
mesh = "m.obj"
scale = [1, 1, -1]
position = [1, 0, 0]
orientation = [0, 1, 0, 0]
color = "#11223380"
[[body.visual]]
vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
triangles = [[0, 1, 2]]
"##;
    folder.write("scene.toml", text);
    let path = folder.path("scene.toml");
    let scene = Scene::load(&path).unwrap();
    let body = &scene.model.bodies[0];
    let color = Some([0.0, 128.0 / 255.0, 1.0, 1.0]);
    assert_eq!(scene.model.visuals[0].color, color);
    let shape = &scene.model.colliders[0];
    assert_eq!((shape.color, shape.drawn), (Some([0.1, 0.2, 0.3, 1.0]), true));
    let mesh = VisualForm::File { path: folder.path("m.obj"), scale: [1.0, 1.0, -1.0] };
    assert_eq!((&body.visuals[0].form, body.visuals.len()), (&mesh, 2));
    let parts = Looks::default().parts(&body.visuals[0]).unwrap();
    assert!((volume(&parts[0].0) - 1.0 / 6.0).abs() < 1e-15);

    // Of the file, and of the scene that came of it.
    for description in [
        Description::load(&path, LoadOptions::default()).unwrap(),
        Description::of(&scene, &scene.parameters, "again"),
    ] {
        let text = description.to_toml(folder.path("."));
        folder.write("again.toml", &text);
        let again = Scene::load(folder.path("again.toml")).unwrap();
        let same = |a: &[Visual], b: &[Visual]| {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| (a.position, a.color) == (b.position, b.color))
        };
        assert!(same(&again.model.bodies[0].visuals, &body.visuals), "{text}");
        assert!(same(&again.model.visuals, &scene.model.visuals), "{text}");
        assert_eq!(again.model.colliders[0].color, shape.color, "{text}");
        assert!(again.model.colliders[0].drawn && text.contains("mesh = \"m.obj\""), "{text}");
        assert!(text.contains("color = \"#11223380\""), "{text}");
    }
    // What is not there is left out, with a comment.
    let lost = text_with(&folder, "\"m.obj\"", "\"gone.obj\"");
    let lost = Scene::parse(&lost, path.to_str().unwrap()).unwrap();
    let text = Description::of(&lost, &lost.parameters, "x").to_toml(folder.path("."));
    assert!(text.contains("# A look is not kept") && !text.contains("mesh ="), "{text}");
    // From where the file may not be read, a comment stands for it, and whoever writes can tell.
    let described = Description::of(&scene, &scene.parameters, "x");
    let elsewhere = Folder::new("scene-looks-elsewhere");
    assert_eq!(described.looks_out_of_reach(elsewhere.path(".")), [folder.path("m.obj")]);
    assert_eq!(described.looks_out_of_reach(folder.path(".")), [] as [&std::path::Path; 0]);
    let text = Description::of(&scene, &scene.parameters, "x").to_toml(elsewhere.path("."));
    assert!(text.contains("# A look is not kept") && !text.contains("mesh ="), "{text}");
    Scene::parse(&text, "x.toml").unwrap();

    let wrong = |from: &str, to: &str| {
        let text = text_with(&folder, from, to);
        Scene::parse(&text, path.to_str().unwrap()).unwrap_err().to_string()
    };
    for (from, to, says) in [
        ("\"#0080ff\"", "\"#0080f\"", "color: must be \"#rrggbb\""),
        ("\"#0080ff\"", "\"#0080fé\"", "color: must be \"#rrggbb\""),
        ("\"#0080ff\"", "[1, 2, 3]", "color: must be"),
        ("\"#0080ff\"", "[1, 1]", "color: must be"),
        ("\"#0080ff\"", "\"#+f+f+f\"", "color: must be"),
        ("vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]", "vertices = []", "must be three or more"),
        ("box = [1, 2, 3]", "box = [1, 2, 0]", "must be positive"),
        ("box = [1, 2, 3]", "egg = 1", "egg"),
        ("box = [1, 2, 3]", "", "must be one of box, sphere"),
        ("[[0, 1, 2]]", "[[0, 1, 3]]", "triangles: must be numbers of vertices"),
        ("[0, 1, 0, 0]", "[0, 2, 0, 0]", "unit quaternion"),
        ("\"m.obj\"", "\"/etc/hosts\"", "lies outside"),
        ("scale = [1, 1, -1]", "scale = [1, 0, 1]", "must not be 0"),
    ] {
        let message = wrong(from, to);
        assert!(message.contains(says), "{to}: {message}");
    }
    // Of a file that is not there only those hear who draw.
    let missing = text_with(&folder, "\"m.obj\"", "\"n.obj\"");
    let scene = Scene::parse(&missing, path.to_str().unwrap()).unwrap();
    let message = Looks::default().parts(&scene.model.bodies[0].visuals[0]).unwrap_err();
    assert!(message.to_string().contains("n.obj"), "{message}");
}

fn text_with(folder: &Folder, from: &str, to: &str) -> String {
    let text = folder.read("scene.toml");
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// Files with mistakes are refused or read, whatever bytes they are of.
#[test]
fn mutated_meshes_are_refused_or_read() {
    let mut random = Random(7);
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("dae", COLLADA.as_bytes().to_vec()),
        ("glb", glb()),
        ("ply", ply(false)),
        ("ply", ply(true)),
    ];
    let (mut read, mut refused) = (0, 0);
    for round in 0..4000 {
        let (ending, file) = &files[round % files.len()];
        let mut file = file.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(file.len());
            match random.below(5) {
                0 => file.truncate(at.max(1)),
                1 => file[at] = random.below(256) as u8,
                2 => file[at] ^= 1 << random.below(8),
                3 => {
                    let digit = file[at..].iter().position(u8::is_ascii_digit);
                    digit.iter().for_each(|k| file[at + k] = b'0' + random.below(10) as u8);
                }
                _ => drop(file.drain(at..(at + random.below(9)).min(file.len()))),
            }
            if file.is_empty() {
                file.push(0);
            }
        }
        match Mesh::parse(&file, ending, "m") {
            Ok(mesh) => {
                read += 1;
                assert!(mesh.points.iter().flatten().all(|x| x.is_finite()));
                assert!(mesh.triangles.iter().flatten().all(|&k| k < mesh.points.len()));
                let parts = mesh.parts([1.0; 3]);
                let count: usize = parts.iter().map(|(part, _)| part.triangles.len()).sum();
                assert_eq!(count, mesh.triangles.len());
                parts.iter().for_each(|(part, _)| drop(part.clustered(12)));
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 200 && refused > 200, "{read} {refused}");
}
