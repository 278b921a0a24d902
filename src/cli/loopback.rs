//! Requests of pages by HTTP/1.1, on this machine alone.
//!
//! Each connection has a thread: one that is silent, or asks for too much, holds up no other.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A head is no longer than this, bytes.
const MOST_HEAD: usize = 16 << 10;
/// How many headers one has.
const MOST_HEADERS: usize = 100;
/// A body is no longer than this, bytes.
const MOST_BODY: usize = 1 << 20;
/// So many connections at once.
const MOST_CONNECTIONS: usize = 64;
/// A connection that says nothing for so long is closed.
const SILENCE: Duration = Duration::from_secs(60);

/// A request.
#[derive(Default)]
pub(super) struct Request {
    pub method: String,
    pub path: String,
    /// The name it has for this machine, in small letters and without a port.
    pub host: String,
    /// What the body is.
    pub content_type: String,
    pub body: String,
}

/// An answer.
pub(super) struct Response {
    /// Such as `200 OK`.
    pub status: &'static str,
    pub content_type: &'static str,
    /// Further headers, each with its line end.
    pub headers: String,
    pub body: String,
}

impl Response {
    pub fn new(status: &'static str, content_type: &'static str, body: String) -> Response {
        Response { status, content_type, headers: String::new(), body }
    }
}

/// Answers all that is asked of a listener, until the program ends.
pub(super) fn serve(
    listener: TcpListener,
    answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
) {
    let answer = Arc::new(answer);
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming().flatten() {
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (answer, open) = (answer.clone(), open.clone());
        let connection = move || {
            // Who asks may be gone at any time.
            let _ = converse(stream, &*answer);
            open.fetch_sub(1, Ordering::Relaxed);
        };
        // Without a thread the connection is closed.
        let _ = thread::Builder::new().spawn(connection);
    }
}

/// Answers one request of a connection after the other.
fn converse(mut stream: TcpStream, answer: &impl Fn(&Request) -> Response) -> std::io::Result<()> {
    // Answers are small and waited for.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let mut bytes = Vec::new();
    loop {
        let (request, length, keep) = loop {
            match head(&bytes) {
                Ok(Some((request, head, length, keep))) => {
                    bytes.drain(..head);
                    break (request, length, keep);
                }
                Ok(None) if bytes.len() < MOST_HEAD => {
                    if !more(&mut stream, &mut bytes)? {
                        return Ok(());
                    }
                }
                refused => {
                    let status = refused.err().unwrap_or("431 Request Header Fields Too Large");
                    let refusal = Response::new(status, "text/plain", format!("{status}\n"));
                    write(&mut stream, &refusal, false)?;
                    return see_off(&mut stream);
                }
            }
        };
        while bytes.len() < length {
            if !more(&mut stream, &mut bytes)? {
                return Ok(());
            }
        }
        let body = String::from_utf8_lossy(&bytes[..length]).into_owned();
        bytes.drain(..length);
        write(&mut stream, &answer(&Request { body, ..request }), keep)?;
        if !keep {
            return Ok(());
        }
    }
}

/// Ends a connection whose request was not read whole: what comes of it yet is dropped, as closing at once would take the answer
/// back.
fn see_off(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut part = [0; 4096];
    let mut left = MOST_BODY;
    while left > 0 {
        match stream.read(&mut part)? {
            0 => break,
            count => left = left.saturating_sub(count),
        }
    }
    Ok(())
}

/// Reads what there is; false at the end.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut part = [0; 4096];
    let count = stream.read(&mut part)?;
    bytes.extend_from_slice(&part[..count]);
    Ok(count > 0)
}

/// A request without its body, the length of its head and of its body, and whether the connection stays; nothing if the head is
/// not all there; else the status that refuses it.
type Head = (Request, usize, usize, bool);

fn head(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err("400 Bad Request"),
    };
    let text = |text: Option<&str>| text.unwrap_or_default().to_string();
    let mut request =
        Request { method: text(parsed.method), path: text(parsed.path), ..Request::default() };
    let (mut body, mut keep) = (0, parsed.version == Some(1));
    for header in parsed.headers.iter() {
        let value = String::from_utf8_lossy(header.value).trim().to_ascii_lowercase();
        match header.name.to_ascii_lowercase().as_str() {
            "host" => {
                let port = value.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
                request.host = port.map_or(value.as_str(), |(host, _)| host).to_string();
            }
            "content-type" => request.content_type = value,
            "content-length" => body = value.parse().map_err(|_| "413 Content Too Large")?,
            "transfer-encoding" => return Err("411 Length Required"),
            "connection" => keep &= value != "close",
            _ => {}
        }
    }
    if body > MOST_BODY {
        return Err("413 Content Too Large");
    }
    Ok(Some((request, length, body, keep)))
}

/// Writes an answer at once.
fn write(stream: &mut TcpStream, response: &Response, keep: bool) -> std::io::Result<()> {
    let Response { status, content_type, headers, body } = response;
    let connection = if keep { "keep-alive" } else { "close" };
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: {connection}\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes())
}
