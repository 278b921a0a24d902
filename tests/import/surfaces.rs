//! What files say of how surfaces rub, of ellipsoids, and how much is told of all that is not followed.

use nalgebra::Vector3;
use stiction::Error;
use stiction::assemble::{Description, Equipment};
use stiction::formats::LoadOptions;
use stiction::model::{Scene, Shape, SurfaceTerm};
use stiction::simulation::Rollout;

use super::{body, read, warnings};
#[cfg(feature = "cli")]
use crate::folder::Folder;

/// A crate on a foot and a wheel, whose surfaces Bullet or Gazebo knows, or nobody.
const URDF: &str = r#"<robot name="r">
<link name="base"><contact><lateral_friction value="0.3"/><restitution value="0.25"/><rolling_friction value="0.0"/>
<contact_cfm value="0"/></contact>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="foot"><collision><geometry><sphere radius="0.1"/></geometry></collision>
<collision><geometry><sphere radius="0.2"/></geometry></collision></link>
<link name="wheel"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="a" type="fixed"><parent link="base"/><child link="foot"/></joint>
<joint name="b" type="fixed"><parent link="base"/><child link="wheel"/></joint>
<gazebo reference="foot"><mu1>1.5</mu1><mu2 value="1.25"/><kp>1e6</kp></gazebo>
</robot>"#;

fn equipped(text: &str) -> Result<Scene, Error> {
    let equipment = Equipment { ground: Some(0.8), ..Equipment::default() };
    let options = LoadOptions { floating_base: true, equipment, ..LoadOptions::default() };
    let mut description = Description::parse_xml(text, "r.urdf", options)?;
    description.equip(&equipment)?;
    description.scene()
}

fn mu(scene: &Scene, pair: &str) -> (f64, f64) {
    let names = || scene.model.pairs.iter().map(|pair| &pair.name);
    let index = names().position(|name| name == pair);
    let index = index.unwrap_or_else(|| panic!("{pair}: {:?}", names().collect::<Vec<_>>()));
    (scene.parameters.mu(&scene.model, index), scene.parameters.restitution(&scene.model, index))
}

/// What a link states counts, also where it is less than what nothing is said about.
#[test]
fn links_rub_as_they_state() {
    let scene = equipped(URDF).unwrap();
    assert_eq!(mu(&scene, "ground-base"), (0.3, 0.25));
    assert_eq!(mu(&scene, "ground-foot/0"), (1.25, 0.0));
    assert_eq!(mu(&scene, "ground-foot/1"), (1.25, 0.0));
    assert_eq!(mu(&scene, "ground-wheel"), (0.8, 0.0));
    // Links do not touch each other by it.
    assert_eq!(scene.model.pairs.len(), 4);
    let said = warnings(URDF);
    assert!(said.iter().any(|w| w.contains("shapes touch nothing")), "{said:?}");
    assert!(said.iter().any(|w| w.contains("contact_cfm: is not followed: contacts are rigid")));
    assert!(said.iter().any(|w| w.contains("kp: of gazebo is not followed")), "{said:?}");
    assert!(!said.iter().any(|w| w.contains("mu1") || w.contains("rolling")), "{said:?}");
    for (from, to, says) in [
        ("value=\"0.3\"", "value=\"-1\"", "lateral_friction.value"),
        ("value=\"0.25\"", "value=\"1.5\"", "restitution.value: must be between 0 and 1"),
        ("<mu1>1.5", "<mu1>much", "mu1: must be a number that is not negative, found \"much\""),
    ] {
        let message = equipped(&URDF.replace(from, to)).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
    // One that is fixed to the world does not touch the ground, whatever it states.
    let stands = Equipment { ground: Some(0.8), ..Equipment::default() };
    let options = LoadOptions { equipment: stands, ..LoadOptions::default() };
    let mut description = Description::parse_xml(URDF, "r.urdf", options).unwrap();
    description.equip(&stands).unwrap();
    assert_eq!(description.scene().unwrap().model.pairs.len(), 0);
    // Restitution alone goes with the friction of the ground.
    let bounces = URDF.replace("<lateral_friction value=\"0.3\"/>", "");
    assert_eq!(mu(&equipped(&bounces).unwrap(), "ground-base"), (0.8, 0.25));
    // Of each of the normal force, m; the radius is what friction is multiplied with.
    let spins = URDF.replace("rolling_friction value=\"0.0\"", "spinning_friction value=\"0.1\"");
    let spins = equipped(&spins).unwrap();
    let names = spins.model.parameter_names();
    let found = names.iter().filter(|name| name.ends_with("torsion_radius")).collect::<Vec<_>>();
    assert!(!found.is_empty() && !names.iter().any(|name| name.ends_with("rolling_resistance")));
    for name in found {
        let slot = spins.model.parameter(name).unwrap().slots[0];
        let (friction, _) = mu(&spins, name.rsplit_once('/').unwrap().0);
        assert!((spins.parameters.values[slot] * friction - 0.1).abs() < 1e-12);
    }
}

/// MuJoCo: of two geoms the one of higher priority says how they rub; of equal ones the larger friction counts.
#[test]
fn the_higher_priority_counts() {
    let text = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.9"/>
<geom name="ice" type="box" size="1 1 1" pos="9 0 0" friction="0.1" priority="2"/>
<body name="a" pos="0 0 5"><freejoint/><geom name="pad" type="sphere" size="0.1" friction="0.4" priority="1"/>
<geom name="side" type="sphere" size="0.1" pos="1 0 0" friction="0.6"/>
<geom name="ghost" type="sphere" size="0.1" pos="2 0 0" priority="1" contype="2" conaffinity="2"/>
<body name="c" pos="0 0 1"><joint axis="0 1 0"/><geom name="tail" type="sphere" size="0.1" priority="3" friction="0.2"/></body></body>
<body name="b" pos="0 0 7"><freejoint/><geom name="slick" type="sphere" size="0.1" priority="5" condim="1"/></body>
</worldbody>
<contact><exclude body1="b" body2="c"/><pair geom1="pad" geom2="ice" friction="0.77 0.77 0 0 0"/>
<pair geom1="pad" geom2="floor"/></contact></mujoco>"#;
    let description = read(text);
    assert!(!description.warnings.iter().any(|w| w.to_string().contains("priority")));
    let scene = description.scene().unwrap();
    for (pair, expected) in [
        ("floor-a/pad", 0.4),
        ("floor-a/side", 0.9),
        ("ice-a/side", 0.1),
        ("ice-a/pad", 0.77),
        ("floor-c", 0.2),
        ("ice-c", 0.2),
        ("floor-b", 0.0),
        ("ice-b", 0.0),
        ("a/pad-b", 0.0),
    ] {
        assert_eq!(mu(&scene, pair).0, expected, "{pair}");
    }
    // Those that do not touch are not made to: by their bits, by the joint, by the exclusion.
    let known = |a: &str, b: &str| {
        let pairs = scene.model.pairs.iter();
        pairs.map(|pair| pair.name.as_str()).any(|name| name == format!("{a}-{b}"))
    };
    for [a, b] in [["floor", "a/ghost"], ["a/pad", "c"], ["c", "b"], ["b", "c"]] {
        assert!(!known(a, b), "{a} {b}");
    }
}

/// Of `condim` 4 turns about the normal meet friction, of 6 rolling too; of two geoms the larger numbers count, and what a pair
/// says itself more than both.
#[test]
fn condim_says_which_turns_meet_friction() {
    let text = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.8 0.02 0.003"/>
<body name="a" pos="0 0 5"><freejoint/><geom name="three" type="sphere" size="0.1" friction="0.5 0.1 0.01"/>
<geom name="four" type="sphere" size="0.1" pos="1 0 0" condim="4" friction="0.8 0.04 0.01"/>
<geom name="six" type="sphere" size="0.1" pos="2 0 0" condim="6" friction="0.8 0.04 0.002"/>
<geom name="usual" type="sphere" size="0.1" pos="3 0 0" condim="6"/>
<geom name="own" type="sphere" size="0.1" pos="4 0 0"/></body></worldbody>
<contact><pair geom1="floor" geom2="own" condim="6" friction="0.4 0.4 0.03 0.005 0.005"/></contact></mujoco>"#;
    let description = read(text);
    assert!(description.warnings.is_empty(), "{:?}", description.warnings);
    let scene = description.scene().unwrap();
    let numbers = |pair: &str| {
        let index = scene.model.pairs.iter().position(|known| known.name == pair).unwrap();
        let term = |term| scene.parameters.surface_term(&scene.model, index, term);
        let mu = scene.parameters.mu(&scene.model, index);
        let torsion = term(SurfaceTerm::TorsionRadius).map(|radius| radius * mu);
        (mu, torsion, term(SurfaceTerm::RollingResistance))
    };
    assert_eq!(numbers("floor-a/three"), (0.8, None, None));
    assert_eq!(numbers("floor-a/four"), (0.8, Some(0.04), None));
    // That of the floor is larger, which would have none by itself.
    assert_eq!(numbers("floor-a/six"), (0.8, Some(0.04), Some(0.003)));
    assert_eq!(numbers("floor-a/usual"), (1.0, Some(0.02), Some(0.003)));
    assert_eq!(numbers("floor-a/own"), (0.4, Some(0.03), Some(0.005)));
    let slides = text.replace("0.4 0.4 0.03", "0 0 0.03");
    let slides = read(&slides).warnings;
    assert!(
        slides.iter().any(|w| w.to_string().contains("without sliding friction")),
        "{slides:?}"
    );
    let differs = text.replace("0.4 0.4 0.03", "0.4 0.3 0.03");
    assert!(read(&differs).warnings.iter().any(|w| w.to_string().contains("along and across")));
}

/// An ellipsoid touches as the hull of points on it, which is told, and weighs what it weighs.
#[test]
fn ellipsoids_touch() {
    let text = "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='1 1 1'/>\
                <body name='egg' pos='0 0 0.4'><freejoint/><geom type='ellipsoid' size='0.1 0.2 0.3'/></body></worldbody></mujoco>";
    let description = read(text);
    let egg = body(&description, "egg");
    assert!((egg.mass / (4.0 / 3.0 * std::f64::consts::PI * 6.0) - 1.0).abs() < 1e-12);
    let Shape::Convex(hull) = &egg.colliders[0].shape else { panic!() };
    assert_eq!(hull.vertices().len(), 162);
    let mut short: f64 = 0.0;
    for v in hull.vertices() {
        let norm = v.component_div(&Vector3::new(0.1, 0.2, 0.3)).norm();
        assert!((norm - 1.0).abs() < 1e-12);
    }
    for face in hull.faces() {
        // In the frame where the ellipsoid is a ball, how far a face is from it.
        let normal = face.normal.component_mul(&Vector3::new(0.1, 0.2, 0.3));
        short = short.max(1.0 - face.offset / normal.norm());
    }
    let said = description.warnings[0].to_string();
    assert!(said.contains("hull of 162 points") && said.contains("at most 0.02 of its"), "{said}");
    assert!(short < 0.02 && short > 0.01, "{short}");
    // It falls over and lies on its side, on its least radius.
    let scene = description.scene().unwrap();
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.state.v[4] = 0.5;
    rollout.advance(4000, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0);
    assert!((0.095..0.101).contains(&rollout.state.q[2]), "{:?}", rollout.state.q);
}

/// A base without mass, but with an inertia, carries an arm: it falls as one, and its scene is read back. Without either nothing
/// resists where it turns about the arm.
#[test]
fn a_base_without_mass_carries_an_arm() {
    let robot = |inertia: &str| {
        format!(
            "<robot name='r'><link name='base'><inertial><mass value='0'/><inertia ixx='{inertia}' iyy='{inertia}' izz='{inertia}'/></inertial></link>\
             <link name='arm'><inertial><origin xyz='0.2 0 0'/><mass value='2'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial></link>\
             <joint name='j' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 0 1'/></joint></robot>"
        )
    };
    let options = LoadOptions { floating_base: true, ..LoadOptions::default() };
    let load = |text: &str| Description::parse_xml(text, "r.urdf", options).unwrap();
    let description = load(&robot("0.05"));
    let scene = description.scene().unwrap();
    assert!(!scene.warnings.iter().any(|w| w.field().ends_with("mass")), "{:?}", scene.warnings);
    let again = Scene::parse(&description.to_toml(""), "again.toml").unwrap();
    let mut rollout = Rollout::new(again.system(), again.state.clone());
    rollout.advance(100, &again.inputs);
    let fallen = -0.5 * 9.81 * 0.2_f64.powi(2);
    assert!((rollout.state.q[2] / fallen - 1.0).abs() < 0.02, "{:?}", rollout.state.q);
    let scene = load(&robot("0")).scene().unwrap();
    let said: Vec<String> = scene.warnings.iter().map(Error::to_string).collect();
    assert!(said.iter().any(|w| w.contains("base.mass: is 0, and so is its inertia")), "{said:?}");
}

/// What spoils a motion most is told first: what cannot move.
#[cfg(feature = "cli")]
#[test]
fn the_worst_warning_is_told() {
    let folder = Folder::new("worst-warning");
    let link = |name: &str, inertial: &str| {
        format!(
            "<link name='{name}'>{inertial}<collision><geometry><box size='1 1 1'/></geometry></collision></link>"
        )
    };
    let inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";
    let limits = "<axis xyz='1 0 0'/><limit lower='1' upper='2' effort='5' velocity='5'/>";
    let robot = format!(
        "<robot name='r'>{}{}{}<joint name='j' type='revolute'><parent link='a'/><child link='b.c'/>{limits}</joint>\
         <joint name='k' type='revolute'><parent link='a'/><child link='d'/>{limits}</joint></robot>",
        link("a", inertial),
        link("b.c", inertial),
        link("d", "")
    );
    folder.write("r.urdf", &robot);
    let output = folder.run(&["import", "r.urdf", "-o", "r.toml"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let [line] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
    assert!(line.contains("body.d.mass"), "{line}");
    // Of a name with a dot in it, too.
    assert!(line.contains("joint.q (2)") && line.contains("limit.effort"), "{line}");
    assert!(!line.contains("c.joint"), "{line}");
}

/// Of many warnings the first is told, and how many there are of what; all are in the scene, in JSON, and told if asked for.
#[cfg(feature = "cli")]
#[test]
fn many_warnings_are_one_line() {
    let folder = Folder::new("many-warnings");
    let geoms: String = (0..3)
        .map(|k| {
            format!("<body pos='0 0 {}'><freejoint/><geom name='g{k}' size='0.1' adhesion='4' surfacevel='1 0 0' gap='1' solref='1 1'/></body>", k + 1)
        })
        .collect();
    folder.write("many.xml", &format!("<mujoco><worldbody>{geoms}</worldbody></mujoco>"));
    let told = |arguments: &[&str]| {
        let output = folder.run(arguments);
        assert!(output.status.success(), "{output:?}");
        let lines = String::from_utf8(output.stderr).unwrap();
        lines.lines().filter(|line| line.starts_with("warning")).map(str::to_string).collect()
    };
    for arguments in [
        &["import", "many.xml", "-o", "many.toml"][..],
        &["simulate", "many.xml", "--steps", "1"],
        &["simulate", "many.xml", "--steps", "1", "--json"],
    ] {
        let lines: Vec<String> = told(arguments);
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(line.contains("many.xml:1: geom."), "{line}");
        assert!(line.contains("and 3 more, of geom."), "{line}");
        let all: Vec<String> = told(&[arguments, &["--verbose"]].concat());
        assert_eq!(all.len(), 4, "{all:?}");
        let before: Vec<String> = told(&[&["--verbose"], arguments].concat());
        assert_eq!(before, all);
    }
    assert_eq!(folder.read("many.toml").matches("# Warning: ").count(), 4);
    // Few are told as they are.
    folder.write(
        "few.xml",
        &format!(
            "<mujoco><worldbody>{}</worldbody></mujoco>",
            geoms.replace("surfacevel='1 0 0' gap='1' ", "")
        ),
    );
    let lines: Vec<String> = told(&["simulate", "few.xml", "--steps", "1"]);
    assert_eq!(lines.len(), 2, "{lines:?}");
}
