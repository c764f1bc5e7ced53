//! As much of HTTP/1.1 as one page of our own needs: one request per connection, a length that is known, nothing chunked.
//!
//! ```text
//! METHOD SP PATH SP HTTP/1.x CRLF (name ":" value CRLF)* CRLF body          Connection: close
//! ```
//!
//! Promise: whatever arrives, however slowly, ends within a few seconds and a few kilobytes with an answer or a closed connection.

use super::files::StudioFile;
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Longest request line and headers together, in bytes.
const MOST_HEAD: usize = 16 * 1024;
/// Longest body: a model file.
const MOST_BODY: usize = 8 * 1024 * 1024;
/// A request must be there within this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Debug)]
pub struct HttpRequest {
    pub method: String,
    /// Without what follows `?`; not decoded: names of files need no escapes.
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The values of a header, by its name in small letters.
    pub fn headers(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The first of them.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers(name).first().copied()
    }
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    status: u16,
    mime: &'static str,
    encoded: bool,
    body: Vec<u8>,
    bodyless: bool,
}

impl Response {
    fn new(status: u16, mime: &'static str, body: Vec<u8>) -> Response {
        Response { status, mime, encoded: false, body, bodyless: false }
    }

    /// A sentence.
    pub fn text(status: u16, text: &str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
    }

    /// Data.
    pub fn json(status: u16, value: &Value) -> Response {
        Response::new(status, "application/json", value.to_string().into_bytes())
    }

    /// A file of the studio. The page itself learns by whom it is served: then it offers to write, and keeps no copy of itself.
    pub fn file(file: &StudioFile, request: &HttpRequest) -> Response {
        let packs = request.header("accept-encoding").is_some_and(|list| list.contains("gzip"));
        if file.name == "index.html" {
            let page = String::from_utf8_lossy(&file.plain()).into_owned();
            let page = page.replacen("<head>", "<head>\n    <meta name=\"carom-served\" content=\"1\" />", 1);
            Response::new(200, file.mime(), page.into_bytes())
        } else if packs {
            Response { encoded: true, ..Response::new(200, file.mime(), file.gzip.to_vec()) }
        } else {
            Response::new(200, file.mime(), file.plain())
        }
    }

    /// The answer to HEAD: the same, its body only counted.
    pub fn without_body(self) -> Response {
        Response { bodyless: true, ..self }
    }
}

/// Reads a request. `Err(None)`: there is nobody to answer.
pub fn read(mut stream: &TcpStream) -> Result<HttpRequest, Option<Response>> {
    let begin = Instant::now();
    // A listener that does not block makes streams that do not on some systems.
    stream.set_nonblocking(false).map_err(|_| None)?;
    let mut bytes = Vec::new();
    let mut more = |bytes: &mut Vec<u8>| -> Result<(), Option<Response>> {
        let left = PATIENCE.checked_sub(begin.elapsed()).filter(|left| !left.is_zero());
        let late = || Some(Response::text(408, "that took too long"));
        stream.set_read_timeout(Some(left.ok_or_else(late)?)).map_err(|_| None)?;
        let mut piece = [0; 8192];
        loop {
            return match stream.read(&mut piece) {
                Ok(0) => Err(None),
                Ok(count) => {
                    bytes.extend_from_slice(&piece[..count]);
                    Ok(())
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    Err(late())
                }
                Err(_) => Err(None),
            };
        }
    };
    let end = loop {
        let found = bytes.windows(4).position(|w| w == b"\r\n\r\n");
        match found {
            Some(at) if at <= MOST_HEAD => break at,
            None if bytes.len() <= MOST_HEAD => more(&mut bytes)?,
            _ => return Err(Some(Response::text(431, "too many headers"))),
        }
    };
    let bad = |what: &str| Some(Response::text(400, what));
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| bad("headers that are no text"))?;
    let mut request = parse(head).ok_or_else(|| bad("this is no request"))?;
    if request.header("transfer-encoding").is_some() || request.headers("content-length").len() > 1 {
        return Err(bad("a body must say its length, once"));
    }
    let length = match request.header("content-length") {
        None => 0,
        // Only digits: `+5` is a number to Rust.
        Some(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => text
            .parse()
            .ok()
            .filter(|n| *n <= MOST_BODY)
            .ok_or_else(|| Some(Response::text(413, "too long")))?,
        Some(_) => return Err(bad("a length is a number")),
    };
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        more(&mut body)?;
    }
    body.truncate(length);
    request.body = body;
    Ok(request)
}

fn parse(head: &str) -> Option<HttpRequest> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let known = matches!(version, "HTTP/1.1" | "HTTP/1.0") && words.next().is_none();
    if !known || !target.starts_with('/') || method.is_empty() {
        return None;
    }
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let token = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(token) || value.contains(['\r', '\n', '\0']) {
            return None;
        }
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let path = target.split(['?', '#']).next()?.to_owned();
    Some(HttpRequest { method: method.to_owned(), path, headers, body: Vec::new() })
}

/// Sends an answer and closes.
pub fn write(mut stream: &TcpStream, response: &Response) {
    let reason = match response.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    };
    let encoding = if response.encoded { "Content-Encoding: gzip\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{encoding}\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n\r\n",
        response.status,
        response.mime,
        response.body.len()
    );
    // Whoever does not read does not hold a thread for ever; whoever has gone needs no answer.
    _ = stream.set_write_timeout(Some(PATIENCE));
    let body = if response.bodyless { &[][..] } else { &response.body };
    if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).is_ok() {
        _ = stream.flush();
        _ = stream.shutdown(Shutdown::Write);
        // What is still on its way is read, so that closing does not tear the answer from the wire.
        _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
        let mut rest = [0; 4096];
        for _ in 0..64 {
            if !matches!(stream.read(&mut rest), Ok(1..)) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_and_what_is_none_is_refused() {
        let request = parse("GET /a/b?c=1 HTTP/1.1\r\nHost: localhost:1\r\nX-Y:  z ").unwrap();
        assert_eq!((request.path.as_str(), request.header("x-y")), ("/a/b", Some("z")));
        for bad in [
            "",
            "GET",
            "GET /",
            "GET / HTTP/2",
            "GET http://x/ HTTP/1.1",
            "GET / HTTP/1.1\r\nno colon",
            "GET / HTTP/1.1\r\na b: c",
        ] {
            assert!(parse(bad).is_none(), "{bad}");
        }
    }
}
