//! A parameter to identify.

use crate::Error;
use crate::ad::Real;
use crate::model::{Model, ParameterRef, Parameters};
use crate::table::Table;

/// A named parameter with its start, bounds and scale. With `tied`, others of the same kind have its value.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeParameter {
    /// Its path, such as `floor-cube/mu`.
    pub name: String,
    /// The numbers it stands for, those of the tied ones behind its own.
    pub slots: ParameterRef,
    /// Where the search starts.
    pub start: f64,
    /// Least value allowed.
    pub lower: f64,
    /// Largest value allowed.
    pub upper: f64,
    /// A typical change: what steps are measured in.
    pub scale: f64,
}

impl FreeParameter {
    /// Reads a `[[parameter]]` table.
    pub(super) fn read(table: &Table, model: &Model) -> Result<Self, Error> {
        table.only(&["name", "tied", "start", "lower", "upper", "scale"])?;
        let name = table.required("name", table.string("name")?)?;
        let find = |field: &str, name: &str| {
            model.parameter(name).ok_or_else(|| {
                let known = model.parameter_names().join(", ");
                table.error(field, format!("the scene has no parameter {name:?}; it has {known}"))
            })
        };
        let mut slots = find("name", name)?;
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
        let start = table.required("start", table.number("start")?)?;
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
        let width = if (upper - lower).is_finite() { 0.1 * (upper - lower) } else { 1.0 };
        let size = if start == 0.0 { width } else { width.min(start.abs()) };
        let scale = table.number("scale")?.unwrap_or(size);
        table.demand("scale", scale > 0.0, "must be positive", scale, "")?;
        Ok(FreeParameter { name: name.to_string(), slots, start, lower, upper, scale })
    }

    /// Whether a parameter of this name can have this value.
    pub fn allows(name: &str, value: f64) -> bool {
        let (least, most) = domain(name);
        value.is_finite() && (least..=most).contains(&value)
    }

    /// The single parameters that are tied to it.
    pub fn tied(&self, model: &Model) -> Vec<String> {
        let own = model.parameter(&self.name).map_or(0, |own| own.slots.len());
        let tied = self.slots.slots.get(own..).unwrap_or_default();
        let mut names = model.parameter_names();
        names.retain(|name| {
            model.parameter(name).is_some_and(|p| p.slots.iter().all(|slot| tied.contains(slot)))
        });
        names
    }

    /// Sets it in `parameters`.
    pub fn set<T: Real>(&self, value: T, parameters: &mut Parameters<T>) {
        for &slot in &self.slots.slots {
            parameters.values[slot] = value;
        }
    }

    /// Its value in `parameters`.
    pub fn get<T: Real>(&self, parameters: &Parameters<T>) -> T {
        parameters.values[self.slots.slots[0]]
    }
}

/// The values that make physical sense, by the last word of a name; also the default bounds.
fn domain(name: &str) -> (f64, f64) {
    let path: Vec<&str> = name.split('/').collect();
    match path.as_slice() {
        [.., "mass"] | [.., "radius"] | [.., "half_extents"] | [.., "half_extents", _] => {
            (1e-9, f64::INFINITY)
        }
        [.., "inertia"] | [.., "inertia", "xx" | "yy" | "zz"] => (1e-12, f64::INFINITY),
        [.., "mu" | "mu_static" | "armature" | "damping" | "friction" | "stiffness"] => {
            (0.0, f64::INFINITY)
        }
        [.., "restitution"] => (0.0, 1.0),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}
