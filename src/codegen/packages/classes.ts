import path from 'node:path';
import { REGISTRY_VERSION } from '../../decorators/metadata.js';
import { foldersAbove, objectIn, relativePath, textIn } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, jsonOf } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import { compareText } from '../../graph/names.js';
import { formatLocation, type SourceLocation } from '../../graph/source-location.js';
import { parseUriTemplate, variableNames } from '../../graph/uri.js';
import type {
  ClassHandle,
  Declarations,
  Phase,
  ResourceDeclaration,
  ToolDeclaration,
  WorkflowDeclaration,
} from '../declarations.js';
import { type MutableDeclarations, refuseDuplicates } from '../extract/names.js';
import type { Inputs } from '../incremental/inputs.js';
import {
  MANIFEST_FILE,
  MANIFEST_VERSION,
  type ManifestEntry,
  manifestChecksum,
  type PackageManifest,
  parseManifest,
  type ResourceData,
  type ToolData,
} from '../manifest.js';
import { type ExpressionSyntax, importKey, type PackageImport, type SymbolSyntax } from '../syntax.js';
import { allPartsOf, symbolOf } from '../verbs.js';

/** Where packages are looked for. */
interface Surroundings {
  /** Absolute path of the project. */
  readonly root: string;
  /** Records what is read. Default: nothing is recorded. */
  readonly inputs?: Inputs | undefined;
}

/**
 * Adds the tools and resources of packages that the sources name, as the manifests of the packages declare them. What
 * keeps one from being used is reported by `link`, where it is named as a tool or a resource: a package has other
 * classes as well.
 */
export function withPackages(declared: Phase<Declarations>, surroundings: Surroundings): Phase<Declarations> {
  const named = namedIn(declared.value);
  if (named.length === 0) return declared;
  const packages = new Packages(surroundings);
  const tools = new Map<string, ToolDeclaration>();
  const resources = new Map<string, ResourceDeclaration>();
  const faults = new Map<string, PackageFault>();
  for (const each of named) {
    const { imported, symbol } = each;
    const match = packages.find(imported);
    // An import that does not resolve is not a fault of the manifest where that does not list it either.
    if (symbol === undefined && !('manifest' in match)) continue;
    if ('report' in match) faults.set(importKey(imported), match.report);
    else if (symbol === undefined) faults.set(importKey(imported), unusable(imported, match.manifest, true));
    else {
      const key = formatLocation(symbol.place);
      const { tool, resource } = match;
      if (tool !== undefined && !tools.has(key)) tools.set(key, toolOf(each, symbol, match.manifest, tool));
      if (resource !== undefined && !resources.has(key))
        resources.set(key, resourceOf(each, symbol, match.manifest, resource));
    }
  }
  const merged = merge(declared.value, [...tools.values()], [...resources.values()]);
  return {
    value: { ...merged.value, packageFaults: faults },
    diagnostics: [...declared.diagnostics, ...merged.diagnostics],
  };
}

/** Makes the diagnostic at a place where a class is named. */
type PackageFault = (at: SourceLocation) => Diagnostic;

const OF_MANIFESTS: readonly string[] = ['SW6030', 'SW6031', 'SW6032', 'SW6033'];

/** Leaves out what is wrong with a package as a whole, after the first place. */
export function oncePerPackage(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const visited = new Set<string>();
  return diagnostics.filter(({ code, params }) => {
    if (!OF_MANIFESTS.includes(code)) return true;
    const key = `${code} ${String(params?.package)}`;
    return !visited.has(key) && visited.add(key);
  });
}

type ClassSymbol = Extract<SymbolSyntax, { kind: 'class' }>;

/** What the sources name of a package. */
interface Named {
  readonly imported: PackageImport;
  /** Missing for a name that its module does not export. */
  readonly symbol?: ClassSymbol;
  /** The first place. */
  readonly at: SourceLocation;
}

/** In the order of their places, each once. */
function namedIn(declarations: Declarations): readonly Named[] {
  const { tools, workflows, handles } = declarations;
  const all = [...tools.flatMap(namedByTool), ...workflows.flatMap(namedByWorkflow)];
  for (const { handle } of handles) all.push(...packageNamesIn(handle));
  const byPlace = all.sort((a, b) => compareText(a.at.file, b.at.file) || compareSpans(a.at, b.at));
  const results = new Map<string, Named>();
  for (const each of byPlace) {
    const key = importKey(each.imported);
    if (!results.has(key)) results.set(key, each);
  }
  return [...results.values()];
}

const compareSpans = ({ span: a }: SourceLocation, { span: b }: SourceLocation): number =>
  a[0] - b[0] || a[1] - b[1];

function namedByTool({ hints, needsState = [] }: ToolDeclaration): readonly Named[] {
  return [...(hints?.next ?? []), ...(hints?.requires ?? []), ...needsState].flatMap(packageNamesIn);
}

/** Walked once for a declaration that several runs share. */
const ofWorkflows = new WeakMap<WorkflowDeclaration, readonly Named[]>();

function namedByWorkflow(workflow: WorkflowDeclaration): readonly Named[] {
  const { instructions, needsState, args, steps } = workflow;
  return getOrInsert(ofWorkflows, workflow, () =>
    [
      ...[...instructions, ...needsState, ...args.flatMap(optionsOf)],
      ...steps.flatMap((step) => [step.initializer, ...step.resources, ...optionsOf(step)]),
    ].flatMap(packageNamesIn),
  );
}

function optionsOf({
  optionSyntax,
}: {
  readonly optionSyntax: Readonly<Record<string, ExpressionSyntax>>;
}): readonly ExpressionSyntax[] {
  return Object.values(optionSyntax);
}

function packageNamesIn(expression: ExpressionSyntax): readonly Named[] {
  const results: Named[] = [];
  for (const part of allPartsOf(expression)) {
    const named = namedBy(part);
    if (named !== undefined) results.push(named);
  }
  return results;
}

function namedBy(part: ExpressionSyntax): Named | undefined {
  const symbol = symbolOf(part);
  const imported =
    symbol?.kind === 'class'
      ? symbol.imported
      : symbol?.kind === 'unresolved'
        ? symbol.from?.imported
        : undefined;
  // A module of the project may be JavaScript with declarations.
  if (symbol === undefined || imported === undefined || /^\.{0,2}\//.test(imported.specifier))
    return undefined;
  return { imported, at: part.place, ...(symbol.kind === 'class' ? { symbol } : {}) };
}

/** What a manifest lists under an export. */
interface Listed {
  readonly manifest: PackageManifest;
  readonly tool?: NamedEntry<ToolData>;
  readonly resource?: NamedEntry<ResourceData>;
}

interface NamedEntry<Data> {
  readonly name: string;
  readonly entry: ManifestEntry<Data>;
}

interface Unusable {
  readonly report: PackageFault;
}

/** The packages of a run: each manifest is read once. */
class Packages {
  readonly #surroundings: Surroundings;
  readonly #manifests = new Map<string, PackageManifest | Unusable>();

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  find(imported: PackageImport): Listed | Unusable {
    const installed = this.#packageOf(imported.module);
    const from = installed?.name ?? packageIn(imported.specifier);
    if (installed === undefined) return { report: withoutManifest(imported, from) };
    const manifest = getOrInsert(this.#manifests, installed.folder, () => this.#read(imported, installed));
    // Of each class by its own name: a package may not be meant to have tools at all.
    if ('report' in manifest) return manifest;
    const { specifier, name } = imported;
    // A package may be installed under another name.
    const module = `${manifest.package.name}${specifier.slice(packageIn(specifier).length)}`;
    const listed = <Data>(all: Readonly<Record<string, ManifestEntry<Data>>>) => {
      const entries = Object.entries(all).map(([name, entry]) => ({ name, entry }));
      return entries.find(({ entry }) =>
        entry.exports.some((each) => each.module === module && each.name === name),
      );
    };
    const [tool, resource] = [listed(manifest.tools), listed(manifest.resources)];
    if (tool === undefined && resource === undefined) return { report: unusable(imported, manifest, false) };
    return { manifest, ...(tool && { tool }), ...(resource && { resource }) };
  }

  /** The package that a module lies in. A nested `package.json` without a name does not begin one. */
  #packageOf(module: string): InstalledPackage | undefined {
    const { root, inputs } = this.#surroundings;
    for (const folder of foldersAbove(path.dirname(path.resolve(root, module)))) {
      const file = path.join(folder, 'package.json');
      inputs?.see(file);
      const { name, version } = objectIn(file) ?? {};
      if (typeof name === 'string')
        return { folder, name, version: typeof version === 'string' ? version : '' };
    }
    return undefined;
  }

  #read(imported: PackageImport, { folder, name, version }: InstalledPackage): PackageManifest | Unusable {
    const { root, inputs } = this.#surroundings;
    const absolute = path.join(folder, MANIFEST_FILE);
    inputs?.see(absolute);
    const file = relativePath(root, absolute);
    const damaged = (problem: string): Unusable => ({
      report: (at) => diagnostic('SW6031', at, { package: name, file, problem }),
    });
    const text = textIn(absolute)?.replace(/^\uFEFF/, '');
    if (text === undefined) return { report: withoutManifest(imported, name) };
    const value = jsonOf(text);
    if (value === undefined) return damaged('it is not valid JSON');
    const { manifestVersion, registryVersion, checksum } = isJsonObject(value) ? value : {};
    if (!isJsonObject(value) || typeof manifestVersion !== 'number')
      return damaged('it has no number `manifestVersion`');
    const versions = [
      { what: 'format', found: manifestVersion, wanted: MANIFEST_VERSION },
      { what: 'registry version', found: registryVersion, wanted: REGISTRY_VERSION },
    ] as const;
    const otherVersion = ({ what, found, wanted }: (typeof versions)[number]): Unusable => ({
      report: (at) => diagnostic('SW6032', at, { package: name, file, what, actual: Number(found), wanted }),
    });
    // Of another format only the version is known.
    if (manifestVersion !== MANIFEST_VERSION) return otherVersion(versions[0]);
    if (checksum !== manifestChecksum(value))
      return damaged(
        'its checksum does not match its content: it was edited by hand, or written only in part',
      );
    if (typeof registryVersion === 'number' && registryVersion !== REGISTRY_VERSION)
      return otherVersion(versions[1]);
    const manifest = parseManifest(value);
    if ('pointer' in manifest) return damaged(`what is at \`${manifest.pointer}\` does not belong there`);
    const theirs = manifest.package;
    if (theirs.name === name && theirs.version === version) return manifest;
    const params = {
      package: name,
      file,
      actual: `${theirs.name}@${theirs.version}`,
      installed: `${name}@${version}`,
    };
    return { report: (at) => diagnostic('SW6033', at, params) };
  }
}

interface InstalledPackage {
  /** Absolute. */
  readonly folder: string;
  readonly name: string;
  /** Empty where it has none. */
  readonly version: string;
}

/** The name of the package in a specifier: `@acme/tools` of `@acme/tools/search`. */
function packageIn(specifier: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
}

function withoutManifest({ name: className, specifier }: PackageImport, from: string): PackageFault {
  return (at) => diagnostic('SW6030', at, { className, specifier, package: from });
}

/** @param isListed whether the manifest has it: then its module does not export it. */
function unusable(
  { name: className, specifier }: PackageImport,
  { package: from }: PackageManifest,
  isListed: boolean,
): PackageFault {
  return (at) => diagnostic('SW6034', at, { className, specifier, package: from.name, isListed });
}

function handleOf(
  { imported }: Named,
  { file, name: className, place }: ClassSymbol,
  { package: { name } }: PackageManifest,
): ClassHandle {
  const { specifier, name: exportName } = imported;
  return { file, className, exportName, place, package: { name, specifier } };
}

function toolOf(
  named: Named,
  symbol: ClassSymbol,
  manifest: PackageManifest,
  { name, entry: { exports: _, ...listed } }: NamedEntry<ToolData>,
): ToolDeclaration {
  const { description, annotations, retrySafety, visibility, secret } = listed;
  return {
    ...handleOf(named, symbol, manifest),
    ...{ name, namePlace: named.at, description, hasInputSchema: true, listed },
    ...defined({ annotations, retrySafety, visibility, secret }),
  };
}

function resourceOf(
  named: Named,
  symbol: ClassSymbol,
  manifest: PackageManifest,
  { name, entry: { exports: _, ...listed } }: NamedEntry<ResourceData>,
): ResourceDeclaration {
  const { uri, dotSegments } = listed;
  const template = parseUriTemplate(uri);
  return {
    ...handleOf(named, symbol, manifest),
    ...{ name, namePlace: named.at, uri, uriPlace: named.at, listed },
    // An address never holds a brace.
    ...(uri.includes('{') && 'parts' in template ? { variables: variableNames(template.parts) } : {}),
    ...defined({ dotSegments }),
  };
}

/** Adds the classes of packages. Those that share a name with another class are reported where they are named. */
function merge(
  declarations: Declarations,
  tools: readonly ToolDeclaration[],
  resources: readonly ResourceDeclaration[],
): Phase<Declarations> {
  const places = new Set([...tools, ...resources].map(({ namePlace }) => formatLocation(namePlace)));
  const diagnostics: Diagnostic[] = [];
  const { workflows, prompts, states, agents, faulty } = declarations;
  const merged: MutableDeclarations = {
    tools: [...declarations.tools, ...tools],
    resources: [...declarations.resources, ...resources],
    ...{ workflows: [...workflows], prompts: [...prompts], states: [...states] },
    ...{ agents: [...agents], faulty: [...faulty] },
  };
  refuseDuplicates(merged, (fault) => {
    // Those of the project have been reported.
    if (fault.place !== undefined && places.has(formatLocation(fault.place))) diagnostics.push(fault);
  });
  return { value: { ...declarations, ...merged }, diagnostics };
}
