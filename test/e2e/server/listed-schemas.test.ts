import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { Tool } from 'stepwright';
import { createServer, RegistrationError } from 'stepwright/runtime';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../../../src/graph/json.js';
import { listedSchemaFaults } from '../../../src/runtime/server/catalogue/registration.js';
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
