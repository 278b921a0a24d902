//! Who may import whom: a module of the crate names the modules below it and no others, and no files of a
//! folder name each other in a circle.

mod extending;
mod files;
mod imports;
mod laws;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PHYSICS: &str =
    "error table text ad linalg argmin spatial state model dynamics collision contact";
const FILES: &str = "assemble formats trajectory";

/// Each module of `src`, and what it may name. From low to high.
const LAYERS: [(&str, &[&str]); 39] = [
    ("adaptive_moments", &[]),
    ("fnv", &[]),
    ("packed", &[]),
    ("error", &["packed"]),
    ("npz", &[]),
    ("parallel", &[]),
    ("table", &["error"]),
    ("text", &["error"]),
    ("ad", &[]),
    ("linalg", &["ad"]),
    ("fem", &["ad linalg"]),
    ("network", &["ad linalg"]),
    ("argmin", &["packed ad linalg"]),
    ("maximal", &["ad linalg argmin"]),
    ("learn", &["adaptive_moments parallel ad linalg network maximal"]),
    ("spatial", &["ad linalg"]),
    ("state", &["packed ad linalg spatial"]),
    ("model", &["error text ad linalg network spatial state"]),
    ("trajectory", &["error npz packed parallel ad text spatial state model"]),
    ("dynamics", &["ad linalg network spatial state model"]),
    ("collision", &["ad linalg spatial state model dynamics"]),
    (
        "contact",
        &["packed parallel ad linalg network argmin spatial state model dynamics collision"],
    ),
    ("implicit", &["ad linalg argmin fem contact"]),
    ("assemble", &["error network spatial state model dynamics collision contact"]),
    ("simulation", &[PHYSICS, "packed"]),
    ("gradient", &["error ad model simulation"]),
    ("render", &["error fnv packed text ad spatial model dynamics"]),
    ("linearize", &[PHYSICS, "npz trajectory simulation"]),
    (
        "soft",
        &[
            "ad linalg argmin fem implicit model collision spatial state dynamics contact simulation linearize",
        ],
    ),
    (
        "formats",
        &[
            "error npz table text network fem maximal implicit spatial state model collision dynamics assemble soft",
        ],
    ),
    (
        "identify",
        &[
            PHYSICS,
            "adaptive_moments fnv packed parallel formats trajectory simulation linearize render",
        ],
    ),
    ("markers", &["error parallel table text model trajectory identify soft"]),
    ("optimize", &["error parallel table text ad state model dynamics simulation identify soft"]),
    ("transition", &[PHYSICS, "simulation linearize soft"]),
    ("verify", &[PHYSICS, "fem implicit simulation soft"]),
    (
        "view",
        &[
            PHYSICS,
            "formats trajectory simulation soft render identify linearize markers optimize verify",
        ],
    ),
    ("c_interface", &[PHYSICS, "text assemble formats simulation linearize soft transition"]),
    (
        "cli",
        &[
            PHYSICS,
            FILES,
            "npz soft simulation render identify linearize markers optimize transition verify view c_interface",
        ],
    ),
    ("python", &[PHYSICS, FILES, "soft simulation identify linearize transition view c_interface"]),
];

/// Everything else is generic in `Real`.
const NAMES_SCALARS: [&str; 9] =
    ["ad", "gradient", "identify", "implicit", "learn", "linearize", "optimize", "soft", "verify"];
const SCALARS: [&str; 3] = ["Dual", "Tape", "Var"];

/// Roots of the crate, which declare the modules.
const ROOTS: [&str; 2] = ["lib.rs", "main.rs"];

/// A source file: its module, its path below `src`, its text, and that without comments, strings and unit tests.
struct Source {
    module: String,
    path: PathBuf,
    text: String,
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut sources) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let path = file.strip_prefix(&root).unwrap().to_path_buf();
            if file.is_dir() {
                folders.push(file);
            } else if path.extension().is_some_and(|e| e == "rs")
                && !ROOTS.iter().any(|r| path == Path::new(r))
            {
                let first = path.iter().next().unwrap().to_str().unwrap();
                let module = first.trim_end_matches(".rs").to_string();
                let text = fs::read_to_string(&file).unwrap();
                let mut code = imports::code(&text);
                // A package of its own, whose root is the module.
                if module == "ad" {
                    code = code.replace("crate::", "crate::ad::");
                }
                sources.push(Source { module, path, text, code });
            }
        }
    }
    sources
}

/// The identifier at the start of `text`.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The names that follow `crate::` in `text`, one or a group in braces.
fn crate_names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, found) in text.match_indices("crate::") {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &text[at + found.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(identifier(rest).to_string());
            continue;
        };
        let (mut depth, mut expected) = (1, true);
        for (k, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 1 => break,
                '}' => depth -= 1,
                ',' if depth == 1 => expected = true,
                c if expected && depth == 1 && !c.is_whitespace() => {
                    names.insert(identifier(&group[k..]).to_string());
                    expected = false;
                }
                _ => {}
            }
        }
    }
    names
}

#[test]
fn imports_are_found() {
    let text = "use crate::ad::{Real, Dual};\n use crate::{\n model::{A, B}, Error,\n state};
                fn f() { $crate::linalg::dot; crate::argmin::Mode::Break } // crate::cli
                use other_crate::view; pub(crate) fn g() {}";
    let found: Vec<_> = crate_names(&imports::code(text)).into_iter().collect();
    assert_eq!(found, ["Error", "ad", "argmin", "linalg", "model", "state"]);
}

#[test]
fn modules_import_from_below_only() {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for Source { module, path, code, .. } in sources() {
        let allowed: BTreeSet<&str> = match LAYERS.iter().find(|(name, _)| *name == module) {
            Some((_, allowed)) => allowed.iter().flat_map(|a| a.split(' ')).collect(),
            None => panic!("{}: add the module {module:?} to LAYERS", path.display()),
        };
        for import in crate_names(&code) {
            // `crate::Error` and `crate::ErrorKind` stand for `crate::error`.
            let target = if import.starts_with("Error") { "error" } else { import.as_str() };
            if target != module && !allowed.contains(target) {
                wrong.push(format!("{}: crate::{import}", path.display()));
            }
        }
        // The way round `crate::`: as many `super` as the file is deep lead to the root.
        let depth = path.iter().count() - usize::from(path.ends_with("mod.rs"));
        if code.contains(&"super::".repeat(depth)) {
            wrong.push(format!("{}: super:: up to the root of the crate", path.display()));
        }
        seen.insert(module);
    }
    assert!(wrong.is_empty(), "not below:\n{}", wrong.join("\n"));
    for (name, allowed) in LAYERS {
        assert!(seen.contains(name), "there is no module {name:?}");
        let lower = LAYERS.iter().take_while(|(other, _)| *other != name);
        let lower: BTreeSet<&str> = lower.map(|(other, _)| *other).collect();
        for other in allowed.iter().flat_map(|a| a.split(' ')) {
            assert!(lower.contains(other), "{name:?} may name {other:?}, which is not below it");
        }
    }
}

#[test]
fn differentiating_scalars_are_named_at_the_top_and_the_bottom_only() {
    let mut wrong = Vec::new();
    for Source { module, path, code, .. } in sources() {
        if NAMES_SCALARS.contains(&module.as_str()) {
            continue;
        }
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words.filter(|word| SCALARS.contains(word)) {
            wrong.push(format!("{}: {word}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "generic in `Real` instead:\n{}", wrong.join("\n"));
}
