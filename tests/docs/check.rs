//! A page is checked: its commands are run, its files read, its programs compiled.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use stiction::identify::Experiment;
use stiction::maximal::PointScene;
use stiction::model::Scene;
use stiction::soft::SoftScene;

use super::output::compare;
use super::page::{Block, anchors, code, links, parse};
use crate::folder::Folder;
use crate::skipped::skip;

/// How many of each kind were checked.
pub type Checked = BTreeMap<&'static str, usize>;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder in which the repository's examples and tests are found.
pub fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    for part in ["examples", "tests"] {
        std::os::unix::fs::symlink(root().join(part), folder.path(part)).unwrap();
    }
    folder
}

/// Checks all blocks of a page in `folder`, one after the other, so that later ones find the files of earlier ones.
/// What is wrong is told with its line.
pub fn check_blocks(page: &str, folder: &Folder) -> Result<Checked, String> {
    let mut checked = Checked::new();
    let mut printed = None;
    for block in parse(page)?.0 {
        let before = printed.take();
        let kind = match (block.language.as_str(), block.info.as_str()) {
            ("sh", "") => {
                let (output, count) = run(&block, folder)?;
                *checked.entry("commands").or_default() += count;
                printed = Some(output);
                continue;
            }
            ("sh", "no_run") => "commands not run",
            ("text", "") => match before.filter(|_| block.follows) {
                Some(printed) => {
                    compare(&block.text, &printed).map_err(|error| at(&block, error))?;
                    "outputs"
                }
                None => "formulas",
            },
            ("toml", _) => toml(&block, folder)?,
            ("json", "") => {
                let json = serde_json::from_str::<serde_json::Value>(&block.text);
                json.map_err(|error| at(&block, error.to_string()))?;
                "JSON"
            }
            ("python", "" | "no_run") => match python(&block)? {
                true => "Python programs",
                false => continue,
            },
            // A doctest: `lib.rs` includes the page.
            ("rust", "") => "Rust programs",
            (language, info) => {
                return Err(at(&block, format!("there is no way to check ```{language} {info}")));
            }
        };
        *checked.entry(kind).or_default() += 1;
    }
    Ok(checked)
}

fn at(block: &Block, message: impl std::fmt::Display) -> String {
    format!("{}: {message}", block.line)
}

/// Runs the commands of a block, and returns what they print.
fn run(block: &Block, folder: &Folder) -> Result<(String, usize), String> {
    let mut printed = String::new();
    let mut count = 0;
    for line in block.text.lines().filter(|line| !line.trim().is_empty()) {
        let words = words(line).map_err(|error| at(block, format!("{error}: {line}")))?;
        let Some(("stiction", arguments)) = words.split_first().map(|(a, b)| (a.as_str(), b))
        else {
            return Err(at(block, format!("is no command of stiction (`sh no_run`?): {line}")));
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = folder.run(&arguments);
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(at(block, format!("{line}: {}\n{errors}", output.status)));
        }
        printed += &String::from_utf8_lossy(&output.stdout);
        count += 1;
    }
    match count {
        0 => Err(at(block, "there is no command")),
        _ => Ok((printed, count)),
    }
}

/// The words of a command, those between single quotes as they are, without a comment at the end.
fn words(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    for (k, part) in line.split('\'').enumerate() {
        if k % 2 == 1 {
            words.push(part.to_string());
            continue;
        }
        let (part, comment) = match part.split_once(" #") {
            Some((part, _)) => (part, true),
            None => (part, false),
        };
        if part.contains(['"', '\\', '|', '>', '<', ';', '$', '&', '*']) {
            return Err("is more than a command with plain words");
        }
        words.extend(part.split_whitespace().map(str::to_string));
        if comment {
            return Ok(words);
        }
    }
    Ok(words)
}

/// Writes a scene or an experiment under its name, and reads it.
fn toml(block: &Block, folder: &Folder) -> Result<&'static str, String> {
    if !block.info.ends_with(".toml") {
        return Err(at(block, "names no file: ```toml scene.toml"));
    }
    let document: toml::Table =
        toml::from_str(&block.text).map_err(|error| at(block, error.to_string()))?;
    folder.write(&block.info, &block.text);
    let path = folder.path(&block.info);
    if document.contains_key("scene") {
        let experiment = Experiment::load(path, &[]);
        experiment.map_err(|error| at(block, error.to_string()))?;
        return Ok("experiments");
    }
    if document.contains_key("dimension") {
        PointScene::load(path).map_err(|error| at(block, error.to_string()))?;
        return Ok("systems of points");
    }
    let soft = SoftScene::load(&path).map_err(|error| at(block, error.to_string()))?;
    let warnings = match soft {
        Some(scene) => scene.warnings,
        None => {
            let scene = Scene::load(path).map_err(|error| at(block, error.to_string()))?;
            scene.warnings.iter().map(ToString::to_string).collect()
        }
    };
    match warnings.first() {
        Some(warning) => Err(at(block, warning)),
        None => Ok("scenes"),
    }
}

/// Whether there is a Python to compile with.
pub fn has_python() -> bool {
    fed("python3", &["-c", "pass"], "").is_some_and(|output| output.status.success())
}

/// Compiles a program in Python; false where there is none.
fn python(block: &Block) -> Result<bool, String> {
    let program = ["-c", "import ast, sys; ast.parse(sys.stdin.read())"];
    let Some(output) = fed("python3", &program, &block.text).filter(|_| has_python()) else {
        skip("there is no python3 to compile programs in Python", "STICTION_REQUIRE_NUMPY");
        return Ok(false);
    };
    match output.status.success() {
        true => Ok(true),
        false => Err(at(block, String::from_utf8_lossy(&output.stderr))),
    }
}

/// What a program does with this input; nothing if it is not there.
fn fed(program: &str, arguments: &[&str], input: &str) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    child.wait_with_output().ok()
}

/// Checks that what a page links to or names is there. `path`: the page, from the root of the repository.
pub fn check_names(page: &str, path: &Path) -> Result<Checked, String> {
    let mut checked = Checked::new();
    let folder = root().join(path.parent().unwrap_or(Path::new("")));
    let prose = parse(page)?.1.join("\n");
    for (number, link) in links(&prose).into_iter().filter(|(_, link)| !link.contains("://")) {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() { root().join(path) } else { folder.join(file) };
        let is_there = target.exists()
            && (anchor.is_empty() || {
                let target = std::fs::read_to_string(&target).unwrap_or_default();
                anchors(&target).iter().any(|known| known == anchor)
            });
        if !is_there {
            return Err(format!("{number}: the link leads nowhere: {link}"));
        }
        *checked.entry("links").or_default() += 1;
    }
    for (number, name) in code(&prose) {
        if !names_what_is_there(name) {
            return Err(format!("{number}: is not there: {name}"));
        }
        if is_path(name) {
            *checked.entry("files").or_default() += 1;
        }
    }
    Ok(checked)
}

/// Whether a word is the path of a file or folder of the repository.
fn is_path(name: &str) -> bool {
    const FOLDERS: [&str; 7] =
        ["src/", "tests/", "examples/", "benches/", "docs/", "include/", ".ci/"];
    FOLDERS.iter().any(|folder| name.starts_with(folder)) && !name.contains([' ', '*'])
}

/// Whether what is named between backticks is there: a path, a bench or an example.
fn names_what_is_there(name: &str) -> bool {
    if is_path(name) {
        return root().join(name).exists();
    }
    let mut words = name.split_whitespace();
    while let Some(word) = words.next() {
        let folder = match word {
            "--bench" => "benches",
            "--example" => "examples",
            _ => continue,
        };
        let Some(target) = words.next() else { return false };
        let path = root().join(folder).join(target);
        if !path.exists() && !path.with_extension("rs").exists() {
            return false;
        }
    }
    true
}
