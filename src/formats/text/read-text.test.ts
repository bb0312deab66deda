import { describe, expect, test } from 'vitest';
import { formatLocation } from '../../graph/source-location.js';
import { entryOf, type Located, type LocatedText } from './located.js';
import { formatOf, readText, type TextFormat } from './read-text.js';

async function faultsOf(text: string, format: TextFormat = 'yaml'): Promise<string[]> {
  const { diagnostics, root } = await readText(text, { file: 'f', format });
  const hides = ({ severity, message }: (typeof diagnostics)[number]) =>
    severity === 'error' && !message.startsWith('the number ');
  expect(root === undefined).toBe(diagnostics.some(hides));
  return diagnostics.map(
    ({ code, message, place }) => `${place && formatLocation(place)} ${code} ${message}`,
  );
}

async function rootOf(text: string, format: TextFormat = 'yaml'): Promise<Located> {
  const { root, diagnostics } = await readText(text, { file: 'f', format });
  if (root === undefined) throw new Error(JSON.stringify(diagnostics));
  return root;
}

function plain(located: Located): unknown {
  if (located.kind === 'list') return located.items.map(plain);
  if (located.kind === 'map')
    return Object.fromEntries(located.entries.map(({ key, value }) => [key.value, plain(value)]));
  return located.value;
}

describe('YAML', () => {
  test('is version 1.2: `on` and `yes` are keys, and `no` is text', async () => {
    expect(plain(await rootOf('on: 1\nyes: no\nx: [true, null, ~, 1.5, 0x10, "1"]\n'))).toEqual({
      on: 1,
      yes: 'no',
      x: [true, null, null, 1.5, 16, '1'],
    });
  });

  test('reports every fault at its place', async () => {
    expect(
      await faultsOf('a: 1\nb:\n  c: 1\n  c: 2\n1: x\n<<: *z\nd: !!str 5\ne: 12345678901234567890\n'),
    ).toEqual([
      'f:4:3 SW5004 `c` is written twice',
      'f:5:1 SW5003 a key that is a number is not allowed in a spec file',
      'f:6:5 SW5003 an alias without an anchor (`*z`) is not allowed in a spec file',
      'f:6:1 SW5003 the key `<<` is not allowed in a spec file',
      'f:7:10 SW5003 the tag `!!str` is not allowed in a spec file',
      'f:8:4 SW5003 the number 12345678901234567890 is not allowed in a spec file',
    ]);
  });

  test.each([
    ['a: [1\nb: 2', /^f:2:1 SW5002 this is not valid YAML: /],
    ['a: "x', /SW5002/],
    ['a: 1\n---\nb: 2', /^f:2:1 SW5003 a second document/],
    ['%TAG ! x\n---\na: 1', /^f:1:1 SW5003 a directive/],
    ['a: &x [ *x ]', /SW5003 an alias of what it is in/],
    ['__proto__: 1', /SW5003 the key `__proto__`/],
    ['? [a]\n: 1', /SW5003 a key that is a list/],
    ['a: b\0c', /^f:1:5 SW5003 the character U\+0000/],
    ['a: .inf', /SW5003 the number .inf/],
    ['['.repeat(1000), /SW5001 the file has more than 64 levels of nesting/],
    [`a: ${'x'.repeat(1_100_000)}`, /SW5001 the file has more than 1048576 characters/],
    [`[${'*a, '.repeat(51)}]`, /SW5001 the file has more than 50 aliases/],
  ])('refuses text %#', async (text, said) => {
    const [first] = await faultsOf(text);
    expect(first).toMatch(said);
  });

  test('bounds what is behind aliases', async () => {
    const row = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(of).join(', ')}]`;
    const lines = [
      'a: &a [1]',
      row('b', '*a'),
      row('c', '*b'),
      row('d', '*c'),
      row('e', '*d'),
      row('f', '*e'),
    ];
    expect(await faultsOf(lines.join('\n'))).toEqual([
      'f:6:8 SW5001 the file has more than 20000 values behind aliases',
    ]);
    expect(plain(await rootOf(lines.slice(0, 2).join('\n')))).toMatchObject({ b: Array(9).fill([1]) });
  });

  test.each([
    ['plain', 'a: xy$z', '1:6'],
    ['single quotes', "a: 'it''s $z'", '1:11'],
    ['double quotes', 'a: "\\u0041\\n $z"', '1:14'],
    ['a literal block', 'a: |\n    x\n     y $z\n', '3:8'],
    ['a literal block with Windows lines', 'a: |-\r\n  x\r\n  $z\r\n', '3:3'],
    ['a folded block', 'a: >\n  x\n  $z\n', '1:4'],
  ])('knows the places in %s', async (_, text, position) => {
    const { root, source } = await readText(text, { file: 'f', format: 'yaml' });
    const value = root?.kind === 'map' ? (entryOf(root, 'a')?.value as LocatedText) : undefined;
    const offset = value?.offsetAt(value.value.indexOf('$z')) ?? -1;
    expect(formatLocation(source.place(offset))).toBe(`f:${position}`);
  });
});

describe('JSON', () => {
  const text = '{\n\t"a": [1, -2.5e1, true, null, "x\\u0041\\n"],\n\t"b": {"c/d": {}}\n}\n';

  test('is read as JSON.parse reads it, with places', async () => {
    const root = await rootOf(text, 'json');
    expect(plain(root)).toEqual(JSON.parse(text));
    const b = root.kind === 'map' ? entryOf(root, 'b')?.value : undefined;
    expect(b?.kind === 'map' && b.entries[0]?.value.pointer).toBe('/b/c~1d');
  });

  test.each([
    ['{"a": 1,}', 'f:1:9 SW5002 this is not valid JSON: expected a key in double quotes, and found `}`'],
    ["{'a': 1}", "f:1:2 SW5002 this is not valid JSON: expected a key in double quotes, and found `'`"],
    ['[1 2]', 'f:1:4 SW5002 this is not valid JSON: expected `,` or `]`, and found `2`'],
    ['[\n01]', 'f:2:2 SW5002 this is not valid JSON: expected `,` or `]`, and found `1`'],
    ['{"a": tru}', 'f:1:7 SW5002 this is not valid JSON: expected a value, and found `t`'],
    ['{"a": "x', 'f:1:7 SW5002 this is not valid JSON: the text has no `"` at its end'],
    ['"\\q"', 'f:1:1 SW5002 this is not valid JSON: the text has an escape that JSON does not have'],
    ['{} x', 'f:1:4 SW5002 this is not valid JSON: expected nothing more, and found `x`'],
    ['', 'f:1:1 SW5002 this is not valid JSON: expected a value, and found the end of the file'],
    ['['.repeat(100), 'f:1:65 SW5001 the file has more than 64 levels of nesting'],
  ])('refuses text %#', async (refused, said) => {
    expect(await faultsOf(refused, 'json')).toEqual([said]);
  });

  test('reports every repeated key', async () => {
    expect(await faultsOf('{"a": {"x": 1, "x": 2}, "b": 1, "b": 2, "__proto__": 1}', 'json')).toEqual([
      'f:1:16 SW5004 `x` is written twice',
      'f:1:33 SW5004 `b` is written twice',
      'f:1:41 SW5003 the key `__proto__` is not allowed in a spec file',
    ]);
  });
});

test('the format follows from the extension', () => {
  expect(['a.yml', 'b/c.YAML', 'd.json', 'e.xml', 'f.txt', 'yaml'].map(formatOf)).toEqual([
    'yaml',
    'yaml',
    'json',
    'xml',
    undefined,
    undefined,
  ]);
});
