import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoaderSettings } from '../../codegen/schemas/loader/compile.js';
import type { Graph } from '../../graph/model.js';
import type { Output } from '../command-line.js';
import type { Modules } from '../registries.js';
import type { ServeRequest } from './serve.js';
import type { StudioAddress } from './studio.js';

/**
 * The process of a server that `stepwright dev` has started. It loads the product at once, and the project when it is asked
 * to: a change is served without the time of a start.
 */

/** What `stepwright dev` says to a server. */
export type DevCommand =
  /** Loads all that does not change with the project: its packages by a module, and what loads its sources. */
  | {
      readonly kind: 'prepare';
      readonly loader?: LoaderSettings;
      readonly packages?: string;
      /** Those of the project before the change. */
      readonly graphs: readonly Graph[];
    }
  /** Loads the project. */
  | {
      readonly kind: 'load';
      readonly request: ServeRequest;
      readonly modules: Modules;
      readonly studio: StudioAddress;
    }
  /** The address is free. */
  | { readonly kind: 'listen' }
  /** Ends at once; its runs are in the store. */
  | { readonly kind: 'stop' };

/** What a server says to `stepwright dev`. */
export type DevReport =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'serving'; readonly url?: string }
  | { readonly kind: 'studio'; readonly url: string }
  | { readonly kind: 'failed'; readonly text: string };

const report = (message: DevReport): void => void process.send?.(message);

process.on('disconnect', () => process.exit());

const [
  { serveProject },
  { createServer, emptyRegistry, serveHttp },
  { dataRegistry },
  { registerLoader },
  { serveStudio },
] = await Promise.all([
  import('./serve.js'),
  import('../../runtime/index.js'),
  import('../../runtime/tools/data-registry.js'),
  import('../../codegen/schemas/loader/register.js'),
  import('./studio.js'),
]);

// What a server loads with its first connection is loaded now.
const first = await serveHttp(emptyRegistry, { port: 0, log: () => {} });
await first.close({ graceMs: 0 });

/**
 * Starts a server with workflows as they were before the change, in a store of the same kind, and without their classes:
 * the next start runs the same code, which is compiled then. A fault is reported by that start.
 */
async function warmUp(graphs: readonly Graph[]): Promise<void> {
  const isInFile = process.argv[2]?.startsWith('sqlite:') === true;
  let folder = '';
  try {
    folder = mkdtempSync(path.join(tmpdir(), 'stepwright-dev-'));
    const store = isInFile ? (`sqlite:${path.join(folder, 'runs.db')}` as const) : 'memory';
    const server = createServer(dataRegistry({ tools: [], graphs }), { store, log: () => {} });
    await server.start();
    await server.stop();
  } catch {
    // Reported by the start of the project.
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A change that follows at once is served at once, by a process that is not warm. */
const WARM_UP_AFTER_MS = 300;

let warming: NodeJS.Timeout | undefined;
let isAsked = false;

let listen = (): void => {};
const isFree = new Promise<void>((resolve) => {
  listen = resolve;
});
let close: (() => Promise<void>) | undefined;

process.on('message', async (command: DevCommand) => {
  if (command.kind === 'listen') listen();
  if (command.kind === 'stop') {
    await close?.();
    process.disconnect();
  }
  if (command.kind === 'prepare') {
    if (command.loader !== undefined) registerLoader(command.loader);
    if (command.packages !== undefined) await import(pathToFileURL(command.packages).href);
    if (!isAsked) warming = setTimeout(() => void warmUp(command.graphs), WARM_UP_AFTER_MS);
  }
  if (command.kind !== 'load') return;
  isAsked = true;
  clearTimeout(warming);
  const texts: string[] = [];
  const output: Output = {
    out: (text) => void process.stderr.write(text),
    err: (text) => void texts.push(text),
    color: false,
  };
  const code = await serveProject(command.request, output, {
    modules: command.modules,
    async loaded() {
      report({ kind: 'loaded' });
      await isFree;
    },
    async serving(running, project) {
      close = () => running.close({ graceMs: 0 });
      report({ kind: 'serving', ...('url' in running ? { url: running.url.href } : {}) });
      const store = String(project.options.store);
      // Runs in the memory of this process have no reader beside it.
      if (store === 'memory') return;
      const server = async () => running.server;
      const opened = serveStudio({ ...project, store, server }, command.studio);
      close = async () => {
        const studio = await opened.catch(() => undefined);
        await Promise.all([studio?.close(), running.close({ graceMs: 0 })]);
      };
      await opened.then(
        ({ url }) => report({ kind: 'studio', url: url.href }),
        (error: unknown) => output.out(`studio: ${error instanceof Error ? error.message : String(error)}\n`),
      );
    },
  }).catch((error: unknown) => {
    texts.push(`stepwright: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  });
  if (code !== 0) report({ kind: 'failed', text: texts.join('') });
});
