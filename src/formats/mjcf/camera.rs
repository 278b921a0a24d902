//! `camera` elements.

use std::collections::HashSet;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};

use super::orientation::{POSE, given_pose};
use super::reader::Reader;
use super::tree::{Seeing, Tree};
use crate::Error;
use crate::assemble::{CameraDescription, Description};
use crate::formats::xml::{Element, Unfollowed};
use crate::model::CameraNumbers;

const FOLLOWED: [&str; 15] = [
    "name",
    "class",
    "mode",
    "target",
    "fovy",
    "resolution",
    "focal",
    "focalpixel",
    "sensorsize",
    POSE[0],
    POSE[1],
    POSE[2],
    POSE[3],
    POSE[4],
    POSE[5],
];

const INERT: [&str; 3] = ["user", "ipd", "output"];

const CENTRE: &str = "is not followed: the image is about the axis of the camera";

const NEARER: &str = "is not followed: what is nearer is larger";

const UNFOLLOWED: [Unfollowed; 4] = [
    Unfollowed { name: "principal", neutral: "0", instead: CENTRE },
    Unfollowed { name: "principalpixel", neutral: "0", instead: CENTRE },
    Unfollowed { name: "orthographic", neutral: "false", instead: NEARER },
    Unfollowed { name: "projection", neutral: "perspective", instead: NEARER },
];

/// Width and height (px) of images where a file does not say.
const USUAL_SIZE: [usize; 2] = [640, 480];
/// In degrees, as in MuJoCo.
const USUAL_VIEW: f64 = 45.0;
/// How long images may be, px.
const LONGEST: f64 = 8192.0;

impl<'a> Reader<'a> {
    /// Reads a camera in a frame of a body.
    pub fn camera(
        &mut self,
        element: &'a Element,
        class: Option<&'a str>,
        (link, frame): (Option<usize>, &Isometry3<f64>),
    ) -> Result<Seeing, Error> {
        let given = self.defaults.given(element, class)?;
        for layer in &given.layers {
            layer.remark_on_others(&FOLLOWED, &INERT, &UNFOLLOWED, &mut self.remarks);
        }
        let mut target = None;
        match given.get("mode").unwrap_or("fixed") {
            // One that follows its body otherwise is fixed to it: what is only seen is not remarked upon at every command.
            "fixed" | "track" | "trackcom" => {}
            "targetbody" | "targetbodycom" => {
                let Some(name) = given.get("target") else {
                    let message = "is missing: the body that the camera looks at";
                    return Err(element.error("target", message));
                };
                target = Some(name.to_string());
            }
            _ => {
                let message = "must be fixed, track, trackcom, targetbody or targetbodycom";
                return Err(given.at("mode").error("mode", message));
            }
        }
        let size = match given.at("resolution").numbers::<2>("resolution")? {
            // MuJoCo's own, which is no image.
            None | Some([1.0, 1.0]) => USUAL_SIZE,
            Some(size) => {
                let whole = |x: &f64| x.fract() == 0.0 && (1.0..=LONGEST).contains(x);
                if !size.iter().all(whole) {
                    let message = format!("must be two whole numbers from 1 to {LONGEST}");
                    return Err(given.at("resolution").error("resolution", message));
                }
                size.map(|x| x as usize)
            }
        };
        let lens = |name: &str| given.at(name).numbers::<2>(name);
        let positive = |own: &[f64; 2]| own.iter().all(|x| *x > 0.0 && x.is_finite());
        let pixels = size.map(|x| x as f64);
        // In px, along the image and down.
        let focal = match (lens("focalpixel")?, lens("sensorsize")?, lens("focal")?) {
            (Some(focal), Some(_), _) => Some(focal),
            (_, Some(sensor), Some(focal)) => {
                Some([0, 1].map(|k| focal[k] * pixels[k] / sensor[k]))
            }
            _ => None,
        };
        let focal = focal.filter(positive);
        let fov_y = match focal {
            Some([_, focal]) => 2.0 * (0.5 * pixels[1] / focal).atan(),
            None => given.at("fovy").number("fovy")?.unwrap_or(USUAL_VIEW).to_radians(),
        };
        let aspect = focal.map_or(1.0, |[along, down]| along / down);
        if !(fov_y > 0.0 && fov_y < std::f64::consts::PI) {
            return Err(given.at("fovy").error("fovy", "must be between 0 and 180 degrees"));
        }
        Ok(Seeing {
            line: element.line,
            name: element.get("name").unwrap_or_default().to_string(),
            link,
            pose: frame * given_pose(&given, &self.compiler)?,
            target,
            size,
            fov_y,
            aspect,
        })
    }
}

/// The cameras of a tree, under names that nothing in a description has.
pub(super) fn describe(
    tree: &Tree,
    name: &str,
    description: &Description,
) -> Result<Vec<CameraDescription>, Error> {
    let mut taken: HashSet<String> = tree.links.iter().map(|link| link.name.clone()).collect();
    taken.extend(["world", "gravity"].map(str::to_string));
    taken.extend(tree.half_spaces.iter().map(|own| own.name.clone()));
    taken.extend(tree.colliders.iter().map(|own| own.name.clone()));
    taken.extend(description.actuators.iter().map(|own| own.name.clone()));
    taken.extend(description.equalities.iter().map(|own| own.name.clone()));
    taken.extend(description.tendons.iter().map(|own| own.name.clone()));
    // Those without a name take what no other one has.
    let named = |own: &&Seeing| !own.name.is_empty();
    let given: HashSet<&str> =
        tree.cameras.iter().filter(named).map(|own| own.name.as_str()).collect();
    let mut cameras = Vec::new();
    for (count, camera) in tree.cameras.iter().enumerate() {
        let Seeing { line, link, size, fov_y, aspect, .. } = *camera;
        let pose = match &camera.target {
            None => camera.pose,
            Some(target) => {
                let at = match tree.places.get(target) {
                    Some(&body) => tree.links[body].world.translation.vector,
                    None if target == "world" => Vector3::zeros(),
                    None => {
                        let message = format!("there is no body {target:?}");
                        return Err(Error::input(name, line, "camera.target", message));
                    }
                };
                looking_at((tree, at), link, camera.pose)
            }
        };
        let mut own = match camera.name.as_str() {
            "" => format!("camera{}", count + 1),
            own => own.to_string(),
        };
        let nameless = camera.name.is_empty();
        while nameless && given.contains(own.as_str()) || !taken.insert(own.clone()) {
            own += "_camera";
        }
        let eye = pose.translation.vector;
        cameras.push(CameraDescription {
            line: Some(line),
            name: own,
            body: link.map(|link| tree.links[link].name.clone()),
            size,
            numbers: CameraNumbers {
                eye: eye.into(),
                target: (eye - pose.rotation * Vector3::z()).into(),
                up: (pose.rotation * Vector3::y()).into(),
                fov_y,
                aspect,
                center: size.map(|x| 0.5 * x as f64),
            },
        });
    }
    Ok(cameras)
}

/// The pose in its body from which a camera looks at a point of the world, z of the world up in its image.
fn looking_at(
    (tree, at): (&Tree, Vector3<f64>),
    link: Option<usize>,
    pose: Isometry3<f64>,
) -> Isometry3<f64> {
    let own = link.map_or(Isometry3::identity(), |link| tree.links[link].world);
    let eye = own * pose;
    let ahead = at - eye.translation.vector;
    let Some(ahead) = ahead.try_normalize(1e-9) else { return pose };
    // Straight up or down anything is up.
    let up = if ahead.xy().norm() < 1e-9 { Vector3::y() } else { Vector3::z() };
    let turned = UnitQuaternion::face_towards(&-ahead, &up);
    own.inverse() * Isometry3::from_parts(eye.translation, turned)
}
