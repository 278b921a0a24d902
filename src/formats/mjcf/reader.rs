//! What all readers of elements share.

use super::asset::Assets;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::option::Flags;
use crate::formats::xml::Remarks;

/// The sections that others refer to, and what is to be remarked upon.
pub(super) struct Reader<'a> {
    pub compiler: Compiler,
    pub defaults: Defaults<'a>,
    pub assets: Assets<'a>,
    pub flags: Flags,
    pub remarks: Remarks,
}
