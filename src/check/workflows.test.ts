import { describe, expect, test } from 'vitest';
import { dict, literal, ref } from '../graph/expression/build.fixture.js';
import type { Node } from '../graph/kinds/node.js';
import type { Graph } from '../graph/model.js';
import { argument, at, computes, graphOf, returns, step } from './check-graph.fixture.js';
import { body, either, findings, has, loop, missing, parallel, reading, runs } from './constructs.fixture.js';

const items = literal(['a', 'b']);
const put = (line: number, id: string): Node => step(line, id, 'put');
describe('workflows', () => {
  const named = (name: string, nodes: readonly Node[], more: Partial<Graph> = {}): Graph =>
    graphOf(nodes, { name, inputs: [], ...more });
  const line = named('add-line', [returns(1, dict({ id: literal(1) }))], {
    inputs: [
      { ...argument('line'), required: true },
      { ...argument('page', { type: 'integer' }), required: false },
    ],
  });

  test('SW4026: one that is not registered', () => {
    expect(findings([runs(3, 'a', 'ad-line')], {}, [line])).toEqual([
      'SW4026 3:1 workflow `add-task` requires workflow `ad-line`, which is not registered | did you mean `add-line`?',
    ]);
    const unknown = findings([runs(3, 'a', 'gone')], { tasks: [line] });
    expect(unknown.filter((found) => found.startsWith('SW4026'))).toHaveLength(1);
  });

  test('tasks of a graph are checked as well, unless they are registered', () => {
    const faulty = named('faulty', [step(5, 'lost', 'gone'), runs(6, 'next', 'other')]);
    const other = named('other', [put(7, 'p')]);
    const nodes = [runs(3, 'a', 'faulty')];
    const found = ['SW4001 5:1 workflow `faulty` requires tool `gone`, which is not registered'];
    expect(findings(nodes, { tasks: [faulty, other] })).toEqual(found);
    expect(findings(nodes, { tasks: [faulty] })).toEqual([
      ...found,
      'SW4026 6:1 workflow `faulty` requires workflow `other`, which is not registered',
    ]);
    expect(findings(nodes, { tasks: [faulty, other] }, [faulty])).toEqual([]);
    const itself = [...nodes, step(4, 'lost', 'gone')];
    expect(
      findings(itself, { tasks: [other, named('faulty', [put(8, 'q')]), named('add-task', itself)] }),
    ).toEqual(['SW4001 4:1 workflow `add-task` requires tool `gone`, which is not registered']);
  });

  test('nothing is reported if the workflows are unknown', () => {
    expect(findings([runs(3, 'a', 'gone', { x: literal(1) }), reading('a', 'b')])).toEqual([]);
  });

  test('SW4003, SW4004 and SW4012: inputs', () => {
    const given = { lin: at(3, literal('x')), page: at(4, literal('x')) };
    expect(findings([runs(3, 'a', 'add-line', given)], {}, [line])).toEqual([
      'SW4004 3:20 workflow `add-line` of step `a` takes no `lin` | did you mean `line`?',
      'SW4012 4:20 `page` of workflow `add-line` takes an integer, and step `a` gives a string',
      'SW4003 3:1 step `a` gives workflow `add-line` no `line` | add `line` to the input of the workflow',
    ]);
  });

  test('SW4005: results', () => {
    const nodes = [runs(3, 'a', 'add-line', { line: literal('x') })];
    expect(missing(nodes, 'a', ['id'], [line])).toEqual([]);
    expect(missing(nodes, 'a', ['ident'], [line])).toEqual(has('a', 'ident'));
    const early = either(
      1,
      'b',
      body([{ ...returns(1, dict({ name: literal('') })), id: 'early' }]),
      body([]),
    );
    const twoWays = named('add-line', [early], { returns: dict({ id: literal(1) }) });
    expect(missing([runs(3, 'a', 'add-line')], 'a', ['name'], [twoWays])).toEqual([]);
    expect(missing([runs(3, 'a', 'add-line')], 'a', ['ident'], [twoWays])).toEqual(has('a', 'ident'));
    expect(missing([runs(3, 'a', 'add-line')], 'a', ['id'], [named('add-line', [put(1, 'p')])])).toEqual([]);
  });

  test('SW4027: one that always runs itself, directly or not', () => {
    const always = (name: string, next: string): Graph => named(name, [runs(1, 'again', next)]);
    const hint = 'say when it is to end';
    expect(findings([runs(3, 'a', 'add-task')], {}, [always('add-task', 'add-task')])).toEqual([
      `SW4027 3:1 workflows run each other without a condition: add-task → add-task | ${hint}`,
    ]);
    const others = [always('b', 'c'), always('c', 'add-task')];
    expect(findings([put(2, 'x'), runs(3, 'a', 'b')], {}, others)).toEqual([
      `SW4027 3:1 workflows run each other without a condition: add-task → b → c → add-task | ${hint}`,
    ]);
    expect(findings([runs(3, 'a', 'b')], {}, [always('b', 'b')])).toEqual([]);
    const behind = [runs(3, 'a', 'add-task'), returns(4, ref('steps', 'a'))];
    expect(findings(behind, {}, [named('add-task', behind)])).toHaveLength(1);
  });

  test('SW4027: a circle is reported by one of its workflows', () => {
    const always = (name: string, next: string): Graph => named(name, [runs(3, 'again', next)]);
    const nodes = (next: string) => [runs(3, 'again', next)];
    const reported = (next: string, others: readonly Graph[]) =>
      findings(nodes(next), {}, [named('add-task', nodes(next)), ...others]);
    expect(reported('a-first', [always('a-first', 'add-task')])).toEqual([]);
    expect(reported('z-last', [always('z-last', 'add-task')])).toHaveLength(1);
    // A second circle is another fault.
    const second = named('a-first', [runs(1, 'b', 'b'), runs(2, 'again', 'add-task')]);
    expect(reported('a-first', [second, always('b', 'a-first')])).toHaveLength(1);
  });

  test.each([
    ['a condition', [runs(3, 'a', 'add-task', {}, { when: ref('steps', 'x') })]],
    ['a branch', [either(3, 'b', body([runs(3, 'a', 'add-task')]), body([]))]],
    ['a loop', [loop(3, 'l', items, body([runs(3, 'a', 'add-task')]))]],
    ['a fallback', [runs(3, 'a', 'add-task', {}, { onError: { value: literal(1) } })]],
    ['an end before', [returns(2, literal(1), { when: ref('steps', 'x') }), runs(3, 'a', 'add-task')]],
    ['a selection', [step(2, 'c', 'put', {}, { onError: { fallbackNode: 'a' } }), runs(3, 'a', 'add-task')]],
  ] as [string, Node[]][])('SW4027: one that runs itself ends by %s', (_, nodes) => {
    const all = [computes(1, 'x', literal(true)), ...nodes, { ...returns(9, ref('steps', 'x')), id: 'end' }];
    expect(findings(all, {}, [named('add-task', all)])).toEqual([]);
  });

  test('SW4027: nested too deeply, reported once', () => {
    const chain = (length: number): Graph[] =>
      Array.from({ length }, (_, index) =>
        named(`w${index}`, index + 1 < length ? [runs(1, 'next', `w${index + 1}`)] : [put(1, 'p')]),
      );
    expect(findings([runs(3, 'a', 'w0')], {}, chain(4))).toEqual([]);
    expect(findings([runs(3, 'a', 'w0')], {}, chain(5))).toEqual([
      'SW4027 3:1 more than 5 workflows run inside each other: add-task → w0 → w1 → w2 → w3 → w4 | run some of them one after the other',
    ]);
    expect(findings([runs(3, 'a', 'w0')], {}, chain(6))).toEqual([]);
    // No call stack is deep enough to follow all of them.
    expect(findings([runs(3, 'a', 'w0')], {}, chain(20_000))).toEqual([]);
  });

  test('SW4027: a long circle is found, and shown in part', () => {
    const length = 20_000;
    const circle = Array.from({ length }, (_, index) =>
      named(`w${index}`, [runs(1, 'next', index + 1 < length ? `w${index + 1}` : 'add-task')]),
    );
    expect(findings([runs(3, 'a', 'w0')], {}, circle)).toEqual([
      'SW4027 3:1 workflows run each other without a condition: add-task → w0 → w1 → w2 → w3 → w4 → w5 → w6 → w7 → w8 → w9 → … (19990 more) → add-task | say when it is to end',
    ]);
  });
});

describe('SW4014: repeated calls in a container', () => {
  const retry = { extra: 1, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 } as const;
  const again = (id: string, tool: string, inside: string): string =>
    `SW4014 3:1 step \`${id}\` is tried again on failure, and tool \`${tool}\`, which \`${inside}\` calls in it, may repeat its effect | say \`retrySafety: 'idempotent'\` if a second call of \`${tool}\` does no harm, or \`'key'\` if it deduplicates by \`context.idempotencyKey\`; else do not retry it`;

  test('in its bodies, each tool once', () => {
    const calls = [put(4, 'a'), step(5, 'b', 'list-pages'), step(6, 'c', 'list-pages'), step(7, 'd', 'peek')];
    const nodes = [parallel(3, 'p', { one: body([loop(4, 'l', items, body(calls))]) }, { retry })];
    expect(findings(nodes)).toEqual([again('p', 'list-pages', 'c')]);
    expect(
      findings([loop(3, 'l', items, body(calls))], { errorStrategy: { kind: 'retry', retry } }),
    ).toHaveLength(2);
  });

  test('in the workflow it runs', () => {
    const inner = graphOf([step(1, 'b', 'list-pages')], { name: 'inner', inputs: [] });
    expect(findings([runs(3, 'a', 'inner', {}, { retry })], {}, [inner])).toEqual([
      again('a', 'list-pages', 'b'),
    ]);
  });
});
