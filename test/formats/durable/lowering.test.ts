import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseWorkflows } from '../../../src/formats/index.js';
import { nodesOf } from '../../../src/graph/nodes.js';
import { printExpr } from '../../../src/print/expression.js';
import { onlyGraph, runSpec, said } from '../spec-file.fixture.js';

const doc = (steps: string, more = ''): string =>
  `name: w\nversion: "1.0.0"\n${more}steps:\n${steps.trimEnd().replace(/^/gm, '  ')}\n`;

/** The result of a workflow without work for clients. */
async function run(steps: string, more = '') {
  const { status, result, failure } = (await runSpec(await onlyGraph(doc(steps, more)), {}, {})) as {
    status: string;
    result?: unknown;
    failure?: { code: string };
  };
  return status === 'succeeded' ? result : failure?.code;
}

const COUNT = `
- id: add
  type: set_state
  needs_state: [n]
  updates: { n: "{{ state.n + 1 }}" }
`;
const STATE = 'initial_state: { n: 0 }\n';
const END = '- { id: end, type: return, needs_state: [n], value: "{{ state.n }}" }\n';

describe('set_state', () => {
  test('reads the values before it, and new ones by their names', async () => {
    const steps = `
- id: compute
  type: set_state
  needs_state: [n]
  updates:
    total: 4
    half: "{{ total / 2 }}"
    n: "{{ state.n + total }}"
    nested: { list: ["{{ n }}", 1, true], text: "{{ half }}!" }
- id: end
  type: return
  needs_state: ["n", "half", "nested"]
  value: ["{{ state.n }}", "{{ state.half }}", "{{ state.nested }}"]
`;
    expect(await run(steps, STATE)).toEqual([4, 2, { list: [4, 1, true], text: '2.0!' }]);
  });
});

describe('goto', () => {
  test('goes back in its own list, and fails at its limit', async () => {
    const again =
      '- { id: again, type: goto, target: add, max_iterations: 3, when: "{{ state.n < 3 }}", needs_state: [n] }\n';
    expect(await run(COUNT + again + END, STATE)).toBe(3);
    const endless = '- { id: again, type: goto, target: add, max_iterations: 3 }\n';
    expect(await run(COUNT + endless, STATE)).toBe('E_LOOP_LIMIT');
    expect(await run(COUNT + endless.replace(' }', ', on_limit: continue }') + END, STATE)).toBe(4);
  });

  const out = (more: string): string => `${COUNT}
- id: check
  type: condition
  needs_state: [n]
  if: "{{ state.n < 3 }}"
  then:
    - id: inner
      type: condition
      if: "{{ true }}"
      then:
        - { id: back, type: goto, target: add, max_iterations: 5${more} }
    - id: passed-over
      type: set_state
      needs_state: [n]
      updates: { n: "{{ state.n + 100 }}" }
${END}`;

  test('goes back out of lists, and passes over the steps behind it', async () => {
    expect(await run(out(''), STATE)).toBe(3);
    expect(await run(out(', when: "{{ state.n < 2 }}", needs_state: [n]'), STATE)).toBe(102);
    expect(await run(out('').replace('< 3', '< 9'), STATE)).toBe('E_LOOP_LIMIT');
  });

  test('skips steps forward', async () => {
    const skip = '- { id: skip, type: goto, target: end, when: "{{ state.n == 1 }}", needs_state: [n] }\n';
    const again = COUNT.replace('add', 'more');
    expect(await run(COUNT + skip + again + END, STATE)).toBe(1);
    expect(await run(COUNT + skip.replace('== 1', '== 7') + again + END, STATE)).toBe(2);
  });
});

describe('foreach', () => {
  const loop = (more: string, task: string): string =>
    doc(
      `- { id: each, type: foreach, items: [{ a: 1, b: 2 }], task: one, output_to: list${more} }`,
      `tasks:\n  one:\n${task}`,
    );
  const returning = (value: string, inputs = '{}'): string =>
    `    inputs: ${inputs}\n    steps:\n      - { id: done, type: return, value: "${value}" }\n`;

  /** The loop, and the inputs of its task as they are printed. */
  async function loopOf(more: string, task: string) {
    const [node] = (await onlyGraph(loop(more, task))).nodes;
    const [item] = node?.kind === 'foreach' ? node.body.nodes : [];
    if (node?.kind !== 'foreach' || item?.kind !== 'workflow') throw new Error('no loop');
    return { node, input: printExpr(item.input) };
  }

  test.each([
    ['no input', '', returning('1'), '{}'],
    ['one input: the item', '', returning('{{ inputs.x }}', '{ x: { type: object } }'), '{ x: item }'],
    [
      'several inputs: the keys of the item',
      '',
      returning('{{ inputs.a + inputs.b }}', '{ a: { type: number }, b: { type: number } }'),
      '{ ...item }',
    ],
    [
      'inputs that are written',
      ', inputs: { x: "{{ item.a + index }}" }',
      returning('{{ inputs.x }}', '{ x: { type: number } }'),
      '{ x: item.a + index }',
    ],
    [
      'names of the loop',
      '',
      returning('{{ item.a }} {{ index }}'),
      '{ "loop.item": item, "loop.index": index }',
    ],
  ])('gives its task %s', async (_, more, task, input) => {
    expect((await loopOf(more, task)).input).toBe(input);
  });

  test('runs ten items at once, one at a time, or as many as it says', async () => {
    const task = returning('{{ item }}');
    expect((await loopOf('', task)).node).toMatchObject({
      concurrency: 10,
      max: 1_000,
      onItemError: 'settle',
    });
    const more = ', sequential: true, on_child_error: continue, agent: "@task"';
    const { node } = await loopOf(more, returning('{{ previous }}'));
    expect(node).toMatchObject({
      ...{ concurrency: 1, onItemError: 'report', agent: '@task', resultsAs: 'results' },
    });
  });

  test('keeps state apart, with first values of its own', async () => {
    const task = `    initial_state: { n: "{{ item.a }}", m: 5 }
    steps:
      - { id: done, type: return, needs_state: [n, m], value: "{{ state.n + state.m }}" }
`;
    const [one] = (await onlyGraph(loop('', task))).tasks ?? [];
    expect(one).toMatchObject({
      state: [
        { name: 'n', scope: 'workflow' },
        { name: 'm', scope: 'workflow', initial: 5 },
      ],
      nodes: [{ kind: 'set', id: 'state.initial', updates: [{ field: 'n' }] }, { id: 'done' }],
    });
  });
});

test('a condition with a result has that of its arm and of its last step', async () => {
  const graph = await onlyGraph(
    doc(`
- id: check
  type: condition
  if: "{{ true }}"
  then:
    - { id: a, type: set_state, updates: { x: 1 } }
    - { id: b, type: set_state, when: "{{ false }}", updates: { x: 2 } }
  output_to: outcome
`),
  );
  const [check] = graph.nodes;
  const arms = check?.kind === 'branch' ? [check.cases[0], check.else] : [];
  const values = arms.map((arm) => arm && 'body' in arm && arm.body.value && printExpr(arm.body.value));
  expect(values).toEqual([
    '{ branch: "then", last: (statusOf(b) === "succeeded") ? b : a }',
    '{ branch: null, last: null }',
  ]);
  expect(check?.writes).toBe('outcome');
});

test('no task has the name of a workflow', async () => {
  const loop = '- { id: each, type: foreach, items: [1], task: one, output_to: list }';
  const tasks = 'tasks:\n  one:\n    steps:\n      - { id: done, type: return, value: 1 }\n';
  const text = doc(loop, tasks).replace('name: w', 'name: one');
  const { diagnostics } = await parseWorkflows(text, { file: 'f', format: 'yaml' });
  expect(said(diagnostics)).toEqual([
    'f:4:3 SW5004 `one` is written twice (remove one of them, or give it another name)',
  ]);
});

test('inputs without a value are null', async () => {
  const inputs = 'inputs: { a: { type: string }, b: { type: string, required: true } }\n';
  const steps = '- { id: end, type: return, value: "{{ inputs.a }}{{ inputs.b }}" }';
  const graph = await onlyGraph(doc(steps, inputs));
  expect(graph.inputs).toMatchObject([{ default: null, required: false }, { required: true }]);
  expect(graph.inputs[1]).not.toHaveProperty('default');
});

test.each([
  ['2', '{ resumed: true, duration: 2 }'],
  ['"{{ 0.5 * 4 }}"', '{ resumed: true, duration: 2 }'],
])('a wait of %s is in seconds', async (seconds, value) => {
  const steps = `
- { id: d, type: wait, duration_seconds: ${seconds}, output_to: waited }
- { id: end, type: return, needs_state: [waited], value: "{{ state.waited }}" }
`;
  expect(await run(steps)).toEqual(parse(value));
});

test('a wait for text fails with the text', async () => {
  const steps = '- { id: d, type: wait, duration_seconds: "{{ inputs.s }}" }\n';
  const graph = await onlyGraph(doc(steps, 'inputs: { s: { type: string } }\n'));
  expect(await runSpec(graph, { s: '2' }, {})).toMatchObject({
    failure: { code: 'E_WAIT', message: 'This step cannot wait: "2" is not a number.' },
  });
});

test('numbers and booleans of a command are texts, as they are written', async () => {
  const steps =
    '- { id: a, type: shell, command: x, fail_on_error: true, argv: [1.50, yes, true], env: { A: 1 } }\n';
  const [shell] = nodesOf(await onlyGraph(doc(steps)));
  expect(shell).toMatchObject({
    argv: {
      items: [{ value: { value: '1.50' } }, { value: { value: 'yes' } }, { value: { value: 'true' } }],
    },
    env: { entries: [{ key: 'A', value: { value: '1' } }] },
  });
});

test('durations are seconds', async () => {
  const graph = await onlyGraph(
    doc(`
- { id: a, type: shell, command: ls, timeout: 1.5, fail_on_error: true }
- { id: b, type: mcp_call, tool: x, timeout: 2m }
- { id: c, type: delegate, instructions: x, agent: null, timeout: PT1M }
- { id: d, type: wait, duration_seconds: 30, output_to: waiting }
- { id: e, type: wait, duration_seconds: 30s, message: Wait }
`),
  );
  const nodes = new Map(nodesOf(graph).map((node) => [node.id, node]));
  expect(['a', 'b', 'c'].map((id) => nodes.get(id)?.timeoutMs)).toEqual([1_500, 120_000, 60_000]);
  for (const id of ['d', 'e'])
    expect(nodes.get(id)).toMatchObject({ durationMs: { kind: 'literal', value: 30_000 } });
  expect(nodes.get('d.result')).toMatchObject({ kind: 'set', updates: [{ field: 'waiting' }] });
  expect(graph.limits).toEqual({ steps: 1_000, stateBytes: 1_048_576 });
});
