import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { StepDeclaration } from '../declarations.js';
import { nodeValue, type StepNode } from './outcome.js';

type Kind = StepNode['core']['kind'];

/** Kinds of nodes that do something outside of the run, or have nodes in them that may. */
const OUTSIDE: readonly Kind[] = ['call', 'resource', 'workflow', 'ask', 'branch', 'parallel', 'foreach'];

/** Kinds of nodes that only end or change something. */
const WITHOUT_VALUE: readonly Kind[] = ['error', 'return', 'goto', 'wait'];

/** Which nodes an option of @Step means something to. */
const MEANT_FOR: Readonly<
  Record<string, { readonly takes: string; readonly fits: (node: StepNode) => boolean }>
> = {
  retry: {
    takes: 'a step that calls, reads, runs or asks, or has steps in it',
    fits: ({ core }) => OUTSIDE.includes(core.kind),
  },
  timeoutMs: {
    takes: 'a step that may take time',
    fits: ({ core }) =>
      OUTSIDE.includes(core.kind) ||
      core.kind === 'wait' ||
      (core.kind === 'compute' && core.function !== undefined),
  },
  embed: { takes: 'a step that reads', fits: ({ core }) => core.kind === 'resource' },
  summary: { takes: 'a step with a value', fits: ({ core }) => !WITHOUT_VALUE.includes(core.kind) },
};

/** Reports options that no node of a step has a use for. */
export function checkStepOptions(
  { name, optionSyntax }: StepDeclaration,
  nodes: readonly StepNode[],
  report: (diagnostic: Diagnostic) => void,
): void {
  for (const [option, { takes, fits }] of Object.entries(MEANT_FOR)) {
    const syntax = optionSyntax[option];
    const isOfUse = nodes.some((node) => node.hoisted === undefined && fits(node));
    if (syntax === undefined || isOfUse) continue;
    report(diagnostic('SW1021', syntax.place, { decorator: 'Step', option, takes, name }));
  }
}

/** What an observer shows in place of the node's value. `embed: false` shows the address of what was read. */
export function summaryOf(
  { options }: StepDeclaration,
  { id, core }: StepNode,
  summary: Expr | undefined,
): { readonly summary?: Expr } {
  if (summary !== undefined) return { summary };
  if (options.embed !== false || core.kind !== 'resource') return {};
  const key: Expr = { kind: 'literal', value: 'uri' };
  return { summary: { kind: 'text', style: 'display', parts: [{ kind: 'get', of: nodeValue(id), key }] } };
}
