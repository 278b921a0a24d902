//! Shapes that are in each other where a robot starts.

use stiction::assemble::{Description, Material};
use stiction::model::{Scene, Solid};
use stiction::simulation::Rollout;

use super::{read, refused};

/// A ball whose legs begin in its middle, in each other, and hang on joints of their own.
pub const ANT: &str = "<mujoco>
  <option timestep='0.005'/>
  <worldbody>
    <geom name='floor' type='plane' size='10 10 1'/>
    <body name='torso' pos='0 0 0.75'>
      <freejoint/>
      <geom name='torso' type='sphere' size='0.25' density='100'/>
      <body name='left' pos='0.2 0.2 0'>
        <joint axis='0 0 1' range='-30 30'/>
        <geom name='left' type='capsule' fromto='-0.2 -0.2 0 0.2 0.2 0' size='0.08' density='100'/>
        <body name='left_shin' pos='0.2 0.2 0'>
          <joint axis='-1 1 0' range='30 70'/>
          <geom type='capsule' fromto='0 0 0 0.4 0.4 0' size='0.08' density='100'/>
        </body>
      </body>
      <body name='right' pos='-0.2 0.2 0'>
        <joint axis='0 0 1' range='-30 30'/>
        <geom name='right' type='capsule' fromto='0.2 -0.2 0 -0.2 0.2 0' size='0.08' density='100'/>
        <body name='right_shin' pos='-0.2 0.2 0'>
          <joint axis='1 1 0' range='-70 -30'/>
          <geom type='capsule' fromto='0 0 0 -0.4 0.4 0' size='0.08' density='100'/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>";

/// A box in a column, which slides along it.
const COLUMN: &str = "<robot name='column'>
  <link name='column'>
    <collision>
      <origin xyz='0 0 0.5'/>
      <geometry><box size='0.3 0.3 1'/></geometry>
    </collision>
  </link>
  <link name='torso'>
    <inertial><mass value='5'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial>
    <collision><geometry><box size='0.2 0.2 0.4'/></geometry></collision>
  </link>
  <joint name='lift' type='prismatic'>
    <parent link='column'/> <child link='torso'/>
    <origin xyz='0 0 1'/> <axis xyz='0 0 1'/>
    <limit lower='-0.5' upper='0.5' effort='1' velocity='1'/>
  </joint>
</robot>";

fn warnings(scene: &Scene) -> Vec<String> {
    scene.warnings.iter().map(ToString::to_string).collect()
}

/// Whether two shapes can touch, by their names.
fn touch(scene: &Scene, first: &str, second: &str) -> bool {
    let index = |name: &str| {
        let found = scene.model.colliders.iter().position(|collider| collider.name == name);
        found.unwrap_or_else(|| panic!("there is no shape {name}"))
    };
    let (first, second) = (index(first), index(second));
    scene.model.pair(Solid::Collider(first.min(second)), first.max(second)).is_some()
}

/// Simulates, and returns the largest velocity there was; every problem must be solved.
fn fastest(scene: &Scene, steps: usize) -> f64 {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut fastest = 0.0_f64;
    for _ in 0..steps {
        rollout.step(&scene.inputs);
        fastest = rollout.state.v.iter().fold(fastest, |most, v| most.max(v.abs()));
        assert!(fastest.is_finite());
    }
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    fastest
}

fn with_friction(mut description: Description) -> Description {
    description.default_contact = Some(Material { mu: 0.5, ..Material::default() });
    description.passes = false;
    description
}

#[test]
fn legs_that_begin_in_each_other_pass_through_each_other() {
    let scene = read(ANT).scene().unwrap();
    let found = warnings(&scene);
    let said = found.iter().find(|warning| warning.contains("deep in")).unwrap();
    for says in ["model.xml:16: body.right.shape", "1.600e-1 m deep in \"left\"", "\"left-right\""]
    {
        assert!(said.contains(says), "{said}");
    }
    assert_eq!(found.iter().filter(|warning| warning.contains("deep in")).count(), 1, "{found:?}");
    assert!(!touch(&scene, "left", "right") && touch(&scene, "left_shin", "right_shin"));
    assert!(fastest(&scene, 300) < 100.0);
}

// What a contact names was meant.
#[test]
fn a_contact_that_names_two_neighbors_counts() {
    let pair = "<contact><pair geom1='left' geom2='right'/></contact></mujoco>";
    let scene = read(&ANT.replace("</mujoco>", pair)).scene().unwrap();
    assert!(touch(&scene, "left", "right"));
    let found = warnings(&scene);
    assert!(found.iter().any(|warning| warning.contains("collide = false")), "{found:?}");
}

#[test]
fn a_torso_in_its_column_passes_through_it() {
    let scene = with_friction(read(COLUMN)).scene().unwrap();
    let found = warnings(&scene);
    assert!(
        found
            .iter()
            .any(|w| w.contains("body.torso.shape") && w.contains("2.000e-1 m deep in \"column\"")),
        "{found:?}"
    );
    assert!(!touch(&scene, "column", "torso"));
    assert!(fastest(&scene, 100) < 10.0);
    // On top of it, it stays there.
    let above = COLUMN.replace("xyz='0 0 1'/> <axis", "xyz='0 0 1.2001'/> <axis");
    let scene = with_friction(read(&above)).scene().unwrap();
    assert!(touch(&scene, "column", "torso"));
    assert!(fastest(&scene, 100) < 0.1);
}

// Bodies without shapes between two do not keep them apart.
#[test]
fn shapes_across_bare_bodies_are_neighbors() {
    let bare = "<body name='yaw'><joint axis='0 0 1'/>
                <inertial pos='0 0 0' mass='0.1' diaginertia='1e-3 1e-3 1e-3'/>";
    let text = ANT.replace(
        "<body name='left' pos='0.2 0.2 0'>",
        &format!("{bare}<body name='left' pos='0.2 0.2 0'>"),
    );
    let text = text.replace("<body name='right' pos", "</body><body name='right' pos");
    let scene = read(&text).scene().unwrap();
    assert!(!touch(&scene, "torso", "left") && !touch(&scene, "left", "right"));
    assert!(fastest(&scene, 100) < 100.0);
}

/// Two fingers on a hand that floats, 2 cm thick, which slide apart and overlap by `overlap`.
fn gripper(overlap: f64, keyframes: &str) -> Scene {
    let place = 0.01 - 0.5 * overlap;
    let text = format!(
        "<mujoco>
          <option timestep='0.005' gravity='0 0 0'/>
          <worldbody>
            <body name='hand' pos='0 0 1'>
              <freejoint/>
              <inertial pos='0 0 0' mass='1' diaginertia='0.01 0.01 0.01'/>
              <body name='left' pos='-{place} 0 0'>
                <joint type='slide' axis='-1 0 0'/>
                <geom name='left' type='box' size='0.01 0.02 0.03' mass='0.1'/>
              </body>
              <body name='right' pos='{place} 0 0'>
                <joint type='slide' axis='1 0 0'/>
                <geom name='right' type='box' size='0.01 0.02 0.03' mass='0.1'/>
              </body>
            </body>
          </worldbody>
          {keyframes}
        </mujoco>"
    );
    read(&text).scene().unwrap()
}

// Fingers that are a little in each other part and touch again; only what is inside each other, wherever the file
// starts, is left alone.
#[test]
fn fingers_that_overlap_a_little_still_touch() {
    let scene = gripper(2e-3, "");
    assert!(touch(&scene, "left", "right"));
    assert!(warnings(&scene).iter().any(|warning| warning.contains("deep in")));
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(200, &scene.inputs);
    let parted = rollout.state.q[7] + rollout.state.q[8];
    assert!(parted > 1.999e-3, "{parted}");
    assert!(!touch(&gripper(0.015, ""), "left", "right"));
    let open = "<keyframe><key name='open' qpos='0 0 1 1 0 0 0 0.05 0.05'/></keyframe>";
    assert!(touch(&gripper(0.015, open), "left", "right"));
}

// What does not hang together is said to be wrong.
#[test]
fn what_starts_in_another_robot_is_said() {
    let two = "<mujoco><worldbody>
      <body name='a'><freejoint/><geom type='capsule' size='0.1 0.3'/></body>
      <body name='b' pos='0.35 0 0'><joint axis='0 1 0'/>
        <geom type='cylinder' size='0.1 0.3' pos='-0.2 0 0'/></body>
    </worldbody></mujoco>";
    let mut description = read(two);
    let scene = description.scene().unwrap();
    let found = warnings(&scene);
    let said = found.iter().find(|warning| warning.contains("deep in")).unwrap();
    assert!(said.contains("model.xml:3: body.b.position"), "{said}");
    assert!(touch(&scene, "a", "b"));
    // Of our own scenes those of free bodies are refused.
    description.strict = true;
    assert_eq!(warnings(&description.scene().unwrap()), found);
    let free = two.replace("<joint axis='0 1 0'/>", "<freejoint/>");
    let mut description = read(&free);
    description.strict = true;
    let error = description.scene().unwrap_err().to_string();
    assert!(error.contains("deep in \"a\"") && error.contains("collide = false"), "{error}");
}

// Whatever holds it.
#[test]
fn a_body_on_a_joint_is_measured_over_the_ground() {
    let text = "<mujoco><worldbody>
      <geom name='floor' type='plane' size='1 1 1'/>
      <body name='slider' pos='0 0 0.05'><joint type='slide' axis='0 0 1'/><geom size='0.1'/></body>
    </worldbody></mujoco>";
    let found = warnings(&read(text).scene().unwrap());
    let said = |says: &str| found.iter().any(|warning| warning.contains(says));
    assert!(said("body.slider.position") && said("5.000e-2 m deep in \"floor\""), "{found:?}");
    // Where there are keyframes, joints start there.
    let keyframe = "<keyframe><key name='up' qpos='0.2'/></keyframe></mujoco>";
    let found = warnings(&read(&text.replace("</mujoco>", keyframe)).scene().unwrap());
    assert!(!found.iter().any(|warning| warning.contains("deep in")), "{found:?}");
}

#[test]
fn exclusions_keep_neighbors_silent() {
    let exclude = "<contact><exclude body1='left' body2='right'/></contact></mujoco>";
    let found = warnings(&read(&ANT.replace("</mujoco>", exclude)).scene().unwrap());
    assert!(!found.iter().any(|warning| warning.contains("deep in")), "{found:?}");
    let unknown = exclude.replace("'right'", "'wrong'");
    assert!(refused(&ANT.replace("</mujoco>", &unknown)).contains("there is no body"));
}
