//! How geoms rub: `condim` and `friction`.

use super::defaults::Given;
use crate::Error;
use crate::assemble::Material;
use crate::model::{SurfaceNumbers, SurfaceTerm};

/// What is said of friction about the normal without friction.
pub(super) const NO_TORSION: &str = "has torsional friction without sliding friction, and is followed without it: what does not rub twists nothing";

/// Friction of a geom or of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Friction {
    /// 1 slides without friction, 3 with some, 4 has torsional friction too, 6 also rolling.
    pub condim: i64,
    pub mu: f64,
    /// Couples that turns about the normal and about the tangents meet, of each of the normal force, m.
    pub couples: [f64; 2],
}

impl Default for Friction {
    /// MuJoCo's.
    fn default() -> Self {
        Friction { condim: 3, mu: 1.0, couples: [0.005, 0.0001] }
    }
}

impl Friction {
    /// Of a geom.
    pub fn of_geom(given: &Given) -> Result<Friction, Error> {
        let usual = Friction::default();
        let numbers = given.at("friction").list("friction")?.unwrap_or_default();
        check(given, &numbers)?;
        let number = |k: usize, usual: f64| numbers.get(k).copied().unwrap_or(usual);
        let [torsion, rolling] = usual.couples;
        Ok(Friction {
            condim: condim(given)?.unwrap_or(usual.condim),
            mu: number(0, usual.mu),
            couples: [number(1, torsion), number(2, rolling)],
        })
    }

    /// Of a pair whose geoms have this, by what it says itself: along and across, torsional, and along and across. Whether
    /// nothing of that is left out.
    pub fn of_pair(mut self, given: &Given) -> Result<(Friction, bool), Error> {
        let numbers = given.at("friction").list("friction")?.unwrap_or_default();
        check(given, &numbers)?;
        self.condim = condim(given)?.unwrap_or(self.condim);
        let set = |k: usize, number: &mut f64| {
            if let Some(&given) = numbers.get(k) {
                *number = given;
            }
        };
        set(0, &mut self.mu);
        set(2, &mut self.couples[0]);
        set(3, &mut self.couples[1]);
        let differ = |a: usize, b: usize| match (numbers.get(a), numbers.get(b)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        };
        let plain = !(self.condim > 1 && differ(0, 1) || self.condim > 4 && differ(3, 4));
        Ok((self, plain))
    }

    /// Of two geoms: the larger of each number.
    pub fn with(self, other: Friction) -> Friction {
        Friction {
            condim: self.condim.max(other.condim),
            mu: self.mu.max(other.mu),
            couples: [0, 1].map(|k| self.couples[k].max(other.couples[k])),
        }
    }

    /// Whether turns meet friction.
    pub fn has_couples(self) -> bool {
        self.condim > 3
    }

    /// Whether friction about the normal is left out, as it is that of a patch that rubs, where nothing does.
    pub fn lacks_torsion(self) -> bool {
        let [torsion, _] = self.couples;
        self.has_couples() && torsion > 0.0 && !(torsion / self.mu).is_finite()
    }

    /// Of a surface, whatever it touches.
    pub fn material(self) -> Material {
        let mut terms = SurfaceNumbers::default();
        let [torsion, rolling] = self.couples;
        if self.has_couples() && torsion > 0.0 && (torsion / self.mu).is_finite() {
            terms.set(SurfaceTerm::TorsionRadius, Some(torsion / self.mu));
        }
        if self.condim > 4 && rolling > 0.0 {
            terms.set(SurfaceTerm::RollingResistance, Some(rolling));
        }
        Material { mu: self.mu, terms, ..Material::default() }
    }

    /// Of two that have it together.
    pub fn material_alone(self) -> Material {
        match self.condim {
            1 => Material::default(),
            _ => self.material(),
        }
    }
}

fn condim(given: &Given) -> Result<Option<i64>, Error> {
    let condim = given.at("condim").integer("condim")?;
    match condim.filter(|condim| ![1, 3, 4, 6].contains(condim)) {
        None => Ok(condim),
        Some(found) => {
            let message = format!("must be 1, 3, 4 or 6, found {found}");
            Err(given.at("condim").error("condim", message))
        }
    }
}

fn check(given: &Given, numbers: &[f64]) -> Result<(), Error> {
    if numbers.iter().all(|x| *x >= 0.0 && x.is_finite()) {
        return Ok(());
    }
    let message = "must be finite numbers that are not negative";
    Err(given.at("friction").error("friction", message))
}
