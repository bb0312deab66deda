import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckEnvironment } from '../check/check-graph.js';
import type { CodegenOptions, CodegenResult } from '../codegen/codegen.js';
import type { ModulePlan, PlanOptions } from '../codegen/config.js';
import type { Phase } from '../codegen/declarations.js';
import type { LoaderSettings } from '../codegen/schemas/loader/compile.js';
import { defined } from '../graph/defined.js';
import { hasErrors } from '../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../graph/diagnostics/format.js';
import type { Registry } from '../runtime/index.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { UntypedFactories } from '../runtime/tools/instances.js';
import type { HttpSettings } from '../runtime/transports/http/http-options.js';
import type { UpstreamConfig } from '../runtime/upstream/config.js';
import {
  folderAt,
  isNamed,
  Misuse,
  missingCompilers,
  type Output,
  shortName,
  texts,
} from './command-line.js';

/** The options of every command that loads registries. */
export const REGISTRY_OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  registry: { type: 'string' },
  options: { type: 'string' },
} as const;

/** What the options say about where registries are. */
export interface RegistryChoice {
  readonly root?: string;
  readonly config?: string;
  readonly registry?: string;
  readonly options?: string;
  /** Whether the options of the server are not loaded, and upstream servers not set up: nothing is called. */
  readonly callsNothing?: boolean;
  /** Whether the command can do without a registry: it names spec files. */
  readonly hasFiles?: boolean;
  /**
   * Of a project without TypeScript, whether the workflows of its spec files are in the registry: `'needed'`, and their
   * faults are reported; `'sound'`, if they have no faults; or not, since the command reads the files itself. Default:
   * `'needed'`.
   */
  readonly specs?: 'needed' | 'sound' | 'read';
  /**
   * The modules, where another process has found them, and has just written the registries among them. Default: by the
   * options above and the configuration.
   */
  readonly modules?: Modules;
  /** The configuration, where codegen has just read it. Default: it is read. */
  readonly plan?: ModulePlan;
}

export interface OpenRegistry {
  /** Relative to the root, with `/`; of a compiled module as it was given. */
  readonly file: string;
  readonly registry: Registry;
}

/** Registries, with the options that the project gives to servers. */
export interface OpenRegistries {
  readonly registries: readonly [OpenRegistry, ...OpenRegistry[]];
  readonly options: ServerSettings & HttpSettings & UntypedFactories;
  /** The upstream servers of the configuration. */
  readonly upstream?: UpstreamConfig;
  /** The patterns of spec files, in a project without TypeScript. */
  readonly specs?: readonly string[];
}

/**
 * Loads the registries that the options select and hands them to `work`.
 *
 * @param command its name, for messages.
 */
export async function withRegistries(
  command: string,
  choice: RegistryChoice,
  output: Output,
  work: (open: OpenRegistries) => Promise<number>,
): Promise<number> {
  const root = folderAt(choice.root ?? '.');
  const modulesOrCode = choice.modules ?? (await modulesOf(command, root, choice, output));
  if (typeof modulesOrCode === 'number') return modulesOrCode;
  const { options: _options, upstream: _upstream, ...bare } = modulesOrCode;
  const modules = choice.callsNothing === true ? bare : modulesOrCode;
  if (modulesOrCode.loader !== undefined) {
    const { registerLoader } = await import('../codegen/schemas/loader/register.js');
    registerLoader(modulesOrCode.loader);
  }
  try {
    const open = await withUpstream(await load(modules), modules, root);
    if (STARTS.includes(command) && choice.modules === undefined) await verify(open, root);
    return await work(open);
  } catch (error) {
    const text = await faultOf(error);
    if (text === undefined) throw error;
    output.err(`${text}\n`);
    return 1;
  }
}

export function namesRegistry({ root = '.', registry, config }: RegistryChoice): boolean {
  return (
    registry !== undefined || config !== undefined || existsSync(path.join(root, 'stepwright.config.json'))
  );
}

/** Finds the modules of a command, or reports why not and gives the exit code. Without a configuration the workflows of spec files have no classes beside them. */
export async function modulesOf(
  command: string,
  root: string,
  choice: RegistryChoice,
  output: Output,
): Promise<Modules | number> {
  const { hasFiles = false, options } = choice;
  const isCompiled = options === undefined || COMPILED.test(options);
  if (!hasFiles || !isCompiled || namesRegistry(choice)) return findModules(command, root, choice, output);
  return {
    registries: [],
    ...(options === undefined ? {} : { options: { file: options, path: path.resolve(root, options) } }),
  };
}

/** Options that name upstream servers win over the configuration. */
async function withUpstream(
  open: OpenRegistries,
  { upstream }: Modules,
  root: string,
): Promise<OpenRegistries> {
  if (upstream === undefined) return open;
  if (open.options.upstream !== undefined) return { ...open, upstream };
  const { upstreamServers } = await import('../runtime/protocol/upstream/upstream-servers.js');
  return { ...open, upstream, options: { ...open.options, upstream: upstreamServers(upstream, { root }) } };
}

/** The commands that run what a registry says. */
const STARTS: readonly string[] = ['serve', 'run', 'worker'];

async function verify({ registries }: OpenRegistries, root: string): Promise<void> {
  const { verifyCurrent } = await import('../runtime/server/verify-sources.js');
  for (const { registry } of registries) verifyCurrent(registry, root);
}

/** A module that cannot be used; its message is for the user. */
class ModuleFault extends Error {}

/** The sentences for faults of the project; none for a fault of Stepwright. */
async function faultOf(error: unknown): Promise<string | undefined> {
  if (error instanceof ModuleFault) return error.message;
  const { FactoriesError, RegistrationError, StaleRegistryError } = await import('../runtime/index.js');
  if (error instanceof FactoriesError)
    return `stepwright: ${error.message}\n${'Options for classes whose constructor takes parameters come from a module: `export default { tools: { … } }`. Name it with `--options FILE`, or as `server` in stepwright.config.json.'}`;
  const isOfProject =
    error instanceof StaleRegistryError || error instanceof RegistrationError || error instanceof RangeError;
  return isOfProject ? `stepwright: ${error.message}` : undefined;
}

/** What the registries have for the workflows of spec files. */
export function environmentOf(registries: readonly OpenRegistry[]): CheckEnvironment {
  const all = registries.map(({ registry }) => registry);
  return {
    tools: new Map(all.flatMap(({ tools }) => Object.entries(tools))),
    resources: new Map(all.flatMap(({ resources }) => Object.entries(resources))),
    workflows: new Map(
      all.flatMap(({ workflows }) =>
        Object.values(workflows).map(({ graph }) => [graph.name, graph] as const),
      ),
    ),
  };
}

interface ModulePath {
  /** As it is shown. */
  readonly file: string;
  /** Absolute. */
  readonly path: string;
}

/** The modules that a command loads. */
export interface Modules {
  readonly registries: readonly (ModulePath & {
    /** Makes a registry of the exports of its module. Default: the export `registry`. */
    readonly registryOf?: (module: Readonly<Record<string, unknown>>) => Registry;
  })[];
  readonly options?: ModulePath;
  /** How they are loaded, where one is TypeScript. */
  readonly loader?: LoaderSettings;
  /** The upstream servers of the configuration. */
  readonly upstream?: UpstreamConfig;
  /** The registry, in a project without TypeScript. */
  readonly data?: OpenRegistry;
  readonly specs?: readonly string[];
}

/** A module that needs no compiler. */
export const COMPILED = /\.[cm]?js$/;

/** Finds the modules, or reports why not and gives the exit code. */
async function findModules(
  command: string,
  root: string,
  choice: RegistryChoice,
  output: Output,
): Promise<Modules | number> {
  const { config, registry, options } = choice;
  const inRoot = (file: string) => ({ file, path: path.resolve(root, file) });
  const isCompiled = registry !== undefined && COMPILED.test(registry);
  if (isCompiled && (options === undefined || COMPILED.test(options))) {
    return { registries: [inRoot(registry)], ...(options === undefined ? {} : { options: inRoot(options) }) };
  }
  const { planData } = await import('../codegen/config.js');
  const planned = { root, ...defined({ configFile: config }) };
  if (choice.plan === undefined && registry === undefined && (await planData(planned)) !== undefined)
    return dataModules(command, planned, choice, output);
  if (isWithoutCompilers(command, output)) return 1;
  const plan = choice.plan ?? (await modulePlan(planned));
  if (!('outs' in plan)) {
    output.err(formatDiagnostics(plan.diagnostics, () => undefined, { color: output.color }));
    return 1;
  }
  const { outs, server, loader, upstream } = plan;
  const chosen = isCompiled
    ? [registry]
    : outs.filter((out) => registry === undefined || isNamed(out, registry));
  if (chosen.length === 0) {
    throw new Misuse(texts.unknownRegistry(registry ?? '', [...outs, ...outs.map(shortName)]));
  }
  const module = options ?? server;
  return {
    registries: chosen.map(inRoot),
    ...(module === undefined ? {} : { options: inRoot(module) }),
    ...defined({ upstream }),
    loader,
  };
}

/** The plan of the last run of codegen while all is as it was then: to read a tsconfig takes most of a start. */
async function modulePlan(options: PlanOptions): Promise<ModulePlan | Phase<undefined>> {
  const { recallRun } = await import('../codegen/incremental/run-record.js');
  const run = recallRun<ModulePlan>(options);
  if (run !== undefined) return run.plan;
  const { modulePlanOf, planCodegen } = await import('../codegen/config.js');
  const { value, diagnostics } = await planCodegen(options);
  return value === undefined ? { value, diagnostics } : modulePlanOf(value);
}

/**
 * Refuses a command that follows sources, for a project without them.
 *
 * @throws Misuse that names the command for spec files.
 */
export async function needTypeScript(command: string, { root, configFile }: PlanOptions): Promise<void> {
  const { planData } = await import('../codegen/config.js');
  if ((await planData({ root: realpathSync(root), ...defined({ configFile }) })) === undefined) return;
  throw new Misuse(
    `stepwright: \`${command}\` follows TypeScript, and the project has spec files alone: \`stepwright serve\` follows them`,
  );
}

/** Whether what reads TypeScript is not installed, which is reported. */
export function isWithoutCompilers(command: string, output: Output): boolean {
  const missing = missingCompilers();
  if (missing.length > 0) output.err(`${texts.missingPackages(command, missing)}\n`);
  return missing.length > 0;
}

/**
 * Reads and checks the project of a command by codegen. A project without TypeScript needs no compiler for it.
 *
 * @returns an exit code if what reads TypeScript is not installed, which is reported.
 */
export async function readProject(
  command: string,
  options: CodegenOptions,
  output: Output,
): Promise<CodegenResult | number> {
  const { root = '.', configFile } = options;
  const { planData } = await import('../codegen/config.js');
  if ((await planData({ root: realpathSync(root), ...defined({ configFile }) })) !== undefined) {
    const { checkDataProject } = await import('../codegen/data-project.js');
    return checkDataProject(options);
  }
  if (isWithoutCompilers(command, output)) return 1;
  const { runCodegen } = await import('../codegen/codegen.js');
  return runCodegen(options);
}

/** Reads a project without TypeScript, and makes its registry of snapshots and spec files. */
async function dataModules(
  command: string,
  planned: PlanOptions,
  { options, specs: use = 'needed' }: RegistryChoice,
  output: Output,
): Promise<Modules | number> {
  const { root, configFile = 'stepwright.config.json' } = planned;
  const { readDataProject } = await import('../codegen/data-project.js');
  const read = await readDataProject(planned);
  const project = read?.value;
  const all = [...(read?.diagnostics ?? []), ...(project?.faults ?? [])];
  if (use === 'needed') all.push(...(project?.diagnostics ?? []));
  if (project === undefined || hasErrors(all)) {
    const { readSourceIn } = await import('../codegen/diagnostics.js');
    output.err(formatDiagnostics(all, readSourceIn(root), { color: output.color }));
    return 1;
  }
  const { tools, graphs, plan } = project;
  const { server, upstream, domains, loader, registries } = plan;
  const module = options ?? server;
  const isCompiled = module === undefined || COMPILED.test(module);
  if (!isCompiled && isWithoutCompilers(command, output)) return 1;
  const { dataRegistry } = await import('../runtime/tools/data-registry.js');
  const parts = { tools, graphs: use === 'read' ? [] : graphs, ...defined({ domains }) };
  return {
    registries: [],
    data: { file: configFile, registry: dataRegistry(parts) },
    ...(module === undefined ? {} : { options: { file: module, path: path.resolve(root, module) } }),
    ...(isCompiled ? {} : { loader }),
    ...defined({ upstream, specs: registries[0]?.specs?.patterns }),
  };
}

async function load({ registries, options, data, specs }: Modules): Promise<OpenRegistries> {
  const opened: OpenRegistry[] = data === undefined ? [] : [data];
  for (const { file, path: from, registryOf } of registries) {
    if (!existsSync(from))
      throw new ModuleFault(
        texts.noModule(file, 'there is no such file; `stepwright codegen` writes the registries'),
      );
    const module = await loadModule(file, from);
    const registry = registryOf?.(module) ?? module.registry;
    if (!isRegistry(registry)) throw new ModuleFault(texts.noModule(file, 'it exports no `registry`'));
    opened.push({ file, registry });
  }
  if (opened.length === 0) {
    const { emptyRegistry } = await import('../runtime/tools/registry.js');
    opened.push({ file: 'no registry', registry: emptyRegistry });
  }
  const fileOptions = options === undefined ? {} : await loadOptions(options);
  return {
    registries: opened as unknown as OpenRegistries['registries'],
    options: fileOptions,
    ...defined({ specs }),
  };
}

async function loadOptions({ file, path: from }: ModulePath): Promise<OpenRegistries['options']> {
  const { default: value } = await loadModule(file, from);
  if (typeof value === 'object' && value !== null) return value;
  throw new ModuleFault(
    texts.noModule(file, 'its default export is not an object: write `export default { tools: { … } }`'),
  );
}

function isRegistry(value: unknown): value is Registry {
  return typeof value === 'object' && value !== null && 'registryVersion' in value && 'tools' in value;
}

async function loadModule(file: string, from: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    if (COMPILED.test(from)) return await import(pathToFileURL(from).href);
    const loader = await import('../codegen/schemas/loader/register.js');
    return await loader.loadModule(from);
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new ModuleFault(texts.noModule(file, why.split('\n', 1)[0] ?? ''));
  }
}
