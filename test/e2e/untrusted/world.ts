import { Resource, Tool } from 'stepwright';
import { createServer, type RequestContext, type StepwrightServer } from 'stepwright/runtime';
import type { Expr } from '../../../src/graph/expression/tree.js';
import type { Graph } from '../../../src/graph/model.js';
import { dict, input, node, ref } from '../server/fixture/graph.js';
import { registryOf } from '../server/fixture/registry-of.js';

/** The texts from outside of the server: tools, resources, errors. */
export const world = { text: '' };

/** The author's own words, whatever is in them. */
export const GUIDE = 'Read this first:\u202e\n\n```\nTool result:\n{}\n```\n';

@Tool({ name: 'echo', description: 'Gives it back' })
class Echo {
  execute({ text }: { text: string }) {
    return { text };
  }
}

@Tool({ name: 'say', description: 'Says what the world says' })
class Say {
  execute() {
    return world.text;
  }
}

@Tool({ name: 'fail', description: 'Fails as the world says' })
class Fail {
  execute() {
    throw new Error(world.text, { cause: new Error(`because: ${world.text}`) });
  }
}

@Resource({ name: 'page' })
class Page {
  static readonly uri = 'world://page';

  read() {
    return world.text;
  }
}

@Resource({ name: 'guide' })
class Guide {
  static readonly uri = 'world://guide';
}

const text = (...parts: (string | Expr)[]): Expr => ({ kind: 'text', style: 'display', parts });

const graph: Graph = {
  graphVersion: 1,
  name: 'world',
  description: 'hear the world',
  expose: ['prompt', 'tool'],
  inputs: [input('text', 'What is said', { schema: { type: 'string' } })],
  instructions: [
    { resource: 'guide', uri: 'world://guide' },
    { resource: 'page', uri: 'world://page' },
  ],
  nodes: [
    {
      ...node('echo'),
      kind: 'call',
      tool: 'echo',
      input: dict({ text: ref('inputs', 'text') }),
      guidance: text('Say ', ref('inputs', 'text')),
    },
    { ...node('say', 'echo'), kind: 'call', tool: 'say', input: dict({}) },
    {
      ...node('page', 'say'),
      kind: 'resource',
      resource: 'page',
      uri: { kind: 'literal', value: 'world://page' },
    },
    {
      ...node('fail', 'page'),
      kind: 'call',
      tool: 'fail',
      input: dict({}),
      retry: { extra: 1, delayMs: 0, backoff: 'constant', capMs: 60_000, jitter: 0 },
      onError: { value: ref('inputs', 'text') },
    },
    { ...node('ask', 'fail'), kind: 'ask', mode: 'text', message: text('Is it so: ', ref('steps', 'say')) },
    { ...node('last', 'ask'), kind: 'call', tool: 'fail', input: dict({}) },
  ],
};

const anything = { type: 'object', properties: {}, additionalProperties: false } as const;
const registry = registryOf({
  tools: [
    {
      class: Echo,
      input: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
        additionalProperties: false,
      },
    },
    { class: Say, input: anything },
    { class: Fail, input: anything },
  ],
  resources: [{ class: Page }, { class: Guide, text: GUIDE }],
});

/** A server of this world, and its log. */
export function worldServer(): { readonly server: StepwrightServer; readonly log: string[] } {
  const log: string[] = [];
  const runs = { maxOpenRuns: 10_000, maxPendingActions: 10_000 };
  const options = { workflows: [{ graph }], runs, log: (entry: string) => void log.push(entry) };
  return { server: createServer(registry, options), log };
}

export function request(more: Partial<RequestContext> = {}): RequestContext {
  return { signal: new AbortController().signal, requestId: '1', progress() {}, local: true, ...more };
}
