//! Optimisation problems as [nodes](crate::ad::Node). Knows no body and no time.
//!
//! | problem | who poses it | node | solver | derivative |
//! |---|---|---|---|---|
//! | all impulses of an island at once, Coulomb's law and joints' limits, friction, loops (\[LeLidec21\] (2)-(4)) | a step, the closing of loops | [`CoupledContact`] | `contact::solve::cascade` | `contact::response` |
//! | the same with smoothed complementarity | a step with `simulation.smoothing` | [`SmoothedContact`] | its own Newton steps | its residual |
//! | `min x'Px/2 + q'x`, x >= 0 or in disks (\[LeLidec21\] (5), (6)) | the staggered projections | [`NonnegativeQp`], [`DiskQcqp`] | `projection::solve` | `projection::derivative` |
//! | impacts in two phases (\[Zhong21\]) | users and tests | [`ConeProgram`] | `impact::newton` | its faces |
//!
//! `interior_point` serves the first and the last.

mod block_rows;
mod contact;
pub(crate) mod impact;
pub(crate) mod interior_point;
mod projection;
mod status;

pub use block_rows::{BlockRows, RowBlock};
pub(crate) use contact::{
    ContactData, ContactResponse, Perturbation, SLIP_TOLERANCE, contradiction, law,
};
pub use contact::{
    ContactFactor, ContactMethod, ContactResiduals, ContactSolution, ContactWorkspace,
    CoupledContact, Law, Mode, RegularizedFriction, Relaxation, Sharing, SmoothedContact,
    SmoothedSolution,
};
pub use impact::{
    CompressionRestitution, ConeFactor, ConeMode, ConeProgram, ConeSolution, ConeWorkspace, Impact,
};
pub use projection::{
    BoundMode, BoundSolution, DiskMode, DiskQcqp, DiskSolution, NonnegativeQp, ProjectionFactor,
    ProjectionMethod, ProjectionSettings, ProjectionWorkspace,
};
pub use status::{Report, Stage, Status};
