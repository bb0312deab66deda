import type { StepOptions } from '../../decorators/step.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { kinds, workOf } from '../../graph/kinds/kinds.js';
import type { StepDeclaration } from '../declarations.js';
import { propertyOf, type StepNode } from './outcome.js';

interface Meaning {
  readonly takes: string;
  readonly fits: (node: StepNode) => boolean;
}

/** Which nodes an option of @Step means something to. */
const MEANT_FOR: Readonly<Record<keyof StepOptions, Meaning | 'every step'>> = {
  id: 'every step',
  after: 'every step',
  join: 'every step',
  title: 'every step',
  guidance: 'every step',
  retry: {
    takes: 'a step that calls, reads, runs or asks, or has steps in it',
    fits: ({ core }) => kinds[core.kind].isRetryable,
  },
  timeoutMs: {
    takes: 'a step that may take time',
    fits: ({ core }) => {
      const { isRetryable, waits } = kinds[core.kind];
      return isRetryable || waits || workOf(core) !== 'none';
    },
  },
  embed: { takes: 'a step that reads', fits: ({ core }) => core.kind === 'resource' },
  summary: { takes: 'a step with a value', fits: ({ core }) => kinds[core.kind].value !== 'none' },
};

/** Reports options that no node of a step has a use for. */
export function checkStepOptions(
  { name, optionSyntax }: StepDeclaration,
  nodes: readonly StepNode[],
  report: (diagnostic: Diagnostic) => void,
): void {
  for (const [option, meaning] of Object.entries(MEANT_FOR)) {
    if (meaning === 'every step') continue;
    const { takes, fits } = meaning;
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
  return { summary: { kind: 'text', style: 'display', parts: [propertyOf(id, 'uri', false)] } };
}
