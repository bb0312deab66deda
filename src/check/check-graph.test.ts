import { describe, expect, test } from 'vitest';
import { call, dict, get, literal, map, ref, text } from '../graph/expression/build.fixture.js';
import type { DictExpr, Expr, RefExpr } from '../graph/expression/tree.js';
import type { JsonSchema } from '../graph/json.js';
import type { Node } from '../graph/kinds/node.js';
import {
  argument,
  at,
  check,
  common,
  environment,
  fails,
  graphOf,
  place,
  reads,
  returns,
  shown,
  step,
} from './check-graph.fixture.js';
import { checkGraph } from './check-graph.js';

const codesOf = (found: readonly string[]): string[] => found.map((each) => each.slice(0, 6));

describe('a sound graph', () => {
  test('has nothing to report', () => {
    const list = ref('steps', 'list');
    const nodes: Node[] = [
      step(3, 'list', 'list-pages', { limit: literal(5) }),
      reads(4, 'intro', literal('resource://logseq/intro')),
      fails(5, literal('none'), { when: call('isNullish', get(list, 'pages')), after: ['list'] }),
      step(6, 'added', 'add-task', {
        task: text('js', ref('inputs', 'task'), '!'),
        page: get(get(get(list, 'pages'), 0), 'title'),
      }),
      returns(
        7,
        dict({ id: ref('steps', 'added', 'anything', 'at', 'all'), text: ref('steps', 'doc', 'text') }),
      ),
    ];
    expect(
      check(nodes, { instructions: [{ resource: 'intro', uri: 'resource://logseq/intro' }], returns: list }),
    ).toEqual([]);
  });
});

describe('references', () => {
  test('SW3001: an unknown binding, at the reference', () => {
    expect(check([step(3, 'list', 'list-pages'), returns(4, at(4, ref('steps', 'lits', 'pages')))])).toEqual([
      'SW3001 4:20 nothing here is bound to `lits` | did you mean `list`?',
    ]);
    expect(check([returns(4, literal(1))], { returns: ref('steps', 'elsewhere') })).toEqual([
      'SW3001 1:1 nothing here is bound to `elsewhere`',
    ]);
  });

  test('SW3001: inherited names are not bound', () => {
    expect(check([returns(4, ref('steps', 'constructor'))])).toHaveLength(1);
    expect(check([returns(4, ref('inputs', '__proto__'))])).toHaveLength(1);
  });

  test('SW3002: an undeclared argument, in conditions and guidance too', () => {
    const guidance = text('display', 'For ', at(3, ref('inputs', 'tasks')));
    const when: Expr = { kind: 'not', truth: 'truthy.js', of: ref('inputs', 'date') };
    expect(check([step(3, 'list', 'list-pages', {}, { guidance, when })])).toEqual([
      'SW3002 3:1 the workflow has no argument `date`',
      'SW3002 3:20 the workflow has no argument `tasks` | did you mean `task`?',
    ]);
  });

  test('SW3004: a binding used before it is made, with both places', () => {
    const nodes = [
      returns(3, at(3, ref('steps', 'later'))),
      step(5, 'later', 'list-pages', {}, { after: ['output'] }),
    ];
    expect(check(nodes)).toEqual([
      'SW3004 3:20 `later` is bound after `output` | bound here 5:1 | move `later` above `output`',
    ]);
  });
});

describe('order', () => {
  test('SW3005: waiting for no step', () => {
    expect(
      check([step(3, 'list', 'list-pages'), step(4, 'b', 'list-pages', {}, { after: ['lsit', 'zzz'] })]),
    ).toEqual([
      'SW3005 4:1 step `b` waits for `lsit`, which is not a step of this workflow | did you mean `list`?',
      'SW3005 4:1 step `b` waits for `zzz`, which is not a step of this workflow',
    ]);
  });

  test('SW4006: steps that wait for each other, each cycle once', () => {
    const waits = (line: number, id: string, ...after: string[]): Node =>
      step(line, id, 'list-pages', {}, { after });
    const nodes = [
      waits(3, 'z', 'b'),
      waits(4, 'a', 'c'),
      waits(5, 'b', 'a'),
      waits(6, 'c', 'b', 'free'),
      waits(7, 'free'),
      waits(8, 'self', 'self'),
    ];
    expect(check(nodes)).toEqual([
      'SW4006 4:1 steps wait for each other: a → c → b → a | `c` waits here 6:1 | `b` waits here 5:1 | remove one of these dependencies',
      'SW4006 8:1 steps wait for each other: self → self | remove one of these dependencies',
    ]);
  });

  test('SW4006: a step that reads itself, and a cycle through a reference', () => {
    expect(check([step(3, 'a', 'list-pages', { limit: ref('steps', 'a', 'total') })])).toEqual([
      'SW4006 3:1 steps wait for each other: a → a | remove one of these dependencies',
    ]);
    const through = [
      step(3, 'a', 'list-pages', {}, { after: ['b'] }),
      step(4, 'b', 'list-pages', {}, { when: ref('steps', 'a') }),
    ];
    expect(check(through)).toEqual([
      'SW4006 3:1 steps wait for each other: a → b → a | `b` waits here 4:1 | remove one of these dependencies',
    ]);
  });

  test('a long chain is not a cycle, and is checked in time', () => {
    const nodes = Array.from({ length: 3000 }, (_, index) =>
      step(index + 3, `s${index}`, 'list-pages', {}, { after: index === 0 ? [] : [`s${index - 1}`] }),
    );
    expect(check(nodes)).toEqual([]);
  });
});

describe('calls', () => {
  test('SW4001: a tool that is not registered', () => {
    expect(check([step(3, 'list', 'list_pages')])).toEqual([
      'SW4001 3:1 workflow `add-task` requires tool `list_pages`, which is not registered | did you mean `list-pages`?',
    ]);
  });

  test('SW4003: a missing input, at the object or else the step', () => {
    const hint = (input: string): string => `add \`${input}\` to the input of the call`;
    const bare = step(3, 'a', 'add-task', { task: ref('inputs', 'task'), page: literal() });
    expect(check([bare])).toEqual([
      `SW4003 3:1 step \`a\` gives tool \`add-task\` no \`page\` | ${hint('page')}`,
    ]);
    expect(check([{ ...bare, input: at(3, dict({}) as DictExpr) }])).toEqual([
      `SW4003 3:20 step \`a\` gives tool \`add-task\` no \`task\` | ${hint('task')}`,
      `SW4003 3:20 step \`a\` gives tool \`add-task\` no \`page\` | ${hint('page')}`,
    ]);
    const spread: DictExpr = { kind: 'dict', entries: [{ spread: ref('steps', 'list') }] };
    expect(codesOf(check([step(2, 'list', 'list-pages'), { ...bare, input: spread }]))).not.toContain(
      'SW4003',
    );
  });

  test('SW4004: keys of a spread that the tool does not have', () => {
    const input: DictExpr = { kind: 'dict', entries: [{ spread: at(3, ref('steps', 'list')) }] };
    const added = { ...step(3, 'added', 'add-task'), input };
    const list = step(2, 'list', 'list-pages');
    const told = (key: string) =>
      `SW4004 3:20 tool \`add-task\` of step \`added\` takes no \`${key}\` | what is spread here brings it: name the inputs one by one, as in \`{ name: this.step.name }\``;
    expect(check([list, added])).toEqual([told('pages'), told('total')]);
  });

  test('SW4004: an input the tool does not take, at its value', () => {
    expect(
      check([step(3, 'list', 'list-pages', { limti: at(3, literal(5)), constructor: literal(1) })]),
    ).toEqual([
      'SW4004 3:20 tool `list-pages` of step `list` takes no `limti` | did you mean `limit`?',
      'SW4004 3:1 tool `list-pages` of step `list` takes no `constructor`',
    ]);
  });

  describe('SW9030: an input that a schema does not name', () => {
    const found = (schema: JsonSchema): string[] => {
      const tools = new Map([['open', { inputSchema: { type: 'object', ...schema } }]]);
      const graph = graphOf([step(3, 'a', 'open', { limti: at(3, literal(5)) })], { inputs: [] });
      return checkGraph(graph, { ...environment, tools }).map(shown);
    };
    const properties = { limit: { type: 'integer' } };

    test('is a warning where the schema says nothing of others', () => {
      expect(found({ properties })).toEqual([
        'SW9030 3:20 the schema of tool `open` does not name the argument `limti` of step `a` | did you mean `limit`?',
      ]);
      expect(found({ properties: { at: {}, to: {} } })).toEqual([
        'SW9030 3:20 the schema of tool `open` does not name the argument `limti` of step `a` | it names `at`, `to`; remove `limti`',
      ]);
    });

    test.each<JsonSchema>([
      {},
      { properties: {} },
      { properties, additionalProperties: true },
      { properties, additionalProperties: { type: 'integer' } },
      { properties, patternProperties: { '^l': {} } },
      { properties: { ...properties, limti: {} } },
      { properties, allOf: [{ properties: { limti: {} } }] },
      { properties, if: { required: ['limit'] }, else: { properties: { limti: {} } } },
      { properties, dependentSchemas: { limit: { properties: { limti: {} } } } },
      { properties, dependentRequired: { limit: ['limti'] } },
      { properties, propertyNames: { pattern: '^l' } },
      { properties, unevaluatedProperties: { type: 'integer' } },
      { properties, required: ['limti'] },
      { properties: { limti: {} }, anyOf: [{ type: 'object', properties }] },
      { properties, $ref: '#/$defs/more', $defs: { more: { type: 'object', properties: { limti: {} } } } },
    ])('is welcome by %j', (schema) => {
      expect(found(schema)).toEqual([]);
    });
  });

  test.each([
    ['a literal', literal('5'), 'a string'],
    ['text', text('js', '5'), 'a string'],
    ['a list', { kind: 'list', items: [] } satisfies Expr, 'an array'],
    ['an object', dict({}), 'an object'],
    ['null', literal(null), 'null'],
    ['a comparison', { kind: 'compare', left: literal(1), ops: [] } satisfies Expr, 'a boolean'],
    ['an argument', ref('inputs', 'task'), 'a string'],
    ['an output', get(get(get(ref('steps', 'first'), 'pages'), 0), 'title'), 'a string'],
  ])('SW4012: %s of a type that cannot fit', (_, value, actual) => {
    expect(
      check([
        step(3, 'first', 'list-pages'),
        step(4, 'list', 'list-pages', { limit: at(4, value as RefExpr) }),
      ]),
    ).toEqual([
      `SW4012 4:20 \`limit\` of tool \`list-pages\` takes an integer, and step \`list\` gives ${actual}`,
    ]);
  });

  test('SW4012 is silent if a value may match', () => {
    const values = [
      literal(1),
      literal(1.5),
      literal(),
      ref('steps', 'first', 'total'),
      ref('steps', 'other', 'x'),
      call('coalesce', literal('a'), ref('steps', 'other', 'x')),
    ];
    const nodes = values.map((value, index) => step(4 + index, `s${index}`, 'list-pages', { limit: value }));
    expect(
      check([
        step(2, 'first', 'list-pages'),
        step(3, 'other', 'add-task', { task: ref('inputs', 'task'), page: literal(null) }),
        ...nodes,
      ]),
    ).toEqual([]);
  });
});

describe('resources', () => {
  test('SW4002: a resource that is not registered, among the instructions and as a step', () => {
    const nodes = [reads(4, 'inro', literal('resource://logseq/intro'))];
    expect(check(nodes, { instructions: [{ resource: 'guide', uri: 'a:b', source: place(2) }] })).toEqual([
      'SW4002 2:1 workflow `add-task` requires resource `guide`, which is not registered',
      'SW4002 4:1 workflow `add-task` requires resource `inro`, which is not registered | did you mean `intro`?',
    ]);
  });

  test('SW4007: a URI that is none, unless it is the registered one', () => {
    const hint = 'write a scheme and a path, for example `resource://logseq/intro`';
    expect(check([reads(4, 'intro', at(4, literal('logseq/intro')))])).toEqual([
      `SW4007 4:20 \`logseq/intro\` is not an absolute URI: it has no scheme | ${hint}`,
    ]);
    expect(check([reads(4, 'intro', literal(5))])).toEqual([
      `SW4007 4:1 \`5\` is not an absolute URI: it is not text | ${hint}`,
    ]);
    const registered = { ...environment, resources: new Map([['intro', { uri: 'not a uri' }]]) };
    const graph = graphOf([reads(4, 'intro', literal('not a uri'))], { inputs: [] });
    expect(checkGraph(graph, registered)).toEqual([]);
  });
});

describe('outputs', () => {
  const list = step(3, 'list', 'list-pages');

  test('SW4005: a path no output has, at the part that is wrong', () => {
    const chain = at(4, get(at(5, get(at(6, get(ref('steps', 'list'), 'pages')), 0)), 'titel'));
    expect(check([list, returns(7, chain)])).toEqual([
      'SW4005 4:20 the output of `list` has no `pages[0].titel` | did you mean `title`?',
    ]);
    expect(check([list, returns(7, get(at(5, get(ref('steps', 'list'), 'pags')), 0))])).toEqual([
      'SW4005 5:20 the output of `list` has no `pags` | did you mean `pages`?',
    ]);
  });

  test('SW4005: of the items of a list, which may have no name of their own', () => {
    const titles = (name: string) =>
      map(ref('steps', 'list', 'pages'), name, at(4, ref('local', name, 'titel')));
    expect(check([list, returns(7, titles('page'))])).toEqual([
      'SW4005 4:20 item `page` has no `titel` | did you mean `title`?',
    ]);
    expect(check([list, returns(7, titles('(item)'))])).toEqual([
      'SW4005 4:20 item has no `titel` | did you mean `title`?',
    ]);
  });

  test('SW4005: of a wrapped result, whose value a step binds', () => {
    const found = step(3, 'found', 'find-pages');
    expect(check([found, returns(7, get(get(ref('steps', 'found'), 0), 'title'))])).toEqual([]);
    expect(check([found, returns(7, get(at(5, get(ref('steps', 'found'), 0)), 'titel'))])).toEqual([
      'SW4005 7:1 the output of `found` has no `[0].titel` | did you mean `title`?',
    ]);
  });

  test('a path of any length is followed, under conditions as well', () => {
    const path = Array.from({ length: 50_000 }, () => 'id');
    const test = { kind: 'compare', left: ref('inputs', 'task', 'id'), ops: [] } satisfies Expr;
    const value = {
      kind: 'and',
      truth: 'boolean',
      items: [test, ref('inputs', 'task', ...path)],
    } satisfies Expr;
    // A list of the keys before each key would not be made in time.
    expect(codesOf(check([returns(4, value)]))).toContain('SW3013');
  });

  test('SW3013: a path no argument has', () => {
    const input = {
      ...argument('page'),
      schema: { type: 'object', properties: { title: { type: 'string' } }, additionalProperties: false },
    };
    const chain = at(4, get(ref('inputs', 'page'), 'titel'));
    expect(check([returns(7, chain)], { inputs: [input] })).toEqual([
      'SW3013 4:20 argument `page` has no `titel` | did you mean `title`?',
    ]);
  });

  test('SW4005: in a summary', () => {
    const summary = text('display', at(4, get(ref('steps', 'list'), 'pags')));
    expect(check([{ ...list, summary }])).toEqual([
      'SW4005 4:20 the output of `list` has no `pags` | did you mean `pages`?',
    ]);
  });

  test('SW4005: in references, keys, conditions, optional chains and the result', () => {
    const wrong = ref('steps', 'list', 'total', 'x');
    const message = 'SW4005 7:1 the output of `list` has no `total.x`';
    expect(check([list, returns(7, wrong)])).toEqual([message]);
    expect(check([list, returns(7, get(literal({}), wrong))])).toEqual([message]);
    expect(
      check([list, returns(7, get(get(ref('steps', 'list', 'pages'), ref('inputs', 'task')), wrong))]),
    ).toEqual([message]);
    expect(check([list, fails(7, literal('m'), { when: wrong })])).toEqual([message]);
    expect(
      check([list, returns(7, call('coalesce', get(ref('steps', 'list'), 'totl', true), literal(1)))]),
    ).toEqual(['SW4005 7:1 the output of `list` has no `totl` | did you mean `total`?']);
    expect(check([list], { returns: wrong })).toEqual(['SW4005 1:1 the output of `list` has no `total.x`']);
  });

  test('SW4005: a resource has a uri, a type and a text', () => {
    expect(check([reads(3, 'intro', literal('a:b')), returns(4, ref('steps', 'doc', 'txt'))])).toEqual([
      'SW4005 4:1 the output of `doc` has no `txt` | did you mean `text`?',
    ]);
  });

  test('reads after a computed key are not checked', () => {
    const computed = get(ref('steps', 'list', 'pages'), ref('inputs', 'task'));
    expect(check([list, returns(4, get(computed, 'nope'))])).toEqual([]);
  });
});

describe('names', () => {
  test('SW1002: names that break the rule', () => {
    const nodes = [step(3, '__proto__', 'list-pages'), step(4, 'a b', 'list-pages')];
    const found = check(nodes, { name: 'Add Task', domain: 'a/b', inputs: [argument('1st')] });
    expect(found.map((line) => line.split(' | ')[0])).toEqual([
      'SW1002 1:1 `Add Task` is not a valid workflow name',
      'SW1002 1:1 `a/b` is not a valid domain name',
      'SW1002 2:1 `1st` is not a valid argument name',
      'SW1002 3:1 `__proto__` is not a valid step name',
      'SW1002 4:1 `a b` is not a valid step name',
    ]);
    expect(found[0]).toContain('use a name that matches ^[A-Za-z][A-Za-z0-9_-]{0,61}$');
  });

  test('SW4008: nothing may be empty', () => {
    const nodes = [step(3, '', 'list-pages')];
    const inputs = [
      { ...argument('a'), description: ' ' },
      { ...argument('b'), name: '' },
    ];
    expect(check(nodes, { name: ' ', description: '', inputs })).toEqual([
      'SW4008 1:1 the name of a workflow must not be empty',
      'SW4008 1:1 the description of workflow ` ` must not be empty',
      'SW4008 2:1 the description of argument `a` must not be empty',
      'SW4008 2:1 the name of an argument of workflow ` ` must not be empty',
      'SW4008 3:1 the id of a step of workflow ` ` must not be empty',
    ]);
  });

  test('SW4009 and SW1008: two of one name, with both places', () => {
    const nodes = [step(3, 'a', 'list-pages'), step(4, 'a', 'list-pages')];
    expect(check(nodes, { inputs: [argument('x'), { ...argument('x'), source: place(9) }] })).toEqual([
      'SW1008 9:1 `x` is bound twice in this workflow | first bound here 2:1 | rename one of them',
      'SW4009 4:1 two steps have the id `a` | first used here 3:1 | give one of them another id',
    ]);
  });

  test('SW4009: two steps of one id do not wait for each other besides', () => {
    const nodes = [
      step(3, 'a', 'list-pages'),
      step(4, 'b', 'list-pages', {}, { after: ['a'] }),
      step(5, 'a', 'list-pages', {}, { after: ['b'] }),
    ];
    expect(check(nodes)).toEqual([
      'SW4009 5:1 two steps have the id `a` | first used here 3:1 | give one of them another id',
    ]);
  });
});

test('all faults of a graph are reported at once, without places too', () => {
  const nodes: Node[] = [
    {
      kind: 'call',
      id: 'a',
      tool: 'gone',
      input: dict({ x: ref('inputs', 'y') }) as DictExpr,
      ...common,
      after: ['b'],
    },
    { kind: 'resource', id: 'c', resource: 'gone', uri: literal('x'), ...common },
  ];
  const { source: _, ...graph } = graphOf(nodes, { description: '', inputs: [] });
  const found = checkGraph(graph, environment);
  expect(found.map(({ code }) => code).sort()).toEqual([
    'SW3002',
    'SW3005',
    'SW4001',
    'SW4002',
    'SW4007',
    'SW4008',
  ]);
  expect(found.every((each) => each.place === undefined)).toBe(true);
});
