import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

/** A report of the hooks: one module loads another, or a file was looked for that does not exist. Paths are absolute. */
export type LoadMessage = { readonly from: string; readonly to: string } | { readonly missing: string };

/** What the modules of this process have loaded, as the loader's hooks and Node's own cache of `require` have it. */
export class Loads {
  readonly #port: MessagePort;
  readonly #edges = new Map<string, Set<string>>();
  readonly #missing = new Set<string>();
  readonly #before: ReadonlySet<string>;

  /** @param port - of the hooks' reports, which are read when they are asked for. */
  constructor(port: MessagePort) {
    this.#port = port;
    port.unref();
    this.#before = new Set(Object.keys(required));
  }

  add(message: LoadMessage): void {
    if ('missing' in message) this.#missing.add(message.missing);
    else {
      const targets = this.#edges.get(message.from) ?? new Set();
      this.#edges.set(message.from, targets.add(message.to));
    }
  }

  /**
   * The files that a module has loaded, directly or not, and those that were looked for and do not exist. A package
   * that is installed counts by its `package.json`, whose version identifies the rest. A file counts for every module
   * if it is not known which one has loaded it.
   *
   * @param module - absolute path.
   */
  of(module: string): readonly string[] {
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
      this.add(next.message as LoadMessage);
    for (const [from, loaded] of Object.entries(required))
      for (const { filename: to } of loaded?.children ?? []) this.add({ from, to });
    const targets = new Set([...this.#edges.values()].flatMap((each) => [...each]));
    const unnamed = Object.keys(required).filter((file) => !this.#before.has(file) && !targets.has(file));
    // Node.js names modules by their real paths.
    const files = new Set([module, realpathSync(module), ...unnamed]);
    // Iteration includes files that are added meanwhile.
    for (const file of files) for (const target of this.#edges.get(file) ?? []) files.add(target);
    return [...new Set([...[...files].map(identityOf), ...this.#missing])];
  }
}

/** All modules that `require` has loaded. */
const required: NodeJS.Dict<NodeModule> = createRequire(import.meta.url).cache;

function identityOf(file: string): string {
  const names = file.split(sep);
  const at = names.lastIndexOf('node_modules');
  if (at === -1) return file;
  const length = names[at + 1]?.startsWith('@') ? 2 : 1;
  return join(names.slice(0, at + 1 + length).join(sep), 'package.json');
}
