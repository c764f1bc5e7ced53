//! `carom studio` over real sockets: what it serves, to whom, and what it refuses. The studio is in the program only where it was
//! built before (`bash studio/build`); elsewhere these tests say so and test that the program does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MODEL: &str = "coordinates = [\"x\"]\nlagrangian = \"x'^2/2\"\n[input]\nu = { file = \"u.csv\" }\nout = { file = \"../secret.csv\" }\n\
                     [force.push]\ngeneralized = { x = \"u\" }\n";

/// The program while it serves.
struct Studio {
    child: Child,
    port: u16,
    token: String,
}

impl Studio {
    /// `None` where this program has no studio.
    fn start(arguments: &[&str], folder: &Path) -> Option<Studio> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_carom"))
            .arg("studio")
            .args(arguments)
            .arg("--no-open")
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        if address.is_empty() {
            let out = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(said.contains("built without the studio") && said.contains("studio/build"), "{said}");
            assert_eq!(out.status.code(), Some(1));
            println!(
                "not tested here: this program was built without the studio (bash studio/build builds it)"
            );
            return None;
        }
        let rest = address.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.trim_end_matches('/').split_once('/').unwrap();
        Some(Studio { child, port: port.parse().unwrap(), token: token.to_owned() })
    }

    /// Sends bytes, reads until the connection closes; status and everything after the headers.
    fn raw(&self, bytes: &[u8]) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // A server that has heard enough may close before everything is sent.
        _ = stream.write_all(bytes);
        let mut out = Vec::new();
        _ = stream.read_to_end(&mut out);
        let end = out.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(out.len());
        let head = String::from_utf8_lossy(&out[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, head, out.get(end + 4..).unwrap_or(&[]).to_vec())
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String, Vec<u8>) {
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        self.raw(format!("{method} {path} HTTP/1.1\r\n{headers}{length}\r\n{body}").as_bytes())
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    fn get(&self, name: &str) -> (u16, String, Vec<u8>) {
        self.ask("GET", &format!("/{}/{name}", self.token), &self.host(), "")
    }

    /// The mark of the file as it is now.
    fn version(&self) -> String {
        let model: serde_json::Value = serde_json::from_slice(&self.get("model").2).unwrap();
        model["version"].as_str().unwrap().to_owned()
    }

    fn put(&self, body: &str) -> (u16, String) {
        let headers = format!("{}Origin: http://127.0.0.1:{}\r\n", self.host(), self.port);
        let (status, _, said) = self.ask("PUT", &format!("/{}/model", self.token), &headers, body);
        (status, String::from_utf8(said).unwrap())
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("m.toml"), MODEL).unwrap();
    std::fs::write(inside.join("u.csv"), "t,u\n0,1\n1,1\n").unwrap();
    std::fs::write(folder.path().join("secret.csv"), "t,out\n0,1\n1,1\n").unwrap();
    folder
}

#[test]
fn the_page_its_engine_and_the_model_are_served_and_nothing_else() {
    let folder = folder();
    let Some(studio) = Studio::start(&["m.toml"], &folder.path().join("inside")) else { return };
    let (status, head, page) = studio.get("");
    let page = String::from_utf8(page).unwrap();
    assert_eq!(status, 200, "{head}");
    assert!(page.contains("<meta name=\"carom-served\"") && page.contains("Content-Security-Policy"));
    assert!(head.contains("nosniff") && head.contains("no-store") && head.contains("X-Frame-Options: DENY"));
    let script = page.split("src=\"./").nth(1).unwrap().split('"').next().unwrap();
    let (status, head, _) = studio.get(script);
    assert!(status == 200 && head.contains("text/javascript"), "{script}: {head}");
    // No page of yesterday is kept by the browser.
    assert_eq!(studio.get("sw.js").0, 404);
    for name in [
        "../Cargo.toml",
        "..%2f..%2fetc/passwd",
        "%2e%2e/m.toml",
        "/etc/passwd",
        "m.toml",
        "u.csv",
        "index.html/..",
        "model/",
        "\\..\\m.toml",
    ] {
        assert_eq!(studio.get(name).0, 404, "{name}");
    }
    let (status, _, model) = studio.get("model");
    let model: serde_json::Value = serde_json::from_slice(&model).unwrap();
    assert_eq!((status, model["text"].as_str()), (200, Some(MODEL)));
    assert!(model["version"].is_string(), "it can be written back");
    assert_eq!(model["tables"]["u.csv"], "t,u\n0,1\n1,1\n");
    assert_eq!(model["tables"].as_object().unwrap().len(), 1, "a table outside the folder is not handed out");
}

#[test]
fn only_who_has_the_token_and_is_no_other_site_is_answered() {
    let folder = folder();
    let Some(studio) = Studio::start(&[], folder.path()) else { return };
    let page = format!("/{}/", studio.token);
    let host = studio.host();
    let wrong = "0".repeat(studio.token.len());
    for path in [
        "/",
        "/index.html",
        &format!("/{wrong}/"),
        &format!("/{}", &studio.token[..31]),
        &format!("/{}x/", studio.token),
    ] {
        assert_eq!(studio.ask("GET", path, &host, "").0, 404, "{path}");
    }
    let port = studio.port;
    let foreign = [
        String::new(),
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{}\r\n", port ^ 1),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("{host}Host: evil.example\r\n"),
        format!("{host}Origin: http://evil.example\r\n"),
        format!("{host}Origin: null\r\n"),
        format!("{host}Origin: https://127.0.0.1:{port}\r\n"),
        format!("{host}Sec-Fetch-Site: cross-site\r\n"),
        format!("{host}Sec-Fetch-Site: same-site\r\n"),
        format!("{host}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n"),
        format!("{host}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n"),
        format!("{host}Origin: null\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"),
    ];
    for headers in &foreign {
        assert_eq!(studio.ask("GET", &page, headers, "").0, 403, "{headers}");
    }
    // A link that is followed opens the page, and nothing but the page.
    let followed = format!(
        "{host}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    );
    assert_eq!(studio.ask("GET", &page, &followed, "").0, 200);
    assert_eq!(studio.ask("GET", &format!("{page}model"), &followed, "").0, 403);
    assert_eq!(studio.ask("PUT", &page, &followed, "x").0, 403);
    for headers in [
        format!("Host: localhost:{port}\r\n"),
        format!("{host}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"),
    ] {
        assert_eq!(studio.ask("GET", &page, &headers, "").0, 200, "{headers}");
    }
    assert_eq!(studio.ask("POST", &page, &host, "x").0, 405);
    assert_eq!(studio.ask("DELETE", &page, &host, "").0, 405);
}

#[test]
fn the_file_is_written_only_by_the_page_and_never_over_somebody_elses_changes() {
    let folder = folder();
    let inside = folder.path().join("inside");
    let Some(studio) = Studio::start(&["m.toml"], &inside) else { return };
    let file = inside.join("m.toml");
    let body = serde_json::json!({ "text": "# mine\n", "base": studio.version() }).to_string();
    let path = format!("/{}/model", studio.token);
    // A script of no page has no origin.
    assert_eq!(studio.ask("PUT", &path, &studio.host(), &body).0, 403);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), MODEL);
    assert_eq!(studio.put(&body).0, 200);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\n");
    std::fs::write(&file, "# somebody else's\n").unwrap();
    let (status, said) = studio.put(&body);
    assert!(status == 409 && said.contains("somebody else"), "{status} {said}");
    // Who does not say what it was made from writes nothing.
    assert_eq!(studio.put("{\"text\": \"# mine\"}").0, 409);
    assert_eq!(studio.put("{\"text\": \"# mine\", \"base\": null}").0, 409);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# somebody else's\n");
    assert_eq!(studio.put(&serde_json::json!({ "text": "# forced\n", "force": true }).to_string()).0, 200);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# forced\n");
    for bad in ["{", "[]", "{\"text\": 1}", "null"] {
        assert_eq!(studio.put(bad).0, 400, "{bad}");
    }
    let Some(gallery) = Studio::start(&["quartic"], &inside) else { return };
    assert_eq!(gallery.put(&body).0, 403, "a gallery model has no file");
}

#[test]
fn what_counts_is_what_the_page_read_not_what_somebody_read_last() {
    let folder = folder();
    let inside = folder.path().join("inside");
    let Some(studio) = Studio::start(&["m.toml"], &inside) else { return };
    let file = inside.join("m.toml");
    let write =
        |text: &str, base: &str| studio.put(&serde_json::json!({ "text": text, "base": base }).to_string()).0;
    // Case 1: read, changed by an editor, read again (the page is reloaded with what was typed), written.
    let typed_from = studio.version();
    std::fs::write(&file, "# an editor's\n").unwrap();
    assert_ne!(studio.version(), typed_from);
    assert_eq!(write("# typed\n", &typed_from), 409);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# an editor's\n");
    // Case 2: two tabs with the same text.
    let (first, second) = (studio.version(), studio.version());
    assert_eq!(write("# first\n", &first), 200);
    assert_eq!(write("# second\n", &second), 409);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# first\n");
    // A file that is gone, or is no text any more, is not what was read.
    let base = studio.version();
    std::fs::write(&file, b"\xff\xfe").unwrap();
    assert_eq!(write("# over bytes\n", &base), 409);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(write("# again\n", &base), 409);
    assert!(!file.exists());
    // The mark of a writing is the base of the next.
    std::fs::write(&file, "# back\r\n").unwrap();
    let (status, said) =
        studio.put(&serde_json::json!({ "text": "# one\r\n", "base": studio.version() }).to_string());
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!((status, write("# two\r\n", said["version"].as_str().unwrap())), (200, 200));
    assert_eq!(std::fs::read(&file).unwrap(), b"# two\r\n");
}

#[test]
fn head_is_answered_without_a_body() {
    let folder = folder();
    let Some(studio) = Studio::start(&["m.toml"], &folder.path().join("inside")) else { return };
    for name in ["", "model", "nothing"] {
        let path = format!("/{}/{name}", studio.token);
        let (get, _, body) = studio.ask("GET", &path, &studio.host(), "");
        let (head, said, none) = studio.ask("HEAD", &path, &studio.host(), "");
        assert_eq!((head, none.len()), (get, 0), "{name}");
        assert!(said.contains(&format!("Content-Length: {}\r\n", body.len())), "{name}: {said}");
    }
}

/// With a terminal around it the program starts a browser, here one that writes down what it was given.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_given_a_file_and_no_other_user_the_token() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    if Studio::start(&[], folder.path()).is_none() || !Path::new("/usr/bin/script").exists() {
        return;
    }
    let browser = folder.path().join("xdg-open");
    std::fs::write(&browser, "#!/bin/sh\ncp \"$1\" \"$CAROM_SEEN.page\" && echo \"$@\" > \"$CAROM_SEEN\"\n")
        .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let seen = folder.path().join("seen");
    let mut child = Command::new("/usr/bin/script")
        .args(["-qec", &format!("exec {} studio", env!("CARGO_BIN_EXE_carom")), "/dev/null"])
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
        .env("CAROM_SEEN", &seen)
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    let begin = Instant::now();
    while !seen.exists() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(100));
    let given = std::fs::read_to_string(&seen).unwrap_or_default();
    let page = std::fs::read_to_string(folder.path().join("seen.page")).unwrap_or_default();
    _ = child.kill();
    _ = child.wait();
    let address = address.trim();
    let token = address.trim_end_matches('/').rsplit('/').next().unwrap();
    assert!(token.len() == 32 && !given.is_empty(), "{address} {given}");
    assert!(!given.contains(token), "{given}");
    assert!(page.contains(&format!("url={address}\"")), "{page}");
}

#[test]
fn hostile_requests_end_quickly_and_others_are_answered_meanwhile() {
    let folder = folder();
    let Some(studio) = Studio::start(&[], folder.path()) else { return };
    let host = studio.host();
    let page = format!("/{}/", studio.token);
    let long = format!("GET {page} HTTP/1.1\r\n{host}X: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(studio.raw(long.as_bytes()).0, 431);
    let many = format!("GET {page} HTTP/1.1\r\n{host}{}\r\n", "A: b\r\n".repeat(10_000));
    assert_eq!(studio.raw(many.as_bytes()).0, 431);
    let bad = [
        "\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        format!("GET http://127.0.0.1{page} HTTP/1.1\r\n{host}\r\n"),
        format!("GET {page} HTTP/9.9\r\n{host}\r\n"),
        format!("PUT {page} HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        format!("PUT {page} HTTP/1.1\r\n{host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"),
        format!("PUT {page} HTTP/1.1\r\n{host}Content-Length: -1\r\n\r\nx"),
        format!("GET {page} HTTP/1.1\r\n{host}a b: c\r\n\r\n"),
    ];
    for request in &bad {
        assert_eq!(studio.raw(request.as_bytes()).0, 400, "{request}");
    }
    assert_eq!(studio.raw(b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n").0, 400);
    let huge = format!("PUT {page} HTTP/1.1\r\n{host}Content-Length: 99999999999\r\n\r\n");
    assert_eq!(studio.raw(huge.as_bytes()).0, 413);
    // Somebody who says nothing holds nobody up.
    let silent: Vec<TcpStream> =
        (0..8).map(|_| TcpStream::connect(("127.0.0.1", studio.port)).unwrap()).collect();
    let begin = Instant::now();
    assert_eq!(studio.get("").0, 200);
    assert!(begin.elapsed() < Duration::from_secs(5));
    drop(silent);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_with_code_0() {
    let folder = folder();
    let Some(mut studio) = Studio::start(&[], folder.path()) else { return };
    assert_eq!(studio.get("").0, 200);
    assert!(Command::new("kill").args(["-INT", &studio.child.id().to_string()]).status().unwrap().success());
    let begin = Instant::now();
    let code = loop {
        if let Some(status) = studio.child.try_wait().unwrap() {
            break status.code();
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(code, Some(0));
}

#[test]
fn a_model_that_is_not_there_and_a_port_that_is_taken_are_said() {
    let folder = folder();
    let Some(studio) = Studio::start(&[], folder.path()) else { return };
    let say = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_carom")).arg("studio").args(arguments).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, said) = say(&["no_such_model", "--no-open"]);
    assert!(code == Some(3) && said.contains("no_such_model"), "{said}");
    let (code, said) = say(&["--no-open", "--port", &studio.port.to_string()]);
    assert!(code == Some(1) && said.contains("cannot listen on port"), "{said}");
}
