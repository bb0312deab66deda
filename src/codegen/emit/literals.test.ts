import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { graphJson, schemaJson } from '../../runtime/tools/registry.js';
import { Identifier, JsonText, printLiteral, printString } from './literals.js';

// The realm of another context has its own `Object`; the text says the same in ours.
const evaluate = (text: string): unknown =>
  JSON.parse(JSON.stringify(runInNewContext(`(${text})`, { graphJson, schemaJson })) ?? 'null');

describe('printLiteral', () => {
  const anyJson = (): fc.Arbitrary<Json> => {
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('__proto__', 'constructor', 'a-b', "it's"),
    );
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('`', '\u0024{a}', '$', '\\', '\\`', '\\u0060', '\\\u0024{'),
        fc.lorem({ maxCount: 30 }).map((text) => text.replaceAll(' ', '\n')),
        fc.array(tie('value')),
        fc.array(fc.tuple(key, tie('value'))).map((entries) => Object.fromEntries(entries)),
      ),
    }));
    return value;
  };

  test('evaluates to the value it was given', () => {
    fc.assert(
      fc.property(anyJson(), (json) => {
        const expected: unknown = JSON.parse(JSON.stringify(json));
        expect(evaluate(printLiteral(json))).toEqual(expected);
        expect(evaluate(printLiteral({ schema: new JsonText('schemaJson', json) }))).toEqual({
          schema: expected,
        });
      }),
    );
  });

  test('writes JSON as it is between the marks of a template', () => {
    const graph = new JsonText('graphJson', { 'a-b': ['`\u0024{x}`', 1], c: null });
    expect(printLiteral({ class: new Identifier('A'), graph })).toBe(
      '{ class: A, graph: graphJson`{ "a-b": ["\\u0060\\u0024{x}\\u0060", 1], "c": null }` }',
    );
    const long = new JsonText('graphJson', { list: Array.from({ length: 40 }, (_, i) => i) });
    expect(printLiteral({ graph: long })).toMatch(
      /^\{\n {2}graph: graphJson`\{\n {4}"list": \[\n {6}0,\n[\s\S]* {6}39\n {4}\]\n {2}\}`,\n\}$/,
    );
  });

  test('keeps `__proto__` a property', () => {
    const value = JSON.parse('{ "__proto__": { "a": 1 } }') as Json;
    expect(printLiteral(value)).toBe("{ ['__proto__']: { a: 1 } }");
  });

  test('breaks values that do not fit on a line, without trailing spaces', () => {
    const text = printLiteral({
      list: Array.from({ length: 60 }, (_, i) => `item ${i}`),
      'no-name': { a: 'b' },
    });
    expect(text.split('\n').slice(0, 3)).toEqual(['{', '  list: [', "    'item 0',"]);
    expect(text).toContain("\n  'no-name': { a: 'b' },\n}");
    expect(text).not.toMatch(/ \n/);
  });

  test('gives long text one piece per line', () => {
    const line = 'x'.repeat(70);
    expect(printLiteral({ text: `${line}\n${line}\n`, after: 1 })).toBe(
      `{\n  text:\n    '${line}\\n' +\n    '${line}\\n',\n  after: 1,\n}`,
    );
  });

  test('leaves out undefined members and prints identifiers as they are', () => {
    expect(printLiteral({ class: new Identifier('AddTask'), title: undefined })).toBe('{ class: AddTask }');
  });
});

describe('printString', () => {
  test('quotes as little as it can', () => {
    expect(printString('say "hi" \\ bye')).toBe(`'say "hi" \\\\ bye'`);
    expect(printString("it's")).toBe(`"it's"`);
    expect(printString(`it's "so"`)).toBe(`"it's \\"so\\""`);
  });

  test('escapes characters that editors hide or reorder', () => {
    expect(printString('a\u202eb\u2028c\ufeffd\u0085')).toBe("'a\\u202eb\\u2028c\\ufeffd\\u0085'");
  });
});
