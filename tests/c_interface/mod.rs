//! The shared library of the feature `c_interface`: from C, plainly and under sanitizers and valgrind, and from CasADi.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use stiction::c_interface::Attachment;
use stiction::model::Scene;
use stiction::transition::Transition;

use crate::folder::Folder;
use crate::skipped::skip;

const PROGRAM: &str = env!("CARGO_BIN_EXE_stiction");

/// A file of the repository.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The folder of the shared library, linked from the example `stiction`, which is built with these tests.
fn library() -> Option<PathBuf> {
    static LINKED: OnceLock<Result<PathBuf, &str>> = OnceLock::new();
    let linked = LINKED.get_or_init(|| {
        let archive = Path::new(PROGRAM).parent().unwrap().join("examples/libstiction.a");
        if !archive.is_file() {
            return Err("built without the example `stiction`");
        }
        if !works(Command::new("cc").arg("--version")) {
            return Err("there is no cc");
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_library");
        std::fs::create_dir_all(&folder).unwrap();
        let whole = ["-Wl,--whole-archive".as_ref(), archive.as_os_str()];
        let rest = ["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"].map(OsStr::new);
        // What MPI needs, its own compiler knows.
        let mut link = Command::new(if cfg!(feature = "mpi") { "mpicc" } else { "cc" });
        succeeds(link.arg("-shared").args(whole).args(rest).arg("-o").arg(folder.join("new.so")));
        std::fs::rename(folder.join("new.so"), folder.join("libstiction.so")).unwrap();
        Ok(folder)
    });
    match linked {
        Ok(folder) => Some(folder.clone()),
        Err(why) => {
            skip(why, "STICTION_REQUIRE_C_INTERFACE");
            None
        }
    }
}

fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

fn succeeds(command: &mut Command) -> Output {
    // What runs tests puts the folder of builds before where a program says its libraries are: the module of Python, if it
    // was built there, has the name of the library for C.
    command.env_remove("LD_LIBRARY_PATH");
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{error}", output.status);
    output
}

/// `exercise.c`, built against the library; nothing without library, compiler, or what `flags` want.
fn exercise(folder: &Folder, flags: &[&str]) -> Option<PathBuf> {
    // Leak checks want to trace, which not every container allows.
    let required = match flags.is_empty() {
        true => "STICTION_REQUIRE_C_INTERFACE",
        false => "STICTION_REQUIRE_SANITIZERS",
    };
    let library = library()?;
    folder.write("empty.c", "int main(void) { return 0; }\n");
    let empty = folder.path("empty.c");
    let empty =
        Command::new("cc").args(flags).arg(empty).arg("-o").arg(folder.path("empty")).output();
    if !empty.is_ok_and(|output| output.status.success())
        || !works(&mut Command::new(folder.path("empty")))
    {
        skip(&format!("`cc {}` makes no programs", flags.join(" ")), required);
        return None;
    }
    let program = folder.path("exercise");
    let mut run_path = std::ffi::OsString::from("-Wl,-rpath,");
    run_path.push(&library);
    succeeds(
        Command::new("cc")
            .args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-g", "-pthread"])
            .args(flags)
            .arg(file("tests/c_interface/exercise.c"))
            .args([
                OsStr::new("-I"),
                file("include").as_os_str(),
                OsStr::new("-L"),
                library.as_os_str(),
            ])
            .args([OsStr::new("-lstiction"), &run_path, OsStr::new("-lm")])
            .arg("-o")
            .arg(&program),
    );
    Some(program)
}

/// What the library gives is what this crate gives: the numbers the C program prints, to the bit.
#[test]
fn a_c_program_gets_the_numbers_of_the_crate() {
    let folder = Folder::new("c-program");
    let Some(program) = exercise(&folder, &[]) else { return };
    let path = file("tests/c_interface/box.toml");
    let output = succeeds(Command::new(program).arg(&path));
    let text = String::from_utf8(output.stdout).unwrap();
    let printed: BTreeMap<&str, Vec<f64>> = text.lines().map(printed).collect();

    let mut transition = Transition::new("box.toml", Arc::new(Scene::load(path).unwrap())).unwrap();
    transition.select_inputs(&["box/fx".into(), "box/tz".into()]).unwrap();
    transition.select_parameters(&["floor-box/mu".into()]).unwrap();
    let (mut x, u) = (transition.initial_state(), [0.4, 0.01]);
    for _ in 0..5 {
        let mut next = x.clone();
        transition.step(&x, &u, &mut next).unwrap();
        x = next;
    }
    let (ambient, jacobian) = transition.linearize_ambient(&x, &u).unwrap();
    let next = [jacobian.next.q.as_slice(), &jacobian.next.v].concat();
    let expected = [
        ("x", x.as_slice()),
        ("x_next", &next),
        ("a", jacobian.a.as_slice()),
        ("b", jacobian.b.as_slice()),
        ("c", jacobian.c.as_slice()),
        ("ambient_a", ambient.a.as_slice()),
        ("ambient_b", ambient.b.as_slice()),
    ];
    assert_eq!(printed.len(), expected.len());
    for (name, numbers) in expected {
        assert_eq!(printed[name], numbers, "{name}");
    }
}

/// A name and numbers in C's hexadecimal notation.
fn printed(line: &str) -> (&str, Vec<f64>) {
    let (name, numbers) = line.split_once(' ').unwrap();
    (name, numbers.split(' ').map(hexadecimal).collect())
}

fn hexadecimal(text: &str) -> f64 {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |text| (-1.0, text));
    let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    sign * mantissa as f64 * 2.0_f64.powi(exponent) * 16.0_f64.powi(-(fraction.len() as i32))
}

#[test]
fn the_c_program_runs_under_sanitizers() {
    let folder = Folder::new("c-sanitizers");
    let Some(program) =
        exercise(&folder, &["-fsanitize=address,undefined", "-fno-sanitize-recover"])
    else {
        return;
    };
    succeeds(
        Command::new(program)
            .arg(file("tests/c_interface/box.toml"))
            .env("ASAN_OPTIONS", "detect_leaks=1:strict_string_checks=1"),
    );
}

#[test]
fn the_c_program_runs_under_valgrind() {
    let folder = Folder::new("c-valgrind");
    let Some(program) = exercise(&folder, &[]) else { return };
    if !works(Command::new("valgrind").arg("--version")) {
        skip("there is no valgrind", "STICTION_REQUIRE_VALGRIND");
        return;
    }
    succeeds(
        Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
            .args(["--errors-for-leak-kinds=definite,indirect"])
            .arg(program)
            .arg(file("tests/c_interface/box.toml")),
    );
}

#[test]
fn the_header_is_cpp_too() {
    if !works(Command::new("c++").arg("--version")) {
        skip("there is no c++", "STICTION_REQUIRE_CPP");
        return;
    }
    let flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", "-x", "c++"];
    succeeds(Command::new("c++").args(flags).arg(file("include/stiction.h")));
}

/// Names of functions with the names of their parameters.
type Functions = BTreeMap<String, Vec<String>>;

/// The header declares what is exported, with the same number of parameters.
#[test]
fn the_header_declares_what_is_exported() {
    let header = std::fs::read_to_string(file("include/stiction.h")).unwrap();
    let code: String = header.split("/*").map(|part| part.rsplit("*/").next().unwrap()).collect();
    let declared = functions(&code, "stiction_", ");");
    let mut exported = Functions::new();
    for name in ["boundary", "data", "model", "soft_handle", "step"] {
        let source =
            std::fs::read_to_string(file(&format!("src/c_interface/exports/{name}.rs"))).unwrap();
        exported.extend(functions(&source, "extern \"C\" fn stiction_", ") "));
    }
    assert!(exported.len() > 25, "{exported:?}");
    let counts = |functions: &Functions| -> Vec<(String, usize)> {
        functions.iter().map(|(name, parameters)| (name.clone(), parameters.len())).collect()
    };
    assert_eq!(counts(&declared), counts(&exported));
}

/// The functions that begin with `start` in a text, up to `end`.
fn functions(text: &str, start: &str, end: &str) -> Functions {
    let mut functions = Functions::new();
    for (at, _) in text.match_indices(start) {
        let rest = &text[at + start.len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
        let Some(parameters) = rest[name.len()..].strip_prefix('(') else { continue };
        let parameters = parameters.split(end).next().unwrap();
        let parameters = parameters.split(',').map(|parameter| parameter.trim().to_string());
        let parameters = parameters.filter(|parameter| !["", "void"].contains(&parameter.as_str()));
        functions.insert(name.to_string(), parameters.collect());
    }
    functions
}

/// An attachment goes into a library and out of it, in the place of another, and is the scene.
#[test]
fn a_scene_is_attached_to_a_library() {
    let scene = Scene::load(file("tests/c_interface/box.toml")).unwrap();
    let first = Attachment::new(&scene, &[0, 5], "box.toml").unwrap();
    let second = Attachment::new(&scene, &[2], "box.toml").unwrap();
    assert_eq!(first.inputs, ["box/fx", "box/tz"]);
    let read = first.scene().unwrap();
    assert_eq!(read.state, scene.state);
    assert_eq!(read.parameters, scene.parameters);
    assert_eq!(read.settings, scene.settings);
    let library = b"\x7fELF and so on".to_vec();
    let path = Path::new("lib.so");
    assert_eq!(Attachment::of(&library, path).unwrap(), None);
    assert_eq!(Attachment::of(b"", path).unwrap(), None);
    let with_first = first.attach(&library);
    assert!(with_first.starts_with(&library));
    assert_eq!(Attachment::of(&with_first, path).unwrap(), Some(first));
    let with_second = second.attach(&with_first);
    assert_eq!(with_second, second.attach(&library));
    let mut damaged = with_second;
    damaged[library.len()] = b'!';
    let error = Attachment::of(&damaged, path).unwrap_err().to_string();
    assert!(error.contains("lib.so: the attached scene is damaged"), "{error}");
}

#[test]
fn export_says_what_is_wrong() {
    let folder = Folder::new("export-errors");
    folder.write("box.toml", include_str!("box.toml"));
    folder.write("other.so", "not a library");
    for (arguments, expected) in [
        (
            &["--library", "none.so"][..],
            "none.so: there is no such library; make it by `cargo rustc",
        ),
        (&["--library", "other.so"], "other.so: is not the shared library of stiction"),
        (&["--inputs", ""], "box.toml: \"\": is no input; there are box/fx"),
        (&["--inputs", "box/fx,box/fw"], "box.toml: box/fw: is no input; there are box/fx"),
        (&["--keyframe", "home"], "there is no keyframe"),
    ] {
        let head = ["export", "casadi", "box.toml", "-o", "libstep.so"];
        let output = folder.run(&[&head, arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(expected), "{error}");
        assert!(!folder.path("libstep.so").exists());
    }
}

#[test]
fn a_scene_is_exported_without_inputs() {
    let Some(library) = library() else { return };
    let folder = Folder::new("export-none");
    // A library beside the program need not be named.
    let program = folder.path("stiction");
    std::fs::copy(PROGRAM, &program).unwrap();
    std::fs::copy(library.join("libstiction.so"), folder.path("libstiction.so")).unwrap();
    let output = succeeds(
        Command::new(program)
            .args(["export", "casadi", "--inputs", "none", "--json", "-o"])
            .args([folder.path("libstep.so"), file("tests/c_interface/box.toml")]),
    );
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["nu"], 0, "{summary}");
}

/// An optimal control problem through contact, and what else CasADi does with exported functions.
#[test]
fn casadi_solves_a_push_through_contact() {
    let Some(library) = library() else { return };
    let given = std::env::var_os("STICTION_CASADI");
    let python = given.clone().unwrap_or_else(|| "python3".into());
    if !works(Command::new(&python).args(["-c", "import casadi, numpy"])) {
        assert!(given.is_none(), "{}: no casadi there", python.display());
        skip("there is no python3 with casadi (set STICTION_CASADI)", "STICTION_REQUIRE_CASADI");
        return;
    }
    let folder = Folder::new("casadi");
    for (scene, inputs, output) in [
        ("push.toml", "box/fx", "libbox.so"),
        ("rod.xml", "controls", "librod.so"),
        ("learned.toml", "cart/f", "liblearned.so"),
    ] {
        let scene = file("tests/c_interface").join(scene);
        let scene = scene.to_str().unwrap();
        let library = library.join("libstiction.so");
        let named = ["--library", library.to_str().unwrap(), "--inputs", inputs];
        let head = ["export", "casadi", scene, "-o", output, "--json"];
        let output = folder.run(&[&head[..], &named].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["nu"], 1, "{summary}");
    }
    let output = succeeds(
        Command::new(python)
            .arg(file("tests/c_interface/opti.py"))
            .arg(PROGRAM)
            .arg(folder.path("libbox.so"))
            .arg(file("tests/c_interface/push.toml"))
            .arg(folder.path("librod.so"))
            .arg(folder.path("liblearned.so"))
            .arg(library.join("libstiction.so")),
    );
    let error = String::from_utf8(output.stderr).unwrap();
    for message in
        ["box/px: must be finite, found NaN", "is no orientation", "no scene is attached"]
    {
        assert!(error.contains(message), "{error}");
    }
}
