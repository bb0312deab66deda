import { simplePrompt } from 'stepwright';
import { createServer, ProtocolFault, RegistrationError } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Tool } from '../../../src/decorators/tool.js';
import type { JsonSchema } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { dict, input, node, ref } from './fixture/graph.js';
import { registryOf } from './fixture/registry-of.js';

const request = { signal: new AbortController().signal, requestId: 'r1', progress: () => {} };
/** A pattern that engines which go back try in 2^40 ways on this text. */
const evil = '^(a+)+$';
const hostile = `${'a'.repeat(40)}!`;

@Tool({ name: 'plain', description: 'Has no schema of its own' })
class Plain {
  execute({ text }: { text: string }): string {
    return text;
  }
}

@Tool({ name: 'own', description: 'Has one', input: z.object({ for: z.iso.duration() }) })
class Own {
  execute(given: { for: string }): string {
    return given.for;
  }
}

const text = (pattern: string): JsonSchema => ({ type: 'string', pattern });
const closed = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
});
const { $schema: _dialect, ...ownSchema } = z.toJSONSchema(z.object({ for: z.iso.duration() }));

const registryWith = (pattern: string) =>
  registryOf({
    tools: [
      { class: Plain, input: closed({ text: text(pattern) }) },
      { class: Own, input: ownSchema as JsonSchema },
    ],
  });

const flow = (pattern: string): { graph: Graph } => ({
  graph: {
    graphVersion: 1,
    name: 'flow',
    description: 'do it',
    inputs: [input('text', 'What', { schema: text(pattern) })],
    instructions: [],
    nodes: [{ ...node('a'), kind: 'call', tool: 'plain', input: dict({ text: ref('inputs', 'text') }) }],
  },
});

test('a hostile text does not keep the server from its work', async () => {
  const server = createServer(registryWith(evil), {
    workflows: [flow(evil)],
    prompts: [simplePrompt('p', () => [])],
  });
  const refused = await server.getPrompt('flow', { text: hostile }, request).catch((fault: unknown) => fault);
  expect(refused).toBeInstanceOf(ProtocolFault);
  expect(refused).toMatchObject({ code: -32602, message: expect.stringContaining('must match pattern') });
  expect(await server.callTool('plain', { text: hostile }, request)).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('must match pattern "^(a+)+$"') }],
  });
  expect(await server.callTool('plain', { text: 'aaa' }, request)).toMatchObject({
    content: [{ text: 'aaa' }],
  });
});

test('a pattern of a built workflow that would take longer is refused when the server starts', () => {
  const start = () => createServer(registryWith('a'), { workflows: [flow('(a)\\1')] });
  expect(start).toThrow(RegistrationError);
  expect(start).toThrow(
    /workflow `flow`: the schema of argument `text` at `\/pattern` cannot be matched in linear time/,
  );
});

test('a pattern of a tool that would take longer fails its calls, and is logged', async () => {
  const logged: string[] = [];
  const server = createServer(registryWith('(?!b)'), { log: (entry) => logged.push(entry) });
  const result = await server.callTool('plain', { text: 'a' }, request);
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result._meta)).toContain('"E_SCHEMA_INVALID"');
  expect(logged).toEqual([
    expect.stringMatching(
      /^the input schema of `plain` cannot be compiled: the pattern "\(\?!b\)" cannot be matched in linear time/,
    ),
  ]);
});

test('the patterns of an own schema are its own affair', async () => {
  const server = createServer(registryWith('a'));
  expect(await server.callTool('own', { for: 'P1D' }, request)).toMatchObject({ content: [{ text: 'P1D' }] });
  expect(await server.callTool('own', { for: 'P1DT' }, request)).toMatchObject({ isError: true });
});
