import { describe, expect, test } from 'vitest';
import { call, dict, get, list, literal, ref, text } from '../graph/expression/build.fixture.js';
import type { Expr } from '../graph/expression/tree.js';
import type { Json, JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import type { StateField } from '../graph/model.js';
import {
  argument,
  at,
  closed,
  computes,
  environment,
  fails,
  graphOf,
  place,
  returns,
  step,
} from './check-graph.fixture.js';
import { checkGraph } from './check-graph.js';
import {
  arm,
  asks,
  body,
  branches,
  either,
  findings,
  goesBack,
  has,
  loop,
  missing,
  parallel,
  reading,
  sets,
  undoes,
  undoing,
  waits,
} from './constructs.fixture.js';

const items = literal(['a', 'b']);
const put = (line: number, id: string): Node => step(line, id, 'put');
const listed = step(2, 'list', 'list-pages');
describe('values of containers', () => {
  test('a branch has the value of one of its arms', () => {
    const made = either(
      3,
      'b',
      body([], dict({ id: literal(1) })),
      body([], dict({ id: literal(2), name: literal('n') })),
    );
    expect(missing([made], 'b', ['name'])).toEqual([]);
    expect(missing([made], 'b', ['nam'])).toEqual(has('b', 'nam', ' | did you mean `name`?'));
    expect(missing([either(3, 'b', 'a', body([], dict({}))), put(4, 'a')], 'b', ['id'])).toEqual(
      has('b', 'id'),
    );
  });

  test('a parallel gives a dict, in which a branch that may fail is told', () => {
    const bodies = { one: body([], dict({ id: literal(1) })), two: body([]) };
    expect(missing([parallel(3, 'p', bodies)], 'p', ['one', 'id'])).toEqual([]);
    expect(missing([parallel(3, 'p', bodies)], 'p', ['on'])).toEqual(
      has('p', 'on', ' | did you mean `one`?'),
    );
    expect(missing([parallel(3, 'p', bodies)], 'p', ['one', 'error'])).toEqual(has('p', 'one.error'));
    const more = { onPartialFailure: 'continue' } as const;
    expect(missing([parallel(3, 'p', bodies, more)], 'p', ['one', 'error'])).toEqual([]);
  });

  test('a loop has a list of the values of its body, and knows its item', () => {
    const made = (item: Expr, more = {}) => [
      listed,
      loop(
        3,
        'l',
        ref('steps', 'list', 'pages'),
        body([computes(4, 'c', item)], dict({ t: ref('steps', 'c') })),
        more,
      ),
    ];
    expect(missing(made(ref('item', 'x', 'title')), 'l', [0, 't'])).toEqual([]);
    expect(missing(made(ref('item', 'x', 'title')), 'l', [0, 'title'])).toEqual(has('l', '[0].title'));
    expect(findings(made(at(4, ref('item', 'x', 'titel'))))).toEqual([
      'SW4005 4:20 item `x` has no `titel` | did you mean `title`?',
    ]);
    expect(missing(made(ref('item', 'x'), { onItemError: 'continue' }), 'l', [0, 't', 'title'])).toEqual([]);
  });

  test('answers have their shapes', () => {
    const asked = [
      asks(3, 'info', 'info'),
      asks(3, 'confirm', 'confirm'),
      asks(3, 'text', 'text'),
      asks(3, 'choice', 'choice', { options: items }),
      asks(3, 'yield', 'yield', { expects: closed({ seat: { type: 'string' } }) }),
    ];
    for (const [id, field] of [
      ['info', 'acknowledged'],
      ['confirm', 'confirmed'],
      ['text', 'input'],
      ['choice', 'selected'],
      ['yield', 'seat'],
    ] as const) {
      expect(missing(asked, id, [field])).toEqual([]);
      expect(missing(asked, id, ['answer'])).toEqual(has(id, 'answer'));
    }
  });

  test('`set` and `compensate` nodes have their shapes', () => {
    const state: StateField[] = [{ name: 'n', scope: 'run', schema: { type: 'object' } }];
    const nodes = [sets(3, 's', { n: dict({ a: literal(1) }) }), reading('s', 'n', 'b')];
    expect(findings(nodes, { state })).toEqual(has('s', 'n.b'));
    const undo = [
      put(3, 'a'),
      either(4, 'b', 'u', body([put(5, 'c')])),
      undoes(6, 'u', undoing('put')),
      returns(9, call('coalesce', get(ref('steps', 'u'), 'undone', true), ref('steps', 'a'))),
    ];
    expect(findings(undo)).toEqual(has('u', 'undone', ' | did you mean `done`?'));
  });

  test('types reach the inputs of tools', () => {
    const nodes = [
      loop(3, 'l', items, body([step(4, 'a', 'list-pages', { limit: at(4, ref('item', 'x')) })])),
      loop(5, 'm', items, body([step(6, 'b', 'list-pages', { limit: ref('index', 'i') })]), { indexAs: 'i' }),
      step(7, 'c', 'list-pages', { limit: at(7, ref('steps', 'm')) }),
    ];
    const gives = (line: number, id: string, what: string): string =>
      `SW4012 ${line}:20 \`limit\` of tool \`list-pages\` takes an integer, and step \`${id}\` gives ${what}`;
    expect(findings(nodes)).toEqual([gives(4, 'a', 'a string'), gives(7, 'c', 'an array')]);
  });
});

describe('calls in bodies and compensations', () => {
  test('are checked as any other', () => {
    const compensate = { ...undoing('ad-task', {}), input: at(4, dict({})) as never };
    const nodes = [
      loop(3, 'l', items, body([step(4, 'a', 'list_pages', {}, { compensate })])),
      step(5, 'b', 'put', {}, { compensate: undoing('list-pages', { limit: at(5, literal('x')) }) }),
      either(6, 'c', 'u', body([put(7, 'd')])),
      undoes(8, 'u', undoing('add-task', { task: literal('t') })),
    ];
    expect(findings(nodes, { onFailure: 'undo' })).toEqual([
      'SW4001 4:1 workflow `add-task` requires tool `list_pages`, which is not registered | did you mean `list-pages`?',
      'SW4001 4:1 workflow `add-task` requires tool `ad-task`, which is not registered | did you mean `add-task`?',
      'SW4012 5:20 `limit` of tool `list-pages` takes an integer, and step `b` gives a string',
      'SW4003 8:1 step `u` gives tool `add-task` no `page` | add `page` to the input of the call',
    ]);
  });
});

describe('SW4015: numbers out of their range', () => {
  const wrong = (what: string, option: string, range: string, value: number): string =>
    `SW4015 3:1 \`${option}\` of step \`${what}\` must be ${range}, not ${value}`;

  test.each([
    [
      loop(3, 'l', items, body([put(4, 'a')]), { concurrency: 101 }),
      ['concurrency', 'a whole number from 1 to 100', 101],
    ],
    [loop(3, 'l', items, body([put(4, 'a')]), { max: 0 }), ['max', 'a whole number from 1 to 100000', 0]],
    [
      loop(3, 'l', items, body([put(4, 'a')]), { max: 100_001 }),
      ['max', 'a whole number from 1 to 100000', 100_001],
    ],
    [loop(3, 'l', items, body([], literal(1)), { max: 0 }), ['max', 'a whole number from 1', 0]],
    [
      parallel(3, 'l', { a: body([put(4, 'a')]) }, { concurrency: 1.5 }),
      ['concurrency', 'a whole number from 1', 1.5],
    ],
    [goesBack(3, 'l', 'first', { max: 101 }), ['max', 'a whole number from 1 to 100', 101]],
    [
      waits(3, 'l', { kind: 'negate', of: literal(1) }),
      ['durationMs', 'from 0 to 316224000000 (milliseconds, ten years)', -1],
    ],
    [
      waits(3, 'l', literal(316_224_000_001)),
      ['durationMs', 'from 0 to 316224000000 (milliseconds, ten years)', 316_224_000_001],
    ],
    [
      { ...put(3, 'l'), timeoutMs: 316_224_000_001 },
      ['timeoutMs', 'above 0, and at most 316224000000 (milliseconds, ten years)', 316_224_000_001],
    ],
  ] as [Node, [string, string, number]][])('case %#', (node, [option, range, value]) => {
    expect(findings([put(2, 'first'), node])).toEqual([wrong('l', option, range, value)]);
  });

  test('none is out of it at its ends', () => {
    const nodes = [
      put(2, 'first'),
      loop(3, 'l', items, body([put(4, 'a')]), { concurrency: 100, max: 1 }),
      goesBack(5, 'g', 'first', { max: 100 }),
      waits(6, 'w', literal(31_622_400_000)),
      waits(7, 'v', ref('steps', 'first')),
      { ...put(8, 't'), timeoutMs: 316_224_000_000 },
    ];
    expect(findings(nodes)).toEqual([]);
  });
});

describe('SW4029: loops', () => {
  test.each([
    [literal('ab'), 'a string'],
    [literal({}), 'an object'],
    [literal(null), 'null'],
    [ref('steps', 'list'), 'an object'],
  ] as [Expr, string][])('go through no %j', (over, actual) => {
    expect(
      findings([listed, loop(3, 'l', at(3, over as typeof over & object), body([put(4, 'a')]))]),
    ).toEqual([`SW4029 3:20 step \`l\` goes through a list, and is given ${actual}`]);
  });

  test('may iterate over an unknown value', () => {
    const nodes = [step(2, 'a', 'put'), loop(3, 'l', ref('steps', 'a'), body([put(4, 'b')]))];
    expect(findings([...nodes, loop(5, 'm', literal([]), body([put(6, 'c')]))])).toEqual([]);
  });
});

describe('SW4030: options', () => {
  test.each([
    [literal([]), 'are none'],
    [list(literal('a'), literal('b'), literal('a')), 'hold `a` twice'],
    [literal('a'), 'are no list, but a string'],
    [literal([1]), 'are no texts, but each is an integer'],
  ] as [Expr, string][])('%j', (options, problem) => {
    expect(findings([asks(3, 'a', 'choice', { options: at(3, options) })])).toEqual([
      `SW4030 3:20 the options of question \`a\` ${problem} | give one or more different texts`,
    ]);
  });

  test('may be computed', () => {
    const options = list(text('js', 'a'), literal('b'), [literal(['c'])]);
    expect(findings([asks(3, 'a', 'choice', { options })])).toEqual([]);
  });
});

describe('SW4036: codes of failures', () => {
  const failing = (code: string): string[] => findings([fails(3, literal('no'), { code })]);
  const said = (code: string, problem: string): string[] => [
    `SW4036 3:1 step \`stop\` fails with the code \`${code}\`, which is ${problem} | write letters, digits and \`_\`, a letter first, for example \`OUT_OF_STOCK\``,
  ];

  test.each(['OUT_OF_STOCK', 'fail_booking', 'E', 'EU_ONLY', 'a'.repeat(64)])('%s is one', (code) => {
    expect(failing(code)).toEqual([]);
  });

  test.each(['', 'sold out', '3rd', '_x', 'a-b', 'a.b', 'é', 'A\n', 'a'.repeat(65)])('%j is none', (code) => {
    expect(failing(code)).toEqual(said(code, 'no plain identifier of at most 64 characters'));
  });

  test.each([
    ['E_TIMEOUT', 'E_'],
    ['E_OF_MY_OWN', 'E_'],
    ['W_LATE', 'W_'],
  ])("%s is the product's", (code, prefix) => {
    expect(failing(code)).toEqual(said(code, `reserved: codes with \`${prefix}\` are the product's own`));
  });

  test('are left out at will', () => {
    expect(findings([fails(3, literal('no'))])).toEqual([]);
  });
});

describe('SW4034: times', () => {
  const until = (time: Expr): Node => {
    const { durationMs: _, ...rest } = waits(3, 'w', literal(0)) as Extract<Node, { kind: 'wait' }>;
    return { ...rest, until: time };
  };

  test.each(['tomorrow', '2026-01-31', '2026-02-30T12:00:00Z', ''])('%j is none', (text) => {
    expect(findings([until(at(3, literal(text)))])).toEqual([
      `SW4034 3:20 step \`w\` waits until \`${text}\`, which is not a time | write a time such as \`2026-01-31T12:00:00Z\`, or milliseconds since the epoch`,
    ]);
  });

  test.each([literal('2026-01-31T12:00:00+01:00'), literal(0), ref('inputs', 'q')])('case %#', (time) => {
    expect(findings([until(time)]).filter((found) => !found.startsWith('SW3'))).toEqual([]);
  });
});

describe('state', () => {
  const field = (name: string, schema: JsonSchema, initial?: Json): StateField => ({
    name,
    scope: 'run',
    schema,
    ...(initial === undefined ? {} : { initial }),
  });
  const state = [field('count', { type: 'integer' }, 0), field('page', closed({ path: { type: 'string' } }))];

  test('SW4031: fields that are not there, read, written or listed', () => {
    const nodes: Node[] = [
      { ...sets(3, 's', { cont: at(3, literal(1)) }), reads: ['pages'] },
      returns(4, at(4, ref('state', 'conut'))),
    ];
    const none = (where: string, name: string, meant: string): string =>
      `SW4031 ${where} the state of workflow \`add-task\` has no field \`${name}\` | did you mean \`${meant}\`?`;
    expect(findings(nodes, { state })).toEqual([
      none('4:20', 'conut', 'count'),
      none('3:1', 'pages', 'page'),
      none('3:20', 'cont', 'count'),
    ]);
    expect(findings([returns(4, at(4, ref('state', 'x')))])).toEqual([
      'SW4031 4:20 the state of workflow `add-task` has no field `x`',
    ]);
  });

  test('SW4012 and SW4005: values and paths follow the schema', () => {
    const nodes = [
      sets(3, 's', { count: at(3, ref('state', 'page', 'path')) }),
      returns(4, at(4, ref('state', 'page', 'paht'))),
    ];
    expect(findings(nodes, { state })).toEqual([
      'SW4012 3:20 `count` of the state takes an integer, and step `s` gives a string',
      'SW4005 4:20 state field `page` has no `paht` | did you mean `path`?',
    ]);
  });

  test('SW4012: a value that a node writes fits its field', () => {
    const asked = (writes: string): Node => ({ ...asks(3, 'asked', 'text'), writes });
    const answer = { name: 'answer', scope: 'run', schema: { type: 'object' } } as const;
    expect(findings([asked('count')], { state })).toEqual([
      'SW4012 3:1 `count` of the state takes an integer, and step `asked` gives an object',
    ]);
    expect(findings([asked('answer')], { state: [answer] })).toEqual([]);
  });

  test('SW4035: the initial value of a field matches its schema', () => {
    const schema = closed({
      kind: { enum: ['a', 'b'] },
      sizes: { type: 'array', items: { type: 'number' } },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    });
    const beginning = (initial: Json, of: JsonSchema = { ...schema, required: ['kind'] }): string[] => {
      const source = place(7);
      const state: StateField[] = [{ name: 'f', scope: 'run', schema: of, initial, source }];
      return findings([put(2, 'first')], { state });
    };
    const wrong = (problem: string): string[] => [
      `SW4035 7:1 the first value of the state's field \`f\` does not fit its schema: ${problem} | correct \`initial\`, or the schema`,
    ];
    expect(beginning({ kind: 'a', sizes: [1, 2.5], note: null })).toEqual([]);
    expect(beginning([])).toEqual(wrong('it is an array, not an object'));
    expect(beginning({})).toEqual(wrong('it has no `kind`'));
    expect(beginning({ kind: 'c' })).toEqual(wrong('`kind` is `"c"`, not `"a"` or `"b"`'));
    expect(beginning({ kind: 'a', sizes: [1, '2'] })).toEqual(wrong('`sizes.1` is a string, not a number'));
    expect(beginning({ kind: 'a', note: 1 })).toEqual(wrong('`note` is an integer, not a string or null'));
    expect(beginning({ kind: 'a', extra: 1 })).toEqual(wrong('`extra` is too much'));
    expect(beginning(1.5, { type: 'integer' })).toEqual(wrong('it is a number, not an integer'));
    expect(beginning(1, { type: 'number' })).toEqual([]);
    expect(beginning('any', {})).toEqual([]);
    expect(beginning(2, { anyOf: [{ const: 1 }, { type: 'integer' }] })).toEqual([]);
    expect(beginning(2, { const: 1 })).toEqual(wrong('it is `2`, not `1`'));
  });

  test('SW4033: a step with `reads` reads no other field', () => {
    const node = { ...returns(4, list(ref('state', 'page'), at(4, ref('state', 'count')))), reads: ['page'] };
    expect(findings([node], { state })).toEqual([
      "SW4033 4:20 step `output` reads the state's field `count`, which it does not declare | add `count` to its `reads`",
    ]);
  });

  test('SW1008 and SW1002: fields have names of their own', () => {
    const bad = [field('a', {}), field('a', {}), field('b c', {})];
    expect(findings([], { state: bad }).map((found) => found.split(' | ')[0])).toEqual([
      'SW1008 1:1 `a` is bound twice in this workflow',
      'SW1002 1:1 `b c` is not a valid state field name',
    ]);
  });
});

describe('unused values', () => {
  test('is found in bodies, and used by them', () => {
    const nodes = [
      computes(3, 'a', literal(1)),
      loop(
        4,
        'l',
        items,
        body(
          [computes(5, 'b', ref('steps', 'a')), computes(6, 'c', ref('inputs', 'task'))],
          ref('steps', 'c'),
        ),
      ),
    ];
    expect(findings(nodes, { inputs: [argument('task')] })).toEqual([
      'SW3010 5:1 `b` is never used: the step only computes a value | use `this.b`, or remove the step',
    ]);
  });

  test('a compensation uses the steps that it names', () => {
    const compensate = undoing('add-task', { task: ref('steps', 'a'), page: ref('inputs', 'task') });
    const nodes = [computes(3, 'a', literal('x')), step(4, 'b', 'put', {}, { compensate })];
    expect(findings(nodes, { inputs: [argument('task')], onFailure: 'undo' })).toEqual([]);
  });
});

test('a graph of many nested nodes is checked in time', () => {
  let inner = body([put(3, 'last')], ref('steps', 'last'));
  for (let depth = 0; depth < 40; depth++) {
    inner = body(
      [branches(3, `b${depth}`, [arm('yes', inner, ref('inputs', 'task'))])],
      ref('steps', `b${depth}`),
    );
  }
  const many = Array.from({ length: 3000 }, (_, index) =>
    parallel(
      3,
      `p${index}`,
      { one: body([put(3, `c${index}`)], ref('steps', `c${index}`)) },
      {
        after: index === 0 ? [] : [`p${index - 1}`],
        when: ref('inputs', 'task'),
      },
    ),
  );
  const found = checkGraph(graphOf([...inner.nodes, ...many], { inputs: [argument('task')] }), environment);
  expect(found.filter(({ code }) => code !== 'SW4022')).toEqual([]);
});
