import { describe, expect, test } from 'vitest';
import type { ToolSignature } from '../../src/check/check-graph.js';
import { parseWorkflows, type TextFormat } from '../../src/formats/index.js';
import { onlyGraph, said, specText } from './spec-file.fixture.js';

async function faultsOf(text: string, format: TextFormat = 'yaml'): Promise<string[]> {
  const { diagnostics, workflows } = await parseWorkflows(text, { file: 'f', format });
  const isFaulty = diagnostics.some(({ severity }) => severity === 'error');
  expect(workflows.length === 0).toBe(isFaulty);
  return said(diagnostics.filter(({ code }) => code !== 'SW5034'));
}

/** A workflow whose nodes begin on line 4. */
const graph = (nodes: string): string => `workflows:\n  w:\n    description: d\n    graph: ${nodes}\n`;

test('all faults of a file are reported at once, each at its place', async () => {
  const broken = specText('book-flight.yaml')
    .replace('depends_on: [search]', 'depend_on: [search]')
    .replace('output: availability', 'output: origin')
    .replace('goto: reserve', 'goto: reserv')
    .replace('type: branch', 'type: brnch')
    .replace('retry: 2', 'retry: two')
    .replace('$passenger\n        output: booking', '$pasenger\n        output: booking');
  expect((await faultsOf(broken)).map((line) => line.replace(/^f:(\d+:\d+ SW\d+).*/, '$1'))).toEqual([
    '24:9 SW5005',
    '27:17 SW5012',
    '30:15 SW5021',
    '42:22 SW5013',
    '45:18 SW5006',
    '46:11 SW5011',
  ]);
});

test.each([
  [
    'yaml',
    graph(
      '{ a: { call: t, args: { n: .nan, m: 12345678901234567890 } }, b: { wait: -.inf, depend_on: [a] } }',
    ),
    ['4:39 SW5003', '4:48 SW5003', '4:85 SW5003', '4:92 SW5005'],
  ],
  [
    'json',
    '{"workflows": {"w": {"description": "d", "graph": {"a": {"call": "t", "args": {"n": 1e999}, "depend_on": []}}}}}',
    ['1:85 SW5003', '1:93 SW5005'],
  ],
] as const)(
  'a number that is refused in %s hides no other fault, and has no second one',
  async (format, text, at) => {
    expect((await faultsOf(text, format)).map((line) => line.replace(/^f:(\d+:\d+ SW\d+).*/, '$1'))).toEqual(
      at,
    );
  },
);

test('a number behind aliases is refused once', async () => {
  const text = graph('{ a: { call: t, args: { n: &n .inf, m: *n } }, b: { call: t, depends: [a] } }');
  expect(await faultsOf(text)).toEqual([
    expect.stringContaining('SW5003 the number .inf'),
    expect.stringContaining('SW5005'),
  ]);
});

test('names of workflows, ids and `$schema` have their forms', async () => {
  const text = `$schema: 1\n${graph('{ a: { id: 5, call: t } }').replace('  w:', '  my flow:')}`;
  expect(await faultsOf(text)).toEqual([
    'f:1:10 SW5006 `$schema` of the file must be text, not a number',
    "f:3:3 SW5010 'my flow' is not a valid name of a workflow: use letters, digits, `_` and `-`, a letter first, and at most 62 characters",
  ]);
  expect(await faultsOf(graph('{ p: { branches: [{ id: 5, call: t }] } }'))).toEqual([
    'f:4:36 SW5006 `id` of a branch of node `p` must be text, not a number',
  ]);
  expect(await faultsOf(`$schema: x.json\n${graph('{ a: { call: t } }')}`)).toEqual([]);
});

describe('the `id` of a node', () => {
  const taken = (what: string) => new RegExp(`^f:\\d+:\\d+ SW5018 ${what} takes no \`id\``);

  test.each([
    ['{ a: { id: other, call: t } }', taken('node `a`')],
    ['{ a: { id: a, call: t } }', taken('node `a`')],
    ['{ a: { id: 5, call: t } }', taken('node `a`')],
    ['{ p: { branches: { a: { id: other, call: t } } } }', taken('node `a`')],
    ['{ p: { branches: { a: { id: null, steps: [{ call: t }] } } } }', taken('branch `a`')],
    ['{ l: { items: [1], step: { id: null, call: t } } }', /SW5006 `id` of `step` of node `l` must be text/],
    ['{ l: { items: [1], step: { id: "", call: t } } }', /SW5010 '' is not a valid name of a node/],
  ])('is refused where the node is named already, or is no text: %s', async (nodes, fault) => {
    expect((await faultsOf(graph(nodes))).join('\n')).toMatch(fault);
  });

  const xml = (nodes: string): string =>
    `<workflows><workflow id="w" description="d"><graph>${nodes}</graph></workflow></workflows>`;

  test('is refused in XML where a branch names the node', async () => {
    const inner = '<step id="a"><call tool="t"/></step>';
    const text = xml(`<parallel id="p"><branch_of name="a">${inner}</branch_of></parallel>`);
    expect(await faultsOf(text, 'xml')).toEqual([expect.stringMatching(taken('node `a`'))]);
  });

  test.each([
    ['step', '{ l: { items: [1], step: { id: a, call: t } } }', 'yaml'],
    ['steps', '{ l: { items: [1], steps: [{ id: a, call: t }] } }', 'yaml'],
    ['XML', xml('<foreach id="l" items="$items"><step id="a"><call tool="t"/></step></foreach>'), 'xml'],
  ] as const)('names the node of a loop in `%s`', async (_, text, format) => {
    const params = '<params><param name="items" type="list" required="true"/></params><graph>';
    const whole = format === 'xml' ? text.replace('<graph>', params) : graph(text);
    const { workflows } = await parseWorkflows(whole, { file: 'f', format });
    expect(workflows[0]?.graph.nodes).toMatchObject([{ kind: 'foreach', body: { nodes: [{ id: 'a' }] } }]);
  });
});

test('keys that mean one thing are not written together', async () => {
  const faults = await faultsOf(graph('{ a: { message: m, yield: 5, expects: { x: { type: str } } } }'));
  expect(faults.join('\n')).toMatch(/SW5011 node `a` has `message` and `yield`, which are one thing/);
});

describe('nodes', () => {
  test.each([
    // G12
    [
      '{ a: { call: t, workflow: w } }',
      'f:4:14 SW5011 node `a` does several things: it has `call` and `workflow`',
    ],
    ['{ a: { type: branch, call: t } }', 'f:4:14 SW5011 node `a` is a branch, and has `call`'],
    ['{ a: { args: {} } }', /f:4:14 SW5011 node `a` does nothing/],
    // G17, G19, G16
    [
      '{ a: { call: t }, b: { call: t, depends_on: aa } }',
      'f:4:56 SW5016 `depends_on` of node `b` names `aa`, which is not a node of the same list (did you mean `a`?)',
    ],
    [
      '{ a: { call: t, on_error: { fallback: e } }, e: { type: error, message: m }, b: { call: t, depends_on: [e] } }',
      /SW5016 `depends_on` of node `b` names `e`, a node of type `error`/,
    ],
    [
      '{ p: { branches: { x: { call: t } } }, b: { call: t, depends_on: [x] } }',
      /SW5016 .* which is in `p`: name `p`/,
    ],
    [
      '{ a: { call: t }, e: { type: error, message: m, depends_on: [a] } }',
      /SW5018 a node of type `error` takes no `depends_on`/,
    ],
    // G6, G7
    [
      '{ b: { on: [{ default: a }, { when: "true", goto: a }] }, a: { call: t } }',
      /SW5017 branch `b` has a case behind its default/,
    ],
    [
      '{ b: { on: [{ when: "true", goto: a }, { default: a }], default: a }, a: { call: t } }',
      /SW5017 branch `b` has two defaults/,
    ],
    [
      '{ b: { on: [{ when: "true", goto: a }, { default: a, when: "true" }] }, a: { call: t } }',
      /SW5017 branch `b` has a condition beside a default: remove one of them/,
    ],
    [
      '{ b: { on: [{ when: "true", condition: 3, goto: a }] }, a: { call: t } }',
      /SW5017 branch `b` has `when` and `condition` in one case: remove one of them/,
    ],
    // G9
    ['{ a: { call: t, depends_on: [b] }, b: { call: t, depends_on: [a] }, c: { call: t } }', /SW4006/],
    // G1
    ['{ b: { on: [{ when: "true", goto: a }], depends_on: [a] }, a: { call: t } }', /SW4006|SW4020/],
    // E7, E10
    [
      '{ b: { on: [{ when: "true", goto: a }], on_error: { retry: 1 } }, a: { call: t } }',
      /SW5018 a node of type `branch` takes no `on_error`/,
    ],
    [
      '{ b: { on: [{ when: "true", goto: a }, { default: aa }] }, a: { call: t } }',
      'f:4:62 SW5016 `goto` of node `b` names `aa`, which is not a node of the same list (did you mean `a`?)',
    ],
    [
      '{ a: { call: t, retries: 2 } }',
      'f:4:28 SW5018 a node of type `call` takes no `retries` (write `on_error: { retry: 2 }`)',
    ],
    [
      '{ a: { call: t, fallback: b } }',
      /SW5018 .* takes no `fallback` \(write `on_error: \{ fallback: … \}`\)/,
    ],
    [
      '{ a: { call: t, retrys: 2 } }',
      /SW5005 node `a` has no `retrys` \(it has `call`, `args`, `on_error`, .*`timeout`, `id`;/,
    ],
    [
      '{ проверка: { call: t } }',
      /SW5010 'проверка' is not a valid name of a node: use letters.* no digit first$/,
    ],
    [
      '{ a: { items: [1], max_iterations: 0, step: { call: t } } }',
      /SW4015 `max` of step `a` must be a whole number from 1 to 100000, not 0 \(it is written `max_iterations`\)/,
    ],
    [
      '{ a: { call: t, on_error: { retry: 200 } } }',
      /SW4015 .* not 201 \(it is written `retry`, which counts the attempts after the first\)/,
    ],
    [
      '{ a: { repeat: { call: t }, until: $a.x, max_iterations: 102 } }',
      /SW5006 `max_iterations` of node `a` must be a whole number from 2 to 101, not 102/,
    ],
    [
      '{ a: { call: t } }\n    max_concurrency: 0',
      /SW5006 `max_concurrency` of workflow `w` .* from 1, not 0/,
    ],
    [
      '{ a: { call: t, timeout: 999999999999 } }',
      'f:4:37 SW5006 `timeout` of node `a` must be at most ten years, not 999999999999',
    ],
    [
      '{ a: { yield: b, timeout: 999999999d, expects: { x: { type: str } } } }',
      /SW5006 `timeout` of node `a` must be at most ten years, not `999999999d`/,
    ],
    [
      '{ a: { call: t, when: true } }',
      'f:4:34 SW5006 `when` of node `a` must be text, not a boolean (write `"true"`, in quotes)',
    ],
    ['{ continue: { call: t } }', /SW5010 'continue' is not a valid name of a node/],
    ['{ rollback_all: { call: t } }', /SW5010 'rollback_all' is not a valid name/],
    ['{ p: { branches: { x: { call: t } }, on_partial_failure: rollback_all } }', /SW4028/],
    [
      '{ p: { branches: { x: { call: t } }, on_partial_failure: rolback_all } }',
      /SW5016 .*did you mean `rollback_all`/,
    ],
    // N3
    ['{ a: { items: [1], step: call } }', /SW5006 `step` of node `a` must be a node/],
    // R7, R9
    [
      '{ a: { call: t, output: x }, b: { call: t, output: x } }',
      /SW5012 `\$x` would be two things: it is the result of node `a`/,
    ],
    [
      '{ a: { call: t, output: steps } }',
      /SW5012 `\$steps` would be two things: it is a name of the product/,
    ],
    // R15
    ['{ a: { call: $t } }', /SW5015 `call` takes no reference such as `\$t`/],
    // T5
    ['{ a: { call: t, title: 5 } }', 'f:4:35 SW5006 `title` of node `a` must be text, not a number'],
  ])('%s', async (nodes, fault) => {
    const faults = await faultsOf(graph(nodes));
    if (typeof fault === 'string') expect(faults).toEqual([fault]);
    else expect(faults.join('\n')).toMatch(fault);
  });

  test('share an output where one of them runs at most', async () => {
    const branches = `{ b: { on: [{ when: "true", goto: x }, { default: y }] },
      x: { call: t, output: o }, y: { call: t, output: o }, z: { call: t, depends_on: [x, y], args: { v: $o } } }`;
    expect(await faultsOf(graph(branches))).toEqual([]);
    const fallback = `{ x: { call: t, output: o, on_error: { fallback: y } }, y: { call: t, output: o },
      z: { call: t, depends_on: [x, y], args: { v: $o.id } } }`;
    expect(await faultsOf(graph(fallback))).toEqual([]);
  });

  test('may be written in any order', async () => {
    const nodes = '{ b: { call: t, depends_on: [a], args: { v: $a } }, a: { call: t } }';
    const { workflows } = await parseWorkflows(graph(nodes), { file: 'f', format: 'yaml' });
    expect(workflows[0]?.graph.nodes.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('that read what may have been skipped get a warning', async () => {
    const nodes = `{ b: { on: [{ when: "true", goto: x }, { default: y }] }, x: { call: t }, y: { call: t },
      z: { call: t, depends_on: [x, y], args: { v: $x.id } } }`;
    expect((await faultsOf(graph(nodes))).join('\n')).toMatch(
      /SW4024 `x` may have been skipped .*write `\?` behind/,
    );
    expect(await faultsOf(graph(nodes.replace('$x.id', '$x.id?')))).toEqual([]);
  });
});

describe('documents', () => {
  test.each([
    ['arazzo: 1.0.0', 'Arazzo'],
    ['document: { dsl: 1.0.0 }\ndo: []', 'CNCF Serverless Workflow'],
    ['id: x\nspecVersion: "0.8"\nstates: []', 'CNCF Serverless Workflow'],
    ['StartAt: a\nStates: {}', 'Amazon States Language'],
    ['apiVersion: argoproj.io/v1alpha1\nkind: Workflow', 'Argo Workflows'],
    ['name: n\nnodes: []\nconnections: {}', 'n8n'],
    ['name: n\ntasks: [{ name: a, taskReferenceName: a }]', 'Netflix Conductor'],
    ['workflow: { name: w }\nagents: [{ name: a }]', 'Microsoft Conductor'],
    ['on: push\njobs: {}', 'GitHub Actions'],
  ])('of another format are refused by its name: %s', async (text, name) => {
    const faults = await faultsOf(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`SW5008 this is a document of ${name}, which Stepwright does not read`);
  });

  test.each([
    ['[]', 'f:1:1 SW5006 a spec file must be an object, not an empty list'],
    ['', 'f:1:1 SW5006 a spec file must be an object, not nothing'],
    ['workflow: {}', /SW5005 the file has no `workflow` \(did you mean `workflows`\?\)/],
    ['workflows: {}', /SW5006 `workflows` of the file must be an object with one or more workflows/],
    [
      'version: 1.10\nworkflows: { w: { description: d, graph: { a: { call: t } } } }',
      /f:1:10 SW5009 `version` must be text: 1.10 .*write `version: "1.10"`/,
    ],
    ['workflows: { w: { graph: { a: { call: t } } } }', /SW5007 workflow `w` needs `description`/],
    [
      'workflows: { w: { description: d, params: { x: { type: text } }, graph: { a: { call: t, args: { x: $x } } } } }',
      /SW5021 `type` of parameter `x` cannot be `text`/,
    ],
    [
      'workflows: { w: { description: d, params: { x: { type: int, default: five } }, graph: { a: { call: t, args: { x: $x } } } } }',
      /SW5006 `default` of parameter `x` must be a value of its type/,
    ],
  ])('%s', async (text, fault) => {
    const faults = (await faultsOf(text)).join('\n');
    if (typeof fault === 'string') expect(faults).toBe(fault);
    else expect(faults).toMatch(fault);
  });

  test.each([
    [
      '{ type: int, enum: [1, two, 2.5] }',
      [
        '3:59 SW5006 a value of `enum` of parameter `x` must be of its type, not "two" (must be integer)',
        '3:64 SW5006 a value of `enum` of parameter `x` must be of its type, not 2.5 (must be integer)',
      ],
    ],
    [
      '{ type: list, items: { type: str, enum: [5] } }',
      [
        '3:77 SW5006 a value of `enum` of the items of parameter `x` must be of its type, not 5 (must be string)',
      ],
    ],
    [
      '{ type: int, minimum: 5, maximum: 4 }',
      ['3:70 SW5006 `maximum` of parameter `x` must be at least `minimum`, 5, not 4'],
    ],
    [
      '{ type: str, min_length: 5, max_length: 4 }',
      ['3:76 SW5006 `max_length` of parameter `x` must be at least `min_length`, 5, not 4'],
    ],
    [
      '{ type: list, min_items: 2, max_items: 1 }',
      ['3:75 SW5006 `max_items` of parameter `x` must be at least `min_items`, 2, not 1'],
    ],
    [
      '{ type: str, pattern: "(" }',
      [
        '3:58 SW5006 `pattern` of parameter `x` must be a usable regular expression, not `(`, which is not a regular expression: /(/u: Unterminated group',
      ],
    ],
    ['{ type: date, enum: ["2026-01-01"] }', []],
    ['{ enum: [1, two, null] }', []],
    ['{ type: int, minimum: 5, maximum: 5 }', []],
  ])('have parameters that some value fits: %s', async (parameter, faults) => {
    const text = `workflows:\n  w:\n    { description: d, params: { x: ${parameter} }, graph: { a: { call: t, args: { x: $x } } } }\n`;
    expect(await faultsOf(text)).toEqual(faults.map((fault) => `f:${fault}`));
  });

  test('say what holds for a domain', async () => {
    const text = `domain: d\nrules: [Pay last., Ask first.]\ndocs: |\n  # Trips\n${graph('{ a: { call: t } }')}`;
    const { domains } = await parseWorkflows(text, { file: 'f', format: 'yaml' });
    expect(domains).toEqual([{ name: 'd', rules: ['Pay last.', 'Ask first.'], docs: '# Trips\n' }]);
  });

  test('say what clients get of a workflow', async () => {
    const text = (expose: string) =>
      `workflows: { w: { description: d, expose: ${expose}, graph: { a: { call: t } } } }`;
    expect((await onlyGraph(text('[tool, resource]'))).expose).toEqual(['tool', 'resource']);
    expect((await onlyGraph(text('resource'))).expose).toEqual(['resource']);
    expect((await faultsOf(text('[tol]'))).join('\n')).toMatch(
      /SW5021 `expose` of workflow `w`.*`tol`.*tool/s,
    );
  });
});

describe('XML', () => {
  const flow =
    '<workflow id="w" description="d" expose="tool, resource"><graph><step id="a"><call tool="t"/></step></graph></workflow>';

  test('says what holds for a domain as the other formats do', async () => {
    const text = `<workflows domain="d">
  <rules>
    <rule>Pay last.</rule>
    <rule>Ask
      first &amp; <![CDATA[< twice]]>.</rule>
  </rules>
  <docs>

    # Trips

      code
    Prices are in euros.
  </docs>
  ${flow}
</workflows>`;
    const { domains, workflows, diagnostics } = await parseWorkflows(text, { file: 'f.xml', format: 'xml' });
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(domains).toEqual([
      {
        name: 'd',
        rules: ['Pay last.', 'Ask first & < twice.'],
        docs: '# Trips\n\n  code\nPrices are in euros.',
      },
    ]);
    expect(workflows[0]?.graph.expose).toEqual(['tool', 'resource']);
  });

  test.each([
    [`<workflows><docs>a</docs><docs>b</docs>${flow}</workflows>`, /SW5004.*<docs>/],
    [
      '<workflows><workflow id="w" description="d"><graph/><graph/></workflow></workflows>',
      /SW5004 `<graph>` is written twice/,
    ],
    [
      `<workflows>${flow.replace('<call', '<args/><args/><call')}</workflows>`,
      /SW5004 `<args>` is written twice/,
    ],
    [
      `<workflows>${flow.replace('<call tool="t"/>', '$&<compensate id="x"><call tool="u"/></compensate>')}</workflows>`,
      /SW5005 `compensate` of node `a` has no `id`/,
    ],
    [`<workflows><rules>Pay last.</rules>${flow}</workflows>`, /SW5003 text between elements/],
    [`<workflows><docs><b/></docs>${flow}</workflows>`, /SW5005.*<b>/],
    [`<workflows><rules><docs>a</docs></rules>${flow}</workflows>`, /SW5005.*<docs>/],
  ])('%s', async (text, fault) => {
    const { diagnostics } = await parseWorkflows(text, { file: 'f.xml', format: 'xml' });
    expect(said(diagnostics).join('\n')).toMatch(fault);
  });

  const xml = (inner: string): string =>
    `<workflows><workflow id="w" description="d"><graph>\n${inner}\n</graph></workflow></workflows>`;

  test.each([
    ['<!DOCTYPE x [<!ENTITY a "b">]><workflows/>', /f:1:1 SW5003 a document type/],
    ['<workflows/><?php x ?>', /f:1:13 SW5003 a processing instruction/],
    ['<?xml version="1.0" encoding="latin1"?><workflows/>', /f:1:31 SW5003 the encoding latin1/],
    [
      '<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN"/>',
      /SW5003 BPMN is not allowed .*not BPMN/,
    ],
    [xml('<step id="a"><call tool="t"/>text</step>'), /f:2:\d+ SW5003 text between elements/],
    [xml('<stp id="a"/>'), /f:2:2 SW5005 `<graph>` has no `<stp>` \(did you mean `<step>`\?\)/],
    [xml('<step id="a" depend_on="b"><call tool="t"/></step>'), /f:2:14 SW5005 `<step>` has no `depend_on`/],
    [
      xml('<step id="a"><call tool="t"/></step><step id="a"><call tool="t"/></step>'),
      /SW5004 `a` is written twice/,
    ],
    [xml('<step id="a"><call tool="t"/><args><arg name="x" value="a $b"/></args></step>'), /f:2:59 SW5013/],
    [xml('<step id="a"><call tool="t"/><args><arg name="x" value="&lt;$b"/></args></step>'), /f:2:61 SW5013/],
    [
      xml('<step id="a"><call tool="t"/><on_error retry="x"/></step>'),
      /SW5006 `retry` of .* must be a number, not text/,
    ],
    [xml('<step id="a"><call tool="t"/>'), /SW5002 this is not valid XML/],
    [
      xml('<step id="a" when="$x < 5"><call tool="t"/></step>'),
      /SW5002 this is not valid XML: disallowed character \(write `&lt;` in an attribute\)/,
    ],
    ['<workflows>&nope;</workflows>', /SW5002 this is not valid XML: undefined entity/],
    ['<a>'.repeat(70), /SW5001 the file has more than 64 levels of nesting/],
    [
      `<workflows ${Array.from({ length: 65 }, (_, index) => `a${index}=""`).join(' ')}/>`,
      /SW5001 .* 64 attributes/,
    ],
    ['', /SW5002/],
  ])('%#', async (text, fault) => {
    expect((await faultsOf(text, 'xml')).join('\n')).toMatch(fault);
  });

  test('writes everything that YAML writes', async () => {
    const yaml = `workflows:
  w:
    description: d
    params: { n: { type: int, default: 5 }, xs: { type: list, required: true } }
    graph:
      p:
        type: parallel
        branches:
          x: { call: t, args: { n: $n, o: { k: [1, v], s: "5" } }, output: px }
          y: { steps: [{ call: t }, { call: t, id: last }] }
        on_partial_failure: undo
      undo: { type: compensate, steps: [{ call: u, args: { id: $px.id }, ignore_error: true }] }
      each:
        type: foreach
        depends_on: [p]
        items: $xs
        as: x
        concurrency: 2
        step: { workflow: v, args: { x: $x, i: $index } }
        output: all
      ask: { type: yield, depends_on: [p, each], message: "Which of \${all|json}?", expects: { pick: { type: str, required: true } } }
    returns: { pick: $ask.pick }
  v:
    description: d
    params: { x: { type: any }, i: { type: int } }
    graph:
      c: { call: t, when: "exists($x) and $i < 9", args: { x: $x } }
`;
    const text = `<workflows>
  <workflow id="w" description="d">
    <params><param name="n" type="int" default="5"/><param name="xs" type="list" required="true"/></params>
    <graph>
      <parallel id="p" on_partial_failure="undo">
        <branch_of name="x">
          <step><call tool="t"/><args><arg name="n" value="$n"/><arg name="o"><arg name="k" json='[1, "v"]'/><arg name="s" value="5"/></arg></args><output name="px"/></step>
        </branch_of>
        <branch_of name="y"><step><call tool="t"/></step><step id="last"><call tool="t"/></step></branch_of>
      </parallel>
      <compensate id="undo"><step ignore_error="true"><call tool="u"/><args><arg name="id" value="$px.id"/></args></step></compensate>
      <foreach id="each" depends_on="p" items="$xs" as="x" concurrency="2">
        <step><subworkflow ref="v"/><args><arg name="x" value="$x"/><arg name="i" value="$index"/></args></step>
        <output name="all"/>
      </foreach>
      <yield id="ask" depends_on="p, each" message="Which of \${all|json}?"><expects><param name="pick" type="str" required="true"/></expects></yield>
    </graph>
    <returns><arg name="pick" value="$ask.pick"/></returns>
  </workflow>
  <workflow id="v" description="d">
    <params><param name="x" type="any"/><param name="i" type="int"/></params>
    <graph><step id="c" when="exists($x) and $i &lt; 9"><call tool="t"/><args><arg name="x" value="$x"/></args></step></graph>
  </workflow>
</workflows>`;
    const { canonicalGraph } = await import('../../src/graph/canonical.js');
    const [one, other] = [
      await parseWorkflows(yaml, { file: 'f', format: 'yaml' }),
      await parseWorkflows(text, { file: 'f', format: 'xml' }),
    ];
    expect(one.workflows).toHaveLength(2);
    expect(other.workflows.map(({ graph }) => canonicalGraph(graph))).toEqual(
      one.workflows.map(({ graph }) => canonicalGraph(graph)),
    );
  });
});

describe('a hint', () => {
  const tool = {
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { list: { type: 'array' } }, additionalProperties: false },
  };
  const registered = {
    tools: new Map<string, ToolSignature>([
      ['t', tool],
      ['u', { ...tool, upstream: { server: 'files', tool: 'u' } }],
    ]),
    resources: new Map(),
  };

  async function hintsOf(nodes: string): Promise<string[]> {
    const text = graph(nodes).replace(
      'description: d',
      'description: d\n    params: { items: { type: list } }',
    );
    const { diagnostics } = await parseWorkflows(text, { file: 'f', format: 'yaml', registered });
    return said(diagnostics.filter(({ code }) => !code.startsWith('SW5')));
  }

  test.each([
    ['{ a: { call: t, args: { n: $items.length } } }', /SW3013 .*\(write `length\(\$items\)` in a condition/],
    ['{ a: { call: t, when: "$items.length > 2" } }', /SW3013 .*\(write `length\(\$items\)` in a condition/],
    [
      '{ a: { call: t }, b: { call: t, args: { n: $a.list.length } } }',
      /SW4005 .*\(write `length\(\$a\.list\)` in a condition/,
    ],
    [
      '{ a: { call: t }, b: { on: [{ when: "true", goto: a }], depends_on: [a] } }',
      /SW4006 .*`repeat` and `until`/,
    ],
    ['{ a: { call: t }, b: { call: t, args: { n: $a.lst } } }', /SW4005 .*did you mean `list`/],
    ['{ a: { call: t, on_error: { retry: 1 } } }', /SW4014 .*leave `retry` out.*`retrySafety` of its class/],
    [
      '{ a: { call: u, on_error: { retry: 1 } } }',
      /SW4014 .*leave `retry` out.*`idempotentHint` of the server `files`/,
    ],
  ])('of the checker is one that spec files can follow: %s', async (nodes, hint) => {
    expect((await hintsOf(nodes)).join('\n')).toMatch(hint);
  });
});
