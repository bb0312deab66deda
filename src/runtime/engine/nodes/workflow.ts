import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { MAX_WORKFLOW_DEPTH } from '../../../graph/limits.js';
import type { Graph, WorkflowNode } from '../../../graph/model.js';
import { beginParts, openContainer } from '../containers.js';
import type { Failure } from '../contract.js';
import { fail } from '../ending.js';
import type { Evaluated } from '../evaluation.js';
import { failures } from '../failures.js';
import type { NodeInstance } from '../instances.js';
import { readerOf, type Turn } from '../turn.js';

/** Runs another workflow with inputs, names and steps of its own. [N6] */
export function beginWorkflow(turn: Turn, node: NodeInstance, model: WorkflowNode): void {
  const { recorder, instances } = turn;
  const { plan, depth } = instances.part(node, 0).workflow;
  const given = readerOf(turn, node).object(model.input, 'input');
  const input = given.ok ? inputFor(plan.graph, given.value) : given;
  const failure = input.ok ? tooDeep(depth) : input.failure;
  if (!input.ok || failure !== undefined) {
    const { attempt: reached } = recorder.tables.nodes.need(node.key);
    fail(turn, node, { failure: failure ?? failures.depth(MAX_WORKFLOW_DEPTH), reached, final: true });
    return;
  }
  openContainer(turn, node, 0, 1);
  recorder.tables.inputs.put(node.key, input.value);
  beginParts(turn, node, 1);
}

function tooDeep(depth: number): Failure | undefined {
  return depth > MAX_WORKFLOW_DEPTH ? failures.depth(MAX_WORKFLOW_DEPTH) : undefined;
}

/** The input a workflow runs with: what it was given, and the defaults of what it was not. */
function inputFor({ name: workflow, inputs }: Graph, given: JsonObject): Evaluated<JsonObject> {
  const known = new Set(inputs.map(({ name }) => name));
  const unknown = Object.keys(given).filter((name) => !known.has(name));
  const missing: string[] = [];
  const entries: [string, JsonObject[string]][] = [];
  for (const input of inputs) {
    const own = ownProperty(given, input.name);
    // Null is a value: only what is absent has its default.
    const value = own === undefined ? input.default : own;
    if (value !== undefined) entries.push([input.name, value]);
    else if (input.required) missing.push(input.name);
  }
  if (missing.length + unknown.length > 0) {
    return { ok: false, failure: failures.workflowInput(workflow, missing, unknown) };
  }
  return { ok: true, value: Object.fromEntries(entries) };
}
