import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ProjectRun } from '../../codegen/codegen.js';
import { programFile } from '../../formats/own-files.js';
import { defined } from '../../graph/defined.js';
import type { Output } from '../command-line.js';
import { modulesOf } from '../registries.js';
import type { DevCommand, DevProject, DevReport } from './dev-server.js';
import type { StdioSession } from './dev-stdio.js';
import type { ServeRequest } from './serve.js';

/** A process with a server, or one that waits for a project to load. */
interface DevServer {
  readonly process: ChildProcess;
  /** Resolves when it has loaded the product, or has ended. */
  readonly ready: Promise<unknown>;
  /** The project that it has prepared for. */
  project?: DevProject;
  /** Resolves with the next report; with `undefined` when the process ends. */
  next(): Promise<DevReport | undefined>;
  /** @param onSent - is called when the process has it. */
  say(command: DevCommand, onSent?: () => void): void;
}

/** A run of codegen to serve. */
interface DevChange {
  readonly run: ProjectRun;
  /** The states of the files that it has read; see `States`. */
  readonly states: ReadonlyMap<string, string>;
  /** How long it took. */
  readonly milliseconds: number;
}

/** After so many ms a change is tried again whose files have changed meanwhile. A later run replaces it before. */
const RETRY_MS = 100;

/** What a run leaves for later waits so long at most, in ms, while it is handed to a server. */
const HAND_OVER_MS = 50;

/** The server, and the process of the next one, which has loaded all but the project. */
export class DevServers {
  readonly #request: ServeRequest;
  readonly #output: Output;
  /** The session of the client over stdio; missing over HTTP. */
  readonly #session: StdioSession | undefined;
  /** Has a folder of bundles for each process. Absolute. */
  readonly #folder: string;
  #current: DevServer | undefined;
  #spare: DevServer;
  #isStopped = false;
  /** The change to serve next, with the time that codegen has taken. */
  #pending: DevChange | undefined;
  /** The end of the last process that could not load the project. */
  #failed: Promise<void> | undefined;
  #isReplacing = false;
  #onHandOver = (): void => {};
  /** Why modules are loaded one by one, as it was last reported. */
  #reason: string | undefined;
  /** The page of runs keeps its address. Its module is for the server's process alone. */
  #studio = { token: randomBytes(24).toString('base64url'), port: 0 };

  constructor(request: ServeRequest, output: Output, session?: StdioSession) {
    this.#request = request;
    this.#session = session;
    this.#output = output;
    const parent = path.join(realpathSync(request.values.root ?? '.'), '.stepwright');
    mkdirSync(parent, { recursive: true });
    this.#folder = mkdtempSync(path.join(parent, 'dev-'));
    this.#spare = this.#fork();
  }

  /** Sources have changed, and their registry is compiled now. */
  expect(): void {
    this.#spare.say({ kind: 'bundle' });
  }

  /**
   * Serves the project as it is now. Of changes that arrive meanwhile, the last one counts. Resolves when a server has it,
   * or soon.
   */
  async replace(change: DevChange): Promise<void> {
    this.#pending = change;
    if (this.#isReplacing) return;
    const handedOver = new Promise<void>((resolve) => {
      this.#onHandOver = resolve;
    });
    void this.#replaceAll();
    await Promise.race([handedOver, delay(HAND_OVER_MS)]);
  }

  /** What is served while a change cannot be, in words. */
  get fallback(): string {
    return this.#current === undefined ? 'no server runs' : 'the last good server stays';
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#session?.detach();
    await Promise.all([endServer(this.#current), endServer(this.#spare), this.#failed]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #replaceAll(): Promise<void> {
    this.#isReplacing = true;
    while (this.#pending !== undefined && !this.#isStopped) {
      // Changes that arrive while a process starts are served together.
      await this.#spare.ready;
      const change = this.#pending;
      this.#pending = undefined;
      if (await this.#replace(change)) continue;
      await delay(RETRY_MS);
      this.#pending ??= change;
    }
    this.#isReplacing = false;
  }

  /** @returns whether it was served, or cannot be. */
  async #replace({ run: { plan, parts }, states, milliseconds }: DevChange): Promise<boolean> {
    const start = performance.now();
    const root = realpathSync(this.#request.values.root ?? '.');
    const choice = { ...this.#request.values, ...defined({ plan }) };
    const modules = await modulesOf('dev', root, choice, this.#output);
    if (typeof modules === 'number') return true;
    const [registry, ...others] = modules.registries;
    const ofRegistry = registry && others.length === 0 ? parts.get(registry.file)?.() : undefined;
    const project = { request: this.#request, modules, ...defined({ parts: ofRegistry }) };
    const server = await this.#spareFor(project);
    const load = { kind: 'load', project, states: sourcesIn(states), studio: this.#studio } as const;
    server.say(load, () => this.#onHandOver());
    const outcome = await server.next();
    if (outcome?.kind === 'outdated') return false;
    if (!this.#reported(outcome)) {
      this.#failed = endServer(server);
      this.#forkNext(project);
      return true;
    }
    const isFirst = this.#current === undefined;
    await this.#session?.detach();
    await endServer(this.#current);
    this.#current = server;
    server.say({ kind: 'listen' });
    const report = await server.next();
    if (report?.kind !== 'serving') {
      await endServer(server);
      this.#current = undefined;
    }
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
    this.#forkNext(project);
    return true;
  }

  /** A process that starts after `stop` would keep this one alive. */
  #forkNext(project: DevProject): void {
    if (!this.#isStopped) this.#spare = this.#fork(project);
  }

  /** The page keeps its address, unless another program has taken it. */
  #showStudio(url: string): void {
    const port = Number(new URL(url).port);
    if (port !== this.#studio.port) this.#output.out(`studio at ${url}\n`);
    this.#studio = { ...this.#studio, port };
  }

  #showReason(reason: string): void {
    if (reason !== this.#reason)
      this.#output.err(`modules are loaded one by one, which takes longer: ${reason}\n`);
    this.#reason = reason;
  }

  #reported(report: DevReport | undefined): boolean {
    if (report?.kind === 'failed') {
      this.#output.err(`${report.text}${this.fallback}; the next change of a source tries again\n`);
    }
    return report !== undefined && report.kind !== 'failed';
  }

  /** The spare process; another one where it loads TypeScript as the project did before: a process has one set of hooks. */
  async #spareFor(project: DevProject): Promise<DevServer> {
    const loader = this.#spare.project?.modules.loader;
    if (loader !== undefined && !isDeepStrictEqual(loader, project.modules.loader)) {
      await endServer(this.#spare);
      this.#spare = this.#fork(project);
      await this.#spare.ready;
    }
    return this.#spare;
  }

  /** Starts a process, which prepares for a project like this one. */
  #fork(project?: DevProject): DevServer {
    const args = [this.#request.values.store ?? '', this.#folder];
    const child = fork(programFile('cli/commands/dev-server'), args, {
      // A registry is a long text.
      serialization: 'advanced',
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
      else if (report.kind === 'unbundled') this.#showReason(report.reason);
      else take(report);
    });
    child.once('disconnect', () => take(undefined));
    const next = async (): Promise<DevReport | undefined> => {
      while (reports.length === 0 && child.connected)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return reports.shift();
    };
    const say = (command: DevCommand, onSent?: () => void): void =>
      void (child.connected && child.send(command, onSent));
    if (project !== undefined) say({ kind: 'prepare', project });
    return { process: child, ready: next(), next, say, ...defined({ project }) };
  }
}

/** The states of files that modules may be made of, without those of packages. */
function sourcesIn(states: DevChange['states']): DevChange['states'] {
  const isSource = (file: string, state: string): boolean =>
    state.startsWith('file ') && !file.split(path.sep).includes('node_modules');
  return new Map([...states].filter(([file, state]) => isSource(file, state)));
}

/** How long a process may take to end, in ms, before it is killed: its runs are in the store. */
const KILL_AFTER_MS = 5_000;

/**
 * Asks a process to end. Resolves when its addresses are free and its runs are in the store. A process that has not ended
 * after `killAfterMs` is killed, since it keeps this one alive.
 */
export async function endServer(
  server: Pick<DevServer, 'process' | 'say'> | undefined,
  killAfterMs = KILL_AFTER_MS,
): Promise<void> {
  if (server === undefined) return;
  const { process: child } = server;
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.once('exit', () => clearTimeout(timer));
  // A process that has lost its connection ends by itself.
  if (!child.connected) return;
  const ended = new Promise((resolve) => child.once('disconnect', resolve));
  server.say({ kind: 'stop' });
  await ended;
}
