import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import {
  domainTexts,
  entryText,
  objectOfTexts,
  partsOfTexts,
  REGISTRY_VERSION,
} from '../../decorators/metadata.js';
import { canonicalJson } from '../../graph/canonical.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { append } from '../../graph/maps.js';
import type { Domain, Graph } from '../../graph/model.js';
import { compareText, freeName } from '../../graph/names.js';
import type { ClassHandle, FunctionHandle } from '../declarations.js';
import type { ImportEnding } from '../syntax.js';
import {
  Identifier,
  JsonText,
  type Literal,
  type LiteralObject,
  Printed,
  printLiteral,
  printString,
  WIDTH,
  withTypes,
} from './literals.js';

/** The first line of every registry; a file without it is never overwritten. */
export const REGISTRY_HEADER =
  '// Written by `stepwright codegen`: run it again instead of editing this file.';

/** One entry of a registry: the class, and everything of `ToolEntry` and its like but the class. */
export interface EntryContent<Data extends object = object> {
  readonly name: string;
  readonly handle: ClassHandle;
  readonly data: Data;
}

/** A workflow in a registry. */
export interface WorkflowEntry extends EntryContent<{ readonly graph: Graph }> {
  /** What the emitter makes of it: most of its work, and done once for an entry that several runs share. */
  readonly text: WorkflowText;
  /** Whether an argument has a function that completes it. Default: false. */
  readonly completes?: boolean;
}

/** See {@link workflowText}. */
export interface WorkflowText {
  /** What the checksum covers. */
  readonly canonical: string;
  /** By the local name of its class. */
  readonly printed: Record<string, string>;
}

/** A workflow of a spec file in a registry: it has no class. */
export interface SpecEntry {
  readonly name: string;
  /** Canonical JSON of the entry, which the checksum covers. */
  readonly text: string;
  /** As TypeScript. */
  readonly types: { readonly args: string; readonly result: string };
}

/** Everything that goes into a registry, in any order. */
export interface RegistryContent {
  readonly tools: readonly EntryContent[];
  readonly resources: readonly EntryContent[];
  readonly workflows: readonly WorkflowEntry[];
  /** Workflows of spec files. */
  readonly specs?: readonly SpecEntry[];
  readonly prompts?: readonly EntryContent[];
  /** What the graphs name, each once. */
  readonly functions?: readonly FunctionContent[];
  /** What is said about domains, each once. */
  readonly domains?: readonly Domain[];
}

/** A function that graphs name. */
type FunctionContent = Omit<FunctionHandle, 'place'>;

/** Names the emitted module declares or imports itself. */
const OWN_NAMES = [
  'defineRegistry',
  'graphJson',
  'schemaJson',
  'registry',
  'ArgsOf',
  'ResultOf',
  'ResourceName',
  'ToolName',
  'WorkflowName',
  'PromptName',
  'WorkflowArgs',
  'WorkflowResult',
  'WorkflowArguments',
  'WorkflowResultOf',
  'SpecArgs',
  'SpecResults',
  'Workflows',
  'InstanceType',
];

/**
 * Prints a registry as a TypeScript module. The same content gives the same text, whatever order it comes in; nothing
 * of the machine, the day or the place of the project is in it.
 *
 * @param out - the module's path relative to the project's root.
 * @param ending - how the project's own files are imported.
 * @param isIsolated - whether each exported name has to say its type: `isolatedDeclarations` of the compiler.
 */
export function emitRegistry(
  content: RegistryContent,
  out: string,
  ending: ImportEnding = 'js',
  isIsolated = false,
): string {
  const sorted = sortedContent(content);
  const { tools, resources, workflows, specs, prompts } = sorted;
  const imports = importExports(
    handlesOf(sorted),
    out,
    isIsolated ? [...OWN_NAMES, ...TYPE_NAMES] : OWN_NAMES,
    ending,
  );
  // Callers know arguments by other names than those of the fields.
  const isRenamed = workflows.some(({ data }) => 'fields' in data && data.fields !== undefined);
  // Only the entries know the types of workflows without classes.
  const isByEntry = isRenamed || specs.length > 0;
  const all = byName([...workflows, ...specs]);
  const helpers = [
    ...(isIsolated ? [] : ['defineRegistry']),
    ...(isIsolated ? typesUsed(sorted) : []),
    ...(all.length === 0 ? [] : ['graphJson']),
    ...(tools.length === 0 ? [] : ['schemaJson']),
    ...(isByEntry ? ['type WorkflowArguments'] : []),
    ...(specs.length === 0 ? [] : ['type WorkflowResultOf']),
  ];
  const types = [...(isByEntry ? [] : ['ArgsOf']), ...(specs.length === 0 ? ['ResultOf'] : [])];
  const form = isIsolated ? TYPED : PLAIN;
  const registry = form.of(registryLiteral(sorted, imports, form));
  const [start, end] = isIsolated
    ? ['export const registry = ', ' as const;']
    : ['export const registry = defineRegistry(', ');'];
  const lines = [
    REGISTRY_HEADER,
    ...(types.length === 0 ? [] : [`import type { ${types.join(', ')} } from 'stepwright';`]),
    `import { ${helpers.join(', ')} } from 'stepwright/runtime';`,
    ...imports.statements,
    '',
    '/** Everything a server offers. */',
    `${start}${printLiteral(registry, 0, start.length)}${end}`,
    '',
    '/** The names of the tools. */',
    `export type ToolName = ${unionOf(tools)};`,
    '',
    '/** The names of the resources. */',
    `export type ResourceName = ${unionOf(resources)};`,
    '',
    '/** The names of the workflows. */',
    `export type WorkflowName = ${unionOf(all)};`,
    '',
    ...promptName(prompts),
    ...specTypes(specs),
    ...(specs.length > 0 ? [] : workflowClasses(workflows, imports)),
    '/** What a caller of workflow `N` supplies. */',
    isByEntry
      ? 'export type WorkflowArgs<N extends WorkflowName> = WorkflowArguments<typeof registry, N>;'
      : 'export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;',
    '',
    '/** What workflow `N` hands back. */',
    specs.length > 0
      ? 'export type WorkflowResult<N extends WorkflowName> = WorkflowResultOf<typeof registry, N>;'
      : 'export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;',
    '',
  ];
  // Not joined: its text is copied once, when it is written.
  return lines.reduce((text, line) => `${text}\n${line}`);
}

function sortedContent(content: RegistryContent): SortedContent {
  return {
    tools: byName(content.tools),
    resources: byName(content.resources),
    workflows: byName(content.workflows),
    specs: byName(content.specs ?? []),
    prompts: byName(content.prompts ?? []),
    functions: byName(content.functions ?? []),
    domains: byName(content.domains ?? []),
  };
}

/** Everything that a registry imports. */
function handlesOf({ tools, resources, workflows, prompts, functions }: SortedContent): ExportHandle[] {
  const classes = [...tools, ...resources, ...workflows, ...prompts].map(({ handle }) => handle);
  return [...classes, ...functions.map(exportOf)];
}

/** A registry in two parts: a module, and data for a process that has loaded the module. */
export interface RegistryParts {
  /**
   * A module in the place of the registry that exports what a server needs of its imports: workflows are graphs, and their
   * classes are left out, except for those that complete arguments.
   */
  readonly module: string;
  readonly checksum: string;
  /** Canonical JSON of the tables, without classes and functions; domains are a table as well. */
  readonly tables: string;
  /** The exports of the module, by table and name. */
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The parts of the registry that {@link emitRegistry} prints. */
export function registryParts(content: RegistryContent, out: string, ending: ImportEnding): RegistryParts {
  const sorted = sortedContent(content);
  const { tools, resources, prompts, functions } = sorted;
  const workflows = sorted.workflows.filter(({ completes }) => completes);
  const handles = handlesOf({ ...sorted, workflows });
  const { statements, nameOf } = importExports(handles, out, [], ending);
  const names = new Set(handles.map(nameOf));
  const table = (entries: readonly EntryContent[]) =>
    Object.fromEntries(entries.map(({ name, handle }) => [name, nameOf(handle)]));
  let tables = '';
  for (const part of partsOfContent(sorted)) tables += part;
  return {
    module: [...statements, `export { ${[...names].join(', ')} };\n`].join('\n'),
    checksum: checksumOf(sorted),
    tables,
    exports: {
      ...{ tools: table(tools), resources: table(resources), workflows: table(workflows) },
      prompts: table(prompts),
      functions: Object.fromEntries(functions.map((each) => [each.name, nameOf(exportOf(each))])),
    },
  };
}

/** How the values of a registry are written. */
interface Form {
  /** Distinguishes what was printed before. */
  readonly key: string;
  of(value: LiteralObject): Literal;
}

const PLAIN: Form = { key: '', of: (value) => value };

const TYPED: Form = { key: 'typed ', of: (value) => withTypes(value, typeOfTag) };

/** The types that a registry names where it says the types of its values. */
const TYPE_NAMES = ['Graph', 'JsonSchema', 'TypedGraph'];

function typesUsed({ tools, workflows, specs }: SortedContent): readonly string[] {
  return [
    ...(workflows.length > 0 ? ['type Graph'] : []),
    ...(tools.length > 0 ? ['type JsonSchema'] : []),
    ...(specs.length > 0 ? ['type TypedGraph'] : []),
  ];
}

/** `graphJson` of a class, of a class that says how it is offered, and of a spec file. */
function typeOfTag(tag: string): string {
  const [, given] = /^graphJson<(.*)>$/.exec(tag) ?? [];
  if (given === undefined) return tag === 'graphJson' ? 'Graph' : 'JsonSchema';
  return given.startsWith('[') ? `Graph & { readonly expose: ${given} }` : `TypedGraph<${given}>`;
}

function registryLiteral(content: SortedContent, imports: RegistryImports, form: Form): LiteralObject {
  const { tools, resources, workflows, specs, prompts, functions, domains } = content;
  const table = (entries: readonly EntryContent[]): LiteralObject =>
    Object.fromEntries(
      entries.map(({ name, handle, data }) => [
        name,
        { class: new Identifier(imports.nameOf(handle)), ...withTexts(data as JsonObject) },
      ]),
    );
  const printed = [
    ...workflows.map((entry) => ({
      name: entry.name,
      text: printWorkflow(entry, imports.nameOf(entry.handle), form),
    })),
    ...specs.map((entry) => ({ name: entry.name, text: printSpec(entry, form) })),
  ];
  const functionTable = Object.fromEntries(
    functions.map((each) => [
      each.name,
      { function: new Identifier(imports.nameOf(exportOf(each))), hash: each.hash },
    ]),
  );
  // What is not used leaves no trace: registries of former versions stay as they are.
  return {
    registryVersion: REGISTRY_VERSION,
    checksum: checksumOf(content),
    ...(resources.some(namesFile) ? { module: new Identifier('import.meta.url') } : {}),
    tools: table(tools),
    resources: table(resources),
    workflows: Object.fromEntries(byName(printed).map(({ name, text }) => [name, text])),
    ...(prompts.length === 0 ? {} : { prompts: table(prompts) }),
    ...(functions.length === 0 ? {} : { functions: functionTable }),
    ...(domains.length === 0 ? {} : { domains: domains as unknown as Json }),
  };
}

/** The classes of workflows by name, which their types are read from. */
function workflowClasses(workflows: readonly WorkflowEntry[], imports: RegistryImports): readonly string[] {
  return [
    'interface Workflows {',
    ...workflows.map(({ name, handle }) => `  readonly ${printString(name)}: ${imports.nameOf(handle)};`),
    '}',
    '',
  ];
}

/** The types of workflows without classes, by name. */
function specTypes(specs: readonly SpecEntry[]): readonly string[] {
  if (specs.length === 0) return [];
  const table = (member: 'args' | 'result') =>
    specs.map(({ name, types }) => `  readonly ${printString(name)}: ${types[member]};`);
  return [
    'interface SpecArgs {',
    ...table('args'),
    '}',
    '',
    'interface SpecResults {',
    ...table('result'),
    '}',
    '',
  ];
}

/** The members that are JSON text: a compiler would take long for their types, which nothing needs. */
function withTexts(data: JsonObject): LiteralObject {
  const members = Object.entries(data).map(([name, value]) => [name, asText(name, value)] as const);
  return Object.fromEntries(members);
}

function asText(member: string, value: Json): Literal {
  switch (member) {
    case 'graph':
      return graphText(value as JsonObject);
    case 'inputSchema':
    case 'outputSchema':
      return value === undefined ? value : new JsonText('schemaJson', value);
    default:
      return value;
  }
}

/** The types of callers ask how a workflow is offered. */
function graphText(graph: JsonObject): JsonText {
  const { expose } = graph;
  const tag = expose === undefined ? 'graphJson' : `graphJson<${printLiteral(expose)}>`;
  return new JsonText(tag, graph, LEADING);
}

/** What readers look for first; canonical JSON has sorted all keys. */
const LEADING = ['graphVersion', 'name', 'id', 'key', 'kind', 'root'];

function promptName(prompts: readonly EntryContent[]): readonly string[] {
  if (prompts.length === 0) return [];
  return [
    '/** The names of the prompts that are no workflows. */',
    `export type PromptName = ${unionOf(prompts)};`,
    '',
  ];
}

function exportOf({ ownName, file, exportName }: FunctionContent): ExportHandle {
  return { className: ownName, file, exportName };
}

/** Files are found from the place of the registry. */
function namesFile({ data }: EntryContent): boolean {
  return 'file' in data && data.file !== undefined;
}

function byName<E extends { readonly name: string }>(entries: readonly E[]): readonly E[] {
  return [...entries].sort((a, b) => compareText(a.name, b.name));
}

/**
 * What a registry says of a workflow, before its class has a name there.
 *
 * @param graphText - the canonical JSON of the graph, without places: with them, a registry would be stale whenever a
 *   line above a workflow is added.
 */
export function workflowText(
  { graph: _graph, ...rest }: WorkflowEntry['data'],
  graphText: string,
): WorkflowText {
  const texts: Record<string, string> = { graph: graphText };
  for (const [name, value] of Object.entries<Json | undefined>(rest)) {
    if (value !== undefined) texts[name] = canonicalJson(value);
  }
  return { canonical: objectOfTexts(texts), printed: {} };
}

function printWorkflow(entry: WorkflowEntry, className: string, form: Form): Printed {
  const { canonical, printed } = entry.text;
  const key = `${form.key}${className}`;
  const cached = printed[key];
  if (cached !== undefined) return new Printed(cached);
  const { graph } = JSON.parse(canonical) as { readonly graph: Json };
  const data = { ...entry.data, graph } as JsonObject;
  // Two hashes are in it: it never fits on one line.
  const text = printLiteral(form.of({ class: new Identifier(className), ...withTexts(data) }), 4, WIDTH);
  printed[key] = text;
  return new Printed(text);
}

/** Canonical JSON of a workflow without a class. @param graphText - see {@link workflowText}. */
export function specEntryText(graphText: string, hash: string): string {
  return objectOfTexts({ graph: graphText, hash: canonicalJson(hash) });
}

function printSpec({ name, text }: SpecEntry, form: Form): Printed {
  const { graph, ...rest } = JSON.parse(text) as { readonly graph: Json };
  const key = printString(name);
  const tag = `graphJson<SpecArgs[${key}], SpecResults[${key}]>`;
  const entry = { graph: new JsonText(tag, graph, LEADING), ...(rest as JsonObject) };
  return new Printed(printLiteral(form.of(entry), 4, WIDTH));
}

interface SortedContent extends Required<RegistryContent> {}

function checksumOf(content: SortedContent): string {
  const hash = createHash('sha256');
  for (const part of partsOfContent(content)) hash.update(part);
  return hash.digest('hex');
}

/** What the checksum covers. */
function partsOfContent(content: SortedContent): Iterable<string> {
  const { tools, resources, workflows, specs, prompts, functions, domains } = content;
  const table = (entries: readonly EntryContent[]): Record<string, string> =>
    Object.fromEntries(entries.map(({ name, data }) => [name, entryText(data)]));
  return partsOfTexts({
    tools: table(tools),
    resources: table(resources),
    workflows: Object.fromEntries([
      ...workflows.map(({ name, text }) => [name, text.canonical] as const),
      ...specs.map(({ name, text }) => [name, text] as const),
    ]),
    prompts: table(prompts),
    functions: Object.fromEntries(functions.map(({ name, hash }) => [name, entryText({ hash })])),
    domains: domainTexts(domains),
  });
}

function unionOf(entries: readonly { readonly name: string }[]): string {
  if (entries.length === 0) return 'never';
  const names = entries.map(({ name }) => printString(name));
  const line = names.join(' | ');
  return line.length <= 80 ? line : names.map((name) => `\n  | ${name}`).join('');
}

/** An export of a source file: a class, or a function, whose name then replaces the class's. */
type ExportHandle = Pick<ClassHandle, 'file' | 'className' | 'exportName' | 'package'>;

/** The import statements of a registry, and the local name of each export. */
export interface RegistryImports {
  readonly statements: readonly string[];
  /** @throws Error for an export that was not among the imported ones. */
  nameOf(handle: ExportHandle): string;
}

/**
 * Names and imports the exports: sorted, one statement per file, with an alias where two share a name.
 *
 * @param out - the registry's path relative to the project's root; specifiers are relative to its folder.
 * @param usedNames - names the registry uses itself.
 * @param ending - of the specifiers.
 */
export function importExports(
  handles: readonly ExportHandle[],
  out: string,
  usedNames: readonly string[],
  ending: ImportEnding = 'js',
): RegistryImports {
  const names = new Map<string, string>();
  const used = new Set(usedNames);
  const members = new Map<string, string[]>();
  const identified = new Map<string, ExportHandle>();
  for (const handle of handles) {
    const identity = identityOf(handle);
    if (!identified.has(identity)) identified.set(identity, handle);
  }
  const sorted = [...identified].sort(([a], [b]) => compareText(a, b));
  for (const [identity, handle] of sorted) {
    const name = freeName(handle.className || 'Anonymous', (each) => used.has(each));
    used.add(name);
    names.set(identity, name);
    const specifier = handle.package?.specifier ?? moduleSpecifier(handle.file, out, ending);
    append(members, specifier, importMember(exportNameOf(handle), name));
  }
  const statements = [...members]
    .sort(([a], [b]) => compareText(a, b))
    .map(([specifier, list]) => `import { ${list.join(', ')} } from ${printString(specifier)};`);
  return {
    statements,
    nameOf(handle) {
      const name = names.get(identityOf(handle));
      if (name === undefined) throw new Error(`${handle.className} of ${handle.file} was not imported`);
      return name;
    },
  };
}

const identityOf = (handle: ExportHandle): string => `${handle.file}#${exportNameOf(handle)}`;

function exportNameOf({ exportName, className, file }: ExportHandle): string {
  if (exportName === undefined) throw new Error(`${className} of ${file} is not exported`);
  return exportName;
}

function importMember(exportName: string, name: string): string {
  if (exportName === name) return name;
  const isIdentifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(exportName);
  return `${isIdentifier ? exportName : printString(exportName)} as ${name}`;
}

function moduleSpecifier(file: string, out: string, ending: ImportEnding): string {
  const path = withEnding(posix.relative(posix.dirname(out), file), ending);
  return path.startsWith('../') ? path : `./${path}`;
}

/** By its output, `.mts` is named `.mjs`. An import without an ending finds neither `.mts` nor `.cts`. */
function withEnding(file: string, ending: ImportEnding): string {
  if (ending === 'ts') return file;
  const bare = file.replace(/\.tsx?$/, '');
  return ending === 'none' && bare !== file ? bare : file.replace(/\.([cm]?)tsx?$/, '.$1js');
}
