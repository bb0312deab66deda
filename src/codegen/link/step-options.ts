import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { StepDeclaration } from '../declarations.js';
import { nodeValue, type StepNode } from './outcome.js';

/** Which nodes an option of @Step means something to. */
const MEANT_FOR: Readonly<
  Record<string, { readonly takes: string; readonly fits: (node: StepNode) => boolean }>
> = {
  retry: {
    takes: 'a step that calls or reads',
    fits: ({ core }) => core.kind === 'call' || core.kind === 'resource',
  },
  timeoutMs: {
    takes: 'a step that calls, reads or names a function',
    fits: ({ core }) =>
      core.kind === 'call' ||
      core.kind === 'resource' ||
      (core.kind === 'compute' && core.function !== undefined),
  },
  embed: { takes: 'a step that reads', fits: ({ core }) => core.kind === 'resource' },
  summary: {
    takes: 'a step with a value',
    fits: ({ core }) => core.kind !== 'error' && core.kind !== 'return',
  },
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
