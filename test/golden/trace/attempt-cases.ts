import type { Node, Scope } from '../../../src/graph/kinds/node.js';
import { body, branch, dict } from '../../../src/runtime/engine/constructs.fixture.js';
import {
  again,
  compute,
  error,
  graph,
  lit,
  step,
  stop,
  text,
} from '../../../src/runtime/engine/graph.fixture.js';
import { echo, failing, sample, use } from './parts.js';
import type { Scenario } from './scenario.js';

/** Steps that belong together, as `attempt` is compiled. */
const together = (id: string, nodes: Scope, options: Partial<Node> = {}): Node => ({
  ...branch(id, [[lit(true), nodes]]),
  ...(options as object),
});

const trying = (id: string): Node =>
  together(
    id,
    body(
      [
        use(`${id}.try`, {}, { tool: id, onError: { fallbackNode: `${id}.fallback` } }),
        use(`${id}.fallback`, { why: error('message') }, { tool: 'tell' }),
      ],
      step(`${id}.try`),
    ),
  );

/** What is tried and what takes over are more than one step each. */
const tryingMore = (id: string): Node =>
  together(
    id,
    body([
      together(
        `${id}.try`,
        body([use(`${id}.1`, {}, { tool: 'good' }), use(`${id}.2`, {}, { tool: id, after: [`${id}.1`] })]),
        { onError: { fallbackNode: `${id}.error` } },
      ),
      compute(`${id}.error`, dict({ code: error('code') })),
      together(
        `${id}.fallback`,
        body([use(`${id}.told`, { why: step(`${id}.error`, 'code') }, { tool: 'tell' })]),
        { after: [`${id}.error`], join: 'all_success' },
      ),
    ]),
  );

const tools = {
  good: echo('well'),
  bad: failing('no luck'),
  tell: { ...echo(), description: 'Tell somebody' },
};

/** Fallbacks that are steps. */
export const attemptCases: Readonly<Record<string, Scenario>> = {
  'attempts-that-succeed': {
    graph: sample([trying('good'), tryingMore('good-too')]),
    tools: { ...tools, 'good-too': echo() },
  },
  'attempts-that-fall-back': {
    graph: sample([trying('bad'), tryingMore('bad-too')]),
    tools: { ...tools, 'bad-too': failing('none') },
  },
  'attempt-that-ends': {
    graph: graph([
      use('value', {}, { onError: { value: dict({ code: error('code') }) }, tool: 'bad' }),
      together('row', body([use('row.1', {}, { tool: 'bad', retry: again(1) })]), {
        after: ['value'],
        onError: { value: lit('none') },
      }),
      use('pay', {}, { tool: 'bad', after: ['row'], onError: { fallbackNode: 'pay.fallback' } }),
      stop('pay.fallback', text('pay gave up: ', error('message'))),
    ]),
    tools,
  },
  'attempt-in-the-hand-off': {
    graph: sample([use('bad', {}), trying('good'), tryingMore('good-too')]),
    tools: { ...tools, 'good-too': echo() },
  },
};
