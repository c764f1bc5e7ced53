// The Worker: an instance of the engine that answers one question after the other.

import { Instance, Trapped } from "./instance";
import type { FromWorker, Requests, ToWorker } from "./protocol";

interface Scope {
  onmessage: ((event: { data: ToWorker }) => void) | null;
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
}
const scope = self as unknown as Scope;
let instance: Instance | null = null;

scope.onmessage = ({ data: message }) => {
  if (message.kind === "module") {
    instance = new Instance(message.module);
    scope.postMessage({ kind: "ready", version: instance.ask("about", {}).version });
    return;
  }
  const { id, what, ask } = message;
  if (instance === null) {
    scope.postMessage({ kind: "failed", id, message: "the engine is not there yet", fatal: false });
    return;
  }
  instance.host.progress = (progress) => {
    scope.postMessage({ kind: "progress", id, progress });
    return true;
  };
  try {
    const answer = instance.ask(what, ask as Requests[typeof what]["ask"]);
    scope.postMessage({ kind: "answer", id, answer }, arrays(what, answer));
  } catch (error) {
    const fatal = error instanceof Trapped;
    const text = error instanceof Error ? error.message : String(error);
    scope.postMessage({ kind: "failed", id, message: text, fatal });
  }
};

/** The large arrays of an answer change hands instead of being copied. */
function arrays(what: keyof Requests, answer: unknown): Transferable[] {
  switch (what) {
    case "run": {
      const run = answer as Requests["run"]["answer"];
      return [...run.columns.map((c) => c.values.buffer), ...(run.scene?.columns.map((c) => c.data.buffer) ?? [])] as Transferable[];
    }
    case "sweep": {
      const sweep = answer as Requests["sweep"]["answer"];
      return [...sweep.columns.map((c) => c.values.buffer), ...sweep.points.map((p) => p.data.buffer)] as Transferable[];
    }
    case "export":
    case "font":
      return [(answer as Requests["font"]["answer"]).bytes.buffer] as Transferable[];
    default:
      return [];
  }
}
