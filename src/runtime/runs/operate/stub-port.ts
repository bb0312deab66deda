import { sampleOf } from '../../../formats/json-schema/sample.js';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { isJsonObject, isWrapped, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { nearestName } from '../../../graph/names.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
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
import { toolTexts } from '../../tools/tool-texts.js';
import type { Toolset } from '../../tools/toolset.js';

/** What one call gives: a result, or a failure. */
type Stub = { readonly value: Json } | { readonly failure: Failure };

/** Results by the id of a node, or else by the name of a tool or a resource. One for each call; the last one is repeated. */
export type StubResults = Readonly<Record<string, readonly Stub[]>>;

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
type StubSource = 'given' | 'schema' | 'null';

/** A call that was answered by a stub. Secrets are masked. */
export interface StubbedCall {
  readonly step_id: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** Missing for a call that failed. */
  readonly result?: Json;
  readonly failure?: Failure;
  /** Missing for a call whose input was refused. */
  readonly stub?: StubSource;
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
  readonly calls: StubbedCall[] = [];
  /** Calls that have not returned. */
  inFlight = 0;
  readonly #stubs: Stubs;
  readonly #queue: StubQueue;
  readonly #mask: RunMask;
  readonly #called: (call: StubbedCall) => void;
  readonly #schemas = new SchemaCompiler();
  /** `id tool` of the nodes that call: a compensation has the id of a node and another tool. */
  readonly #nodes: ReadonlySet<string>;

  /** @param called gets each call when it returns. */
  constructor(
    graph: Graph,
    stubs: Stubs,
    { mask, queue, called = () => {} }: StubPortOptions & { readonly mask: RunMask },
  ) {
    this.#stubs = stubs;
    this.#queue = queue ?? new StubQueue(stubs.results);
    this.#mask = mask;
    this.#called = called;
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
      this.#note({ ...call, failure: refusal });
      return { ok: false, attempted: false, failure: refusal };
    }
    const [result, stub] = this.#resultOf(tool, call.step_id);
    if ('failure' in result) {
      this.#note({ ...call, failure: result.failure, stub });
      return { ok: false, attempted: true, failure: result.failure };
    }
    this.#note({ ...call, result: this.#mask.json(result.value), stub });
    return { ok: true, value: result.value };
  }

  #note(call: StubbedCall): void {
    this.calls.push(call);
    this.#called(call);
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

  #resultOf(tool: string, key: string): readonly [Stub, StubSource] {
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
  /** Where results come from. Default: a queue of its own. */
  readonly queue?: StubQueue;
  readonly called?: (call: StubbedCall) => void;
}

/** The answer to a question without a stub: a consent, the first choice, or what fits the schema. */
export function sampleAnswer(action: Action): Json {
  return actionKind(action) === 'confirm' ? { confirmed: true } : sampleOf(action.schema);
}
