//! Disks that are full, or not to be written to.

use std::fs;
use std::process::{Command, Output};

use super::{folder, names};
use crate::folder::Folder;
use crate::program::refuses;
use crate::skipped::skip;

/// Commands that write, and what each writes.
const WRITERS: [(&str, &str); 9] = [
    ("simulate scene.toml --steps 300 -o OUT", "out.csv"),
    ("simulate scene.toml --steps 300 -o OUT", "out.npz"),
    ("simulate scene.toml --steps 300 --contacts -o OUT", "out2.csv"),
    ("simulate scene.toml --steps 10 --view OUT", "out.html"),
    ("linearize scene.toml --steps 10 -o OUT", "lin.npz"),
    ("linearize scene.toml --steps 10 -o OUT", "lin.json"),
    ("identify experiment.toml -o OUT", "fit.json"),
    ("identify experiment.toml --plot OUT", "fit.svg"),
    ("import scene.xml -o OUT", "imported.toml"),
];

fn arguments(command: &str, output: &str) -> Vec<String> {
    command.split(' ').map(|word| word.replace("OUT", output)).collect()
}

/// The program in a shell that limits the size of files to so many blocks.
fn limited(folder: &Folder, blocks: usize, command: &str, output: &str) -> Output {
    let arguments = arguments(command, output).join(" ");
    let program = env!("CARGO_BIN_EXE_stiction");
    let line = format!("ulimit -f {blocks}; exec '{program}' {arguments}");
    Command::new("sh").args(["-c", &line]).current_dir(folder.path(".")).output().unwrap()
}

fn with_model(folder: &Folder) {
    let bodies = (0..40)
        .map(|k| format!("<body name='b{k}' pos='{k} 0 1'><freejoint/><geom size='.1'/></body>"));
    let bodies: String = bodies.collect();
    folder.write("scene.xml", &format!("<mujoco><worldbody>{bodies}</worldbody></mujoco>"));
}

#[test]
fn a_limit_on_files_is_an_error_and_leaves_what_was_there() {
    let folder = folder("outputs-limit");
    with_model(&folder);
    for (command, name) in WRITERS {
        for before in [None, Some("as it was")] {
            match before {
                Some(text) => folder.write(name, text),
                None => assert!(!folder.path(name).exists()),
            }
            // A block has 512 or 1024 bytes.
            let output = limited(&folder, 0, command, name);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{command}: {said}");
            assert!(
                said.contains(name) && said.contains("cannot be written: "),
                "{command}: {said}"
            );
            assert!(said.contains("ulimit -f"), "{command}: {said}");
            let after = fs::read_to_string(folder.path(name)).ok();
            assert_eq!(after.as_deref(), before, "{command}");
            fs::remove_file(folder.path(name)).ok();
        }
    }
    let left = names(&folder.path("."));
    assert_eq!(left, ["experiment.toml", "recording.csv", "scene.toml", "scene.xml"]);
}

/// None of several files is there where one of them has no room.
#[test]
fn files_that_belong_together_come_together() {
    let folder = folder("outputs-together");
    // The report takes more than 100 blocks, the result and the scene less.
    let output = limited(&folder, 100, "identify experiment.toml -o OUT", "fit");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(names(&folder.path("fit")), ["checkpoint.json"]);
    // What the search came to is not lost.
    let output = folder.run(&["identify", "experiment.toml", "-o", "fit", "--resume"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("going on after"), "{said}");
    assert_eq!(names(&folder.path("fit")), ["report.html", "result.json", "scene.toml"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let folder = folder("outputs-device");
    with_model(&folder);
    for (command, _) in
        WRITERS.iter().filter(|(_, name)| name.ends_with(".csv") || name.ends_with(".toml"))
    {
        if command.contains("--contacts") {
            continue;
        }
        let output = folder
            .run(&arguments(command, "/dev/full").iter().map(String::as_str).collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(
            said.contains("/dev/full: cannot be written: ") && said.contains("free some space"),
            "{said}"
        );
    }
    refuses(
        &folder.run(&["evaluate", "experiment.toml", "-o", "/dev/full"]),
        &["/dev/full: cannot be written: "],
    );
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_stiction"));
    program.args(["simulate", "scene.toml", "--steps", "5"]).current_dir(folder.path("."));
    let output = program.stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output: "), "{output:?}");
    // Nobody can be told, but nothing breaks.
    let mut program = Command::new(env!("CARGO_BIN_EXE_stiction"));
    program.args(["simulate", "nothing.toml"]).current_dir(folder.path("."));
    assert_eq!(program.stderr(full()).status().unwrap().code(), Some(2));
}

/// A result that is asked for where there is a device without end.
#[cfg(target_os = "linux")]
#[test]
fn devices_without_end_are_not_read_to_their_end() {
    let folder = folder("outputs-endless");
    let output = folder.run(&["identify", "experiment.toml", "-o", "/dev/full"]);
    refuses_after(&output, "/dev/full: cannot be written: ");
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero.toml")).unwrap();
    refuses(&folder.run(&["simulate", "zero.toml"]), &["zero.toml: is longer than"]);
}

fn refuses_after(output: &Output, says: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(says), "{said}");
}

#[test]
fn what_is_read_only_is_told_before_the_work() {
    let folder = folder("outputs-read-only");
    folder.write("out.csv", "as it was");
    let mut permissions = fs::metadata(folder.path("out.csv")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path("out.csv"), permissions).unwrap();
    // So many steps would take hours.
    let output = folder.run(&["simulate", "scene.toml", "--steps", "10000000", "-o", "out.csv"]);
    refuses(&output, &["out.csv: cannot be written: ", "read-only", "make it writable"]);
    assert_eq!(folder.read("out.csv"), "as it was");
}

/// A disk of its own, where the machine lets one be made: read-only, and full.
#[cfg(target_os = "linux")]
#[test]
fn disks_that_are_full_or_read_only_are_errors() {
    let folder = folder("outputs-disk");
    fs::create_dir(folder.path("disk")).unwrap();
    let program = env!("CARGO_BIN_EXE_stiction");
    // In a space of names of its own, so that nothing is left mounted.
    let script = format!(
        "mount -t tmpfs -o size=128k none disk || exit 42
        echo 'as it was' > disk/out.csv
        '{program}' simulate scene.toml --steps 2000 -o disk/out.csv 2>> said; echo $? >> codes
        '{program}' identify experiment.toml -o disk/fit 2>> said; echo $? >> codes
        '{program}' identify experiment.toml -o disk/fit.json 2>> said; echo $? >> codes
        ls -A disk disk/fit > left; cat disk/out.csv >> left
        mount -o remount,ro disk
        '{program}' simulate scene.toml --steps 10000000 -o disk/other.csv 2>> said; echo $? >> codes
        '{program}' identify experiment.toml -o disk/other 2>> said; echo $? >> codes"
    );
    let mut unshare = Command::new("unshare");
    let run = unshare.args(["-rm", "sh", "-c", &script]).current_dir(folder.path(".")).output();
    if !run.as_ref().is_ok_and(|run| run.status.success() || folder.path("codes").exists()) {
        return skip(&format!("no disk can be mounted here: {run:?}"), "STICTION_REQUIRE_MOUNT");
    }
    let said = folder.read("said");
    assert_eq!(folder.read("codes"), "2\n2\n0\n2\n2\n", "{said}");
    assert_eq!(said.matches("No space left on device").count(), 2, "{said}");
    assert_eq!(said.matches("Read-only file system").count(), 2, "{said}");
    let left = folder.read("left");
    assert_eq!(left, "disk:\nfit\nfit.json\nout.csv\n\ndisk/fit:\ncheckpoint.json\nas it was\n");
}
