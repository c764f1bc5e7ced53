// The files of `dist`, for a browser of this machine; nothing else, and no name leads out of the folder.

import { createServer } from "node:http";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("./dist/", import.meta.url));
const port = Number(process.argv[2] ?? 8321);
const types = {
  html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", wasm: "application/wasm",
  svg: "image/svg+xml", png: "image/png", json: "application/json", webmanifest: "application/manifest+json", toml: "text/plain; charset=utf-8", md: "text/plain; charset=utf-8",
};

createServer((request, response) => {
  // The list is read anew: a build while this runs is served.
  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).map((f) => `${f.parentPath ?? f.path}/${f.name}`.replaceAll("\\", "/").replace("//", "/").slice(dist.length));
  const path = new URL(request.url ?? "/", "http://localhost").pathname.slice(1);
  const name = path === "" ? "index.html" : path;
  const headers = { "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer" };
  if (!["GET", "HEAD"].includes(request.method ?? "") || !files.includes(name)) {
    response.writeHead(404, { ...headers, "Content-Type": "text/plain" }).end("not here\n");
    return;
  }
  const type = types[name.split(".").pop() ?? ""] ?? "application/octet-stream";
  const body = readFileSync(dist + name);
  response.writeHead(200, { ...headers, "Content-Type": type, "Content-Length": body.length });
  response.end(request.method === "HEAD" ? undefined : body);
}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
