//! `carom studio`: the studio in a browser, with a model of this machine.
//!
//! The page and its engine are files in this program (`files.rs`); the engine computes in the browser. All that is served is
//! those files, the model that was named with the tables beside it, and the model's file to be written when the page asks for it.
//!
//! Promise: only this machine is listened to (127.0.0.1); only who was given the address with its random token is answered, and
//! no other site's script (`http.rs`); no path of a request ever reaches the file system; no other user of this machine sees the
//! token (`browser.rs`).

mod browser;
mod files;
mod http;
mod model;

use crate::args::StudioArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::terminal;
use http::{HttpRequest, Response};
use model::Served;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Connections at the same time; a browser opens six.
const MOST_CONNECTIONS: usize = 32;
/// How often it is looked whether someone wants it to end.
const LOOK: Duration = Duration::from_millis(40);

/// Serves until Ctrl-C.
///
/// # Errors
/// If there is no studio in this program, no such model, or the port is taken.
pub fn studio(args: &StudioArgs) -> Result<u8, Failure> {
    if files::FILES.is_empty() {
        return Err(Failure::wrong(
            "this carom was built without the studio\n  hint: `bash studio/build` in the sources builds it; then build carom again. Released programs have it",
        ));
    }
    let served = Served::open(args.model.as_deref())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0)))
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    let listener = listener.map_err(|error| {
        let port = args.port.map_or_else(String::new, |port| format!(" on port {port}"));
        Failure::wrong(format!(
            "cannot listen{port}: {error}\n  hint: leave --port out, and a free one is taken"
        ))
    })?;
    let port = listener.local_addr().map_err(|error| Failure::wrong(error.to_string()))?.port();
    let site = Arc::new(Site { port, token: token(), served: Mutex::new(served) });
    let address = format!("http://127.0.0.1:{port}/{}/", site.token);
    crate::write::stdout(&format!("{address}\n"))?;
    terminal::say("  the studio is at this address, for this machine alone; Ctrl-C ends it");
    let _door = if args.no_open { None } else { browser::open(&address) };
    interrupt::listen();
    let open = Arc::new(AtomicUsize::new(0));
    while !interrupt::interrupted() {
        match listener.accept() {
            Ok((stream, _)) if open.load(Ordering::Relaxed) < MOST_CONNECTIONS => {
                let (site, slot) = (Arc::clone(&site), ConnectionSlot::take(&open));
                // A thread that cannot be started drops its slot, too.
                _ = std::thread::Builder::new().spawn(move || {
                    let _slot = slot;
                    converse(&site, &stream);
                });
            }
            // Too many at once: closed at once.
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(LOOK),
            Err(_) => std::thread::sleep(LOOK),
        }
    }
    Ok(0)
}

/// A connection that is counted, until it ends, however it does.
struct ConnectionSlot(Arc<AtomicUsize>);

impl ConnectionSlot {
    fn take(open: &Arc<AtomicUsize>) -> ConnectionSlot {
        open.fetch_add(1, Ordering::Relaxed);
        ConnectionSlot(Arc::clone(open))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is served, to whom.
struct Site {
    port: u16,
    token: String,
    served: Mutex<Served>,
}

/// One request, one answer.
fn converse(site: &Site, stream: &TcpStream) {
    let response = match http::read(stream) {
        Ok(request) if request.method == "HEAD" => site.answer(&request).without_body(),
        Ok(request) => site.answer(&request),
        Err(Some(refusal)) => refusal,
        // Nothing was asked, or nobody listens any more.
        Err(None) => return,
    };
    http::write(stream, &response);
}

impl Site {
    fn answer(&self, request: &HttpRequest) -> Response {
        if !self.is_ours(request) {
            return Response::text(403, "this address answers only its own page");
        }
        let Some(path) = request.path.strip_prefix('/') else { return Response::text(400, "no path") };
        let (token, name) = path.split_once('/').unwrap_or((path, "?"));
        if !same(token, &self.token) {
            return Response::text(404, "not here");
        }
        match (request.method.as_str(), name) {
            ("GET" | "HEAD", "model") => self.model().read(),
            ("PUT", "model") => match request.header("origin") {
                // A browser says where a request to write comes from; who does not say is no page.
                Some(_) => self.model().write(&request.body),
                None => Response::text(403, "only the page writes"),
            },
            ("GET" | "HEAD", name) => {
                let name = if name.is_empty() { "index.html" } else { name };
                let found = files::FILES.iter().find(|file| file.name == name && name != "sw.js");
                found.map_or_else(|| Response::text(404, "not here"), |file| Response::file(file, request))
            }
            _ => Response::text(405, "not like this"),
        }
    }

    fn model(&self) -> std::sync::MutexGuard<'_, Served> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Comes a request from our own page, or from someone typing the address? A page elsewhere that found the port is told by
    /// its `Origin`, and one that made its own name mean 127.0.0.1 by its `Host`.
    fn is_ours(&self, request: &HttpRequest) -> bool {
        let names = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let host = request.headers("host");
        let named = host.len() == 1 && names.iter().any(|name| name == host[0]);
        let origins = request.headers("origin");
        let own = |origin: &&str| {
            origin.strip_prefix("http://").is_some_and(|o| names.iter().any(|name| name == o))
        };
        let said = |name: &str| request.header(name).unwrap_or("none");
        // The address may be opened from anywhere, as by a link that the user follows: who has the token was given it.
        let opened = request.method == "GET"
            && request.path.ends_with('/')
            && (said("sec-fetch-mode"), said("sec-fetch-dest")) == ("navigate", "document");
        let site = said("sec-fetch-site");
        named && origins.iter().all(own) && (opened || matches!(site, "same-origin" | "none"))
    }
}

/// Equal, in a time that does not tell how much of it is.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

/// 128 bits nobody can guess: the keys of the standard library's hash are from the system's random numbers.
fn token() -> String {
    let word = |salt: u64| {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(salt);
        hasher.finish()
    };
    format!("{:016x}{:016x}", word(1), word(2))
}
