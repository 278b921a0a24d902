//! The rigid part of a scene that has soft bodies too: the same file, without what is of soft bodies alone.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Taken, build, read_name};
use crate::Error;
use crate::collision::Pose;
use crate::dynamics::FreeMotion;
use crate::model::{ContactSolver, Integrator, RestitutionLaw, Scene};
use crate::soft::{SoftGround, SoftObstacle, SoftScene};
use crate::spatial::rotation_matrix;
use crate::table::Table;

/// Tables of soft bodies.
pub(super) const SOFT: [&str; 4] = ["soft", "hold", "cable", "spring"];
/// What a [[contact]] of all pairs says of soft bodies alone.
const PENALTY: [&str; 3] = ["stiffness", "damping", "by_area"];
/// Tables of rigid bodies whose names are taken.
const RIGID: [&str; 10] = [
    "material",
    "half_space",
    "shape",
    "body",
    "actuator",
    "equality",
    "push",
    "tendon",
    "camera",
    "learned",
];

/// Whether a scene of soft bodies has rigid ones too.
pub(super) fn is_mixed(root: &Table) -> bool {
    root.has("body")
}

/// Whether a [[contact]] is of soft bodies: the second of its pair is one of these, and none of the rigid ones that is called so and more.
pub(super) fn is_of_soft(pair: &str, soft: &[String], rigid: &[String]) -> bool {
    let longest = |names: &[String]| {
        let second = |name: &&String| {
            pair.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('-'))
        };
        names.iter().filter(second).map(String::len).max()
    };
    longest(soft) > longest(rigid)
}

/// The names of what soft bodies touch.
pub(super) fn touched(scene: &SoftScene) -> Vec<String> {
    scene.touched().map(str::to_string).collect()
}

/// Reads the rigid bodies of a scene, and what soft ones touch of them.
pub(super) fn read(
    (text, name, document): (&str, &str, &Spanned<DeTable>),
    names: &mut Taken,
    scene: &mut SoftScene,
) -> Result<(), Error> {
    let root = Table::root(text, name, document);
    let rigid = rigid_document(&root, document)?;
    let root = Table::root(text, name, &rigid);
    let own = build(&root, name, false)?;
    refuse(&root, &own)?;
    for kind in RIGID {
        for mut table in root.tables(kind)? {
            read_name(&mut table, kind, names)?;
        }
    }
    scene.warnings.extend(own.warnings.iter().map(ToString::to_string));
    let (model, parameters) = (&own.model, &own.parameters);
    for (k, half_space) in model.half_spaces.iter().enumerate() {
        let plane = parameters.plane(model, k);
        let (normal, offset) = (plane.normal.into(), plane.offset);
        scene.grounds.push(SoftGround { name: half_space.name.clone(), normal, offset });
    }
    let mut motion = FreeMotion::default();
    motion.start(&own.system(), &own.state, &own.inputs, own.settings.time_step);
    for (k, collider) in model.colliders.iter().enumerate() {
        let (size, rounding) = parameters.core(model, k);
        let mut pose = Pose {
            rotation: rotation_matrix(collider.orientation),
            position: parameters.collider_position(model, k),
        };
        let moves = |body: &usize| model.bodies[*body].tree.is_some();
        if let Some(body) = collider.body.filter(|body| !moves(body)) {
            let at = &motion.bodies[body];
            let position = at.position + at.rotation * pose.position;
            pose = Pose { rotation: at.rotation * pose.rotation, position };
        }
        let shape = collider.shape.clone();
        let mut obstacle = SoftObstacle::new(&collider.name, shape, size, pose);
        obstacle.rounding = rounding;
        obstacle.body = collider.body.filter(moves);
        scene.obstacles.push(obstacle);
    }
    scene.rigid = Some(Box::new(own));
    Ok(())
}

/// The file without what is of soft bodies.
fn rigid_document<'a>(
    root: &Table,
    document: &Spanned<DeTable<'a>>,
) -> Result<Spanned<DeTable<'a>>, Error> {
    let names = |kinds: &[&str]| -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for kind in kinds {
            for table in root.tables(kind)? {
                names.extend(table.string("name")?.map(str::to_string));
            }
        }
        Ok(names)
    };
    let (soft, solid) = (names(&["soft"])?, names(&["half_space", "shape", "body"])?);
    let mut rigid = document.clone();
    let entries = rigid.get_mut();
    SOFT.iter().for_each(|kind| {
        entries.remove(*kind);
    });
    let simulation = entries.get("simulation").map(Spanned::get_ref);
    let solver = simulation.and_then(DeValue::as_table).and_then(|table| table.get("solver"));
    let solver = solver.and_then(|value| value.get_ref().as_str());
    // By penalties rigid bodies touch each other too.
    let soft_fields = match solver {
        Some("penalty_linear" | "penalty_tanh") => &PENALTY[2..],
        _ => &PENALTY[..],
    };
    if let Some(DeValue::Array(tables)) = entries.get_mut("contact").map(Spanned::get_mut) {
        let is_rigid = |table: &Spanned<DeValue>| {
            let pair = table.get_ref().get("pair").and_then(|pair| pair.get_ref().as_str());
            !pair.is_some_and(|pair| is_of_soft(pair, &soft, &solid))
        };
        *tables = tables.iter().filter(|table| is_rigid(table)).cloned().collect();
        for table in tables.iter_mut() {
            let DeValue::Table(fields) = table.get_mut() else { continue };
            if !["pair", "bodies"].iter().any(|field| fields.contains_key(*field)) {
                soft_fields.iter().for_each(|field| {
                    fields.remove(*field);
                });
            }
        }
    }
    if let Some(DeValue::Table(settings)) = entries.get_mut("simulation").map(Spanned::get_mut) {
        // A word of soft bodies.
        let solver = settings.get("solver").and_then(|value| value.get_ref().as_str());
        if solver == Some("hybrid") {
            settings.remove("solver");
        }
    }
    Ok(rigid)
}

/// An error if rigid bodies have something that is not made for beside soft ones.
fn refuse(root: &Table, scene: &Scene) -> Result<(), Error> {
    let Scene { settings, .. } = scene;
    let table = root.required("simulation", root.table("simulation")?)?;
    let beside = "is not for scenes that have [[soft]] and [[body]]";
    for (field, is_refused) in [
        ("solver", settings.solver != ContactSolver::Coupled && !settings.solver.is_penalty()),
        ("restitution_law", settings.restitution_law != RestitutionLaw::default()),
        ("smoothing", settings.smoothing > 0.0),
        ("split_impacts", settings.split_impacts),
        ("integrator", settings.integrator == Integrator::RungeKutta),
    ] {
        if is_refused {
            return Err(table.error(field, beside));
        }
    }
    Ok(())
}
