import { describe, expect, test } from 'vitest';
import { dict, literal, ref } from '../graph/expression/build.fixture.js';
import type { DictExpr } from '../graph/expression/tree.js';
import type { Compensation, Node } from '../graph/kinds/node.js';
import { graphOf, step } from './check-graph.fixture.js';
import { checkGraph } from './check-graph.js';
import { body, findings, loop, parallel, runs, undoes, undoing } from './constructs.fixture.js';

const items = literal(['a', 'b']);
const TWICE = { extra: 1, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 } as const;
const rollback = { onPartialFailure: 'rollback' } as const;
const compensate = undoing('put');
const put = (line: number, id: string): Node => step(line, id, 'put');
const peek = (line: number, id: string): Node => step(line, id, 'peek');
const booked = (line: number, id: string): Node => step(line, id, 'put', {}, { compensate });
const rolling = (...nodes: Node[]): Node => parallel(3, 'p', { one: body(nodes) }, rollback);

describe('SW4028: rolling back', () => {
  const nothing =
    'SW4028 3:1 step `p` rolls back, and nothing in it says how it is undone | add `compensate` to a call in it, or let it fail without rolling back';

  test('needs something that undoes, however deep', () => {
    const inner = graphOf([step(1, 'b', 'put', {}, { compensate })], { name: 'inner', inputs: [] });
    expect(findings([rolling(put(4, 'a'))])).toEqual([nothing]);
    expect(findings([rolling(loop(4, 'l', items, body([step(5, 'a', 'put', {}, { compensate })])))])).toEqual(
      [],
    );
    expect(findings([rolling(runs(4, 'a', 'inner'))], {}, [inner])).toEqual([]);
    expect(findings([rolling(runs(4, 'a', 'inner'))])).toEqual([]);
    expect(
      findings([rolling(runs(4, 'a', 'plain'))], {}, [{ ...inner, name: 'plain', nodes: [put(1, 'b')] }]),
    ).toEqual([nothing]);
    const byNode = parallel(3, 'p', { one: body([peek(4, 'a')]) }, { ...rollback, compensateNode: 'u' });
    expect(findings([byNode, undoes(5, 'u', compensate)])).toEqual([]);
  });
});

describe('SW4037: a call that a rollback does not undo', () => {
  const remains = (line: number, id: string, owner = '', parallelId = 'p', rollsBackAt = 3): string =>
    `SW4037 ${line}:1 step \`${id}\`${owner} calls \`put\`, which nothing undoes when \`${parallelId}\` rolls back | it rolls back here ${rollsBackAt}:1 | add \`compensate\` to the call; if \`put\` changes nothing, say so with \`annotations: { readOnlyHint: true }\``;

  test('is found beside one that is undone, in loops and nested containers too', () => {
    const inLoop = loop(5, 'l', items, body([put(6, 'a')]));
    const nested = parallel(7, 'q', { inner: body([put(8, 'b')]) });
    expect(findings([rolling(booked(4, 'x'), inLoop, nested)])).toEqual([remains(6, 'a'), remains(8, 'b')]);
  });

  test('of a generated class is repaired at its server', () => {
    const tools = new Map([
      ['put', { inputSchema: {} }],
      ['pulled', { inputSchema: {}, upstream: { server: 'files', tool: 'write' } }],
    ]);
    const nodes = [rolling(booked(4, 'x'), step(5, 'a', 'pulled', {}, { retry: TWICE }))];
    const found = checkGraph(graphOf(nodes, { inputs: [] }), { tools, resources: new Map() });
    expect(found.map(({ code, hint }) => `${code} ${hint}`)).toEqual([
      'SW4037 add `compensate` to the call; if `pulled` only reads, its server says so by `readOnlyHint`, and `stepwright pull files` reads it',
      'SW4014 do not retry it, unless its server says by `idempotentHint` that a second call does no harm: then run `stepwright pull files`',
    ]);
  });

  test('of a misspelt tool of a server names it as it was written', () => {
    const tools = new Map([
      ['files_write', { inputSchema: {}, upstream: { server: 'files', tool: 'write' } }],
    ]);
    const hintFor = (written: string) => {
      const graph = graphOf([step(3, 'a', written)], { inputs: [] });
      return checkGraph(graph, { tools, resources: new Map() }).map(({ code, hint }) => `${code} ${hint}`);
    };
    expect(hintFor('files/wite')).toEqual(['SW4001 did you mean `files/write`?']);
    expect(hintFor('files_wite')).toEqual(['SW4001 did you mean `files_write`?']);
  });

  test('changes something: a read needs no undoing', () => {
    expect(findings([rolling(booked(4, 'x'), peek(5, 'a'))])).toEqual([]);
  });

  test('is of a known tool: an unknown tool has its own diagnostic', () => {
    expect(findings([rolling(booked(4, 'x'), step(5, 'a', 'gone'))])).toEqual([
      expect.stringContaining('SW4001'),
    ]);
  });

  test('is in a parallel that rolls back', () => {
    const other = (onPartialFailure: 'abort' | 'continue'): Node =>
      parallel(3, 'p', { one: body([put(4, 'a')]) }, { onPartialFailure });
    expect(findings([other('abort')])).toEqual([]);
    expect(findings([other('continue')])).toEqual([]);
    expect(findings([put(2, 'before'), rolling(booked(4, 'x')), put(5, 'after')])).toEqual([]);
  });

  test('is found once, for the innermost parallel that does not undo it', () => {
    const inner = parallel(5, 'q', { two: body([put(6, 'a'), booked(7, 'b')]) }, rollback);
    expect(findings([rolling(booked(4, 'x'), inner)])).toEqual([remains(6, 'a', '', 'q', 5)]);
  });

  test('is found in workflows that a branch runs, once each', () => {
    const inner = graphOf([booked(10, 'b'), put(11, 'c')], { name: 'inner', inputs: [] });
    const outer = graphOf([runs(20, 'deep', 'inner')], { name: 'outer', inputs: [] });
    const nodes = [rolling(runs(4, 'm', 'outer'), runs(5, 'n', 'inner'))];
    expect(findings(nodes, {}, [inner, outer])).toEqual([remains(11, 'c', ' of workflow `inner`')]);
  });

  describe('with a `compensate` node', () => {
    const undo = (id: string): Compensation => ({
      tool: 'add-task',
      input: dict({ task: literal('t'), page: ref('steps', id) }) as DictExpr,
    });
    const byNode = (...nodes: Node[]): Node =>
      parallel(3, 'p', { one: body(nodes) }, { ...rollback, compensateNode: 'u' });
    const found = (nodes: Node[]): string[] =>
      findings(nodes).filter((each) => each.startsWith('SW4037') || each.startsWith('SW4028'));

    test('is undone if a step refers to it, or to a container around it', () => {
      expect(found([byNode(put(4, 'a')), undoes(9, 'u', undo('a'))])).toEqual([]);
      const inLoop = loop(4, 'l', items, body([put(5, 'a')]));
      expect(found([byNode(inLoop), undoes(9, 'u', undo('l'))])).toEqual([]);
    });

    test('remains if no step does', () => {
      expect(found([byNode(put(4, 'a'), put(5, 'b')), undoes(9, 'u', undo('a'))])).toEqual([remains(5, 'b')]);
      expect(found([byNode(put(4, 'a')), undoes(9, 'u', compensate)])).toEqual([remains(4, 'a')]);
    });

    test('remains for a parallel around the one that undoes it', () => {
      const outer = parallel(
        2,
        'o',
        { one: body([booked(7, 'x'), byNode(put(4, 'a')), undoes(9, 'u', undo('a'))]) },
        rollback,
      );
      expect(found([outer])).toEqual([remains(4, 'a', '', 'o', 2)]);
    });
  });
});

describe('SW4046: a call that is never undone on failure', () => {
  const never = (line: number, id: string): string =>
    `SW4046 ${line}:1 step \`${id}\` has \`compensate\`, and is never undone when the workflow fails | add \`onFailure: 'undo'\` to the workflow, or call it inside a \`parallel\` with \`onPartialFailure: 'rollback'\``;

  test('has a compensation outside of every rollback', () => {
    const inParallel = parallel(4, 'p', { one: body([booked(5, 'b')]) }, { onPartialFailure: 'abort' });
    const nodes = [booked(3, 'a'), { ...inParallel, after: ['a'] }, { ...put(6, 'c'), after: ['p'] }];
    expect(findings(nodes)).toEqual([never(3, 'a'), never(5, 'b')]);
  });

  test('is beside another branch that may fail', () => {
    const one = body([booked(4, 'a')]);
    expect(findings([parallel(3, 'p', { one, two: body([put(5, 'b')]) })])).toEqual([never(4, 'a')]);
  });

  test('has a later step: the last one need not be undone', () => {
    expect(findings([put(3, 'a'), { ...booked(4, 'b'), after: ['a'] }])).toEqual([]);
  });

  test('is undone with its workflow, or by a rollback', () => {
    expect(findings([booked(3, 'a')], { onFailure: 'undo' })).toEqual([]);
    expect(findings([rolling(booked(4, 'a'))])).toEqual([]);
  });

  test('may be undone by the workflow that runs its own', () => {
    expect(findings([booked(3, 'a')], { expose: [] })).toEqual([]);
  });
});

test('SW4028: a workflow that undoes has something to undo', () => {
  expect(findings([put(3, 'a')], { onFailure: 'undo' })).toEqual([
    'SW4028 1:1 the workflow is undone when it fails, and nothing in it says how it is undone | add `compensate` to a call in it, or let it fail without rolling back',
  ]);
  const inner = graphOf([booked(1, 'b')], { name: 'inner', inputs: [], onFailure: 'undo' });
  expect(findings([runs(3, 'a', 'inner')], { onFailure: 'undo' }, [inner])).toEqual([]);
});
