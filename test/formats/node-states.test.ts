// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of spec files are written so
import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../src/formats/index.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
import { failing, onlyGraph, runSpec, said, toolsOf } from './spec-file.fixture.js';

/** A workflow whose graph is these lines. */
const workflow = (graph: string, more = ''): string =>
  `workflows:\n  w:\n    description: d\n${more}    graph:\n${graph.replaceAll(/^(?=.)/gm, '      ')}`;

const notice = `
pay: { call: pay, KIND }
tell:
  call: tell
  args: { how: $steps.pay.status, code: "$steps.pay.error.code?", text: "after \${steps.pay.error.attempts?}" }
ship:
  call: ship
  when: $steps.pay.status == 'succeeded' and not exists($steps.pay.error)
`;

const run = async (kind: string, pay: unknown, more = '') => {
  const graph = await onlyGraph(workflow(notice.replace('KIND', kind), more));
  return runSpec(graph, {}, { pay, tell: 'notice', ship: 'sent', other: 'else' });
};

describe('R7: $steps.X.status and $steps.X.error', () => {
  test('of a node that succeeded', async () => {
    const { calls, status } = await run('args: {}', { id: 1 });
    expect(calls).toEqual([
      { tool: 'pay', input: {} },
      { tool: 'tell', input: { how: 'succeeded', text: 'after ' } },
      { tool: 'ship', input: {} },
    ]);
    expect(status).toBe('succeeded');
  });

  test('of a node whose failure is data', async () => {
    const data = await run('error_as_data: true, on_error: { retry: 1 }', failing('no funds'));
    expect(data.calls.at(-1)).toEqual({
      tool: 'tell',
      input: { how: 'succeeded', code: 'E_TOOL', text: 'after 2' },
    });
    expect(toolsOf(data)).not.toContain('ship');
    expect(data.status).toBe('succeeded');
  });

  test('of a node that another one took over for', async () => {
    const kind =
      'on_error: { fallback: other } }\nother: { call: other, args: { why: $steps.pay.error.message }';
    const handled = await run(kind, failing('no funds'));
    expect(handled.calls).toContainEqual({ tool: 'other', input: { why: 'no funds' } });
    expect(handled.calls).toContainEqual({
      tool: 'tell',
      input: { how: 'handled', code: 'E_TOOL', text: 'after 1' },
    });
    expect(handled.status).toBe('succeeded');
  });

  test('of a node that failed, with fail_fast: false', async () => {
    const failed = await run('args: {}', failing('no funds'), '    fail_fast: false\n');
    expect(toolsOf(failed)).toEqual(['pay', 'tell']);
    expect(failed.calls.at(-1)?.input).toMatchObject({ how: 'failed', code: 'E_TOOL' });
    expect(failed.status).toBe('failed');
  });

  test('of branches of a parallel, behind it and in the result', async () => {
    const graph = await onlyGraph(
      workflow(
        `
both:
  branches: { flight: { call: flight }, hotel: { call: hotel } }
  on_partial_failure: continue
sorry: { call: sorry, when: "$steps.hotel.status in ['failed', 'cancelled']" }
`,
        '    returns: { flight: $steps.flight.status, hotel: $steps.hotel.status, why: $steps.hotel.error }\n',
      ),
    );
    const { result, calls } = await runSpec(graph, {}, { flight: 1, hotel: failing('full'), sorry: 's' });
    expect(result).toEqual({
      flight: 'succeeded',
      hotel: 'failed',
      why: { code: 'E_TOOL', message: 'full', attempts: 1, node: 'hotel' },
    });
    expect(calls.at(-1)?.tool).toBe('sorry');
  });

  test('of branches, which have no result', async () => {
    const graph = await onlyGraph(
      workflow(`
pick: { on: [{ when: "1 == 1", goto: a }, { default: b }] }
a: { call: a }
b: { call: b }
tell: { call: tell, args: { pick: $steps.pick.status, a: $steps.a.status, b: $steps.b.status } }
`),
    );
    const { calls } = await runSpec(graph, {}, { a: 1, b: 2, tell: 3 });
    expect(calls.at(-1)?.input).toEqual({ pick: 'succeeded', a: 'succeeded', b: 'skipped' });
  });

  test('is missing in a value where there is no error', async () => {
    const graph = await onlyGraph(
      workflow('pay: { call: pay }\ntell: { call: tell, args: { e: $steps.pay.error } }'),
    );
    expect(await runSpec(graph, {}, { pay: 1, tell: 2 })).toMatchObject({
      status: 'failed',
      failure: {
        code: 'E_REF_MISSING',
        message:
          '`steps.pay.error` finds nothing: `steps.pay` is a node that did not fail, and has no `error`',
      },
    });
  });

  test('is written alike in YAML, JSON and XML', async () => {
    const yaml = workflow(`
pay: { call: pay, error_as_data: true }
tell: { call: tell, when: "$steps.pay.status != 'skipped'", args: { code: "$steps.pay.error.code?" } }
`);
    const json = JSON.stringify({
      workflows: {
        w: {
          description: 'd',
          graph: {
            pay: { call: 'pay', error_as_data: true },
            tell: {
              call: 'tell',
              when: "$steps.pay.status != 'skipped'",
              args: { code: '$steps.pay.error.code?' },
            },
          },
        },
      },
    });
    const xml = `<workflows><workflow id="w" description="d"><graph>
      <step id="pay" error_as_data="true"><call tool="pay"/></step>
      <step id="tell" when="$steps.pay.status != 'skipped'"><call tool="tell"/>
        <args><arg name="code" value="$steps.pay.error.code?"/></args></step>
    </graph></workflow></workflows>`;
    const graphs = [await onlyGraph(yaml), await onlyGraph(json, 'json'), await onlyGraph(xml, 'xml')];
    expect(new Set(graphs.map(canonicalGraph)).size).toBe(1);
    expect(canonicalGraph(graphs[0] as never)).toContain('"path":["pay","status"],"root":"nodes"');
  });
});

describe('reports', () => {
  test.each([
    [
      'a: { call: a }\nb: { call: b, args: { x: $steps.aa.status } }',
      'f.yaml:6:32 SW5013 nothing here is named `$steps.aa` (did you mean `$steps.a.status`?)',
    ],
    [
      'a: { call: a }\nb: { call: b, args: { x: $steps.a.state } }',
      'f.yaml:6:32 SW5020 `$steps.a.state` has no value here: write one of `$steps.a.result`, `$steps.a.status`, `$steps.a.error`',
    ],
  ])('%s', async (graph, line) => {
    const { diagnostics } = await parseWorkflows(workflow(graph), { file: 'f.yaml', format: 'yaml' });
    expect(said(diagnostics)).toContainEqual(line);
  });
});

describe('G1, G18: an `error` node that no node selects', () => {
  const written = 'a: { call: a }\nb: { call: b, depends_on: [a] }\ne: { type: error, message: m';

  test('is skipped, with a warning', async () => {
    const text = workflow(`${written} }\nc: { call: c, args: { how: $steps.e.status } }`);
    const { diagnostics } = await parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });
    expect(said(diagnostics)).toContainEqual(
      'f.yaml:7:7 SW4021 step `e` never runs: nothing that runs selects it (name `e` in a `goto` or a `fallback`, or remove it)',
    );
    const run = await runSpec(await onlyGraph(text), {}, { a: 1, b: 2, c: 3 });
    expect(run.status).toBe('succeeded');
    expect(run.calls).toContainEqual({ tool: 'c', input: { how: 'skipped' } });
  });

  test.each([
    ['when: "$a.full >"', 'SW5014'],
    ['when: true', 'SW5006'],
    ['condition: "$a.full >"', 'SW5014'],
  ])('is not one whose condition is wrong: %s', async (condition, code) => {
    const text = workflow(`${written}, ${condition} }`);
    const { diagnostics } = await parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });
    const codes = diagnostics.map((each) => each.code);
    expect(codes).toContain(code);
    expect(codes).not.toContain('SW4021');
  });

  test('runs on its own condition', async () => {
    const text = workflow(`${written}, when: $a.full }`);
    const { diagnostics } = await parseWorkflows(text, { file: 'f.yaml', format: 'yaml' });
    expect(diagnostics.map(({ code }) => code)).not.toContain('SW4021');
    const graph = await onlyGraph(text);
    expect(await runSpec(graph, {}, { a: { full: false }, b: 2 })).toMatchObject({ status: 'succeeded' });
    expect(await runSpec(graph, {}, { a: { full: true }, b: 2 })).toMatchObject({
      status: 'failed',
      failure: { code: 'e', message: 'm' },
    });
  });
});
