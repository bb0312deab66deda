import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { Tool } from 'stepwright';
import { createServer, RegistrationError } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import type { JsonObject, JsonSchema } from '../../../src/graph/json.js';
import { listedSchemaFaults } from '../../../src/runtime/server/catalogue/registration.js';
import { connectedTo, textOf } from './connected.js';
import { registryOf } from './fixture/registry-of.js';

@Tool({ name: 'rows', description: 'Lists the rows' })
class Rows {
  execute() {
    return ['a'];
  }
}

test('a registry that is made by hand is refused where a client would refuse the whole list', () => {
  const output: JsonSchema = { type: 'array', items: { type: 'string' } };
  const start = () =>
    createServer(registryOf({ tools: [{ class: Rows, input: { type: 'object' }, output }] }));
  expect(start).toThrow(RegistrationError);
  expect(start).toThrow('tool `rows`: its `outputSchema` at `/type` is "array"');
});

test.each<JsonSchema>([
  { type: 'object' },
  { type: 'object', properties: { a: {}, b: { type: 'string' } }, required: ['a'] },
  { type: 'object', properties: {}, required: [], additionalProperties: false, $defs: { x: true } },
  { type: 'object', properties: { a: true } },
  { type: 'object', properties: { a: null } },
  { type: 'object', properties: 'a' },
  { type: 'object', required: 'a' },
  { type: 'object', required: [1] },
  { type: ['object', 'null'] },
  { type: 'array' },
  { $ref: '#/$defs/a', $defs: { a: { type: 'object' } } },
  {},
])('refuses the schema %j exactly where the SDK does', (schema) => {
  const tool = { name: 'x', inputSchema: { type: 'object' } };
  const isFit = listedSchemaFaults(schema).length === 0;
  expect(ToolSchema.safeParse({ ...tool, inputSchema: schema }).success).toBe(isFit);
  expect(ToolSchema.safeParse({ ...tool, outputSchema: schema }).success).toBe(isFit);
});

@Tool({ name: 'read-note', description: 'Reads a note', listedSchema: 'flat' })
class ReadNote {
  execute(input: { by: 'id'; id: number } | { by: 'title'; title: string }) {
    return { by: input.by };
  }
}

test('a union that is listed flat has the fields of all forms, and checks calls by the union', async () => {
  const form = (properties: JsonObject): JsonObject => ({
    ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  });
  const [id, title] = [{ type: 'number' }, { type: 'string' }];
  const input: JsonSchema = {
    type: 'object',
    anyOf: [form({ by: { const: 'id' }, id }), form({ by: { const: 'title' }, title })],
  };
  const { client } = await connectedTo(createServer(registryOf({ tools: [{ class: ReadNote, input }] })));
  const { tools } = await client.listTools();
  expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([
    {
      type: 'object',
      properties: { by: { enum: ['id', 'title'] }, id, title },
      required: ['by'],
      additionalProperties: false,
    },
  ]);
  const call = async (args: Record<string, unknown>) => {
    const { isError = false, content } = await client.callTool({ name: 'read-note', arguments: args });
    return { isError, text: textOf((content as unknown[])[0]) };
  };
  expect(await call({ by: 'title', title: 'a' })).toEqual({ isError: false, text: '{"by":"title"}' });
  expect(await call({ by: 'id', title: 'a' })).toEqual({
    isError: true,
    text: expect.stringContaining('missing required `id`'),
  });
});
