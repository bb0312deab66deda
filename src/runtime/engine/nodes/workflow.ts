import { type JsonObject, ownProperty } from '../../../graph/json.js';
import { MAX_WORKFLOW_DEPTH } from '../../../graph/limits.js';
import type { Graph, WorkflowNode } from '../../../graph/model.js';
import type { Failure } from '../contract.js';
import { fail } from '../ending.js';
import type { Evaluated } from '../evaluation.js';
import { failures } from '../failures.js';
import type { NodeRecord } from '../records.js';
import { beginParts, openContainer } from '../scopes.js';
import { readerOf, type Transition } from '../transition.js';

/** Runs another workflow with inputs, names and steps of its own. [N6] */
export function beginWorkflow(transition: Transition, node: NodeRecord, model: WorkflowNode): void {
  const { state } = transition;
  const { plan, depth } = state.part(node, 0).workflow;
  const given = readerOf(transition, node).object(model.input, 'input');
  const input = given.ok ? inputFor(plan.graph, given.value) : given;
  const failure = input.ok ? tooDeep(depth) : input.failure;
  if (!input.ok || failure !== undefined) {
    const { attempt: reached } = node;
    fail(transition, node, {
      ...{ failure: failure ?? failures.depth(MAX_WORKFLOW_DEPTH), reached, final: true },
    });
    return;
  }
  openContainer(transition, node, 0, 1).input = input.value;
  state.inputs.put(node.key, input.value);
  beginParts(transition, node, 1);
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
