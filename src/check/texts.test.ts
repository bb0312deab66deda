import { describe, expect, test } from 'vitest';
import {
  arithmetic,
  ask,
  bound,
  call,
  dict,
  get,
  literal,
  local,
  map,
  ref,
  text,
} from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Json, JsonSchema } from '../graph/json.js';
import type { Input, Node } from '../graph/model.js';
import { argument, at, check, closed, fails, reads, step, warnings } from './check-graph.fixture.js';
import { arm, branches } from './constructs.fixture.js';

const page: JsonSchema = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    note: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    owner: { type: ['string', 'null'] },
    meta: closed({ id: { type: 'string' } }),
  },
  required: ['title', 'tags', 'owner', 'meta'],
};

const inputs: Input[] = [
  argument('task'),
  argument('page', page),
  argument('either', { type: ['string', 'array'] }),
  { ...argument('date'), required: false },
  { ...argument('limit', { type: 'integer' }), required: false, default: 5 },
];

/** The faults of a text in an argument: errors as they are, warnings with `?`. */
function faultsOf(parts: Expr | readonly Expr[], more: readonly Node[] = []): string[] {
  const value = Array.isArray(parts) ? text('js', 'x', ...parts) : (parts as Expr);
  return faultsOfNodes([...more, step(4, 'add', 'add-task', { task: at(4, value) })]);
}

function faultsOfNodes(nodes: readonly Node[]): string[] {
  const own = (line: string): boolean => /^SW302[12]/.test(line);
  const short = (line: string): string =>
    line.replace(/^SW302. \S+ /, '').replace(', and a text takes text, numbers and booleans', '');
  return [
    ...check(nodes, { inputs }).filter(own).map(short),
    ...warnings(nodes, { inputs })
      .filter(own)
      .map((line) => `?${short(line)}`),
  ];
}

const date = ref('inputs', 'date');
const is = (of: Expr, op: 'eq.strict' | 'ne.strict', value?: Json): Expr => ({
  kind: 'compare',
  left: of,
  ops: [{ op, right: value === undefined ? literal() : literal(value) }],
});
const choose = (testExpr: Expr, yes: Expr, no?: Expr): Expr => ({
  kind: 'conditional',
  truth: 'truthy.js',
  test: testExpr,
  // biome-ignore lint/suspicious/noThenProperty: the name is the model's
  then: yes,
  ...(no === undefined ? {} : { else: no }),
});

describe('a value in a text', () => {
  test.each([
    ['what is text', [ref('inputs', 'task'), ref('inputs', 'limit'), literal(true), literal(1)], []],
    ['a field', [ref('inputs', 'page', 'title'), ref('inputs', 'page', 'meta', 'id')], []],
    [
      'an optional argument',
      [date],
      ["?`date` may be absent | say what the text has then: `this.date ?? '…'`"],
    ],
    [
      'an optional field',
      [ref('inputs', 'page', 'note')],
      ["?`page.note` may be absent | say what the text has then: `this.page.note ?? '…'`"],
    ],
    [
      'null',
      [ref('inputs', 'page', 'owner')],
      ["?`page.owner` may be null | say what the text has then: `this.page.owner ?? '…'`"],
    ],
    ['an object', [ref('inputs', 'page')], ['`page` is an object | name a field of it: `this.page.title`']],
    [
      'a list',
      [ref('inputs', 'page', 'tags')],
      ["`page.tags` is a list | join its items: `this.page.tags.join(', ')`"],
    ],
    ['an item', [ref('inputs', 'page', 'tags', 0)], []],
    [
      'perhaps a list',
      [ref('inputs', 'either')],
      ["?`either` may be a list | join its items: `this.either.join(', ')`"],
    ],
    ['what replaces a faulty part', [literal()], []],
    [
      'a list of values',
      [map(ref('inputs', 'page', 'tags'), 'x', local('x'))],
      ["a value is a list | join its items: `….join(', ')`"],
    ],
    [
      'one of a list',
      [ask('find', ref('inputs', 'page', 'tags'), 'x', literal(true))],
      ["?a value may be absent | say what the text has then: `… ?? '…'`"],
    ],
    ['a joined list', [call('join.js', ref('inputs', 'page', 'tags'))], []],
    ['JSON', [call('toJson', ref('inputs', 'page'))], []],
    ['an unknown value', [ref('state', 'any')], []],
    [
      'an optional chain',
      [get(date, 'length', true)],
      ["?`date.length` may be absent | say what the text has then: `this.date.length ?? '…'`"],
    ],
    [
      'a local value',
      [bound('p', ref('inputs', 'page'), local('p'))],
      ['`p` is an object | name a field of it: `p.title`'],
    ],
    ['what is read of a resource', [ref('steps', 'doc', 'text')], []],
  ] as [string, Expr[], string[]][])('%s', (_what, parts, expected) => {
    const doc = reads(3, 'intro', literal('resource://logseq/intro'));
    expect(faultsOf(parts, [doc])).toEqual(expected);
  });

  test.each([
    ['a default', call('coalesce', date, literal('today'))],
    ['a condition', choose(is(date, 'ne.strict'), date, literal('no'))],
    ['the other side of one', choose(is(date, 'eq.strict'), literal('no'), date)],
    ['truth', choose(date, date, literal('no'))],
    ['`&&`', choose({ kind: 'and', truth: 'truthy.js', items: [date, literal(true)] }, date, literal(''))],
    ['`||`', { kind: 'or', truth: 'truthy.js', items: [date, literal('no')] }],
  ] as [string, Expr][])('%s is a guard', (_what, value) => {
    expect(faultsOf([value])).toEqual([]);
  });

  test('a default may itself be missing', () => {
    expect(faultsOf([call('coalesce', ref('inputs', 'page', 'note'), date)])).toHaveLength(1);
    expect(faultsOf([choose(literal(true), literal('a'))])).toHaveLength(1);
  });

  test('the condition of the step is a guard, and that of another step is not', () => {
    const due = at(4, text('js', 'Due ', date));
    const nodes = (when: Expr): Node[] => [step(4, 'add', 'add-task', { task: due }, { when })];
    expect(faultsOfNodes(nodes(is(date, 'ne.strict')))).toEqual([]);
    expect(faultsOfNodes(nodes(is(ref('inputs', 'task'), 'ne.strict', 'x')))).toHaveLength(1);
    const other = step(3, 'b', 'add-task', { task: literal('x') }, { when: is(date, 'ne.strict') });
    expect(faultsOfNodes([other, ...nodes(is(ref('inputs', 'task'), 'ne.strict', 'x'))])).toHaveLength(1);
  });

  test('a condition under which the value may be absent does not guard it', () => {
    const unknown = choose(is(date, 'eq.strict', 'x'), literal('a'), date);
    expect(faultsOf([unknown])).toHaveLength(1);
    expect(faultsOf([choose(is(date, 'eq.strict', 'x'), date, literal('a'))])).toEqual([]);
    expect(
      faultsOf([choose({ kind: 'not', truth: 'truthy.js', of: date }, date, literal('a'))]),
    ).toHaveLength(1);
  });

  test('the message of a failure is guarded by its own condition, and later steps by that of the failure', () => {
    const failing = (test: Expr): Node => {
      const failure = { nodes: [fails(2, at(2, text('js', 'no ', date)))] };
      const otherwise = { id: 'else', body: { nodes: [] } };
      return branches(2, 'check', [arm('then', failure, at(2, test))], { else: otherwise });
    };
    expect(faultsOfNodes([failing(is(date, 'ne.strict', 'x'))])).toHaveLength(1);
    expect(faultsOfNodes([failing(is(date, 'ne.strict'))])).toEqual([]);
    const due = step(4, 'add', 'add-task', { task: at(4, text('js', 'Due ', date)) });
    expect(faultsOfNodes([failing(is(date, 'eq.strict', 'x')), due])).toEqual([]);
    expect(faultsOfNodes([due, failing(is(date, 'eq.strict', 'x'))])).toHaveLength(1);
  });

  test('`+` with a text has the rule, and with numbers alone has not', () => {
    expect(faultsOf(arithmetic(literal('see '), 'add.js', ref('inputs', 'page')))).toHaveLength(1);
    expect(faultsOf(arithmetic(date, 'add.js', literal('!')))).toHaveLength(1);
    expect(faultsOf(arithmetic(literal(1), 'add.js', ref('inputs', 'limit')))).toEqual([]);
  });

  test('a failure, a nested text and guidance have it; what is only shown is a warning', () => {
    expect(faultsOfNodes([fails(4, at(4, text('js', 'no ', date)))])).toHaveLength(1);
    expect(faultsOf(dict({ a: text('js', 'x', ref('inputs', 'page')) }))).toHaveLength(1);
    const guidance = text('display', 'For ', ref('inputs', 'page'));
    expect(faultsOfNodes([step(4, 'add', 'add-task', { task: literal('x') }, { guidance })])).toEqual([
      '?`page` may be an object | name a field of it: `this.page.title`',
    ]);
  });
});
