import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Tool, type ToolContext } from 'stepwright';
import { createServer, type Elicit, type Middleware } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Json, JsonObject } from '../../../src/graph/json.js';
import type { Node } from '../../../src/graph/kinds/node.js';
import type { Graph } from '../../../src/graph/model.js';
import { MASKED } from '../../../src/graph/printable-text.js';
import {
  call,
  compute,
  error,
  graph,
  input,
  step,
  stop,
  text,
} from '../../../src/runtime/engine/graph.fixture.js';
import { dryRun } from '../../../src/runtime/runs/operate/dry-run.js';
import { readArguments } from '../../../src/runtime/server/catalogue/arguments.js';
import { UpstreamServers } from '../../../src/runtime/upstream/servers.js';
import { isNightly } from '../../nightly.js';
import { SURFACES, type Surface } from '../../surfaces.js';
import { registryOf } from './fixture/registry-of.js';

const string = { type: 'string' } as const;
const strict = (...names: string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, string])),
  required: names,
});

const json = (value: string): string => JSON.stringify(value).slice(1, -1);

/** A text in each encoding that masks know. */
function encodedIn(value: string): string[] {
  return [
    encodeURIComponent(value),
    new URLSearchParams({ key: value }).toString(),
    encodeURIComponent(encodeURIComponent(value)),
    json(json(value)),
    json(json(json(value))),
    encodeURIComponent(json(value)),
    ...['', 'u:', 'u'].map((before) => Buffer.from(`${before}${value}:`).toString('base64')),
  ];
}

/** The inputs that tools received. */
let received: Json[] = [];

@Tool({ name: 'echo', description: 'Repeats a text' })
class Echo {
  execute({ text: said }: { text: string }, context: ToolContext) {
    received.push(said);
    context.progress(1, 2, `working on ${said}`);
    context.log('info', `working on ${said}`);
    context.progress(2, 2, `working ${encodedIn(said).join(', ')}`);
    context.log('info', encodedIn(said));
    return { encoded: encodedIn(said), said: `got ${said}!`, [`key-${said}`]: [said], size: said.length };
  }
}

const tokens: Readonly<Record<string, string>> = { short: '§¤', long: '§¤§¤§¤' };

@Tool({ name: 'mint', description: 'Makes a token' })
class Mint {
  execute({ text: size }: { text: string }) {
    return { token: tokens[size] ?? '', made: size };
  }
}

@Tool({ name: 'unlock', description: 'Opens', secret: ['pin'] })
class Unlock {
  execute({ pin, note }: { pin: string; note: string }) {
    received.push(pin);
    return { door: `open for ${pin}`, note };
  }
}

@Tool({ name: 'lock', description: 'Closes', secret: ['pin'] })
class Lock {
  execute({ pin }: { pin: string; note: string }): never {
    const message = `cannot lock with ${pin}, ${encodedIn(pin).join(', ')}`;
    const error = new Error(message, { cause: new Error(`cause ${pin}, ${encodedIn(pin).join(', ')}`) });
    throw Object.assign(error, { code: `E_${pin}` });
  }
}

@Tool({ name: 'count', description: 'Counts', secret: ['pin'] })
class Count {
  execute({ pin }: { pin: string }) {
    return { length: pin.length };
  }
}

const registry = registryOf({
  tools: [
    { class: Echo, input: strict('text') },
    { class: Mint, input: strict('text') },
    { class: Unlock, input: strict('pin', 'note'), output: strict('door', 'note') },
    { class: Lock, input: strict('pin', 'note') },
    {
      class: Count,
      input: strict('pin'),
      output: { type: 'object', properties: { length: { type: 'integer' } }, required: ['length'] },
    },
  ],
});

const secret = {
  name: 'secret',
  description: 'Secret',
  schema: string,
  required: true,
  secret: true,
} as const;
const bearer = compute('bearer', text('Bearer ', input('secret')));

function ask(message: Expr, options?: Expr): Node {
  const base = {
    kind: 'ask',
    id: 'question',
    after: ['first'],
    join: 'none_failed',
    executor: 'server',
  } as const;
  return options === undefined
    ? { ...base, mode: 'text', message }
    : { ...base, mode: 'choice', message, options };
}

const said = call('first', { text: input('secret') }, { tool: 'echo' });
const again = call('again', { text: step('first', 'said') }, { tool: 'echo', after: ['first'] });
const opened = call(
  'opened',
  { pin: input('secret'), note: step('bearer') },
  { tool: 'unlock', after: ['again', 'bearer'] },
);

const flow = (name: string, nodes: readonly Node[], more: Partial<Graph> = {}): Graph =>
  graph([...nodes], { name, inputs: [secret], expose: ['prompt', 'tool'], ...more });

const workflows: readonly Graph[] = [
  flow('ends', [said, again, bearer, opened], {
    returns: {
      kind: 'dict',
      entries: [
        { key: 'first', value: step('first') },
        { key: 'door', value: step('opened', 'door') },
        { key: 'bearer', value: step('bearer') },
        { key: 'plain', value: { kind: 'literal', value: 'plain' } },
      ],
    },
  }),
  flow('fails', [
    said,
    again,
    bearer,
    call(
      'locked',
      { pin: step('bearer'), note: input('secret') },
      { tool: 'lock', after: ['again', 'bearer'] },
    ),
  ]),
  flow('stops', [
    said,
    {
      ...{ kind: 'error', id: 'stop', after: ['first'], join: 'none_failed', executor: 'server' },
      message: text('not with ', input('secret'), ' today'),
    } as Node,
  ]),
  flow('gives-up', [
    call(
      'locked',
      { pin: input('secret'), note: input('secret') },
      { tool: 'lock', onError: { fallbackNode: 'sorry' } },
    ),
    stop('sorry', { kind: 'text', style: 'js', parts: [error('message'), ' with ', input('secret')] }),
  ]),
  flow('asks', [said, ask(text('Is ', input('secret'), ' right?'))]),
  flow('chooses', [
    said,
    ask(text('Which?'), {
      kind: 'list',
      items: [{ value: input('secret') }, { value: text('or ', input('secret')) }, { value: text('none') }],
    }),
  ]),
];

type Shown = Readonly<Record<Surface, unknown[]>>;

/** Everything that is shown of runs, calls and connections with a secret. */
async function shownWith(value: string): Promise<{ shown: Shown; values: Json[] }> {
  received = [];
  const surfaces = Object.keys(SURFACES) as Surface[];
  const shown = Object.fromEntries(surfaces.map((surface) => [surface, []])) as unknown as Shown;
  const watch: Middleware = {
    name: 'watch',
    onRequest: ({ shownInput }) => void shown.middleware.push(shownInput),
    onResponse: (_call, { shownValue }) => void shown.middleware.push(shownValue),
    onError: (_call, failure) => void shown.middleware.push(failure),
  };
  const server = createServer(registry, {
    workflows: workflows.map((each) => ({ graph: each })),
    middleware: [watch],
    log: (line) => shown.log.push(line),
  });
  const log = (...message: unknown[]): void => void shown.message.push(message);
  const elicit: Elicit = async (question) => {
    shown.question.push(question);
    return { action: 'decline' };
  };
  const request = {
    signal: new AbortController().signal,
    requestId: '1',
    local: true,
    progress: (...report: unknown[]) => void shown.progress.push(report),
    peer: { log },
  };
  const answer = async (name: string, given: JsonObject, more: object = {}): Promise<JsonObject> => {
    const result = await server.callTool(name, given, { ...request, ...more });
    shown[STATUS_TOOLS.has(name) ? 'status' : 'result'].push(result);
    return (result.structuredContent ?? {}) as JsonObject;
  };
  for (const workflow of workflows) {
    const { name } = workflow;
    shown.conversation.push(await server.getPrompt(name, { secret: value }, request));
    const { workflow_id: id } = await answer(`w_${name}`, { secret: value });
    await answer('list_workflows', {});
    shown.dryRun.push(
      await dryRun({ registry, graph: workflow, given: { secret: value }, stubs: {}, readArguments }),
    );
    if (typeof id !== 'string') continue;
    await answer('get_workflow_status', { workflow_id: id });
    await answer('submit_result', { workflow_id: id, result: 7 });
    await answer('submit_result', {
      workflow_id: id,
      error: { code: 'E_NO', message: value.length < 4 ? 'no' : `no ${value}?` },
    });
    await answer('get_workflow_status', { workflow_id: id });
    shown.status.push(await server.readResource(`workflow://runs/${id}`, request));
    await answer(`w_${name}`, { secret: value }, { peer: { elicit, log } });
  }
  for (const name of ['unlock', 'lock']) await answer(name, { pin: value, note: `note` });
  await answer('unlock', { pin: value });
  await answer('count', { pin: value });
  shown.upstream.push(...(await upstreamWith(value)));
  return { shown, values: received };
}

const STATUS_TOOLS: ReadonlySet<string> = new Set(['get_workflow_status', 'list_workflows']);

/** What is shown of an upstream server that repeats a variable of its configuration. */
async function upstreamWith(value: string): Promise<unknown[]> {
  const shown: unknown[] = [];
  const servers = new UpstreamServers(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as a configuration names a variable
    { desk: { url: 'https://example.com', headers: { authorization: 'Bearer ${TOKEN}' } } },
    {
      open: async (_name, _server, say) => {
        say(`started with ${value}, ${encodedIn(value).join(', ')}`);
        throw new Error(`refused ${value}, ${encodedIn(value).join(', ')}`);
      },
      env: { TOKEN: value },
      log: (line) => shown.push(line),
    },
  );
  const lost = await servers.list('desk', new AbortController().signal).catch((fault: unknown) => fault);
  return [...shown, (lost as Error).message];
}

/** Every text and key in what was shown. */
function textsIn(shown: unknown): string[] {
  if (typeof shown === 'string') return [shown];
  if (typeof shown !== 'object' || shown === null) return [];
  return Object.entries(shown).flatMap(([key, member]) => [key, ...textsIn(member)]);
}

describe('a secret', () => {
  const short = fc.string({ unit: fc.constantFrom('§', '¤', 'Ω'), minLength: 1, maxLength: 3 });
  const long = fc
    .tuple(
      fc.constantFrom('§', '¤', 'Ω'),
      fc.string({ unit: fc.constantFrom('§', 'a', '"', '\n', '7', ' '), minLength: 5, maxLength: 30 }),
    )
    .map(([first, rest]) => `${first}${rest}Ω`);

  test('is on no surface, and reaches tools as it is', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(short, long), async (value) => {
        const { shown, values } = await shownWith(value);
        expect(values).toContain(value);
        const inner = encodedIn(value).map((text) => text.slice(4, -4));
        const encoded = inner.filter((text) => value.length >= 4 && text.length >= 4);
        const forms = [value, json(value), value.replace(/\s+/g, ' '), ...encoded];
        for (const [surface, values] of Object.entries(shown)) {
          expect(values.length, surface).toBeGreaterThan(0);
          for (const each of textsIn(values)) {
            for (const form of forms) expect(each.includes(form), `${surface}: ${each}`).toBe(false);
          }
        }
      }),
      { numRuns: isNightly ? 12 : 1, seed: 7 },
    );
  });

  test('that is short hides what a call with it gives back, and nothing of other calls', async () => {
    const server = createServer(registry, {
      workflows: workflows.map((each) => ({ graph: each })),
      log: () => {},
    });
    const request = { signal: new AbortController().signal, requestId: '1', local: true, progress() {} };
    const direct = await server.callTool('unlock', { pin: '123', note: 'at 123' }, request);
    expect(direct.structuredContent).toEqual({ door: MASKED, note: MASKED });
    const longer = await server.callTool('unlock', { pin: '12345', note: 'n' }, request);
    expect(longer.structuredContent).toEqual({ door: `open for ${MASKED}`, note: 'n' });
    const run = await server.callTool('w_ends', { secret: '123' }, request);
    expect(run.structuredContent).toMatchObject({
      first: MASKED,
      bearer: MASKED,
      door: MASKED,
      plain: 'plain',
    });
  });

  test('is an answer that is given to a secret input, from the moment it is there', async () => {
    const shown: unknown[] = [];
    const server = createServer(registry, {
      workflows: [
        {
          graph: flow(
            'enters',
            [
              { ...ask(text('PIN?')), after: [] },
              call(
                'said',
                { text: text('It is ', step('question', 'input')) },
                { tool: 'echo', after: ['question'] },
              ),
              { ...ask(text('Sure of ', step('question', 'input'), '?')), id: 'sure', after: ['said'] },
              call(
                'opened',
                { pin: step('question', 'input'), note: text('n') },
                { tool: 'unlock', after: ['sure'] },
              ),
            ],
            { inputs: [], returns: step('said') },
          ),
        },
      ],
      middleware: [{ name: 'watch', onRequest: ({ shownInput }) => void shown.push(shownInput) }],
      log: (line) => shown.push(line),
    });
    const request = { signal: new AbortController().signal, requestId: '1', local: true, progress() {} };
    for (const pin of ['§¤', '§¤§¤§¤']) {
      const begun = await server.callTool('w_enters', {}, request);
      const id = (begun.structuredContent as JsonObject).workflow_id as string;
      for (const result of [pin, 'yes']) {
        shown.push(await server.callTool('submit_result', { workflow_id: id, result }, request));
        shown.push(await server.callTool('get_workflow_status', { workflow_id: id }, request));
      }
      expect(received).toContain(pin);
      expect(textsIn(shown).filter((each) => each.includes('§'))).toEqual([]);
    }
  });

  test('is what a call gave that is given to a secret input, and nothing beside it', async () => {
    for (const size of ['short', 'long']) {
      const shown: unknown[] = [];
      const nodes = [
        call('got', { text: input('size') }, { tool: 'mint' }),
        call('told', { text: text('It is ', step('got', 'token')) }, { tool: 'echo', after: ['got'] }),
        { ...ask(text('Sure of ', step('got', 'token'), '?')), after: ['told'] },
        call(
          'opened',
          { pin: step('got', 'token'), note: text('n') },
          { tool: 'unlock', after: ['question'] },
        ),
      ];
      const inputs = [{ ...secret, name: 'size', secret: false }];
      const server = createServer(registry, {
        workflows: [{ graph: flow('passes-on', nodes, { inputs, returns: step('told') }) }],
        middleware: [{ name: 'watch', onRequest: ({ shownInput }) => void shown.push(shownInput) }],
        log: (line) => shown.push(line),
      });
      const request = { signal: new AbortController().signal, requestId: '1', local: true, progress() {} };
      shown.push(await server.getPrompt('passes-on', { size }, request));
      expect(textsIn(shown).join()).toContain(`"made": "${size}"`);
      const begun = await server.callTool('w_passes-on', { size }, request);
      const id = (begun.structuredContent as JsonObject).workflow_id as string;
      shown.push(begun, await server.callTool('submit_result', { workflow_id: id, result: 'yes' }, request));
      expect(received).toContain(`It is ${tokens[size]}`);
      expect(textsIn(shown).filter((each) => each.includes('§'))).toEqual([]);
    }
  });

  test('that is short hides the code of an error that was thrown with it', async () => {
    const server = createServer(registry, { log: () => {} });
    const request = { signal: new AbortController().signal, requestId: '1', progress() {} };
    const result = await server.callTool('lock', { pin: '42', note: '' }, request);
    expect(JSON.stringify(result)).not.toContain('42');
    expect(result).toMatchObject({ _meta: { 'stepwright/failure': { code: 'E_TOOL_ERROR' } } });
    const longer = await server.callTool('lock', { pin: '4211', note: '' }, request);
    expect(JSON.stringify(longer)).not.toContain('4211');
  });

  test('that the output schema of a tool leaves no room to mask keeps the result back', async () => {
    const server = createServer(registry, { log: () => {} });
    const request = { signal: new AbortController().signal, requestId: '1', progress() {} };
    const result = await server.callTool('count', { pin: '123' }, request);
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Tool 'count' succeeded") }],
      _meta: { 'stepwright/failure': { code: 'E_RESULT_SECRET' } },
    });
    const longer = await server.callTool('count', { pin: '12345' }, request);
    expect(longer.structuredContent).toEqual({ length: 5 });
  });
});

test('the reference lists the surfaces', () => {
  const page = readFileSync(new URL('../../../docs/reference/decorators.md', import.meta.url), 'utf8');
  const [, rows = ''] = /\n\| surface \|\n\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  expect(rows.trim().split('\n')).toEqual(Object.values(SURFACES).map((words) => `| ${words} |`));
});
