//! iLQR on exact Jacobians.

mod balance;
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
    if which == "mpc" {
        let balance = balance::Balance::new()?;
        let f = |n: usize| -> f64 { std::env::args().nth(n).unwrap().parse().unwrap() };
        let push = balance::Push { force: [f(2), f(3), 0.0], steps: [10, 20] };
        use balance::Controller;
        for c in [
            Controller::Constant,
            Controller::Gains,
            Controller::Predictive(Jacobians::Exact, 1),
            Controller::Predictive(Jacobians::Exact, 2),
        ] {
            let run = balance.run(c, push, 150)?;
            println!(
                "{c:?}: away {:.3} end {:.4} lowest {:.3} {:?}",
                run.away(0),
                run.away(140),
                run.lowest(),
                run.effort
            );
            for k in [0, 10, 20, 30, 50, 80, 110, 150] {
                println!("  {k} {:.3?}", &run.states[k][..7]);
            }
        }
        return Ok(());
    }
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
                task.name,
                s.status.name(),
                s.iterations,
                outcome.reached,
                s.cost,
                s.gradient,
                outcome.misses,
                outcome.dynamics.effort
            );
            println!("   {:.3?}", s.states.last());
            println!("   {:.4?}", &s.history[..s.history.len().min(40)]);
        }
    }
    Ok(())
}
