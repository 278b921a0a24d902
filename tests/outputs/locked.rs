//! Two programs on one place.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{folder, names};
use crate::folder::Folder;
use crate::program::refuses;

/// An identification that has begun and waits: nobody reads what it prints.
fn begun(folder: &Folder, output: &str) -> Child {
    // Longer than a pipe holds.
    let starts: Vec<String> =
        (0..400).flat_map(|_| ["--start".into(), "floor-ball/mu=0.1".into()]).collect();
    let mut program = Command::new(env!("CARGO_BIN_EXE_stiction"));
    program.args(["identify", "experiment.toml", "-o", output]).args(starts);
    program.current_dir(folder.path(".")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    // The line of the first iteration comes after the lock.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.by_ref().find(|line| line.as_ref().unwrap().contains("loss")).unwrap().unwrap();
    child
}

#[test]
fn the_second_program_is_told_who_is_there() {
    let folder = folder("locked");
    for (output, lock) in [("fit", "fit/.stiction-lock"), ("fit.json", ".fit.json.stiction-lock")] {
        // Stopped, it holds what it has.
        let mut first = begun(&folder, output);
        let id = first.id().to_string();
        assert!(Command::new("kill").args(["-STOP", &id]).status().unwrap().success());
        let held = folder.path(lock).is_file();
        let second = folder.run(&["identify", "experiment.toml", "-o", output]);
        first.kill().unwrap();
        first.wait().unwrap();
        assert!(held, "it had ended");
        let who = format!("process {id}, since 20");
        refuses(
            &second,
            &[output, "another stiction", &who, " UTC", "is writing here", "write elsewhere"],
        );
        // What the dead has left locks nobody out, and goes.
        assert!(folder.path(lock).is_file());
        let third = folder.run(&["identify", "experiment.toml", "-o", output]);
        assert!(third.status.success(), "{third:?}");
        assert!(!folder.path(lock).exists());
    }
    assert_eq!(names(&folder.path("fit")), ["report.html", "result.json", "scene.toml"]);
}

#[test]
fn a_lock_of_nobody_is_no_lock_and_one_of_somebody_is() {
    let folder = folder("locked-file");
    fs::create_dir(folder.path("fit")).unwrap();
    let lock = folder.path("fit/.stiction-lock");
    fs::write(&lock, "process 1, since 1970-01-01 00:00:00 UTC").unwrap();
    let held = File::options().write(true).open(&lock).unwrap();
    held.lock().unwrap();
    let output = folder.run(&["identify", "experiment.toml", "-o", "fit"]);
    refuses(&output, &["fit: another stiction (process 1, since 1970-01-01 00:00:00 UTC)"]);
    drop(held);
    let output = folder.run(&["identify", "experiment.toml", "-o", "fit"]);
    assert!(output.status.success(), "{output:?}");
}

/// What writes several files that belong together.
#[test]
fn files_of_a_simulation_or_of_a_beginning_are_of_one_program() {
    let folder = folder("locked-together");
    let held = |name: &str| {
        fs::write(folder.path(name), "process 1, since 1970-01-01 00:00:00 UTC").unwrap();
        let lock = File::options().write(true).open(folder.path(name)).unwrap();
        lock.lock().unwrap();
        lock
    };
    let lock = held(".out.csv.stiction-lock");
    let simulate = ["simulate", "scene.toml", "--steps", "2", "-o", "out.csv"];
    for more in [&["--contacts"][..], &["--view", "out.html"]] {
        let output = folder.run(&[&simulate[..], more].concat());
        refuses(&output, &["out.csv: another stiction (process 1, since 1970-01-01 00:00:00 UTC)"]);
    }
    // One file is whole, whoever writes it last.
    assert!(folder.run(&simulate).status.success());
    drop(lock);
    let output = folder.run(&[&simulate[..], &["--contacts"]].concat());
    assert!(
        output.status.success() && !folder.path(".out.csv.stiction-lock").exists(),
        "{output:?}"
    );
    fs::create_dir(folder.path("new")).unwrap();
    let lock = held("new/.stiction-lock");
    let output = folder.run(&["init", "new"]);
    refuses(&output, &["new: another stiction (process 1, since 1970-01-01 00:00:00 UTC)"]);
    drop(lock);
    assert!(folder.run(&["init", "new"]).status.success());
    assert_eq!(names(&folder.path("new")), ["experiment.toml", "scene.toml"]);
}

/// A folder that was made for nothing is gone again.
#[test]
fn what_fails_leaves_no_folder() {
    let folder = folder("locked-nothing");
    let text = folder.read("experiment.toml");
    folder.write("experiment.toml", &text.replace("floor-ball/mu", "floor-ball/nu"));
    let output = folder.run(&["identify", "experiment.toml", "-o", "fit"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path("fit").exists());
}
