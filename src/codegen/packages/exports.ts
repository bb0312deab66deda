import path, { posix } from 'node:path';
import { REGISTRY_VERSION } from '../../decorators/metadata.js';
import { objectIn } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { compareText } from '../../graph/names.js';
import { formatLocation } from '../../graph/source-location.js';
import type { ClassHandle, Declarations, Phase, ResourceDeclaration } from '../declarations.js';
import type { EntryContent, RegistryContent } from '../emit/registry.js';
import type { Inputs } from '../incremental/inputs.js';
import {
  GENERATED_COMMENT,
  MANIFEST_FILE,
  MANIFEST_VERSION,
  type ManifestExport,
  manifestChecksum,
} from '../manifest.js';
import { isCommonJs } from '../schemas/loader/compile.js';
import type { ToolSchemas } from '../schemas/read-schemas.js';
import type { SourceHost } from '../source/source-host.js';
import type { Tsconfig } from '../source/tsconfig.js';
import { isForeign, type OutputFile } from '../writer.js';

interface PackageSources {
  readonly host: Pick<SourceHost, 'exportedClasses'>;
  /** Those of the registry, relative to the root. */
  readonly files: readonly string[];
  readonly compiled: Pick<Tsconfig, 'files' | 'build'> | undefined;
  readonly readings: ToolSchemas['resources'];
}

/** The manifests of a registry's content: one, or none where none is planned. */
type Manifests = (content: RegistryContent) => readonly OutputFile[];

/**
 * Finds by which entry points of its package each tool and each resource is exported. One that is not exported, or that
 * depends on a file of the package, is reported: other projects could not use it (SW6035).
 */
export function manifestOf(
  plan: ManifestPlan | undefined,
  { tools, resources }: Declarations,
  { host, files, compiled, readings }: PackageSources,
): Phase<Manifests> {
  if (plan === undefined) return { value: () => [], diagnostics: [] };
  const { file, folder, name, version, packageFile } = plan;
  const sources = [...new Set([...files, ...(compiled?.files ?? [])])].filter(
    (each) => !/\.d\.[cm]?ts$/.test(each),
  );
  const { outDirs = [], rootDir } = compiled?.build ?? {};
  const build = { folder, sources, outDirs, ...defined({ rootDir }) };
  const points = entryPoints(name, packageFile, build);
  const exportsOf = exportsByPlace(points, host);
  const own = [...tools, ...resources].filter(({ listed }) => listed === undefined);
  const unexported = own.filter((each) => each.exportName !== undefined && exportsOf(each).length === 0);
  const diagnostics = unexported.map((handle) => {
    const params = {
      className: handle.className,
      package: name,
      why: 'no entry point of the package exports it',
    };
    return diagnostic('SW6035', handle.place, params, {
      hint: `export it from one of them: ${describe(points)}`,
    });
  });
  return {
    value: (content) => [
      {
        file,
        text: emitManifest({
          package: { name, version },
          tools: content.tools.filter(({ handle }) => handle.package === undefined),
          resources: content.resources.filter(({ handle }) => handle.package === undefined),
          exportsOf,
        }),
      },
    ],
    diagnostics: [...diagnostics, ...fileFaults(resources, name, readings)],
  };
}

type Exports = (handle: ClassHandle) => readonly ManifestExport[];

function exportsByPlace(points: readonly EntryPoint[], host: PackageSources['host']): Exports {
  const results = new Map<string, ManifestExport[]>();
  for (const { specifier, source } of points) {
    for (const { name, place } of source === undefined ? [] : host.exportedClasses(source)) {
      const key = formatLocation(place);
      results.set(key, [...(results.get(key) ?? []), { module: specifier, name }]);
    }
  }
  return ({ place }) => results.get(formatLocation(place)) ?? [];
}

function describe(points: readonly EntryPoint[]): string {
  const texts = points.map(({ specifier, source }) =>
    source === undefined ? `\`${specifier}\` (its source was not found)` : `\`${specifier}\` (\`${source}\`)`,
  );
  return texts.length === 0 ? 'its `package.json` names none' : texts.join(', ');
}

/** Content that is not embedded is looked for in the package of the registry, which is another one there. */
function fileFaults(
  resources: readonly ResourceDeclaration[],
  name: string,
  readings: ToolSchemas['resources'],
): readonly Diagnostic[] {
  return resources.flatMap((resource) => {
    if (readings.get(resource)?.file === undefined) return [];
    const why = `the file \`${resource.contentFile}\` is too large to be embedded, or is not text`;
    const hint = 'give its content by `read()`, which may read the file by `import.meta.url`';
    const params = { className: resource.className, package: name, why };
    return [diagnostic('SW6035', resource.contentFilePlace ?? resource.place, params, { hint })];
  });
}

interface ManifestContent extends Pick<RegistryContent, 'tools' | 'resources'> {
  readonly package: { readonly name: string; readonly version: string };
  exportsOf(handle: ClassHandle): readonly ManifestExport[];
}

/** Prints a manifest as JSON: the same content gives the same text, whatever order it comes in. */
function emitManifest({ package: of, tools, resources, exportsOf }: ManifestContent): string {
  const table = (entries: readonly EntryContent[]): JsonObject =>
    Object.fromEntries(
      [...entries]
        .sort((a, b) => compareText(a.name, b.name))
        .map(({ name, handle, data }) => [name, { exports: exportsOf(handle), ...data } as unknown as Json]),
    );
  const versions = { manifestVersion: MANIFEST_VERSION, registryVersion: REGISTRY_VERSION };
  const content = { package: { ...of }, tools: table(tools), resources: table(resources) };
  const checksum = manifestChecksum({ ...versions, ...content });
  return `${JSON.stringify({ $comment: GENERATED_COMMENT, ...versions, checksum, ...content }, undefined, 2)}\n`;
}

/** A module that programs import from a package, and the source that it is built from. */
interface EntryPoint {
  /** The package, or a part of it: `@acme/tools/search`. */
  readonly specifier: string;
  /** Missing where none of the sources is compiled to it. */
  readonly source?: string;
}

/** How sources become the files of a package. Paths are relative to the root of the project, with `/`. */
export interface PackageBuild {
  /** Where `package.json` is; empty for the root. */
  readonly folder: string;
  /** Sources, the preferred ones first. */
  readonly sources: readonly string[];
  /** Where compiled files are. Default: the first folder in the path of each. */
  readonly outDirs: readonly string[];
  /** The folder whose structure the compiled files have. Default: any that fits, the nearest to the root first. */
  readonly rootDir?: string;
}

/**
 * The entry points of a package, the package itself first, then by their specifiers.
 *
 * @param manifest - the object in its `package.json`.
 */
export function entryPoints(
  name: string,
  { exports, types, main }: JsonObject,
  build: PackageBuild,
): readonly EntryPoint[] {
  const legacy = [types, main].flatMap((target) =>
    typeof target === 'string' ? [`./${posix.normalize(target)}`] : [],
  );
  const subpaths =
    exports === undefined ? { '.': legacy.length > 0 ? legacy : ['./index.js'] } : subpathsOf(exports);
  const pointsOf = ([subpath, target]: readonly [string, Json]): readonly EntryPoint[] => {
    const modules = targetsIn(target).filter((each) => MODULE.test(each));
    const specifier = posix.join(name, subpath);
    const matches = modules.flatMap((each) => sourcesOf(each, build));
    const [best] = matches;
    if (modules.length === 0) return [];
    if (!subpath.includes('*'))
      return [best === undefined ? { specifier } : { specifier, source: best.source }];
    // The first that fits a specifier is the preferred one.
    const bySpecifier = new Map<string, string>();
    for (const { source, star } of matches) {
      const named = specifier.replace('*', () => star);
      if (!bySpecifier.has(named)) bySpecifier.set(named, source);
    }
    return [...bySpecifier].map(([named, source]) => ({ specifier: named, source }));
  };
  const isPattern = ([subpath]: readonly [string, Json]): boolean => subpath.includes('*');
  const all = Object.entries(subpaths);
  const ofPatterns = all.filter(isPattern).flatMap(pointsOf);
  const results = all.filter((each) => !isPattern(each)).flatMap(pointsOf);
  // A subpath that is written out wins over a pattern.
  const unique = new Map([...ofPatterns, ...results].map((each) => [each.specifier, each]));
  return [...unique.values()].sort((a, b) => compareText(a.specifier, b.specifier));
}

/** What holds classes: JavaScript, its declarations, or TypeScript. */
const MODULE = /\.[cm]?[jt]sx?$/;

function subpathsOf(exports: Json): JsonObject {
  const isTable = isJsonObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  return isTable ? exports : { '.': exports };
}

/** All files that a target may lead to, under whatever conditions. */
function targetsIn(target: Json): readonly string[] {
  if (typeof target === 'string') return [target];
  if (Array.isArray(target)) return target.flatMap(targetsIn);
  return isJsonObject(target) ? Object.values(target).flatMap(targetsIn) : [];
}

interface Match {
  readonly source: string;
  /** What is in the place of `*`. */
  readonly star: string;
}

const stemOf = (file: string): string => file.replace(/(?:\.d)?\.[cm]?[jt]sx?$/, '');

/** The sources that are compiled to a file, the preferred ones first. */
function sourcesOf(target: string, { folder, sources, outDirs, rootDir }: PackageBuild): readonly Match[] {
  const file = stemOf(posix.join(folder, target));
  const outDir =
    outDirs.find((each) => file.startsWith(`${each}/`)) ??
    file.slice(0, Math.max(0, file.indexOf('/', folder.length + 1)));
  const inside = outDir === '' ? file : posix.relative(outDir, file);
  const fits = (path: string, start: string): ((stem: string) => string | undefined) => {
    const [before = '', after] = path.split('*');
    const pattern = after === undefined ? literal(path) : `${literal(before)}(.+)${literal(after)}`;
    const expression = new RegExp(`^${start}${pattern}$`);
    return (stem) => {
      const match = expression.exec(stem);
      return match === null ? undefined : (match[1] ?? '');
    };
  };
  const anyRoot = inside.includes('*') ? `${literal(folder === '' ? '' : `${folder}/`)}[^/]+/` : '(?:.*/)?';
  // A package of the same repository may be imported as TypeScript.
  const ways = [
    fits(file, ''),
    rootDir === undefined ? fits(inside, anyRoot) : fits(posix.join(rootDir, inside), ''),
  ];
  const nearest = [...sources].sort((a, b) => a.split('/').length - b.split('/').length);
  return ways.flatMap((starOf) =>
    nearest.flatMap((source) => {
      const star = starOf(stemOf(source));
      return star === undefined ? [] : [{ source, star }];
    }),
  );
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

export interface ManifestPlan {
  /** Relative to the root, with `/`. */
  readonly file: string;
  /** Of the package; relative to the root, empty for the root itself. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly packageFile: JsonObject;
}

interface Planned {
  readonly value?: ManifestPlan;
  /** Why other projects could not use the package by it. */
  readonly problems: readonly string[];
  /** Whether codegen did not write what is there. */
  readonly isForeign: boolean;
}

/**
 * Reads the package that a manifest is of.
 *
 * @param root - absolute path of the project.
 * @param file - relative to the root, with `/`.
 */
export function planManifest(root: string, file: string, inputs: Inputs | undefined): Planned {
  const reading = readPlan(root, file, inputs);
  const match = typeof reading === 'string' ? { problems: [reading] } : { value: reading, problems: [] };
  return { ...match, isForeign: isForeign(root, file) };
}

function readPlan(root: string, file: string, inputs: Inputs | undefined): ManifestPlan | string {
  const folder = path.posix.dirname(file) === '.' ? '' : path.posix.dirname(file);
  const named = path.posix.join(folder, 'package.json');
  inputs?.see(named);
  const packageFile = objectIn(path.join(root, named));
  if (packageFile === undefined)
    return `the manifest lies beside the package.json of its package, and \`${named}\` is missing or not valid JSON`;
  const { name, version, files } = packageFile;
  if (typeof name !== 'string')
    return `\`${named}\` has no \`name\`, by which other projects import its tools`;
  if (typeof version !== 'string')
    return `\`${named}\` has no \`version\`, which a manifest is checked against`;
  if (Array.isArray(files) && !files.some(mayMatch))
    return `\`${named}\` would not publish the manifest: add "${MANIFEST_FILE}" to \`files\``;
  return { file, folder, name, version, packageFile };
}

/** Whether an entry of `files` covers the manifest; patterns are not read. */
function mayMatch(entry: unknown): boolean {
  if (typeof entry !== 'string') return false;
  const named = path.posix.join('/', entry);
  return entry.includes('*') || named === `/${MANIFEST_FILE}` || named === '/';
}

/** The first version of Node.js whose `require` reads ES modules through the file system that Yarn replaces. */
const FIRST_THAT_REQUIRES = 22;

/**
 * Reports registries that are CommonJS under Yarn's Plug'n'Play in a Node.js that cannot `require` them: they load this
 * package, an ES module, from an archive.
 *
 * @param root - absolute path of the project.
 * @param outs - the files of the registries, relative to the root.
 * @param versions - those of this process.
 */
export function archiveFaults(
  root: string,
  outs: readonly string[],
  versions: { readonly node: string; readonly pnp?: string | undefined } = process.versions,
): readonly Diagnostic[] {
  const { node, pnp } = versions;
  if (pnp === undefined || Number.parseInt(node, 10) >= FIRST_THAT_REQUIRES) return [];
  return outs
    .filter((out) => isCommonJs(path.join(root, out)))
    .map((file) => diagnostic('SW9019', undefined, { file, version: node }));
}
