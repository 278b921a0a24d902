//! Instructions that the projections and the coupled contact problem take, counted by valgrind's callgrind: the same on every run,
//! whatever else the machine does. `cargo run --release --example instructions`

use std::hint::black_box;
use std::process::{Command, ExitCode};

use stiction::ad::Node;
use stiction::argmin::{ContactSolution, DiskQcqp, NonnegativeQp};

#[path = "../tests/contact_problems.rs"]
mod contact_problems;
#[path = "../tests/families.rs"]
mod families;

use contact_problems::Step;
use families::{Family, Problem, disks, half_lines};

/// Callgrind counts inside this function only.
const COUNTED: &str = "instructions::counted";

#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [kind, scene, _, what] = &arguments[..]
        && kind == "ncp"
    {
        return run_coupled(scene, what);
    }
    if let [kind, family, size, what] = &arguments[..] {
        return run(kind, family, size, what == "adjoint");
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("valgrind is not installed: nothing is counted");
        return ExitCode::FAILURE;
    }
    println!("{:24}{:>12}{:>12}", "instructions", "default", "adjoint");
    let cases = Family::OF_QP.map(|family| ("qp", family)).into_iter();
    for (kind, family) in cases.chain(Family::ALL.map(|family| ("qcqp", family))) {
        for size in ["1", "4", "16", "64"] {
            let count = |what| count([kind, family.name(), size, what]);
            let (Some(default), Some(adjoint)) = (count("default"), count("adjoint")) else {
                eprintln!("valgrind did not run, or reported no count");
                return ExitCode::FAILURE;
            };
            println!("{:24}{default:>12}{adjoint:>12}", format!("{kind}/{}-{size}", family.name()));
        }
    }
    println!("{:24}{:>12}{:>12}{:>12}", "instructions", "cold", "warm", "adjoint");
    for (scene, _) in contact_problems::all() {
        let count = |what| count(["ncp", scene, "", what]).unwrap_or_default();
        let [cold, warm, adjoint] = ["cold", "warm", "adjoint"].map(count);
        println!("{:24}{cold:>12}{warm:>12}{adjoint:>12}", format!("ncp/{scene}"));
    }
    ExitCode::SUCCESS
}

/// The coupled problem of a scene from nothing, from the impulses of the step before, or its adjoint.
fn run_coupled(scene: &str, what: &str) -> ExitCode {
    let Some((_, Step { node, inputs, before })) =
        contact_problems::all().into_iter().find(|(name, _)| *name == scene)
    else {
        eprintln!("there is no scene {scene:?}");
        return ExitCode::FAILURE;
    };
    let (mut y, mut workspace) = (vec![0.0; node.output_len()], Default::default());
    let mut solution = ContactSolution::default();
    node.primal(&before, &mut y, &mut solution, &mut workspace);
    let start = if what == "cold" { Vec::new() } else { solution.impulses.clone() };
    let mut solve = || {
        solution.impulses.clear();
        solution.impulses.extend_from_slice(&start);
        node.primal(black_box(&inputs), &mut y, &mut solution, &mut workspace);
    };
    solve();
    if what != "adjoint" {
        counted(&mut solve);
        return ExitCode::SUCCESS;
    }
    let (mut factor, mut adjoints) = (Default::default(), vec![0.0; inputs.len()]);
    let seed: Vec<f64> = (0..y.len()).map(|k| 1.0 - 0.1 * k as f64).collect();
    let mut differentiate = || {
        node.factor(&solution, black_box(&inputs), &y, &mut factor);
        node.vjp(&solution, &mut factor, &inputs, &y, &seed, &mut adjoints);
    };
    differentiate();
    counted(&mut differentiate);
    ExitCode::SUCCESS
}

/// This program under callgrind; the number behind `Collected`.
fn count(arguments: [&str; 4]) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={COUNTED}*"))
        .arg(std::env::current_exe().ok()?)
        .args(arguments)
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, rest) = report.split_once("Collected : ")?;
    rest.split_whitespace().next()?.parse().ok()
}

fn run(kind: &str, family: &str, size: &str, adjoint: bool) -> ExitCode {
    let family = Family::ALL.into_iter().find(|known| known.name() == family);
    let (Some(family), Ok(size)) = (family, size.parse()) else {
        eprintln!("usage: instructions [qp|qcqp FAMILY SIZE default|adjoint]");
        return ExitCode::FAILURE;
    };
    if kind == "qp" {
        let node = NonnegativeQp { n: size, ..Default::default() };
        measure(&node, &half_lines(family, size, 0), adjoint);
    } else {
        let node = DiskQcqp { contacts: size, ..Default::default() };
        measure(&node, &disks(family, size, 0), adjoint);
    }
    ExitCode::SUCCESS
}

/// Each once before it is counted, so that all memory is there.
fn measure<N: Node>(node: &N, problem: &Problem, adjoint: bool) {
    let (inputs, mut z) = (problem.inputs(), vec![0.0; problem.q.len()]);
    let mut workspace = Default::default();
    let mut solution = N::Solution::default();
    let mut solve = || {
        solution = N::Solution::default();
        node.primal(black_box(&inputs), &mut z, &mut solution, &mut workspace);
    };
    solve();
    if !adjoint {
        return counted(&mut solve);
    }
    let (mut factor, mut adjoints) = (Default::default(), vec![0.0; inputs.len()]);
    let mut differentiate = || {
        node.factor(&solution, black_box(&inputs), &z, &mut factor);
        node.vjp(&solution, &mut factor, &inputs, &z, &problem.w, &mut adjoints);
    };
    differentiate();
    counted(&mut differentiate);
}
