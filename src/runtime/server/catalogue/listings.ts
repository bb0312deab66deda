import type { Icon } from '../../../decorators/decorate.js';
import { readMetadata } from '../../../decorators/metadata.js';
import type { SimplePrompt } from '../../../decorators/prompt.js';
import { currentSchema } from '../../../formats/json-schema/dialect.js';
import { flatSchema } from '../../../formats/json-schema/flat-schema.js';
import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { getOrInsert } from '../../../graph/maps.js';
import type { Graph, Input } from '../../../graph/model.js';
import { bodyText, cutText } from '../../../graph/printable-text.js';
import { toolUses, withUse } from '../../../infer/derived-hints.js';
import { describeTool, HINTS_META, hintsFrom } from '../../../infer/tool.js';
import {
  type AnyClass,
  clientToolNames,
  type PromptEntry,
  type Registry,
  type ToolEntry,
  type WorkflowEntry,
} from '../../tools/registry.js';
import { isOffered, type RunnableWorkflow } from '../composite/served-workflows.js';
import {
  faultCodes,
  headOf,
  type PromptListing,
  ProtocolFault,
  type ResourceListing,
  type ResourceTemplateListing,
  type ToolListing,
} from '../wire.js';
import { type Completer, listArgument } from './arguments.js';

/** Something a client can get by `prompts/get`. */
export interface ServedPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly meta?: JsonObject;
  /** What a client needs to get it. Default: none. */
  readonly scopes?: readonly string[] | undefined;
  /** In declaration order. */
  readonly inputs: readonly Input[];
  /** By argument. */
  readonly completers: ReadonlyMap<string, Completer>;
  readonly content:
    | { readonly kind: 'workflow'; readonly workflow: RunnableWorkflow }
    | { readonly kind: 'class'; readonly entry: PromptEntry }
    | { readonly kind: 'function'; readonly prompt: SimplePrompt };
}

/** Every prompt of a server: exposed workflows, prompt classes and plain prompts. */
export function servedPrompts(
  registry: Registry,
  built: readonly RunnableWorkflow[],
  plain: readonly SimplePrompt[],
): ServedPrompt[] {
  const decorated = Object.values(registry.workflows);
  return [
    ...decorated
      .filter(({ graph }) => isOffered(graph, 'prompt'))
      .map((entry) => workflowPrompt(entry, entry)),
    ...built.filter(({ graph }) => isOffered(graph, 'prompt')).map((workflow) => workflowPrompt(workflow)),
    ...Object.entries(registry.prompts ?? {}).map(([name, entry]) => classPrompt(name, entry)),
    ...plain.map(plainPrompt),
  ];
}

function workflowPrompt(workflow: RunnableWorkflow, entry?: WorkflowEntry): ServedPrompt {
  const { name, title, description, inputs, scopes } = workflow.graph;
  return {
    name,
    description,
    ...defined({ title, icons: entry?.icons, meta: entry?.meta }),
    scopes,
    inputs,
    completers: entry?.class === undefined ? new Map() : completersOf(entry.class),
    content: { kind: 'workflow', workflow },
  };
}

function classPrompt(name: string, entry: PromptEntry): ServedPrompt {
  const { title, description, icons, meta } = entry;
  return {
    name,
    ...defined({ title, description, icons, meta }),
    inputs: entry.arguments,
    completers: completersOf(entry.class),
    content: { kind: 'class', entry },
  };
}

function plainPrompt(prompt: SimplePrompt): ServedPrompt {
  const { name, description } = prompt;
  return {
    name,
    ...defined({ description }),
    inputs: prompt.arguments.map((argument) => ({ ...argument, schema: { type: 'string' } })),
    completers: new Map(),
    content: { kind: 'function', prompt },
  };
}

/** Functions never enter a registry: these are read from the class. */
function completersOf(cls: AnyClass): ReadonlyMap<string, Completer> {
  const metadata = readMetadata(cls);
  if (metadata?.kind !== 'workflow' && metadata?.kind !== 'prompt') return new Map();
  return new Map(
    metadata.args.flatMap(({ name: field, options: { name = field, complete } }) =>
      complete === undefined ? [] : [[name, complete] as const],
    ),
  );
}

/** What a server offers, each list in the order of names, as clients see it. */
export interface Listings {
  readonly tools: readonly ToolListing[];
  readonly prompts: readonly PromptListing[];
  readonly resources: readonly ResourceListing[];
  readonly templates: readonly ResourceTemplateListing[];
}

const ARGUMENTS = new WeakMap<ServedPrompt['inputs'], readonly ReturnType<typeof listArgument>[]>();

/** The arguments of a prompt in a list: worked out once for the same prompt of catalogues that follow each other. */
function listedArguments(inputs: ServedPrompt['inputs']): readonly ReturnType<typeof listArgument>[] {
  return getOrInsert(ARGUMENTS, inputs, () => inputs.map(listArgument));
}

/** Makes the lists, once: they never change while a server runs. */
export function listingsOf(registry: Registry, prompts: readonly ServedPrompt[]): Listings {
  const resources = byName(Object.entries(registry.resources)).map(([name, entry]) => {
    const { uri, description, mimeType } = entry;
    const listing = {
      ...headOf(name, entry),
      ...defined({ description, mimeType }),
    };
    return { uri, listing };
  });
  return {
    tools: listedTexts(toolListings(registry)),
    prompts: listedTexts(
      byName(prompts.map((prompt) => [prompt.name, prompt] as const)).map(([name, prompt]) => ({
        ...headOf(name, prompt),
        ...defined({ description: prompt.description }),
        arguments: listedArguments(prompt.inputs),
      })),
    ),
    resources: listedTexts(
      resources.flatMap(({ uri, listing }) => (isTemplate(uri) ? [] : [{ ...listing, uri }])),
    ),
    templates: listedTexts(
      resources.flatMap(({ uri, listing }) => (isTemplate(uri) ? [{ ...listing, uriTemplate: uri }] : [])),
    ),
  };
}

/** The tools that clients may call. */
function toolListings({ tools }: Registry): ToolListing[] {
  const names = new Set(clientToolNames({ tools }));
  return byName(Object.entries(tools).filter(([name]) => names.has(name))).map(([name, entry]) => {
    const { description, inputSchema, listedSchema, outputSchema, annotations, task } = entry;
    const hints = hintsOf(entry, names);
    const meta = hints === undefined ? entry.meta : { ...entry.meta, [HINTS_META]: hints };
    return {
      ...headOf(name, { ...entry, meta }),
      description,
      inputSchema:
        listedSchema === 'flat' ? flatSchema(currentSchema(inputSchema)) : currentSchema(inputSchema),
      ...defined({ outputSchema: outputSchema && currentSchema(outputSchema), annotations }),
      ...(task === undefined ? {} : { execution: { taskSupport: task } }),
    };
  });
}

/** Adds to the hints of tools what follows from the workflows that call them. */
export function withUses(tools: readonly ToolListing[], graphs: readonly Graph[]): readonly ToolListing[] {
  const uses = toolUses(graphs);
  if (uses.size === 0) return tools;
  const names = new Set(tools.map(({ name }) => name));
  return tools.map((tool) => {
    const { [HINTS_META]: declared, ...others } = tool._meta ?? {};
    const all = withUse(isJsonObject(declared) ? declared : undefined, uses.get(tool.name));
    const hints = all && callableHints(all, (name) => names.has(name));
    return hints === undefined ? tool : { ...tool, _meta: { ...others, [HINTS_META]: hints } };
  });
}

/**
 * A tool as a caller sees it: its hints name no tool that is hidden from the caller.
 *
 * @param isDescribed whether its description ends with its hints.
 */
export function shownTool(
  listing: ToolListing,
  isShown: (tool: string) => boolean,
  isDescribed = false,
): ToolListing {
  const { _meta: meta } = listing;
  const hints = meta?.[HINTS_META];
  if (!isJsonObject(hints)) return listing;
  const shown = callableHints(hints, isShown);
  const { [HINTS_META]: _, ...others } = meta ?? {};
  const rest = shown === undefined ? others : { ...others, [HINTS_META]: shown };
  const { _meta, ...bare } = isDescribed && shown !== undefined ? describedTool(listing, shown) : listing;
  return Object.keys(rest).length === 0 ? bare : { ...bare, _meta: rest };
}

function describedTool(listing: ToolListing, hints: JsonObject): ToolListing {
  return { ...listing, description: describeTool(listing.description, hintsFrom(hints)) };
}

/** The hints of a tool without the tools that clients may not call. */
function hintsOf({ hints }: ToolEntry, names: ReadonlySet<string>): JsonObject | undefined {
  return hints && callableHints(hints, (name) => names.has(name));
}

function callableHints(hints: JsonObject, isCallable: (tool: string) => boolean): JsonObject | undefined {
  const callable = (list: Json | undefined) =>
    Array.isArray(list) ? list.filter((name) => typeof name !== 'string' || isCallable(name)) : undefined;
  const { next, requires, oftenAfter, ...others } = hints;
  const relations = Object.entries({
    next: callable(next),
    requires: callable(requires),
    oftenAfter: callable(oftenAfter),
  });
  const shown = relations.filter((relation): relation is [string, Json[]] => (relation[1]?.length ?? 0) > 0);
  const all = { ...others, ...Object.fromEntries(shown) };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** An address never holds a brace. */
function isTemplate(uri: string): boolean {
  return uri.includes('{');
}

/** By code unit, so that the order is the same in every locale. */
function byName<T>(entries: readonly (readonly [string, T])[]): (readonly [string, T])[] {
  return entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** A stretch of a list, and the cursor of the next one where there is more. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/**
 * Cuts one page out of a list whose order never changes.
 *
 * @param list - names the list inside the cursor, so that a cursor of another list is refused.
 * @param cursor - from the page before; absent for the first page.
 * @param size - items per page, at least 1.
 * @throws {ProtocolFault} -32602 for a cursor this list did not hand out.
 */
export function pageOf<T>(
  list: string,
  items: readonly T[],
  cursor: string | undefined,
  size: number,
): Page<T> {
  const from = cursor === undefined ? 0 : offsetIn(list, items.length, cursor);
  const to = from + size;
  return {
    items: items.slice(from, to),
    ...(to < items.length ? { nextCursor: encode(list, to) } : {}),
  };
}

function encode(list: string, offset: number): string {
  return Buffer.from(`${list}:${offset}`).toString('base64url');
}

function offsetIn(list: string, length: number, cursor: string): number {
  const [, offset] =
    /^[a-z]+:([1-9][0-9]{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  const from = Number(offset);
  // Encoding it again refuses the many spellings that base64 decoders let pass.
  if (offset === undefined || from >= length || encode(list, from) !== cursor) {
    throw new ProtocolFault(
      faultCodes.invalidParams,
      'Invalid cursor: this list did not return it. Leave it out to get the first page',
    );
  }
  return from;
}

export function withoutOutputSchema({ outputSchema: _, ...listing }: ToolListing): ToolListing {
  return listing;
}

/** The longest title or description that a list has, in UTF-16 code units. */
const LIMIT = 10_000;

/** Members of schemas that hold data, which stays as it is. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', '_meta', 'icons']);
/** Members of schemas with names of their own as keys. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/**
 * Entries of a list with readable titles and descriptions, those in schemas among them: unprintable characters are
 * written as `\u…`, and a long text is cut with a note. Many come from upstream servers and spec files.
 */
export function listedTexts<T>(entries: readonly T[]): readonly T[] {
  return entries.map((entry) => readable(entry as Json) as T);
}

/** Schemas that catalogues which follow each other have in common. */
const READABLE = new WeakMap<object, Json>();

function readable(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  return getOrInsert(READABLE, value, () => readableParts(value, false));
}

function readableParts(value: Json, hasNames: boolean): Json {
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => readable(item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, Json] => {
    if (hasNames) return [key, readable(member)];
    if (typeof member === 'string') return [key, isShown(key) ? readableText(member) : member];
    return [key, DATA.has(key) ? member : NAMED.has(key) ? readableParts(member, true) : readable(member)];
  });
  return entries.every(([key, member]) => member === value[key]) ? value : Object.fromEntries(entries);
}

function isShown(key: string): boolean {
  return key === 'description' || key === 'title';
}

function readableText(text: string): string {
  const shown = bodyText(text.slice(0, LIMIT + 2));
  if (text.length <= LIMIT && shown.length <= LIMIT) return shown;
  return `${cutText(shown, LIMIT)}… (cut: it has ${text.length} characters)`;
}
