//! `stiction identify`, killed and interrupted at any time, goes on to the same result; and recordings held out.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;
use stiction::identify::Checkpoint;
use stiction::model::Scene;

use super::search::{BALL, throws};
use crate::cases;
use crate::folder::Folder;
use crate::random::Random;
use crate::scenes::on_floor;
use crate::skipped::skip;

pub const EXPERIMENT: &str = "scene = \"scene.toml\"
data = [\"throws\"]
starts = 3
half_samples = 4
[noise]
position = 0.001
rotation_deg = 0.3
[[parameter]]
name = \"floor-ball/mu\"
start = 0.05
lower = 0.01
upper = 1
[[parameter]]
name = \"floor-ball/restitution\"
start = 0.3
lower = 0
upper = 1
";

const COMMAND: [&str; 7] =
    ["identify", "experiment.toml", "--resume", "--holdout", "0.2", "--threads", "2"];

/// A folder with an experiment and twelve noisy recordings of a ball.
pub fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", &on_floor(BALL));
    folder.write("experiment.toml", EXPERIMENT);
    std::fs::create_dir(folder.path("throws")).unwrap();
    let scene = Scene::load(folder.path("scene.toml")).unwrap();
    for (k, recording) in throws(&scene, 12, 48, 1.0, 7).iter().enumerate() {
        let mut text = Vec::new();
        recording.write(&scene.model, &mut text).unwrap();
        folder.write(&format!("throws/{k:02}.csv"), &String::from_utf8(text).unwrap());
    }
    folder
}

/// The program, with its result in a folder of this name.
fn program(folder: &Folder, output: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_stiction")));
    command.args(COMMAND).args(["-o", output]).current_dir(folder.path("."));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The program at work, and the lines it prints.
fn at_work(folder: &Folder, output: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = program(folder, output).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// The number of the iteration that a line tells of, if it does.
fn iteration(line: &str) -> Option<usize> {
    let (number, _) = line.split_once("  loss ")?;
    Some(number.trim().parse().unwrap())
}

/// Iterations that the checkpoint of an output folder holds; none without it.
fn iterations_kept(folder: &Folder, output: &str) -> usize {
    let path = folder.path(&format!("{output}/checkpoint.json"));
    let Ok(text) = std::fs::read_to_string(path) else { return 0 };
    serde_json::from_str::<Checkpoint>(&text).unwrap().iterations()
}

/// Asserts that a run printed the iterations that follow the first `kept` ones, and no other; returns how many.
#[track_caller]
fn went_on_after(kept: usize, lines: &[String]) -> usize {
    let told: Vec<usize> = lines.iter().filter_map(|line| iteration(line)).collect();
    assert_eq!(told, (kept + 1..=kept + told.len()).collect::<Vec<_>>(), "after {kept}");
    told.len()
}

/// A result without what clocks measure.
fn result(folder: &Folder, output: &str) -> Value {
    let text = folder.read(&format!("{output}/result.json"));
    let mut value: Value = serde_json::from_str(&text).unwrap();
    for measured in ["seconds", "rollouts", "half_rollouts", "profile_rollouts"] {
        value.as_object_mut().unwrap().remove(measured).unwrap();
    }
    value
}

/// Every file of a folder is whole, but for temporary ones.
fn all_is_whole(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".part") || name == ".stiction-lock" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        match name {
            "result.json" | "checkpoint.json" => {
                serde_json::from_str::<Value>(&text).unwrap();
            }
            "scene.toml" => drop(Scene::load(&path).unwrap()),
            "report.html" => assert!(text.trim_end().ends_with("</html>")),
            other => panic!("{other} is none of its files"),
        }
    }
}

#[test]
fn what_is_killed_goes_on_to_the_same_result() {
    let most_kills = cases::count(50, 0.3);
    let folder = prepared("resume-kill");
    let (mut child, lines) = at_work(&folder, "whole");
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    let iterations = went_on_after(0, &lines);
    assert!(child.wait().unwrap().success());
    let whole = result(&folder, "whole");
    assert_eq!((&whole["status"], &whole["errors_from"]), (&"converged".into(), &"halves".into()));
    let scene = folder.read("whole/scene.toml");
    assert!(!folder.path("whole/checkpoint.json").exists());
    let mut random = Random(1);
    let (mut kills, mut ends, mut resumed) = (0, 0, 0);
    // Started once more at the end, to finish. A run that ends before it is killed is compared and begun anew.
    for attempt in 0..10 * most_kills {
        let kept = iterations_kept(&folder, "part");
        let (mut child, mut lines) = at_work(&folder, "part");
        let mut printed: Vec<String> = Vec::new();
        if kills < most_kills {
            // After some iterations, and then at once or much later: all it does is reached, whatever its speed.
            printed.extend(lines.by_ref().take(random.below(iterations)).map(Result::unwrap));
            let looks = 10_f64.powf(random.uniform(0.0, 6.0)) as usize;
            if (0..looks).all(|_| child.try_wait().unwrap().is_none()) {
                child.kill().unwrap();
            }
        }
        printed.extend(lines.map(Result::unwrap));
        let made = went_on_after(kept, &printed);
        resumed += usize::from(kept > 0 && made > 0);
        let status = child.wait().unwrap();
        all_is_whole(&folder.path("part"));
        if status.code().is_none() {
            kills += 1;
            continue;
        }
        assert!(status.success(), "{status} at attempt {attempt}");
        assert_eq!(kept + made, iterations);
        assert_eq!(result(&folder, "part"), whole);
        assert_eq!(folder.read("part/scene.toml"), scene);
        assert!(!folder.path("part/checkpoint.json").exists());
        ends += 1;
        if kills >= most_kills {
            break;
        }
        std::fs::remove_dir_all(folder.path("part")).unwrap();
    }
    println!("{kills} kills, {resumed} runs resumed, {ends} ended");
    assert!(kills == most_kills && ends > 0 && resumed > 0);
}

#[cfg(unix)]
#[test]
fn what_is_interrupted_has_a_result_and_goes_on() {
    let folder = prepared("resume-interrupt");
    assert!(program(&folder, "whole").status().unwrap().success());
    let whole = result(&folder, "whole");
    let iterations = whole["iterations"].as_u64().unwrap() as usize;
    // A signal that comes when the search has ended leaves nothing to go on with: then once more.
    let stopped = (0..20).any(|_| {
        let (mut child, mut lines) = at_work(&folder, "part");
        let first = lines.find(|line| line.as_ref().unwrap().contains("  loss "));
        assert!(first.is_some());
        let pid = child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        let status = child.wait().unwrap();
        all_is_whole(&folder.path("part"));
        if status.success() {
            return false;
        }
        assert_eq!(status.code(), Some(1));
        assert!(rest.iter().any(|line| line.starts_with("--resume goes on from ")), "{rest:?}");
        if iterations_kept(&folder, "part") < iterations {
            return true;
        }
        std::fs::remove_dir_all(folder.path("part")).unwrap();
        false
    });
    assert!(stopped);
    let kept = iterations_kept(&folder, "part");
    assert!(kept > 0);
    let text = folder.read("part/result.json");
    let part: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(part["status"], "stopped");
    assert!(part["loss"].as_f64().unwrap() >= whole["loss"].as_f64().unwrap());
    assert!(part["parameters"].as_array().unwrap().iter().all(|p| p["value"].is_f64()));
    // Other options are refused; the same ones go on.
    let other = ["--seed", "2"];
    let output = program(&folder, "part").args(other).stderr(Stdio::piped()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("checkpoint.json") && message.contains("another experiment"));
    let (mut child, lines) = at_work(&folder, "part");
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    assert_eq!(kept + went_on_after(kept, &lines), iterations);
    assert_eq!(result(&folder, "part"), whole);
}

/// A number of starts that nobody gave does as well.
#[test]
fn later_starts_go_on_where_their_number_was_not_given() {
    let folder = prepared("resume-default");
    folder.write("experiment.toml", &EXPERIMENT.replace("starts = 3\n", ""));
    let start = || {
        let path = folder.path("part/checkpoint.json");
        let Ok(text) = std::fs::read_to_string(path) else { return 0 };
        serde_json::from_str::<Value>(&text).unwrap()["start"].as_u64().unwrap()
    };
    let (mut child, mut lines) = at_work(&folder, "part");
    assert!(lines.any(|line| line.is_ok() && start() > 0));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(start() > 0);
    let kept = iterations_kept(&folder, "part");
    let (mut child, lines) = at_work(&folder, "part");
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success());
    assert!(went_on_after(kept, &lines) > 0);
}

#[test]
fn recordings_held_out_are_measured() {
    let folder = prepared("resume-holdout");
    let short = ["identify", "experiment.toml", "--half-samples", "0", "--starts", "1"];
    let run = |more: &[&str]| folder.run(&[&short[..], more].concat());
    let output = run(&["--holdout", "0.25", "-o", "result.json"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("9 recordings, 9 windows"), "{said}");
    assert!(said.contains("3 recordings held out: position error "), "{said}");
    let result: Value = serde_json::from_str(&folder.read("result.json")).unwrap();
    assert_eq!(result["errors_from"], "linearisation");
    let held = result["holdout"].as_object().unwrap();
    assert_eq!(held["recordings"], 3);
    for key in ["position_error_percent", "rotation_error_deg"] {
        let of = |key: &str| held[key].as_f64().unwrap();
        // The scene's own parameters are the truth here.
        let (found, truth) = (of(key), of(&format!("{key}_of_scene")));
        assert!(truth > 0.0 && found < 1.5 * truth, "{key}: {found} {truth}");
    }
    for share in ["0", "1", "-0.1", "1.5", "nan"] {
        let output = run(&[&format!("--holdout={share}")]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("--holdout") && message.contains("between 0 and 1"), "{message}");
    }
    let output = run(&["--holdout", "0.5", "--data", "throws/03.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("at least two recordings"));
    // A pipe takes a result and nothing else.
    let output = run(&["--json", "-o", "/dev/null"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(!Path::new("/dev/null.checkpoint.json").exists());
}

/// What the program found before recordings were shared among processes: loss, friction and restitution, on machines whose
/// sine has these bits.
const BEFORE: [(&str, [u64; 3]); 5] = [
    ("", [0x3fedfe938a926b38, 0x3fc561679728ea95, 0x3fe3316952abc144]),
    ("initial_state = 'fitted'", [0x3fec255d15a528d3, 0x3fc55fd48247bc74, 0x3fe334249c78abe4]),
    (
        "initial_state = 'fitted'\nwindow = 20",
        [0x40036383dde8b7bf, 0x3fc5224944714f2c, 0x3fe37153f8b81d5f],
    ),
    ("method = 'adam'", [0x40b14f2ea37a0f4b, 0x3fb3a440cc15e434, 0x3fd6acd8c8962389]),
    ("method = 'l-bfgs-b'", [0x3fee12fccbf1db42, 0x3fca6873cae2a152, 0x3fe32e70b33991a4]),
];
const SINES: u64 = 0x864f520cf5e4c541;

/// Sums of few recordings are added as they always were.
#[test]
fn results_have_the_bits_they_had() {
    let sines = (0..4000).map(|k| (0.01 + 7.31e-3 * f64::from(k)).sin().to_bits());
    if sines.fold(0, |sum: u64, bits| sum.rotate_left(1) ^ bits) != SINES {
        return skip(
            "the bits of results from before are those of other machines",
            "STICTION_REQUIRE_BITS",
        );
    }
    let folder = prepared("bits");
    for (more, expected) in BEFORE {
        let text = EXPERIMENT
            .replace("half_samples = 4\n", "")
            .replace("starts = 3\n", &format!("profiles = false\nmax_iterations = 10\n{more}\n"));
        folder.write("experiment.toml", &text);
        assert!(folder.run(&["identify", "experiment.toml", "-o", "fit"]).status.code() < Some(2));
        let found: Value = serde_json::from_str(&folder.read("fit/result.json")).unwrap();
        let value = |k: usize| found["parameters"][k]["value"].as_f64().unwrap().to_bits();
        let found = [found["loss"].as_f64().unwrap().to_bits(), value(0), value(1)];
        assert_eq!(found, expected, "{more}");
    }
}
