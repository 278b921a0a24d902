//! README and `docs`: every command on these pages is run, every file read, every program compiled, and every link leads
//! somewhere.
//!
//! Blocks say how they are checked: `sh` is run line by line in a folder of the page, and a `text` block behind it is what
//! is printed (`..` and `...` stand for anything); `toml NAME` is written there and read as a scene or an experiment;
//! `json` is parsed, `python` compiled (and run by `tests/python`, but for `python no_run`), `rust` a doctest. `sh no_run`
//! is not checked.

mod check;
mod output;
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use check::{Checked, check_blocks, check_names, folder, has_python, root};
use output::compare;
use page::{keys, parse};

/// Blocks that may be left unchecked, on all pages together.
const MOST_NOT_RUN: usize = 8;

/// README and the pages of `docs`, from the root of the repository.
fn pages() -> Vec<PathBuf> {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut pages: Vec<PathBuf> = pages.map(|name| Path::new("docs").join(name)).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.push("README.md".into());
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

fn said(checked: &Checked) -> String {
    let kinds: Vec<String> =
        checked.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

#[test]
fn what_the_pages_show_is_so() {
    let mut all = Checked::new();
    let mut wrong = Vec::new();
    for path in pages() {
        let folder = folder(&format!("page-{}", path.file_stem().unwrap().to_str().unwrap()));
        match check_blocks(&read(&path), &folder) {
            Ok(checked) => {
                println!("{}: {}", path.display(), said(&checked));
                checked.into_iter().for_each(|(kind, n)| *all.entry(kind).or_default() += n);
            }
            Err(message) => wrong.push(format!("{}:{message}", path.display())),
        }
    }
    println!("all: {}", said(&all));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all["commands"] >= 20 && all["outputs"] >= 6 && all["scenes"] >= 3, "{all:?}");
    assert!(all["commands not run"] <= MOST_NOT_RUN, "{all:?}");
}

#[test]
fn what_the_pages_name_is_there() {
    let mut pages = pages();
    pages.extend(["ARCHITECTURE.md".into(), "CHANGELOG.md".into()]);
    let examples = fs::read_dir(root().join("examples")).unwrap();
    let examples = examples.map(|entry| entry.unwrap().file_name());
    pages.extend(examples.map(|name| Path::new("examples").join(name).join("README.md")));
    pages.retain(|page| root().join(page).is_file());
    for path in pages {
        match check_names(&read(&path), &path) {
            Ok(checked) => println!("{}: {}", path.display(), said(&checked)),
            Err(message) => panic!("{}:{message}", path.display()),
        }
    }
}

#[test]
fn the_readme_is_short() {
    let lines = read(Path::new("README.md")).lines().count();
    assert!(lines <= 150, "{lines} lines");
}

#[test]
fn programs_in_rust_are_doctests() {
    let library = read(Path::new("src/lib.rs"));
    for path in pages() {
        let (blocks, _) = parse(&read(&path)).unwrap();
        let included = format!("include_str!(\"../{}\")", path.display());
        if blocks.iter().any(|block| block.language == "rust") {
            assert!(library.contains(&included), "src/lib.rs lacks {included}");
        }
    }
}

/// The files of a folder of the repository with this ending.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![root().join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                files.push(path);
            }
        }
    }
    files
}

// One list of references, in lib.rs: what is cited is in it, and what is in it is cited.
#[test]
fn references_are_cited_by_the_keys_that_the_library_lists() {
    let library = read(Path::new("src/lib.rs"));
    let entries = library.lines().filter_map(|line| line.strip_prefix("//! - `"));
    let listed: BTreeSet<&str> = entries.filter_map(|line| keys(line).next()).collect();
    assert!(listed.len() > 20, "{listed:?}");
    let mut cited = BTreeSet::new();
    let pages = pages().into_iter().map(|path| root().join(path));
    let code = [files("src", "rs"), files("examples", "rs"), files("examples", "md")].concat();
    for path in code.into_iter().chain(pages) {
        let text = fs::read_to_string(&path).unwrap();
        let is_code = path.extension().is_some_and(|ending| ending == "rs");
        if path == root().join("src/lib.rs") {
            continue;
        }
        for (number, line) in (1..).zip(text.lines()) {
            let comment = line.split_once("//").map(|(_, comment)| comment);
            let Some(said) = (if is_code { comment } else { Some(line) }) else { continue };
            for key in keys(said) {
                assert!(listed.contains(key), "{}:{number}: {key}", path.display());
                cited.insert(key.to_string());
            }
            let is_plain = is_code && names_a_year(said);
            assert!(!is_plain, "{}:{number}: cite by a key: {said}", path.display());
        }
    }
    let unused: Vec<&&str> = listed.iter().filter(|key| !cited.contains(**key)).collect();
    assert!(unused.is_empty(), "nothing cites {unused:?}");
}

/// Since there are joints a step takes a force for each velocity and a control for each motor, and bodies are placed by
/// their origins: nothing says what was so before.
#[test]
fn inputs_and_poses_are_not_those_of_free_bodies_only() {
    let all =
        [files("src", "rs"), files("include", "h"), files("docs", "md"), files("examples", "rs")];
    for path in all.concat() {
        let text = fs::read_to_string(&path).unwrap();
        let words: Vec<&str> =
            text.split([' ', '\n', '/', '!']).filter(|w| !w.is_empty()).collect();
        let words = words.join(" ").to_lowercase();
        for stale in ["six numbers a body", "# of the centre of the shape"] {
            assert!(!words.contains(stale), "{}: {stale}", path.display());
        }
    }
}

/// Whether a comment names the year of a publication, as in "Kingma and Ba 2015".
fn names_a_year(comment: &str) -> bool {
    let words: Vec<&str> = comment.split(|c: char| !c.is_alphanumeric()).collect();
    let is_year = |word: &str| {
        word.len() == 4 && word.parse().is_ok_and(|year: u32| (1900..2100).contains(&year))
    };
    let is_name = |word: &str| word.starts_with(|c: char| c.is_uppercase()) || word == "al";
    words.windows(2).any(|pair| is_name(pair[0]) && is_year(pair[1]))
        || words.windows(3).any(|w| is_name(w[0]) && w[1].is_empty() && is_year(w[2]))
}

#[test]
fn years_and_keys_are_found() {
    assert!(names_a_year(" (Kingma and Ba 2015)") && names_a_year("(Iglewicz and Hoaglin, 1993)"));
    assert!(names_a_year("Howell et al. 2022") && !names_a_year("2000 iterations of 1960 steps"));
    let text =
        r"by `LeLidec21` (5), \[Zhong21\], [`Vector3`], [Nielsen99] 2, `u32`, [1; AtomicU64]";
    assert_eq!(keys(text).collect::<Vec<_>>(), ["LeLidec21", "Zhong21", "Nielsen99"]);
}

#[test]
fn mistakes_on_pages_are_found() {
    let fence = |head: &str, text: &str| format!("\n\n```{head}\n{text}\n```\n");
    let scene = "simulation.time_step = 0.01\n[[body]]\nname = \"a\"\nmass = 1\ninertia = 1";
    let simulate = "stiction simulate examples/slides/scene.toml --steps 1 --columns pz";
    let right = fence("sh", simulate) + &fence("text", "t,pz\n...\n0.00208333..,0.02");
    for (page, message) in [
        ("```sh\nstiction --version\n".to_string(), "1: the fence is not closed"),
        (fence("", "plain"), "3: the fence names no language"),
        (fence("fortran", "end"), "3: there is no way to check"),
        (fence("toml", scene), "3: names no file"),
        (fence("toml a.toml", &scene.replace("mass", "mess")), "mess"),
        (fence("toml a.toml", "scene = \"none.toml\""), "none.toml"),
        (fence("json", "{"), "3: EOF"),
        (fence("sh", "rm scene.toml"), "3: is no command of stiction"),
        (fence("sh", "stiction simulate a.toml | head"), "plain words"),
        (fence("sh", "stiction simulate none.toml"), "none.toml"),
        (fence("sh", "stiction simulate examples/slides/scene.toml --stops 3"), "--stops"),
        (right.replace("0.02\n", "0.03\n"), "is not printed: 0.00208333..,0.03"),
        (right.replace("...\n", ""), "printed: 0,0.02"),
        (right.replace("0.00208333..,0.02", "0,0.02"), "is printed, too: 0.0020833"),
    ] {
        let found = check_blocks(&page, &folder("page-mistakes")).unwrap_err();
        assert!(found.contains(message), "{page}\n{found}");
    }
    let checked = check_blocks(&right, &folder("page-right")).unwrap();
    assert_eq!(said(&checked), "1 commands, 1 outputs");
    if has_python() {
        let found = check_blocks(&fence("python", "def f(:"), &folder("page-python")).unwrap_err();
        assert!(found.contains("3: ") && found.contains("SyntaxError"), "{found}");
    }
    for (page, message) in [
        ("see [this](docs/none.md)", "1: the link leads nowhere: docs/none.md"),
        ("see [this](docs/solvers.md#none)", "leads nowhere: docs/solvers.md#none"),
        ("\nsee `src/none.rs`", "2: is not there: src/none.rs"),
        ("`cargo bench --bench none`", "is not there"),
    ] {
        let found = check_names(page, Path::new("README.md")).unwrap_err();
        assert!(found.contains(message), "{found}");
    }
    let fine =
        "[a](docs/solvers.md#compared), `tests/docs`, `cargo bench --bench ad`, [b](https://x.y)";
    let checked = check_names(fine, Path::new("README.md")).unwrap();
    assert_eq!(said(&checked), "1 files, 1 links");
}

#[test]
fn outputs_are_compared() {
    for (shown, printed) in [
        ("a 1.000001 b", "a  1.000002 b"),
        ("done in .. s, ..", "done in 3 s, 4 threads"),
        ("a\n...\nb", "a\nx\ny\nb\n"),
        ("0.0", "1e-17"),
    ] {
        compare(shown, printed).unwrap_or_else(|error| panic!("{error}"));
    }
    for (shown, printed) in [("a 1", "a 2"), ("a", "a b"), ("a\nb", "a"), ("a", "a\nb")] {
        compare(shown, printed).unwrap_err();
    }
}
