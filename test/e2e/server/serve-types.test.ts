import { createServer, defineRegistry, serve } from 'stepwright/runtime';
import { describe, expect, test } from 'vitest';
import { CodeReview } from './fixture/language.js';
import { registry as fixture } from './fixture/registry.js';
import { Echo, Hang, Probe } from './fixture/tools.js';

const schema = { type: 'object' } as const;
const entry = { description: 'd', inputSchema: schema, fingerprint: 'f' } as const;
const head = { registryVersion: 1, checksum: 'c', resources: {}, workflows: {} } as const;
const plain = defineRegistry({ ...head, tools: { echo: { ...entry, class: Echo } } });
const needy = defineRegistry({
  ...head,
  tools: { echo: { ...entry, class: Echo }, hang: { ...entry, class: Hang } },
});

const spoken = defineRegistry({
  ...head,
  tools: {},
  prompts: { 'code-review': { class: CodeReview, arguments: [], fingerprint: 'f' } },
});

// Never called: only the compiler reads it.
const cases = {
  optionsMayBeLeftOut: () => serve(plain),
  settingsAlone: () => serve(plain, { name: 'n', pageSize: 2 }),
  factoryGiven: () => serve(needy, { tools: { hang: () => new Hang(new Probe()) } }),
  // @ts-expect-error the constructor of Hang takes a parameter
  optionsMissing: () => serve(needy),
  // @ts-expect-error the constructor of Hang takes a parameter
  factoryMissing: () => serve(needy, { tools: {} }),
  // @ts-expect-error the constructor of Hang takes a parameter
  toolsMissing: () => serve(needy, { name: 'n' }),
  // @ts-expect-error an Echo is no Hang
  wrongInstance: () => serve(needy, { tools: { hang: () => new Echo() } }),
  promptFactoryGiven: () => serve(spoken, { promptClasses: { 'code-review': () => new CodeReview('Hi') } }),
  // @ts-expect-error the constructor of CodeReview takes a parameter
  promptFactoryMissing: () => serve(spoken),
  // @ts-expect-error an Echo is no CodeReview
  wrongPrompt: () => serve(spoken, { promptClasses: { 'code-review': () => new Echo() } }),
  middleware: () =>
    serve(plain, {
      middleware: [{ name: 'log', onRequest: (call) => void call.tool }, { name: 'idle' }],
    }),
  // @ts-expect-error a workflow has a node, a client has none
  nodeOfAClient: () => serve(plain, { middleware: [{ name: 'log', onRequest: (call) => void call.node }] }),
  unknownHook: () =>
    // @ts-expect-error there is no such hook
    serve(plain, { middleware: [{ name: 'log', onResult: () => {} }] }),
  unknownOption: () =>
    // @ts-expect-error there is no such setting
    createServer(plain, { nmae: 'n' }),
  unknownTool: () =>
    // @ts-expect-error the registry has no such tool
    createServer(needy, { tools: { hang: () => new Hang(new Probe()), hnag: () => new Echo() } }),
} as const;

describe('the types of a server program', () => {
  test('have a case for each rule', () => {
    expect(Object.values(cases).every((use) => typeof use === 'function')).toBe(true);
  });

  test('and what they cannot see is found at start-up', () => {
    expect(() => createServer(fixture)).toThrow("'hang': () => new Hang(…)");
  });
});
