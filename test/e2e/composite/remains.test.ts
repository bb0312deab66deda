import { Tool, type ToolContext } from 'stepwright';
import { createServer } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Node, Scope } from '../../../src/graph/kinds/node.js';
import { registryOf } from '../server/fixture/registry-of.js';
import { type Answer, callOf, clientOf, failureIn, runIn, textIn } from './client.js';
import { ask, built, call, lit, returns, step, workflow } from './fixture/workflows.js';

@Tool({ name: 'make', description: 'Makes a thing' })
class Make {
  execute({ name }: { name: string }) {
    if (name === 'bad') throw new Error(`cannot make ${name}`);
    return { id: `id-${name}` };
  }
}

@Tool({ name: 'unmake', description: 'Takes a thing away' })
class Unmake {
  constructor(readonly work: Work) {}

  execute({ id }: { id: string }) {
    if (id === 'id-stuck') throw new Error(`cannot unmake ${id}`);
    if (id === 'id-held') return this.work.hold();
    return {};
  }
}

/** The effects of tools, and what blocks them. */
class Work {
  counted = 0;
  written = 0;
  onCount: () => void = () => {};
  readonly #begun = new Set<() => void>();

  /** Settles when something begins to be written. */
  get begun(): Promise<void> {
    return new Promise((resolve) => this.#begun.add(resolve));
  }

  /** Lets what is blocked continue. */
  release: () => void = () => {};

  hold(): Promise<object> {
    this.begin();
    return new Promise((resolve) => {
      this.release = () => resolve({});
    });
  }

  begin(): void {
    this.written += 1;
    for (const tell of this.#begun) tell();
    this.#begun.clear();
  }
}

@Tool({ name: 'write', description: 'Writes, and never says so' })
class Write {
  constructor(readonly work: Work) {}

  execute(_input: object, { signal }: ToolContext) {
    this.work.begin();
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
  }
}

@Tool({ name: 'count', description: 'Answers at once' })
class Count {
  constructor(readonly work: Work) {}

  execute() {
    this.work.counted += 1;
    this.work.onCount();
    return this.work.counted;
  }
}

const object = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
});

const registry = registryOf({
  tools: [
    { class: Make, input: object('name') },
    { class: Unmake, input: object('id') },
    { class: Write, input: object() },
    { class: Count, input: object() },
  ],
});

const makes = (id: string, name = id): Node =>
  call(
    id,
    'make',
    { name: lit(name) },
    {
      compensate: {
        tool: 'unmake',
        input: { kind: 'dict', entries: [{ key: 'id', value: step(id, 'id') }] },
      },
    },
  );

const base = { after: [], join: 'none_failed', executor: 'server' } as const;

const parallel = (
  branches: Readonly<Record<string, Node>>,
  onPartialFailure: 'abort' | 'rollback',
  more: { readonly onError?: { readonly value: Expr } } = {},
): Node => ({
  ...base,
  kind: 'parallel',
  id: 'both',
  onPartialFailure,
  branches: Object.entries(branches).map(([id, node]) => ({ id, body: { nodes: [node] } })),
  ...more,
});

const instead = { onError: { value: lit({ ok: false }) } };

const each = (items: readonly string[], body: Scope): Node => ({
  ...base,
  kind: 'foreach',
  id: 'each',
  items: lit(items),
  as: 'item',
  body,
  concurrency: 1,
  max: items.length,
  onItemError: 'fail',
});

const MANY = 20_000;

const graphs = [
  workflow('undoing', [makes('a'), makes('b', 'stuck'), makes('c'), ask('sure')]),
  workflow('abort', [parallel({ slow: call('slow', 'write'), bad: makes('bad') }, 'abort')]),
  workflow('rollback', [
    makes('first'),
    parallel({ x: makes('x'), y: makes('y', 'stuck'), z: makes('bad') }, 'rollback'),
  ]),
  workflow('done_all_the_same', [
    parallel({ slow: call('slow', 'write'), bad: makes('bad') }, 'abort', instead),
    { ...parallel({ x: makes('x', 'stuck'), z: makes('worse', 'bad') }, 'rollback', instead), id: 'then' },
    returns(lit({ ok: true })),
  ]),
  workflow('held', [makes('a', 'held'), ask('sure')]),
  workflow('slow', [makes('a'), call('slow', 'write')]),
  workflow('mass', [each(new Array<string>(MANY).fill('x'), { nodes: [call('count', 'count')] })]),
  workflow('items', [
    each(['one', 'bad', 'two'], {
      nodes: [call('made', 'make', { name: { kind: 'ref', root: 'item', path: ['item'] } })],
      value: step('made', 'id'),
    }),
  ]),
  workflow('asks', [ask('sure'), call('bad', 'make', { name: lit('bad') })]),
];

async function atWork() {
  const work = new Work();
  const tools = {
    unmake: () => new Unmake(work),
    write: () => new Write(work),
    count: () => new Count(work),
  };
  const server = createServer(registry, { workflows: built(graphs), tools, log: () => {} });
  return { work, client: await clientOf(server) };
}

const errorIn = ({ structuredContent }: Answer) => structuredContent?.error as Record<string, unknown>;
const warningsIn = ({ _meta }: Answer) => _meta?.['stepwright/warnings'];

describe('a run that is cancelled', () => {
  test('with `compensate` says what was undone and what remains, and so does its status', async () => {
    const { client } = await atWork();
    const workflow_id = runIn(await callOf(client, 'w_undoing'));
    const cancelled = await callOf(client, 'cancel_workflow', { workflow_id, compensate: true });
    expect(cancelled.isError).toBeUndefined();
    expect(textIn(cancelled)).toBe(
      [
        "Workflow 'undoing' was cancelled: The run was cancelled: the caller cancelled it (E_CANCELLED)",
        'Undone with unmake. Undoing with unmake failed: cannot unmake id-stuck. Not tried after that: unmake.',
        'Finished before that and undone, all or a part of it: c.',
        'Finished before that: a, b.',
        'W_NOT_UNDONE: Not undone, and still in effect: ' +
          `step 'b' (to undo it: unmake {"id":"id-stuck"}), step 'a' (to undo it: unmake {"id":"id-a"}).`,
      ].join('\n'),
    );
    expect(errorIn(cancelled)).toMatchObject({
      details: { compensation: { done: ['unmake'], failed: [{ tool: 'unmake' }], not_run: ['unmake'] } },
      partial: { a: { id: 'id-a' }, b: { id: 'id-stuck' } },
      undone: ['c'],
      not_undone: [{ step: 'b' }, { step: 'a' }],
    });
    expect(warningsIn(cancelled)).toMatchObject([{ code: 'W_NOT_UNDONE' }]);
    const status = await callOf(client, 'get_workflow_status', { workflow_id });
    expect(status.isError).toBeUndefined();
    expect(errorIn(status)).toStrictEqual(errorIn(cancelled));
    expect(textIn(status)).toBe(textIn(cancelled));
  });

  test('is reported while the run is being undone, and takes no cancellation after its end', async () => {
    const { client, work } = await atWork();
    const workflow_id = runIn(await callOf(client, 'w_held'));
    const { begun } = work;
    const answer = callOf(client, 'cancel_workflow', { workflow_id, compensate: true });
    await begun;
    const status = await callOf(client, 'get_workflow_status', { workflow_id });
    expect(textIn(status)).toBe(
      `Workflow 'held' was cancelled; undoing is in progress. workflow_id: ${workflow_id}\nAsk for it with get_workflow_status.`,
    );
    expect(status.structuredContent).toMatchObject({ status: 'running', cancelling: true });
    const list = await callOf(client, 'list_workflows');
    expect(textIn(list)).toContain(`${workflow_id}  held  running, was cancelled; undoing is in progress`);
    expect(list.structuredContent?.runs).toMatchObject([{ status: 'running', cancelling: true }]);
    work.release();
    expect((await answer).structuredContent).toMatchObject({ status: 'cancelled' });
  });

  test('with `compensate` after its end is told that nothing was undone', async () => {
    const { client } = await atWork();
    await callOf(client, 'w_done_all_the_same');
    const { runs } = (await callOf(client, 'list_workflows')).structuredContent as {
      runs: { workflow_id: string }[];
    };
    const answer = await callOf(client, 'cancel_workflow', {
      workflow_id: runs[0]?.workflow_id,
      compensate: true,
    });
    expect(textIn(answer)).toMatch(
      /^W_NOT_USED: The run had ended before it was cancelled: nothing was undone\./,
    );
    expect(warningsIn(answer)).toMatchObject([{ code: 'W_NOT_USED' }, {}, {}]);
  });

  test('while a call is in flight names that call', async () => {
    const { client, work } = await atWork();
    const { begun } = work;
    const answer = callOf(client, 'w_slow');
    await begun;
    const { structuredContent } = await callOf(client, 'list_workflows');
    const [run] = (structuredContent?.runs ?? []) as readonly { readonly workflow_id: string }[];
    const cancelled = await callOf(client, 'cancel_workflow', { workflow_id: run?.workflow_id });
    const warning = 'W_OUTCOME_UNKNOWN: Without an answer, but may have taken effect all the same';
    expect(textIn(cancelled)).toContain(`${warning}: write (step 'slow'). Check before repeating.`);
    expect(errorIn(cancelled)).toMatchObject({
      outcome_unknown: true,
      partial: { a: { id: 'id-a' } },
      unknown_outcomes: [{ step: 'slow', tool: 'write' }],
    });
    expect(failureIn(await answer)).toMatchObject({ code: 'E_CANCELLED', outcomeUnknown: true });
    expect(textIn(await answer)).toContain(warning);
  });

  test('stops between tools that answer at once, and other requests have their turn', async () => {
    const { client, work } = await atWork();
    const abort = new AbortController();
    let pinged: Promise<unknown> | undefined;
    work.onCount = () => {
      if (work.counted !== 1) return;
      setImmediate(() => {
        pinged = client.ping();
        abort.abort('enough');
      });
    };
    const run = client.callTool({ name: 'w_mass' }, undefined, { signal: abort.signal });
    await expect(run).rejects.toThrow();
    await pinged;
    const { structuredContent } = await callOf(client, 'list_workflows');
    expect(structuredContent?.runs).toMatchObject([{ name: 'mass', status: 'cancelled' }]);
    expect(work.counted).toBeLessThan(MANY);
  });
});

describe('a run that completes', () => {
  test('with its result says what remains, and what may have taken effect', async () => {
    const { client } = await atWork();
    const answer = await callOf(client, 'w_done_all_the_same');
    expect(answer.isError).toBeUndefined();
    expect(answer.structuredContent).toEqual({ ok: true });
    const notes = [
      `W_NOT_UNDONE: Not undone, and still in effect: step 'x' (to undo it: unmake {"id":"id-stuck"}).`,
      'W_OUTCOME_UNKNOWN: Without an answer, but may have taken effect all the same: ' +
        "write (step 'slow'). Check before repeating.",
    ].join('\n');
    expect(answer.content).toEqual([
      { type: 'text', text: '{"ok":true}' },
      { type: 'text', text: notes },
    ]);
    expect(warningsIn(answer)).toMatchObject([{ code: 'W_NOT_UNDONE' }, { code: 'W_OUTCOME_UNKNOWN' }]);
    const { runs } = (await callOf(client, 'list_workflows')).structuredContent as {
      runs: { workflow_id: string }[];
    };
    const status = await callOf(client, 'get_workflow_status', { workflow_id: runs[0]?.workflow_id });
    expect(textIn(status)).toContain(notes);
    expect(status.structuredContent).toMatchObject({
      status: 'completed',
      remains: { not_undone: [{ step: 'x' }], unknown_outcomes: [{ step: 'slow', tool: 'write' }] },
    });
  });
});

describe('a run that fails', () => {
  test('names the call that was cancelled because of it', async () => {
    const { client, work } = await atWork();
    const answer = await callOf(client, 'w_abort');
    expect(work.written).toBe(1);
    expect(textIn(answer)).toBe(
      [
        "Workflow 'abort' failed at step 'both': cannot make bad (E_TOOL_ERROR)",
        'W_OUTCOME_UNKNOWN: Without an answer, but may have taken effect all the same: ' +
          "write (step 'slow'). Check before repeating.",
      ].join('\n'),
    );
    expect(errorIn(answer)).toMatchObject({ unknown_outcomes: [{ step: 'slow', tool: 'write' }] });
    expect(warningsIn(answer)).toMatchObject([{ code: 'W_OUTCOME_UNKNOWN' }]);
    expect(failureIn(answer)).toMatchObject({ unknown_outcomes: [{ step: 'slow', tool: 'write' }] });
  });

  test('and rolls back says which branch, why, what was undone and what was not', async () => {
    const { client } = await atWork();
    const answer = await callOf(client, 'w_rollback');
    expect(failureIn(answer)).toMatchObject({
      not_undone: [{ step: 'y' }, { step: 'x' }, { step: 'first' }],
    });
    expect(textIn(answer)).toBe(
      [
        "Workflow 'rollback' failed at step 'both': 1 of 3 branches failed: z (cannot make bad). (E_PARTIAL_FAILURE)",
        'Nothing was undone. Undoing with unmake failed: cannot unmake id-stuck. Not tried after that: unmake.',
        'Finished before that: first.',
        'W_NOT_UNDONE: Not undone, and still in effect: ' +
          `step 'y' (to undo it: unmake {"id":"id-stuck"}), step 'x' (to undo it: unmake {"id":"id-x"}), step 'first' (to undo it: unmake {"id":"id-first"}).`,
      ].join('\n'),
    );
  });

  test('in a loop keeps the values of the items that were done', async () => {
    const { client } = await atWork();
    const answer = await callOf(client, 'w_items');
    expect(errorIn(answer)?.details).toEqual({ index: 1, partial: { 0: 'id-one' } });
    expect(textIn(answer)).toBe(
      [
        "Workflow 'items' failed at step 'each': cannot make bad (E_TOOL_ERROR)",
        'In the loop, item 1 failed (the first is 0); 1 item had finished.',
      ].join('\n'),
    );
  });

  test('through submit_result answers as the call of its tool does', async () => {
    const { client } = await atWork();
    const workflow_id = runIn(await callOf(client, 'w_asks'));
    const answer = await callOf(client, 'submit_result', { workflow_id, result: true });
    expect(answer.isError).toBe(true);
    expect(failureIn(answer)).toMatchObject({ code: 'E_TOOL_ERROR', node: 'bad' });
    expect((await callOf(client, 'get_workflow_status', { workflow_id })).isError).toBeUndefined();
  });
});
