//! iLQR on exact Jacobians.

mod box_qp;
mod cost;
mod dynamics;
mod optimiser;
mod tasks;

use std::process::ExitCode;

use dynamics::Jacobians;
use optimiser::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), stiction::Error> {
    let which = std::env::args().nth(1).unwrap_or_default();
    for task in tasks::all()? {
        if !which.is_empty() && which != task.name {
            continue;
        }
        for jacobians in
            [Jacobians::Exact, Jacobians::CentralDifferences, Jacobians::ForwardDifferences]
        {
            let outcome = task.solve(jacobians, &Options::default())?;
            let s = &outcome.solution;
            println!(
                "{} {jacobians:?}: {} {} it, reached {:?}, cost {:.4e} grad {:.1e} {:?} {:?}",
                task.name, s.status.name(), s.iterations, outcome.reached, s.cost, s.gradient, outcome.misses, outcome.dynamics.effort
            );
            println!("   {:.3?}", s.states.last());
            println!("   {:.4?}", &s.history[..s.history.len().min(40)]);
        }
    }
    Ok(())
}
