import { describe, expect, test } from 'vitest';
import type { CheckEnvironment, ToolSignature } from '../../src/check/check-graph.js';
import { parseWorkflows, type TextFormat } from '../../src/formats/index.js';
import { nodesOf } from '../../src/graph/nodes.js';
import { onlyGraph, runSpec, said } from './spec-file.fixture.js';

const failing = () => {
  throw new Error('no such file');
};

const reading = (more: string): string => `
workflows:
  w:
    description: d
    graph:
      read: { call: read, ${more} }
      tell: { call: tell, depends_on: [read], args: { found: $read } }
`;

test('a call with error_as_data has its failure as the result, after its attempts', async () => {
  const graph = await onlyGraph(reading('error_as_data: true, on_error: { retry: 1 }'));
  const failed = await runSpec(graph, {}, { read: failing, tell: 'told' });
  expect(failed).toMatchObject({ status: 'succeeded', result: 'told' });
  const error = { code: 'E_TOOL', message: 'no such file', attempts: 2 };
  expect(failed.calls.at(-1)).toEqual({ tool: 'tell', input: { found: { error } } });
  const read = await runSpec(graph, {}, { read: 'text', tell: 'told' });
  expect(read.calls.at(-1)).toEqual({ tool: 'tell', input: { found: 'text' } });
});

test('error_as_data: false leaves a failure a failure', async () => {
  const graph = await onlyGraph(reading('error_as_data: false'));
  expect(await runSpec(graph, {}, { read: failing, tell: 'told' })).toMatchObject({ status: 'failed' });
});

test('XML has error_as_data as well', async () => {
  const xml =
    '<workflows><workflow id="w" description="d"><graph><step id="read" error_as_data="true"><call tool="read"/></step></graph></workflow></workflows>';
  const run = await runSpec(await onlyGraph(xml, 'xml'), {}, { read: failing });
  expect(run).toMatchObject({ status: 'succeeded', result: { error: { message: 'no such file' } } });
});

test.each([
  [
    'error_as_data: true, on_error: { fallback: tell }',
    /f\.yaml:6:\d+ SW5011 .*`error_as_data` and `fallback`/,
  ],
  [
    'error_as_data: sometimes',
    /f\.yaml:6:\d+ SW5006 `error_as_data` of node `read` must be `true` or `false`/,
  ],
])('%s', async (more, fault) => {
  const { diagnostics } = await parseWorkflows(reading(more), { file: 'f.yaml', format: 'yaml' });
  expect(said(diagnostics).join('\n')).toMatch(fault);
});

const tool = (server: string, name: string): ToolSignature => ({
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
  upstream: { server, tool: name },
});

const registered: CheckEnvironment = {
  tools: new Map([
    ['files_read', tool('files', 'read.text')],
    ['disk_remove', tool('disk', 'remove')],
    ['a/b', { inputSchema: { type: 'object' } }],
    ['a_b', tool('a', 'b')],
  ]),
  resources: new Map(),
};

const naming = (name: string): string => `
workflows:
  w:
    description: d
    graph:
      all:
        items: [1]
        step: { call: ${name}, args: { path: x }, compensate: { call: disk/remove, args: { path: x } } }
      undo: { type: compensate, steps: [{ call: disk.remove, args: { path: y } }] }
`;

test.each([
  ['files_read', 'files_read'],
  ['files/read.text', 'files_read'],
  ['files.read.text', 'files_read'],
  ['a/b', 'a/b'],
  ['a.b', 'a_b'],
])('%s names the registered tool %s, also of an upstream server', async (written, name) => {
  const { workflows, diagnostics } = await parseWorkflows(naming(written), {
    file: 'f.yaml',
    format: 'yaml',
    registered,
  });
  expect(said(diagnostics.filter(({ severity }) => severity === 'error'))).toEqual([]);
  const [loop, undo] = workflows[0]?.graph.nodes ?? [];
  expect(nodesOf({ nodes: loop === undefined ? [] : [loop] })).toContainEqual(
    expect.objectContaining({
      kind: 'call',
      tool: name,
      compensate: expect.objectContaining({ tool: 'disk_remove' }),
    }),
  );
  expect(undo).toMatchObject({ kind: 'compensate', steps: [{ tool: 'disk_remove' }] });
});

test.each(['files/write', 'disk/read.text', '/remove'])(
  '%s is an unknown tool, at its place',
  async (written) => {
    const { diagnostics } = await parseWorkflows(naming(written), {
      file: 'f.yaml',
      format: 'yaml',
      registered,
    });
    expect(said(diagnostics).join('\n')).toMatch(/f\.yaml:\d+:\d+ SW4001 /);
  },
);

const trip = (more: string): string => `
workflows:
  w:
    description: d
${more}    graph:
      flight: { call: book, args: { what: flight }, compensate: { call: unbook, args: { id: $flight.id } } }
      hotel: { call: book, depends_on: [flight], args: { what: hotel }, compensate: { call: unbook, args: { id: $hotel.id } } }
      pay: { call: pay, depends_on: [hotel] }
`;

const tripTools = {
  book: ({ what }: { what: string }) => ({ id: `${what}-1` }),
  unbook: null,
  pay: failing,
};

test.each(['yaml', 'xml'] as const)(
  'on_failure: compensate undoes what a failed workflow did: %s',
  async (format) => {
    const text =
      format === 'yaml'
        ? trip('    on_failure: compensate\n')
        : `<workflows><workflow id="w" description="d" on_failure="compensate"><graph>
          <step id="flight"><call tool="book"/><args><arg name="what" value="flight"/></args>
            <compensate><call tool="unbook"/><args><arg name="id" value="$flight.id"/></args></compensate></step>
          <step id="pay" depends_on="flight"><call tool="pay"/></step>
        </graph></workflow></workflows>`;
    const run = await runSpec(await onlyGraph(text, format), {}, tripTools);
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_TOOL', message: 'no such file' } });
    const undone = run.calls.filter(({ tool }) => tool === 'unbook').map(({ input }) => input.id);
    expect(undone).toEqual(format === 'yaml' ? ['hotel-1', 'flight-1'] : ['flight-1']);
  },
);

test('a compensation without on_failure is a warning, and another value of it is refused', async () => {
  const warned = await parseWorkflows(trip(''), { file: 'f.yaml', format: 'yaml' });
  expect(said(warned.diagnostics).filter((each) => each.includes('SW4046'))).toHaveLength(2);
  const refused = await parseWorkflows(trip('    on_failure: undo\n'), { file: 'f.yaml', format: 'yaml' });
  expect(said(refused.diagnostics).join()).toContain('compensate');
});

test.each([
  [
    'yaml',
    'workflows: { w: { description: d, task: true, task_support: required, graph: { a: { call: a } } } }',
  ],
  [
    'xml',
    '<workflows><workflow id="w" description="d" task="true" task_support="required"><graph><step id="a"><call tool="a"/></step></graph></workflow></workflows>',
  ],
] as const)('task and task_support are those of the graph: %s', async (format, text) => {
  expect(await onlyGraph(text, format)).toMatchObject({ task: true, taskSupport: 'required' });
});

test('task: false is the default, and another task_support is refused', async () => {
  const text = (more: string) => `workflows: { w: { description: d, ${more}, graph: { a: { call: a } } } }`;
  expect(await onlyGraph(text('task: false'))).not.toHaveProperty('task');
  const { diagnostics } = await parseWorkflows(text('task_support: never'), {
    file: 'f.yaml',
    format: 'yaml',
  });
  expect(said(diagnostics).join()).toMatch(/SW5021 .*task_support/);
});

test('a delay that is written is honoured, and only exponential growth has a longest one', async () => {
  const retryOf = async (more: string) => {
    const [node] = (await onlyGraph(reading(`on_error: { retry: 1, ${more} }`))).nodes;
    return node?.retry;
  };
  expect(await retryOf('delay: 2m')).toMatchObject({ delayMs: 120_000, backoff: 'constant', capMs: 120_000 });
  expect(await retryOf('delay: 2m, backoff: exponential, max_delay: 5m')).toMatchObject({ capMs: 300_000 });
});

test.each(['delay: 2m', 'backoff: linear', 'jitter: 0.5'])('%s without retry is refused', async (more) => {
  const text = reading(`on_error: { ${more}, fallback: tell }`);
  const { diagnostics } = await parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });
  expect(said(diagnostics).join('\n')).toMatch(/SW5011 .*without a `retry`/);
});

test('max_delay without exponential growth is refused', async () => {
  const text = reading('on_error: { retry: 1, delay: 1s, max_delay: 1m }');
  const { diagnostics } = await parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });
  expect(said(diagnostics).join('\n')).toMatch(/SW5011 .*`backoff: exponential` alone/);
});

describe('a workflow that is named with its domain', () => {
  const registered: CheckEnvironment = { tools: new Map([['t', { inputSchema: {} }]]), resources: new Map() };
  const yaml = (workflow: string): string =>
    `domain: travel\nworkflows:\n  book: { description: d, graph: { a: { call: t } } }\n  trip: { description: d, graph: { b: { workflow: ${workflow} } } }\n`;
  const files: readonly (readonly [TextFormat, (workflow: string) => string])[] = [
    ['yaml', yaml],
    [
      'json',
      (workflow) =>
        `{"domain": "travel", "workflows": {"book": {"description": "d", "graph": {"a": {"call": "t"}}},\n"trip": {"description": "d", "graph": {"b": {"workflow": "${workflow}"}}}}}`,
    ],
    [
      'xml',
      (workflow) =>
        `<workflows domain="travel"><workflow id="book" description="d"><graph><step id="a"><call tool="t"/></step></graph></workflow>\n<workflow id="trip" description="d"><graph><step id="b"><subworkflow ref="${workflow}"/></step></graph></workflow></workflows>`,
    ],
  ];

  test.each(files)('in %s is one of that domain', async (format, text) => {
    const faultsOf = async (workflow: string) =>
      said((await parseWorkflows(text(workflow), { file: 'f', format, registered })).diagnostics);
    expect(await faultsOf('travel/book')).toEqual([]);
    expect(await faultsOf('hotels/book')).toEqual([
      expect.stringMatching(
        /^f:[24]:\d+ SW4026 workflow `trip` requires workflow `hotels\/book`, which is not registered \(did you mean `travel\/book`\?\)$/,
      ),
    ]);
  });

  test('may be a registered one, which has the domain `default` without one of its own', async () => {
    const graph = await onlyGraph('workflows: { book: { description: d, graph: { a: { call: t } } } }');
    const { domain: _, ...withoutDomain } = graph;
    const workflows = new Map([['pay', { ...withoutDomain, name: 'pay' }]]);
    const faultsOf = async (workflow: string) => {
      const options = { file: 'f', format: 'yaml', registered: { ...registered, workflows } } as const;
      return said((await parseWorkflows(yaml(workflow), options)).diagnostics);
    };
    expect(await faultsOf('default/pay')).toEqual([]);
    expect(await faultsOf('travel/pay')).toEqual([expect.stringContaining('did you mean `default/pay`?')]);
  });
});
