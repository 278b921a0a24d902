//! A parameter to identify.

use nalgebra::Vector3;

use super::calibrations::Calibrations;
use super::density;
use crate::Error;
use crate::ad::Real;
use crate::dynamics::InertialParameters;
use crate::model::{Model, ParameterRef, Parameters, Scene, domain};
use crate::spatial::Symmetric;
use crate::table::Table;

/// What is known of a parameter beforehand: one more residual, (value - mean) / sd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Its expected value.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// The variable in which a parameter is searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transform {
    /// The parameter itself.
    #[default]
    None,
    /// Its logarithm: it stays positive, and steps are in proportion to it.
    Log,
    /// Number `place` of the `of` = 10 (mass, centre of mass, inertia) or 6 (inertia alone) numbers of a body
    /// that are searched for together, in log-Cholesky coordinates (`Rucker22`): whatever these are,
    /// there can be such a body. Where some of the others are missing or fixed, as `None`.
    Inertial {
        /// Which of them, in the order of [`InertialParameters::array`].
        place: usize,
        /// How many there are.
        of: usize,
    },
}

/// A named parameter with its start, bounds and scale. With `tied`, others of the same kind have its value.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeParameter {
    /// Its path, such as `floor-cube/mu`.
    pub name: String,
    /// The numbers it stands for, those of the tied ones behind its own.
    pub slots: ParameterRef,
    /// How much each of them is for each unit of it; empty if they are its value.
    pub factors: Vec<f64>,
    /// Where the search starts.
    pub start: f64,
    /// Least value allowed.
    pub lower: f64,
    /// Largest value allowed.
    pub upper: f64,
    /// A typical change: what steps are measured in.
    pub scale: f64,
    /// What is searched for in its place. Start, bounds, scale and results are those of the parameter.
    pub transform: Transform,
    /// What is known beforehand.
    pub prior: Option<Prior>,
    /// Whether it keeps its start.
    pub fixed: bool,
}

/// Whether a parameter of this name is a weight of a learned term.
pub(crate) fn is_weight(name: &str) -> bool {
    let number = name.rsplit_once("/weights/").map(|(_, number)| number);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The names of the ten inertial numbers of a body, and how many come before the inertia.
const INERTIAL: [&str; 10] = [
    "mass",
    "center_of_mass/x",
    "center_of_mass/y",
    "center_of_mass/z",
    "inertia/xx",
    "inertia/yy",
    "inertia/zz",
    "inertia/xy",
    "inertia/xz",
    "inertia/yz",
];
const BEFORE_INERTIA: usize = 4;

/// Typical change of mass and inertia of a body that are searched for together, as a share of them.
const INERTIAL_SCALE: f64 = 0.5;

impl FreeParameter {
    /// A parameter without prior, in the variable its kind is searched in by default.
    pub fn new(name: &str, slots: ParameterRef, start: f64, [lower, upper]: [f64; 2]) -> Self {
        FreeParameter {
            name: name.to_string(),
            slots,
            factors: Vec::new(),
            start,
            lower,
            upper,
            scale: typical_change(start, lower, upper),
            transform: Transform::by_default(name, lower),
            prior: None,
            fixed: false,
        }
    }

    /// The numbers of a body's inertia that are searched for together: all ten, or the last six of them.
    /// `start` has as many; `scale`: typical change, as a share.
    ///
    /// # Errors
    /// In words, if there is no such body, or none with these numbers can be.
    pub fn inertial(
        model: &Model,
        body: &str,
        start: &[f64],
        scale: f64,
    ) -> Result<Vec<Self>, String> {
        let of = start.len();
        let size = consistent(start).ok_or_else(|| {
            "are not mass, centre of mass and inertia of a body: mass and inertia must be positive, \
             and the inertia about each axis less than the sum of the two others"
                .to_string()
        })?;
        let names = &INERTIAL[INERTIAL.len() - of..];
        let members = names.iter().zip(start).enumerate().map(|(place, (field, &start))| {
            let name = format!("{body}/{field}");
            let slots = model.parameter(&name).ok_or(format!("the scene has no {name}"))?;
            let (lower, upper) = domain(&name);
            let scale = scale * size[INERTIAL.len() - of + place];
            let transform = Transform::Inertial { place, of };
            let bounds = [lower, upper];
            Ok(FreeParameter {
                scale,
                transform,
                ..FreeParameter::new(&name, slots, start, bounds)
            })
        });
        members.collect()
    }

    /// Whether it is a weight of a learned term: one of many without a meaning of its own.
    pub fn is_weight(&self) -> bool {
        is_weight(&self.name)
    }

    /// Reads a `[[parameter]]` table: one parameter, or those of an inertia.
    pub(super) fn read(
        table: &Table,
        scene: &Scene,
        calibrations: Calibrations,
    ) -> Result<Vec<Self>, Error> {
        let model = &scene.model;
        table.only(&[
            "name",
            "full",
            "tied",
            "start",
            "lower",
            "upper",
            "scale",
            "transform",
            "prior",
            "fixed",
        ])?;
        let name = table.required("name", table.string("name")?)?;
        let full = table.boolean("full")?.unwrap_or(false);
        let body = |field: &str| {
            let owner = name.strip_suffix(field).and_then(|owner| owner.strip_suffix('/'));
            owner.filter(|owner| model.bodies.iter().any(|body| body.name == *owner))
        };
        match (body("inertial"), body("inertia"), full) {
            (Some(body), ..) => return Self::read_inertial(table, scene, body, 10),
            (_, Some(body), true) => return Self::read_inertial(table, scene, body, 6),
            (_, None, true) => {
                let message =
                    "is of inertias only: name = \"cube/inertia\" (or \"cube/inertial\", which is)";
                return Err(table.error("full", message));
            }
            _ => {}
        }
        let find = |field: &str, name: &str| {
            model.parameter(name).or_else(|| calibrations.parameter(name)).ok_or_else(|| {
                let mut known = model.told_parameter_names();
                known.extend(calibrations.parameters().map(|(name, _)| name));
                let known = known.join(", ");
                let why = match name.ends_with("/density") {
                    true => " (a density needs a body with mass, and shapes with a volume: closed meshes)",
                    false => "",
                };
                table.error(field, format!("the scene has no parameter {name:?}{why}; it has {known}"))
            })
        };
        let (mut slots, factors) = match density::find(scene, name) {
            Some(found) => found,
            None => (find("name", name)?, Vec::new()),
        };
        if !factors.is_empty() && table.has("tied") {
            return Err(table
                .error("tied", "has no meaning for a density, which stands for mass and inertia"));
        }
        for other in table.strings("tied")?.unwrap_or_default() {
            let found = find("tied", other)?;
            if domain(other) != domain(name) {
                let message = format!("{other} is not of the same kind as {name}");
                return Err(table.error("tied", message));
            }
            if found.slots.iter().any(|slot| slots.slots.contains(slot)) {
                let message =
                    format!("{other} stands for the same number as {name}, or is named twice");
                return Err(table.error("tied", message));
            }
            slots.slots.extend(found.slots);
        }
        let fixed = table.boolean("fixed")?.unwrap_or(false);
        let own = scene.parameters.values.get(slots.slots[0]).copied().filter(|_| fixed);
        let own = own.map(|own| own / factors.first().copied().unwrap_or(1.0));
        let start = table.required("start", table.number("start")?.or(own))?;
        let (least, most) = domain(name);
        let lower = table.number("lower")?.unwrap_or(least);
        let upper = table.number("upper")?.unwrap_or(most);
        if lower >= upper {
            return Err(table.error("lower", format!("must be below upper, {lower} >= {upper}")));
        }
        let positive = least > 0.0 && lower <= 0.0;
        if lower < least.min(0.0) || positive || (least == 0.0 && lower < 0.0) {
            return Err(table.error("lower", format!("{name} cannot be as low as {lower}")));
        }
        if upper > most {
            return Err(table.error("upper", format!("{name} cannot be as high as {upper}")));
        }
        if !(lower..=upper).contains(&start) {
            let message =
                format!("must lie within its bounds, {start} is not in [{lower}, {upper}]");
            return Err(table.error("start", message));
        }
        let of_sensor = model.parameter(name).is_none();
        if of_sensor && name.ends_with("/delay") && !fixed && !(upper - lower).is_finite() {
            let message = "and `upper` are needed for a delay: what a sensor might read before the start of a window is left \
                           out, and beyond the rows of a recording there is no input";
            return Err(table.error("lower", message));
        }
        let mut parameter = FreeParameter::new(name, slots, start, [lower, upper]);
        parameter.factors = factors;
        if let Some(scale) = table.number("scale")? {
            table.demand("scale", scale > 0.0, "must be positive", scale, "")?;
            parameter.scale = scale;
        }
        match table.string("transform")? {
            None => {}
            Some("none") => parameter.transform = Transform::None,
            Some("log") if lower > 0.0 => parameter.transform = Transform::Log,
            Some("log") => {
                let message = format!(
                    "\"log\" is of positive numbers; give a positive `lower`, which is {lower}"
                );
                return Err(table.error("transform", message));
            }
            Some(other) => {
                let message = format!("must be \"log\" or \"none\", found {other:?}");
                return Err(table.error("transform", message));
            }
        }
        if let Some(prior) = table.table("prior")? {
            prior.only(&["mean", "sd"])?;
            let mean = prior.required("mean", prior.number("mean")?)?;
            let sd = prior.required("sd", prior.number("sd")?)?;
            prior.demand("sd", sd > 0.0, "must be positive", sd, "")?;
            parameter.prior = Some(Prior { mean, sd });
        }
        parameter.fixed = fixed;
        Ok(vec![parameter])
    }

    /// Reads the last `of` inertial numbers of a body.
    fn read_inertial(
        table: &Table,
        scene: &Scene,
        body: &str,
        of: usize,
    ) -> Result<Vec<Self>, Error> {
        for field in ["tied", "lower", "upper", "transform"] {
            if table.has(field) {
                let message = "has no meaning for an inertia as a whole, which is searched for in \
                               variables that have no bounds; give a `prior` of each number instead";
                return Err(table.error(field, message));
            }
        }
        let list = |table: &Table, field: &str| {
            let Some(list) = table.list(field)? else { return Ok(None) };
            if list.len() == of {
                return Ok(Some(list));
            }
            let names = INERTIAL[INERTIAL.len() - of..].join(", ");
            let message = format!("must be a list of {of} ({names}), found {}", list.len());
            Err(table.error(field, message))
        };
        let scale = table.number("scale")?.unwrap_or(INERTIAL_SCALE);
        table.demand("scale", scale > 0.0, "must be positive", scale, "")?;
        let own = || {
            let names = &INERTIAL[INERTIAL.len() - of..];
            let slots = names.iter().map(|field| scene.model.parameter(&format!("{body}/{field}")));
            slots.map(|found| scene.parameters.values.get(found?.slots[0]).copied()).collect()
        };
        let start: Option<Vec<f64>> = list(table, "start")?.or_else(own);
        let start = table.required("start", start)?;
        let mut members = Self::inertial(&scene.model, body, &start, scale).map_err(|message| {
            let field = if table.has("start") { "start" } else { "name" };
            table.error(field, format!("{start:?} {message}"))
        })?;
        if let Some(prior) = table.table("prior")? {
            prior.only(&["mean", "sd"])?;
            let mean = prior.required("mean", list(&prior, "mean")?)?;
            let sd = prior.required("sd", list(&prior, "sd")?)?;
            for ((member, &mean), &sd) in members.iter_mut().zip(&mean).zip(&sd) {
                prior.demand("sd", sd > 0.0, "must be positive", sd, "")?;
                member.prior = Some(Prior { mean, sd });
            }
        }
        let fixed = table.boolean("fixed")?.unwrap_or(false);
        members.iter_mut().for_each(|member| member.fixed = fixed);
        Ok(members)
    }

    /// The body of whose inertia it is number `place` of `of`, if it is searched for as such.
    pub(crate) fn inertial_body(&self, place: usize, of: usize) -> Option<&str> {
        let field = INERTIAL.get(INERTIAL.len().checked_sub(of)? + place)?;
        let member = self.transform == Transform::Inertial { place, of };
        self.name.strip_suffix(field).filter(|_| member)
    }

    /// Whether a parameter of this name can have this value.
    pub fn allows(name: &str, value: f64) -> bool {
        let (least, most) = domain(name);
        value.is_finite() && (least..=most).contains(&value)
    }

    /// Sets it in `parameters`.
    pub fn set<T: Real>(&self, value: T, parameters: &mut Parameters<T>) {
        for (k, &slot) in self.slots.slots.iter().enumerate() {
            parameters.values[slot] = match self.factors.get(k) {
                Some(&factor) => value * factor,
                None => value,
            };
        }
    }

    /// Its value in `parameters`.
    pub fn get<T: Real>(&self, parameters: &Parameters<T>) -> T {
        let first = parameters.values[self.slots.slots[0]];
        match self.factors.first() {
            Some(&factor) => first / factor,
            None => first,
        }
    }
}

impl Transform {
    /// The logarithm for masses, inertias, sizes, and for damping, friction, armature and stiffness of joints
    /// whose lower bound is positive: what is positive and has no natural upper bound.
    pub fn by_default(name: &str, lower: f64) -> Transform {
        let path: Vec<&str> = name.split('/').collect();
        let positive = match path.as_slice() {
            [.., "armature" | "damping" | "friction" | "stiffness"] => true,
            _ => domain(name).0 > 0.0,
        };
        if positive && lower > 0.0 { Transform::Log } else { Transform::None }
    }

    /// The search variable of a value; of a number of an inertia, which has none of its own, itself.
    pub fn to_search(self, value: f64) -> f64 {
        if self == Transform::Log { value.ln() } else { value }
    }

    /// The value of a search variable.
    pub fn from_search<T: Real>(self, variable: T) -> T {
        if self == Transform::Log { variable.exp() } else { variable }
    }

    /// How fast the search variable moves with the value.
    pub fn slope(self, value: f64) -> f64 {
        if self == Transform::Log { value.recip() } else { 1.0 }
    }
}

/// The ten numbers, or the last six, as a body: of mass 1 with its centre at the origin, unless these are
/// among them.
fn body<T: Real>(values: &[T]) -> InertialParameters<T> {
    let at = |k: usize| values.get(k).copied().unwrap_or_default();
    let whole = values.len() == INERTIAL.len();
    let first = if whole { BEFORE_INERTIA } else { 0 };
    let center = if whole { [at(1), at(2), at(3)] } else { [T::zero(); 3] };
    let [xx, yy, zz, xy, xz, yz] = [0, 1, 2, 3, 4, 5].map(|k| at(first + k));
    InertialParameters {
        mass: if whole { at(0) } else { T::one() },
        center_of_mass: Vector3::from(center),
        inertia: Symmetric { xx, yy, zz, xy, xz, yz },
    }
}

/// Log-Cholesky coordinates of ten inertial numbers, or of the last six: of a body of mass 1, so that they do
/// not depend on the mass. Not numbers if there is no such body.
pub(crate) fn log_cholesky<T: Real>(values: &[T]) -> Vec<T> {
    match body(values).log_cholesky() {
        Ok(all) if values.len() == all.len() => all.to_vec(),
        Ok(all) => all[1..7].to_vec(),
        Err(_) => vec![T::constant(f64::NAN); values.len()],
    }
}

/// The inverse of [`log_cholesky`].
pub(crate) fn from_log_cholesky<T: Real>(coordinates: &[T]) -> Vec<T> {
    let mut all = [T::zero(); 10];
    let whole = coordinates.len() == all.len();
    let first = if whole { 0 } else { 1 };
    for (x, &z) in all[first..].iter_mut().zip(coordinates) {
        *x = z;
    }
    let all = InertialParameters::from_log_cholesky(&all).array();
    if whole { all.to_vec() } else { all[BEFORE_INERTIA..].to_vec() }
}

/// Sizes of log-Cholesky coordinates of an inertia, where those of mass and inertia are measured in shares.
pub(crate) fn log_cholesky_scales(values: &[f64], share: f64) -> Vec<f64> {
    let body = body(values);
    // Mean distance of the mass from its centre: tr(I) = 2 m r²
    let radius = share * (0.5 * body.inertia.trace() / body.mass).sqrt();
    let all = [0.5 * share, share, share, share, radius, radius, radius, radius, radius, radius];
    if values.len() == all.len() { all.to_vec() } else { all[1..7].to_vec() }
}

/// The size of each of ten numbers, if there is a body with these ten, or with these six at mass 1.
fn consistent(values: &[f64]) -> Option<[f64; 10]> {
    if values.len() != 10 && values.len() != 6 {
        return None;
    }
    let body = body(values);
    let inertia = body.inertia.trace() / 3.0;
    let radius = (1.5 * inertia / body.mass).sqrt();
    let mut sizes = [inertia; 10];
    sizes[..BEFORE_INERTIA].copy_from_slice(&[body.mass, radius, radius, radius]);
    (body.consistent() && sizes.iter().chain(values).all(|x| x.is_finite())).then_some(sizes)
}

/// A tenth of the width of the bounds, or the start if that is less.
fn typical_change(start: f64, lower: f64, upper: f64) -> f64 {
    let width = if (upper - lower).is_finite() { 0.1 * (upper - lower) } else { 1.0 };
    if start == 0.0 { width } else { width.min(start.abs()) }
}

/// A density that is searched for, and a size of the same body that is too.
pub(super) fn density_and_size<'a>(
    model: &Model,
    parameters: &'a [FreeParameter],
) -> Option<(&'a str, &'a str)> {
    let free = |parameter: &&FreeParameter| !parameter.fixed;
    parameters.iter().filter(free).filter(|p| !p.factors.is_empty()).find_map(|density| {
        let owner = density.name.strip_suffix("/density")?;
        let body = model.bodies.iter().position(|body| body.name == owner)?;
        let sizes: Vec<usize> = model
            .colliders_of(Some(body))
            .flat_map(|collider| (0..3).map(move |k| model.collider_slot(collider) + k))
            .collect();
        let is_size = |p: &&FreeParameter| p.slots.slots.iter().any(|slot| sizes.contains(slot));
        let size = parameters.iter().filter(free).find(is_size)?;
        Some((density.name.as_str(), size.name.as_str()))
    })
}
