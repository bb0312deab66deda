import { times } from '../../graph/kinds/descriptor.js';
import type { Node, NodeKind } from '../../graph/kinds/node.js';
import type { AskNode, BranchNode, Graph, ParallelNode } from '../../graph/model.js';
import { oneLine } from '../../graph/printable-text.js';
import type { NodeInstance } from '../../plan/instances.js';
import type { Plan, PlannedNode, ScopePlan } from '../../plan/plan.js';
import { type Attempt, armsOf as armsIn, attemptOf, soleBody } from '../../print/shapes.js';
import type { RunMask } from '../secrets/run-mask.js';
import { BranchLog, ForeachLog, ParallelLog, WorkflowLog } from './container-log.js';
import { ActionLog, CallLog, CompensateLog, GotoLog, SetLog, SilentLog, WaitLog } from './leaf-logs.js';
import { isListed } from './ledger.js';
import { listOf, names, printExpression } from './sentences.js';
import type { StepLog } from './step-log.js';

export type Describe = (tool: string) => string | undefined;

interface TracedKind<N extends Node> {
  /** Writes the messages of a node. */
  readonly log: new (
    node: NodeInstance,
    secrets: RunMask,
  ) => StepLog;
  /** The node in a list of steps. */
  readonly planLine: (node: N, describe: Describe) => string;
}

const TRACED_KINDS: { readonly [K in NodeKind]: TracedKind<Extract<Node, { kind: K }>> } = {
  call: { log: CallLog, planLine: ({ tool }, describe) => withText(tool, describe(tool)) },
  resource: { log: CallLog, planLine: ({ id }) => `${id} - Fetch 1 resource` },
  compute: { log: SilentLog, planLine: (node) => titled(node) },
  branch: { log: BranchLog, planLine: (node) => titled(node, branchText(node)) },
  parallel: {
    log: ParallelLog,
    planLine: (node) =>
      titled(
        node,
        `Run ${names(node.branches.map(({ id }) => id))} side by side; ${ON_PARTIAL_FAILURE[node.onPartialFailure]}`,
      ),
  },
  foreach: {
    log: ForeachLog,
    planLine: (node) =>
      titled(
        node,
        node.items.kind === 'literal' && Array.isArray(node.items.value)
          ? `For each of ${node.items.value.length} items`
          : `For each ${itemOf(printExpression(node.items))}, at most ${node.max}`,
      ),
  },
  workflow: { log: WorkflowLog, planLine: (node) => titled(node, `Run workflow '${node.workflow}'`) },
  ask: { log: ActionLog, planLine: (node) => titled(node, ASKS[node.mode]) },
  wait: { log: WaitLog, planLine: (node) => titled(node, 'Wait') },
  set: {
    log: SetLog,
    planLine: (node) =>
      titled(node, `Write ${listOf(node.updates.map(({ field }) => field))} into the state`),
  },
  goto: {
    log: GotoLog,
    planLine: (node) => titled(node, `Go back to '${node.target}' if needed, at most ${times(node.max)}`),
  },
  compensate: {
    log: CompensateLog,
    planLine: (node) => titled(node, `Undo with ${listOf(node.steps.map(({ tool }) => tool))}`),
  },
  return: { log: SilentLog, planLine: (node) => titled(node) },
  error: { log: SilentLog, planLine: (node) => titled(node) },
  shell: { log: ActionLog, planLine: (node) => titled(node, 'Run a command') },
  delegate: {
    log: ActionLog,
    planLine: (node) => titled(node, node.agent === null ? 'Do a task' : `Have ${node.agent} do a task`),
  },
};

export function tracedKindOf<N extends Node>(node: N): TracedKind<N> {
  const traced = TRACED_KINDS[node.kind] as unknown as TracedKind<N>;
  return node.executor === 'client' ? { ...traced, log: ActionLog } : traced;
}

const ON_PARTIAL_FAILURE: Readonly<Record<ParallelNode['onPartialFailure'], string>> = {
  abort: 'the first failure ends the others',
  continue: 'go on if one of them succeeds',
  rollback: 'if one fails, undo the others',
};

const ASKS: Readonly<Record<AskNode['mode'], string>> = {
  info: 'Tell the user something',
  confirm: 'Ask for a yes or no',
  text: 'Ask for a text',
  choice: 'Ask to choose one',
  yield: 'Ask for an answer',
  model: 'Supply a value',
};

function itemOf(list: string | undefined): string {
  return list === undefined ? 'item' : `of \`${list}\``;
}

function titled({ id, title }: Node, text?: string): string {
  return withText(id, title ?? text);
}

function withText(name: string, text: string | undefined): string {
  return text === undefined ? name : `${name} - ${oneLine(text)}`;
}

function branchText(node: BranchNode): string {
  if (attemptOf(node) !== undefined) return 'Try one thing, otherwise another';
  if (soleBody(node) !== undefined) return 'Do this in order';
  const cases = node.cases.map((arm) => {
    const condition = printExpression(arm.when);
    return `'${arm.id}'${condition === undefined ? '' : ` if \`${condition}\``}${nextOf(arm)}`;
  });
  const otherwise = node.else === undefined ? [] : [`otherwise '${node.else.id}'${nextOf(node.else)}`];
  return `Take the first that fits: ${[...cases, ...otherwise].join('; ')}`;
}

function nextOf(arm: BranchNode['cases'][number] | NonNullable<BranchNode['else']>): string {
  return 'goto' in arm ? `, then go on with '${arm.goto}'` : '';
}

/** One step of a plan: `2`, and inside it `2a`, `2a1`. */
export interface PlanLine {
  readonly number: string;
  readonly depth: number;
  readonly text: string;
}

/** The steps of a plan, each followed by the steps inside it. A workflow inside itself is listed once. */
export function planLines(plan: Plan, describe: Describe): PlanLine[] {
  const lines: PlanLine[] = [];
  const add = (
    members: readonly Member[],
    around: Pick<PlanLine, 'number' | 'depth'>,
    open: readonly Graph[],
  ) => {
    for (const [place, { planned, part }] of members.entries()) {
      const number = `${around.number}${labelAt(place, around.depth)}`;
      const line = lineOf(planned, describe);
      lines.push({ number, depth: around.depth, text: part === undefined ? line : `${part}: ${line}` });
      const inside = { number, depth: around.depth + 1 };
      const task = planned.node.kind === 'workflow' ? plan.tasks.get(planned.node.workflow) : undefined;
      if (task === undefined) add(membersOf(planned), inside, open);
      else if (!open.includes(task.graph)) add(membersIn(task.root), inside, [...open, task.graph]);
    }
  };
  add(membersIn(plan.main.root), { number: '', depth: 0 }, [plan.graph]);
  return lines;
}

/** A step that is listed in or under another one, and which part of that it is. */
interface Member {
  readonly planned: PlannedNode;
  readonly part: string | undefined;
}

function membersIn({ nodes }: ScopePlan, part?: string): Member[] {
  return nodes.filter(({ node }) => isListed(node)).map((planned) => ({ planned, part }));
}

function membersOf({ node, parts }: PlannedNode): Member[] {
  const [first] = parts;
  const attempt = attemptOf(node);
  if (attempt !== undefined && first !== undefined) {
    return first.nodes.flatMap((planned) => {
      const isTried = attempt.tried.includes(planned.node);
      return opened(planned, isTried ? 'try' : 'otherwise');
    });
  }
  if (node.kind === 'foreach' || soleBody(node) !== undefined)
    return parts.flatMap((scope) => membersIn(scope));
  return parts.flatMap((scope) => membersIn(scope, scope.arm));
}

/** A part of an attempt: steps that are only grouped are listed one by one. */
function opened(planned: PlannedNode, part: string): Member[] {
  const { node, parts } = planned;
  const [first] = parts;
  const isPlain = node.retry === undefined && node.when === undefined && attemptOf(node) === undefined;
  if (first !== undefined && isPlain && soleBody(node) !== undefined) {
    return first.nodes.flatMap((inside) => opened(inside, part));
  }
  return isListed(node) ? [{ planned, part }] : [];
}

/** Numbers and letters take turns: `2`, `2a`, `2a1`. */
function labelAt(place: number, depth: number): string {
  if (depth % 2 === 0) return String(place + 1);
  const letter = String.fromCharCode(97 + (place % 26));
  return place < 26 ? letter : `${labelAt(Math.floor(place / 26) - 1, depth)}${letter}`;
}

function lineOf(planned: PlannedNode, describe: Describe): string {
  const line = tracedKindOf(planned.node).planLine(planned.node, describe);
  const notes = [...selectionOf(planned), ...conditionOf(planned.node), ...fallbackOf(planned)];
  return notes.length === 0 ? line : `${line} (${notes.join('; ')})`;
}

/** Which steps have to select a step; nothing for the fallback of an attempt, whose line says so. */
function selectionOf(planned: PlannedNode): string[] {
  if (!planned.needsSelection || attemptAround(planned)?.otherwise[0] === planned.node) return [];
  const { failed, chosen } = routersOf(planned);
  const parts = [
    ...(chosen.length === 0
      ? []
      : [`only if ${names(chosen)} ${chosen.length === 1 ? 'leads' : 'lead'} here`]),
    ...(failed.length === 0 ? [] : [`only if ${names(failed)} ${failed.length === 1 ? 'fails' : 'fail'}`]),
  ];
  return [parts.length === 0 ? 'only if another step leads here' : parts.join(', or ')];
}

function conditionOf({ when }: Node): string[] {
  if (when === undefined) return [];
  const condition = printExpression(when);
  return [condition === undefined ? 'only under a condition' : `only if \`${condition}\``];
}

/** What happens if a step fails, unless another line of the plan says so. */
function fallbackOf(planned: PlannedNode): string[] {
  const { node, scope } = planned;
  if (node.onError === undefined) return [];
  if ('value' in node.onError) return [fallbackValue(printExpression(node.onError.value))];
  const { fallbackNode } = node.onError;
  const other = scope.nodes.find((each) => each.node.id === fallbackNode)?.node;
  if (other?.kind === 'error') {
    const message = printExpression(other.message);
    return [`if it fails, the workflow stops${message === undefined ? '' : ` with ${message}`}`];
  }
  return other?.kind === 'return' ? ['if it fails, the workflow ends'] : [];
}

/** Longer fallback values are not shown in a plan. UTF-16 code units. */
const SHORT = 60;

function fallbackValue(value: string | undefined): string {
  if (value === 'undefined') return 'if it fails, it goes on without a value';
  const isShort = value !== undefined && value.length <= SHORT && !value.includes('`');
  return `if it fails, ${isShort ? `\`${value}\`` : 'a fallback'} is its value`;
}

function attemptAround({ scope }: PlannedNode): Attempt | undefined {
  return scope.container === undefined ? undefined : attemptOf(scope.container.node);
}

/** The steps that may select a node: branches that choose it, and steps that it is the fallback of. */
export function routersOf(planned: PlannedNode): { readonly chosen: string[]; readonly failed: string[] } {
  const { id } = planned.node;
  const chosen: string[] = [];
  const failed: string[] = [];
  for (const { node } of planned.routers) {
    const { onError } = node;
    const takesOver = onError !== undefined && 'fallbackNode' in onError && onError.fallbackNode === id;
    if (takesOver || (node.kind === 'parallel' && node.compensateNode === id)) failed.push(node.id);
    else if (node.kind === 'branch' && armsIn(node).some((arm) => 'goto' in arm && arm.goto === id))
      chosen.push(node.id);
  }
  return { chosen, failed };
}
