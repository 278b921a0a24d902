//! `joint` and `freejoint` elements.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::defaults::Given;
use super::orientation::direction;
use super::reader::Reader;
use crate::Error;
use crate::assemble::JointDescription;
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Remarks, Unfollowed};
use crate::model::JointKind;

/// A joint as the file has it: in the configuration in which the model is drawn, its number is `reference`.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub line: usize,
    pub reference: f64,
    /// All but the pose of the body.
    pub numbers: JointDescription,
}

const FOLLOWED: [&str; 14] = [
    "armature",
    "axis",
    "class",
    "damping",
    "frictionloss",
    "limited",
    "margin",
    "name",
    "pos",
    "range",
    "ref",
    "springref",
    "stiffness",
    "type",
];

const RIGID: &str = "is not followed: limits and dry friction of joints are rigid";

const UNFOLLOWED: [Unfollowed; 9] = [
    Unfollowed { name: "solreflimit", neutral: "", instead: RIGID },
    Unfollowed { name: "solimplimit", neutral: "", instead: RIGID },
    Unfollowed { name: "solreffriction", neutral: "", instead: RIGID },
    Unfollowed { name: "solimpfriction", neutral: "", instead: RIGID },
    Unfollowed {
        name: "springdamper",
        neutral: "0",
        instead: "is not followed: give stiffness and damping",
    },
    Unfollowed {
        name: "springyield",
        neutral: "0",
        instead: "is not followed: springs are elastic",
    },
    Unfollowed {
        name: "actuatorfrcrange",
        neutral: "0",
        instead: "is not followed: only actuators limit their forces",
    },
    Unfollowed {
        name: "actuatorfrclimited",
        neutral: "false",
        instead: "is not followed: only actuators limit their forces",
    },
    Unfollowed {
        name: "actuatorgravcomp",
        neutral: "false",
        instead: "is not followed: gravity is not compensated",
    },
];

/// Remarks on what is not followed.
pub(super) fn remark(element: &Element, remarks: &mut Remarks) {
    element.remark_on_others(&FOLLOWED, &["group", "user"], &UNFOLLOWED, remarks);
}

impl<'a> Reader<'a> {
    /// Reads a joint in a body, with `frame` between them.
    pub(super) fn joint(
        &mut self,
        element: &'a Element,
        class: Option<&'a str>,
        frame: &Isometry3<f64>,
    ) -> Result<Joint, Error> {
        let line = element.line;
        let name = element.get("name").unwrap_or_default().to_string();
        if element.tag == "freejoint" {
            // Defaults of joints do not reach it.
            element.remark_on_others(&["name"], &["group"], &ALIGN, &mut self.remarks);
            let numbers = JointDescription { name, ..JointDescription::new(JointKind::Free) };
            return Ok(Joint { line, reference: 0.0, numbers });
        }
        remark(element, &mut self.remarks);
        let given = self.defaults.given(element, class)?;
        let words = [
            ("free", JointKind::Free),
            ("ball", JointKind::Ball),
            ("slide", JointKind::Prismatic),
            ("hinge", JointKind::Revolute),
        ];
        let kind = given.at("type").word("type", &words)?.unwrap_or(JointKind::Revolute);
        let mut numbers = JointDescription { name, ..JointDescription::new(kind) };
        numbers.armature = given.at("armature").amount("armature")?.unwrap_or(0.0);
        if self.flags.dampers {
            numbers.damping = self.linear(&given, "damping")?;
        }
        if self.flags.springs {
            numbers.stiffness = self.linear(&given, "stiffness")?;
        }
        if self.flags.friction_loss {
            numbers.friction = given.at("frictionloss").amount("frictionloss")?.unwrap_or(0.0);
        }
        if kind == JointKind::Free {
            return Ok(Joint { line, reference: 0.0, numbers });
        }
        let anchor = given.at("pos").numbers("pos")?.unwrap_or([0.0; 3]);
        numbers.anchor = (frame * Point3::from(anchor)).coords.into();
        numbers.limits = self.limits(&given, kind)?;
        if kind == JointKind::Ball {
            return Ok(Joint { line, reference: 0.0, numbers });
        }
        let axis = given.at("axis").numbers("axis")?.unwrap_or([0.0, 0.0, 1.0]);
        let axis = direction(given.at("axis"), "axis", axis)?;
        numbers.axis = (frame.rotation * axis).into_inner().into();
        let coordinate = |name: &str| {
            let number = given.at(name).number(name)?.unwrap_or(0.0);
            Ok(if kind == JointKind::Revolute { self.compiler.angle(number) } else { number })
        };
        let reference = coordinate("ref")?;
        numbers.rest = coordinate("springref")?;
        numbers.q = vec![reference];
        Ok(Joint { line, reference, numbers })
    }

    /// The first coefficient of a polynomial; others are remarked upon.
    pub(super) fn linear(&mut self, given: &Given, name: &str) -> Result<f64, Error> {
        let element = given.at(name);
        let Some(coefficients) = element.list(name)? else { return Ok(0.0) };
        match *coefficients.as_slice() {
            [first] | [first, _] | [first, _, _] if first >= 0.0 => {
                if coefficients[1..].iter().any(|&c| c != 0.0) {
                    let message = "is followed in its first number only: forces are linear";
                    self.remarks.add(element, name, message);
                }
                Ok(first)
            }
            _ => Err(element.error(name, "must be one number to three, the first not negative")),
        }
    }

    fn limits(&mut self, given: &Given, kind: JointKind) -> Result<Option<[f64; 2]>, Error> {
        let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        let limited = given.at("limited").word("limited", &words)?.flatten();
        let range = given.at("range").numbers("range")?;
        if !self.flags.limits || !self.compiler.limits(limited, range.is_some()) {
            return Ok(None);
        }
        let at = given.at("range");
        let Some([lower, upper]) = range else {
            return Err(given.own().error("range", "is missing, and the joint is limited"));
        };
        if kind == JointKind::Ball {
            self.remarks.add(at, "range", "is not followed: ball joints have no limits");
            return Ok(None);
        }
        if lower >= upper {
            let message = format!("must be a lower limit and a larger one, found {lower} {upper}");
            return Err(at.error("range", message));
        }
        let limit = |x| if kind == JointKind::Revolute { self.compiler.angle(x) } else { x };
        // Rad, unlike the range.
        let margin = given.at("margin").amount("margin")?.unwrap_or(0.0);
        let (lower, upper) = (limit(lower), limit(upper));
        Ok(Some(within(lower, upper, (margin, given), &mut self.remarks)))
    }
}

/// What a margin leaves of a range, which is held that much away from its ends; where it leaves nothing, with a remark, a little about the
/// middle.
pub(super) fn within(
    lower: f64,
    upper: f64,
    (margin, given): (f64, &Given),
    remarks: &mut Remarks,
) -> [f64; 2] {
    if lower + margin < upper - margin {
        return [lower + margin, upper - margin];
    }
    remarks.add(
        given.at("margin"),
        "margin",
        "leaves nothing of the range: it is held in its middle",
    );
    let middle = f64::midpoint(lower, upper);
    let least = 1e-9 * middle.abs().max(1.0);
    [middle - least, middle + least]
}

const ALIGN: [Unfollowed; 1] = [Unfollowed {
    name: "align",
    neutral: "auto",
    instead: "is not followed: frames of free bodies stay where the file puts them",
}];

impl Joint {
    /// The joint of a body that stands at `pose` in its parent where the number of the joint is its
    /// reference.
    pub fn describe(self, pose: &Isometry3<f64>) -> JointDescription {
        let Joint { reference, mut numbers, .. } = self;
        let anchor = Vector3::from(numbers.anchor);
        let axis = nalgebra::Unit::new_unchecked(Vector3::from(numbers.axis));
        let back = match numbers.kind {
            // R0' = R0 Rj(-ref), p0' = p0 + (R0 - R0') a
            JointKind::Revolute => {
                let turn = UnitQuaternion::from_axis_angle(&axis, -reference);
                Isometry3::from_parts(Translation3::from(anchor - turn * anchor), turn)
            }
            // p0' = p0 - R0 axis ref
            JointKind::Prismatic => {
                let [x, y, z]: [f64; 3] = (axis.into_inner() * -reference).into();
                Isometry3::translation(x, y, z)
            }
            _ => Isometry3::identity(),
        };
        let at_zero = if reference == 0.0 { *pose } else { pose * back };
        numbers.position = at_zero.translation.vector.into();
        numbers.orientation = wxyz(&at_zero.rotation);
        numbers
    }
}
