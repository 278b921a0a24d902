//! Numbers read from URDF against numbers derived by hand.

use super::{assert_near, body, read, refused, warnings};
use stiction::assemble::Description;
use stiction::formats::LoadOptions;
use stiction::model::{JointKind, Shape};

const ARM: &str = include_str!("models/arm.urdf");
const KINDS: &str = include_str!("models/kinds.urdf");

#[test]
fn links_and_joints_are_bodies() {
    let description = read(ARM);
    let upper = body(&description, "upper");
    assert_eq!((upper.parent.as_deref(), upper.joint.kind), (Some("base"), JointKind::Revolute));
    assert_eq!(upper.joint.limits, Some([-1.5, 1.5]));
    assert_eq!((upper.joint.damping, upper.joint.friction), (0.7, 0.2));
    assert_near(&upper.joint.axis, &[0.0, 0.0, 1.0], 0.0);
    // Rz(0.3) Ry(0.2) Rx(0.1)
    let [cr, cp, cy] = [0.05_f64, 0.1, 0.15].map(f64::cos);
    let [sr, sp, sy] = [0.05_f64, 0.1, 0.15].map(f64::sin);
    let turn = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ];
    assert_near(&upper.joint.orientation, &turn, 1e-15);
    // Inertia turned about y by 0.5: xx c² + zz s² + 2 xz c s.
    let (c, s) = (0.5_f64.cos(), 0.5_f64.sin());
    assert_near(&upper.inertia[..2], &[0.03 * c * c + 0.01 * s * s, 0.03], 1e-15);
    assert_near(&upper.inertia[3..], &[0.001 * c, (0.01 - 0.03) * c * s, -0.001 * s], 1e-15);
    assert_eq!(upper.colliders[0].shape, Shape::Cylinder);
    assert_near(&upper.colliders[0].size, &[0.05, 0.2, 0.0], 1e-15);
    let mimic = &description.equalities[0];
    assert_eq!(mimic.joints, ["elbow", "shoulder"]);
    assert_eq!((mimic.ratio, mimic.offset), (-2.0, 0.1));
    assert_eq!(body(&description, "base").joint.kind, JointKind::Fixed);
    assert!(description.scene().is_ok());
}

#[test]
fn the_base_may_float() {
    let options = LoadOptions { floating_base: true, ..LoadOptions::default() };
    let found = Description::parse_xml(ARM, "arm.urdf", options).unwrap();
    assert_eq!(found.bodies[0].joint.kind, JointKind::Free);
}

#[test]
fn a_floating_base_has_the_mass_of_what_is_fixed_to_it() {
    let text = "<robot name='r'><link name='base'/><link name='trunk'><inertial><mass value='2'/>\
        <inertia ixx='1' iyy='1' izz='1'/></inertial></link><joint name='j' type='fixed'>\
        <parent link='base'/><child link='trunk'/><origin xyz='0 0 3'/></joint></robot>";
    let options = LoadOptions { floating_base: true, ..LoadOptions::default() };
    let found = Description::parse_xml(text, "r.urdf", options).unwrap();
    assert_eq!((found.bodies[0].mass, found.bodies[1].mass), (2.0, 0.0));
    assert_near(&found.bodies[0].center_of_mass, &[0.0, 0.0, 3.0], 0.0);
    assert!(found.scene().is_ok());
}

#[test]
fn joints_of_every_kind() {
    let description = read(KINDS);
    let kinds: Vec<(&str, JointKind)> =
        description.bodies.iter().map(|body| (body.name.as_str(), body.joint.kind)).collect();
    use JointKind::{Ball, Free, Prismatic, Revolute};
    let expected = [
        ("body", Free),
        ("rod", Prismatic),
        ("plate/plane_x", Prismatic),
        ("plate/plane_y", Prismatic),
        ("plate", Revolute),
        ("ball/loose_x", Prismatic),
        ("ball/loose_y", Prismatic),
        ("ball/loose_z", Prismatic),
        ("ball", Ball),
    ];
    assert_eq!(kinds, expected);
    let axes = ["plate/plane_x", "plate/plane_y", "plate"]
        .map(|name| nalgebra::Vector3::from(body(&description, name).joint.axis));
    assert_near(axes[0].cross(&axes[1]).as_slice(), axes[2].as_slice(), 1e-15);
    assert!(description.scene().is_ok());
}

#[test]
fn what_is_not_followed_is_named() {
    let found = warnings(ARM);
    for part in ["limit.effort", "transmission", "kp: of gazebo", "of friction URDF says little"] {
        assert!(found.iter().any(|warning| warning.contains(part)), "{part} not in {found:#?}");
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let link = "<link name='a'/>\n<link name='b'/>\n";
    let joint = |inside: &str| format!("<robot>{link}<joint name='j' {inside}</joint></robot>");
    for (text, message) in [
        (joint("type='screw'>"), "3: joint.j.type: must be fixed"),
        (joint("type='fixed'><parent link='a'/>"), "3: joint.j.child: is missing"),
        (
            joint("type='fixed'><parent link='a'/><child link='c'/>"),
            "3: joint.j.child: there is no",
        ),
        (joint("type='fixed'><parent link='a'/><child link='a'/>"), "1: robot"),
        ("<robot>\n</robot>".to_string(), "1: robot.link: is missing"),
        (format!("<robot>{link}</robot>"), "1: robot.link: \"a\" and \"b\""),
    ] {
        let found = refused(&text);
        assert!(found.starts_with(&format!("model.xml:{message}")), "{found}");
    }
}
