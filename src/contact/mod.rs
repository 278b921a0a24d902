//! From contact points to impulses: which constraint a contact poses, and the problems that are
//! solved for them.

mod body_contacts;
mod constraint;
mod coupled;
mod delassus;
mod staggered_projections;

pub use body_contacts::{BodyContacts, ContactRecord, Impulses};
pub use constraint::{Target, contact_frame};
