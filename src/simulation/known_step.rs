//! A step that was solved on values, as duals that make it again see it.

use super::splits::Splits;
use crate::contact::{ContactRecord, Contacts};
use crate::dynamics::{FreeMotion, ImplicitTangent};

/// A step that was solved on values.
#[derive(Clone, Copy)]
pub(crate) struct KnownStep<'a> {
    /// The motion without contact.
    pub motion: &'a FreeMotion<f64>,
    /// The contact problems with their solutions.
    pub contacts: &'a Contacts<f64>,
    /// Of an implicit step where Newton's method ended.
    pub(super) tangent: Option<&'a ImplicitTangent>,
    /// Where it was split at impacts, and what these were.
    pub(super) splits: &'a Splits,
    pub(super) impacts: &'a [ContactRecord],
}
