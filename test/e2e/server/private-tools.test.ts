import { prompt, simplePrompt, Tool, type ToolContext, user } from 'stepwright';
import { createServer, type ServerSettings } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { fromStep, promptArg, sequential, step } from '../../../src/formats/builder/index.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import { built, call, lit, workflow } from '../composite/fixture/workflows.js';
import { connectedTo, refusal, textsOf } from './connected.js';
import { registryOf } from './fixture/registry-of.js';

const object = { type: 'object', properties: {}, additionalProperties: false } as const;

@Tool({ name: 'add-note', description: 'Adds a note' })
class AddNote {
  execute() {
    return { id: 'n-1' };
  }
}

@Tool({ name: 'charge-card', description: 'Charges', visibility: 'workflow' })
class ChargeCard {
  execute({ amount }: { amount: number }) {
    if (amount < 0) throw new Error('no money');
    return { paid: amount };
  }
}

@Tool({ name: 'refund-card', description: 'Refunds', visibility: 'workflow' })
class RefundCard {
  execute() {
    throw new Error('the bank is closed');
  }
}

/** No registry has it; its name is close to that of a private tool. */
@Tool({ name: 'charge-cart', description: 'Charges' })
class ChargeCart {
  execute() {
    return {};
  }
}

@Tool({ name: 'fail-now', description: 'Fails' })
class FailNow {
  execute() {
    throw new Error('no luck');
  }
}

const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

const registry = registryOf({
  tools: [
    { class: AddNote, input: object, hints: { category: 'notes', next: ['charge-card'] } },
    { class: ChargeCard, input: amount },
    { class: RefundCard, input: amount },
    { class: FailNow, input: object, hints: { next: ['add-note', 'charge-card'] } },
  ],
});

const pay = (name: string, expose: readonly ('prompt' | 'tool')[]) =>
  sequential(name, 'pay for something', { expose })
    .argument('amount', 'How much', { required: true, schema: { type: 'number' } })
    .step(step(AddNote).bind('note'))
    .step(step(FailNow).bind('risky'))
    .step(step(ChargeCard).arg('amount', promptArg('amount')).bind('paid'))
    .build();

const charge = sequential('charge', 'charge a card', { expose: ['prompt', 'tool'] })
  .argument('amount', 'How much', { required: true, schema: { type: 'number' } })
  .step(step(ChargeCard).arg('amount', promptArg('amount')).bind('paid'))
  .returns(fromStep('paid'))
  .build();

const serverOf = (settings: ServerSettings = {}) => createServer(registry, { log: () => {}, ...settings });
const clientOf = async (settings: ServerSettings = {}) => (await connectedTo(serverOf(settings))).client;

describe('a private tool', () => {
  test('is in no list, nor among the hints of other tools', async () => {
    const client = await clientOf();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['add-note', 'fail-now']);
    expect(tools.map(({ _meta }) => _meta?.['stepwright/hints'])).toEqual([
      { category: 'notes' },
      { next: ['add-note'] },
    ]);
  });

  test('is unknown to tools/call, and never suggested', async () => {
    const client = await clientOf();
    const called = await refusal(client.callTool({ name: 'charge-card', arguments: { amount: 1 } }));
    expect(called).toMatchObject({ code: -32602, message: "MCP error -32602: Unknown tool 'charge-card'" });
    expect(await refusal(client.callTool({ name: 'charge-cart', arguments: {} }))).toMatchObject({
      message: "MCP error -32602: Unknown tool 'charge-cart'",
    });
  });

  test('is called by steps of workflows', async () => {
    const client = await clientOf({ workflows: [charge] });
    const answer = await client.callTool({ name: 'w_charge', arguments: { amount: 3 } });
    expect(answer.structuredContent).toEqual({ result: { paid: 3 } });
  });

  test('is not a handle of a prompt', async () => {
    const bad = simplePrompt('bad', () => [user(prompt`Use ${ChargeCard}`)]);
    const near = simplePrompt('near', () => [user(prompt`Use ${ChargeCart}`)]);
    const client = await clientOf({ prompts: [bad, near] });
    expect(await refusal(client.getPrompt({ name: 'bad' }))).toMatchObject({
      data: { code: 'E_PROMPT_HANDLE' },
      message:
        "MCP error -32603: Prompt 'bad' failed: it names the tool 'charge-card', which only steps of workflows may call: " +
        "name a workflow that calls it, or leave out `visibility: 'workflow'`",
    });
    expect(String((await refusal(client.getPrompt({ name: 'near' }))).message)).not.toContain('charge-card');
  });
});

describe('a hand-off', () => {
  test('lists the tool of the workflow where a call that remains is private', async () => {
    const client = await clientOf({ workflows: [pay('pay', ['prompt', 'tool'])] });
    const result = await client.getPrompt({ name: 'pay', arguments: { amount: '5' } });
    expect(result._meta?.calls).toEqual([
      {
        step: 'pay',
        tool: 'w_pay',
        arguments: { amount: 5 },
        note: "Only the workflow can make the calls that remain: it starts from the beginning, and makes these calls again: 'note'.",
      },
    ]);
    expect(textsOf(result).at(-1)).toContain('1. Call w_pay with {"amount":5}');
    expect(textsOf(result).at(-1)).not.toContain('charge-card');
  });

  test('names the prompt of a workflow that is no tool', async () => {
    const client = await clientOf({ workflows: [pay('pay', ['prompt'])] });
    const result = await client.getPrompt({ name: 'pay', arguments: { amount: '5' } });
    expect(result._meta?.calls).toEqual([]);
    const text = textsOf(result).at(-1);
    expect(text).toContain("The user can run the prompt 'pay' again. Only the workflow can");
    expect(text).not.toContain('charge-card');
  });

  test('does not suggest the private tool that failed', async () => {
    const client = await clientOf({ workflows: [charge] });
    const result = await client.getPrompt({ name: 'charge', arguments: { amount: '-1' } });
    expect(result._meta?.pause_reason).toEqual({
      type: 'toolError',
      failedStep: 'paid',
      error: 'no money',
      retryable: false,
      code: 'E_TOOL_ERROR',
    });
  });

  test('lists the calls of other tools as before', async () => {
    const open = sequential('note', 'note something', { expose: ['prompt'] })
      .step(step(FailNow).bind('risky'))
      .step(step(AddNote).bind('note'))
      .build();
    const client = await clientOf({ workflows: [open] });
    const { _meta } = await client.getPrompt({ name: 'note' });
    expect(_meta?.calls).toMatchObject([{ tool: 'add-note' }]);
  });
});

test('a prompt run with private calls goes on after its time is up', async () => {
  let begin: (signal: AbortSignal) => void = () => {};
  const begun = new Promise<AbortSignal>((resolve) => {
    begin = resolve;
  });
  let end: (result: { paid: number }) => void = () => {};
  const ended = new Promise<{ paid: number }>((resolve) => {
    end = resolve;
  });
  @Tool({ name: 'settle', description: 'Settles', visibility: 'workflow' })
  class Settle {
    execute(_input: object, { signal }: ToolContext) {
      begin(signal);
      return ended;
    }
  }
  const slow = sequential('slow', 'settle', { expose: ['prompt'] })
    .step(step(Settle).bind('paid'))
    .returns(fromStep('paid'))
    .build();
  const server = createServer(registryOf({ tools: [{ class: Settle, input: object }] }), {
    workflows: [slow],
    promptTimeoutMs: 1,
  });
  const { client } = await connectedTo(server);
  const { _meta } = await client.getPrompt({ name: 'slow' });
  expect(_meta).toMatchObject({ status: 'running', calls: [] });
  expect((await begun).aborted).toBe(false);
  end({ paid: 1 });
  const status = { name: 'get_workflow_status', arguments: { workflow_id: String(_meta?.workflow_id) } };
  await expect
    .poll(async () => (await client.callTool(status)).structuredContent)
    .toMatchObject({ status: 'completed', result: { paid: 1 } });
});

test('a side effect that only a private tool undoes is named without a call', async () => {
  const two = { kind: 'dict', entries: [{ key: 'amount', value: lit(2) }] } as const;
  const branch = (id: string, node: Node) => ({ id, body: { nodes: [node], value: lit(null) } });
  const both: Node = {
    kind: 'parallel',
    id: 'both',
    after: [],
    join: 'none_failed',
    executor: 'server',
    onPartialFailure: 'rollback',
    concurrency: 1,
    branches: [
      branch(
        'paid',
        call(
          'charged',
          'charge-card',
          { amount: lit(2) },
          { compensate: { tool: 'refund-card', input: two } },
        ),
      ),
      branch('luck', call('risky', 'fail-now')),
    ],
  };
  const { graph } = built([workflow('both-of-them', [both])])[0] ?? {};
  const { client } = await connectedTo(serverOf({ workflows: graph === undefined ? [] : [{ graph }] }));
  const answer = await client.callTool({ name: 'w_both-of-them', arguments: {} });
  expect(answer.structuredContent).toMatchObject({ error: { not_undone: [{ step: 'charged' }] } });
  expect(JSON.stringify(answer.content)).toContain('no tool is known to undo it');
});
