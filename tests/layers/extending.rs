//! Where a new shape, joint or format of meshes goes: each is named in few files, so that the next one touches few. See
//! `docs/extending.md`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Source, identifier, sources};

/// So many files of `src` name one at most.
const MOST_FILES: usize = 4;

/// Readers of other programs' files have vocabularies of their own.
const VOCABULARIES: [&str; 2] = ["formats/mjcf", "formats/urdf"];

/// The joints of which others ask what hangs on what, not how it moves.
const TOPOLOGY: [&str; 2] = ["Fixed", "Free"];

/// What was added to show it, as its variant or its file is called.
const ADDED: [&str; 3] = ["wedge", "helical", "ply"];

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The variants of an enum in the code of a file.
fn variants(code: &str, name: &str) -> Vec<String> {
    let start = code.find(&format!("pub enum {name} {{")).unwrap();
    let body = &code[start..];
    let (mut depth, mut found, mut expected) = (0, Vec::new(), true);
    for (k, c) in body.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' if depth == 1 => break,
            '}' | ')' | ']' => depth -= 1,
            ',' if depth == 1 => expected = true,
            c if depth == 1 && expected && c.is_uppercase() => {
                found.push(identifier(&body[k..]).to_string());
                expected = false;
            }
            _ => {}
        }
    }
    found
}

fn files(sources: &[Source], names: impl Fn(&Source) -> bool) -> BTreeSet<&Path> {
    let own = sources.iter().filter(|source| {
        !VOCABULARIES.iter().any(|folder| source.path.starts_with(folder)) && names(source)
    });
    own.map(|source| source.path.as_path()).collect()
}

#[test]
fn variants_are_found() {
    let code = "pub enum Kind { Plain, #[default] Odd { pitch: Real, other: [Some; 2] }, Of(Arc<Rope>), Last }";
    assert_eq!(variants(code, "Kind"), ["Plain", "Odd", "Of", "Last"]);
}

#[test]
fn a_shape_and_a_joint_are_named_in_few_files() {
    let sources = sources();
    let mut wrong = Vec::new();
    for (kind, file) in [("Shape", "model/shape/mod.rs"), ("JointKind", "model/joint.rs")] {
        let own = sources.iter().find(|source| source.path == Path::new(file)).unwrap();
        let variants = variants(&own.code, kind);
        assert!(variants.len() >= 6, "{variants:?}");
        for variant in variants.iter().filter(|variant| !TOPOLOGY.contains(&variant.as_str())) {
            let named = format!("{kind}::{variant}");
            let is_named = |source: &Source| {
                let code = &source.code;
                let mut ends = code.match_indices(&named).map(|(at, found)| at + found.len());
                ends.any(|end| identifier(&code[end..]).is_empty())
            };
            let mut found = files(&sources, is_named);
            found.insert(Path::new(file));
            if found.len() > MOST_FILES {
                wrong.push(format!("{named}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "ask what it is by a method instead:\n{}", wrong.join("\n"));
}

#[test]
fn what_was_added_touches_few_files() {
    let sources = sources();
    for added in ADDED {
        let found = files(&sources, |source| {
            source.path.file_stem().is_some_and(|stem| stem == added)
                || words(&source.code).any(|word| word.eq_ignore_ascii_case(added))
        });
        assert!((2..=MOST_FILES).contains(&found.len()), "{added}: {found:?}");
    }
}

#[test]
fn no_other_room_imports_a_kind_by_its_name() {
    // `use JointKind::*` would hide what the tests above look for.
    let mut wrong: Vec<PathBuf> = Vec::new();
    for source in sources() {
        let imports = source.code.lines().filter(|line| line.trim_start().starts_with("use "));
        if imports.into_iter().any(|line| line.contains("Shape::") || line.contains("JointKind::"))
        {
            wrong.push(source.path.clone());
        }
    }
    wrong.retain(|path| !path.starts_with("c_interface"));
    assert!(wrong.is_empty(), "{wrong:?}");
}
