//! Scalars as data, through serde.
//!
//! Numbers are written as their inner scalar writes them. JSON has no NaN and no infinity: `serde_json`
//! writes `null` for them, and reading that back is an error, not another number.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Dual, Real, TapeScalar, Var};

/// N tangents as a sequence: serde knows arrays of 32 at most.
struct Tangent<T, const N: usize>([T; N]);

impl<T: Serialize, const N: usize> Serialize for Tangent<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de, T: Real + Deserialize<'de>, const N: usize> Deserialize<'de> for Tangent<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Real + Deserialize<'de>, const N: usize> Visitor<'de> for Numbers<T, N> {
            type Value = [T; N];

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{N} numbers, the tangent of a dual")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<[T; N], A::Error> {
                let mut tangent = [T::zero(); N];
                for (k, t) in tangent.iter_mut().enumerate() {
                    *t = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(k, &self))?;
                }
                match seq.next_element::<T>()? {
                    Some(_) => Err(A::Error::invalid_length(N + 1, &self)),
                    None => Ok(tangent),
                }
            }
        }

        deserializer.deserialize_seq(Numbers(PhantomData)).map(Tangent)
    }
}

/// What is written of a dual.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Dual", deny_unknown_fields)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct Parts<T, const N: usize> {
    value: T,
    tangent: Tangent<T, N>,
}

/// As `{value, tangent}`, the tangent a sequence of N. The rule for nodes is a matter of the type.
impl<T: Real + Serialize, const N: usize> Serialize for Dual<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Parts { value: self.value, tangent: Tangent(self.tangent) }.serialize(serializer)
    }
}

impl<'de, T: Real + Deserialize<'de>, const N: usize> Deserialize<'de> for Dual<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parts { value, tangent } = Parts::deserialize(deserializer)?;
        Ok(Dual::new(value, tangent.0))
    }
}

/// As its value: what was recorded of a variable means nothing outside of its recording.
impl<T: TapeScalar + Serialize> Serialize for Var<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.inner().serialize(serializer)
    }
}

/// A constant.
impl<'de, T: TapeScalar + Deserialize<'de>> Deserialize<'de> for Var<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Var::fixed)
    }
}

/// A place in source as `file:line:column`.
pub(super) fn location<S: Serializer>(
    location: &Location<'_>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(location)
}
