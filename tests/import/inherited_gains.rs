//! Gains that actuators of MJCF inherit: what MuJoCo 4.0.0 makes of each element after each default.

use stiction::assemble::{ActuatorDescription, Description};
use stiction::formats::LoadOptions;
use stiction::model::ActuatorKind;

const ELEMENTS: [&str; 10] = [
    "<position/>",
    "<position kp='5'/>",
    "<position kv='5'/>",
    "<velocity/>",
    "<velocity kv='5'/>",
    "<motor/>",
    "<damper ctrlrange='0 1'/>",
    "<damper kv='5' ctrlrange='0 1'/>",
    "<general/>",
    "<general gaintype='affine' biastype='affine'/>",
];

/// Numbers of gain and bias, each constant, by length and by velocity; nothing where MuJoCo refuses the file.
type Law = Option<[f64; 6]>;

/// What becomes of each element without defaults.
const PLAIN: [Law; 10] = [
    Some([1.0, 0.0, 0.0, 0.0, -1.0, 0.0]),
    Some([5.0, 0.0, 0.0, 0.0, -5.0, 0.0]),
    Some([1.0, 0.0, 0.0, 0.0, -1.0, -5.0]),
    Some([1.0, 0.0, 0.0, 0.0, 0.0, -1.0]),
    Some([5.0, 0.0, 0.0, 0.0, 0.0, -5.0]),
    Some([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    Some([0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    Some([0.0, 0.0, -5.0, 0.0, 0.0, 0.0]),
    Some([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    Some([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
];

/// Defaults, and of which elements they make something else.
const TABLE: [(&str, &[(usize, Law)]); 19] = [
    ("", &[]),
    ("<motor gear='1'/>", &[]),
    (
        "<general gainprm='2'/>",
        &[
            (0, Some([2.0, 0.0, 0.0, 0.0, -2.0, 0.0])),
            (2, Some([2.0, 0.0, 0.0, 0.0, -2.0, -5.0])),
            (3, Some([2.0, 0.0, 0.0, 0.0, 0.0, -2.0])),
            (8, Some([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
            (9, Some([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
        ],
    ),
    (
        "<general gainprm='2' biastype='affine' biasprm='.2 -4 -.5'/>",
        &[
            (0, Some([2.0, 0.0, 0.0, 0.0, -2.0, -0.5])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -0.5])),
            (2, Some([2.0, 0.0, 0.0, 0.0, -2.0, -5.0])),
            (3, Some([2.0, 0.0, 0.0, 0.0, 0.0, -2.0])),
            (8, Some([2.0, 0.0, 0.0, 0.2, -4.0, -0.5])),
            (9, Some([2.0, 0.0, 0.0, 0.2, -4.0, -0.5])),
        ],
    ),
    (
        "<general gainprm='4' biastype='affine' biasprm='0 -4 -.5'/>",
        &[
            (0, Some([4.0, 0.0, 0.0, 0.0, -4.0, -0.5])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -0.5])),
            (2, Some([4.0, 0.0, 0.0, 0.0, -4.0, -5.0])),
            (3, Some([4.0, 0.0, 0.0, 0.0, 0.0, -4.0])),
            (8, Some([4.0, 0.0, 0.0, 0.0, -4.0, -0.5])),
            (9, Some([4.0, 0.0, 0.0, 0.0, -4.0, -0.5])),
        ],
    ),
    (
        "<general gaintype='affine' gainprm='2 -.7 .3'/>",
        &[
            (6, None),
            (8, Some([2.0, -0.7, 0.3, 0.0, 0.0, 0.0])),
            (9, Some([2.0, -0.7, 0.3, 0.0, 0.0, 0.0])),
        ],
    ),
    (
        "<general gaintype='affine' gainprm='2 -.7 .3' biastype='affine' biasprm='.2 -4 -.5'/>",
        &[
            (6, None),
            (8, Some([2.0, -0.7, 0.3, 0.2, -4.0, -0.5])),
            (9, Some([2.0, -0.7, 0.3, 0.2, -4.0, -0.5])),
        ],
    ),
    (
        "<position kp='7' kv='2'/>",
        &[
            (0, Some([7.0, 0.0, 0.0, 0.0, -7.0, -2.0])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -2.0])),
            (2, Some([7.0, 0.0, 0.0, 0.0, -7.0, -5.0])),
            (8, Some([7.0, 0.0, 0.0, 0.0, -7.0, -2.0])),
            (9, Some([7.0, 0.0, 0.0, 0.0, -7.0, -2.0])),
        ],
    ),
    (
        "<velocity kv='7'/>",
        &[
            (3, Some([7.0, 0.0, 0.0, 0.0, 0.0, -7.0])),
            (8, Some([7.0, 0.0, 0.0, 0.0, 0.0, -7.0])),
            (9, Some([7.0, 0.0, 0.0, 0.0, 0.0, -7.0])),
        ],
    ),
    (
        "<damper kv='3' ctrlrange='0 1'/>",
        &[
            (6, Some([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])),
            (8, Some([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])),
            (9, Some([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])),
        ],
    ),
    (
        "<general gainprm='50' biastype='affine' biasprm='0 -50 -5'/><default class='c'><motor ctrlrange='-1 1'/></default>",
        &[
            (0, Some([50.0, 0.0, 0.0, 0.0, -50.0, -5.0])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -5.0])),
            (2, Some([50.0, 0.0, 0.0, 0.0, -50.0, -5.0])),
            (3, Some([50.0, 0.0, 0.0, 0.0, 0.0, -50.0])),
        ],
    ),
    (
        "<general gainprm='50' biastype='affine' biasprm='0 -50 -5'/><default class='c'><velocity/></default>",
        &[
            (0, Some([50.0, 0.0, 0.0, 0.0, -50.0, -5.0])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -5.0])),
            (2, Some([50.0, 0.0, 0.0, 0.0, -50.0, -5.0])),
            (3, Some([50.0, 0.0, 0.0, 0.0, 0.0, -50.0])),
            (8, Some([50.0, 0.0, 0.0, 0.0, 0.0, -50.0])),
            (9, Some([50.0, 0.0, 0.0, 0.0, 0.0, -50.0])),
        ],
    ),
    (
        "<general gaintype='affine' gainprm='2 -.7 .3' biastype='affine' biasprm='.2 -4 -.5'/><default class='c'><motor/></default>",
        &[(6, None)],
    ),
    (
        "<general gaintype='affine' gainprm='2 -.7 .3' biastype='affine' biasprm='.2 -4 -.5'/><default class='c'><velocity/></default>",
        &[
            (6, None),
            (8, Some([1.0, 0.0, 0.0, 0.0, 0.0, -1.0])),
            (9, Some([1.0, 0.0, 0.0, 0.0, 0.0, -1.0])),
        ],
    ),
    (
        "<velocity kv='7'/><default class='c'><position/></default>",
        &[
            (3, Some([7.0, 0.0, 0.0, 0.0, 0.0, -7.0])),
            (8, Some([1.0, 0.0, 0.0, 0.0, -1.0, 0.0])),
            (9, Some([1.0, 0.0, 0.0, 0.0, -1.0, 0.0])),
        ],
    ),
    (
        "<position kp='7' kv='2'/><default class='c'><velocity kv='3'/></default>",
        &[
            (0, Some([7.0, 0.0, 0.0, 0.0, -7.0, -2.0])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -2.0])),
            (2, Some([7.0, 0.0, 0.0, 0.0, -7.0, -5.0])),
            (3, Some([3.0, 0.0, 0.0, 0.0, 0.0, -3.0])),
            (8, Some([3.0, 0.0, 0.0, 0.0, 0.0, -3.0])),
            (9, Some([3.0, 0.0, 0.0, 0.0, 0.0, -3.0])),
        ],
    ),
    (
        "<position kp='7' kv='2'/><default class='c'><general gainprm='3'/></default>",
        &[
            (0, Some([3.0, 0.0, 0.0, 0.0, -3.0, -2.0])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -2.0])),
            (2, Some([3.0, 0.0, 0.0, 0.0, -3.0, -5.0])),
            (3, Some([3.0, 0.0, 0.0, 0.0, 0.0, -3.0])),
            (8, Some([3.0, 0.0, 0.0, 0.0, -7.0, -2.0])),
            (9, Some([3.0, 0.0, 0.0, 0.0, -7.0, -2.0])),
        ],
    ),
    (
        "<damper kv='3' ctrlrange='0 1'/><default class='c'><position/></default>",
        &[
            (6, Some([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])),
            (8, Some([1.0, 0.0, 0.0, 0.0, -1.0, 0.0])),
            (9, Some([1.0, 0.0, 0.0, 0.0, -1.0, 0.0])),
        ],
    ),
    (
        "<general biastype='affine' biasprm='1 0 -1'/>",
        &[
            (0, Some([1.0, 0.0, 0.0, 0.0, -1.0, -1.0])),
            (1, Some([5.0, 0.0, 0.0, 0.0, -5.0, -1.0])),
            (8, Some([1.0, 0.0, 0.0, 1.0, 0.0, -1.0])),
            (9, Some([1.0, 0.0, 0.0, 1.0, 0.0, -1.0])),
        ],
    ),
];

fn law(actuator: &ActuatorDescription) -> [f64; 6] {
    let ActuatorDescription { kind, gear, kp, kd, gain, bias, gain_by, .. } = *actuator;
    match kind {
        // The gear is 1 in all files.
        ActuatorKind::Motor => [gear, 0.0, 0.0, 0.0, 0.0, 0.0],
        ActuatorKind::Position => [kp, 0.0, 0.0, 0.0, -kp, -kd],
        ActuatorKind::Velocity => [kd, 0.0, 0.0, 0.0, 0.0, -kd],
        ActuatorKind::Affine => [gain, gain_by[0], gain_by[1], bias, -kp, -kd],
    }
}

#[test]
fn gains_are_inherited_as_in_mujoco() {
    for (defaults, changes) in TABLE {
        let mut laws = PLAIN;
        changes.iter().for_each(|&(element, law)| laws[element] = law);
        for (element, expected) in ELEMENTS.into_iter().zip(laws) {
            let class = if defaults.contains("class=") { " class='c'" } else { "" };
            let element = element.replace("/>", &format!("{class} joint='j'/>"));
            let text = format!(
                "<mujoco><default>{defaults}</default><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>\
                 <actuator>{element}</actuator></mujoco>"
            );
            let found = Description::parse_xml(&text, "model.xml", LoadOptions::default());
            match (found, expected) {
                (Ok(description), Some(expected)) => {
                    assert_eq!(law(&description.actuators[0]), expected, "{text}");
                }
                (Err(error), None) => {
                    assert!(error.to_string().contains("must not be negative"), "{error}");
                }
                (found, expected) => panic!("{text}: {found:?} {expected:?}"),
            }
        }
    }
}

/// A damper has a range of controls, whatever the file says of limits, and none that drives.
#[test]
fn dampers_have_a_range() {
    let model = |head: &str, damper: &str| {
        let text = format!(
            "<mujoco>{head}<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>\n\
             <actuator><damper joint='j' kv='3' {damper}/></actuator></mujoco>"
        );
        Description::parse_xml(&text, "model.xml", LoadOptions::default())
    };
    let limited = model("<compiler autolimits='false'/>", "ctrlrange='0 2'").unwrap();
    assert_eq!(limited.actuators[0].control_range, Some([0.0, 2.0]));
    for (damper, expected) in [
        ("", "2: damper.ctrlrange: is missing: a damper has one"),
        (
            "ctrlrange='-1 2'",
            "2: damper.ctrlrange: must be two numbers, 0 or more, the least first",
        ),
        ("ctrlrange='2 1'", "2: damper.ctrlrange: must be two numbers, 0 or more, the least first"),
    ] {
        let error = model("", damper).expect_err(damper).to_string();
        assert_eq!(error, format!("model.xml:{expected}"));
    }
}
