import { describe, expect, test } from 'vitest';
import type { Expr } from '../graph/expression/tree.js';
import type { Graph } from '../graph/model.js';
import {
  ask,
  body,
  compensate,
  foreach,
  parallel,
  runs,
  undo,
  withTasks,
} from '../runtime/engine/constructs.fixture.js';
import { again, call, chain, graph, input, lit, step } from '../runtime/engine/graph.fixture.js';
import { workflowData } from './workflow-data.js';

const stepsOf = (nodes: Graph['nodes']) => workflowData(graph(nodes)).steps;
const dict = (entries: Readonly<Record<string, Expr>>) => ({
  kind: 'dict' as const,
  entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
});
/** A reference as spec files have them. */
const found = (id: string): Expr => ({ kind: 'ref', root: 'steps', path: [id], find: 'optional' });

describe('workflow data', () => {
  test('has the attempts of a step, its timeout, and what replaces or undoes its result', () => {
    const compensateBy = { tool: 'refund', input: dict({ id: step('pay', 'id') }) };
    const retry = { ...again(3), delayMs: 200, backoff: 'exponential' as const };
    const nodes = [
      call('pay', {}, { retry, timeoutMs: 5_000, compensate: compensateBy }),
      call('quote', {}, { retry: again(1), onError: { value: lit(null) } }),
      call('book', {}, { onError: { fallbackNode: 'other' } }),
      call('other'),
    ];
    expect(stepsOf(nodes)).toEqual([
      {
        id: 'pay',
        tool: 'tool-pay',
        outputs: { id: '$.id' },
        retry: { attempts: 4, delay_ms: 200, backoff: 'exponential' },
        timeout_ms: 5_000,
        compensate: { tool: 'refund', undoes: ['pay'], inputs: { id: '$pay.id' } },
      },
      { id: 'quote', tool: 'tool-quote', retry: { attempts: 2 }, on_failure: { value: null } },
      { id: 'book', tool: 'tool-book', on_failure: 'other' },
      { id: 'other', tool: 'tool-other' },
    ]);
  });

  test('has the calls of a step that undoes, and the steps that each undoes', () => {
    const nodes = [
      parallel(
        'both',
        { a: body([call('flight')]) },
        { onPartialFailure: 'rollback', compensateNode: 'undo' },
      ),
      compensate('undo', [
        { tool: 'cancel', input: dict({ id: step('both', 'a') }), ignoreError: true },
        undo('tool-x'),
      ]),
    ];
    expect(stepsOf(nodes)).toMatchObject([
      { id: 'both', on_failure: 'undo' },
      {
        id: 'undo',
        steps: [
          { tool: 'cancel', undoes: ['both'], inputs: { id: '$both.a' }, ignore_error: true },
          { tool: 'tool-x' },
        ],
      },
    ]);
  });

  test('has what loops, questions and workflows are about', () => {
    const expects = { type: 'object', properties: { seat: { type: 'string' } } };
    const other = graph([call('x')], { name: 'other' });
    const nodes = [
      foreach('each', input('pages'), body([call('print')], step('print')), {
        as: 'page',
        concurrency: 4,
        onItemError: 'continue',
      }),
      ask('choose', 'yield', { expects }),
      runs('sub', 'other'),
    ];
    expect(workflowData(withTasks(graph(nodes), other)).steps).toMatchObject([
      { items: '$user.pages', as: 'page', concurrency: 4, on_item_error: 'continue', returns: '$print' },
      { kind: 'ask', expects },
      { kind: 'workflow', workflow: 'other' },
    ]);
  });

  test('has the types of parameters, and no secret default', () => {
    const schema = { type: 'object', required: ['a'] };
    const inputs = [
      { name: 'plain', description: 'Plain', schema, required: false, default: { a: 1 } },
      { name: 'key', description: 'Key', schema: {}, required: false, default: 'x', secret: true },
    ];
    expect(workflowData(graph([], { inputs })).params).toEqual({
      plain: { description: 'Plain', required: false, default: { a: 1 }, schema },
      key: { description: 'Key', required: false, secret: true },
    });
  });

  test.each([
    [{ errorStrategy: { kind: 'collect' } }, { error_strategy: 'collect' }],
    [{ errorStrategy: { kind: 'retry', retry: again(2) } }, { retry: { attempts: 3 } }],
    [{ failFast: false }, { error_strategy: 'go_on' }],
    [{}, {}],
  ] as const)('has the error strategy of %j', (options, expected) => {
    const { workflow: _name, description: _said, steps: _steps, ...rest } = workflowData(graph([], options));
    expect(rest).toEqual(expected);
  });

  test('has the result as its author would write it', () => {
    const returned = (returns: Expr) => workflowData(graph(chain(call('a'), call('b')), { returns })).returns;
    const none = lit(null);
    expect(returned({ kind: 'call', fn: 'coalesce', args: [found('b'), none] })).toBe('$b');
    expect(returned({ kind: 'call', fn: 'coalesce', args: [step('b'), none] })).toBe('b ?? null');
    const entries = dict({ booking: found('a'), b: found('b') });
    expect(returned({ kind: 'call', fn: 'soleEntry', args: [entries] })).toEqual({
      one_of: { booking: '$a', b: '$b' },
    });
  });

  test('names the trigger rule only where it makes a difference', () => {
    const join = 'none_failed_min_one_success' as const;
    const nodes = [
      call('sure'),
      call('maybe', {}, { when: input('x'), after: ['sure'], join }),
      call('both', {}, { after: ['sure', 'maybe'], join }),
      call('one', {}, { after: ['maybe'], join }),
    ];
    expect(stepsOf(nodes)).toMatchObject([
      { id: 'sure' },
      { id: 'maybe' },
      { id: 'both' },
      { id: 'one', join },
    ]);
    const joins = (stepsOf(nodes) as { join?: string }[]).map((each) => each.join);
    expect(joins).toEqual([undefined, undefined, undefined, join]);
  });
});
