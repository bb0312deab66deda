import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { RegistryParts } from '../../codegen/emit/registry.js';
import type { Bundle, Bundler } from '../../codegen/schemas/loader/bundle.js';
import type { Graph } from '../../graph/model.js';
import type { Registry } from '../../runtime/tools/registry.js';
import type { Output } from '../command-line.js';
import type { Modules } from '../registries.js';
import type { ServeRequest } from './serve.js';
import type { StudioAddress } from './studio.js';

/**
 * The process of a server that `stepwright dev` has started. It loads the product at once, and the project when it is asked
 * to: a change is served without the time of a start.
 */

/** A project to serve. */
export interface DevProject {
  readonly request: ServeRequest;
  readonly modules: Modules;
  /** The registry, where there is exactly one. */
  readonly parts?: RegistryParts;
}

/** The states of files, by absolute paths; see `States`. */
type DevStates = ReadonlyMap<string, string>;

/** What `stepwright dev` says to a server. */
export type DevCommand =
  /** Prepares for this project, without loading it: bundles its modules, loads its packages. */
  | { readonly kind: 'prepare'; readonly project: DevProject }
  /** Sources have changed: bundles them while their registry is compiled. */
  | { readonly kind: 'bundle' }
  /** Loads the project. */
  | {
      readonly kind: 'load';
      readonly project: DevProject;
      /** Of the files that the registry was made of. */
      readonly states: DevStates;
      readonly studio: StudioAddress;
    }
  /** The address is free. */
  | { readonly kind: 'listen' }
  /** Ends at once; its runs are in the store. */
  | { readonly kind: 'stop' };

/** What a server says to `stepwright dev`. */
export type DevReport =
  /** The product is loaded. */
  | { readonly kind: 'ready' }
  /** Why the modules of the project are loaded one by one. */
  | { readonly kind: 'unbundled'; readonly reason: string }
  /** A file has changed since the registry was made: nothing was loaded. */
  | { readonly kind: 'outdated' }
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
  { REGISTRY_VERSION },
  { registerLoader },
  { Bundler: ModuleBundler, canBundle },
  { serveStudio },
] = await Promise.all([
  import('./serve.js'),
  import('../../runtime/index.js'),
  import('../../runtime/tools/data-registry.js'),
  import('../../runtime/tools/registry.js'),
  import('../../codegen/schemas/loader/register.js'),
  import('../../codegen/schemas/loader/bundle.js'),
  import('./studio.js'),
]);

// What a server loads with its first connection is loaded now.
const first = await serveHttp(emptyRegistry, { port: 0, log: () => {} });
await first.close({ graceMs: 0 });

/** Graphs by their hashes: those of the next registry that have not changed keep what was computed of them. */
const graphs = new Map<string, Graph>();

type Tables = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** The tables of a registry. */
function tablesOf({ tables }: RegistryParts): Tables {
  const { workflows = {}, ...others } = JSON.parse(tables) as Tables;
  const entries = Object.entries(workflows as Registry['workflows']).map(([name, entry]) => {
    const graph = graphs.get(entry.hash) ?? (entry.graph as Graph);
    graphs.set(entry.hash, graph);
    return [name, { ...entry, graph }];
  });
  return { ...others, workflows: Object.fromEntries(entries) };
}

/**
 * Starts a server with workflows as they were before the change, in a store of the same kind, and without their classes:
 * the next start runs the same code, which is compiled then. A fault is reported by that start.
 */
async function warmUp(): Promise<void> {
  const isInFile = store?.startsWith('sqlite:') === true;
  let folder = '';
  try {
    folder = mkdtempSync(path.join(tmpdir(), 'stepwright-dev-'));
    const store = isInFile ? (`sqlite:${path.join(folder, 'runs.db')}` as const) : 'memory';
    const server = createServer(dataRegistry({ tools: [], graphs: [...graphs.values()] }), {
      store,
      log: () => {},
    });
    await server.start();
    await server.stop();
  } catch {
    // Reported by the start of the project.
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The modules of a project in one bundle after another. */
class ProjectBundles {
  readonly #folder: string;
  #bundler: Bundler | undefined;
  /** What is bundled, and how. */
  #subject: unknown;
  /** The module with all that the registry imports. It has no file. */
  #program = { file: '', text: '' };
  #building: Promise<Bundle | Error> | undefined;

  /** @param folder - absolute; made for the first bundle. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Sources have changed. */
  change(): void {
    if (this.#bundler !== undefined) void this.#build(this.#bundler);
  }

  /**
   * The modules of a project in a bundle.
   *
   * @param states - of the files that the registry was made of. Default: the files as they are now.
   * @returns why they cannot be bundled; `undefined` where they are no ES modules; `'other'` where a file is another one
   *   now than the registry was made of.
   */
  async of(
    { modules: { registries, options, loader }, parts }: DevProject,
    states: DevStates = new Map(),
  ): Promise<Bundle | Error | 'other' | undefined> {
    const [registry] = registries;
    if (loader === undefined || parts === undefined || registry === undefined || !canBundle(registry.path))
      return undefined;
    const program = { file: programOf(registry.path), text: parts.module };
    const files = [program.file, ...(options !== undefined && canBundle(options.path) ? [options.path] : [])];
    const subject = { files, loader };
    if (!isDeepStrictEqual(subject, this.#subject)) {
      await this.close();
      mkdirSync(this.#folder, { recursive: true });
      const textOf = (file: string) => (file === this.#program.file ? this.#program.text : undefined);
      this.#bundler = new ModuleBundler(this.#folder, files, loader, textOf);
      this.#subject = subject;
    }
    // The one in progress may have started before the last change.
    await this.#building;
    this.#program = program;
    const bundle = await this.#build(this.#bundler as Bundler);
    if (bundle instanceof Error) return bundle;
    const isOther = [...bundle.states].some(([file, state]) => (states.get(file) ?? state) !== state);
    return isOther ? 'other' : bundle;
  }

  async close(): Promise<void> {
    await this.#building;
    await this.#bundler?.dispose();
    this.#bundler = undefined;
  }

  #build(bundler: Bundler): Promise<Bundle | Error> {
    this.#building ??= bundler
      .build()
      .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        this.#building = undefined;
      });
    return this.#building;
  }
}

const programOf = (registry: string): string => `${registry}.program.ts`;

/** Modules, with the files of a bundle for those that it has. */
function inBundle({ modules, parts }: DevProject, { files }: Bundle): Modules {
  const { registries, options } = modules;
  return {
    ...modules,
    registries: registries.map((registry) => ({
      ...registry,
      path: files[programOf(registry.path)] ?? registry.path,
      registryOf: (program) => registryOf(parts as RegistryParts, program, registry.path),
    })),
    ...(options === undefined ? {} : { options: { ...options, path: files[options.path] ?? options.path } }),
  };
}

/** @param program - the exports of the module of `parts`. @param file - the registry's. */
function registryOf(
  parts: RegistryParts,
  program: Readonly<Record<string, unknown>>,
  file: string,
): Registry {
  const { checksum, exports } = parts;
  const { domains, ...others } = tablesOf(parts);
  const withExports = (table: string, entries: Tables[string]) =>
    Object.entries(entries).map(([name, entry]) => {
      const local = exports[table]?.[name];
      const member = table === 'functions' ? 'function' : 'class';
      return [name, local === undefined ? entry : { [member]: program[local], ...entry }];
    });
  return {
    registryVersion: REGISTRY_VERSION,
    checksum,
    module: pathToFileURL(file).href,
    ...Object.fromEntries(
      Object.entries(others).map(([table, entries]) => [
        table,
        Object.fromEntries(withExports(table, entries)),
      ]),
    ),
    ...(domains === undefined ? {} : { domains: Object.values(domains) }),
  } as unknown as Registry;
}

const [store, folder = ''] = process.argv.slice(2);
const bundles = new ProjectBundles(path.join(folder, String(process.pid)));
process.on('exit', () => rmSync(path.join(folder, String(process.pid)), { recursive: true, force: true }));

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
    // A compiler whose program ends while it works complains about it.
    await Promise.all([close?.(), bundles.close()]);
    process.disconnect();
  }
  if (command.kind === 'bundle') bundles.change();
  if (command.kind === 'prepare') {
    const { project } = command;
    if (project.parts !== undefined) tablesOf(project.parts);
    if (project.modules.loader !== undefined) registerLoader(project.modules.loader);
    const bundle = await bundles.of(project);
    if (typeof bundle === 'object' && !(bundle instanceof Error))
      await import(pathToFileURL(bundle.packages).href);
    if (!isAsked) warming = setTimeout(() => void warmUp(), WARM_UP_AFTER_MS);
  }
  if (command.kind !== 'load') return;
  isAsked = true;
  clearTimeout(warming);
  const { project, states, studio } = command;
  const bundle = await bundles.of(project, states);
  if (bundle === 'other') return report({ kind: 'outdated' });
  if (bundle instanceof Error) report({ kind: 'unbundled', reason: bundle.message });
  const modules =
    bundle === undefined || bundle instanceof Error ? project.modules : inBundle(project, bundle);
  const texts: string[] = [];
  const output: Output = {
    out: (text) => void process.stderr.write(text),
    err: (text) => void texts.push(text),
    color: false,
  };
  const code = await serveProject(project.request, output, {
    modules,
    async loaded() {
      report({ kind: 'loaded' });
      await isFree;
    },
    async serving(running, served) {
      close = () => running.close({ graceMs: 0 });
      report({ kind: 'serving', ...('url' in running ? { url: running.url.href } : {}) });
      const ownStore = String(served.options.store);
      // Runs in the memory of this process have no reader beside it.
      if (ownStore === 'memory') return;
      const server = async () => running.server;
      const opened = serveStudio({ ...served, store: ownStore, server }, studio);
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
    const text = error instanceof Error ? error.message : String(error);
    texts.push(`${text.startsWith('stepwright: ') ? '' : 'stepwright: '}${text}\n`);
    return 1;
  });
  if (code !== 0) report({ kind: 'failed', text: texts.join('') });
});

report({ kind: 'ready' });
