import { Tool, type ToolContext } from 'stepwright';
import {
  collect,
  constant,
  fromStep,
  promptArg,
  type SequentialBuilder,
  sequential,
  step,
} from 'stepwright/builder';
import { createServer, type Middleware } from 'stepwright/runtime';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../../src/graph/json.js';
import { connectedTo } from './connected.js';
import { registryOf } from './fixture/registry-of.js';

/** What happened, in order. */
const events: string[] = [];
/** The idempotency keys that tools received. */
const keys: (string | undefined)[] = [];

beforeEach(() => {
  events.length = 0;
  keys.length = 0;
});

@Tool({ name: 'say', description: 'Says a text', annotations: { idempotentHint: true } })
class Say {
  execute({ text }: { text: string }, { idempotencyKey }: ToolContext) {
    events.push(`tool ${text}`);
    keys.push(idempotencyKey);
    return { said: text };
  }
}

@Tool({ name: 'falter', description: 'Fails', annotations: { idempotentHint: true } })
class Falter {
  execute(_input: { text: string }, { idempotencyKey }: ToolContext): never {
    events.push('tool');
    keys.push(idempotencyKey);
    throw Object.assign(new Error('busy'), { code: 'E_BUSY' });
  }
}

@Tool({ name: 'flood', description: 'Gives too much' })
class Flood {
  execute() {
    events.push('tool');
    return { text: 'x'.repeat(5_000_000) };
  }
}

const input: JsonSchema = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 5 } },
  required: ['text'],
  additionalProperties: false,
};
const registry = registryOf({
  tools: [
    { class: Say, input },
    { class: Falter, input },
    { class: Flood, input: { type: 'object' } },
  ],
});

/** How one call of a tool ended, by the way it was made. */
interface Ending {
  readonly ok: boolean;
  readonly code?: string;
  readonly shown: string;
}

interface Way {
  readonly name: string;
  call(
    tool: typeof Say | typeof Falter | typeof Flood,
    text: string,
    middleware: Middleware[],
  ): Promise<Ending>;
}

async function clientOf(middleware: readonly Middleware[], workflows: readonly SequentialBuilder[] = []) {
  const built = workflows.map((workflow) => workflow.build());
  const { client } = await connectedTo(createServer(registry, { middleware, workflows: built }));
  return client;
}

const toolNames = new Map<unknown, string>([
  [Say, 'say'],
  [Falter, 'falter'],
  [Flood, 'flood'],
]);

const ways: readonly Way[] = [
  {
    name: 'tools/call',
    async call(tool, text, middleware) {
      const client = await clientOf(middleware);
      const result = await client.callTool({ name: toolNames.get(tool) ?? '', arguments: { text } });
      const failure = result._meta?.['stepwright/failure'] as { code: string } | undefined;
      return {
        ok: result.isError !== true,
        ...(failure === undefined ? {} : { code: failure.code }),
        shown: JSON.stringify(result),
      };
    },
  },
  {
    name: 'a step of a workflow',
    async call(tool, text, middleware) {
      const called = step(tool as typeof Say)
        .arg('text', promptArg('text'))
        .bind('called');
      const client = await clientOf(middleware, [
        sequential('w', 'do it').argument('text', 'What', true).step(called).returns(fromStep('called')),
      ]);
      const trace = await client.getPrompt({ name: 'w', arguments: { text } });
      const { status, errors } = trace._meta as { status: string; errors: { code: string }[] };
      const [failure] = errors;
      return {
        ok: status === 'succeeded',
        ...(failure === undefined ? {} : { code: failure.code }),
        shown: JSON.stringify(trace),
      };
    },
  },
];

/** Records its calls. */
const watcher = (name: string, more: Partial<Middleware> = {}): Middleware => ({
  name,
  onRequest: ({ tool }) => void events.push(`${name} -> ${tool}`),
  onResponse: (_call, { value }) => void events.push(`${name} <- ${JSON.stringify(value)}`),
  onError: (_call, { code }) => void events.push(`${name} <- ${code}`),
  ...more,
});

const around = (more: Partial<Middleware> = {}) => [
  watcher('outer'),
  watcher('middle', more),
  watcher('inner'),
];

describe.each(ways)('by $name', ({ call }) => {
  test('middleware is asked from the outside in, and told from the inside out', async () => {
    expect(await call(Say, 'hi', around())).toMatchObject({ ok: true });
    expect(events).toEqual([
      'outer -> say',
      'middle -> say',
      'inner -> say',
      'tool hi',
      'inner <- {"said":"hi"}',
      'middle <- {"said":"hi"}',
      'outer <- {"said":"hi"}',
    ]);
  });

  test('of a failure as well', async () => {
    expect(await call(Falter, 'hi', around())).toMatchObject({ ok: false, code: 'E_BUSY' });
    expect(events.slice(3)).toEqual(['tool', 'inner <- E_BUSY', 'middle <- E_BUSY', 'outer <- E_BUSY']);
  });

  test('who refuses ends it there: those outside are told, those inside and the tool are not', async () => {
    const onRequest = () => {
      throw Object.assign(new Error('not now'), { code: 'E_LIMIT' });
    };
    expect(await call(Say, 'hi', around({ onRequest }))).toMatchObject({ ok: false, code: 'E_LIMIT' });
    expect(events).toEqual(['outer -> say', 'outer <- E_LIMIT']);
  });

  test('an input the schema refuses never reaches the tool, and is told as one', async () => {
    expect(await call(Say, 'too long', around())).toMatchObject({ ok: false, code: 'E_INPUT_INVALID' });
    expect(events.slice(3)).toEqual([
      'inner <- E_INPUT_INVALID',
      'middle <- E_INPUT_INVALID',
      'outer <- E_INPUT_INVALID',
    ]);
  });

  test('what middleware makes of the input is what is checked, and what the tool is given', async () => {
    const shorten: Partial<Middleware> = {
      onRequest: ({ input: given }) => ({ input: { ...given, text: String(given.text).slice(0, 3) } }),
    };
    expect(await call(Say, 'too long', around(shorten))).toMatchObject({ ok: true });
    expect(events).toContain('tool too');
  });

  test('a result of 5 MB is a failure that says so, and none of it is shown', async () => {
    const { shown, ...ending } = await call(Flood, 'hi', around());
    expect(ending).toEqual({ ok: false, code: 'E_RESULT_TOO_LARGE' });
    expect(shown).toContain('has at least 5000011 bytes, and 4194304 are allowed');
    expect(shown.length).toBeLessThan(5_000);
    expect(events.at(-1)).toBe('outer <- E_RESULT_TOO_LARGE');
  });
});

describe('the idempotency key', () => {
  const say = (binding: string) => step(Say).arg('text', constant(binding)).bind(binding);
  const falter = step(Falter).arg('text', constant('c')).bind('c').retry({ attempts: 3 });
  const workflow = sequential('w', 'do it')
    .step(say('a'))
    .step(say('b'))
    .step(falter)
    .errorStrategy(collect());

  test('is the same for each attempt of a step, and no other step or run has it', async () => {
    const client = await clientOf([], [workflow]);
    await client.getPrompt({ name: 'w' });
    await client.getPrompt({ name: 'w' });
    expect(keys).toHaveLength(10);
    expect(keys.every((key) => /^[0-9a-f]{64}$/.test(String(key)))).toBe(true);
    const [a, b, c, ...rest] = keys;
    expect(rest.slice(0, 2)).toEqual([c, c]);
    const [a2, b2, c2, ...last] = rest.slice(2);
    expect(last).toEqual([c2, c2]);
    expect(new Set([a, b, c, a2, b2, c2]).size).toBe(6);
  });

  test('is missing where a client calls by itself', async () => {
    await (await clientOf([])).callTool({ name: 'say', arguments: { text: 'hi' } });
    expect(keys).toEqual([undefined]);
  });
});

test('a refused input is not announced as a call, nor tried again, and the hand-off says what to correct', async () => {
  const asked: string[] = [];
  const refused = step(Say).arg('text', promptArg('text')).bind('a').retry({ attempts: 3 });
  const watch: Middleware = { name: 'watch', onRequest: ({ tool }) => void asked.push(tool) };
  const client = await clientOf(
    [watch],
    [sequential('w', 'do it').argument('text', 'What', true).step(refused)],
  );
  const trace = await client.getPrompt({ name: 'w', arguments: { text: 'too long' } });
  expect(asked).toEqual(['say']);
  expect(events).toEqual([]);
  expect(trace._meta).toMatchObject({
    status: 'failed',
    errors: [{ step: 'a', code: 'E_INPUT_INVALID', attempted: false }],
    calls: [{ step: 'a', tool: 'say', arguments: { text: 'too long' } }],
  });
  expect(JSON.stringify(trace.messages)).not.toContain("Calling tool 'say'");
});
