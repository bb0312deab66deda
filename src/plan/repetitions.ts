import { isRepeated, type MutableNode, type MutableScope, type MutableWorkflow } from './mutable-plan.js';

/** Marks what may run more than once: what jumps start over, and the workflows that such nodes run. */
export function addRepetitions(main: MutableWorkflow, tasks: ReadonlyMap<string, MutableWorkflow>): void {
  const workflows = [main, ...tasks.values()];
  for (const { nodes } of workflows) for (const planned of nodes) markJump(planned);
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

function markJump(planned: MutableNode): void {
  if (planned.node.kind !== 'goto') return;
  for (const each of [...planned.slice, planned]) markStartedOver(each);
}

function markStartedOver(planned: MutableNode): void {
  if (planned.mayStartOver) return;
  planned.mayStartOver = true;
  const mark = ({ nodes }: MutableScope): void => nodes.forEach(markStartedOver);
  planned.parts.forEach(mark);
}
