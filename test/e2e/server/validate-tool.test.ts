import { expect, test } from 'vitest';
import { registry } from '../../../examples/travel/generated/travel.registry.js';
import { applyEdits } from '../../../src/cli/commands/validate.js';
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
const check = (server: ReturnType<typeof serverWith>, input: object) =>
  server.callTool('validate_workflow', input as Readonly<Record<string, unknown>>, request);

interface Checked {
  readonly valid: boolean;
  readonly workflows: readonly string[];
  readonly diagnostics: readonly {
    readonly code: string;
    readonly edit?: { line: number; column: number; endLine: number; endColumn: number; text: string };
  }[];
}

const FAULTY = `name: greet
version: 1.0
initial_state: { user: Ann }
steps:
  - id: hello
    type: promt
    mesage: Hello {{ state.user }}
    prompt_type: info
`;

test('a server has no tool validate_workflow unless it is asked for', async () => {
  const server = serverWith({});
  expect(server.listTools().tools.some(({ name }) => name === 'validate_workflow')).toBe(false);
  await expect(check(server, { text: FAULTY })).rejects.toThrow(/validate_workflow/);
});

test('a client can repair a file with the edits', { timeout: 120_000 }, async () => {
  const server = serverWith({ validateTool: true });
  expect(server.listTools().tools.map(({ name }) => name)).toContain('validate_workflow');
  const { structuredContent } = await check(server, { text: FAULTY });
  const { diagnostics, valid, workflows } = structuredContent as unknown as Checked;
  expect({ valid, workflows, codes: diagnostics.map(({ code }) => code) }).toEqual({
    valid: false,
    workflows: [],
    codes: ['SW5009', 'SW5021'],
  });
  const edits = diagnostics.flatMap(({ code, edit }) => {
    if (edit === undefined) return [];
    const span = [edit.line, edit.column, edit.endLine, edit.endColumn];
    return [{ code, place: { file: 'f', span }, edit: { span, text: edit.text } }];
  });
  const { text } = applyEdits(FAULTY, edits as never);
  expect(text).toBe(FAULTY.replace('1.0', '"1.0.0"').replace('promt', 'prompt'));
});

test.each([{}, { text: '' }, { text: 1 }, { text: 'x', format: 'toml' }, { text: 'x', more: 1 }])(
  'refuses %j',
  async (input) => {
    expect(await check(serverWith({ validateTool: true }), input)).toMatchObject({ isError: true });
  },
);

test('a registry with a tool of this name cannot have it', () => {
  const tools = { ...registry.tools, validate_workflow: registry.tools.search_flights };
  expect(() =>
    createServer({ ...registry, tools } as never, { ...factories, validateTool: true } as never),
  ).toThrow();
});
