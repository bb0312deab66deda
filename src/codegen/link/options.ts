import type { StepOptions } from '../../decorators/workflow.js';
import { defined } from '../../graph/defined.js';
import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { kinds, workOf } from '../../graph/kinds/kinds.js';
import type { Node } from '../../graph/kinds/node.js';
import type { ResourceRef } from '../../graph/model.js';
import type { StepDeclaration } from '../declarations.js';
import { checkId } from '../extract/names.js';
import { verbRulesOf } from '../extract/options.js';
import { NO_OPTIONS, type ReadOptions, readVerbOptions } from '../extract/read-options.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap, type VerbWithOptions } from '../verbs.js';
import { describeGiven } from './describe.js';
import { type Attempts, type NodeCore, propertyOf, retryOf, type StepNode } from './nodes.js';

interface Meaning {
  readonly takes: string;
  readonly fits: (node: StepNode) => boolean;
}

/** The nodes that each option of @Step applies to. */
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
  resources: { takes: 'a step that calls, reads or asks', fits: ({ core }) => takesResources(core) },
  embed: { takes: 'a step that reads', fits: ({ core }) => core.kind === 'resource' },
  summary: { takes: 'a step with a value', fits: ({ core }) => kinds[core.kind].value !== 'none' },
};

/** Reports options that apply to no node of a step. */
export function checkStepOptions(
  { name, optionSyntax }: StepDeclaration,
  nodes: readonly StepNode[],
  report: Report,
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

/** What an observer shows instead of the node's value. `embed: false` shows the address of what was read. */
export function summaryOf(
  { options }: StepDeclaration,
  { id, core }: StepNode,
  summary: Expr | undefined,
): { readonly summary?: Expr } {
  if (summary !== undefined) return { summary };
  if (options.embed !== false || core.kind !== 'resource') return {};
  return { summary: { kind: 'text', style: 'display', parts: [propertyOf(id, 'uri', false)] } };
}

/** Reads the options of a verb; undefined where one has a fault, which is reported. */
export function readOptionsOf(
  verb: VerbWithOptions,
  argument: ExpressionSyntax | undefined,
  report: Report,
): ReadOptions | undefined {
  const object = argument && unwrap(argument);
  if (object === undefined || object.kind === 'undefined') return NO_OPTIONS;
  if (object.kind !== 'object') {
    const params = { taker: `\`${verb}\``, takes: 'its options as an object', actual: describeGiven(object) };
    const example = EXAMPLES[verb] ?? '{ after: [this.first] }';
    report(diagnostic('SW2008', object.place, params, { hint: `write them here: \`${example}\`` }));
    return undefined;
  }
  return readVerbOptions(object, verb, verbRulesOf(verb), report);
}

/** Options of verbs that take more than `after`. */
const EXAMPLES: Readonly<Partial<Record<VerbWithOptions, string>>> = {
  call: '{ timeoutMs: 5_000 }',
  run: '{ timeoutMs: 5_000 }',
  parallel: '{ concurrency: 2 }',
  forEach: '{ concurrency: 2 }',
  goto: '{ max: 3 }',
  fail: "{ code: 'OUT_OF_STOCK' }",
  'ask.info': "{ answerBy: role('lead') }",
  'ask.confirm': "{ answerBy: role('lead') }",
  'ask.text': "{ answerBy: role('lead') }",
  'ask.choice': "{ answerBy: role('lead') }",
  'ask.pick': "{ answerBy: role('lead') }",
  'ask.value': "{ schema: { type: 'string' } }",
  'ask.model': "{ schema: { type: 'string' } }",
  shell: '{ failOnError: true }',
  delegate: '{ response: z.object({ … }) }',
};

/** The options of a verb whose node may be retried. */
export interface CallOptionsRead extends Attempts, ReadOptions {
  readonly id?: string;
  readonly transform?: ExpressionSyntax;
  readonly compensate?: ExpressionSyntax;
}

/** Reads the options of such a verb; undefined where one has a fault, which is reported. */
export function readCallOptions(
  verb: 'call' | 'run' | 'shell' | 'delegate',
  argument: ExpressionSyntax | undefined,
  report: Report,
): CallOptionsRead | undefined {
  const reading = readOptionsOf(verb, argument, report);
  if (reading === undefined) return undefined;
  const { values, syntax } = reading;
  const { id, timeoutMs } = values;
  if (typeof id === 'string' && syntax.id !== undefined && !checkId(id, syntax.id.place, report))
    return undefined;
  const retry = retryOf(values.retry);
  const { transform, compensate } = syntax;
  return {
    ...{ values, syntax },
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof timeoutMs === 'number' ? { timeoutMs } : {}),
    ...defined({ retry, transform, compensate }),
  };
}

/**
 * Gives the resources of a step to its node that calls, reads or asks first: a model that supplies an input of a call
 * has them before it is asked. Reads that were moved out of an expression are not the step's own.
 *
 * @returns undefined where the step has no such node.
 */
export function withResources(
  nodes: readonly StepNode[],
  resources: readonly ResourceRef[],
): readonly StepNode[] | undefined {
  return inFirst(nodes, ({ core, hoisted, ...rest }) => {
    if (hoisted && core.kind !== 'ask') return undefined;
    const changed = inCore(core, resources);
    return changed && { ...rest, core: changed, ...(hoisted ? { hoisted } : {}) };
  });
}

/** Whether a step with this node may have resources. */
function takesResources(core: NodeCore): boolean {
  return inCore(core, []) !== undefined;
}

/** A node of its own, or the one body of steps that are tried or only grouped. */
function inCore<C extends NodeCore | Node>(core: C, resources: readonly ResourceRef[]): C | undefined {
  switch (core.kind) {
    case 'call':
    case 'resource':
    case 'ask':
      return { ...core, resources };
    case 'branch': {
      const [only, ...others] = core.cases;
      if (only === undefined || !('body' in only) || others.length > 0 || core.else !== undefined)
        return undefined;
      const nodes = inFirst(only.body.nodes, (node) => inCore(node, resources));
      return nodes && { ...core, cases: [{ ...only, body: { ...only.body, nodes } }] };
    }
    default:
      return undefined;
  }
}

/** Replaces the first item that can be replaced. */
function inFirst<T>(items: readonly T[], replaced: (item: T) => T | undefined): readonly T[] | undefined {
  for (const [index, item] of items.entries()) {
    const other = replaced(item);
    if (other !== undefined) return items.with(index, other);
  }
  return undefined;
}
