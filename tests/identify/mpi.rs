//! `stiction identify` by several processes that MPI started: the same result, whatever happens to them, and one message where
//! something is wrong.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use stiction::identify::Checkpoint;

use super::resume::{EXPERIMENT, prepared};
use crate::cases;
use crate::folder::Folder;
use crate::mpirun::{ended_within, mpirun, processes, refused, there_is_mpi};
use crate::skipped::skip;

/// A result without clocks, counts of processes and threads, and what was gathered.
fn result(folder: &Folder, output: &str) -> Value {
    let mut value: Value =
        serde_json::from_str(&folder.read(&format!("{output}/result.json"))).unwrap();
    for measured in [
        "seconds",
        "rollouts",
        "half_rollouts",
        "profile_rollouts",
        "threads",
        "processes",
        "gathered",
    ] {
        value.as_object_mut().unwrap().remove(measured);
    }
    value
}

#[track_caller]
fn succeeds(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn results_are_the_same_by_any_number_of_processes() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-same");
    let short = "profiles = false\nmax_iterations = 10\n";
    let of = |head: &str, first: &str| EXPERIMENT.replacen(first, &format!("{head}{first}"), 1);
    let short_of = |more: &str| {
        let text = of(&format!("{short}{more}\n"), "[noise]");
        text.replace("half_samples = 4\n", "")
    };
    let variants = [
        ("starts", EXPERIMENT.to_string(), vec!["--holdout", "0.2"]),
        ("fitted", short_of("initial_state = \"fitted\""), vec![]),
        ("windows", short_of("initial_state = \"fitted\"\nwindow = 20"), vec![]),
        ("adam", short_of("method = \"adam\"\ninitial_state = \"fitted\""), vec![]),
        ("lbfgsb", short_of("method = \"l-bfgs-b\""), vec![]),
    ];
    let all: Vec<[usize; 2]> =
        [1, 2, 3, 5, 8].into_iter().flat_map(|count| [[count, 1], [count, 2]]).collect();
    let every = all.len().div_ceil(cases::count(all.len(), 0.2));
    for (number, (name, text, options)) in variants.into_iter().enumerate() {
        let file = format!("{name}.toml");
        folder.write(&file, &text);
        let alone = format!("{name}-alone");
        let arguments = [&[&file[..], "-o", &alone, "--threads", "2"], &options[..]].concat();
        let output = folder.run(&[&["identify"], &arguments[..]].concat());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let expected = result(&folder, &alone);
        for &[count, threads] in all.iter().skip(number % every).step_by(every) {
            let place = format!("{name}-{count}-{threads}");
            let threads = threads.to_string();
            let arguments = [&[&file[..], "-o", &place, "--threads", &threads], &options[..]];
            let found = processes(&folder, count, &arguments.concat()).output().unwrap();
            assert!(matches!(found.status.code(), Some(0 | 1)), "{found:?}");
            assert_eq!(result(&folder, &place), expected, "{name} by {count} processes");
            // One process says it all.
            let text = String::from_utf8(found.stdout).unwrap();
            assert_eq!(text.matches("written to").count(), 1, "{text}");
            let report = folder.read(&format!("{place}/report.html"));
            assert!(report.trim_end().ends_with("</html>"));
        }
    }
}

/// Fewer recordings than processes: some have nothing to do, which is told.
#[test]
fn more_processes_than_recordings_are_told() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-few");
    let text = EXPERIMENT.replace("half_samples = 4\n", "profiles = false\n");
    folder.write(
        "few.toml",
        &text.replace("[\"throws\"]", "[\"throws/00.csv\", \"throws/0[12].csv\"]"),
    );
    succeeds(&folder.run(&["identify", "few.toml", "-o", "alone"]));
    let found =
        processes(&folder, 5, &["few.toml", "-o", "five", "--threads", "1"]).output().unwrap();
    succeeds(&found);
    let said = String::from_utf8(found.stderr).unwrap();
    assert_eq!(said.matches("5 processes for 3 recordings").count(), 1, "{said}");
    assert_eq!(result(&folder, "five"), result(&folder, "alone"));
}

/// What is written and said beside a fit is the same, and from one process.
#[test]
fn what_is_said_beside_a_fit_is_the_same() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-beside");
    folder
        .write("experiment.toml", &EXPERIMENT.replace("half_samples = 4\n", "profiles = false\n"));
    for arguments in [vec!["--check"], vec!["--improve", "1", "--json"]] {
        let all = [&["experiment.toml"], &arguments[..]].concat();
        let alone = folder.run(&[&["identify"], &all[..]].concat());
        let found = processes(&folder, 3, &all).output().unwrap();
        let text = |output: &Output| {
            let text = String::from_utf8(output.stdout.clone()).unwrap();
            let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
                // The first line counts threads and processes.
                return text.split_once('\n').map(|(_, rest)| rest.to_string()).unwrap();
            };
            for measured in [
                "seconds",
                "rollouts",
                "processes",
                "gathered",
                "threads",
                "half_rollouts",
                "profile_rollouts",
            ] {
                value.as_object_mut().unwrap().remove(measured);
            }
            value.to_string()
        };
        assert_eq!(text(&found), text(&alone), "{arguments:?}");
    }
    #[cfg(feature = "plots")]
    {
        let plot = ["experiment.toml", "-o", "fit.json", "--plot", "alone.svg"];
        succeeds(&folder.run(&[&["identify"], &plot[..]].concat()));
        succeeds(&processes(&folder, 3, &[&plot[..4], &["three.svg"]].concat()).output().unwrap());
        assert_eq!(folder.read("alone.svg"), folder.read("three.svg"));
    }
}

/// The scripts beside the program have no mistakes of spelling.
#[test]
fn scripts_for_clusters_can_be_read() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cluster");
    for script in ["slurm.sh", "array.sh", "parallel.sh"] {
        succeeds(&Command::new("bash").arg("-n").arg(scripts.join(script)).output().unwrap());
    }
    for script in ["scenes_dask.py", "tosses_ddp.py"] {
        let text = fs::read_to_string(scripts.join(script)).unwrap();
        let mut command = Command::new("python3");
        command.args(["-c", "import sys; compile(sys.stdin.read(), 'script', 'exec')"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{script}");
    }
}

/// The processes that `mpirun` started, by their numbers.
fn members(starter: &Child) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    let tasks = fs::read_dir(format!("/proc/{}/task", starter.id())).into_iter().flatten();
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            let environment = fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
            let variables = String::from_utf8_lossy(&environment);
            let mut rank =
                variables.split('\0').filter_map(|v| v.strip_prefix("OMPI_COMM_WORLD_RANK="));
            if let Some(rank) = rank.next() {
                found.push((rank.parse().unwrap(), child.parse().unwrap()));
            }
        }
    }
    found.sort_unstable();
    found
}

fn signal(name: &str, process: u32) {
    let done = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(done.unwrap().success());
}

/// Whether a process is at work.
fn lives(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status
        .rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with('Z'))
}

/// Whether all of some processes end. `mpirun` ends when it has told them to, a moment before they have.
fn end_within(members: &[(usize, u32)], seconds: u32) -> bool {
    (0..20 * seconds).any(|_| {
        let ended = !members.iter().any(|(_, process)| lives(*process));
        if !ended {
            std::thread::sleep(Duration::from_millis(50));
        }
        ended
    })
}

/// Several processes at work up to the end of an iteration, and the rest of what they print.
fn at_iteration(
    folder: &Folder,
    output: &str,
    count: usize,
    iteration: usize,
) -> (Child, impl Iterator<Item = String> + use<>) {
    let arguments = ["experiment.toml", "-o", output, "--threads", "1"];
    let mut command = processes(folder, count, &arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let told = |line: &String| {
        let number = line.split_once("  loss ").and_then(|(number, _)| number.trim().parse().ok());
        number.is_some_and(|number: usize| number >= iteration)
    };
    assert!(lines.any(|line| told(&line)), "iteration {iteration} was not reached");
    (child, lines)
}

/// A process of three is killed after one of the first iterations: all end, soon and not with success, and what goes on from
/// there, by any number of processes, comes to what would have been found.
#[test]
fn what_a_killed_process_leaves_goes_on() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-killed");
    folder
        .write("experiment.toml", &EXPERIMENT.replace("half_samples = 4\n", "profiles = false\n"));
    succeeds(&folder.run(&["identify", "experiment.toml", "-o", "whole", "--threads", "2"]));
    let expected = result(&folder, "whole");
    let all: Vec<(usize, usize)> =
        (0..3).flat_map(|rank| (1..=5).map(move |k| (rank, k))).collect();
    let every = all.len().div_ceil(cases::count(15, 0.27));
    for (number, &(rank, iteration)) in all.iter().step_by(every).enumerate() {
        let place = format!("killed-{rank}-{iteration}");
        let (mut child, lines) = at_iteration(&folder, &place, 3, iteration);
        let members = members(&child);
        assert_eq!(members.len(), 3, "{members:?}");
        signal("KILL", members[rank].1);
        let status = ended_within(&mut child, 10);
        drop(lines);
        let status = status.unwrap_or_else(|| panic!("process {rank} killed: mpirun goes on"));
        assert!(!status.success());
        assert!(end_within(&members, 10), "{members:?}");
        let count = [1, 2, 4][number % 3];
        let arguments = ["experiment.toml", "--resume", "-o", &place, "--threads", "1"];
        succeeds(&processes(&folder, count, &arguments).output().unwrap());
        assert_eq!(
            result(&folder, &place),
            expected,
            "{rank} killed after {iteration}, by {count}"
        );
        assert!(!folder.path(&place).join("checkpoint.json").exists());
    }
}

/// Told to stop, by Ctrl-C or a job scheduler, all stop after the same iteration, with what there is.
#[test]
fn processes_that_are_told_to_stop_keep_one_iteration() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-stopped");
    folder
        .write("experiment.toml", &EXPERIMENT.replace("half_samples = 4\n", "profiles = false\n"));
    for (name, ranks) in [("INT", vec![1]), ("TERM", vec![0, 1, 2])] {
        let place = format!("stopped-{name}");
        let (mut child, lines) = at_iteration(&folder, &place, 3, 2);
        let members = members(&child);
        ranks.iter().for_each(|&rank| signal(name, members[rank].1));
        let rest: Vec<String> = lines.collect();
        let status = ended_within(&mut child, 20).unwrap();
        assert_eq!(status.code(), Some(1), "{rest:?}");
        assert!(rest.iter().any(|line| line.contains("--resume goes on")), "{rest:?}");
        let text = folder.read(&format!("{place}/checkpoint.json"));
        let kept: Checkpoint = serde_json::from_str(&text).unwrap();
        assert!(kept.is_whole());
        assert_eq!(result(&folder, &place)["iterations"], kept.iterations());
    }
}

/// Ctrl-C goes to mpirun, which tells its processes to end, and kills those that take longer than a second.
#[test]
fn what_mpirun_ends_keeps_an_iteration() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-ended");
    let long = EXPERIMENT.replace("half_samples = 4\n", "profiles = false\n");
    folder.write("experiment.toml", &long.replace("starts = 3", "starts = 100"));
    let (mut child, lines) = at_iteration(&folder, "ended", 3, 2);
    let members = members(&child);
    signal("INT", child.id());
    let status = ended_within(&mut child, 10);
    drop(lines);
    let status = status.unwrap_or_else(|| panic!("mpirun goes on"));
    assert_eq!(status.code(), Some(1));
    assert!(end_within(&members, 10), "{members:?}");
    let kept: Checkpoint = serde_json::from_str(&folder.read("ended/checkpoint.json")).unwrap();
    assert!(kept.is_whole() && kept.iterations() >= 2);
}

#[test]
fn what_is_wrong_is_said_once() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-wrong");
    let spoil = |name: &str| {
        let text = folder.read(name);
        let lines: Vec<&str> = text.lines().collect();
        folder.write(name, &[&lines[..5], &["0.1,x"], &lines[6..]].concat().join("\n"));
    };
    // A recording that the last process has, then one before it.
    for name in ["throws/10.csv", "throws/04.csv"] {
        spoil(name);
        let alone = folder.run(&["identify", "experiment.toml"]);
        let alone = String::from_utf8(alone.stderr).unwrap();
        let alone = alone.lines().find(|line| line.starts_with("error: ")).unwrap().to_string();
        for count in [2, 5] {
            let said = refused(&mut processes(&folder, count, &["experiment.toml"]), name);
            assert_eq!(said, alone);
        }
    }
    refused(&mut processes(&folder, 3, &["nowhere.toml"]), "nowhere.toml");
    refused(&mut processes(&folder, 2, &["--threads", "0"]), "--threads");
    refused(&mut processes(&folder, 2, &["experiment.toml", "-o", "no/such/place"]), "place");
    refused(&mut processes(&folder, 2, &[]), "give an experiment");
}

/// Processes that would part ways are told which differs, and in what.
#[test]
fn processes_that_differ_are_refused() {
    if !there_is_mpi() {
        return;
    }
    let folder = prepared("mpi-differ");
    let program = env!("CARGO_BIN_EXE_stiction");
    let two = |first: &[&str], second: &[&str]| {
        let mut command = mpirun(&folder);
        command.args(["-n", "1"]).args(first).arg(":").args(["-n", "1"]).args(second);
        command
    };
    let plain = [program, "identify", "experiment.toml"];
    let said = refused(&mut two(&plain, &[&plain[..], &["--seed", "3"]].concat()), "--seed 3");
    assert!(said.contains("process 1"), "{said}");
    // One option that only another process has, and one that there is not.
    let odd = [&plain[..], &["--nonsense"]].concat();
    let found = two(&plain, &odd).output().unwrap();
    assert_eq!(found.status.code(), Some(2), "{found:?}");
    assert!(String::from_utf8(found.stderr).unwrap().contains("--nonsense"));
    // What recordings are read by.
    fs::create_dir(folder.path("lagging")).unwrap();
    let text = EXPERIMENT.replace("[\"throws\"]", "[\"../throws\"]");
    folder.write(
        "lagging/experiment.toml",
        &text.replacen("[noise]", "velocity_lag = 0.001\n[noise]", 1),
    );
    fs::copy(folder.path("scene.toml"), folder.path("lagging/scene.toml")).unwrap();
    let lagging = ["-wdir", "lagging", program, "identify", "experiment.toml"];
    refused(&mut two(&plain, &lagging), "process 1 reads another experiment or scene");
    // What is simulated otherwise, and what is wrong at one of them alone.
    fs::create_dir(folder.path("physics")).unwrap();
    folder.write("physics/experiment.toml", &EXPERIMENT.replace("[\"throws\"]", "[\"../throws\"]"));
    let there = ["-wdir", "physics", program, "identify", "experiment.toml"];
    let here = ["-wdir", "same", program, "identify", "experiment.toml"];
    fs::create_dir(folder.path("same")).unwrap();
    fs::copy(folder.path("physics/experiment.toml"), folder.path("same/experiment.toml")).unwrap();
    let scene = folder.read("scene.toml");
    folder.write("same/scene.toml", &scene);
    let said = refused(&mut two(&here, &there), "scene.toml: ");
    assert!(said.ends_with("(at process 1 of 2)"), "{said}");
    let step = "simulation.time_step = 0.01\n";
    assert!(scene.starts_with(step));
    for setting in
        ["0.01\nsimulation.baumgarte = 0.3", "0.01\nsimulation.compliance = 1e-2", "0.005"]
    {
        let text = format!("simulation.time_step = {setting}\n{}", &scene[step.len()..]);
        folder.write("physics/scene.toml", &text);
        refused(&mut two(&here, &there), "process 1 reads another experiment or scene");
    }
    // Other files of the same names.
    fs::create_dir(folder.path("other")).unwrap();
    let other = EXPERIMENT
        .replace("[\"throws\"]", "[\"../throws\"]")
        .replace("start = 0.05", "start = 0.06");
    folder.write("other/experiment.toml", &other);
    fs::copy(folder.path("scene.toml"), folder.path("other/scene.toml")).unwrap();
    let elsewhere = ["-wdir", "other", program, "identify", "experiment.toml"];
    refused(&mut two(&plain, &elsewhere), "process 1 reads another experiment or scene");
    fs::create_dir(folder.path("other/throws")).unwrap();
    folder.write("other/experiment.toml", EXPERIMENT);
    fs::copy(folder.path("throws/00.csv"), folder.path("other/throws/00.csv")).unwrap();
    refused(&mut two(&plain, &elsewhere), "process 1 finds 1 recordings, process 0 12");
    // And of the same sizes.
    let own = folder.read("throws/05.csv");
    for name in (0..12).map(|k| format!("{k:02}.csv")) {
        fs::copy(folder.path("throws").join(&name), folder.path("other/throws").join(&name))
            .unwrap();
    }
    let last = own.trim_end().rfind(|c: char| c.is_ascii_digit()).unwrap();
    let mut changed = own.clone();
    changed.replace_range(last..=last, if &own[last..=last] == "7" { "8" } else { "7" });
    folder.write("other/throws/05.csv", &changed);
    refused(&mut two(&plain, &elsewhere), "process 1 has other recordings than process 0");
    // Another build: the same program and a byte.
    let copy = folder.path("copy");
    let mut bytes = fs::read(program).unwrap();
    bytes.push(0);
    fs::write(&copy, bytes).unwrap();
    fs::set_permissions(&copy, fs::metadata(program).unwrap().permissions()).unwrap();
    let other = [&[copy.to_str().unwrap()][..], &plain[1..]].concat();
    let said = refused(&mut two(&plain, &other), "another build of stiction");
    assert!(said.contains("process 1"), "{said}");
    // A machine that rounds otherwise, where this one can be made to.
    let flags = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if flags.contains(" fma ") && flags.contains(" avx2 ") {
        let tunables = "GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2";
        let masked = [&["-x", tunables][..], &plain[..]].concat();
        refused(&mut two(&plain, &masked), "process 1 (on ");
    }
}

/// Several processes of which each knows of itself alone.
#[test]
fn processes_that_do_not_know_of_each_other_are_refused() {
    let folder = prepared("mpi-strangers");
    for [rank, size] in [
        ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
        ["PMI_RANK", "PMI_SIZE"],
        ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS"],
    ] {
        let stranger = |number: &str| {
            let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_stiction")));
            command
                .args(["identify", "experiment.toml", "-o", "fit"])
                .current_dir(folder.path("."));
            command.env(rank, number).env(size, "3").output().unwrap()
        };
        let first = stranger("0");
        let said = String::from_utf8(first.stderr).unwrap();
        assert_eq!(first.status.code(), Some(2), "{said}");
        assert!(said.contains("3 processes were started") && said.contains("MPI"), "{said}");
        let second = stranger("1");
        assert_eq!((second.status.code(), &second.stderr[..]), (Some(2), &b""[..]));
        assert!(!folder.path("fit").exists());
    }
}

/// Two hosts of their own on this machine: network namespaces with a cable between them, gone at the end.
struct Hosts([String; 2]);

impl Hosts {
    /// Nothing where they may not be made.
    fn new() -> Option<Hosts> {
        let names = ["a", "b"].map(|side| format!("stiction-{side}-{}", std::process::id()));
        let ip = |arguments: &str| {
            let done = Command::new("ip").args(arguments.split(' ')).stderr(Stdio::null()).status();
            done.is_ok_and(|status| status.success()).then_some(())
        };
        let hosts = Hosts(names);
        let [a, b] = &hosts.0;
        let ends = [format!("sa{}", std::process::id()), format!("sb{}", std::process::id())];
        ip(&format!("netns add {a}"))?;
        ip(&format!("netns add {b}"))?;
        ip(&format!("link add {} type veth peer name {}", ends[0], ends[1]))?;
        for (k, (host, end)) in [a, b].into_iter().zip(&ends).enumerate() {
            ip(&format!("link set {end} netns {host}"))?;
            ip(&format!("-n {host} addr add 10.77.0.{}/24 dev {end}", k + 1))?;
            ip(&format!("-n {host} link set lo up"))?;
            ip(&format!("-n {host} link set {end} up"))?;
        }
        Some(hosts)
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", host]).stderr(Stdio::null()).status();
        }
    }
}

/// Over TCP, between two hosts.
#[test]
fn results_cross_a_network() {
    if !there_is_mpi() {
        return;
    }
    let Some(hosts) = Hosts::new() else {
        return skip("no network namespaces may be made here", "STICTION_REQUIRE_NAMESPACES");
    };
    let [first, second] = &hosts.0;
    let folder = prepared("mpi-network");
    folder
        .write("experiment.toml", &EXPERIMENT.replace("half_samples = 4\n", "profiles = false\n"));
    succeeds(&folder.run(&["identify", "experiment.toml", "-o", "alone", "--threads", "1"]));
    // What `mpirun` starts programs on other hosts by, in the place of ssh; a host has a name of its own.
    folder.write(
        "agent",
        &format!(
            "#!/bin/sh\nshift\nexec ip netns exec {second} unshare --uts sh -c \"hostname second; $*\"\n"
        ),
    );
    let agent = folder.path("agent");
    succeeds(&Command::new("chmod").arg("+x").arg(&agent).output().unwrap());
    let mut command = mpirun(&folder);
    command.args(["--host", "10.77.0.1:1,10.77.0.2:1", "-n", "2"]);
    for (name, value) in [
        ("plm", "rsh"),
        ("plm_rsh_agent", agent.to_str().unwrap()),
        ("btl", "tcp,self"),
        ("btl_tcp_if_include", "10.77.0.0/24"),
        ("oob_tcp_if_include", "10.77.0.0/24"),
    ] {
        command.args(["--mca", name, value]);
    }
    let program = env!("CARGO_BIN_EXE_stiction");
    command.args([program, "identify", "experiment.toml", "-o", "two", "--threads", "1"]);
    let arguments = command.get_args().map(|argument| argument.to_str().unwrap().to_string());
    let inside = [
        &["sh".to_string(), "-c".into(), "hostname first; exec mpirun \"$@\"".into(), "sh".into()]
            [..],
        &arguments.collect::<Vec<_>>(),
    ]
    .concat();
    let mut outer = Command::new("ip");
    outer.args(["netns", "exec", first, "unshare", "--uts"]).args(&inside);
    outer.current_dir(folder.path("."));
    for (name, value) in command.get_envs() {
        outer.env(name, value.unwrap());
    }
    let found = outer.output().unwrap();
    succeeds(&found);
    assert_eq!(result(&folder, "two"), result(&folder, "alone"));
    assert_eq!(
        serde_json::from_str::<Value>(&folder.read("two/result.json")).unwrap()["processes"],
        2
    );
}
