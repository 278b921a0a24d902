//! `stiction view`: a scene that runs in a page, served on this machine alone.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::loopback::{Request, Response, serve};
use super::outcome::Outcome;
use super::output::{note, print};
use super::scene_options::{SceneOptions, load_scene, looks};
use super::whole_files::{check_place, write_file};
use super::{interrupt, output};
use crate::Error;
use crate::assemble::Description;
use crate::model::Scene;
use crate::soft::SoftScene;
use crate::view::{Appearance, Live};

/// Look at a scene while it is simulated: change its numbers and motors, pull its bodies by the mouse
///
/// A page is served on this machine alone and opened in the browser, until Ctrl-C; nothing is written. With -o it is written
/// instead, as one file with the simulation in it, which runs in any browser, without this program.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The scene: .toml, MJCF (.xml, .mjcf) or URDF (.urdf)
    #[arg(value_name = "SCENE")]
    scene: PathBuf,
    #[command(flatten)]
    options: SceneOptions,
    /// Write the page here, with the simulation in it
    #[arg(short, long, value_name = "OUT.html", conflicts_with_all = ["port", "no_open"])]
    output: Option<PathBuf>,
    /// The WebAssembly module of stiction, for -o; if left out, stiction.wasm beside the program
    #[arg(long, value_name = "MODULE.wasm", requires = "output")]
    module: Option<PathBuf>,
    /// The port of the page [default: one that is free]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open no browser; the address is printed all the same
    #[arg(long)]
    no_open: bool,
    /// Print the address as one JSON object
    #[arg(long)]
    json: bool,
}

/// How often Ctrl-C is looked for.
const INTERVAL: Duration = Duration::from_millis(50);
/// So many pages run at once; of more the oldest ends.
const MOST_PAGES: usize = 8;

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    if SoftScene::load(&arguments.scene)?.is_some() {
        let message = "has [[soft]] bodies, which do not run in pages yet: `stiction simulate --view OUT.html` makes one that \
                       plays their motion";
        return Err(Error::input(arguments.scene.display().to_string(), None, "", message));
    }
    arguments.output.as_deref().map_or(Ok(()), check_place)?;
    let scene = load_scene(&arguments.scene, &arguments.options, false)?;
    if let Some(path) = &arguments.output {
        return written(arguments, scene, path);
    }
    let port = arguments.port.unwrap_or(0);
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(|error| {
        Error::input("--port", None, port.to_string(), format!("cannot be listened on: {error}"))
    })?;
    let port = listener.local_addr().map_or(port, |address| address.port());
    // Other pages and programs do not know it.
    let secret = format!("{:016x}", RandomState::new().build_hasher().finish());
    let address = format!("http://127.0.0.1:{port}/{secret}/");
    let title = arguments.scene.display().to_string();
    let looks = looks(&scene.model);
    let pages =
        Pages { scene, looks, title, secret, next: AtomicUsize::new(0), running: Mutex::default() };
    // A scene that has no page is an error now.
    pages.page(0)?;
    interrupt::catch();
    let served =
        thread::Builder::new().spawn(move || serve(listener, move |request| pages.answer(request)));
    served.map_err(|error| Error::io("a thread", error))?;
    if arguments.json {
        let mut object = output::json_head("view", 0, 1);
        object.insert("address".into(), json!(address));
        print(&output::json_text(object));
    } else {
        print(&format!("{address}\nCtrl-C ends it"));
    }
    if !arguments.no_open && open::that_detached(&address).is_err() {
        note("no browser was found: open the address in one");
    }
    while !interrupt::interrupted() {
        thread::sleep(INTERVAL);
    }
    Ok(Outcome::Done)
}

/// Writes the page that needs no program.
fn written(arguments: &Arguments, scene: Scene, path: &Path) -> Result<Outcome, Error> {
    let module = read_module(arguments.module.as_deref())?;
    let title = arguments.scene.display().to_string();
    // Meshes become their hulls, and looks are the page's: the scene in it names no files. What is written is what runs, also
    // in what the page says of it.
    let mut description = Description::of(&scene, &scene.parameters, &title);
    description.visuals.clear();
    description.bodies.iter_mut().for_each(|body| body.visuals.clear());
    let text = description.to_toml("");
    let live = Live::with_looks(Scene::parse(&text, &title)?, looks(&scene.model));
    let page = live.html_alone(&title, &module, &text)?;
    write_file(path, page.as_bytes())?;
    if arguments.json {
        let mut object = output::json_head("view", 0, 1);
        object.insert("scene".into(), output::path(&arguments.scene));
        object.insert("files".into(), vec![output::path(path)].into());
        print(&output::json_text(object));
    } else {
        let size = page.len() as f64 / 1e6;
        print(&format!("written to {}, {size:.1} MB: open it in a browser", path.display()));
    }
    Ok(Outcome::Done)
}

/// The contents of the WebAssembly module.
fn read_module(given: Option<&Path>) -> Result<Vec<u8>, Error> {
    let path = match given {
        Some(path) => path.to_path_buf(),
        None => {
            let program = std::env::current_exe().map_err(|error| Error::io("stiction", error))?;
            program.with_file_name("stiction.wasm")
        }
    };
    let contents = std::fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let message = "there is no such module; make it by `rustup target add wasm32-unknown-unknown` and `cargo rustc \
                           --release --lib --crate-type cdylib --target wasm32-unknown-unknown --no-default-features \
                           --features live_module`, and put target/wasm32-unknown-unknown/release/stiction.wasm there, or name \
                           it with --module";
            Error::input(path.display().to_string(), None, "", message)
        }
        _ => Error::io(&path, error),
    })?;
    let symbol = b"live_answer";
    let is_ours = contents.starts_with(b"\0asm")
        && contents.windows(symbol.len()).any(|window| window == symbol);
    if is_ours {
        return Ok(contents);
    }
    let message = "is not the WebAssembly module of stiction with the feature `live_module`";
    Err(Error::input(path.display().to_string(), None, "", message))
}

/// Pages of a scene, with a simulation each.
struct Pages {
    scene: Scene,
    looks: Appearance,
    title: String,
    secret: String,
    /// The number of the next one.
    next: AtomicUsize,
    running: Mutex<VecDeque<(usize, Arc<Mutex<Live>>)>>,
}

impl Pages {
    fn live(&self) -> Live {
        Live::with_looks(self.scene.clone(), self.looks.clone())
    }

    /// The page with a number.
    fn page(&self, number: usize) -> Result<String, Error> {
        self.live().html(&self.title, &format!("{number}"))
    }

    /// Answers a request. One that comes by another name of this machine, as from another page, or of a page without the
    /// secret, is refused; the port may be another, as that of a tunnel.
    fn answer(&self, request: &Request) -> Response {
        let known = matches!(request.host.as_str(), "127.0.0.1" | "localhost" | "[::1]");
        let path = request.path.strip_prefix(&format!("/{}/", self.secret)).filter(|_| known);
        match (request.method.as_str(), path.map(|path| (path, path.parse::<usize>()))) {
            ("GET", Some(("", _))) => self.open(),
            ("POST", Some((_, Ok(number)))) if request.content_type == "application/json" => {
                self.go_on(number, &request.body)
            }
            _ => Response::new("404 Not Found", "text/plain", "not here\n".into()),
        }
    }

    /// What a page asks of its simulation.
    fn go_on(&self, number: usize, request: &str) -> Response {
        let live = locked(&self.running)
            .iter()
            .find(|(known, _)| *known == number)
            .map(|(_, live)| live.clone());
        let Some(live) = live else {
            let error = "this page has ended, as others were opened since: reload it";
            return Response::new("200 OK", JSON, json!({ "error": error }).to_string());
        };
        let begun = Instant::now();
        let body = locked(&live).answer_json(request);
        // What the steps took, without the way here and back.
        let taken = 1000.0 * begun.elapsed().as_secs_f64();
        Response {
            headers: format!("Server-Timing: steps;dur={taken:.4}\r\n"),
            ..Response::new("200 OK", JSON, body)
        }
    }

    /// A new page.
    fn open(&self) -> Response {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match self.page(number) {
            Ok(page) => {
                let live = Arc::new(Mutex::new(self.live()));
                let mut running = locked(&self.running);
                running.push_back((number, live));
                if running.len() > MOST_PAGES {
                    running.pop_front();
                }
                Response::new("200 OK", "text/html; charset=utf-8", page)
            }
            Err(error) => {
                Response::new("500 Internal Server Error", "text/plain", format!("{error}\n"))
            }
        }
    }
}

const JSON: &str = "application/json";

/// A lock that a panic before does not spoil.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
