//! Meshes of tetrahedra: every format of one mesh, errors that name the place, files that are broken, shapes.

use std::fs;

use stiction::model::{CellSplit, TetrahedralMesh};

use super::numbers::{json, nodes, tetrahedra};
use crate::cases::count;
use crate::random::Random;
use crate::shared::shared;

const FORMATS: [&str; 7] = [
    "beam_4x1x1.msh",
    "beam_4x1x1_v22.msh",
    "beam_4x1x1_v22b.msh",
    "beam_4x1x1_v41b.msh",
    "beam_4x1x1.vtk",
    "beam_4x1x1.vtu",
    "beam_4x1x1.mesh",
];

#[test]
fn all_formats_hold_the_same_mesh() {
    let Some(steps) = json("steps.json") else { return };
    for name in FORMATS {
        let Some(path) = shared(&format!("reference/add/meshes/{name}")) else { return };
        let mesh = TetrahedralMesh::load(&path).unwrap();
        assert_eq!(mesh.tetrahedra, tetrahedra(&steps["tetrahedra"]), "{name}");
        assert_eq!(mesh.nodes.len(), 20, "{name}");
        for (node, expected) in mesh.nodes.iter().zip(nodes(&steps["rest"])) {
            (0..3).for_each(|k| assert!((0.1 * node[k] - expected[k]).abs() < 1e-16, "{name}"));
        }
        assert!(mesh.warnings.is_empty(), "{name}: {:?}", mesh.warnings);
        assert!((mesh.volume() - 4.0).abs() < 1e-14, "{name}");
    }
}

#[test]
fn volumes_of_meshes_are_those_of_another_program() {
    for (name, volume, points) in
        [("sphere_r25mm_coarse", 6.323507e-5, 248), ("cylinder_r40_h30mm", 1.498294e-4, 387)]
    {
        let Some(path) = shared(&format!("reference/add/meshes/{name}.msh")) else { return };
        let mesh = TetrahedralMesh::load(&path).unwrap();
        assert!((mesh.volume() / volume - 1.0).abs() < 1e-6, "{name}: {}", mesh.volume());
        assert_eq!(mesh.nodes.len(), points, "{name}");
    }
}

/// A text of MEDIT with these lines of vertices and of tetrahedra.
fn medit(vertices: &[&str], tetrahedra: &[&str]) -> String {
    let list =
        |name: &str, lines: &[&str]| format!("{name}\n{}\n{}\n", lines.len(), lines.join("\n"));
    let head = "MeshVersionFormatted 2\nDimension 3\n";
    format!("{head}{}{}End\n", list("Vertices", vertices), list("Tetrahedra", tetrahedra))
}

const CORNERS: [&str; 5] = ["0 0 0 1", "1 0 0 1", "0 1 0 1", "0 0 1 1", "1 1 1 1"];

#[track_caller]
fn fails(text: &str, ending: &str, expected: &str) {
    let error = TetrahedralMesh::parse(text.as_bytes(), ending, "a").unwrap_err().to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn errors_name_line_and_number() {
    let sound = medit(&CORNERS[..4], &["1 2 3 4 0"]);
    assert!(TetrahedralMesh::parse(sound.as_bytes(), "mesh", "a").is_ok());
    for (vertices, tetrahedra, expected) in [
        (&CORNERS[..4], &["1 2 3 3 0"][..], "a:11: tetrahedron 1 has node 3 twice"),
        (&CORNERS[..4], &["1 2 3 7 0"], "a:11: tetrahedron 1: there is no node 7"),
        (&CORNERS[..5], &["1 2 3 4 0"], "a: node 5 is of no tetrahedron"),
        (&CORNERS[..4], &["1 2 3 4 0", "2 3 4 1 0"], "a:12: tetrahedron 2 has the nodes of"),
        (
            &["0 0 0 1", "1 0 0 1", "0 1 0 1", "1 1 0 1"],
            &["1 2 3 4 0"],
            "a:11: tetrahedron 1 is flat",
        ),
        (&["0 0 0 1", "1 0 nan 1"], &[], "a:6: must be finite"),
        (&["0 0 0 1", "1 0 inf 1"], &[], "a:6: must be finite"),
        (&["0 0 0 1", "1 0 x 1"], &[], "a:6: must be a number, found \"x\""),
        (&[], &[], "a: is empty"),
        (&CORNERS[..4], &[], "a: has 4 nodes, but no tetrahedra"),
        // On the same side of the face of nodes 1, 2, 3.
        (&CORNERS, &["1 2 3 4 0", "1 2 3 5 0"], "a:13: tetrahedron 2 is on the same side of face"),
        (
            &["0 0 0 1", "1 0 0 1", "0 1 0 1", "0 0 1 1", "0 0 -1 1", "1 1 -1 1"],
            &["1 2 3 4 0", "1 3 2 5 0", "1 3 2 6 0"],
            "a:15: tetrahedron 3 is the third on face",
        ),
    ] {
        fails(&medit(vertices, tetrahedra), "mesh", expected);
    }
    fails("MeshVersionFormatted 2\nDimension 3\nVertices\n9999999999\n", "mesh", "a:4: announces");
    fails("MeshVersionFormatted 2\nDimension 2\n", "mesh", "a:2: must be of dimension 3");
    fails("", "mesh", "a:1: must begin with MeshVersionFormatted");
    fails("", "msh", "a: is empty");
    fails("$MeshFormat\n3.0 0 8\n", "msh", "a:2: MSH 3.0 is not read");
    fails("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1", "msh", "a:5: ends early");
    fails("", "stl", "a: \"stl\" meshes of tetrahedra are not read; convert it to one of .msh");
}

#[test]
fn solids_of_second_order_and_surfaces_are_refused() {
    let head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n$Elements\n1\n";
    fails(
        &format!("{head}1 2 2 0 0 1 2 3\n$EndElements\n"),
        "msh",
        "a: has 1 faces, lines or points",
    );
    fails(
        &format!("{head}1 11 2 0 0 1 2 3"),
        "msh",
        "a:12: only linear tetrahedra are read, found a tetrahedron of second order",
    );
    fails(
        &format!("{head}1 5 2 0 0 1 2 3"),
        "msh",
        "a:12: only linear tetrahedra are read, found a hexahedron",
    );
}

#[test]
fn what_is_turned_inside_out_is_mended_with_a_warning() {
    let text = medit(&CORNERS[..4], &["1 2 4 3 0"]);
    let mesh = TetrahedralMesh::parse(text.as_bytes(), "mesh", "a").unwrap();
    assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-16);
    let [warning] = mesh.warnings.as_slice() else { panic!("{:?}", mesh.warnings) };
    assert!(
        warning.contains("1 of 1 tetrahedra were turned inside out, the first is 1"),
        "{warning}"
    );
}

#[test]
fn newer_and_binary_files_of_vtk_are_read() {
    let points = [0.0_f64, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let head = |kind: &str, version: &str| {
        format!(
            "# vtk DataFile Version {version}\nx\n{kind}\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
        )
    };
    let expected = TetrahedralMesh::new(points.as_chunks::<3>().0, &[[0, 1, 2, 3]], "b").unwrap();
    let mut old = head("BINARY", "4.2").into_bytes();
    points.iter().for_each(|x| old.extend(x.to_be_bytes()));
    old.extend(b"\nCELLS 1 5\n");
    [4_i32, 0, 1, 2, 3].iter().for_each(|k| old.extend(k.to_be_bytes()));
    old.extend(b"\nCELL_TYPES 1\n");
    old.extend(10_i32.to_be_bytes());
    assert_eq!(TetrahedralMesh::parse(&old, "vtk", "a").unwrap(), expected);
    let mut new = head("BINARY", "5.1").into_bytes();
    points.iter().for_each(|x| new.extend(x.to_be_bytes()));
    new.extend(b"\nCELLS 2 4\nOFFSETS vtktypeint64\n");
    [0_i64, 4].iter().for_each(|k| new.extend(k.to_be_bytes()));
    new.extend(b"\nCONNECTIVITY vtktypeint64\n");
    [0_i64, 1, 2, 3].iter().for_each(|k| new.extend(k.to_be_bytes()));
    new.extend(b"\nCELL_TYPES 1\n");
    new.extend(10_i32.to_be_bytes());
    assert_eq!(TetrahedralMesh::parse(&new, "vtk", "a").unwrap(), expected);
    let text: Vec<String> = points.iter().map(|x| x.to_string()).collect();
    let text = format!(
        "{}{}\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
        head("ASCII", "3.0"),
        text.join(" ")
    );
    assert_eq!(TetrahedralMesh::parse(text.as_bytes(), "vtk", "a").unwrap(), expected);
}

#[test]
fn plain_arrays_of_vtu_are_read() {
    let array = |kind: &str, name: &str, text: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">{text}</DataArray>")
    };
    let file = |points: &str| {
        format!(
            "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\"><UnstructuredGrid>\
            <Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>{points}</Points><Cells>{}{}{}</Cells></Piece>\
            </UnstructuredGrid></VTKFile>",
            array("Int64", "connectivity", "0 1 2 3"),
            array("Int64", "offsets", "4"),
            array("UInt8", "types", "10"),
        )
    };
    let points = array("Float64", "Points", "0 0 0 1 0 0 0 1 0 0 0 1");
    let mesh = TetrahedralMesh::parse(file(&points).as_bytes(), "vtu", "a").unwrap();
    assert_eq!(mesh.tetrahedra, [[0, 1, 2, 3]]);
    // 96 bytes of twelve f64, with their length before them in one run of base64.
    let mut bytes = 96_u32.to_le_bytes().to_vec();
    mesh.nodes.as_flattened().iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    let binary = |bytes: &[u8]| {
        let text = base64(bytes);
        file(&format!(
            "<DataArray type=\"Float64\" Name=\"Points\" format=\"binary\">{text}</DataArray>"
        ))
    };
    assert_eq!(TetrahedralMesh::parse(binary(&bytes).as_bytes(), "vtu", "a").unwrap(), mesh);
    bytes[2] = 255;
    fails(&binary(&bytes), "vtu", "a:1: announces 16711776 bytes, found 96");
}

/// Base64, as the format is described.
fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, &b| bits << 8 | u32::from(b))
            << (8 * (3 - three.len()));
        for k in 0..4 {
            let letter = letters[(bits >> (18 - 6 * k) & 63) as usize] as char;
            text.push(if k <= three.len() { letter } else { '=' });
        }
    }
    text
}

#[test]
fn broken_files_are_errors() {
    let mut random = Random(3);
    for name in FORMATS {
        let Some(path) = shared(&format!("reference/add/meshes/{name}")) else { return };
        let sound = fs::read(&path).unwrap();
        let ending = path.extension().unwrap().to_str().unwrap();
        for _ in 0..count(15_000, 0.1) {
            let mut bytes = sound.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                match random.below(6) {
                    0 => bytes.truncate(at),
                    1 => bytes[at] = random.below(256) as u8,
                    2 => bytes[at] ^= 1 << random.below(8),
                    3 => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len()))),
                    4 => {
                        let copy = bytes[at..(at + random.below(40)).min(bytes.len())].to_vec();
                        bytes.splice(at..at, copy);
                    }
                    _ => {
                        bytes.splice(at..at, random.bits().to_string().into_bytes());
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            if let Ok(mesh) = TetrahedralMesh::parse(&bytes, ending, name) {
                assert!(mesh.volume() > 0.0 && mesh.volume().is_finite());
            }
        }
    }
}

/// That a surface is closed: each edge once in each direction.
fn is_closed(mesh: &TetrahedralMesh) -> bool {
    let surface = mesh.surface();
    let mut edges: Vec<[usize; 2]> =
        surface.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    edges.sort_unstable();
    let unique = edges.windows(2).all(|pair| pair[0] != pair[1]);
    unique && edges.iter().all(|&[a, b]| edges.binary_search(&[b, a]).is_ok())
}

/// The volume inside a surface, by the theorem of Gauss.
fn enclosed(mesh: &TetrahedralMesh) -> f64 {
    let of = |face: &[usize; 3]| {
        let [p, q, r] = face.map(|node| mesh.nodes[node]);
        let term = |i: usize, j: usize, k: usize| p[i] * (q[j] * r[k] - q[k] * r[j]);
        (term(0, 1, 2) + term(1, 2, 0) + term(2, 0, 1)) / 6.0
    };
    mesh.surface().iter().map(of).sum()
}

/// It is a solid by the checks of files.
fn check(mesh: &TetrahedralMesh) {
    let again = TetrahedralMesh::new(&mesh.nodes, &mesh.tetrahedra, "shape").unwrap();
    assert_eq!(&again, mesh);
    assert!(is_closed(mesh));
    assert!((enclosed(mesh) / mesh.volume() - 1.0).abs() < 1e-12);
}

#[test]
fn boxes_are_filled() {
    for (split, each) in [(CellSplit::Five, 5), (CellSplit::Six, 6)] {
        let mesh = TetrahedralMesh::box_grid([0.3, 0.2, 0.1], [3, 2, 5], split).unwrap();
        check(&mesh);
        assert_eq!((mesh.nodes.len(), mesh.tetrahedra.len()), (4 * 3 * 6, 30 * each));
        assert!((mesh.volume() / 0.006 - 1.0).abs() < 1e-14);
        let by_length = TetrahedralMesh::box_of([0.3, 0.2, 0.1], 0.1, split).unwrap();
        assert_eq!(by_length.tetrahedra.len(), 6 * each);
    }
    for (size, cells) in
        [([0.0, 1.0, 1.0], [1; 3]), ([1.0; 3], [1, 0, 1]), ([1.0; 3], [1 << 30; 3])]
    {
        assert!(TetrahedralMesh::box_grid(size, cells, CellSplit::Six).is_err());
    }
    for resolution in [0.0, -1.0, f64::NAN, 1e-9] {
        assert!(TetrahedralMesh::box_of([1.0; 3], resolution, CellSplit::Six).is_err());
        assert!(TetrahedralMesh::sphere(1.0, resolution).is_err());
    }
}

#[test]
fn spheres_are_round_and_their_elements_not_flat() {
    let mut before = f64::INFINITY;
    for resolution in [0.02, 0.01, 0.005] {
        let mesh = TetrahedralMesh::sphere(0.02, resolution).unwrap();
        check(&mesh);
        for node in mesh.surface_nodes() {
            let radius = mesh.nodes[node].iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!((radius / 0.02 - 1.0).abs() < 1e-14);
        }
        // Halving edges takes a quarter of what misses.
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.02_f64.powi(3);
        let missing = 1.0 - mesh.volume() / exact;
        assert!(missing > 0.0 && missing < before, "{missing}");
        before = 0.4 * missing;
        for four in &mesh.tetrahedra {
            let one =
                TetrahedralMesh::new(&four.map(|k| mesh.nodes[k]), &[[0, 1, 2, 3]], "one").unwrap();
            let longest =
                four.iter().flat_map(|&a| four.iter().map(move |&b| (a, b))).map(|(a, b)| {
                    (0..3)
                        .map(|k| (mesh.nodes[a][k] - mesh.nodes[b][k]).powi(2))
                        .sum::<f64>()
                        .sqrt()
                });
            let longest = longest.fold(0.0, f64::max);
            // Of a regular one 0.118.
            assert!(one.volume() > 0.01 * longest.powi(3), "{}", one.volume() / longest.powi(3));
        }
    }
}
