//! The conversation: one message at a time, answers in order; changes that come in a rush are checked once.

use crate::analysis::OpenDocument;
use crate::{complete, hover, names};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response, ResponseError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Serves an editor over standard input and output until it says goodbye.
///
/// # Errors
/// A sentence, when the conversation breaks the protocol or the streams fail.
pub fn serve() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let capabilities = json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": { "openClose": true, "change": 2 },
            "completionProvider": { "triggerCharacters": ["[", "\"", "'"] },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "renameProvider": { "prepareProvider": true },
        },
        "serverInfo": { "name": "carom", "version": env!("CARGO_PKG_VERSION") },
    });
    let (id, _) = connection.initialize_start().map_err(|_| {
        "nobody began a session\n  hint: this is a language server: an editor starts it and speaks to it"
            .to_owned()
    })?;
    connection.initialize_finish(id, capabilities).map_err(|e| e.to_string())?;
    let result =
        Server { connection: &connection, documents: BTreeMap::new(), changed: BTreeSet::new() }.run();
    drop(connection);
    threads.join().map_err(|e| e.to_string())?;
    result
}

struct Server<'c> {
    connection: &'c Connection,
    documents: BTreeMap<String, OpenDocument>,
    /// Documents that were changed and not checked since.
    changed: BTreeSet<String>,
}

/// What a request could not do.
struct RequestRefusal(String);

impl Server<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request).map_err(|e| e.to_string())? {
                        return Ok(());
                    }
                    self.check_changed();
                    self.answer(request);
                }
                Message::Notification(notification) => self.note(&notification),
                Message::Response(_) => {}
            }
            if self.connection.receiver.is_empty() {
                self.check_changed();
            }
        }
        Ok(())
    }

    fn send(&self, message: impl Into<Message>) {
        // An editor that is gone needs no answer.
        let _ = self.connection.sender.send(message.into());
    }

    fn note(&mut self, notification: &Notification) {
        let params = &notification.params;
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str().map(str::to_owned) else { return };
        let version = document["version"].as_i64();
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or("").to_owned();
                self.documents.insert(uri.clone(), OpenDocument::new(text, &uri, version));
                self.changed.insert(uri);
            }
            "textDocument/didChange" => {
                if let Some(document) = self.documents.get_mut(&uri) {
                    for change in params["contentChanges"].as_array().into_iter().flatten() {
                        document.text.change(change);
                    }
                    document.version = version;
                    self.changed.insert(uri);
                }
            }
            "textDocument/didClose" => {
                self.documents.remove(&uri);
                self.changed.remove(&uri);
                self.publish(&uri, None, &[]);
            }
            _ => {}
        }
    }

    fn check_changed(&mut self) {
        for uri in std::mem::take(&mut self.changed) {
            let Some(document) = self.documents.get_mut(&uri) else { continue };
            let version = document.version;
            let found = catch_unwind(AssertUnwindSafe(|| document.check())).unwrap_or_default();
            self.publish(&uri, version, &found);
        }
    }

    fn publish(&self, uri: &str, version: Option<i64>, diagnostics: &[Value]) {
        let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
        self.send(Notification { method: "textDocument/publishDiagnostics".to_owned(), params });
    }

    fn answer(&self, request: Request) {
        let answered = catch_unwind(AssertUnwindSafe(|| self.result(&request)));
        let error =
            |code: ErrorCode, message: String| ResponseError { code: code as i32, message, data: None };
        let response_result = match answered {
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(RequestRefusal(message)))) => Err(error(ErrorCode::RequestFailed, message)),
            Ok(None) => {
                Err(error(ErrorCode::MethodNotFound, format!("`{}` is not known here", request.method)))
            }
            Err(_) => Err(error(ErrorCode::InternalError, "a mistake inside the server".to_owned())),
        };
        self.send(Response { id: request.id, response_result });
    }

    fn result(&self, request: &Request) -> Option<Result<Value, RequestRefusal>> {
        let params = &request.params;
        let uri = params["textDocument"]["uri"].as_str().unwrap_or("");
        let document = self.documents.get(uri);
        let offset = document.map_or(0, |d| d.text.byte(&params["position"]));
        let at = document.and_then(|d| names::at(&d.draft, offset).map(|found| (d, found)));
        let location = |d: &OpenDocument, range: &std::ops::Range<usize>| json!({ "uri": uri, "range": d.text.range(range) });
        Some(Ok(match request.method.as_str() {
            "textDocument/completion" => document.map_or(Value::Null, |d| complete::complete(d, offset)),
            "textDocument/hover" => document.and_then(|d| hover::hover(d, offset)).unwrap_or(Value::Null),
            "textDocument/definition" => at.map_or(Value::Null, |(d, (made, _))| location(d, &made.at)),
            "textDocument/references" => at.map_or(Value::Null, |(d, (made, _))| {
                json!(names::places(&d.draft, &made).iter().map(|r| location(d, r)).collect::<Vec<_>>())
            }),
            "textDocument/prepareRename" => at.map_or(
                Value::Null,
                |(d, (made, range))| json!({ "range": d.text.range(&range), "placeholder": made.name }),
            ),
            "textDocument/rename" => {
                let new = params["newName"].as_str().unwrap_or("").trim();
                let Some((document, (made, _))) = at else {
                    return Some(Err(RequestRefusal("there is no name here".to_owned())));
                };
                return Some(rename(document, uri, &made, new));
            }
            _ => return None,
        }))
    }
}

fn rename(
    document: &OpenDocument,
    uri: &str,
    made: &names::NameMade,
    new: &str,
) -> Result<Value, RequestRefusal> {
    let others = names::made(&document.draft);
    if let Some(other) =
        others.iter().find(|o| o.name == new && (o.kind == made.kind || o.kind.in_formulas()))
    {
        return Err(RequestRefusal(format!("`{new}` is already the name of a {}", other.kind.word())));
    }
    if let Some(why) = carom_mech::not_a_name(new) {
        return Err(RequestRefusal(why));
    }
    let places = names::places(&document.draft, made);
    let edits: Vec<Value> =
        places.iter().map(|r| json!({ "range": document.text.range(r), "newText": new })).collect();
    Ok(json!({ "changes": { uri: edits } }))
}
