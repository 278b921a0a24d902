//! Motion of bodies without contact.

mod free_body;

pub use free_body::FreeBody;
