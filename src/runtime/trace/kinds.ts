import type { BranchNode, Node, NodeKind } from '../../graph/model.js';
import type { NodeInstance } from '../../plan/instances.js';
import { attemptOf, soleBody } from '../../print/shapes.js';
import type { RunMask } from '../host/run-mask.js';
import { CallLog } from './call-log.js';
import { planTexts } from './construct-texts.js';
import { BranchLog, WorkflowLog } from './container-log.js';
import { ForeachLog } from './foreach-log.js';
import { ParallelLog } from './parallel-log.js';
import { AskLog, CompensateLog, GotoLog, SetLog, SilentLog, WaitLog } from './plain-log.js';
import type { StepLog } from './step-log.js';
import { printExpression } from './texts.js';

/** Description of a tool by its name. */
export type Describe = (tool: string) => string | undefined;

/** How a trace presents nodes of one kind. */
interface TracedKind<N extends Node> {
  /** Tells what becomes of a node. */
  readonly log: new (
    node: NodeInstance,
    secrets: RunMask,
  ) => StepLog;
  /** The node in a list of steps. */
  readonly planLine: (node: N, describe: Describe) => string;
}

const TRACED_KINDS: { readonly [K in NodeKind]: TracedKind<Extract<Node, { kind: K }>> } = {
  call: { log: CallLog, planLine: ({ tool }, describe) => planTexts.tool(tool, describe(tool)) },
  resource: { log: CallLog, planLine: ({ id }) => planTexts.resource(id) },
  compute: { log: SilentLog, planLine: (node) => titled(node) },
  branch: { log: BranchLog, planLine: (node) => titled(node, branchText(node)) },
  parallel: {
    log: ParallelLog,
    planLine: (node) =>
      titled(node, planTexts.parallel[node.onPartialFailure](node.branches.map(({ id }) => id))),
  },
  foreach: {
    log: ForeachLog,
    planLine: (node) =>
      titled(
        node,
        node.items.kind === 'literal' && Array.isArray(node.items.value)
          ? planTexts.foreachOf(node.items.value.length)
          : planTexts.foreach(printExpression(node.items), node.max),
      ),
  },
  workflow: { log: WorkflowLog, planLine: (node) => titled(node, planTexts.workflow(node.workflow)) },
  ask: { log: AskLog, planLine: (node) => titled(node, planTexts.ask(node.mode)) },
  wait: { log: WaitLog, planLine: (node) => titled(node, planTexts.wait()) },
  set: {
    log: SetLog,
    planLine: (node) => titled(node, planTexts.set(node.updates.map(({ field }) => field))),
  },
  goto: { log: GotoLog, planLine: (node) => titled(node, planTexts.goto(node.target, node.max)) },
  compensate: {
    log: CompensateLog,
    planLine: (node) => titled(node, planTexts.compensate(node.steps.map(({ tool }) => tool))),
  },
  return: { log: SilentLog, planLine: (node) => titled(node) },
  error: { log: SilentLog, planLine: (node) => titled(node) },
  // A graph with one of these is refused as a whole.
  shell: { log: SilentLog, planLine: (node) => titled(node) },
  delegate: { log: SilentLog, planLine: (node) => titled(node) },
};

/** How a trace presents a node. */
export function tracedKindOf<N extends Node>({ kind }: N): TracedKind<N> {
  return TRACED_KINDS[kind] as unknown as TracedKind<N>;
}

function titled({ id, title }: Node, text?: string): string {
  return planTexts.titled(id, title ?? text);
}

function branchText(node: BranchNode): string {
  if (attemptOf(node) !== undefined) return planTexts.attempt();
  if (soleBody(node) !== undefined) return planTexts.together();
  const cases = node.cases.map((arm) =>
    planTexts.arm(arm.id, printExpression(arm.when), 'goto' in arm ? arm.goto : undefined),
  );
  if (node.else === undefined) return planTexts.branch(cases);
  const { id } = node.else;
  return planTexts.branch([
    ...cases,
    planTexts.elseArm(id, 'goto' in node.else ? node.else.goto : undefined),
  ]);
}
