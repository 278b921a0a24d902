//! The pages in headless Chromium: `STICTION_CHROMIUM`, or a Chromium on the path. Without one the tests say
//! that they are skipped, and fail if `STICTION_REQUIRE_CHROMIUM` is 1.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{HOSTILE, builtin, full};
use crate::folder::Folder;
use crate::program::{SCENE, succeeds};
use crate::skipped::skip;

/// Runs before the scripts of a page: keeps what goes wrong.
pub const BEFORE: &str = include_str!("before.js");
/// Runs after them: uses the player, and writes down what it saw.
const AFTER: &str = include_str!("after.js");
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The first program of one of these names on the path.
fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|file| file.is_file())
}

/// Runs a program; one that hangs is ended after 300 s, where there is the program `timeout`.
fn limited(program: &Path) -> Command {
    let Some(timeout) = on_path(&["timeout"]) else { return Command::new(program) };
    let mut command = Command::new(timeout);
    command.args(["-k", "10", "300"]).arg(program);
    command
}

/// The browser, if there is one.
pub fn browser() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("STICTION_CHROMIUM") {
        return Some(given.into());
    }
    let found = on_path(NAMES);
    if found.is_none() {
        skip("there is no Chromium on the path", "STICTION_REQUIRE_CHROMIUM");
    }
    found
}

/// A page with scripts before and after its own.
pub fn between(page: &str, before: &str, after: &str) -> String {
    let (head, rest) = page.split_once("<head>").unwrap();
    let (body, end) = rest.rsplit_once("</body>").unwrap();
    format!("{head}<head><script>{before}</script>{body}<script>{after}</script></body>{end}")
}

/// Opens a page, uses its player and returns what was seen; nothing without a browser.
fn open(folder: &Folder, page: &str) -> Option<Value> {
    folder.write("opened.html", &between(page, BEFORE, AFTER));
    let seen = visit(folder, &format!("file://{}", folder.path("opened.html").display()))?;
    assert_eq!(seen["loaded"], Value::Array(Vec::new()), "{seen:#}");
    Some(seen)
}

/// What the page at an address says it saw; nothing without a browser.
pub fn visit(folder: &Folder, address: &str) -> Option<Value> {
    let browser = browser()?;
    let file = |name: &str| File::create(folder.path(name)).unwrap();
    limited(&browser)
        .args(["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--enable-unsafe-swiftshader", "--window-size=1000,800", "--disable-extensions"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(address)
        .stdin(Stdio::null())
        .stdout(file("dom.html"))
        .stderr(file("log.txt"))
        .status()
        .unwrap_or_else(|error| panic!("{}: {error}", browser.display()));
    let dom = folder.read("dom.html");
    let log = folder.read("log.txt");
    let said: Vec<&str> = log
        .lines()
        .filter(|line| line.contains(":CONSOLE") && !line.contains("GL Driver Message"))
        .collect();
    assert!(said.is_empty(), "{said:?}");
    let seen = dom.rsplit_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (seen, _) = seen.unwrap_or_else(|| panic!("the page did not answer: {log}"));
    let plain =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", "\u{a0}"), ("&amp;", "&")];
    let seen = plain.iter().fold(seen.to_string(), |text, (from, to)| text.replace(from, to));
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen["messages"], Value::Array(Vec::new()), "{seen:#}");
    assert_eq!(seen["failed"], Value::Null, "{seen:#}");
    Some(seen)
}

/// The player draws, and moves with its timeline, its button and keys.
#[track_caller]
fn plays(seen: &Value) {
    let number = |key: &str| seen[key].as_f64().unwrap_or_else(|| panic!("{key}: {seen:#}"));
    assert!(number("colors") > 50.0, "the canvas is blank: {seen:#}");
    assert!(number("repainted") == 0.0, "the same instant is drawn in two ways: {seen:#}");
    assert!(number("changed_by_timeline") > 200.0, "{seen:#}");
    assert!(number("moved_by_timeline") > 0.01, "{seen:#}");
    assert_ne!(seen["clock_at_start"], seen["clock_at_middle"]);
    let clock = seen["clock_at_middle"].as_str().unwrap();
    assert!(clock.contains(" s ") && clock.contains("frame "), "{clock}");
    assert!(number("time_played") > 0.05, "{seen:#}");
    assert_eq!(seen["playing"], true);
    assert_eq!(seen["paused_by_space"], true);
    assert_eq!(number("frames_by_arrow"), 1.0);
    assert_eq!(number("time_after_end"), number("duration"));
    assert!(number("changed_by_forces") > 20.0, "there are no arrows: {seen:#}");
    assert!(number("changed_by_drag") > 1000.0, "{seen:#}");
    assert!(number("changed_by_zoom") > 1000.0, "{seen:#}");
    assert!(number("changed_by_dark") > 1000.0, "{seen:#}");
}

/// The playback is the first thing on a page, below its `title` (as a share of the window), and labels of charts do not lie over each
/// other.
#[track_caller]
fn is_seen_at_once(seen: &Value, title: f64) {
    assert!(seen["player_top"].as_f64().unwrap() < title, "{seen:#}");
    assert_eq!(seen["overlaps"], Value::Array(Vec::new()));
}

#[test]
fn the_report_of_the_built_in_experiment_plays() {
    let folder = Folder::new("browser-report");
    builtin::identify(&folder);
    let Some(seen) = open(&folder, &folder.read("out/report.html")) else { return };
    plays(&seen);
    let headings: Vec<&str> =
        seen["headings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for expected in
        ["Parameters", "Convergence", "Errors over time", "Recordings", "Data against simulation"]
    {
        assert!(headings.contains(&expected), "{expected}: {headings:?}");
    }
    // Under the medians, of how many recordings they are: some end before the others.
    let counts: Vec<&str> =
        seen["counts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(counts, ["n = 6", "6", "6", "6", "3"].repeat(2));
    // The playback is seen without scrolling; there are the numbers of the box: x, y, z, how far it turned, and its velocities.
    is_seen_at_once(&seen, 0.4);
    assert!(seen["canvas_bottom"].as_f64().unwrap() < 0.9, "{seen:#}");
    assert_eq!(seen["signals"], 10);
    for told in ["cursors_move", "other_clip", "space_plays"] {
        assert_eq!(seen[told], true, "{told}: {seen:#}");
    }
    // Two tracks, of which the ghost can be switched off.
    assert!(seen["changed_by_recording"].as_f64().unwrap() > 20.0, "{seen:#}");
    // Sorted by another column, the other way round; a click on a row plays it.
    assert_eq!(seen["rows"], 6);
    assert_eq!(seen["sorted"], true);
    assert_eq!(seen["shown_by_row"], true);
}

#[test]
fn every_section_is_drawn_and_names_are_text() {
    let folder = Folder::new("browser-full");
    let Some(seen) = open(&folder, &full().html().unwrap()) else { return };
    plays(&seen);
    is_seen_at_once(&seen, 0.6);
    let headings = seen["headings"].as_array().unwrap();
    assert_eq!(headings.len(), 10, "{headings:?}");
    assert_eq!(seen["title"], HOSTILE);
    assert!(seen["charts"].as_u64().unwrap() >= 6);
    assert_eq!(seen["bad_charts"], 0);
}

/// A picture of recordings whose names could break it is one, with their names as text.
#[cfg(feature = "plots")]
#[test]
fn names_in_pictures_are_text() {
    let (mut experiment, mut dataset, result) = super::identified().clone();
    let hostile = HOSTILE.replace('/', " ");
    experiment.name = format!("{hostile}\n\u{1}");
    dataset.trajectories[0].name = format!("{hostile}\n\u{1}\u{ffff}.csv");
    let picture = stiction::view::fit_plot(&experiment, &dataset, &result).unwrap();
    let folder = Folder::new("browser-picture");
    folder.write("picture.svg", &picture);
    let Some(browser) = browser() else { return };
    let output = limited(&browser)
        .args(["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--disable-extensions", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(format!("file://{}", folder.path("picture.svg").display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let seen = String::from_utf8(output.stdout).unwrap();
    assert!(seen.trim_start().starts_with("<svg ") && !seen.contains("parsererror"), "{seen}");
    assert!(!seen.contains("<script") && !seen.contains("<img"), "{seen}");
    assert!(seen.contains("alert('1')") && seen.contains(".csv"), "{seen}");
}

#[test]
fn a_simulation_plays() {
    let folder = Folder::new("browser-view");
    folder.write("scene.toml", SCENE);
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "150", "--view", "out.html"]));
    let Some(seen) = open(&folder, &folder.read("out.html")) else { return };
    plays(&seen);
    assert_eq!(seen["title"], "scene.toml");
}

#[test]
fn a_soft_body_plays() {
    let folder = Folder::new("browser-soft");
    folder.write("scene.toml", include_str!("../../examples/soft_ball/scene.toml"));
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "165", "--view", "out.html"]));
    let Some(seen) = open(&folder, &folder.read("out.html")) else { return };
    plays(&seen);
    assert_eq!(seen["title"], "scene.toml");
}

#[test]
fn what_was_found_of_a_soft_body_plays_beside_its_markers() {
    let folder = Folder::new("browser-markers");
    succeeds(&folder.run(&["init", "--soft"]));
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "90", "-o", "recording.csv"]));
    // Far from the end, so that both are seen.
    let experiment = folder.read("experiment.toml").replace("stages = [0.08]", "iterations = 2");
    folder.write("experiment.toml", &experiment);
    let output = folder.run(&["identify", "experiment.toml", "-o", "out"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("out/motions.html"), "{said}");
    let Some(seen) = open(&folder, &folder.read("out/motions.html")) else { return };
    plays(&seen);
    assert!(seen["changed_by_recording"].as_f64().unwrap() > 20.0, "{seen:#}");
}

#[test]
fn a_browser_without_graphics_says_so() {
    let folder = Folder::new("browser-plain");
    folder.write("scene.toml", SCENE);
    succeeds(&folder.run(&["simulate", "scene.toml", "--steps", "2", "--view", "out.html"]));
    let page = folder.read("out.html");
    let without = "<head><script>HTMLCanvasElement.prototype.getContext = () => null;</script>";
    let page = page.replacen("<head>", without, 1);
    let Some(seen) = open(&folder, &page) else { return };
    assert!(seen["notice"].as_str().unwrap().contains("WebGL 2"), "{seen:#}");
}
