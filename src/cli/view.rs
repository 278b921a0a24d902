//! `stiction view`: a scene that runs in a page, served on this machine alone.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tiny_http::{Header, Method, Request, Response, Server};

use super::outcome::Outcome;
use super::output::{note, print};
use super::scene_options::{SceneOptions, load_scene};
use super::whole_files::{check_place, write_file};
use super::{interrupt, output};
use crate::Error;
use crate::assemble::Description;
use crate::model::Scene;
use crate::soft::SoftScene;
use crate::view::Live;

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
const INTERVAL: Duration = Duration::from_millis(100);
/// Requests are no longer than this, bytes.
const MOST_BYTES: usize = 1 << 20;
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
    let server = Server::http(("127.0.0.1", port)).map_err(|error| {
        Error::input("--port", None, port.to_string(), format!("cannot be listened on: {error}"))
    })?;
    let port = server.server_addr().to_ip().map_or(port, |address| address.port());
    // Other pages and programs do not know it.
    let secret = format!("{:016x}", RandomState::new().build_hasher().finish());
    let address = format!("http://127.0.0.1:{port}/{secret}/");
    let title = arguments.scene.display().to_string();
    let mut pages = Pages { scene, title, port, secret, next: 0, running: VecDeque::new() };
    // A scene that has no page is an error now.
    pages.page(0)?;
    interrupt::catch();
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
        match server.recv_timeout(INTERVAL) {
            Ok(Some(request)) => pages.serve(request),
            Ok(None) => {}
            Err(error) => return Err(Error::io(&arguments.scene, error)),
        }
    }
    Ok(Outcome::Done)
}

/// Writes the page that needs no program.
fn written(arguments: &Arguments, scene: Scene, path: &Path) -> Result<Outcome, Error> {
    let module = read_module(arguments.module.as_deref())?;
    let title = arguments.scene.display().to_string();
    // Meshes become their hulls. What is written is what runs, also in what the page says of it.
    let text = Description::of(&scene, &scene.parameters, &title).to_toml("");
    let page = Live::new(Scene::parse(&text, &title)?).html_alone(&title, &module, &text)?;
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
    title: String,
    port: u16,
    secret: String,
    /// The number of the next one.
    next: usize,
    running: VecDeque<(usize, Live)>,
}

impl Pages {
    /// The page with a number.
    fn page(&self, number: usize) -> Result<String, Error> {
        Live::new(self.scene.clone()).html(&self.title, &format!("{number}"))
    }

    /// Answers a request. One that comes from another page, or by another name of this machine, is refused.
    fn serve(&mut self, mut request: Request) {
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port));
        let is = |name: &'static str, value: &str| {
            let mut headers = request.headers().iter().filter(|header| header.field.equiv(name));
            headers.any(|header| header.value.as_str() == value)
        };
        let known = hosts.iter().any(|host| is("Host", host));
        let path = request.url().strip_prefix(&format!("/{}/", self.secret));
        let number = path.map(|path| path.parse::<usize>());
        let response = match (known, request.method(), number) {
            (true, Method::Get, Some(_)) if path == Some("") => self.open(),
            (true, Method::Post, Some(Ok(number))) if is("Content-Type", "application/json") => {
                let mut body = String::new();
                let read = request.as_reader().take(MOST_BYTES as u64).read_to_string(&mut body);
                match self.running.iter_mut().find(|(known, _)| *known == number) {
                    _ if read.is_err() => text(400, "application/json", "{}".into()),
                    Some((_, live)) => text(200, "application/json", live.answer_json(&body)),
                    None => {
                        let error = "this page has ended, as others were opened since: reload it";
                        text(200, "application/json", json!({ "error": error }).to_string())
                    }
                }
            }
            _ => text(404, "text/plain", "not here\n".into()),
        };
        // Who asked may be gone.
        let _ = request.respond(response);
    }

    /// A new page.
    fn open(&mut self) -> Response<std::io::Cursor<Vec<u8>>> {
        let number = self.next;
        match self.page(number) {
            Ok(page) => {
                self.next += 1;
                self.running.push_back((number, Live::new(self.scene.clone())));
                if self.running.len() > MOST_PAGES {
                    self.running.pop_front();
                }
                text(200, "text/html; charset=utf-8", page)
            }
            Err(error) => text(500, "text/plain", format!("{error}\n")),
        }
    }
}

fn text(status: u16, kind: &str, text: String) -> Response<std::io::Cursor<Vec<u8>>> {
    // Its length is known: not in chunks.
    let response =
        Response::from_string(text).with_status_code(status).with_chunked_threshold(usize::MAX);
    let header = |name: &str, value: &str| Header::from_bytes(name, value).ok();
    let headers = [header("Content-Type", kind), header("Cache-Control", "no-store")];
    headers.into_iter().flatten().fold(response, Response::with_header)
}
