import { pathToFileURL } from 'node:url';
import type { LoaderSettings } from '../../codegen/schemas/loader/compile.js';
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
  | { readonly kind: 'prepare'; readonly loader?: LoaderSettings; readonly packages?: string }
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
  | { readonly kind: 'serving'; readonly url?: string; readonly studio?: string }
  | { readonly kind: 'failed'; readonly text: string };

const report = (message: DevReport): void => void process.send?.(message);

process.on('disconnect', () => process.exit());

const [{ serveProject }, { emptyRegistry, serveHttp }, { registerLoader }, { serveStudio }] =
  await Promise.all([
    import('./serve.js'),
    import('../../runtime/index.js'),
    import('../../codegen/schemas/loader/register.js'),
    import('./studio.js'),
  ]);

// What a server loads with its first connection is loaded now.
const first = await serveHttp(emptyRegistry, { port: 0, log: () => {} });
await first.close({ graceMs: 0 });

let listen = (): void => {};
const isFree = new Promise<void>((resolve) => {
  listen = resolve;
});
let close: (() => Promise<void>) | undefined;

process.on('message', async (command: DevCommand) => {
  if (command.kind === 'listen') listen();
  if (command.kind === 'stop') {
    await close?.();
    process.exit();
  }
  if (command.kind === 'prepare') {
    if (command.loader !== undefined) registerLoader(command.loader);
    if (command.packages !== undefined) await import(pathToFileURL(command.packages).href);
  }
  if (command.kind !== 'load') return;
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
      const store = String(project.options.store);
      // Runs in the memory of this process have no reader beside it.
      const studio =
        store === 'memory'
          ? undefined
          : await serveStudio({ ...project, store, server: async () => running.server }, command.studio);
      close = async () => {
        await Promise.all([studio?.close(), running.close({ graceMs: 0 })]);
      };
      const urls = {
        ...('url' in running ? { url: running.url.href } : {}),
        ...(studio === undefined ? {} : { studio: studio.url.href }),
      };
      report({ kind: 'serving', ...urls });
    },
  }).catch((error: unknown) => {
    texts.push(`stepwright: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  });
  if (code !== 0) report({ kind: 'failed', text: texts.join('') });
});
