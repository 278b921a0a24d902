//! Meshes of each format.

use stiction::formats::Mesh;

/// A tetrahedron as OBJ.
const OBJ: &str = "# comment\nmtllib x\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1 1.0\nvn 0 0 1\n\
                   f 1 3 2\nf 1//1 2//1 4//1\nf -3 -2 -1\nf 1/1/1 4/2/3 3/3/3\n";

#[test]
fn obj_and_stl_are_the_same_mesh() {
    let obj = Mesh::parse(OBJ.as_bytes(), "obj", "a.obj").unwrap();
    assert_eq!(obj.points.len(), 4);
    assert_eq!(obj.triangles, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]);
    let mut text = "solid t\n".to_string();
    let mut binary = vec![0; 80];
    binary.extend(4_u32.to_le_bytes());
    for triangle in &obj.triangles {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        binary.extend([0; 12]);
        for &corner in triangle {
            let [x, y, z] = obj.points[corner];
            text.push_str(&format!("vertex {x} {y} {z:e}\n"));
            binary.extend([x, y, z].iter().flat_map(|&x| (x as f32).to_le_bytes()));
        }
        text.push_str("endloop\nendfacet\n");
        binary.extend([0; 2]);
    }
    text.push_str("endsolid\n");
    let text = Mesh::parse(text.as_bytes(), "stl", "a.stl").unwrap();
    assert_eq!(text.points.len(), 4);
    assert_eq!(text, Mesh::parse(&binary, "stl", "a.stl").unwrap());
    // Binary files may begin with the word of those of text.
    binary[..5].copy_from_slice(b"solid");
    assert_eq!(text, Mesh::parse(&binary, "stl", "a.stl").unwrap());
}

#[test]
fn mistakes_are_named_with_their_place() {
    let refused = |bytes: &[u8], ending: &str| match Mesh::parse(bytes, ending, "m") {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted"),
    };
    assert_eq!(refused(b"v 0 0 0\nv 0 x 0\n", "obj"), "m:2: a point must be three finite numbers");
    assert_eq!(refused(b"v 0 0 0\nf 1 2 3\n", "obj"), "m:2: there is no point \"2\" above");
    assert!(refused(b"v 0 0 0\n", "obj").contains("fewer than 4 points"));
    assert!(refused(b"solid\nvertex 0 0 nan\n", "stl").starts_with("m:2: a vertex"));
    assert!(refused(&[0; 90], "stl").contains("fewer than 4"));
    let mut short = vec![0; 80];
    short.extend([9, 0, 0, 0, 1, 2]);
    assert!(refused(&short, "stl").contains("byte 86: ends early, 534 bytes"));
    let mut many = vec![0; 80];
    many.extend([0xff; 4]);
    assert!(refused(&many, "stl").contains("more than"));
}
