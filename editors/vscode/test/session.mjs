// A session with `carom lsp` through the protocol library of VS Code: open, type, complete, hover, define, rename, leave.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const rpc = require("vscode-languageserver-protocol/node");

const program = process.env.CAROM ?? "carom";
const server = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const gone = new Promise((resolve) => server.on("exit", resolve));
const connection = rpc.createProtocolConnection(
  new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin),
);

const uri = "file:///model.toml";
let text = `coordinates = ["x"]
[parameters]
m = "2 kg"
k = "8 N/m"
[energy]
kinetic = "m/2*x'^2"
potential = "k/2*x^2"
[units]
x = "m"
`;
const waiting = [];
const published = [];
connection.onNotification(rpc.PublishDiagnosticsNotification.type, (note) => {
  const next = waiting.shift();
  next ? next(note.diagnostics) : published.push(note.diagnostics);
});
const diagnostics = () =>
  published.length ? Promise.resolve(published.shift()) : new Promise((resolve) => waiting.push(resolve));
const place = (piece, after = 0) => {
  const at = text.indexOf(piece) + after;
  const before = text.slice(0, at).split("\n");
  return { line: before.length - 1, character: before[before.length - 1].length };
};
const at = (piece, after) => ({ textDocument: { uri }, position: place(piece, after) });

connection.listen();
const { capabilities } = await connection.sendRequest(rpc.InitializeRequest.type, {
  processId: process.pid,
  rootUri: null,
  capabilities: {},
  workspaceFolders: null,
});
assert.equal(capabilities.renameProvider.prepareProvider, true);
await connection.sendNotification(rpc.InitializedNotification.type, {});

await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
  textDocument: { uri, languageId: "toml", version: 1, text },
});
assert.deepEqual(await diagnostics(), []);

// Type a mistake of units, and take it back.
const change = (from, to, version) => {
  const start = place(from);
  const end = { line: start.line, character: start.character + from.length };
  text = text.replace(from, to);
  return connection.sendNotification(rpc.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version },
    contentChanges: [{ range: { start, end }, text: to }],
  });
};
await change("k/2*x^2", "k/2*x^3", 2);
const [mistake] = await diagnostics();
assert.match(mistake.message, /the potential energy is in /);
await change("k/2*x^3", "k/2*x^2", 3);
assert.deepEqual(await diagnostics(), []);

const offered = await connection.sendRequest(rpc.CompletionRequest.type, at("k/2*x^2", 4));
assert.ok(["x", "k", "m", "sin"].every((name) => offered.some((item) => item.label === name)));
const hover = await connection.sendRequest(rpc.HoverRequest.type, at("k/2*x^2", 0));
assert.match(hover.contents.value, /value 8/);
const made = await connection.sendRequest(rpc.DefinitionRequest.type, at("k/2*x^2", 0));
assert.deepEqual(made.range.start, place('k = "8'));
const renamed = await connection.sendRequest(rpc.RenameRequest.type, { ...at('k = "8', 0), newName: "stiffness" });
assert.equal(renamed.changes[uri].length, 2);

await connection.sendRequest(rpc.ShutdownRequest.type);
await connection.sendNotification(rpc.ExitNotification.type);
assert.equal(await gone, 0);
console.log("the session with", program, "went as it should");
