import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import type { WatchedRun } from '../../codegen/watch.js';
import { defined } from '../../graph/defined.js';
import { hasErrors } from '../../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { changedFiles, folderAt, Misuse, type Output, optionCommand } from '../command-line.js';
import { isWithoutCompilers, needTypeScript } from '../registries.js';
import { DevServers } from './dev-servers.js';
import { StdioSession } from './dev-stdio.js';
import { checkPort, storeIn } from './serve.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  registry: { type: 'string' },
  options: { type: 'string' },
  stdio: { type: 'boolean' },
  http: { type: 'boolean' },
  port: { type: 'string' },
  store: { type: 'string' },
  'no-types': { type: 'boolean' },
} as const;

/** An editor writes a file at once. A change of many files may cause a second run. */
const DEBOUNCE_MS = 10;

/** `stepwright dev`: serves a project, and serves it again after each change. */
export const devCommand = optionCommand(
  'stepwright dev',
  `Usage: stepwright dev [options]

Checks the project, writes its registries and serves it, and does so again after each change: over HTTP at
http://127.0.0.1:PORT/mcp, or over stdio to a host that starts it. With an error the last good server stays. Types are
checked beside it, if the project has TypeScript.

Options:
  --http           over HTTP (default)
  --stdio          over stdio: a change keeps the session of the client; what is reported goes to stderr
  --port N         where to listen over HTTP (default: 3000)
  --store STORE    where runs are kept: a restart continues them (default: sqlite:.stepwright/runs.db)
  --no-types       do not check types
  --registry FILE  the registry of the configuration to serve, where it has several
  --options FILE   a module that exports the options of the server by default
                   (default: \`server\` of the configuration)
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`,
  OPTIONS,
  0,
  async ({ values }, terminal) => {
    const {
      root = '.',
      config,
      stdio = false,
      http = false,
      port,
      'no-types': skipsTypes = false,
      ...choice
    } = values;
    if (stdio && http) throw new Misuse('stepwright: `stepwright dev` takes `--stdio` or `--http`, not both');
    if (stdio && port !== undefined) throw new Misuse('stepwright: `--port` is for `stepwright dev --http`');
    // Of a server over stdio, stdout is the connection.
    const output: Output = stdio ? { ...terminal, out: terminal.err } : terminal;
    folderAt(root);
    checkPort(port);
    storeIn(values.store);
    await needTypeScript('stepwright dev', { root, ...defined({ configFile: config }) });
    if (isWithoutCompilers('dev', output)) return 1;
    const { watchProject } = await import('../../codegen/watch.js');
    const store = values.store ?? defaultStore(root);
    const request = {
      args: [],
      values: {
        ...choice,
        root,
        ...(stdio ? { stdio } : { http: true, port: port ?? '3000' }),
        store,
        ...defined({ config }),
      },
    };
    const session = stdio
      ? new StdioSession(process.stdin, process.stdout, (line) => output.err(`${line}\n`))
      : undefined;
    const servers = new DevServers(request, output, session);
    const isGood = faultReport(output, servers);
    const types = skipsTypes ? undefined : checkTypes(root, output);
    return new Promise<number>((resolve) => {
      const watcher = watchProject({
        root,
        ...defined({ configFile: config }),
        debounceMs: DEBOUNCE_MS,
        onStart: () => servers.expect(),
        onRun: async (change) => {
          const { result: run, ...rest } = change;
          if (isGood(change) && run !== undefined) await servers.replace({ run, ...rest });
        },
        onError: ({ message }) => output.err(`stepwright: cannot watch the files: ${message}\n`),
      });
      const stop = async (): Promise<void> => {
        types?.kill();
        await Promise.all([watcher.close(), servers.stop()]);
        resolve(0);
      };
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
      if (stdio) process.stdin.once('end', () => void stop());
    });
  },
);

/** A store in the project. Its folder is made. */
function defaultStore(root: string): string {
  const folder = path.resolve(root, '.stepwright');
  mkdirSync(folder, { recursive: true });
  return `sqlite:${path.join(folder, 'runs.db')}`;
}

/**
 * Prints the faults of each run of codegen, and tells whether its registries can be served. Faults that a change leaves as
 * they were are not repeated.
 */
function faultReport(output: Output, servers: Pick<DevServers, 'fallback'>): (run: WatchedRun) => boolean {
  let printed = '';
  return ({ changes, result, error, milliseconds }) => {
    const diagnostics = result?.diagnostics ?? [];
    const text =
      result === undefined
        ? `stepwright failed: ${error?.message ?? ''}\n`
        : formatDiagnostics(diagnostics, result.readSource, { color: output.color });
    const isBroken = result === undefined || hasErrors(diagnostics);
    if (text !== printed && (diagnostics.length > 0 || isBroken)) output.err(text);
    printed = text;
    const outcome = isBroken ? `errors; ${servers.fallback}` : 'checked';
    output.out(`${changedFiles(changes)}: ${outcome} (${milliseconds.toFixed(0)} ms)\n`);
    return !isBroken;
  };
}

/** Starts the compiler of the project, if it has one, in its watch mode. It leaves the processor to the server. */
function checkTypes(root: string, output: Output): ChildProcess | undefined {
  const require = createRequire(path.resolve(root, 'package.json'));
  let compiler: string;
  try {
    compiler = path.join(path.dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return undefined;
  }
  if (!existsSync(path.resolve(root, 'tsconfig.json'))) return undefined;
  const args = [compiler, '--noEmit', '--watch', '--preserveWatchOutput'];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.pid !== undefined) os.setPriority(child.pid, os.constants.priority.PRIORITY_BELOW_NORMAL);
  child.stdout.on('data', (text) => output.out(`${String(text).replace(/^\s+/, 'types: ')}`));
  return child;
}
