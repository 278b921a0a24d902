//! A simulation that runs in a page: what it answers, and the page in headless Chromium.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::view::{Live, LiveRequest, Pull};

use super::browser::{BEFORE, between, browser, visit};
use crate::folder::Folder;
use crate::program::{refuses, succeeds};
use crate::skipped::skip;

/// A crate on the floor, and an arm that a motor turns.
const SCENE: &str = "[simulation]
time_step = 0.005
[[half_space]]
name = \"floor\"
normal = [0, 0, 1]
[[body]]
name = \"crate\"
mass = 1
shape = { box = [0.1, 0.1, 0.1] }
position = [0, 0, 0.1]
[[body]]
name = \"arm\"
joint = { type = \"revolute\", name = \"hinge\", axis = [0, 1, 0] }
position = [-0.5, 0, 0.6]
mass = 0.4
center_of_mass = [0, 0, -0.2]
inertia = 0.006
[[contact]]
mu = 0.5
restitution = 0
[[actuator]]
name = \"motor\"
joint = \"hinge\"
control_range = [-2, 2]
[[keyframe]]
name = \"up\"
q = [0, 0, 0.4, 1, 0, 0, 0, 0.3]
";

fn scene() -> Scene {
    Scene::parse(SCENE, "scene.toml").unwrap()
}

fn steps(steps: usize) -> LiveRequest {
    LiveRequest { steps, ..LiveRequest::default() }
}

/// What it shows is what a rollout makes, however its steps are asked for, and inputs and parameters are those asked for.
#[test]
fn it_makes_the_steps_of_a_rollout() {
    let mut live = Live::new(scene());
    let mut request = steps(7);
    request.inputs.insert("motor/u".into(), 0.5);
    request.parameters.insert("arm/mass".into(), 0.6);
    for _ in 0..5 {
        let reply = live.answer(&request);
        assert_eq!(reply.error, None);
        request.steps += 3;
    }
    let mut own = scene();
    let slot = own.model.parameter("arm/mass").unwrap().slots[0];
    own.parameters.values[slot] = 0.6;
    let motor = own.model.input_names().iter().position(|name| name == "motor/u").unwrap();
    own.inputs[motor] = 0.5;
    let mut rollout = Rollout::new(own.system(), own.state.clone());
    rollout.advance(7 + 10 + 13 + 16 + 19, &own.inputs);
    assert_eq!(live.scene().state, rollout.state);
    // Its answer, in words for the page.
    let reply: Value = serde_json::from_str(&live.answer_json("{\"steps\": 1}")).unwrap();
    rollout.advance(1, &own.inputs);
    assert_eq!(reply["time"].as_f64().unwrap(), 66.0 * 0.005);
    assert!((reply["poses"][2].as_f64().unwrap() - rollout.state.q[2]).abs() < 1e-5, "{reply}");
    let forces = reply["forces"].as_array().unwrap();
    let weight: f64 = forces.iter().map(|force| force[5].as_f64().unwrap()).sum();
    assert!((weight - 9.81).abs() < 1e-2, "{reply}");
    assert_eq!(reply["solver"]["contacts"], 4);
    assert_eq!(reply["solver"]["status"], "solved");
}

/// The spring is critically damped with 20 rad/s of the mass that it pulls, so that a weight hangs g / 400 below the hand, and
/// nothing shakes however light a part is.
#[test]
fn what_is_pulled_hangs_below_the_hand() {
    let mut live = Live::new(scene());
    let pull = Pull { body: 0, point: [0.0; 3], to: [0.1, 0.0, 0.8] };
    let request = LiveRequest { pull: Some(pull), ..steps(2000) };
    let reply = live.answer(&request);
    let [x, y, z, fx, fy, fz] = reply.pull.unwrap();
    // Steps of h soften it, so that it is stable: by 1 + h (400 h + 40).
    let soft = 1.0 + 0.005 * (400.0 * 0.005 + 40.0);
    let hangs = 0.8 - 9.81 / 400.0 * soft;
    assert!((x - 0.1).abs() < 1e-3 && y.abs() < 1e-3 && (z - hangs).abs() < 1e-4, "{reply:?}");
    assert!(fx.abs() < 1e-2 && fy.abs() < 1e-2 && (fz - 9.81).abs() < 1e-2, "{reply:?}");
    assert!(reply.kinetic_energy < 1e-6, "{reply:?}");
    // Let go, it falls.
    let reply = live.answer(&steps(400));
    assert_eq!(reply.pull, None);
    assert!((live.scene().state.q[2] - 0.1).abs() < 1e-6);

    // The mass is that of its tree; a finger of a gram on fifty kilograms does not shake, though the spring alone would turn it
    // by far more than it is away in one step.
    let finger = "simulation.time_step = 0.005
[[body]]
name = \"base\"
mass = 50
inertia = 1
joint = { type = \"prismatic\", axis = [1, 0, 0] }
[[body]]
name = \"finger\"
parent = \"base\"
mass = 1e-3
inertia = 1e-7
center_of_mass = [0, 0, -0.02]
joint = { type = \"revolute\", axis = [0, 1, 0] }
";
    let mut live = Live::new(Scene::parse(finger, "finger").unwrap());
    // Where it cannot go, across the plane, nothing pulls.
    let pull = Pull { body: 1, point: [0.0, 0.0, -0.04], to: [0.3, 5.0, 0.0] };
    let reply = live.answer(&LiveRequest { pull: Some(pull), ..steps(2000) });
    assert_eq!(reply.error, None);
    assert!(reply.kinetic_energy < 1e-9, "{reply:?}");
    assert!((reply.pull.unwrap()[0] - 0.3).abs() < 3e-3, "{reply:?}");
}

#[test]
fn what_is_wrong_changes_nothing() {
    let mut live = Live::new(scene());
    live.answer(&steps(3));
    let before = live.scene().clone();
    let refused = [
        ("{\"parameters\": {\"crate/mass\": -1}}", "crate/mass cannot be -1"),
        ("{\"parameters\": {\"crate/mu\": 1}}", "the scene has no \"crate/mu\""),
        ("{\"inputs\": {\"motor\": 1}}", "the scene has no \"motor\""),
        ("{\"inputs\": {\"motor/u\": null}}", "request"),
        ("{\"keyframe\": \"down\"}", "there are up"),
        ("{\"step\": 1}", "unknown field"),
        (
            "{\"pull\": {\"body\": 2, \"point\": [0, 0, 0], \"to\": [0, 0, 0]}, \"steps\": 1}",
            "no such body",
        ),
        ("", "request"),
    ];
    for (request, says) in refused {
        let reply: Value = serde_json::from_str(&live.answer_json(request)).unwrap();
        let error = reply["error"].as_str().unwrap_or_else(|| panic!("{request}: {reply}"));
        assert!(error.contains(says), "{request}: {error}");
        assert_eq!(*live.scene(), before, "{request}");
    }
    // What no solid has, and what contradicts itself, though each number could be.
    let mut limited = Live::new(
        Scene::parse(
            &SCENE.replace("axis = [0, 1, 0]", "axis = [0, 1, 0], limits = [-1, 1]"),
            "limited",
        )
        .unwrap(),
    );
    for (name, value, says) in [
        ("arm/inertia/xx", 0.02, "no solid has the inertia that arm would have"),
        ("arm/inertia/xy", 0.01, "no solid has the inertia"),
        ("arm/inertia/xx", 1.7e308, "no solid has the inertia"),
        ("arm/lower", 2.0, "arm/lower is above arm/upper"),
        ("arm/upper", -2.0, "arm/lower is above arm/upper"),
        ("arm/mass", 1.7e308, "not finite"),
        ("arm/position/x", 1.7e308, "not finite"),
    ] {
        let before = limited.scene().clone();
        let mut request = steps(2);
        request.parameters.insert(name.into(), value);
        let reply = limited.answer(&request);
        assert!(
            reply.error.as_ref().is_some_and(|e| e.contains(says)),
            "{name}: {:?}",
            reply.error
        );
        assert_eq!(*limited.scene(), before, "{name}");
        // The page gets back what is there.
        let controls = reply.controls.unwrap().parameters;
        let own = controls.iter().find(|number| number.name == name).unwrap();
        assert_ne!(own.value, value, "{name}");
    }
    let mut both = steps(0);
    both.parameters.extend([("arm/lower".to_string(), 2.0), ("arm/upper".to_string(), 3.0)]);
    assert_eq!(limited.answer(&both).error, None);
    // What leads nowhere stops at the last good state, and can be gone on from.
    let mut far = steps(5);
    far.inputs.insert("motor/u".into(), 1e300);
    far.inputs.insert("arm/f".into(), 1e308);
    let reply = live.answer(&far);
    assert!(reply.error.as_ref().is_some_and(|error| error.contains("leads nowhere")), "{reply:?}");
    assert!(live.scene().state.q.iter().all(|x| x.is_finite()));
    let mut back = steps(0);
    back.keyframe = Some("up".into());
    let reply = live.answer(&back);
    assert_eq!((reply.time, reply.error), (0.0, None));
    assert_eq!(live.scene().state.q[2], 0.4);
    assert_eq!(reply.controls.unwrap().inputs[0].value, 0.0);
    let reply = live.answer(&LiveRequest { restart: true, ..steps(0) });
    assert_eq!((reply.error, live.scene()), (None, &scene()));
}

/// Sliders reach from where a number makes sense to well above it, and always hold it.
#[test]
fn sliders_hold_their_numbers() {
    let controls = Live::new(scene()).controls();
    let motor = &controls.inputs[0];
    assert_eq!((motor.name.as_str(), motor.lower, motor.upper), ("motor/u", -2.0, 2.0));
    let all = || controls.inputs.iter().chain(&controls.parameters);
    assert!(all().all(|number| number.lower <= number.value && number.value <= number.upper));
    let find = |name: &str| all().find(|number| number.name == name).unwrap();
    let range = |name: &str| [find(name).lower, find(name).upper];
    assert_eq!(range("floor-crate/mu"), [0.0, 1.5]);
    assert_eq!(range("floor-crate/restitution"), [0.0, 1.0]);
    assert_eq!(range("crate/mass"), [1e-9, 3.0]);
    assert_eq!(range("gravity/z"), [-3.0 * 9.81, 3.0 * 9.81]);
}

/// `stiction view` of a scene, ended when it is dropped.
struct Served {
    child: Child,
    /// Without `http://`: host and path.
    host: String,
    path: String,
}

impl Served {
    fn new(folder: &Folder) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(["view", "scene.toml", "--no-open", "--json"])
            .current_dir(folder.path("."))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("\"http://")?;
            Some(address.split_once('"')?.0.to_string())
        });
        let address = address.unwrap();
        let (host, path) = address.split_once('/').unwrap();
        Served { child, host: host.to_string(), path: format!("/{path}") }
    }

    /// The whole answer to a request that is made as it stands.
    fn answer(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    fn get(&self, path: &str, host: &str) -> String {
        self.answer(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let (host, length) = (&self.host, body.len());
        self.answer(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const JSON: &str = "Content-Type: application/json\r\n";

/// It answers its own page alone: not other addresses, not those who know it by another name, not plain forms.
#[test]
fn the_program_answers_its_page_alone() {
    let folder = Folder::new("live-program");
    folder.write("scene.toml", SCENE);
    let served = Served::new(&folder);
    let Served { host, path, .. } = &served;
    let page = served.get(path, host);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("connect-src 'self'"), "{page:.300}");
    let first = served.post(&format!("{path}0"), JSON, "{\"steps\": 2}");
    assert!(first.starts_with("HTTP/1.1 200") && first.contains("\"time\":0.01"), "{first}");
    // Each page has its own simulation.
    served.get(path, host);
    let second = served.post(&format!("{path}1"), JSON, "{\"steps\": 1}");
    assert!(second.contains("\"time\":0.005"), "{second}");
    let first = served.post(&format!("{path}0"), JSON, "{\"steps\": 1}");
    assert!(first.contains("\"time\":0.015"), "{first}");
    assert!(served.post(&format!("{path}9"), JSON, "{}").contains("reload it"));
    let port = host.rsplit(':').next().unwrap();
    for refused in [
        served.get("/", host),
        served.get(path, &format!("evil.example:{port}")),
        served.get(&format!("{path}0"), host),
        served.post(&format!("{path}0"), "Content-Type: text/plain\r\n", "{\"steps\": 1}"),
        served.post("/0", JSON, "{\"steps\": 1}"),
    ] {
        assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
    }
    // By the end of a tunnel it has another port.
    for host in ["localhost:9000", "127.0.0.1", "LOCALHOST"] {
        assert!(served.get(path, host).starts_with("HTTP/1.1 200"), "{host}");
    }
    for (name, text, says) in [
        ("soft.toml", include_str!("../../examples/soft_ball/scene.toml"), "[[soft]]"),
        ("bad.toml", "[[body]]\n", "bad.toml"),
    ] {
        folder.write(name, text);
        refuses(&folder.run(&["view", name, "--no-open"]), &[says]);
    }
    let busy = ["view", "scene.toml", "--no-open", "--port", port];
    refuses(&folder.run(&busy), &["--port", port, "cannot be listened on"]);
}

/// Requests that are too long, not whole or none at all get an answer or nothing, and hold up no others.
#[test]
fn odd_requests_do_no_harm() {
    let folder = Folder::new("live-odd");
    folder.write("scene.toml", SCENE);
    let served = Served::new(&folder);
    let Served { host, path, .. } = &served;
    served.get(path, host);
    let post = |headers: &str| format!("POST {path}0 HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    // One that says it has more to say.
    let mut silent = TcpStream::connect(host).unwrap();
    silent.write_all((post(&format!("{JSON}Content-Length: 50\r\n")) + "{").as_bytes()).unwrap();
    let endless = "x".repeat(20_000);
    for (request, status) in [
        (post("Content-Length: 100000000000000000\r\n") + "abc", "413"),
        (post("Content-Length: 99999999999999999999999\r\n"), "413"),
        (post("Content-Length: -1\r\n"), "413"),
        (post("Transfer-Encoding: chunked\r\n") + "1\r\n{\r\n", "411"),
        (post(&format!("X: {endless}\r\n")), "431"),
        (format!("GET /{endless}"), "431"),
        ("no request\r\n\r\n".to_string(), "400"),
        ("\0\u{1}".repeat(100), "400"),
        (format!("GET {path} HTTP/1.0\r\n\r\n"), "404"),
    ] {
        let answer = served.answer(&request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request:.80}: {answer:.80}");
    }
    // One connection asks again and again, also before it has its answer.
    let body = "{\"steps\": 1}";
    let ask = post(&format!("{JSON}Content-Length: {}\r\n", body.len())) + body;
    let last = ask.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    let answers = served.answer(&format!("{ask}{ask}{last}"));
    for time in ["0.005", "0.01", "0.015"] {
        assert!(answers.contains(&format!("\"time\":{time},")), "{answers}");
    }
    assert_eq!(answers.matches("Server-Timing: steps;dur=").count(), 3);
}

/// Passes on what one connection asks, and gives pages scripts beside their own.
fn pass_on(stream: TcpStream, host: &str) {
    let mut reader = BufReader::new(&stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let name = line.split(':').next().unwrap().to_ascii_lowercase();
        if name == "content-length" {
            length = line[15..].trim().parse().unwrap();
        }
        match name.as_str() {
            "host" => head += &format!("Host: {host}\r\n"),
            "connection" => {}
            _ if line == "\r\n" => break,
            _ => head += &line,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut server = TcpStream::connect(host).unwrap();
    server.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
    server.write_all(&body).unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let is_page = body.contains("</body>");
    let body =
        if is_page { between(body, BEFORE, include_str!("live.js")) } else { body.to_string() };
    let kept = head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("content-length"));
    let head = kept.collect::<Vec<_>>().join("\r\n");
    let text = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // A browser that closes does not mind.
    let _ = (&stream).write_all(text.as_bytes());
}

#[test]
fn a_scene_runs_in_a_browser() {
    if browser().is_none() {
        return;
    }
    let folder = Folder::new("live-browser");
    folder.write("scene.toml", SCENE);
    let served = Served::new(&folder);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let host = served.host.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, host) = (stream.unwrap(), host.clone());
            thread::spawn(move || pass_on(stream, &host));
        }
    });
    let seen = visit(&folder, &format!("http://127.0.0.1:{port}{}", served.path)).unwrap();
    runs(&seen);
}

/// The simulation runs, is pulled, changed, stopped and restarted.
#[track_caller]
fn runs(seen: &Value) {
    let number = |key: &str| seen[key].as_f64().unwrap_or_else(|| panic!("{key}: {seen:#}"));
    assert_eq!(seen["title"], "scene.toml");
    assert_eq!(seen["motors"], 1);
    assert!(number("parameters") > 20.0, "{seen:#}");
    let mut live = Live::new(scene());
    let mut request = steps(150);
    request.inputs.insert("motor/u".into(), 0.7);
    let numbers = seen["first"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap());
    assert_eq!(numbers.collect::<Vec<f64>>(), live.answer(&request).poses);
    assert_eq!(number("time_of_a_step"), 0.005);
    assert!(seen["health"].as_str().unwrap().contains("contact points4"), "{seen:#}");
    assert!((number("height_at_rest") - 0.1).abs() < 1e-4, "{seen:#}");
    assert_eq!(seen["label"], "crate");
    // It hangs in the hand, and lies where it was before after it is let go.
    assert_eq!(seen["pulled_up"], true);
    assert!(number("height_held") > 0.14, "{seen:#}");
    assert_eq!(seen["let_go"], true);
    assert!(seen["trouble"].as_str().unwrap().contains("crate/mass cannot be -1"), "{seen:#}");
    assert_eq!((&seen["stopped"], &seen["box"]), (&true.into(), &"1".into()));
    assert_eq!(number("time_of_clicks"), 0.025);
    assert_eq!(seen["at_rest_by_a_click"], true);
    assert_eq!(number("wide"), 0.3);
    assert!((number("height_restarted") - 0.1).abs() < 1e-9, "{seen:#}");
}

/// The same page with the simulation in it, from a file that loads nothing.
#[test]
fn a_page_runs_by_itself() {
    let folder = Folder::new("live-alone");
    folder.write("scene.toml", SCENE);
    folder.write("text.wasm", "no module");
    let command = ["view", "scene.toml", "-o", "out.html", "--module"];
    refuses(&folder.run(&[&command[..], &["no.wasm"]].concat()), &["no.wasm", "rustup target add"]);
    refuses(&folder.run(&[&command[..], &["text.wasm"]].concat()), &["text.wasm", "live_module"]);
    let Some(module) = std::env::var_os("STICTION_LIVE_MODULE") else {
        return skip("STICTION_LIVE_MODULE names no module", "STICTION_REQUIRE_LIVE_MODULE");
    };
    let module = module.to_str().unwrap();
    let said = succeeds(&folder.run(&[&command[..], &[module]].concat()));
    assert!(said.starts_with("written to out.html"), "{said}");
    if browser().is_none() {
        return;
    }
    let page = between(&folder.read("out.html"), BEFORE, include_str!("live.js"));
    folder.write("opened.html", &page);
    let address = format!("file://{}", folder.path("opened.html").display());
    runs(&visit(&folder, &address).unwrap());
}
