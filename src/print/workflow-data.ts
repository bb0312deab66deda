import { defined } from '../graph/defined.js';
import { references } from '../graph/expression/traversal.js';
import type { Expr, RefExpr } from '../graph/expression/tree.js';
import { isJsonObject, type Json, type JsonObject } from '../graph/json.js';
import type { Compensation, Node, Retry, Scope } from '../graph/kinds/node.js';
import { isFailFast } from '../graph/limits.js';
import type { Arm, Graph, Input } from '../graph/model.js';
import { bodiesOf, expressionsOf, fallbackValue, nodesOf } from '../graph/nodes.js';
import { planOf } from '../plan/compile.js';
import { routesOf } from '../plan/edges.js';
import type { WorkflowPlan } from '../plan/plan.js';
import { describeJoin, describeNode } from './describe.js';
import { printExpr, referenceInFile } from './expression.js';
import { sourcesOf } from './shapes.js';

/**
 * A workflow as data for a model that reads it: its steps with the tools that they call, what they wait for, and where
 * their inputs come from. `$user` is an argument of the workflow, `$search.flight_id` an output of a step, and `$.id` a
 * place in the result of the step itself. `on_failure` is the step that takes over from one that fails, or the value
 * that replaces its own. What has its default is left out. It is a view, made to be read, and not accepted as a workflow.
 */
export function workflowData(graph: Graph): JsonObject {
  const context: Context = { plan: planOf(graph).main, outputs: outputsOf(graph) };
  const { title, inputs, instructions, task, maxConcurrency } = graph;
  return {
    workflow: graph.name,
    ...defined({ title }),
    description: graph.description,
    ...(instructions.length === 0 ? {} : { read_first: instructions.map(({ uri }) => uri) }),
    ...(inputs.length === 0
      ? {}
      : { params: Object.fromEntries(inputs.map((input) => [input.name, paramData(input)])) }),
    ...strategyData(graph),
    ...(graph.onFailure === undefined ? {} : { on_failure: 'compensate' }),
    ...defined({ task, max_concurrency: maxConcurrency }),
    steps: graph.nodes.map((node) => stepData(node, context)),
    ...(graph.returns === undefined ? {} : { returns: valueData(graph.returns, context) }),
  };
}

function paramData({ schema, title, description, required, default: preset, secret }: Input): JsonObject {
  return {
    ...defined({ title }),
    description,
    required,
    ...(preset === undefined || secret === true ? {} : { default: preset }),
    ...(secret === true ? { secret } : {}),
    ...(Object.keys(schema).length === 0 ? {} : { schema }),
  };
}

/** What holds for the failures of all steps. By default the first one stops the run. */
function strategyData(graph: Graph): JsonObject {
  const { errorStrategy } = graph;
  if (errorStrategy?.kind === 'collect') return { error_strategy: 'collect' };
  return {
    ...(isFailFast(graph) ? {} : { error_strategy: 'go_on' }),
    ...(errorStrategy?.kind === 'retry' ? { retry: retryData(errorStrategy.retry) } : {}),
  };
}

function retryData({ extra, delayMs, backoff }: Retry): JsonObject {
  const isDelayed = extra > 0 && delayMs > 0;
  return { attempts: extra + 1, ...(isDelayed ? { delay_ms: delayMs, backoff } : {}) };
}

interface Context {
  readonly plan: WorkflowPlan;
  readonly outputs: Outputs;
}

/** The paths that are read of the result of each step, with a name for each. */
type Outputs = ReadonlyMap<string, ReadonlyMap<string, string>>;

function stepData(node: Node, context: Context): JsonObject {
  const planned = context.plan.byId.get(node.id);
  const before = planned === undefined ? [] : sourcesOf(planned).map((source) => source.node.id);
  const join = planned === undefined ? undefined : describeJoin(planned);
  const named = [...(context.outputs.get(node.id) ?? [])].filter(([path]) => path !== '');
  const { title, guidance, when, retry, timeoutMs, compensate } = node;
  return {
    id: node.id,
    ...defined({ title }),
    ...(guidance === undefined ? {} : { guidance: valueData(guidance, context) }),
    ...(node.kind === 'call' ? { tool: node.tool } : { kind: node.kind, does: describeNode(node) }),
    ...(before.length === 0 ? {} : { depends_on: before }),
    ...(join === undefined ? {} : { join: node.join }),
    ...(when === undefined ? {} : { condition: printExpr(when) }),
    ...('input' in node && node.input.entries.length > 0 ? { inputs: valueData(node.input, context) } : {}),
    ...(named.length === 0
      ? {}
      : { outputs: Object.fromEntries(named.map(([path, name]) => [name, `$${path}`])) }),
    ...(retry === undefined ? {} : { retry: retryData(retry) }),
    ...defined({ timeout_ms: timeoutMs }),
    ...failureData(node, context),
    ...(compensate === undefined ? {} : { compensate: undoingData(compensate, context) }),
    ...ownData(node, context),
    ...bodiesData(node, context),
  };
}

function failureData(node: Node, context: Context): JsonObject {
  const value = fallbackValue(node);
  if (value !== undefined) return { on_failure: { value: valueData(value, context) } };
  const takesOver = routesOf(node).find(({ kind }) => kind !== 'goto')?.target;
  return defined({ on_failure: takesOver });
}

/** A call that undoes, and the steps whose effects it undoes: without them there is nothing to undo. */
function undoingData({ tool, input, ignoreError }: Compensation, context: Context): JsonObject {
  const ids = references(input).flatMap(({ ref }) => (ref.root === 'steps' ? [String(ref.path[0])] : []));
  return {
    tool,
    ...(ids.length === 0 ? {} : { undoes: [...new Set(ids)] }),
    ...(input.entries.length === 0 ? {} : { inputs: valueData(input, context) }),
    ...(ignoreError === true ? { ignore_error: true } : {}),
  };
}

/** What only nodes of one kind have, and their description does not say. */
function ownData(node: Node, context: Context): JsonObject {
  switch (node.kind) {
    case 'workflow':
      return { workflow: node.workflow };
    case 'foreach':
      return {
        items: valueData(node.items, context),
        as: node.as,
        max_iterations: node.max,
        ...(node.concurrency === 1 ? {} : { concurrency: node.concurrency }),
        ...(node.onItemError === 'fail' ? {} : { on_item_error: node.onItemError }),
      };
    case 'ask':
      return {
        ...(node.options === undefined ? {} : { options: valueData(node.options, context) }),
        ...defined({ expects: node.expects }),
      };
    case 'compensate':
      return { steps: node.steps.map((step) => undoingData(step, context)) };
    default:
      return {};
  }
}

/** The steps inside a node: of a branch by its cases, of others by their names. */
function bodiesData(node: Node, context: Context): JsonObject {
  const stepsIn = ({ nodes, value }: Scope): JsonObject => ({
    steps: nodes.map((each) => stepData(each, context)),
    ...(value === undefined ? {} : { returns: valueData(value, context) }),
  });
  if (node.kind === 'branch') {
    const armData = (arm: Arm): JsonObject => ({
      case: arm.id,
      ...('goto' in arm ? { goto: arm.goto } : stepsIn(arm.body)),
    });
    const cases = [
      ...node.cases.map((arm) => ({ condition: printExpr(arm.when), ...armData(arm) })),
      ...(node.else === undefined ? [] : [armData(node.else)]),
    ];
    return { cases };
  }
  const [first, ...others] = bodiesOf(node);
  if (first === undefined) return {};
  if (first.arm === undefined && others.length === 0) return stepsIn(first.scope);
  return {
    branches: [first, ...others].map(({ arm = '', scope }) => ({ id: arm, ...stepsIn(scope) })),
  };
}

/** A value: data as it is, references as `$…`, and anything else in the notation of JavaScript. */
function valueData(expr: Expr, context: Context, key?: string): Json {
  const reference = referenceInFile(expr);
  if (reference !== undefined) return valueData(reference, context, key);
  switch (expr.kind) {
    case 'literal':
      return expr.value ?? null;
    case 'ref':
      return referenceText(expr, context.outputs, key);
    case 'list':
      return expr.items.some(({ spread }) => spread)
        ? printExpr(expr)
        : expr.items.map(({ value }) => valueData(value, context));
    case 'dict': {
      const entries = expr.entries.flatMap((entry) =>
        'key' in entry ? [[entry.key, entry.value] as const] : [],
      );
      if (entries.length < expr.entries.length) return printExpr(expr);
      return Object.fromEntries(entries.map(([name, value]) => [name, valueData(value, context, name)]));
    }
    case 'call': {
      const [of] = expr.args;
      if (expr.fn !== 'soleEntry' || of === undefined) return printExpr(expr);
      return { one_of: valueData(of, context) };
    }
    default:
      return printExpr(expr);
  }
}

function referenceText(expr: RefExpr, outputs: Outputs, key: string | undefined): string {
  const [name, ...rest] = expr.path;
  if (expr.root === 'inputs') {
    return rest.length === 0 && name === key ? '$user' : `$user.${expr.path.join('.')}`;
  }
  if (expr.root === 'nodes') return `$steps.${expr.path.join('.')}`;
  if (expr.root !== 'steps' || typeof name !== 'string') return printExpr(expr);
  const output = outputs.get(name)?.get(pathText(rest));
  return output === undefined || output === '' ? `$${name}` : `$${name}.${output}`;
}

function outputsOf(graph: Graph): Outputs {
  const outputs = new Map<string, Map<string, string>>();
  const exprs = [
    ...nodesOf(graph).flatMap(expressionsOf),
    ...(graph.returns === undefined ? [] : [graph.returns]),
  ];
  for (const { ref } of exprs.flatMap(references)) {
    const [id, ...rest] = ref.path;
    if (ref.root !== 'steps' || typeof id !== 'string') continue;
    const byPath = outputs.get(id) ?? new Map<string, string>();
    outputs.set(id, byPath);
    const path = pathText(rest);
    if (byPath.has(path)) continue;
    const usedNames = new Set(byPath.values());
    const texts = rest.filter((each): each is string => typeof each === 'string');
    const names = texts.map((_, index) => texts.slice(texts.length - 1 - index).join('_'));
    byPath.set(path, names.find((each) => !usedNames.has(each)) ?? rest.join('_'));
  }
  return outputs;
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
}

/** A value as YAML 1.2, in blocks. The text ends with a line break. */
export function yamlText(value: Json): string {
  return `${linesOf(value).join('\n')}\n`;
}

function linesOf(value: Json): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item: Json) => {
      const [first = '', ...rest] = linesOf(item);
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [scalarText(value)];
  return Object.entries(value).flatMap(([key, item]) => {
    const isBlock = typeof item === 'object' && item !== null && Object.keys(item).length > 0;
    const name = scalarText(key);
    return isBlock
      ? [`${name}:`, ...linesOf(item).map((line) => `  ${line}`)]
      : [`${name}: ${scalarText(item)}`];
  });
}

/** Words that mean something else, in YAML 1.1 as well. */
const OTHER_MEANING = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;

/** JSON is YAML: a text is quoted unless it is a plain word. */
function scalarText(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*$/.test(value) && !OTHER_MEANING.test(value);
  return isPlain ? value : JSON.stringify(value);
}
