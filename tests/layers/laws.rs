//! A contact law is what one folder says it is: who else names a law poses it, and a new one goes into few files.

use std::path::Path;

use super::{Source, identifier, sources};

/// Files of `src` that may name a law. The folder of laws and who poses them are as many; solvers and the derivative
/// ask for what a law does.
const MOST_FILES: usize = 4;

/// The variants that an enum declares in `code`, which has no comments.
fn variants<'a>(code: &'a str, declaration: &str) -> Vec<&'a str> {
    let start = code.find(declaration).expect(declaration) + declaration.len();
    let body = &code[start..];
    let body = &body[..body.find('}').expect("the end of the enum")];
    // Attributes such as #[default] are no names.
    let entries = body.split(',').map(|entry| entry.rsplit(']').next().unwrap().trim());
    entries.map(identifier).filter(|name| !name.is_empty()).collect()
}

/// Whether `code` names one of `variants` of the enum `name`, or several at once.
fn names_a_variant(code: &str, name: &str, variants: &[&str]) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let rest = code[at + name.len()..].strip_prefix("::");
        let of_all =
            |rest: &str| rest.starts_with(['{', '*']) || variants.contains(&identifier(rest));
        is_whole && rest.is_some_and(of_all)
    })
}

#[test]
fn variants_are_found() {
    let code = "pub enum Law {\n  Equality,\n #[default]\n Coulomb,\n}\nimpl Law {}";
    let laws = variants(code, "enum Law {");
    assert_eq!(laws, ["Equality", "Coulomb"]);
    let names = |code| names_a_variant(code, "Law", &laws);
    for code in ["Law::Coulomb", "!= Law::Equality)", "use Law::*;", "use law::Law::{Coulomb};"] {
        assert!(names(code), "{code}");
    }
    for code in ["Law::default()", "OtherLaw::Coulomb", "law: Law", "Law::Coulombic"] {
        assert!(!names(code), "{code}");
    }
}

#[test]
fn a_law_is_named_by_few_files() {
    let sources = sources();
    let folder = Path::new("argmin/contact/law");
    let of = |path: &Path| sources.iter().find(|source| source.path == path).unwrap();
    let laws = variants(&of(&folder.join("mod.rs")).code, "enum Law {");
    assert!(laws.contains(&"Coulomb"), "{laws:?}");
    let named = |Source { path, code, .. }: &Source| {
        let own = path.starts_with(folder) && names_a_variant(code, "Self", &laws);
        (own || names_a_variant(code, "Law", &laws)).then(|| path.display().to_string())
    };
    let files: Vec<String> = sources.iter().filter_map(named).collect();
    assert!(files.iter().any(|file| file.ends_with("impulse_set.rs")), "{files:?}");
    assert!(files.len() <= MOST_FILES, "name a law:\n{}", files.join("\n"));
}
