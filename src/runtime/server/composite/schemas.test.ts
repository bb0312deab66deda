import { describe, expect, test } from 'vitest';
import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { call, chain, done, graph, lit, step } from '../../engine/graph.fixture.js';
import type { Envelope } from '../../runs/run/envelope.js';
import { toolResult } from './results.js';
import { ENVELOPE_SCHEMA } from './run-tools.js';
import { inputSchemaOf, outputShapeOf } from './served-workflows.js';

const schemas = new SchemaCompiler();
const booking: JsonSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const shapeOf = (of: Graph) =>
  outputShapeOf(of, {
    tools: new Map([['tool-book', { inputSchema: {}, outputSchema: booking }]]),
    resources: new Map(),
  });
const accepts = (schema: JsonSchema, value: Json) => schemas.check(schema, value).length === 0;

const completed = (result?: Json): Envelope => ({
  workflow_id: 'run-1',
  definition: { name: 'sample', hash: 'h' },
  status: 'completed',
  actions: [],
  ...(result === undefined ? {} : { result }),
});

test('the schema of an envelope takes a call that nothing says how to undo', () => {
  const remains = { not_undone: [{ step: 'seat' }] };
  expect(accepts(ENVELOPE_SCHEMA, { ...completed(), remains } as unknown as Json)).toBe(true);
});

describe('what a workflow gives', () => {
  test('an object is used as it is', () => {
    const { isWrapped, schema } = shapeOf(graph(chain(call('book'), done('out', step('book')))));
    expect(isWrapped).toBe(false);
    expect(schema.type).toBe('object');
    expect(accepts(schema, { id: 'b' })).toBe(true);
    expect(accepts(schema, { result: { id: 'b' } })).toBe(false);
    expect(accepts(schema, { ...completed() } as unknown as Json)).toBe(true);
  });

  test.each([
    ['a text', lit('x'), 'x', 7],
    ['a list', lit([1]), [1], 'x'],
    ['what is not known', step('other'), null, undefined],
  ] as const)('%s is wrapped', (_, value, good, bad) => {
    const { isWrapped, schema } = shapeOf(graph(chain(call('other'), done('out', value))));
    expect(isWrapped).toBe(true);
    expect(accepts(schema, { result: good })).toBe(true);
    if (bad !== undefined) expect(accepts(schema, { result: bad })).toBe(false);
  });

  test.each([
    ['an object of a step that says nothing of it, as in YAML over a tool without schema', { id: 'b' }],
    ['a list', [1, { id: 'b' }]],
    ['null', null],
    ['a text', 'x'],
  ])('its text agrees with the structured content: %s', (_, value: Json) => {
    const shape = shapeOf(graph(chain(call('other'), done('out', step('other')))));
    const { content, structuredContent } = toolResult(completed(value), shape, schemas, () => {});
    const [{ text }] = content as unknown as [{ readonly text: string }];
    expect(structuredContent).toEqual({ result: value });
    expect(typeof value === 'string' ? { result: text } : JSON.parse(text)).toEqual(structuredContent);
  });

  test('a result that is absent, or does not fit after all, is handed out in the envelope', () => {
    const shape = shapeOf(graph(chain(call('book'), done('out', step('book')))));
    let unfit = 0;
    const given = (envelope: Envelope) =>
      toolResult(envelope, shape, schemas, () => (unfit += 1)).structuredContent;
    expect(given(completed({ id: 'b' }))).toEqual({ id: 'b' });
    expect(given(completed())).toEqual(completed());
    expect(unfit).toBe(0);
    for (const wrong of [{ id: 7 }, 'text', null]) expect(given(completed(wrong))).toEqual(completed(wrong));
    expect(unfit).toBe(3);
  });
});

describe('what a workflow takes', () => {
  test('keeps references, and says nothing of what a secret is by default', () => {
    const list: JsonSchema = {
      $ref: '#/$defs/list',
      $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
    };
    const schema = inputSchemaOf({
      inputs: [
        { name: 'list', description: '', schema: list, required: true, title: 'List' },
        {
          name: 'key',
          description: 'Key',
          schema: { type: 'string' },
          required: false,
          default: 'k',
          secret: true,
        },
      ],
    });
    expect(accepts(schema, { list: [[], [[]]] })).toBe(true);
    expect(accepts(schema, { list: [1] })).toBe(false);
    expect(accepts(schema, { list: [], other: 1 })).toBe(false);
    expect(schema).toMatchObject({
      properties: { list: { title: 'List' }, key: { description: expect.stringContaining('Key (secret') } },
    });
    expect(JSON.stringify(schema)).not.toContain('"k"');
  });

  test('nothing', () => {
    expect(inputSchemaOf({ inputs: [] })).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
    });
  });
});
