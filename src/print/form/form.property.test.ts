import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonSchema } from '../../graph/json.js';
import { valueOfForm } from './fields.js';
import { formOf } from './form.js';
import { sentFields } from './sent-fields.fixture.js';

/** A schema, and values of it. */
interface Case {
  readonly schema: JsonSchema;
  readonly value: Json;
}

const HOSTILE = [
  '',
  ' ',
  '0',
  '</textarea><b>',
  '"\'&amp;',
  'a\nb',
  '\nfirst',
  'a\r\nb',
  '\u202e\u0000',
  '\ud800',
  '👩‍👩‍👧',
  '{"a":1}',
];
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom(...HOSTILE));
const number = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => value + 0);

const values = fc.uniqueArray(fc.oneof(text, fc.integer(), fc.boolean()), {
  minLength: 1,
  maxLength: 9,
  selector: (value) => JSON.stringify(value),
});

const leaf: fc.Arbitrary<Case> = fc.oneof(
  fc.record({
    schema: fc.constantFrom<JsonSchema>(
      { type: 'string' },
      { type: 'string', maxLength: 100 },
      { type: 'string', pattern: '' },
    ),
    value: text,
  }),
  fc.record({
    schema: fc.constantFrom<JsonSchema>(
      ...['email', 'uri', 'date', 'date-time', 'other'].map((format) => ({ type: 'string', format })),
    ),
    value: fc.oneof(
      text,
      fc.constantFrom(
        '2026-02-28',
        '2026-02-30',
        '2026-01-31T09:00:00Z',
        '2026-01-31T09:00:30.5+01:00',
        ' a@b.c',
      ),
    ),
  }),
  fc.record({
    schema: fc.constantFrom<JsonSchema>({ type: 'number' }, { type: 'number', minimum: 0.5 }),
    value: number,
  }),
  fc.record({
    schema: fc.constant<JsonSchema>({ type: 'integer' }),
    value: fc.oneof(fc.maxSafeInteger(), number),
  }),
  fc.record({ schema: fc.constant<JsonSchema>({ type: 'boolean' }), value: fc.boolean() }),
  values.chain((list) =>
    fc.record({
      schema: fc.constantFrom<JsonSchema>(
        { enum: list },
        { oneOf: list.map((value) => ({ const: value, title: 'T' })) },
      ),
      value: fc.constantFrom(...list),
    }),
  ),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ schema: { const: value as Json }, value: value as Json })),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ schema: {}, value: value as Json })),
  values.chain((list) =>
    fc.record({
      schema: fc.constant<JsonSchema>({ type: 'array', items: { enum: list } }),
      value: fc.array(fc.constantFrom<Json>(...list), { maxLength: 4 }),
    }),
  ),
);

const { any } = fc.letrec<{ any: Case; list: Case; object: Case; nullable: Case }>((tie) => ({
  any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, leaf, tie('object'), tie('list'), tie('nullable')),
  // Items of one list have one schema: the rows are the same value, or what differs from the schema.
  list: fc
    .record({
      item: tie('any'),
      others: fc.array(fc.oneof(text, number, fc.constant(null), fc.constant([])), {
        maxLength: 3,
      }),
      count: fc.nat(3),
      minItems: fc.nat(3),
    })
    .map(({ item, others, count, minItems }) => ({
      schema: { type: 'array', items: item.schema, minItems },
      value: [...Array.from({ length: count }, () => item.value), ...others],
    })),
  object: fc
    .uniqueArray(
      fc.record({
        name: fc.oneof(text, fc.constantFrom('a', 'b/c~', 'someName')),
        member: tie('any'),
        isRequired: fc.boolean(),
        isThere: fc.boolean(),
      }),
      { maxLength: 4, selector: ({ name }) => name },
    )
    .map((members) => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(members.map(({ name, member }) => [name, member.schema])),
        required: members.filter(({ isRequired }) => isRequired).map(({ name }) => name),
        additionalProperties: false,
      },
      value: Object.fromEntries(
        members.flatMap(({ name, member, isRequired, isThere }) =>
          isRequired || isThere ? [[name, member.value]] : [],
        ),
      ),
    })),
  nullable: fc
    .record({ inner: tie('any'), isNull: fc.boolean(), how: fc.boolean() })
    .map(({ inner: { schema, value }, isNull, how }) => ({
      schema:
        how && typeof schema.type === 'string'
          ? { ...schema, type: [schema.type, 'null'] }
          : { anyOf: [schema, { type: 'null' }] },
      value: isNull ? null : value,
    })),
}));

test('a form that is filled with a value gives the value back', () => {
  fc.assert(
    fc.property(any, ({ schema, value }) => {
      const html = formOf(schema, { value });
      const fields = sentFields(html);
      expect(valueOfForm(schema, fields)).toEqual({ ok: true, value });
      // What was sent is shown again as it was.
      expect(valueOfForm(schema, sentFields(formOf(schema, { fields })))).toEqual({ ok: true, value });
    }),
    { numRuns: 500 },
  );
});
