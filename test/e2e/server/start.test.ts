import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client as StatelessClient } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StdioServerTransport as StatelessStdio } from '@modelcontextprotocol/server/stdio';
import { beforeAll, describe, expect, test } from 'vitest';
import { writeTools } from '../../../scripts/bench/wire/start/registry.js';
import { builtPackage } from '../../built-package.js';

const PROGRAM = fileURLToPath(new URL('../../../scripts/bench/wire/start/stepwright.mjs', import.meta.url));

const dataUrl = (program: string): string => `data:text/javascript,${encodeURIComponent(program)}`;

/** Writes the address of each module to stderr before it is loaded. */
const HOOKS = dataUrl(`
import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(2, 'loads ' + url + '\\n');
  return next(url, context);
}`);
/** The hooks do not see what a CommonJS module, or one made with `createRequire`, loads. */
const RECORDER = dataUrl(`
import { writeSync } from 'node:fs';
import Module, { register } from 'node:module';
const { load } = Module.prototype;
Module.prototype.load = function (file) {
  writeSync(2, 'loads file://' + file + '\\n');
  return load.call(this, file);
};
register(${JSON.stringify(HOOKS)});`);

/** The addresses of the modules that a server over stdio has loaded when it has listed its tools. */
async function modulesOfServer({ hasStore = false, isStateless = false } = {}): Promise<readonly string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-start-'));
  const store = hasStore ? [`sqlite:${path.join(folder, 'runs.db')}`] : [];
  const file = path.join(folder, 'tools.json');
  writeTools(file, 3);
  const args = ['--import', RECORDER, PROGRAM, file, pathToFileURL(builtPackage()).href, ...store];
  const server = spawn(process.execPath, args, { stdio: 'pipe' });
  let stderr = '';
  server.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise((resolve) => server.once('close', resolve));
  const info = { name: 'test', version: '1.0.0' };
  // Both ends of stdio read and write lines.
  const ends = [server.stdout as Readable, server.stdin as Writable] as const;
  const versionNegotiation = { mode: { pin: '2026-07-28' } };
  const client = isStateless ? new StatelessClient(info, { versionNegotiation }) : new Client(info);
  if (client instanceof Client) await client.connect(new StdioServerTransport(...ends));
  else await client.connect(new StatelessStdio(...ends));
  const { tools } = await client.listTools();
  server.kill('SIGKILL');
  await ended;
  await client.close();
  rmSync(folder, { recursive: true });
  expect(tools).toHaveLength(3);
  return stderr.split('\n').flatMap((line) => (line.startsWith('loads ') ? [line.slice(6)] : []));
}

/** The files of the package among modules, by their paths in `dist`. */
function ownOf(modules: readonly string[]): readonly string[] {
  const dist = pathToFileURL(`${builtPackage()}/dist/`).href;
  return modules.flatMap((url) => (url.startsWith(dist) ? [url.slice(dist.length)] : []));
}

/** What the files of the package among modules are made of. */
function sourcesOf(modules: readonly string[]): readonly string[] {
  const list = readFileSync(path.join(builtPackage(), 'dist/sources.json'), 'utf8');
  const sources = JSON.parse(list) as Readonly<Record<string, readonly string[]>>;
  return ownOf(modules).flatMap((file) => sources[file] ?? []);
}

describe('a server of the built package, up to its first list', () => {
  let modules: readonly string[] = [];
  let stateless: readonly string[] = [];
  beforeAll(async () => {
    [modules, stateless] = await Promise.all([modulesOfServer(), modulesOfServer({ isStateless: true })]);
  }, 60_000);

  test('loads few files of its own', () => {
    const common = [
      ...['authoring', 'builder', 'graph', 'rolldown-runtime', 'server', 'tools'].map(
        (name) => `chunks/${name}.js`,
      ),
      ...['index.js', 'runtime/index.js'],
    ];
    const [others, othersOfStateless] = [modules, stateless].map((each) =>
      ownOf(each).filter((file) => !common.includes(file)),
    );
    expect(ownOf(modules)).toEqual(expect.arrayContaining(common));
    // The adapter of the era.
    expect(sourcesOf(modules)).toContain('src/runtime/protocol/sdk1/connection.ts');
    expect(sourcesOf(stateless)).toContain('src/runtime/protocol/sdk2/stateless.ts');
    expect([others?.length, othersOfStateless?.length]).toEqual([3, 2]);
  });

  test.each([
    ['2025-11-25', () => modules],
    ['2026-07-28', () => stateless],
  ])('loads no code of codegen, the builder, the command line and the pictures for %s', (_era, loaded) => {
    const sources = sourcesOf(loaded());
    expect(sources).toContain('src/runtime/server/server.ts');
    // Descriptions of workflows name shapes of values, results have the texts for agents, and the server reports the errors of
    // the builder.
    const unwanted =
      /^src\/(codegen|cli|testing)\/|^src\/print\/(?!shapes|flow|failure-policy|expression|agent-texts)|\/builder\/(builders|lower|sources)\.ts$/;
    expect(sources.filter((source) => unwanted.test(source))).toEqual([]);
    // What runs workflows is loaded with the first run; results read what an action asks for.
    const running =
      /^src\/runtime\/(engine\/(?!rows|actions)|trace\/|runs\/(run\/(?!owner)|store\/sqlite\/|stored-run|idle-runs|[^/]*-store\.ts)|server\/requests\/prompt-run\.ts)/;
    expect(sources.filter((source) => running.test(source)).sort()).toEqual([
      'src/runtime/runs/journal-run-store.ts',
      'src/runtime/runs/run-store.ts',
    ]);
  });

  test('does not load Temporal, with a store in a file either', async () => {
    const withStore = await modulesOfServer({ hasStore: true });
    expect(withStore.filter((url) => /sqlite/i.test(url))).not.toEqual([]);
    expect([...modules, ...withStore].filter((url) => /temporal/i.test(url))).toEqual([]);
    expect(sourcesOf(withStore).filter((source) => source.startsWith('src/temporal/'))).toEqual([]);
  }, 60_000);

  test('loads no compiler of schemas and patterns', () => {
    expect(modules.filter((url) => /\/node_modules\/(ajv|ajv-formats)\/|\/re2js\.cjs$/.test(url))).toEqual(
      [],
    );
  });

  test('loads no compiler, no later version of the protocol, and no HTTP', () => {
    expect(modules.filter((url) => url.includes('/@modelcontextprotocol/sdk/'))).not.toEqual([]);
    const unwanted =
      /\/node_modules\/(typescript|ts-morph|@ts-morph|ts-node|tinyglobby|hono|@hono|@modelcontextprotocol\/server)\/|StreamableHttp|^node:http/;
    expect(modules.filter((url) => unwanted.test(url))).toEqual([]);
    expect(stateless.filter((url) => url.includes('/@modelcontextprotocol/sdk/'))).toEqual([]);
  });
});
