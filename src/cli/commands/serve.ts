import path from 'node:path';
import { objectIn } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import { sdk1 } from '../../runtime/protocol/sdk1/adapter.js';
import { STORE_FORMS, sourceOf } from '../../runtime/runs/operate/run-stores.js';
import type { ServerSettings } from '../../runtime/server/options.js';
import { trustRegistry } from '../../runtime/server/verify-sources.js';
import type { UntypedFactories } from '../../runtime/tools/instances.js';
import { type RunningHttpServer, serveOverHttp } from '../../runtime/transports/http/serve-http.js';
import { untypedServer } from '../../runtime/transports/start-server.js';
import { type RunningServer, serveStdio } from '../../runtime/transports/stdio/stdio-transport.js';
import { Misuse, type Output, optionCommand, type Parsed, REGISTRY_HELP, texts } from '../command-line.js';
import {
  COMPILED,
  type Modules,
  type OpenRegistry,
  REGISTRY_OPTIONS,
  withRegistries,
} from '../registries.js';

const OPTIONS = {
  ...REGISTRY_OPTIONS,
  stdio: { type: 'boolean' },
  http: { type: 'boolean' },
  port: { type: 'string' },
  store: { type: 'string' },
  'no-workflows': { type: 'boolean' },
  'question-pages': { type: 'boolean' },
} as const;

/** So many files or globs may be named. */
const MOST_FILES = 1_000;

/** `stepwright serve`: serves a registry until its client hangs up or the process receives a signal to stop. */
export const serveCommand = optionCommand(
  'stepwright serve',
  `Usage: stepwright serve [FILE…] [options]

Serves a registry over stdio, or over HTTP at http://127.0.0.1:PORT/mcp. FILE is a spec file (YAML, JSON or XML), or a
glob of such files in quotes. Files are read again when they change. Files alone need no registry: without a
configuration the server has no tools of its own, and agents do the work of its workflows.

Options:
  --stdio          over stdio (default)
  --http           over HTTP
  --port N         where to listen over HTTP (default: 3000)
  --store STORE    where runs are kept: memory, sqlite:PATH, or temporal://HOST:PORT/NAMESPACE?taskQueue=QUEUE
                   (default: STEPWRIGHT_STORE of the environment, else memory)
  --no-workflows   tools without workflows
  --question-pages  a page over HTTP for each question of a workflow
${REGISTRY_HELP}`,
  OPTIONS,
  MOST_FILES,
  (parsed, output) => serveProject(parsed, output),
);

/** What `stepwright serve` is called with. */
export type ServeRequest = Parsed<typeof OPTIONS>;

/** Follows a server from its registry to its clients. */
interface ServeObserver {
  /** The modules of the project. Codegen has just written the registry among them, if it is TypeScript. */
  readonly modules: Modules;
  /** The registry is loaded. The server listens when it resolves. */
  loaded(): Promise<void>;
  serving(server: RunningServer | RunningHttpServer, project: ServedProject): void;
}

interface ServedProject extends OpenRegistry {
  /** With the store. */
  readonly options: ServerSettings & UntypedFactories;
}

/** Serves a project until its server is closed; see {@link serveCommand}. */
export async function serveProject(
  parsed: ServeRequest,
  output: Output,
  observer?: ServeObserver,
): Promise<number> {
  const {
    stdio,
    http = false,
    port,
    'no-workflows': off = false,
    'question-pages': pages,
    ...choice
  } = parsed.values;
  if (stdio && http) throw new Misuse('stepwright: `stepwright serve` takes `--stdio` or `--http`, not both');
  if (port !== undefined && !http) throw new Misuse('stepwright: `--port` is for `stepwright serve --http`');
  if (pages && !http) throw new Misuse('stepwright: `--question-pages` is for `stepwright serve --http`');
  checkPort(port);
  const store = storeIn(parsed.values.store ?? process.env.STEPWRIGHT_STORE);
  const hasFiles = parsed.args.length > 0;
  return withRegistries(
    'serve',
    { ...choice, hasFiles, specs: 'read', ...defined({ modules: observer?.modules }) },
    output,
    async ({ registries, options: fileOptions, specs = [] }) => {
      const [{ file, registry }, ...others] = registries;
      if (others.length > 0) throw new Misuse(texts.chooseRegistry(registries.map((each) => each.file)));
      const options = {
        ...projectInfo(choice.root ?? '.'),
        ...fileOptions,
        ...defined({ store }),
        ...(off ? { offerWorkflows: false } : {}),
        ...(pages ? { questions: { ...fileOptions.questions, page: true } } : {}),
        ...specsOf(fileOptions, [...specs, ...parsed.args], choice.root),
      };
      if (observer !== undefined && !COMPILED.test(file)) trustRegistry(registry);
      // Faults are thrown with the repair for this command.
      const server = untypedServer(registry, options);
      await observer?.loaded();
      const listen = port === undefined ? {} : { port: Number(port) };
      const running = http
        ? await serveOverHttp(sdk1, server, { ...options, ...listen })
        : await serveStdio(sdk1, server, options);
      observer?.serving(running, { file, registry, options });
      await running.closed;
      return 0;
    },
  );
}

/** Name and version of the project's package, which are those of its server unless the options say otherwise. */
export function projectInfo(root: string): Pick<ServerSettings, 'name' | 'version'> {
  const { name, version } = objectIn(path.join(root, 'package.json')) ?? {};
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof version === 'string' ? { version } : {}),
  };
}

/** The spec files of the options, of a configuration without TypeScript, and of the command line. */
function specsOf(
  { specs }: ServerSettings,
  files: readonly string[],
  root: string | undefined,
): Pick<ServerSettings, 'specs'> {
  if (files.length === 0) return {};
  return {
    specs: {
      ...specs,
      files: [...(specs?.files ?? []), ...files],
      ...(root === undefined || specs?.root !== undefined ? {} : { root }),
    },
  };
}

export function storeIn(text: string | undefined): ServerSettings['store'] {
  if (text === undefined || text === 'memory') return text;
  if (sourceOf(text) !== undefined) return text as ServerSettings['store'];
  throw new Misuse(`stepwright: --store is 'memory', ${STORE_FORMS}, not '${text}'`);
}

/** @throws Misuse for a text that is not a port. */
export function checkPort(port: string | undefined): void {
  if (port === undefined || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) return;
  throw new Misuse(`stepwright: \`--port\` takes a whole number from 0 to 65535, not \`${port}\``);
}
