import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../graph/json.js';
import { changesRows, type FormFields, valueOfForm } from './fields.js';
import { formOf } from './form.js';
import { sentFields } from './sent-fields.fixture.js';

const ORDER: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your <name>', maxLength: 40, description: 'As on the "card"' },
    amount: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    gift: { type: 'boolean' },
    lines: {
      type: 'array',
      items: {
        type: 'object',
        properties: { sku: { type: 'string' }, count: { type: 'number' } },
        required: ['sku'],
        additionalProperties: false,
      },
    },
    address: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
  required: ['name', 'gift'],
  additionalProperties: false,
};

function filled(schema: JsonSchema, changes: Readonly<Record<string, string>>): [string, string][] {
  const fields = sentFields(formOf(schema)).filter(([name]) => !Object.hasOwn(changes, name));
  return [...fields, ...Object.entries(changes)];
}

describe('the value of a form', () => {
  test('what is empty is left out, and defaults are filled in', () => {
    const fields = filled(ORDER, { 'value/name': 'Ada', 'value/gift': '1' });
    expect(valueOfForm(ORDER, fields)).toEqual({ ok: true, value: { name: 'Ada', amount: 2, gift: false } });
  });

  test('each fault has the pointer of its value, without the rows that are empty', () => {
    const fields = filled(ORDER, {
      'value/amount': '1.5',
      'value/lines/0/sku': ' ',
      'rows/lines': '3',
      'value/lines/2/count': 'many',
    });
    expect(valueOfForm(ORDER, fields)).toEqual({
      ok: false,
      faults: [
        { pointer: '/name', message: 'Enter a value.' },
        { pointer: '/amount', message: 'Enter a whole number.' },
        { pointer: '/gift', message: 'Choose one.' },
        { pointer: '/lines/1/sku', message: 'Enter a value.' },
        { pointer: '/lines/1/count', message: 'Enter a number, such as 3 or -2.5.' },
      ],
    });
  });

  test.each<[JsonSchema, FormFields, string]>([
    [
      { type: 'integer' },
      [['value', '9007199254740993']],
      'This number has too many digits to be kept exactly.',
    ],
    [{ type: 'number' }, [['value', '1e999']], 'Enter a number, such as 3 or -2.5.'],
    [{ enum: ['a'] }, [['value', '1']], 'Choose one of the options.'],
    [{ enum: ['a'] }, [['value', '-1']], 'Choose one of the options.'],
    [{ type: 'array', items: { enum: ['a'] } }, [['value', 'x']], 'Choose from the options.'],
    [
      {},
      [['json', '{']],
      'Enter JSON: a text in double quotes, a number, true, false, null, [...] or {...}.',
    ],
    [{}, [], 'Enter a value.'],
    [{ type: 'string' }, [['other', 'a']], 'Enter a value.'],
  ])('%j refuses %j', (schema, fields, message) => {
    expect(valueOfForm(schema, fields)).toEqual({ ok: false, faults: [{ pointer: '', message }] });
  });

  test('a huge number of rows is bounded', () => {
    const schema: JsonSchema = { type: 'array', items: { type: 'string' } };
    const rows = [
      ['rows', '1e9'],
      ['value/0', 'a'],
      ['value/100000', 'b'],
    ] as const;
    expect(valueOfForm(schema, rows)).toEqual({ ok: true, value: ['a'] });
  });

  test('times are in UTC', () => {
    const schema: JsonSchema = { type: 'string', format: 'date-time' };
    expect(valueOfForm(schema, [['value', '2026-01-31T09:30']])).toEqual({
      ok: true,
      value: '2026-01-31T09:30:00Z',
    });
  });
});

describe('the form', () => {
  test('its texts are text', () => {
    const html = formOf(ORDER);
    expect(html).toContain(
      '<label for="f1">Your &lt;name&gt;</label><p class="hint" id="f1-0">As on the &quot;card&quot;</p>',
    );
    expect(html).not.toContain('<name>');
  });

  test('a browser asks only for what must be there', () => {
    const html = formOf(ORDER);
    expect(html).toMatch(/<input type="text" name="value\/name"[^>]* required>/);
    expect(html).toMatch(/<input type="radio" name="value\/gift"[^>]* required>/);
    expect(html).not.toMatch(/name="value\/(amount|lines\/0\/sku|address\/city)"[^>]* required/);
  });

  test('faults are beside their fields, and above all of them', () => {
    const fields = filled(ORDER, { 'value/amount': 'two' });
    const faults = [
      { pointer: '/amount', message: 'Enter a <number>.' },
      { pointer: '', message: 'Too late.' },
    ];
    const html = formOf(ORDER, { fields, faults });
    expect(html).toContain(
      '<ul><li><a href="#f2">Amount</a>: Enter a &lt;number&gt;.</li><li>Too late.</li></ul>',
    );
    expect(html).toMatch(
      /value="two"[^>]* id="f2" aria-describedby="f2-0 f2-1" aria-invalid="true" autofocus>/,
    );
  });

  test('a button adds rows behind those that are filled in, another one removes one', () => {
    const lines = [{ sku: 'a' }, { sku: 'b' }];
    const sent = sentFields(formOf(ORDER, { value: { name: 'Ada', gift: true, lines } }));
    const longer: [string, string][] = [...sent, ['add', '/lines']];
    expect(changesRows(sent)).toBe(false);
    expect(changesRows(longer)).toBe(true);
    expect(sentFields(formOf(ORDER, { fields: longer }))).toContainEqual(['rows/lines', '3']);
    const shorter = sentFields(formOf(ORDER, { fields: [...sent, ['remove', '/lines/0']] }));
    expect(valueOfForm(ORDER, shorter)).toEqual({
      ok: true,
      value: { name: 'Ada', gift: true, lines: [{ sku: 'b' }] },
    });
  });

  test('a recursive schema has a form', () => {
    const schema: JsonSchema = {
      $ref: '#/$defs/tree',
      $defs: {
        tree: { type: 'object', properties: { label: { type: 'string' }, child: { $ref: '#/$defs/tree' } } },
      },
    };
    const value = { label: 'a', child: { label: 'b', child: { label: 'c' } } };
    expect(valueOfForm(schema, sentFields(formOf(schema, { value })))).toEqual({ ok: true, value });
  });

  test('references cannot make it endless', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => {
        const next = { $ref: `#/$defs/n${index + 1}` };
        return [`n${index}`, { type: 'object', properties: { left: next, right: next } }];
      }),
    );
    expect(formOf({ $ref: '#/$defs/n0', $defs }).length).toBeLessThan(2_000_000);
  });
});
