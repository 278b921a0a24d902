//! `joint` elements.

use nalgebra::{Unit, UnitQuaternion, Vector3};

use super::link::Link;
use super::origin::origin;
use crate::Error;
use crate::assemble::{BodyDescription, EqualityDescription, JointDescription, StatedDrive};
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Remarks};
use crate::model::{EqualityKind, JointKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fixed,
    Revolute,
    Continuous,
    Prismatic,
    Floating,
    Planar,
}

/// A joint.
#[derive(Debug)]
pub(super) struct Joint<'a> {
    element: &'a Element,
    pub name: &'a str,
    pub parent: &'a str,
    pub child: &'a str,
    kind: Kind,
    /// Pose, axis and numbers.
    numbers: JointDescription,
}

impl<'a> Joint<'a> {
    /// Reads a joint. `driven`: whether it gets a motor, which has its limits of effort.
    pub fn read(
        element: &'a Element,
        driven: bool,
        remarks: &mut Remarks,
    ) -> Result<Joint<'a>, Error> {
        element.remark_on_others(&["name", "type"], &[], &[], remarks);
        let name = element.required("name")?;
        element.required("type")?;
        let words = [
            ("fixed", Kind::Fixed),
            ("revolute", Kind::Revolute),
            ("continuous", Kind::Continuous),
            ("prismatic", Kind::Prismatic),
            ("floating", Kind::Floating),
            ("planar", Kind::Planar),
        ];
        let kind = element.word("type", &words)?.unwrap_or(Kind::Fixed);
        let link = |tag: &'static str| match element.child(tag) {
            Some(child) => child.required("link"),
            None => Err(element.error(tag, "is missing")),
        };
        let pose = origin(element)?;
        let mut numbers = JointDescription {
            name: name.to_string(),
            position: pose.translation.vector.into(),
            orientation: wxyz(&pose.rotation),
            ..JointDescription::new(JointKind::Fixed)
        };
        numbers.axis = axis(element, kind)?;
        if let Some(dynamics) = element.child("dynamics") {
            dynamics.remark_on_others(&["damping", "friction"], &[], &[], remarks);
            numbers.damping = dynamics.amount("damping")?.unwrap_or(0.0);
            numbers.friction = dynamics.amount("friction")?.unwrap_or(0.0);
        }
        if [Kind::Revolute, Kind::Prismatic].contains(&kind) {
            numbers.limits = limits(element, driven, remarks)?;
        }
        if let Some(limit) = element.child("limit") {
            numbers.effort = limit.amount("effort")?.unwrap_or(0.0);
            // 0, or less, is what files have that do not know it.
            let axis = [Kind::Revolute, Kind::Continuous, Kind::Prismatic].contains(&kind);
            let speed = if axis { limit.number("velocity")? } else { None };
            numbers.max_speed = speed.filter(|&speed| speed > 0.0);
        }
        for child in &element.children {
            match child.tag.as_str() {
                "parent" | "child" | "origin" | "axis" | "dynamics" | "limit" | "mimic"
                | "calibration" => {}
                "safety_controller" => {
                    remarks.add(child, "", "is not followed: only the limits of the joint are");
                }
                _ => remarks.add(child, "", "is not known here, and ignored"),
            }
        }
        Ok(Joint { element, name, parent: link("parent")?, child: link("child")?, kind, numbers })
    }

    /// Gives it a drive that the file states, unless it has one.
    pub fn drive(&mut self, drive: StatedDrive) {
        self.numbers.drive.get_or_insert(drive);
    }

    /// Whether it has one coordinate.
    pub fn has_axis(&self) -> bool {
        [Kind::Revolute, Kind::Continuous, Kind::Prismatic].contains(&self.kind)
    }

    /// The joint that says where it is, if it mimics one of `joints` that can.
    pub fn leader<'b>(&self, joints: &'b [Joint]) -> Option<&'b str> {
        let other = self.element.child("mimic")?.get("joint")?;
        let leads = |joint: &&Joint| joint.name == other && joint.has_axis();
        let leader = joints.iter().find(leads)?;
        (other != self.name && self.has_axis()).then_some(leader.name)
    }

    /// Whether its range has an end on a side already: of its places, or, of a `speed`, of its speed.
    pub fn is_limited(&self, speed: bool) -> bool {
        if speed { self.numbers.max_speed.is_some() } else { self.numbers.limits.is_some() }
    }

    /// Whether it holds both links in place.
    pub fn is_fixed(&self) -> bool {
        self.kind == Kind::Fixed
    }

    /// The child link, and bodies without mass before it where the joint has several coordinates.
    /// `on_world`: whether the parent is fixed to the world where it stands.
    pub fn bodies(
        &self,
        link: &Link,
        name: &str,
        parent: Option<String>,
        on_world: bool,
    ) -> Vec<BodyDescription> {
        let single = |kind| JointDescription { kind, ..self.numbers.clone() };
        let joints = match self.kind {
            Kind::Fixed => vec![single(JointKind::Fixed)],
            Kind::Revolute | Kind::Continuous => vec![single(JointKind::Revolute)],
            Kind::Prismatic => vec![single(JointKind::Prismatic)],
            Kind::Floating if on_world => {
                return vec![link.body(name, None, single(JointKind::Free))];
            }
            // A free joint hangs on the world; elsewhere three slides and a ball are one.
            Kind::Floating => {
                let [x, y, z] = [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()];
                self.chain(&[("x", x), ("y", y), ("z", z)], JointKind::Ball)
            }
            // Along two axes of the plane, and about its normal.
            Kind::Planar => {
                let normal = Unit::new_unchecked(Vector3::from(self.numbers.axis));
                let turn = UnitQuaternion::rotation_between_axis(&Vector3::z_axis(), &normal);
                let turn = turn.unwrap_or_else(|| {
                    UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
                });
                let [x, y] = [turn * Vector3::x_axis(), turn * Vector3::y_axis()];
                self.chain(&[("x", x), ("y", y)], JointKind::Revolute)
            }
        };
        let (mut bodies, mut parent, count) = (Vec::new(), parent, joints.len());
        for (k, joint) in joints.into_iter().enumerate() {
            if k + 1 == count {
                bodies.push(link.body(name, parent.take(), joint));
                break;
            }
            let between = format!("{name}/{}", joint.name);
            let massless = Link {
                element: link.element,
                mass: crate::formats::mass_properties::MassProperties::zero(),
                colliders: Vec::new(),
                visuals: Vec::new(),
            };
            bodies.push(massless.body(&between, parent, joint));
            parent = Some(between);
        }
        bodies
    }

    /// Slides along axes, and a last joint.
    fn chain(
        &self,
        slides: &[(&str, Unit<Vector3<f64>>)],
        last: JointKind,
    ) -> Vec<JointDescription> {
        let numbers = &self.numbers;
        let joint = |kind| JointDescription {
            damping: numbers.damping,
            friction: numbers.friction,
            axis: numbers.axis,
            passive: true,
            ..JointDescription::new(kind)
        };
        let slides = slides.iter().map(|(suffix, axis)| JointDescription {
            name: format!("{}_{suffix}", self.name),
            axis: axis.into_inner().into(),
            ..joint(JointKind::Prismatic)
        });
        let last = JointDescription { name: self.name.to_string(), ..joint(last) };
        let mut joints: Vec<_> = slides.chain([last]).collect();
        (joints[0].position, joints[0].orientation) = (numbers.position, numbers.orientation);
        joints
    }

    /// q = multiplier q' + offset, if it mimics another.
    pub fn mimic(
        &self,
        joints: &[Joint],
        remarks: &mut Remarks,
    ) -> Result<Option<EqualityDescription>, Error> {
        let Some(mimic) = self.element.child("mimic") else { return Ok(None) };
        let other = mimic.required("joint")?;
        if self.leader(joints).is_none() {
            let message = "is not followed: it asks for another joint, both with one coordinate";
            remarks.add(mimic, "joint", message);
            return Ok(None);
        }
        Ok(Some(EqualityDescription {
            line: Some(mimic.line),
            name: format!("{}_mimic", self.name),
            kind: EqualityKind::Joint,
            bodies: [None, None],
            anchors: [[0.0; 3]; 2],
            orientation: [1.0, 0.0, 0.0, 0.0],
            axis: [0.0; 3],
            distance: 0.0,
            joints: [self.name.to_string(), other.to_string()],
            offset: mimic.number("offset")?.unwrap_or(0.0),
            ratio: mimic.number("multiplier")?.unwrap_or(1.0),
            stiffness: None,
            damping: 0.0,
        }))
    }
}

/// The unit axis; x if none is given.
fn axis(element: &Element, kind: Kind) -> Result<[f64; 3], Error> {
    // Written where it has no meaning.
    if [Kind::Fixed, Kind::Floating].contains(&kind) {
        return Ok([0.0, 0.0, 1.0]);
    }
    let Some(axis) = element.child("axis") else { return Ok([1.0, 0.0, 0.0]) };
    let Some(numbers) = axis.numbers("xyz")? else { return Ok([1.0, 0.0, 0.0]) };
    // Scaled first, so that no length overflows.
    let vector = Vector3::from(numbers);
    let unit = (vector / vector.amax().max(1e-14)).try_normalize(1e-14);
    unit.map(Into::into).ok_or_else(|| axis.error("xyz", "must not be zero"))
}

fn limits(
    element: &Element,
    driven: bool,
    remarks: &mut Remarks,
) -> Result<Option<[f64; 2]>, Error> {
    let Some(limit) = element.child("limit") else {
        remarks.add(element, "limit", "is missing: the joint moves without end");
        return Ok(None);
    };
    let followed = ["lower", "upper"];
    limit.remark_on_others(&followed, &["effort", "velocity"], &[], remarks);
    if !driven && limit.number("effort")?.is_some_and(|found| found > 0.0) {
        remarks.add(limit, "effort", "is not followed: forces have no limits");
    }
    let lower = limit.number("lower")?.unwrap_or(0.0);
    let upper = limit.number("upper")?.unwrap_or(0.0);
    if lower > upper {
        let message = format!("must be at most upper, {upper}, found {lower}");
        return Err(limit.error("lower", message));
    }
    if lower == upper {
        remarks.add(limit, "", "allows no motion, and is not followed: make the joint fixed");
        return Ok(None);
    }
    Ok(Some([lower, upper]))
}
