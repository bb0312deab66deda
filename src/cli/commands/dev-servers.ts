import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Bundle, Bundler } from '../../codegen/schemas/loader/bundle.js';
import type { LoaderSettings } from '../../codegen/schemas/loader/compile.js';
import type { WatchedRun } from '../../codegen/watch.js';
import { programFile } from '../../formats/own-files.js';
import { defined } from '../../graph/defined.js';
import type { Graph } from '../../graph/model.js';
import type { Output } from '../command-line.js';
import { type Modules, modulesOf } from '../registries.js';
import type { DevCommand, DevReport } from './dev-server.js';
import type { StdioSession } from './dev-stdio.js';
import type { ServeRequest } from './serve.js';

/** A process with a server, or one that waits for a project to load. */
interface DevServer {
  readonly process: ChildProcess;
  /** How it loads TypeScript: a process has one set of hooks. Missing until it is known. */
  loader?: LoaderSettings;
  /** Resolves with the next report; with `undefined` when the process ends. */
  next(): Promise<DevReport | undefined>;
  say(command: DevCommand): void;
}

/** The server, and the process of the next one, which has loaded all but the project. */
export class DevServers {
  readonly #request: ServeRequest;
  readonly #output: Output;
  /** The session of the client over stdio; missing over HTTP. */
  readonly #session: StdioSession | undefined;
  readonly #bundles: ProjectBundles;
  #current: DevServer | undefined;
  /** What the server has loaded; missing where its modules cannot be bundled. */
  #bundle: Bundle | undefined;
  /** The workflows that it has, or that it should have. */
  #graphs: readonly Graph[] = [];
  #spare: DevServer;
  #isStopped = false;
  /** The change to serve next. */
  #pending: WatchedRun | undefined;
  #isReplacing = false;
  /** The page of runs keeps its address. Its module is for the server's process alone. */
  #studio = { token: randomBytes(24).toString('base64url'), port: 0 };

  constructor(request: ServeRequest, output: Output, session?: StdioSession) {
    this.#request = request;
    this.#session = session;
    this.#output = output;
    this.#bundles = new ProjectBundles(request.values.root ?? '.', output);
    this.#spare = this.#fork();
  }

  /** Serves the project as it is now. Of changes that arrive meanwhile, the last one counts. */
  replace(run: WatchedRun): void {
    this.#pending = run;
    if (!this.#isReplacing) void this.#replaceAll();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#session?.detach();
    await Promise.all([this.#end(this.#current), this.#end(this.#spare)]);
    await this.#bundles.close();
  }

  async #replaceAll(): Promise<void> {
    this.#isReplacing = true;
    while (this.#pending !== undefined && !this.#isStopped) {
      const run = this.#pending;
      this.#pending = undefined;
      await this.#replace(run);
    }
    this.#isReplacing = false;
  }

  async #replace({ milliseconds, result }: WatchedRun): Promise<void> {
    const start = performance.now();
    const root = realpathSync(this.#request.values.root ?? '.');
    const modules = await modulesOf('dev', root, this.#request.values, this.#output);
    if (typeof modules === 'number') return;
    const bundle = await this.#bundles.of(modules);
    this.#graphs = result?.workflows.map(({ graph }) => graph) ?? [];
    const server = await this.#spareFor(modules, bundle);
    const load = { request: this.#request, modules: inBundle(modules, bundle), studio: this.#studio };
    server.say({ kind: 'load', ...load });
    if (!this.#reported(await server.next())) {
      remove(bundle);
      this.#spare = this.#fork(modules, this.#bundle);
      return;
    }
    const isFirst = this.#current === undefined;
    await this.#session?.detach();
    await this.#end(this.#current);
    remove(this.#bundle);
    this.#current = server;
    this.#bundle = bundle;
    server.say({ kind: 'listen' });
    const report = await server.next();
    if (this.#reported(report) && report?.kind === 'serving') {
      const { stdin, stdout } = server.process;
      if (stdin !== null && stdout !== null) await this.#session?.attach({ stdin, stdout });
      const total = milliseconds + performance.now() - start;
      const place = report.url === undefined ? 'over stdio' : `at ${report.url}`;
      this.#output.out(`served ${place} (${total.toFixed(0)} ms after the change)\n`);
      if (isFirst && report.url !== undefined)
        this.#output.out(
          `inspect it: npx @modelcontextprotocol/inspector --transport http --server-url ${report.url}\n`,
        );
    }
    this.#spare = this.#fork(modules, bundle);
  }

  /** The page keeps its address, unless another program has taken it. */
  #showStudio(url: string): void {
    const port = Number(new URL(url).port);
    if (port !== this.#studio.port) this.#output.out(`studio at ${url}\n`);
    this.#studio = { ...this.#studio, port };
  }

  #reported(report: DevReport | undefined): boolean {
    if (report?.kind === 'failed') this.#output.err(report.text);
    return report !== undefined && report.kind !== 'failed';
  }

  /** The spare process; another one where it loads TypeScript as the project did before. */
  async #spareFor(modules: Modules, bundle: Bundle | undefined): Promise<DevServer> {
    const { loader } = this.#spare;
    if (loader === undefined) this.#prepare(this.#spare, modules, bundle);
    else if (!isDeepStrictEqual(loader, modules.loader)) {
      await this.#end(this.#spare);
      this.#spare = this.#fork(modules, bundle);
    }
    return this.#spare;
  }

  /** Starts a process, which prepares for these modules, if they are known. */
  #fork(modules?: Modules, bundle?: Bundle): DevServer {
    const child = fork(programFile('cli/commands/dev-server'), [this.#request.values.store ?? ''], {
      // A start makes many objects that live on: to copy them twice takes a tenth of its time.
      execArgv: [...process.execArgv, '--max-semi-space-size=32'],
      stdio:
        this.#session === undefined
          ? ['ignore', 'inherit', 'inherit', 'ipc']
          : ['pipe', 'pipe', 'inherit', 'ipc'],
    });
    const reports: (DevReport | undefined)[] = [];
    let wake = (): void => {};
    const take = (report: DevReport | undefined): void => {
      reports.push(report);
      wake();
    };
    child.on('message', (message) => {
      const report = message as DevReport;
      if (report.kind === 'studio') this.#showStudio(report.url);
      else take(report);
    });
    child.once('disconnect', () => take(undefined));
    const server: DevServer = {
      process: child,
      async next() {
        while (reports.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        return reports.shift();
      },
      say: (command) => void (child.connected && child.send(command)),
    };
    if (modules !== undefined) this.#prepare(server, modules, bundle);
    return server;
  }

  #prepare(server: DevServer, { loader }: Modules, bundle: Bundle | undefined): void {
    if (loader !== undefined) server.loader = loader;
    const graphs = this.#graphs;
    server.say({ kind: 'prepare', graphs, ...defined({ loader, packages: bundle?.packages }) });
  }

  /** Resolves when its addresses are free and its runs are in the store. */
  async #end(server: DevServer | undefined): Promise<void> {
    if (server === undefined || !server.process.connected) return;
    const ended = new Promise((resolve) => server.process.once('disconnect', resolve));
    server.say({ kind: 'stop' });
    await ended;
  }
}

/** The modules of a project in one bundle after another. */
class ProjectBundles {
  readonly #root: string;
  readonly #output: Output;
  /** What is bundled, and how. */
  #subject: unknown;
  #bundler: Bundler | undefined;
  #fault: string | undefined;

  constructor(root: string, output: Output) {
    this.#root = root;
    this.#output = output;
  }

  /** A bundle of modules as they are now. Those that cannot be bundled are loaded one by one, which is reported once. */
  async of({ registries, options, loader }: Modules): Promise<Bundle | undefined> {
    const { Bundler, canBundle } = await import('../../codegen/schemas/loader/bundle.js');
    const all = [...registries, ...(options === undefined ? [] : [options])].map((each) => each.path);
    const files = all.filter(canBundle);
    if (loader === undefined || files.length === 0) return undefined;
    const subject = { files, loader };
    if (!isDeepStrictEqual(subject, this.#subject)) {
      await this.close();
      const folder = path.join(realpathSync(this.#root), '.stepwright');
      mkdirSync(folder, { recursive: true });
      this.#bundler = new Bundler(mkdtempSync(path.join(folder, 'dev-')), files, loader);
      this.#subject = subject;
    }
    try {
      const bundle = await this.#bundler?.build();
      this.#fault = undefined;
      return bundle;
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== this.#fault)
        this.#output.err(`modules are loaded one by one, which takes longer: ${fault}\n`);
      this.#fault = fault;
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#bundler?.dispose();
    this.#bundler = undefined;
  }
}

function remove(bundle: Bundle | undefined): void {
  if (bundle !== undefined) rmSync(bundle.folder, { recursive: true, force: true });
}

/** Modules, with the files of a bundle for those that it has. */
function inBundle(modules: Modules, bundle: Bundle | undefined): Modules {
  const { registries, options } = modules;
  const bundled = (module: Modules['registries'][number]): Modules['registries'][number] => ({
    ...module,
    path: bundle?.files[module.path] ?? module.path,
  });
  return {
    ...modules,
    registries: registries.map(bundled),
    ...(options === undefined ? {} : { options: bundled(options) }),
  };
}
