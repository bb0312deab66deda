import { describe, expect, test } from 'vitest';
import { dict, get, literal, ref, text } from '../graph/expression/build.fixture.js';
import type { Node, Retry } from '../graph/kinds/node.js';
import {
  argument,
  check,
  computes,
  environment,
  fails,
  graphOf,
  place,
  reads,
  returns,
  step,
  warnings,
} from './check-graph.fixture.js';
import { checkGraph } from './check-graph.js';

const yes = literal(true);

describe('SW3010: a step that is never used', () => {
  const unused = (line: number, id: string, what: string): string =>
    `SW3010 ${line}:1 \`${id}\` is never used: the step only ${what} | use \`this.${id}\`, or remove the step`;

  test('computes a value', () => {
    expect(warnings([computes(3, 'a', literal(1)), computes(4, 'b', literal(2))])).toEqual([
      unused(3, 'a', 'computes a value'),
      unused(4, 'b', 'computes a value'),
    ]);
  });

  test('reads, if the workflow declares a result', () => {
    const nodes = [step(3, 'peek', 'peek'), reads(4, 'intro', literal('resource://logseq/intro'))];
    expect(warnings(nodes)).toEqual([]);
    const found = [
      unused(3, 'peek', 'calls `peek`, which changes nothing'),
      unused(4, 'doc', 'reads `intro`'),
    ];
    expect(warnings([...nodes, returns(5, literal(1))])).toEqual(found);
    expect(warnings(nodes, { returns: literal(1) })).toEqual(found);
  });

  test('is none that may have an effect, or that has guidance', () => {
    const guidance = text('display', 'Read this');
    const nodes = [
      step(3, 'list', 'list-pages'),
      step(4, 'peek', 'peek', {}, { guidance }),
      reads(5, 'intro', literal('resource://logseq/intro'), { guidance }),
      step(6, 'gone', 'gone'),
      returns(7, literal(1)),
    ];
    expect(warnings(nodes)).toEqual([]);
  });

  test.each([
    ['a value', returns(9, dict({ x: get(ref('steps', 'a'), 0) }))],
    ['a condition', returns(9, literal(1), { when: ref('steps', 'a') })],
    ['guidance', step(9, 'b', 'list-pages', {}, { guidance: text('display', ref('steps', 'a')) })],
    ['a fallback', step(9, 'b', 'list-pages', {}, { onError: { value: ref('steps', 'a') } })],
  ] as [string, Node][])('is used in %s', (_, user) => {
    expect(warnings([computes(3, 'a', literal(1)), user])).toEqual([]);
  });

  test('is not used by the result alone, nor by its own summary', () => {
    expect(warnings([computes(3, 'a', literal(1))], { returns: ref('steps', 'a') })).toEqual([]);
    expect(warnings([computes(3, 'a', literal(1), { summary: ref('steps', 'a') })])).toHaveLength(1);
  });
});

describe('SW3011: an argument that is never used', () => {
  const inputs = [argument('task'), { ...argument('project'), source: place(5) }];

  test('is found at its declaration', () => {
    expect(warnings([returns(9, ref('inputs', 'task'))], { inputs })).toEqual([
      'SW3011 5:1 argument `project` of workflow `add-task` is never used | use `this.project`, or remove the argument',
    ]);
  });

  test('is used in guidance, summaries, conditions and the result', () => {
    const guidance = text('display', 'For ', ref('inputs', 'project'));
    expect(
      warnings([step(9, 'a', 'list-pages', {}, { guidance })], { inputs, returns: ref('inputs', 'task') }),
    ).toEqual([]);
    const summary = text('display', ref('inputs', 'project'));
    expect(warnings([fails(9, literal('m'), { when: ref('inputs', 'task'), summary })], { inputs })).toEqual(
      [],
    );
  });
});

describe('SW4013: a step that is never reached', () => {
  const waits = (line: number, id: string, ...ids: string[]): Node =>
    step(line, id, 'list-pages', {}, { after: ids });
  const never = (line: number, id: string, end: string, endLine: number): string =>
    `SW4013 ${line}:1 step \`${id}\` is never reached: \`${end}\` always ends the run | the run ends here ${endLine}:1 | give \`${end}\` a condition, or remove \`${id}\``;

  test('waits for a return or an error without a condition, directly or not', () => {
    expect(warnings([returns(3, literal(1)), waits(4, 'a', 'output'), waits(5, 'b', 'a')])).toEqual([
      never(4, 'a', 'output', 3),
      never(5, 'b', 'output', 3),
    ]);
    const user = step(5, 'b', 'list-pages', { limit: ref('steps', 'stop') });
    expect(warnings([fails(3, literal('m')), waits(4, 'a'), user])).toEqual([never(5, 'b', 'stop', 3)]);
  });

  test('may be reached where the end has a condition, or may be skipped', () => {
    expect(warnings([returns(3, literal(1), { when: yes }), waits(4, 'a', 'output')])).toEqual([]);
    expect(warnings([returns(3, literal(1), { join: 'all_success' }), waits(4, 'a', 'output')])).toEqual([]);
    const nodes = [returns(3, literal(1)), waits(4, 'a', 'output')];
    expect(warnings(nodes, { failFast: false })).toEqual([]);
    expect(warnings(nodes, { errorStrategy: { kind: 'collect' } })).toEqual([]);
    const all = [returns(3, literal(1), { join: 'all_done' }), waits(4, 'a', 'output')];
    expect(warnings(all, { errorStrategy: { kind: 'collect' } })).toEqual([never(4, 'a', 'output', 3)]);
  });

  test('a step that waits for nothing is reached', () => {
    expect(warnings([returns(3, literal(1)), waits(4, 'a')])).toEqual([]);
  });
});

describe('retries', () => {
  const retry: Retry = { extra: 2, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 };
  const twice = (line: number, id: string, tool: string): string =>
    `SW4014 ${line}:1 step \`${id}\` is tried again on failure, and tool \`${tool}\` may repeat its effect | say \`retrySafety: 'idempotent'\` if a second call of \`${tool}\` does no harm, or \`'key'\` if it deduplicates by \`context.idempotencyKey\`; else do not retry it`;

  test('SW4014: of a tool that may repeat its effect', () => {
    const nodes = [
      step(3, 'a', 'list-pages', {}, { retry }),
      step(4, 'b', 'peek', {}, { retry }),
      step(5, 'c', 'put', {}, { retry }),
      step(6, 'd', 'list-pages', {}, { retry: { ...retry, extra: 0 } }),
      step(7, 'e', 'gone', {}, { retry }),
      reads(8, 'intro', literal('resource://logseq/intro'), { retry }),
      step(9, 'f', 'keyed', {}, { retry }),
    ];
    expect(warnings(nodes)).toEqual([twice(3, 'a', 'list-pages')]);
  });

  test('SW4014: by the error strategy of the workflow, unless the step has its own', () => {
    const nodes = [
      step(3, 'a', 'list-pages'),
      step(4, 'b', 'peek'),
      step(5, 'c', 'list-pages', {}, { retry: { ...retry, extra: 0 } }),
    ];
    expect(warnings(nodes, { errorStrategy: { kind: 'retry', retry } })).toEqual([
      twice(3, 'a', 'list-pages'),
    ]);
  });

  test('SW4015: numbers out of their range', () => {
    const bad: Retry = { extra: -1, delayMs: -1, backoff: 'linear', capMs: Number.NaN, jitter: 2 };
    expect(check([step(3, 'a', 'peek', {}, { retry: bad })])).toEqual([
      'SW4015 3:1 `attempts` of step `a` must be a whole number from 1 to 100, not 0',
      'SW4015 3:1 `delayMs` of step `a` must be from 0 to 3600000 (milliseconds), not -1',
      "SW4015 3:1 `capMs` of step `a` must be left out unless `backoff` is `'exponential'`, not NaN",
      'SW4015 3:1 `jitter` of step `a` must be from 0 to 1, not 2',
    ]);
    const cap = { ...retry, backoff: 'exponential', capMs: Number.NaN } as const;
    expect(check([step(3, 'a', 'peek', {}, { retry: cap })])).toEqual([
      'SW4015 3:1 `capMs` of step `a` must be from 0 to 3600000 (milliseconds), not NaN',
    ]);
    const strategy = { kind: 'retry', retry: { ...retry, extra: 100 } } as const;
    expect(check([], { errorStrategy: strategy })).toEqual([
      'SW4015 1:1 `attempts` of the error strategy must be a whole number from 1 to 100, not 101',
    ]);
    expect(check([step(3, 'a', 'peek', {}, { retry: { ...retry, extra: 1.5 } })])).toHaveLength(1);
    expect(
      check([step(3, 'a', 'peek', {}, { retry: { ...retry, extra: 99, delayMs: 3_600_000, jitter: 1 } })]),
    ).toEqual([]);
  });
});

describe('unused values', () => {
  const nodes = [computes(3, 'a', literal(1)), step(4, 'b', 'gone')];
  const codes = (more: readonly Node[] = [], options = {}): string[] =>
    checkGraph(graphOf([...nodes, ...more]), environment, options).map(
      ({ code, severity }) => `${code} ${severity}`,
    );

  test('is reported beside the errors', () => {
    expect(codes()).toEqual(['SW4001 error', 'SW3011 warning', 'SW3011 warning', 'SW3010 warning']);
  });

  test('is not certain if a part is missing, or a name is unknown', () => {
    expect(codes([], { isWhole: false })).toEqual(['SW4001 error']);
    expect(codes([returns(5, ref('steps', 'aa'))])).toEqual(['SW3001 error', 'SW4001 error']);
  });

  test('is not looked for in a workflow without steps', () => {
    expect(checkGraph(graphOf([]), environment)).toEqual([]);
  });
});
