//! Programs that are killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::{folder, names};
use crate::cases;
use crate::folder::Folder;
use crate::skipped::skip;

/// Everything in the folder of a fit is whole, and the result comes with all that belongs to it.
#[track_caller]
fn is_whole(folder: &Folder, fit: &str, context: &str) {
    let path = |name: &str| folder.path(fit).join(name);
    for name in ["result.json", "checkpoint.json"] {
        if let Ok(text) = fs::read_to_string(path(name)) {
            let json = serde_json::from_str::<Value>(&text);
            assert!(json.is_ok(), "{context}: {name} is cut off at {} bytes", text.len());
        }
    }
    if path("result.json").exists() {
        assert!(path("scene.toml").exists() && path("report.html").exists(), "{context}");
    }
    if let Ok(text) = fs::read_to_string(path("report.html")) {
        assert!(text.trim_end().ends_with("</html>"), "{context}");
    }
    if path("scene.toml").exists() {
        stiction::model::Scene::load(path("scene.toml"))
            .unwrap_or_else(|e| panic!("{context}: {e}"));
    }
}

/// The result without what differs from run to run.
fn result(path: &Path) -> Value {
    let mut result: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for measured in ["seconds", "rollouts", "profile_rollouts", "comparison"] {
        result.as_object_mut().unwrap().remove(measured);
    }
    result
}

/// Killed after some lines that it prints; whoever goes on comes to the same result.
#[test]
fn a_killed_search_has_lost_nothing() {
    let folder = folder("killed-search");
    let text = folder.read("experiment.toml").replacen("profiles = false", "profiles = true", 1);
    folder.write("experiment.toml", &text);
    let whole = folder.run(&["identify", "experiment.toml", "-o", "whole"]);
    assert!(whole.status.success(), "{whole:?}");
    let expected = result(&folder.path("whole/result.json"));
    let lines = String::from_utf8(whole.stdout).unwrap().lines().count();
    for line in (1..=lines).step_by(lines.div_ceil(cases::count(6, 0.34))) {
        let mut program = Command::new(env!("CARGO_BIN_EXE_stiction"));
        program.args(["identify", "experiment.toml", "-o", "fit"]).current_dir(folder.path("."));
        let mut child = program.stdout(Stdio::piped()).spawn().unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(printed.take(line).count(), line);
        child.kill().unwrap();
        child.wait().unwrap();
        is_whole(&folder, "fit", &format!("after line {line}"));
        let resumed = folder.run(&["identify", "experiment.toml", "-o", "fit", "--resume"]);
        assert!(resumed.status.success(), "{resumed:?}");
        assert_eq!(result(&folder.path("fit/result.json")), expected, "after line {line}");
        assert_eq!(names(&folder.path("fit")), ["report.html", "result.json", "scene.toml"]);
        fs::remove_dir_all(folder.path("fit")).unwrap();
    }
}

/// Killed at each call of the system that has to do with files, the first, the second and so on: what was there is
/// there, or all that is new.
#[cfg(target_os = "linux")]
#[test]
fn killed_at_any_call_of_the_system_files_are_old_or_new() {
    let folder = folder("killed-calls");
    let killed = |output: &Output| matches!(output.status.code(), None | Some(137));
    let traced = |inject: &str, arguments: &str| {
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("inject={inject}")]);
        strace.arg(env!("CARGO_BIN_EXE_stiction")).args(arguments.split(' '));
        strace.current_dir(folder.path(".")).output()
    };
    let probe = traced("fsync:signal=KILL:when=1", "simulate scene.toml --steps 5 -o probe.csv");
    if !probe.as_ref().is_ok_and(killed) {
        return skip(
            &format!("no program can be traced here: {probe:?}"),
            "STICTION_REQUIRE_STRACE",
        );
    }
    assert!(!folder.path("probe.csv").exists());
    let text = |name: &str| fs::read_to_string(folder.path(name)).unwrap_or_default();
    let simulate = "simulate scene.toml --steps 5 --contacts -o out.csv";
    let all = ["out.csv", "out.contacts.csv", "out.solver.csv"];
    folder.run(&simulate.split(' ').collect::<Vec<_>>());
    let new = all.map(text);
    let mut kills = 0;
    for calls in ["openat", "write", "fsync", "rename", "unlink", "close"] {
        for when in (1..200).step_by(if calls == "openat" || calls == "close" { 4 } else { 1 }) {
            all.iter().for_each(|name| folder.write(name, "old"));
            let output = traced(&format!("{calls}:signal=KILL:when={when}"), simulate).unwrap();
            for (name, new) in all.iter().zip(&new) {
                let found = text(name);
                assert!(found == "old" || found == *new, "{calls} {when}: {name}: {found:?}");
            }
            if !killed(&output) {
                assert!(output.status.success(), "{calls} {when}: {output:?}");
                break;
            }
            kills += 1;
        }
    }
    assert!(kills > 20, "{kills}");
    // What is left lying is gone with the next one that writes there.
    let output = folder.run(&simulate.split(' ').collect::<Vec<_>>());
    assert!(output.status.success() && all.map(text) == new);
    let left = names(&folder.path("."));
    assert!(left.iter().all(|name| !name.contains("out.") || !name.starts_with('.')), "{left:?}");
    assert!(left.iter().filter(|name| name.ends_with(".part")).count() <= 1, "{left:?}");
    // A short search: the files are those of a long one.
    let short = folder.read("experiment.toml").replacen("window", "max_iterations = 2\nwindow", 1);
    folder.write("short.toml", &short);
    let fit = "identify short.toml -o fit --half-samples 2";
    for calls in ["write", "fsync", "rename", "unlink"] {
        for when in (1..).step_by(if calls == "write" { 3 } else { 1 }) {
            let output = traced(&format!("{calls}:signal=KILL:when={when}"), fit).unwrap();
            is_whole(&folder, "fit", &format!("{calls} {when}"));
            if !killed(&output) {
                // Ended as it does by itself, at its limit of iterations.
                assert!(output.status.code() == Some(1) && when > 10, "{calls} {when}: {output:?}");
                break;
            }
        }
    }
}
