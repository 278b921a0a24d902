//! `geom` elements: what touches, and what has mass.

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, UnitQuaternion, Vector3};

use super::defaults::Given;
use super::ellipsoid;
use super::geom_friction::{Friction, NO_TORSION};
use super::orientation::{direction, from_z, given_pose};
use super::reader::Reader;
use crate::Error;
use crate::assemble::{ColliderDescription, Filter, OnGround};
use crate::formats::mass_properties::{self, MassProperties};
use crate::formats::mesh::scaled;
use crate::formats::pose::{isometry, wxyz};
use crate::formats::xml::{Element, Remarks, Unfollowed};
use crate::model::{Color, HeightField, Shape, Visual, VisualForm};

/// What a geom is.
pub(super) enum Form {
    /// A half-space above the plane of x and y of its pose.
    Plane(Isometry3<f64>),
    Solid(Box<ColliderDescription>),
    /// It touches nothing; whether it is a mesh.
    Seen(Visual, bool),
    /// Likewise, and is not seen.
    Nothing,
}

/// A geom as it stands in its body.
pub(super) struct Geom {
    pub form: Form,
    /// Nothing if it is not among those that have mass.
    pub mass: Option<MassProperties>,
    pub friction: Friction,
    /// Of two geoms that of the larger one says how they rub.
    pub priority: i64,
    pub filter: Filter,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plane,
    HeightField,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
}

const FOLLOWED: [&str; 26] = [
    "axisangle",
    "class",
    "conaffinity",
    "condim",
    "contype",
    "density",
    "euler",
    "fitscale",
    "friction",
    "fromto",
    "group",
    "hfield",
    "margin",
    "mass",
    "material",
    "mesh",
    "name",
    "pos",
    "quat",
    "rgba",
    "shellinertia",
    "size",
    "type",
    "xyaxes",
    "zaxis",
    "priority",
];

const INERT: [&str; 4] = ["castshadow", "user", "fluidcoef", "solmix"];

/// Viewers show groups up to this one.
const LAST_SHOWN: f64 = 2.0;

const RIGID: &str = "is not followed: contacts are rigid";
const GAP: &str = "has no effect: as in MuJoCo 4 it takes nothing from the margin";

const UNFOLLOWED: [Unfollowed; 6] = [
    Unfollowed { name: "solref", neutral: "", instead: RIGID },
    Unfollowed { name: "solimp", neutral: "", instead: RIGID },
    Unfollowed { name: "gap", neutral: "0", instead: GAP },
    Unfollowed { name: "adhesion", neutral: "0", instead: "is not followed: nothing sticks" },
    Unfollowed {
        name: "surfacevel",
        neutral: "0",
        instead: "is not followed: surfaces do not run",
    },
    Unfollowed {
        name: "fluidshape",
        neutral: "none",
        instead: "is not followed: nothing moves in a fluid here",
    },
];

/// Remarks on what is not followed.
pub(super) fn remark(element: &Element, remarks: &mut Remarks) {
    element.remark_on_others(&FOLLOWED, &INERT, &UNFOLLOWED, remarks);
}

impl<'a> Reader<'a> {
    /// Reads a geom in a body, with `frame` between them. `touches`: whether a pair names it.
    pub(super) fn geom(
        &mut self,
        element: &'a Element,
        class: Option<&'a str>,
        frame: &Isometry3<f64>,
        touches: bool,
        massive: bool,
    ) -> Result<Geom, Error> {
        remark(element, &mut self.remarks);
        for child in &element.children {
            self.remarks.add(child, "", "is not followed, and left out");
        }
        let given = self.defaults.given(element, class)?;
        let filter = filter(&given)?;
        let touches = touches || self.flags.contact && (filter.contype | filter.conaffinity) != 0;
        let friction = Friction::of_geom(&given)?;
        if friction.lacks_torsion() && touches {
            self.remarks.add(given.at("friction"), "friction", NO_TORSION);
        }
        let priority = given.at("priority").integer("priority")?.unwrap_or(0);
        let group = given.at("group").number("group")?.unwrap_or(0.0);
        let [first, last] = self.compiler.inertia_groups;
        let own_mass = given.at("mass").amount("mass")?;
        let density = given.at("density").amount("density")?;
        // What weighs nothing is not weighed: the file of a look need not be read.
        let weighs = own_mass.or(density).is_none_or(|amount| amount > 0.0);
        let massive = massive && weighs && (first..=last).contains(&group);
        let color = self.color(&given)?;
        let shown = group <= LAST_SHOWN && color.is_none_or(|color| color[3] > 0.0);
        // Those of two add, as in MuJoCo 4.
        let margin = given.at("margin").amount("margin")?.unwrap_or(0.0);
        let (form, mass) = self.form(&given, touches, massive)?;
        let form = match form {
            Form::Plane(pose) => Form::Plane(frame * pose * Translation3::new(0.0, 0.0, margin)),
            Form::Solid(mut collider) => {
                collider.margin = margin;
                let pose = frame * isometry(collider.position, collider.orientation);
                collider.position = pose.translation.vector.into();
                collider.orientation = wxyz(&pose.rotation);
                collider.material = Some(friction.material());
                collider.filter = filter;
                // Hidden, it is seen where nothing else is.
                collider.color = color.filter(|color| color[3] > 0.0);
                collider.drawn = shown;
                Form::Solid(collider)
            }
            Form::Seen(visual, mesh) if shown => {
                let pose = frame * isometry(visual.position, visual.orientation);
                let position = pose.translation.vector.into();
                let orientation = wxyz(&pose.rotation);
                Form::Seen(Visual { position, orientation, color, ..visual }, mesh)
            }
            Form::Seen(..) => Form::Nothing,
            Form::Nothing => Form::Nothing,
        };
        let mass = mass.map(|mass| mass.moved(frame)).filter(|_| massive);
        Ok(Geom { form, mass, friction, priority, filter })
    }

    /// Its colour: its own, or that of what it is made of.
    fn color(&self, given: &Given<'a>) -> Result<Option<Color>, Error> {
        let own: Option<Color> = given.at("rgba").numbers("rgba")?;
        let made_of = given.get("material").map(|name| self.assets.color(name));
        let color = own.or(made_of.transpose()?.flatten());
        Ok(color.map(|color| color.map(|part| part.clamp(0.0, 1.0))))
    }

    /// What it is, and its mass.
    fn form(
        &mut self,
        given: &Given<'a>,
        touches: bool,
        massive: bool,
    ) -> Result<(Form, Option<MassProperties>), Error> {
        let element = given.own();
        let words = [
            ("plane", Some(Kind::Plane)),
            ("hfield", Some(Kind::HeightField)),
            ("sphere", Some(Kind::Sphere)),
            ("capsule", Some(Kind::Capsule)),
            ("ellipsoid", Some(Kind::Ellipsoid)),
            ("cylinder", Some(Kind::Cylinder)),
            ("box", Some(Kind::Box)),
            ("mesh", Some(Kind::Mesh)),
            ("sdf", None),
        ];
        let kind = given.at("type").word("type", &words)?.unwrap_or(Some(Kind::Sphere));
        let Some(kind) = kind else {
            let message = "is not followed: a geom of type sdf touches nothing and has no mass";
            self.remarks.add(element, "type", message);
            return Ok((Form::Nothing, None));
        };
        if kind == Kind::Plane {
            let pose = given_pose(given, &self.compiler)?;
            return Ok((if touches { Form::Plane(pose) } else { Form::Nothing }, None));
        }
        if kind == Kind::HeightField {
            let form = if touches { self.height_field(given)? } else { Form::Nothing };
            return Ok((form, None));
        }
        let mut pose = given_pose(given, &self.compiler)?;
        let mesh = given.get("mesh");
        if kind == Kind::Mesh {
            let Some(mesh) = mesh else { return Err(element.error("mesh", "is missing")) };
            return self.mesh_geom(given, mesh, &pose, touches, massive);
        }
        let size = match mesh {
            Some(mesh) => {
                let (fitted, size) = self.fit(given, mesh, kind)?;
                pose *= fitted;
                size
            }
            None => self.size(given, kind, &mut pose)?,
        };
        let shape = match kind {
            Kind::Sphere => Shape::Sphere,
            Kind::Capsule => Shape::Capsule,
            Kind::Cylinder => Shape::Cylinder,
            _ => Shape::Box,
        };
        let form = match kind {
            Kind::Ellipsoid if touches => {
                let hull = ellipsoid::hull(size)
                    .map_err(|error| element.error("size", format!("has no hull: {error}")))?;
                let message = format!(
                    "is followed as the hull of {} points on it, which falls short of it by at most {} of its radii",
                    hull.vertices().len(),
                    ellipsoid::SHORT
                );
                self.remarks.add(given.at("type"), "type", message);
                Form::Solid(collider(element, Shape::Convex(Arc::new(hull)), [1.0; 3], &pose))
            }
            Kind::Ellipsoid => {
                let surface = Shape::Sphere.surface(Vector3::repeat(1.0)).scaled(&size.into());
                Form::Seen(seen(VisualForm::Surface(Arc::new(surface)), &pose), false)
            }
            _ if touches => Form::Solid(collider(element, shape, size, &pose)),
            _ => Form::Seen(seen(VisualForm::Solid(shape, size), &pose), false),
        };
        if !massive {
            return Ok((form, None));
        }
        let solid = |density: f64| match kind {
            Kind::Sphere => mass_properties::ball(density, size[0]),
            Kind::Capsule => mass_properties::capsule(density, size[0], size[1]),
            Kind::Cylinder => mass_properties::cylinder(density, size[0], size[1]),
            Kind::Ellipsoid => mass_properties::ellipsoid(density, size),
            _ => mass_properties::cuboid(density, size),
        };
        if given.at("shellinertia").boolean("shellinertia")? == Some(true) {
            let message = "is not followed: the inertia is that of a solid";
            self.remarks.add(given.at("shellinertia"), "shellinertia", message);
        }
        Ok((form, Some(weigh(given, solid(1.0))?.moved(&pose))))
    }

    /// A mesh: its hull touches, its faces enclose mass.
    fn mesh_geom(
        &mut self,
        given: &Given<'a>,
        name: &str,
        pose: &Isometry3<f64>,
        touches: bool,
        massive: bool,
    ) -> Result<(Form, Option<MassProperties>), Error> {
        let element = given.own();
        let Reader { assets, compiler, .. } = self;
        let placed = assets.place(element, name, compiler)?;
        let form = if touches {
            let hull = assets.hull(element, name, compiler)?;
            let mesh = placed.path.map(|path| path.display().to_string());
            let (hull, scale, mirrored) = scaled(hull, placed.scale)
                .map_err(|error| element.error("mesh", format!("has no hull: {error}")))?;
            let mesh = mesh.filter(|_| !mirrored);
            let mut solid = collider(element, Shape::Convex(hull), scale, pose);
            solid.mesh = mesh;
            let (most, stated) = assets.max_hull_vertices(element, name)?;
            (solid.max_hull_vertices, solid.states_hull_limit) = (Some(most), stated);
            Form::Solid(solid)
        } else {
            match assets.look(element, name, compiler, placed) {
                Ok(look) => Form::Seen(seen(look, pose), true),
                // What is seen is no reason not to move.
                Err(error) => {
                    let message = format!("is not seen: {}", error.message());
                    self.remarks.add(element, "mesh", message);
                    Form::Nothing
                }
            }
        };
        if !massive {
            return Ok((form, None));
        }
        let mass = assets.mass(element, name, compiler)?;
        Ok((form, Some(weigh(given, mass)?.moved(pose))))
    }

    /// Sizes and pose in the frame of the mesh of a primitive around it.
    fn fit(
        &mut self,
        given: &Given<'a>,
        name: &str,
        kind: Kind,
    ) -> Result<(Isometry3<f64>, [f64; 3]), Error> {
        let element = given.own();
        let Reader { assets, compiler, .. } = self;
        let mass = assets.mass(element, name, compiler)?;
        if !mass.is_finite() {
            return Err(element.error("mesh", "is too large: its inertia is no finite number"));
        }
        let placed = assets.place(element, name, compiler)?;
        let (rotation, moments) = principal_axes(&mass.inertia);
        let frame = Isometry3::from_parts(mass.center.into(), rotation);
        let (pose, half) = if compiler.fit_bounds {
            let points = assets.points(element, name, compiler)?;
            let (mut least, mut most) = (Vector3::repeat(f64::MAX), Vector3::repeat(f64::MIN));
            for point in points {
                let scaled = Vector3::from(*point).component_mul(&Vector3::from(placed.scale));
                let point = frame.inverse() * Point3::from(scaled);
                (least, most) = (least.inf(&point.coords), most.sup(&point.coords));
            }
            let center = Isometry3::translation(
                (least.x + most.x) / 2.0,
                (least.y + most.y) / 2.0,
                (least.z + most.z) / 2.0,
            );
            (frame * center, (most - least) / 2.0)
        } else {
            // The box of that inertia: I_x = m (h_y² + h_z²) / 3
            let sum = moments.sum() / 2.0;
            let half = moments.map(|moment| (3.0 * (sum - moment) / mass.mass).max(0.0).sqrt());
            (frame, half)
        };
        let [x, y, z]: [f64; 3] = half.into();
        let bounds = compiler.fit_bounds;
        let across = if bounds { x.max(y) } else { (x + y) / 2.0 };
        let size = match kind {
            Kind::Sphere if bounds => [x.max(y).max(z), 0.0, 0.0],
            Kind::Sphere => [(x + y + z) / 3.0, 0.0, 0.0],
            Kind::Capsule if bounds => [across, (z - across).max(0.0), 0.0],
            Kind::Capsule => [across, (z - across / 2.0).max(0.0), 0.0],
            Kind::Cylinder => [across, z, 0.0],
            _ => [x, y, z],
        };
        let scale = given.at("fitscale").amount("fitscale")?.unwrap_or(1.0);
        Ok((pose, size.map(|x| x * scale)))
    }

    /// Sizes as they are given; `fromto` changes the pose.
    fn size(
        &mut self,
        given: &Given<'a>,
        kind: Kind,
        pose: &mut Isometry3<f64>,
    ) -> Result<[f64; 3], Error> {
        let count = match kind {
            Kind::Sphere => 1,
            Kind::Capsule | Kind::Cylinder => 2,
            _ => 3,
        };
        let at = given.at("size");
        let sizes = at.list("size")?.unwrap_or_default();
        let mut size = [0.0; 3];
        for (slot, found) in size.iter_mut().zip(&sizes) {
            *slot = *found;
        }
        let mut found = sizes.len();
        if let Some(ends) = given.at("fromto").numbers("fromto")?
            && kind != Kind::Sphere
        {
            let [a, b, c, d, e, f] = ends;
            let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
            // Along the axis MuJoCo points z back, which shows in the sides of boxes.
            let axis = direction(given.at("fromto"), "fromto", (from - to).into())?;
            pose.translation = ((from + to) / 2.0).into();
            pose.rotation = from_z(&axis);
            let half = (to - from).norm() / 2.0;
            found = count.max(found);
            size = match kind {
                Kind::Capsule | Kind::Cylinder => [size[0], half, 0.0],
                _ => [size[0], size[0], half],
            };
        }
        if found < count {
            let message = format!("must be {count} numbers or more, found {}", sizes.len());
            return Err(at.error("size", message));
        }
        match size[..count].iter().find(|&&x| x <= 0.0) {
            Some(x) => Err(at.error("size", format!("must be positive, found {x} (m)"))),
            None => Ok(size),
        }
    }

    fn height_field(&mut self, given: &Given<'a>) -> Result<Form, Error> {
        let element = given.own();
        let Some(name) = given.get("hfield") else {
            return Err(element.error("hfield", "is missing"));
        };
        let Some(&asset) = self.assets.height_fields.get(name) else {
            return Err(given.at("hfield").error("hfield", "is not among the assets"));
        };
        let Some([x, y, height, _]) = asset.numbers::<4>("size")? else {
            return Err(asset.error("size", "is missing"));
        };
        if asset.get("file").is_some() {
            let message = "is not read: give the heights by elevation; the geom touches nothing";
            self.remarks.add(asset, "file", message);
            return Ok(Form::Nothing);
        }
        let count = |name: &str| match asset.integer(name)? {
            Some(count @ 2..=10_000) => Ok(count as usize),
            _ => Err(asset.error(name, "must be a whole number of 2 to 10000")),
        };
        let (rows, columns) = (count("nrow")?, count("ncol")?);
        let zeros = || vec![0.0; rows * columns];
        let mut heights = asset.list("elevation")?.unwrap_or_else(zeros);
        if heights.len() != rows * columns {
            let message = format!("must be {rows} x {columns} numbers, found {}", heights.len());
            return Err(asset.error("elevation", message));
        }
        let least = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let most = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scale = if most > least { height / (most - least) } else { 0.0 };
        // The first row of the file is that of largest y.
        heights = heights.chunks(columns).rev().flatten().map(|h| (h - least) * scale).collect();
        let spacing = [2.0 * x / (columns - 1) as f64, 2.0 * y / (rows - 1) as f64];
        let field = HeightField::new(rows, columns, spacing, heights)
            .map_err(|error| asset.error("", error.to_string()))?;
        let pose = given_pose(given, &self.compiler)?;
        let shape = Shape::HeightField(Arc::new(field));
        Ok(Form::Solid(collider(element, shape, [1.0; 3], &pose)))
    }
}

/// Rotation to the principal axes, and the moments about them, the largest first.
fn principal_axes(inertia: &Matrix3<f64>) -> (UnitQuaternion<f64>, Vector3<f64>) {
    let eigen = inertia.symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let [x, y] = [0, 1].map(|k| eigen.eigenvectors.column(order[k]).into_owned());
    let basis = nalgebra::Rotation3::from_basis_unchecked(&[x, y, x.cross(&y)]);
    let rotation = UnitQuaternion::from_rotation_matrix(&basis);
    (rotation, Vector3::from(order.map(|k| eigen.eigenvalues[k])))
}

/// A solid of unit density, with the mass or density that is given.
fn weigh(given: &Given, solid: MassProperties) -> Result<MassProperties, Error> {
    let factor = match given.at("mass").amount("mass")? {
        Some(mass) => mass / solid.mass,
        None => given.at("density").amount("density")?.unwrap_or(1000.0),
    };
    let weighed = solid.scaled(factor);
    if !weighed.is_finite() {
        let message = "is too large or too small: its mass or inertia is no finite number";
        return Err(given.own().error("size", message));
    }
    Ok(weighed)
}

fn filter(given: &Given) -> Result<Filter, Error> {
    let bits = |name: &str| {
        let element = given.at(name);
        match element.integer(name)? {
            None => Ok(1),
            // Bits may be written as a signed number.
            Some(bits) if i32::try_from(bits).is_ok() => Ok(bits as i32 as u32),
            Some(bits) => u32::try_from(bits)
                .map_err(|_| element.error(name, "must be a whole number of 32 bits")),
        }
    };
    Ok(Filter { contype: bits("contype")?, conaffinity: bits("conaffinity")? })
}

fn seen(form: VisualForm, pose: &Isometry3<f64>) -> Visual {
    Visual {
        form,
        position: pose.translation.vector.into(),
        orientation: wxyz(&pose.rotation),
        color: None,
    }
}

fn collider(
    element: &Element,
    shape: Shape,
    size: [f64; 3],
    pose: &Isometry3<f64>,
) -> Box<ColliderDescription> {
    Box::new(ColliderDescription {
        line: Some(element.line),
        name: element.get("name").unwrap_or_default().to_string(),
        shape,
        size,
        radius: None,
        margin: 0.0,
        position: pose.translation.vector.into(),
        orientation: wxyz(&pose.rotation),
        material: None,
        on_ground: OnGround::default(),
        made_of: None,
        filter: Filter::default(),
        mesh: None,
        visual: None,
        color: None,
        drawn: false,
        max_hull_vertices: None,
        states_hull_limit: false,
    })
}
