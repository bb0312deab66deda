import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { PlanOptions } from '../../codegen/config.js';
import { packageFile } from '../../formats/own-files.js';
import { foldersAbove } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { counted } from '../../graph/printable-text.js';
import { driverFault, openStore, STORE_FORMS, sourceOf } from '../../runtime/runs/operate/run-stores.js';
import { StoreError } from '../../runtime/runs/store/store-error.js';
import type { UpstreamConfig } from '../../runtime/upstream/config.js';
import { folderAt, Misuse, missingCompilers, type Output, optionCommand } from '../command-line.js';
import { readProject } from '../registries.js';

/** What one check has found. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'error';
  readonly message: string;
  /** What to do; missing without a fault, and where the message has it. */
  readonly repair?: string;
  /** Whether `--fix` has repaired it. */
  readonly isFixed?: true;
}

/** What the checks look at. */
interface Examined {
  /** Absolute. */
  readonly root: string;
  readonly configFile?: string;
  readonly store: string | undefined;
  readonly port: number;
  readonly fix: boolean;
}

/** What is as it has to be. */
function right(check: string, message: string): Finding {
  return { check, state: 'ok', message };
}

function wrong(check: string, message: string, repair?: string, state: Finding['state'] = 'error'): Finding {
  return { check, state, message, ...defined({ repair }) };
}

type Check = (examined: Examined) => readonly Finding[] | Promise<readonly Finding[]>;

/** `stepwright doctor`: checks what a project needs. */
export const doctorCommand = optionCommand(
  'stepwright doctor',
  `Usage: stepwright doctor [options]

Checks what a project needs: Node.js, SQLite, the compilers, TypeScript and its modules, one copy of this package, the
configuration, current registries and snapshots, the settings of hosts, the port and the store. Each fault has its
repair. Fails with any error.

Options:
  --fix            repair what is safe to repair: write registries that are stale
  --json           print one JSON value
  --store STORE    the store of the server (default: STEPWRIGHT_STORE of the environment)
  --port N         the port of the server over HTTP (default: 3000)
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`,
  {
    root: { type: 'string' },
    config: { type: 'string' },
    store: { type: 'string' },
    port: { type: 'string' },
    json: { type: 'boolean' },
    fix: { type: 'boolean' },
  } as const,
  0,
  async ({ values }, output) => {
    const { root = '.', config, port = '3000', json = false, fix = false } = values;
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw new Misuse(`stepwright: \`--port\` takes a whole number from 0 to 65535, not \`${port}\``);
    const store = values.store ?? process.env.STEPWRIGHT_STORE;
    const named = defined({ configFile: config });
    const examined = { root: folderAt(root), ...named, store, port: Number(port), fix };
    const findings: Finding[] = [];
    for (const check of CHECKS) findings.push(...(await check(examined)));
    print(findings, json, output);
    return findings.some(({ state }) => state === 'error') ? 1 : 0;
  },
);

function print(findings: readonly Finding[], json: boolean, { out }: Output): void {
  if (json) {
    out(`${JSON.stringify(findings, null, 2)}\n`);
    return;
  }
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, state, message, repair, isFixed } of findings) {
    out(`${state.padEnd(7)}  ${check.padEnd(width)}  ${message}${isFixed ? ', and was repaired' : ''}\n`);
    if (repair !== undefined && !isFixed) out(`${' '.repeat(width + 11)}= repair: ${repair}\n`);
  }
  const errors = findings.filter(({ state }) => state === 'error').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  out(`\n${counted(errors, 'error')}, ${counted(warnings, 'warning')}\n`);
}

const CHECKS: readonly Check[] = [checkNode, checkSqlite, checkCopies, checkProject, checkHosts, checkPort];

function checkNode(): Finding[] {
  const { engines, version } = ownPackage();
  const [, ...oldest] = /(\d+)\.(\d+)/.exec(engines.node) ?? [];
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest.map(Number);
  const isRecent = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  const message = `Node.js ${process.versions.node}, stepwright ${version}`;
  return [isRecent ? right('node', message) : wrong('node', message, `install Node.js ${engines.node}`)];
}

function ownPackage(): { readonly engines: { readonly node: string }; readonly version: string } {
  return JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
}

/** A store in a file is an error without its driver; without a store it is a warning. */
async function checkSqlite({ root, store }: Examined): Promise<readonly Finding[]> {
  if (store !== undefined && store !== 'memory' && sourceOf(store) === undefined)
    return [wrong('store', `'${store}' does not name a store`, `write 'memory', ${STORE_FORMS}`)];
  const file = store?.startsWith('sqlite:') ? store.slice('sqlite:'.length) : undefined;
  const fault = await driverFault(file ?? 'PATH');
  const driver =
    fault === undefined
      ? right('sqlite', 'runs can be kept in a file')
      : wrong(
          'sqlite',
          fault,
          'npm install @photostructure/sqlite',
          file === undefined ? 'warning' : 'error',
        );
  if (file === undefined) return [driver];
  const folder = path.dirname(path.resolve(root, file));
  const isThere = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isThere)
    return [
      driver,
      wrong('store', `the folder of '${file}' does not exist`, `mkdir -p '${path.dirname(file)}'`),
    ];
  return fault === undefined ? [driver, await storeFinding(`sqlite:${path.resolve(root, file)}`)] : [driver];
}

async function storeFinding(name: string): Promise<Finding> {
  try {
    await (await openStore(name))?.read(() => {});
    return right('store', name);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.problem === 'missing'
      ? right('store', `${name}, which the first run creates`)
      : wrong('store', error.message);
  }
}

/** Classes of one copy are not known to another. */
function checkCopies({ root }: Examined): readonly Finding[] {
  const copies = new Set<string>();
  const look = (folder: string): void => {
    const copy = path.join(folder, 'node_modules/stepwright');
    if (existsSync(path.join(copy, 'package.json'))) copies.add(realpathSync(copy));
  };
  for (const folder of foldersAbove(root)) look(folder);
  const modules = path.join(root, 'node_modules');
  for (const name of namesIn(modules)) {
    const scoped = name.startsWith('@')
      ? namesIn(path.join(modules, name)).map((each) => `${name}/${each}`)
      : [name];
    for (const each of scoped) look(path.join(modules, each));
  }
  if (copies.size < 2) return [right('package', 'one copy of stepwright')];
  const message = `there are ${copies.size} copies of stepwright: ${[...copies].join(', ')}`;
  return [wrong('package', message, 'npm dedupe stepwright')];
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The compilers, the configuration, the sources, and what was written of them. */
async function checkProject({ root, configFile, fix }: Examined): Promise<readonly Finding[]> {
  const { planData, readUpstream } = await import('../../codegen/config.js');
  const { configFileOf } = await import('../../codegen/config-file.js');
  const named = { root, ...defined({ configFile }) };
  const isData = (await planData(named)) !== undefined;
  const missing = isData ? [] : missingCompilers();
  const compilers = right(
    'compilers',
    isData ? 'not needed: the project has no TypeScript' : 'ts-morph and esbuild are installed',
  );
  if (missing.length > 0) {
    const message = `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed, and codegen needs ${missing.length === 1 ? 'it' : 'them'}`;
    return [wrong('compilers', message, 'npm install --save-dev ts-morph@28 esbuild@0')];
  }
  const check = await readProject('doctor', { ...named, check: true }, { out() {}, err() {}, color: false });
  if (typeof check === 'number') return [compilers];
  const stale = check.diagnostics.filter(({ code }) => code === 'SW9001');
  const snapshots = await missingSnapshots(root, readUpstream(named).value?.servers ?? {});
  const others = check.diagnostics.filter(
    ({ code, severity }) => severity === 'error' && code !== 'SW9001' && code !== 'SW9021',
  );
  return [
    compilers,
    ...(isData ? [] : await typeScriptFindings(named)),
    sourcesFinding(others, (configFile ?? configFileOf(root)) !== undefined),
    ...(isData ? [] : [await registryFinding(stale, others.length > 0, named, fix)]),
    ...snapshots,
  ];
}

/** What `tsc` needs to build the project, so that Node.js loads what it writes. */
async function typeScriptFindings(named: PlanOptions): Promise<readonly Finding[]> {
  const { root } = named;
  const check = 'typescript';
  const { planCodegen } = await import('../../codegen/config.js');
  const plan = (await planCodegen(named)).value;
  if (plan === undefined) return [];
  try {
    createRequire(path.join(root, 'package.json')).resolve('typescript');
  } catch {
    const message = '`typescript` is not installed: `tsc` cannot build the project';
    return [wrong(check, message, 'npm install --save-dev typescript', 'warning')];
  }
  if (plan.tsconfig === undefined)
    return [
      wrong(
        check,
        'there is no `tsconfig.json`: `tsc` cannot build the project',
        'npx tsc --init',
        'warning',
      ),
    ];
  const { readCompilerOptions } = await import('../../codegen/source/tsconfig.js');
  const { module: kind, noEmit } = readCompilerOptions(path.resolve(root, plan.tsconfig));
  const { packageType } = await import('../../codegen/schemas/loader/compile.js');
  const type = packageType(path.join(root, 'package.json'));
  if (kind !== COMMON_JS || noEmit === true || type !== 'module')
    return [right(check, `${plan.tsconfig} fits package.json`)];
  const message = `\`${plan.tsconfig}\` has "module": "CommonJS", and package.json "type": "module": Node.js does not load what \`tsc\` writes`;
  return [wrong(check, message, 'write "module": "NodeNext"')];
}

/** `ModuleKind.CommonJS` of TypeScript. */
const COMMON_JS = 1;

function sourcesFinding(errors: readonly Diagnostic[], isConfigured: boolean): Finding {
  const [first] = errors;
  if (first === undefined)
    return right(
      'project',
      isConfigured
        ? 'the configuration and the workflows have no errors'
        : 'the workflows have no errors; there is no configuration, so that its defaults are used',
    );
  const message = `${counted(errors.length, 'error')}, the first is ${first.code}: ${first.message}`;
  return wrong('project', message, 'npx stepwright check');
}

async function registryFinding(
  stale: readonly Diagnostic[],
  isFaulty: boolean,
  named: { readonly root: string },
  fix: boolean,
): Promise<Finding> {
  const [first] = stale;
  const check = 'registry';
  if (isFaulty)
    return wrong(check, 'not compared, since the project has errors', 'repair them first', 'warning');
  if (first === undefined) return right(check, 'all registries are current');
  const fault = wrong(check, first.message, 'npx stepwright codegen');
  if (!fix) return fault;
  const { runCodegen } = await import('../../codegen/codegen.js');
  const { diagnostics } = await runCodegen(named);
  const isFixed = diagnostics.every(({ severity }) => severity !== 'error');
  return isFixed ? { ...right(check, first.message), isFixed } : fault;
}

async function missingSnapshots(root: string, servers: UpstreamConfig): Promise<readonly Finding[]> {
  const { recordedSnapshot } = await import('../../codegen/upstream/check.js');
  return Object.entries(servers).map(([name, server]): Finding => {
    const check = 'upstream';
    if (recordedSnapshot(root, name, server) !== undefined)
      return right(check, `the tools of '${name}' are recorded`);
    return wrong(check, `the tools of '${name}' are not recorded`, `npx stepwright pull ${name}`);
  });
}

/** The files in which hosts look for servers of a project, and the key of the servers. */
const HOSTS = [
  ['.mcp.json', 'mcpServers'],
  ['.cursor/mcp.json', 'mcpServers'],
  ['.vscode/mcp.json', 'servers'],
] as const;

function checkHosts({ root }: Examined): readonly Finding[] {
  return HOSTS.flatMap(([file, key]): Finding[] => {
    const location = path.join(root, file);
    if (!existsSync(location)) return [];
    const fault = (message: string, repair: string): Finding => wrong('hosts', message, repair);
    let servers: unknown;
    try {
      servers = (JSON.parse(readFileSync(location, 'utf8')) as Record<string, unknown>)[key];
    } catch (error) {
      return [fault(`${file} is not valid JSON: ${(error as Error).message}`, `correct ${file}`)];
    }
    if (typeof servers !== 'object' || servers === null)
      return [
        fault(
          `${file} has no \`${key}\``,
          `write { "${key}": { "NAME": { "command": "npx", "args": ["stepwright", "serve"] } } }`,
        ),
      ];
    const faults = Object.entries(servers as Record<string, HostServer>).flatMap(
      ([name, { args = [], command }]) => [
        ...(command === undefined || isProgram(command, root)
          ? []
          : [
              fault(
                `${file}: the program \`${command}\` of \`${name}\` is not on the path`,
                `install it, or correct \`command\``,
              ),
            ]),
        ...args
          .filter((arg) => /^[^-].*\.[cm]?[jt]s$/.test(arg) && !existsSync(path.resolve(root, arg)))
          .map((arg) =>
            fault(
              `${file}: \`${name}\` starts ${arg}, which does not exist`,
              'build the project, or correct the path',
            ),
          ),
      ],
    );
    return faults.length > 0 ? faults : [right('hosts', `${file} starts ${Object.keys(servers).join(', ')}`)];
  });
}

interface HostServer {
  readonly command?: string;
  readonly args?: readonly string[];
}

function isProgram(command: string, root: string): boolean {
  if (/[\\/]/.test(command)) return existsSync(path.resolve(root, command));
  const endings = process.platform === 'win32' ? ['', '.cmd', '.exe', '.bat'] : [''];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return folders.some((folder) => endings.some((ending) => existsSync(path.join(folder, command + ending))));
}

async function checkPort({ port }: Examined): Promise<readonly Finding[]> {
  const { createServer } = await import('node:net');
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return [right('port', `port ${port} is free`)];
  const message = `port ${port} of 127.0.0.1 cannot be used (${code})`;
  return [wrong('port', message, 'npx stepwright serve --http --port N', 'warning')];
}
