import { sampleOf } from '../../../formats/json-schema/sample.js';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import {
  jsonOf,
  type Located,
  type LocatedMap,
  locatedAt,
  SourceText,
} from '../../../formats/text/located.js';
import { openText, readText } from '../../../formats/text/read-text.js';
import { Reports } from '../../../formats/text/reading.js';
import { type Diagnostic, diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import { references } from '../../../graph/expression/traversal.js';
import { isJsonObject, isWrapped, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { CallNode, Graph } from '../../../graph/model.js';
import { nearestName } from '../../../graph/names.js';
import {
  bodiesOf,
  compensationsOf,
  expressionsOf,
  nodesOf,
  nodesWithTasks,
  ownResources,
} from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import { actionKind } from '../../engine/actions.js';
import type { Failure } from '../../engine/contract.js';
import type { Action } from '../../engine/events.js';
import type { RunMask } from '../../secrets/run-mask.js';
import { checkInput } from '../../tools/check-input.js';
import type {
  CallContext,
  CallPort,
  EvaluationOutcome,
  ResourceOutcome,
  ToolOutcome,
} from '../../tools/port.js';
import type { Registry, ToolEntry } from '../../tools/registry.js';
import { schemaProblems } from '../../tools/schema-problems.js';
import { toolTexts } from '../../tools/tool-texts.js';
import type { Toolset } from '../../tools/toolset.js';

/** What one call gives: a result, or a failure. */
type Stub = { readonly value: Json } | { readonly failure: Failure };

/** Results by the id of a node, or else by the name of a tool or a resource. One for each call; the last one is repeated. */
type StubResults = Readonly<Record<string, readonly Stub[]>>;

/** What answers in the place of tools. */
export interface Stubs {
  readonly results: StubResults;
  /** Where the schemas of other results are, and those that inputs are checked with. Default: other tools return null. */
  readonly tools?: Registry['tools'];
  /** Where the texts of resources are. Default: they are empty. */
  readonly resources?: Registry['resources'];
  /** Evaluates functions, which have no effect, and knows secret inputs. Default: a function fails. */
  readonly toolset?: Pick<Toolset, 'evaluate' | 'secretInputs'>;
}

/** Where a result is from: what was given, an output schema, or nothing. */
type ResultSource = 'given' | 'schema' | 'null';

/** A call that was answered by a stub. Secrets are masked. */
export interface StubbedCall {
  readonly step_id: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** Missing for a call that failed. */
  readonly result?: Json;
  readonly failure?: Failure;
  /** Missing for a call whose input was refused. */
  readonly stub?: ResultSource;
}

/** What a tool returns by its output schema. An upstream tool may wrap its value in an object. */
export function sampleResult({ outputSchema }: Pick<ToolEntry, 'outputSchema'>): Json | undefined {
  if (outputSchema === undefined) return undefined;
  const sample = sampleOf(outputSchema, 1);
  return isWrapped(outputSchema) && isJsonObject(sample) ? (sample.result ?? null) : sample;
}

/** The value of a step as its tool would send it, which is what the output schema is about. */
export function sentResult({ outputSchema }: Pick<ToolEntry, 'outputSchema'>, value: Json): Json {
  return isWrapped(outputSchema) ? { result: value } : value;
}

/** The names that a stub of a node may have, the most exact one first: `sub/line` of `sub/line[3]`, then `line`. */
export function stubNames(key: string): readonly string[] {
  const path = key.replaceAll(/\[\d+\]/g, '');
  const id = path.slice(path.lastIndexOf('/') + 1);
  return path === id ? [id] : [path, id];
}

/** Finds the stubs of nodes, tools and resources, one after the other. */
export class StubQueue {
  readonly #results: StubResults;
  readonly #counts = new Map<string, number>();

  constructor(results: StubResults) {
    this.#results = results;
  }

  /** The next stub of the first name that has one. */
  next(names: readonly string[]): Stub | undefined {
    for (const name of names) {
      const stubs = ownProperty(this.#results, name);
      if (stubs === undefined) continue;
      const count = this.#counts.get(name) ?? 0;
      this.#counts.set(name, count + 1);
      return stubs[count] ?? stubs.at(-1);
    }
    return undefined;
  }
}

/** Answers the calls of a run with stubs. No tool is called, and no resource is read. */
export class StubPort implements CallPort {
  /** Calls that have not returned. */
  inFlight = 0;
  readonly #stubs: Stubs;
  readonly #queue: StubQueue;
  readonly #mask: RunMask;
  readonly #onCall: (call: StubbedCall) => void;
  readonly #schemas = new SchemaCompiler();
  /** `id tool` of the nodes that call: a compensation has the id of a node and another tool. */
  readonly #nodes: ReadonlySet<string>;

  constructor(
    graph: Graph,
    stubs: Stubs,
    { mask, onCall, queue = new StubQueue(stubs.results) }: StubPortOptions,
  ) {
    this.#stubs = stubs;
    this.#queue = queue;
    this.#mask = mask;
    this.#onCall = onCall;
    this.#nodes = new Set(
      nodesWithTasks(graph).flatMap((node) => (node.kind === 'call' ? [`${node.id} ${node.tool}`] : [])),
    );
  }

  async callTool(tool: string, input: JsonObject, { origin, mask }: CallContext): Promise<ToolOutcome> {
    const secret = this.#stubs.toolset?.secretInputs(tool) ?? [];
    const call = {
      step_id: origin?.source === 'workflow' ? origin.node : '',
      tool,
      input: mask?.input(input, secret) ?? input,
    };
    const refusal = await this.#refusal(tool, input);
    if (refusal !== undefined) {
      this.#onCall({ ...call, failure: refusal });
      return { ok: false, attempted: false, failure: refusal };
    }
    const [result, stub] = this.#resultOf(tool, call.step_id);
    if ('failure' in result) {
      this.#onCall({ ...call, failure: result.failure, stub });
      return { ok: false, attempted: true, failure: result.failure };
    }
    this.#onCall({ ...call, result: this.#mask.json(result.value), stub });
    return { ok: true, value: result.value };
  }

  /** Why a tool would refuse an input. */
  async #refusal(tool: string, input: JsonObject): Promise<Failure | undefined> {
    const { tools } = this.#stubs;
    if (tools === undefined) return undefined;
    const entry = ownProperty(tools, tool);
    if (entry === undefined) {
      const message = toolTexts.toolUnknown(tool, nearestName(tool, Object.keys(tools)));
      return { code: 'E_TOOL_UNKNOWN', message };
    }
    const checked = await checkInput(input, { tool, jsonSchema: entry.inputSchema }, this.#schemas);
    return checked.ok ? undefined : checked.failure;
  }

  #resultOf(tool: string, key: string): readonly [Stub, ResultSource] {
    const own = stubNames(key);
    const isOfNode = this.#nodes.has(`${own.at(-1)} ${tool}`);
    const nextStub = this.#queue.next(isOfNode ? [...own, tool] : [tool]);
    if (nextStub !== undefined) return [nextStub, 'given'];
    const sample = sampleResult(ownProperty(this.#stubs.tools ?? {}, tool) ?? {});
    return sample === undefined ? [{ value: null }, 'null'] : [{ value: sample }, 'schema'];
  }

  async readResource(name: string, uri: string, { origin }: CallContext): Promise<ResourceOutcome> {
    const own = origin?.source === 'workflow' ? stubNames(origin.node) : [];
    const nextStub = this.#queue.next([...own, name]);
    if (nextStub !== undefined && 'failure' in nextStub) return { ok: false, failure: nextStub.failure };
    const value = nextStub?.value ?? ownProperty(this.#stubs.resources ?? {}, name)?.text ?? '';
    return {
      ok: true,
      value: isJsonObject(value)
        ? { uri, ...value }
        : { uri, text: typeof value === 'string' ? value : JSON.stringify(value) },
    };
  }

  async evaluate(...call: Parameters<CallPort['evaluate']>): Promise<EvaluationOutcome> {
    const { toolset } = this.#stubs;
    if (toolset === undefined) {
      const message = `Function '${clip(call[0].name)}' is not known here: name the registry it belongs to with \`--registry FILE\`.`;
      return { ok: false, failure: { code: 'E_FUNCTION_UNKNOWN', message } };
    }
    this.inFlight += 1;
    try {
      return await toolset.evaluate(...call);
    } finally {
      this.inFlight -= 1;
    }
  }
}

interface StubPortOptions {
  readonly mask: RunMask;
  /** Gets each call when it returns. */
  readonly onCall: (call: StubbedCall) => void;
  /** Where results come from. Default: a queue of its own. */
  readonly queue?: StubQueue;
}

/** The answer to a question without a stub: a consent, the first choice, or what fits the schema. */
export function sampleAnswer(action: Action): Json {
  return actionKind(action) === 'confirm' ? { confirmed: true } : sampleOf(action.schema);
}

interface StubbedWorkflow {
  /** With the workflows that it runs. */
  readonly graph: Graph;
  /** Where the output schemas are. Without it results are not checked. */
  readonly tools?: Registry['tools'];
  /** Whether stubs answer questions. Default: true. */
  readonly answers?: boolean;
}

/** The stubs of a file, with what is wrong with them. */
interface ReadStubs {
  readonly results: StubResults;
  readonly diagnostics: readonly Diagnostic[];
  readonly readSource: (file: string) => string | undefined;
  /** Reports that the stub with the first of these names is not an answer of a step. */
  unfit(names: readonly string[], problem: string): Diagnostic;
}

interface OpenStubs {
  readonly reports: Reports;
  readonly root?: LocatedMap;
}

/** Where stubs are written: in a file, which is relative to a folder, or in a text. */
type StubSource = { readonly file: string; readonly root: string } | { readonly text: string };

/**
 * Reads stubs, YAML or JSON: an object with a result, or a list of results, by the id of a step or the name of a tool or a
 * resource. All faults are reported at once. Without a source the workflow has no stubs.
 */
export async function readStubs(
  source: StubSource | undefined,
  workflow: StubbedWorkflow,
): Promise<ReadStubs> {
  const { reports, root: map }: OpenStubs =
    source === undefined ? { reports: new Reports(new SourceText('', '')) } : await open(source);
  const named = namesIn(workflow);
  const results = new Map<string, StubResults[string]>();
  for (const { key, value } of map?.entries ?? []) {
    const entry = named.get(key.value);
    if (entry === undefined) {
      const nodeNames = [...named.keys()].sort();
      const suggestion = nearestName(key.value, nodeNames);
      reports.report('SW9028', key, {
        name: key.value,
        workflow: workflow.graph.name,
        candidates: nodeNames,
        suggestion,
      });
      continue;
    }
    const items = value.kind === 'list' ? value.items : [value];
    if (items.length === 0)
      reports.report('SW9029', value, { problem: `the stubs of \`${key.value}\` are an empty list` });
    results.set(
      key.value,
      items.flatMap((item) => stubsIn(item, key.value, entry.tools, workflow, reports)),
    );
  }
  const { source: text } = reports;
  return {
    results: Object.fromEntries(results),
    diagnostics: reports.diagnostics,
    readSource: (name) => (name === text.file ? text.text : undefined),
    unfit(names, problem) {
      const entry = map?.entries.find(({ key }) => names.includes(key.value));
      const name = entry?.key.value ?? names[0] ?? '';
      const place = entry === undefined ? undefined : text.placeOf(entry.value);
      return diagnostic('SW9027', place, { name, problem });
    },
  };
}

async function open(source: StubSource): Promise<OpenStubs> {
  const { file, root } = 'text' in source ? { file: 'stubs', root: '' } : source;
  const empty = new Reports(new SourceText(file, ''));
  // JSON is YAML.
  const opened =
    'text' in source ? ({ text: source.text, format: 'yaml' } as const) : await openText(file, root, empty);
  if (opened === undefined) return { reports: empty };
  const { text, format } = opened;
  if (format === 'xml') {
    empty.report('SW5019', { start: 0, end: 0 }, { file, reason: 'stubs are YAML or JSON' });
    return { reports: empty };
  }
  const reading = await readText(text, { file, format });
  const reports = new Reports(reading.source);
  reports.add(reading.diagnostics);
  if (reading.root?.kind === 'map') return { reports, root: reading.root };
  if (!reports.hasErrors)
    reports.report('SW9029', reading.root ?? { start: 0, end: 0 }, {
      problem: 'the stubs are not an object',
    });
  return { reports };
}

/** What a name may be the stub of. */
interface Named {
  /** The tools whose results it gives. Empty for questions, and for resources. */
  readonly tools: Set<string>;
}

function namesIn({ graph, answers = true }: StubbedWorkflow): ReadonlyMap<string, Named> {
  const byName = new Map<string, Named>();
  const add = (name: string, tool?: string): void => {
    const named = byName.get(name) ?? { tools: new Set() };
    byName.set(name, named);
    if (tool !== undefined) named.tools.add(tool);
  };
  const tasks = new Map((graph.tasks ?? []).map((task) => [task.name, task]));
  const addNodes = (of: Graph, prefix: string, around: ReadonlySet<string>): void => {
    for (const node of nodesOf(of)) {
      for (const { tool } of compensationsOf(node)) add(tool, tool);
      for (const { resource } of ownResources(node)) add(resource);
      if (node.kind === 'resource') add(node.resource);
      if (node.kind === 'call') add(node.tool, node.tool);
      const ids = prefix === '' ? [node.id] : [`${prefix}${node.id}`, node.id];
      if (node.kind === 'call' || node.kind === 'resource' || (node.kind === 'ask' && answers))
        for (const id of ids) add(id, node.kind === 'call' ? node.tool : undefined);
      const task = node.kind === 'workflow' ? tasks.get(node.workflow) : undefined;
      if (task !== undefined && !around.has(task.name))
        addNodes(task, `${prefix}${node.id}/`, new Set([...around, task.name]));
    }
  };
  addNodes(graph, '', new Set([graph.name]));
  return byName;
}

function stubsIn(
  item: Located,
  name: string,
  tools: ReadonlySet<string>,
  { tools: entries = {} }: StubbedWorkflow,
  reports: Reports,
): StubResults[string] {
  const failed = errorIn(item);
  if (failed !== undefined) {
    const code = ownProperty(failed, 'code');
    const message = ownProperty(failed, 'message');
    if (typeof code === 'string' && typeof message === 'string') return [{ failure: { code, message } }];
    reports.report('SW9029', item, {
      problem: `the error of \`${name}\` has no text \`code\` and \`message\``,
    });
    return [];
  }
  const value = jsonOf(item);
  for (const tool of tools) {
    const entry = ownProperty(entries, tool);
    if (entry === undefined) continue;
    for (const { pointer, message } of problemsOf(entry, value))
      reports.report('SW9027', locatedAt(item, pointer), { name, problem: message });
  }
  return [{ value }];
}

/** The error that a stub is: an object with `error` alone, whose value has a code or a message. */
function errorIn(item: Located): Readonly<Record<string, Json>> | undefined {
  const value = jsonOf(item);
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return undefined;
  const error = ownProperty(value, 'error');
  if (!isJsonObject(error)) return undefined;
  return Object.hasOwn(error, 'code') || Object.hasOwn(error, 'message') ? error : undefined;
}

const schemas = new SchemaCompiler();

function problemsOf(
  entry: Pick<ToolEntry, 'outputSchema'>,
  value: Json,
): readonly { readonly pointer: string; readonly message: string }[] {
  const { outputSchema } = entry;
  if (outputSchema === undefined) return [];
  const wire = sentResult(entry, value);
  const depth = wire === value ? '' : '/result';
  return schemaProblems(schemas.check(outputSchema, wire), outputSchema).map(({ pointer, message }) => ({
    pointer: pointer.startsWith(depth) ? pointer.slice(depth.length) : '',
    message,
  }));
}

/** The calls for which there is no result: other steps read it, and no sample can be made of it. */
export function missingStubs(
  { graph, tools = {} }: StubbedWorkflow,
  results: StubResults,
): readonly Diagnostic[] {
  return [graph, ...(graph.tasks ?? [])].flatMap((of) => {
    const reading = readSteps(of);
    return nodesOf(of).flatMap((node) => {
      if (node.kind !== 'call' || hasStub(node, results)) return [];
      const entry = ownProperty(tools, node.tool);
      if (entry === undefined) return [];
      const sample = sampleResult(entry);
      const isUsable = sample !== undefined && problemsOf(entry, sample).length === 0;
      if (isUsable || (sample === undefined && !reading.has(node.id))) return [];
      const params = { workflow: of.name, step: node.id, tool: node.tool, hasSchema: sample !== undefined };
      return [diagnostic('SW9026', node.source, params)];
    });
  });
}

function hasStub({ id, tool }: CallNode, results: StubResults): boolean {
  return Object.keys(results).some((name) => name === tool || name === id || name.endsWith(`/${id}`));
}

/** The steps whose values some expression of a workflow reads. */
function readSteps(graph: Graph): ReadonlySet<string> {
  const nodes = nodesOf(graph);
  const values = nodes
    .flatMap(bodiesOf)
    .flatMap(({ scope: { value } }) => (value === undefined ? [] : [value]));
  const all = [...nodes.flatMap(expressionsOf), ...values, ...(graph.returns ? [graph.returns] : [])];
  return new Set(
    all.flatMap(references).flatMap(({ ref }) => (ref.root === 'steps' ? [String(ref.path[0])] : [])),
  );
}
