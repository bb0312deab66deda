import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Why no PostgreSQL can be started here. */
export function postgresObstacle() {
  for (const program of ['initdb', 'postgres']) {
    if (spawnSync(program, ['--version']).status !== 0) return `'${program}' of PostgreSQL is not in PATH`;
  }
  if (isRoot() && spawnSync('id', ['postgres']).status !== 0) {
    return "PostgreSQL does not run as root, and there is no user 'postgres'";
  }
  return undefined;
}

/** Starts a PostgreSQL with its default settings, in a new folder and without a port. */
export async function startPostgres() {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-postgres-'));
  const user = owner();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const options = { ...user, cwd: folder };
  execFileSync('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale'], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const server = spawn('postgres', ['-D', data, '-k', folder, '-c', 'listen_addresses='], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  process.once('exit', () => server.kill('SIGINT'));
  const ended = new Promise((resolve) => {
    server.once('exit', resolve);
  });
  await ready(server.stderr);
  return {
    url: `postgresql://postgres@localhost/bench?host=${encodeURIComponent(folder)}`,
    async stop() {
      // A fast shutdown.
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Resolves when a server says that it accepts connections. */
async function ready(stderr) {
  const lines = [];
  const reader = createInterface({ input: stderr });
  return new Promise((resolve, reject) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (line.includes('ready to accept connections')) resolve();
    });
    reader.once('close', () => reject(new Error(`PostgreSQL has not started:\n${lines.join('\n')}`)));
  });
}

/** The user that runs it: PostgreSQL refuses root. */
function owner() {
  if (!isRoot()) return undefined;
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' })),
  );
  return { uid, gid };
}

function isRoot() {
  return process.getuid?.() === 0;
}
