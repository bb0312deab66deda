import { type Draft, type DraftScope, type DraftWorkflow, isRepeated } from './draft.js';

/** Marks what may run more than once: what jumps start over, and the workflows that such nodes run. */
export function addRepetitions(main: DraftWorkflow, tasks: ReadonlyMap<string, DraftWorkflow>): void {
  const workflows = [main, ...tasks.values()];
  for (const { nodes } of workflows) for (const draft of nodes) markJump(draft);
  const open = workflows.flatMap(({ nodes }) => nodes.filter(({ node }) => node.kind === 'workflow'));
  for (let caller = open.pop(); caller !== undefined; caller = open.pop()) {
    const { node, mayStartOver } = caller;
    const called = node.kind === 'workflow' ? tasks.get(node.workflow) : undefined;
    const isRepeatable = caller.isRepeatable || isRepeated(caller);
    for (const inside of called?.nodes ?? []) {
      if ((inside.isRepeatable || !isRepeatable) && (inside.mayStartOver || !mayStartOver)) continue;
      inside.isRepeatable ||= isRepeatable;
      inside.mayStartOver ||= mayStartOver;
      if (inside.node.kind === 'workflow') open.push(inside);
    }
  }
}

function markJump(draft: Draft): void {
  if (draft.node.kind !== 'goto') return;
  for (const each of [...draft.slice, draft]) markStartedOver(each);
}

function markStartedOver(draft: Draft): void {
  if (draft.mayStartOver) return;
  draft.mayStartOver = true;
  const mark = ({ nodes }: DraftScope): void => nodes.forEach(markStartedOver);
  draft.parts.forEach(mark);
}
