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

/** The file of a name, or null; a build while this runs is served, and what it is emptying is not there. */
function file(name) {
  try {
    // The list is read anew: only what stands in it is a name.
    const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).map((f) => `${f.parentPath ?? f.path}/${f.name}`.replaceAll("\\", "/").replace("//", "/").slice(dist.length));
    return files.includes(name) ? readFileSync(dist + name) : null;
  } catch {
    return null;
  }
}

const server = createServer((request, response) => {
  // Names of our files need no decoding; what is no name of a file, whatever it looks like, is not here.
  const path = (request.url ?? "/").replace(/[?#].*$/s, "").replace(/^\//, "");
  const name = path === "" ? "index.html" : path;
  const headers = { "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer" };
  const body = ["GET", "HEAD"].includes(request.method ?? "") ? file(name) : null;
  if (body === null) {
    response.writeHead(404, { ...headers, "Content-Type": "text/plain" }).end("not here\n");
    return;
  }
  const type = types[name.split(".").pop() ?? ""] ?? "application/octet-stream";
  response.writeHead(200, { ...headers, "Content-Type": type, "Content-Length": body.length });
  response.end(request.method === "HEAD" ? undefined : body);
});
server.on("error", (error) => {
  console.error(`cannot listen on port ${port}: ${error.message}\n  hint: bash studio/serve PORT takes another, 0 any that is free`);
  process.exit(1);
});
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
