// Starts `carom lsp` for model files and connects the editor to it. All knowledge of models is in the server.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

function start() {
  const command = vscode.workspace.getConfiguration("carom").get("path", "carom");
  const program = { command, args: ["lsp"] };
  // The server leaves TOML files that are no models alone.
  const documents = [{ language: "carom" }, { language: "toml" }, { scheme: "file", pattern: "**/*.toml" }];
  client = new LanguageClient("carom", "carom", program, { documentSelector: documents });
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(
      `carom: ${command} lsp could not be started (${error.message}). Install carom, or set "carom.path" to where it is.`,
    );
  });
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.needsStop()) {
    await running.stop();
  }
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(vscode.commands.registerCommand("carom.restart", restart));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("carom.path")) {
        return restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
