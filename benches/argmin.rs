//! The solved problems: the coupled contact problem, `ncp/...`, and the two projections of
//! \[LeLidec21\] (5), `qp/...` and `qcqp/...`.

#[path = "argmin/clarabel_peer.rs"]
mod clarabel_peer;
#[path = "../tests/contact_problems.rs"]
mod contact_problems;
#[path = "../tests/families.rs"]
mod families;
#[path = "argmin/ncp.rs"]
mod ncp;
#[path = "argmin/projections.rs"]
mod projections;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

fn quick() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
}

// Many ids, each over several problems.
fn brief() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
}

criterion_group!(name = coupled; config = quick(); targets = ncp::ncp);
criterion_group!(name = alternated; config = brief(); targets = projections::qp, projections::qcqp);
criterion_main!(coupled, alternated);
