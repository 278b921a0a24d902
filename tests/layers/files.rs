//! Files of one crate: no circle of imports, none too long, none of one name in two senses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::imports::{Crate, Imports, circles};
use super::{Source, sources};

/// Names of several files, and the one thing that all of them are about.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("actuator", "in the model and in each format of files"),
    ("axes", "which axes separate two solids, of each pair of shapes"),
    ("body", "in each format of files"),
    ("camera", "in the model, as descriptions have it and in scene files"),
    ("capsule", "what it is, and how it touches uneven ground"),
    ("check", "derivatives against others, sparse ones and all"),
    ("comparison", "a result beside another one, in the library and as the program prints it"),
    ("contact", "as files describe it, and the interior point that solves it"),
    ("convex", "what a polyhedron is, and how it touches uneven ground"),
    ("cylinder", "what it is, and how it touches"),
    ("derivatives", "of dynamics, and of a program that is checked, by every way"),
    ("design", "candidate experiments, in the library and as a command"),
    ("equality", "in the model and in each format of files"),
    ("error", "of differentiation, which is a package's own, and of inputs"),
    ("evaluate", "in the library and as a command"),
    ("face", "contact on faces, of each pair of shapes"),
    ("file", "what a file of the room holds"),
    ("gradcheck", "in the library and as a command"),
    ("inertia", "of bodies, and as MJCF gives it"),
    ("joint", "in the model and in each format of files"),
    ("learned", "learned terms in the model, in scene files, and as the program tells of them"),
    ("newton", "Newton's method, for each problem"),
    ("observability", "in the library and as `identify --check`"),
    ("pushes", "in the model, as descriptions have them and in scene files"),
    ("scene", "of the model, and as Python has it"),
    ("simulate", "in the library and as a command"),
    ("soft_scene", "of the library, and as Python has it"),
    ("solution", "what a solve decided, of each problem"),
    ("solve", "which method solves what: linear systems, projections"),
    ("step", "of a scene, and as C calls it"),
    ("step_jacobian", "of linearize, and as Python has it"),
    ("tendon", "in the model and in each format of files"),
    ("visual", "what is seen, in the model and in each format of files"),
];

/// Names of several public types, likewise.
const SHARED_TYPES: &[(&str, &str)] = &[
    ("Error", "of differentiation, which is a package's own, and of inputs"),
    ("Jacobian", "of a step, as C and as Python have it"),
    ("Linearization", "of a node's residual, inside `ad`, and of the steps of a scene"),
    ("Model", "of bodies, and C's handle of it"),
    ("Report", "of a solver, and as C has it"),
    ("Scene", "of the model, and as Python has it"),
    ("SoftScene", "of the library, and as Python has it"),
];

/// No file has as many lines, nor has the one in the middle.
const MOST_LINES: usize = 600;
const MEDIAN_LINES: usize = 150;

fn imports(sources: &[Source]) -> Imports {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let lib = fs::read_to_string(lib).unwrap().replace("pub use stiction_ad as ad;", "pub mod ad;");
    let files = sources.iter().map(|source| (source.path.as_path(), source.code.as_str()));
    Crate::new(files.chain([(Path::new("lib.rs"), lib.as_str())])).imports()
}

/// The imports between the entries of each folder: from, to, and what for.
type Folders = BTreeMap<PathBuf, BTreeMap<String, BTreeMap<String, BTreeSet<String>>>>;

fn folders(imports: &Imports) -> Folders {
    let mut folders = Folders::new();
    for (from, targets) in imports {
        for (to, names) in targets {
            let parts = |path: &Path| -> Vec<String> {
                path.iter().map(|part| part.to_str().unwrap().to_string()).collect()
            };
            let (from_parts, to_parts) = (parts(from), parts(to));
            let same = from_parts.iter().zip(&to_parts).take_while(|(a, b)| a == b).count();
            let entries = folders.entry(from_parts[..same].iter().collect()).or_default();
            let targets = entries.entry(from_parts[same].clone()).or_default();
            let names = names.iter().map(|name| format!("{}: {name}", from.display()));
            targets.entry(to_parts[same].clone()).or_default().extend(names);
        }
    }
    folders
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for (folder, entries) in folders(&imports(&sources())) {
        let edges =
            |targets: &BTreeMap<_, _>| targets.keys().cloned().collect::<BTreeSet<String>>();
        let edges = entries.iter().map(|(from, targets)| (from.clone(), edges(targets))).collect();
        for circle in circles(&edges) {
            let members = circle.iter().cloned().collect::<Vec<_>>().join(" ");
            wrong.push(format!("src/{}: {members}", folder.display()));
            for from in &circle {
                for (to, names) in entries[from].iter().filter(|(to, _)| circle.contains(*to)) {
                    let names = names.iter().cloned().collect::<Vec<_>>().join("; ");
                    wrong.push(format!("    {from} -> {to}: {names}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "circles of imports:\n{}", wrong.join("\n"));
}

#[test]
fn files_are_short() {
    let sources = sources();
    let count = |source: &Source| (source.text.lines().count(), source.path.clone());
    let mut lines: Vec<(usize, PathBuf)> = sources.iter().map(count).collect();
    lines.sort();
    let long = lines.iter().filter(|(lines, _)| *lines >= MOST_LINES).map(|(_, path)| path);
    let long: Vec<&str> = long.map(|path| path.to_str().unwrap()).collect();
    assert!(long.is_empty(), "files of {MOST_LINES} lines or more: {long:?}");
    let (median, _) = lines[lines.len() / 2];
    assert!(median < MEDIAN_LINES, "the median file has {median} lines");
}

#[test]
fn a_name_of_files_has_one_sense() {
    let mut names: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for Source { path, .. } in sources() {
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        if name != "mod" {
            names.entry(name).or_default().push(path);
        }
    }
    names.retain(|_, paths| paths.len() > 1);
    for (name, sense) in SHARED_NAMES {
        assert!(names.remove(*name).is_some(), "{name:?} is no shared name any more ({sense})");
    }
    assert!(names.is_empty(), "in one sense, or two? {names:#?}");
}

#[test]
fn a_name_of_public_types_has_one_sense() {
    let mut types: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for Source { path, code, .. } in sources() {
        for line in code.lines() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let kind = words.next() == Some("pub")
                && words.next().is_some_and(|kind| ["struct", "enum", "trait"].contains(&kind));
            if let Some(name) = words.next().filter(|_| kind) {
                types.entry(name.to_string()).or_default().insert(path.clone());
            }
        }
    }
    types.retain(|_, paths| paths.len() > 1);
    for (name, sense) in SHARED_TYPES {
        assert!(types.remove(*name).is_some(), "{name:?} is no shared name any more ({sense})");
    }
    assert!(types.is_empty(), "in one sense, or two? {types:#?}");
}

/// The imports of the files of a small crate.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|(path, text)| (Path::new(path), *text));
    let imports = Crate::new(files).imports();
    let edge = |(from, targets): (&PathBuf, &BTreeMap<PathBuf, BTreeSet<String>>)| {
        let to: Vec<String> = targets.keys().map(|to| to.display().to_string()).collect();
        format!("{} -> {}", from.display(), to.join(" "))
    };
    imports.iter().map(edge).collect()
}

#[test]
fn imports_lead_to_the_file_that_defines_a_name() {
    let files = [
        ("lib.rs", "pub mod a; mod error; pub use error::Error;"),
        ("error.rs", "pub struct Error;"),
        // What is passed on is no import; what is taken from a module that is named is one.
        (
            "a/mod.rs",
            "mod x; mod y; mod z; pub use x::X; pub use y::{Y, y as why}; fn f() { z::g() }",
        ),
        ("a/x.rs", "use super::{Y, z}; use crate::Error as E; fn f() { z::h(); E::new() }"),
        ("a/y.rs", "// use super::X;\nfn f<'a>(_: &'a str) { \"super::X\"; super::z::Z::new() }"),
        ("a/m.rs", "macro_rules! m { () => { $crate::a::x::X } }"),
        ("a/z.rs", "use std::fmt::{self, Write as _};\n#[cfg(test)]\nmod tests { use super::*; }"),
        ("b.rs", "use crate::a::{X, why}; pub use crate::a::X as Other; use serde::Error;"),
        ("c.rs", "use super::b::{self, Other}; impl b::T for crate::a::Y {}"),
    ];
    let expected = [
        "a/mod.rs -> a/z.rs",
        "a/x.rs -> a/y.rs a/z.rs error.rs",
        "a/y.rs -> a/z.rs",
        "b.rs -> a/x.rs a/y.rs",
        "c.rs -> a/x.rs a/y.rs b.rs",
    ];
    assert_eq!(found(&files), expected);
}

#[test]
fn circles_are_found() {
    let edges =
        [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "f"), ("f", "g"), ("g", "e")];
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges {
        graph.entry(from).or_default().insert(to);
    }
    let found: Vec<Vec<&str>> =
        circles(&graph).into_iter().map(|circle| circle.into_iter().collect()).collect();
    assert_eq!(found, [vec!["b", "c"], vec!["e", "f", "g"]]);
}
