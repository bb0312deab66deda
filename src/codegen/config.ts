import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { unreadPnpFile } from '../formats/plug-n-play.js';
import { relativePath } from '../formats/source-record.js';
import type { JsonDocument } from '../formats/text/json-document.js';
import { defined } from '../graph/defined.js';
import {
  applySeverity,
  type Diagnostic,
  diagnostic,
  type SeverityOverride,
} from '../graph/diagnostics/diagnostic.js';
import { pointerOf } from '../graph/json.js';
import type { Domain } from '../graph/model.js';
import type { SourceLocation } from '../graph/source-location.js';
import type { UpstreamConfig } from '../runtime/upstream/config.js';
import {
  CONFIG_FILE,
  type Config,
  configFileOf,
  PACKAGE_FILE,
  type ReadConfig,
  type RegistryConfig,
  readConfig,
  secondConfigFaults,
} from './config-file.js';
import type { Phase } from './declarations.js';
import { type ConfiguredHints, configuredHints } from './hints-and-domains.js';
import type { Inputs } from './incremental/inputs.js';
import { archiveFaults, type ManifestPlan, planManifest } from './packages/exports.js';
import type { LoaderSettings } from './schemas/loader/compile.js';
import type { ModuleLimits } from './schemas/module-loader.js';
import type { Tsconfig } from './source/tsconfig.js';
import { matchingFiles, planSpecs, type SpecPlan } from './spec-plan.js';
import { foreignFile, isForeign } from './writer.js';
/** One registry to write, with the files it is made from. */
export interface RegistryPlan {
  /** Relative to the root, with `/`. */
  readonly out: string;
  /** Relative to the root, with `/`, sorted. */
  readonly files: readonly string[];
  /** The glob patterns of the files. */
  readonly patterns: readonly string[];
  /** Where the configuration names the sources; missing without one. */
  readonly includePlace?: SourceLocation;
  /** The manifest to write beside it. */
  readonly manifest?: ManifestPlan;
  /** Missing without spec files. */
  readonly specs?: SpecPlan;
}

/** What a run of codegen is to do. */
export interface CodegenPlan {
  /** Relative to the root; missing where the project has none. */
  readonly tsconfig?: string;
  /** How modules of the project are loaded. */
  readonly loader: LoaderSettings;
  /** The tsconfig, where a manifest says what is compiled from which source. */
  readonly compiled?: Pick<Tsconfig, 'files' | 'build'>;
  readonly registries: readonly RegistryPlan[];
  /** What warnings are to count as, by code. */
  readonly severity: Readonly<Record<string, SeverityOverride>>;
  /** The module of the options that commands serve and run workflows with; relative to the root. */
  readonly server?: string;
  /** The limits that the configuration sets. */
  readonly moduleLimits: Partial<ModuleLimits>;
  /** The MCP servers whose tools steps call. */
  readonly upstream?: UpstreamConfig;
  /** What the configuration says about domains; missing without any. */
  readonly domains?: readonly Domain[];
  /** Where each of `domains` is named. */
  readonly domainPlaces?: readonly SourceLocation[];
  /** What the configuration says about their tools; missing without any. */
  readonly hints?: readonly ConfiguredHints[];
}

/** What of a plan those need that load its registries. */
export interface ModulePlan extends Pick<CodegenPlan, 'loader' | 'server' | 'upstream'> {
  /** The registries, relative to the root. */
  readonly outs: readonly string[];
}

export function modulePlanOf({ registries, loader, server, upstream }: CodegenPlan): ModulePlan {
  return { outs: registries.map(({ out }) => out), loader, ...defined({ server, upstream }) };
}

export interface PlanOptions {
  /** Absolute path of the project. */
  readonly root: string;
  /** Relative to the root. Default: `stepwright.config.json`, else `package.json` with a member `stepwright`, else none. */
  readonly configFile?: string;
  /** Records what is read. Default: nothing is recorded. */
  readonly inputs?: Inputs;
}

/** Where the registry is written that there is without any being named. */
const DEFAULT_OUT = 'generated/registry.ts';

/** What is never a source, whatever the patterns say. */
const NEVER = ['**/node_modules/**', '**/*.d.ts', '**/*.d.mts', '**/*.d.cts'];

/** What `exclude` is where it is left out. */
const EXCLUDED_BY_DEFAULT = ['**/dist/**', '**/*.test.*', '**/*.spec.*'];

const SOURCE_FILE = /\.[cm]?tsx?$/;

/**
 * Reads the configuration and finds the files of each registry.
 *
 * The configuration is a file, or a member of `package.json`. Without one, and with one that names no registries,
 * there is one registry, `generated/registry.ts`, made from the files of the tsconfig; build output and tests are
 * left out.
 */
export async function planCodegen(options: PlanOptions): Promise<Phase<CodegenPlan | undefined>> {
  const { root } = options;
  const unread = unreadPnpFile(root);
  if (unread !== undefined) {
    const file = relativePath(root, unread);
    return { value: undefined, diagnostics: [diagnostic('SW9018', undefined, { file })] };
  }
  const plan = await readPlan(options);
  const outs = plan.value?.registries.map(({ out }) => out) ?? [];
  const faults = archiveFaults(root, outs);
  return faults.length === 0 ? plan : { value: undefined, diagnostics: faults };
}

async function readPlan({ root, configFile, inputs }: PlanOptions): Promise<Phase<CodegenPlan | undefined>> {
  for (const seen of configFile === undefined ? [CONFIG_FILE, PACKAGE_FILE] : [configFile]) inputs?.see(seen);
  const file = configFile ?? configFileOf(root);
  if (file === undefined) return planByTsconfig(root, inputs);
  const reading = readConfig(root, file);
  if (reading.value === undefined) return { value: undefined, diagnostics: reading.diagnostics };
  const { config, document } = reading.value;
  const diagnostics: Diagnostic[] = [];
  if (configFile === undefined && file === CONFIG_FILE) diagnostics.push(...secondConfigFaults(root));

  const tsconfig = await tsconfigIn(root, config.tsconfig, inputs);
  if (tsconfig === undefined && document.has('/tsconfig')) {
    const problem = `there is no file \`${config.tsconfig}\``;
    diagnostics.push(diagnostic('SW9002', document.placeOf('/tsconfig'), { file, problem }));
  }
  diagnostics.push(
    ...tsconfigFaults(config.tsconfig, tsconfig),
    ...severityFaults(config.severity, document),
  );

  const isTsconfigSound = diagnostics.every(({ code }) => code !== 'SW9002');
  const registries =
    config.registries === undefined
      ? defaultRegistries(
          tsconfig,
          `\`${config.tsconfig}\`${tsconfig === undefined ? ', which is missing' : ''}`,
        )
      : await namedRegistries(root, inputs, file, config.registries, document);
  // Of a tsconfig that cannot be read, that it names no sources is an echo.
  if (config.registries !== undefined || isTsconfigSound) diagnostics.push(...registries.diagnostics);
  return withSettings(root, file, { value: registries.value, diagnostics }, reading.value, tsconfig);
}

/**
 * Plans a project without TypeScript: it has neither registries in its configuration nor a tsconfig. Its one registry
 * has spec files alone, and is not written.
 *
 * @returns `undefined` for a project with TypeScript, and for one without spec files and upstream servers.
 */
export async function planData({
  root,
  configFile,
}: PlanOptions): Promise<Phase<CodegenPlan | undefined> | undefined> {
  const file = configFile ?? configFileOf(root);
  if (file === undefined) return undefined;
  const { value, diagnostics: faults } = readConfig(root, file);
  if (value === undefined)
    return existsSync(path.join(root, 'tsconfig.json')) ? undefined : { value, diagnostics: faults };
  const { config, document } = value;
  if ((config.specs ?? config.upstream) === undefined || readsTypeScript(root, value)) return undefined;
  const diagnostics = [
    ...(configFile === undefined && file === CONFIG_FILE ? secondConfigFaults(root) : []),
    ...severityFaults(config.severity, document),
  ];
  const registries = [{ out: DEFAULT_OUT, files: [], patterns: [] }];
  return withSettings(root, file, { value: registries, diagnostics }, value, undefined);
}

/** Adds spec files and the other settings of a configuration to its registries. */
async function withSettings(
  root: string,
  file: string,
  registries: Phase<readonly RegistryPlan[]>,
  { config, document }: ReadConfig,
  tsconfig: Tsconfig | undefined,
): Promise<Phase<CodegenPlan | undefined>> {
  const withSpecs = await specsOfAll(root, file, registries.value, { config, document });
  const diagnostics = [...registries.diagnostics, ...withSpecs.diagnostics];
  if (diagnostics.length > 0) return { value: undefined, diagnostics };
  const hints = configuredHints(config.upstream ?? {}, document);
  const plan = planOf(config.tsconfig, tsconfig, withSpecs.value, config);
  const domainPlaces = plan.domains?.map((_, i) => document.placeOf(pointerOf(['domains', i, 'name'])));
  const value = {
    ...plan,
    ...defined({ domainPlaces }),
    ...(hints.length === 0 ? {} : { hints }),
  };
  return { value, diagnostics };
}

export interface ConfiguredUpstream {
  readonly servers: UpstreamConfig;
  /** Whether the project has TypeScript, to which classes of their tools belong. */
  readonly hasTypeScript: boolean;
  /** Where a setting is written; `path` leads to it from `upstream`. */
  placeOf(path: readonly (string | number)[]): SourceLocation | undefined;
}

/** The upstream servers of the configuration, which may name no sources yet. */
export function readUpstream({ root, configFile }: PlanOptions): Phase<ConfiguredUpstream | undefined> {
  const file = configFile ?? configFileOf(root);
  if (file === undefined)
    return { value: { servers: {}, hasTypeScript: true, placeOf: () => undefined }, diagnostics: [] };
  const { value, diagnostics } = readConfig(root, file);
  if (value === undefined) return { value, diagnostics };
  const { config, document } = value;
  const placeOf = (path: readonly (string | number)[]): SourceLocation =>
    document.keyPlaceOf(pointerOf(['upstream', ...path]));
  const hasTypeScript = readsTypeScript(root, value);
  return { value: { servers: config.upstream ?? {}, hasTypeScript, placeOf }, diagnostics };
}

/** Whether a configuration has registries to write, or a tsconfig that names sources. */
function readsTypeScript(root: string, { config, document }: ReadConfig): boolean {
  const isNamed = config.registries !== undefined || document.has('/tsconfig');
  return isNamed || existsSync(path.resolve(root, config.tsconfig));
}

/** The registries of a configuration, with what keeps them from being made. */
async function namedRegistries(
  root: string,
  inputs: Inputs | undefined,
  file: string,
  named: readonly RegistryConfig[],
  document: JsonDocument,
): Promise<Phase<readonly RegistryPlan[]>> {
  const diagnostics: Diagnostic[] = [];
  const registries: RegistryPlan[] = [];
  const outs = named.map(({ out }) => out);
  for (const [i, registry] of named.entries()) {
    const outPlace = document.placeOf(`/registries/${i}/out`);
    const includePlace = document.placeOf(`/registries/${i}/include`);
    if (outs.indexOf(registry.out) < i) {
      const problem = `two registries are written to \`${registry.out}\``;
      diagnostics.push(diagnostic('SW9002', outPlace, { file, problem }));
    }
    const files = await sourcesOf(root, registry, outs);
    if (files.length === 0) {
      diagnostics.push(diagnostic('SW9003', includePlace, { patterns: listed(registry.include) }));
    }
    // Checked before the sources are read: the file is not one of them, so its classes would be reported as missing.
    if (isForeign(root, registry.out)) {
      diagnostics.push(foreignFile(root, registry.out, outPlace));
    }
    let manifest: ManifestPlan | undefined;
    if (registry.manifest !== undefined) {
      const planned = planManifest(root, registry.manifest, inputs);
      const place = document.placeOf(`/registries/${i}/manifest`);
      const isUsed = named.findIndex(({ manifest }) => manifest === registry.manifest) < i;
      const used = isUsed ? [`two registries have the manifest \`${registry.manifest}\``] : [];
      for (const problem of [...used, ...planned.problems])
        diagnostics.push(diagnostic('SW9002', place, { file, problem }));
      if (planned.isForeign) diagnostics.push(foreignFile(root, registry.manifest, place));
      manifest = planned.value;
    }
    registries.push({
      ...{ out: registry.out, files, patterns: registry.include, includePlace },
      ...defined({ manifest }),
    });
  }
  return { value: registries, diagnostics };
}

async function specsOfAll(
  root: string,
  file: string,
  registries: readonly RegistryPlan[],
  { config, document }: ReadConfig,
): Promise<Phase<readonly RegistryPlan[]>> {
  const diagnostics: Diagnostic[] = [];
  if (config.registries !== undefined && config.specs !== undefined) {
    const problem = '`/specs` is for projects without `registries`: write `specs` in a registry';
    diagnostics.push(diagnostic('SW9002', document.keyPlaceOf('/specs'), { file, problem }));
  }
  const value: RegistryPlan[] = [];
  for (const [index, registry] of registries.entries()) {
    const named = config.registries?.[index];
    const patterns = config.registries === undefined ? config.specs : named?.specs;
    if (patterns === undefined) {
      value.push(registry);
      continue;
    }
    const specs = await planSpecs(root, registry.out, { patterns, exclude: named?.exclude });
    const place = document.placeOf(named === undefined ? '/specs' : `/registries/${index}/specs`);
    if (specs.files.length === 0)
      diagnostics.push(diagnostic('SW9003', place, { patterns: listed(patterns), what: 'spec file' }));
    if (isForeign(root, specs.schema)) diagnostics.push(foreignFile(root, specs.schema, place));
    value.push({ ...registry, specs });
  }
  return { value, diagnostics };
}

const listed = (patterns: readonly string[]): string =>
  patterns.map((pattern) => `\`${pattern}\``).join(', ');

async function planByTsconfig(
  root: string,
  inputs: Inputs | undefined,
): Promise<Phase<CodegenPlan | undefined>> {
  const file = 'tsconfig.json';
  const tsconfig = await tsconfigIn(root, file, inputs);
  const faults = tsconfigFaults(file, tsconfig);
  if (faults.length > 0) return { value: undefined, diagnostics: faults };
  const patterns =
    tsconfig === undefined ? `\`${CONFIG_FILE}\` or \`${file}\`, which are both missing` : `\`${file}\``;
  const { value, diagnostics } = defaultRegistries(tsconfig, patterns);
  if (diagnostics.length > 0) return { value: undefined, diagnostics };
  return { value: planOf(file, tsconfig, value), diagnostics };
}

/** Reads a tsconfig. The compiler is loaded for one that is there. */
async function tsconfigIn(
  root: string,
  file: string,
  inputs: Inputs | undefined,
): Promise<Tsconfig | undefined> {
  const location = path.resolve(root, file);
  inputs?.see(location);
  if (statSync(location, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const { readTsconfig } = await import('./source/tsconfig.js');
  return readTsconfig(root, file, inputs);
}

/**
 * The one registry that there is without any being named.
 *
 * @param patterns - what its sources were looked for by, for people.
 */
function defaultRegistries(tsconfig: Tsconfig | undefined, patterns: string): Phase<readonly RegistryPlan[]> {
  const all = tsconfig?.files ?? [];
  const files = all.filter((name) => name !== DEFAULT_OUT && isSourceByDefault(name));
  const diagnostics = files.length === 0 ? [diagnostic('SW9003', undefined, { patterns, isBare: true })] : [];
  return { value: [{ out: DEFAULT_OUT, files, patterns: tsconfig?.patterns ?? [] }], diagnostics };
}

function planOf(
  file: string,
  tsconfig: Tsconfig | undefined,
  registries: readonly RegistryPlan[],
  {
    severity,
    moduleLimits,
    server,
    upstream,
    domains,
  }: Pick<Config, 'severity' | 'moduleLimits' | 'server' | 'upstream' | 'domains'> = {
    severity: {},
    moduleLimits: {},
  },
): CodegenPlan {
  const hasManifest = registries.some(({ manifest }) => manifest !== undefined);
  return {
    ...(tsconfig === undefined ? {} : { tsconfig: file }),
    loader: tsconfig?.loader ?? { experimentalDecorators: false },
    ...(tsconfig === undefined || !hasManifest ? {} : { compiled: tsconfig }),
    registries,
    severity,
    moduleLimits,
    ...defined({ server, upstream, domains }),
  };
}

/** Reports overrides that cannot be applied, each at its key. */
function severityFaults(severity: Config['severity'], document: JsonDocument): Diagnostic[] {
  return Object.entries(severity).flatMap(([code, wanted]) =>
    applySeverity([], { [code]: wanted }).map((fault) => ({
      ...fault,
      place: document.keyPlaceOf(pointerOf(['severity', code])),
    })),
  );
}

function tsconfigFaults(file: string, tsconfig: Tsconfig | undefined): Diagnostic[] {
  return (tsconfig?.faults ?? []).map(({ message: problem, place }) =>
    diagnostic('SW9002', place, { file, problem }),
  );
}

function isSourceByDefault(file: string): boolean {
  const folders = file.split('/').slice(0, -1);
  if (folders.some((folder) => folder === '..' || folder === 'node_modules' || folder === 'dist'))
    return false;
  return SOURCE_FILE.test(file) && !/\.d\.[cm]?ts$|\.(test|spec)\./.test(file);
}

/** Excludes registries from the sources: codegen would read a file that it is about to replace. */
async function sourcesOf(
  root: string,
  { include, exclude = EXCLUDED_BY_DEFAULT }: RegistryConfig,
  outs: readonly string[],
): Promise<readonly string[]> {
  const match = await matchingFiles(root, include, [...NEVER, ...exclude]);
  return match.filter((file) => SOURCE_FILE.test(file) && !outs.includes(file));
}
