import { expect, test } from 'vitest';
import { registry } from '../../../examples/travel/generated/travel.registry.js';
import { createServer } from '../../../src/runtime/index.js';
import type { UntypedFactories } from '../../../src/runtime/tools/instances.js';

// Nothing is called: a factory that is asked for an instance fails the test.
const refuse = () => {
  throw new Error('a tool was called');
};
const factories: UntypedFactories = {
  tools: Object.fromEntries(Object.keys(registry.tools).map((name) => [name, refuse])),
};
const serverWith = (options: object) => createServer(registry, { ...factories, ...options } as never);
const request = { signal: new AbortController().signal } as never;
const plan = async (server: ReturnType<typeof serverWith>, input: object) =>
  server.callTool('_plan', input as Readonly<Record<string, unknown>>, request);

test('a server has no tool _plan unless it is asked for', async () => {
  const server = serverWith({});
  expect(server.listTools().tools.some(({ name }) => name === '_plan')).toBe(false);
  await expect(plan(server, { goal: 'x' })).rejects.toThrow(/_plan/);
});

test('a goal that workflows fit gives them with their parameters', async () => {
  const server = serverWith({ planTool: true });
  expect(server.listTools().tools.map(({ name }) => name)).toContain('_plan');
  const { structuredContent } = await plan(server, { goal: 'check out my cart' });
  expect(structuredContent).toMatchObject({
    workflows: [{ workflow: 'checkout', tool: 'w_checkout', parameters: [{ name: 'cart_id' }, {}, {}] }],
    steps: [],
  });
});

test('a goal that no workflow fits gives the calls that may lead to it', async () => {
  const { structuredContent } = await plan(serverWith({ planTool: true }), { goal: 'waitlist' });
  const { workflows, steps } = structuredContent as { workflows: []; steps: { tool: string }[] };
  expect(workflows).toEqual([]);
  expect(steps.map(({ tool }) => tool)).toEqual(['search_flights', 'check_availability', 'add_to_waitlist']);
});

test.each([
  {},
  { goal: '' },
  { goal: ' ' },
  { goal: 'x'.repeat(2_001) },
  { goal: 1 },
  { goal: 'x', more: 1 },
])('refuses %j', async (input) => {
  expect(await plan(serverWith({ planTool: true }), input)).toMatchObject({ isError: true });
});

test('a registry with a tool of this name cannot have it', () => {
  const tools = { ...registry.tools, _plan: registry.tools.search_flights };
  expect(() =>
    createServer({ ...registry, tools } as never, { ...factories, planTool: true } as never),
  ).toThrow();
});
