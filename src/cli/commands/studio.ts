import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import path from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { defined } from '../../graph/defined.js';
import type { StoreOperator } from '../../runtime/runs/operate/store-operator.js';
import { withRoles } from '../../runtime/runs/run/owner.js';
import { StoreError } from '../../runtime/runs/store/store-error.js';
import { definitionsOf } from '../../runtime/server/definitions.js';
import type { StepwrightServer } from '../../runtime/server/stepwright-server.js';
import { encodedLog } from '../../runtime/tools/log.js';
import { LOCAL_HOSTS, urlHost } from '../../runtime/transports/http/host-validation.js';
import { untypedServer } from '../../runtime/transports/start-server.js';
import { bearerAccess, localAccess, type StudioAccess } from '../../studio/access.js';
import { type StudioOptions, studioOf } from '../../studio/studio.js';
import type { StudioProject } from '../../studio/workflows.js';
import { Misuse, type Output, optionCommand, REGISTRY_HELP } from '../command-line.js';
import {
  namesRegistry,
  type OpenRegistries,
  type OpenRegistry,
  REGISTRY_OPTIONS,
  withRegistries,
} from '../registries.js';
import { gateOutcome, gateSentence } from './runs/migrate.js';
import { operatorOf, withStore } from './runs/store-command.js';
import { checkPort, projectInfo, storeIn } from './serve.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  store: { type: 'string' },
  port: { type: 'string' },
  host: { type: 'string' },
} as const;

/** `stepwright studio`: serves a page that shows the workflows of a project and the runs of a store. */
export const studioCommand = optionCommand(
  'stepwright studio',
  `Usage: stepwright studio [options]

Serves a page that shows the runs of a store while they run: answer their questions, retry and cancel them there. In the
folder of a project it also shows workflows, what a change does to open runs, tries workflows on stubs, and starts runs:
with the first start this process serves the store, as \`stepwright serve\` does. The page is for this machine alone, and
the address that is printed has a secret, which opens it. Secrets of runs are masked.

Options:
  --store STORE    the store, as \`stepwright serve\` takes it: sqlite:PATH or
                   temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE
                   (default: STEPWRIGHT_STORE of the environment, else that of the options, else that of \`stepwright dev\`)
  --port N         where to listen (default: 3100)
  --host HOST      the address to listen at (default: 127.0.0.1). With \`auth\` in the options of the server, the page
                   opens with a token of a caller that has the role \`operator\`; other machines need it
${REGISTRY_HELP}`,
  OPTIONS,
  0,
  async ({ values }, output) => {
    const { port = '3100', host, store = process.env.STEPWRIGHT_STORE, ...choice } = values;
    checkPort(port);
    const address = {
      token: randomBytes(24).toString('base64url'),
      port: Number(port),
      ...defined({ host }),
    };
    if (!namesRegistry(choice)) {
      if (store !== undefined)
        return withStore(store, 'stepwright studio', async (operator) => {
          // Without a project this process starts no server, which would create the file.
          await operator.read(() => {});
          return untilSignal(await listen({ store, options: {} }, address), output);
        });
      throw new Misuse(
        'stepwright: `stepwright studio` needs `--store STORE`, which a server uses, or the folder of a project: go there, or add `--root DIR`',
      );
    }
    const root = choice.root ?? '.';
    return withRegistries('studio', choice, output, async ({ registries, options }) => {
      const ofOptions =
        typeof options.store === 'string' && options.store !== 'memory' ? options.store : undefined;
      const named = storeIn(store ?? ofOptions ?? devStore(root)) as `sqlite:${string}`;
      const settings = { ...projectInfo(root), ...options, store: named };
      const servers: StepwrightServer[] = [];
      const projects = registries.map((each) => projectOf({ ...each, options: settings }, servers));
      const code = await withStore(named, 'stepwright studio', async (operator) => {
        if (await isMissing(operator))
          output.out(`the store '${operator.path}' does not exist yet: the first run creates it\n`);
        return untilSignal(await listen({ store: named, projects, options }, address), output);
      });
      for (const server of servers) await server.stop();
      return code;
    });
  },
);

/** The store of `stepwright dev`. @throws Misuse where it has not run. */
function devStore(root: string): `sqlite:${string}` {
  const file = path.resolve(root, '.stepwright/runs.db');
  if (existsSync(file)) return `sqlite:${file}`;
  throw new Misuse(
    'stepwright: `stepwright studio` needs `--store STORE`: the options of the server have no store, and `stepwright dev`, which makes one in `.stepwright`, has not run here',
  );
}

/** Whether the file of a store does not exist. @throws StoreError for a store that cannot be read. */
async function isMissing(store: StoreOperator): Promise<boolean> {
  try {
    await store.read(() => {});
    return false;
  } catch (error) {
    if (error instanceof StoreError && error.problem === 'missing') return true;
    throw error;
  }
}

/** A registry with the options of its server. */
interface StudioRegistry extends OpenRegistry, Pick<OpenRegistries, 'options'> {}

/** @param servers gets the server that starts runs, when there is one. */
function projectOf({ file, registry, options }: StudioRegistry, servers: StepwrightServer[]): StudioProject {
  let opened: Promise<StepwrightServer> | undefined;
  const open = async (): Promise<StepwrightServer> => {
    const server = untypedServer(registry, options);
    // Servers of the store authenticate their callers: its runs may have questions for roles.
    if (options.auth !== undefined) server.authenticates();
    await server.start();
    servers.push(server);
    return server;
  };
  return {
    ...{ file, definitions: definitionsOf(registry, options) },
    server() {
      opened ??= open();
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    },
  };
}

/** Where a page listens, and its secret. */
export interface StudioAddress {
  readonly token: string;
  /** 0 chooses a free one. */
  readonly port: number;
  /** With it, the page opens with tokens of the server, if this has any. Default: 127.0.0.1. */
  readonly host?: string;
}

/** A page that is served. */
interface RunningStudio {
  /** With the secret that opens it. */
  readonly url: URL;
  close(): Promise<void>;
}

/** Serves the page of a server that runs in this process. Where its port is in use, it takes a free one. */
export async function serveStudio(
  {
    file,
    registry,
    options,
    store,
    server,
  }: StudioRegistry & { store: string } & Required<Pick<StudioProject, 'server'>>,
  address: StudioAddress,
): Promise<RunningStudio> {
  const projects = [{ file, definitions: definitionsOf(registry, options), server }];
  return listen({ store, projects, options }, address).catch(() =>
    listen({ store, projects, options }, { ...address, port: 0 }),
  );
}

interface ServedStudio extends Pick<StudioOptions, 'projects'> {
  readonly store: string;
  /** Those of the server. */
  readonly options: OpenRegistries['options'];
}

/** Serves a page. @throws Misuse for an address that other machines reach without authentication. */
export async function listen(
  { store, projects = [], options }: ServedStudio,
  address: StudioAddress,
): Promise<RunningStudio> {
  const { port, host = LOOPBACK, token } = address;
  const access = accessOf(options, address);
  const operator = await operatorOf(store);
  const definitions = projects.map((project) => project.definitions);
  const studio = studioOf({
    ...{ store: operator, access, projects },
    ...(address.host !== undefined && { allowedHosts: hostsOf(options, address.host) }),
    fateOf: async (reader, run) =>
      gateSentence(await gateOutcome({ store: operator, reader, definitions }, run)),
  });
  const http = createServer(getRequestListener(studio, { overrideGlobalObjects: false }));
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const text = `stepwright: port ${port} of ${host} is in use: stop the other program, or choose another one with \`--port\``;
      reject(error.code === 'EADDRINUSE' ? new Misuse(text) : error);
    });
    http.listen(port, host, resolve);
  });
  const { port: actual } = http.address() as AddressInfo;
  return {
    url: new URL(`http://${urlHost(host)}:${actual}/runs${access.isPrinted ? `?token=${token}` : ''}`),
    async close() {
      await studio.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

const LOOPBACK = '127.0.0.1';

/** Who opens a page: the user of this machine, or callers of the server. */
function accessOf(options: ServedStudio['options'], { token, host }: StudioAddress): StudioAccess {
  const { auth, localRoles = [], log, logLevel } = options;
  if (host !== undefined && auth !== undefined) return bearerAccess(auth, options, encodedLog(log, logLevel));
  if (host !== undefined && !LOCAL_HOSTS.includes(urlHost(host)))
    throw new Misuse(
      `stepwright: \`--host ${host}\` needs \`auth\` in the options of the server: other machines reach the page, which shows and moves the runs of all callers. Name the options with \`--options FILE\`, or listen at ${LOOPBACK}`,
    );
  const owner = withRoles({ kind: 'local' }, [], localRoles);
  return localAccess(token, { owner: { ...owner, person: true }, name: userInfo().username });
}

/** The names that a page is requested by: those of the server, or the address that it listens at. */
function hostsOf({ allowedHosts }: ServedStudio['options'], host: string): readonly string[] {
  return allowedHosts ?? [...LOCAL_HOSTS, urlHost(host)];
}

/** Serves until the process is asked to end. */
async function untilSignal(studio: RunningStudio, output: Output): Promise<number> {
  output.out(`studio at ${studio.url.href}\n`);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await studio.close();
  return 0;
}
