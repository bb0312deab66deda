import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FILE_LIMITS } from './limits.js';
import { type Located, SourceText } from './located.js';
import { parseYaml } from './parse-yaml.js';
import { readPlainYaml } from './read-plain-yaml.js';
import type { ReadText } from './reading.js';
import { scanYaml } from './scan-yaml.js';

/** With the offset of each character, and of the end, in place of the function that finds it. */
function withOffsets(located: Located): unknown {
  if (located.kind === 'list') return { ...located, items: located.items.map(withOffsets) };
  if (located.kind === 'map') {
    const entries = located.entries.map(({ key, value }) => [withOffsets(key), withOffsets(value)]);
    return { ...located, entries };
  }
  if (located.kind !== 'text') return located;
  const offsets = Array.from({ length: located.value.length + 1 }, (_, index) => located.offsetAt(index));
  return { ...located, offsetAt: offsets };
}

function comparable({ root, diagnostics }: ReadText): unknown {
  return { diagnostics, root: root === undefined ? undefined : withOffsets(root) };
}

/** Returns whether a text was read without the parser. */
function isSame(text: string): boolean {
  if (scanYaml(text, FILE_LIMITS) !== undefined) return false;
  const read = readPlainYaml(new SourceText('f', text));
  if (read === undefined) return false;
  expect(comparable(read)).toEqual(comparable(parseYaml(new SourceText('f', text), FILE_LIMITS)));
  return true;
}

const SCALARS = [
  ...['text', 'two words', '$found.0.id', '$a-b', 'a#b', 'http://host/path', 'a:b', "it's", 'x "y"', 'a\\b'],
  ...[
    '1',
    '-1',
    '007',
    '1.50',
    '1.',
    '.5',
    '+1',
    '1e3',
    '0x10',
    '0o7',
    '30s',
    '2026-02-26',
    '-a',
    '123456789012345678',
  ],
  ...[
    'true',
    'True',
    'null',
    'NULL',
    'tRue',
    '~',
    '.inf',
    '.nan',
    'yes',
    'no',
    '-0',
    '1_000',
    '1.2.3',
    'NaN',
    'Infinity',
  ],
  ...[
    '"text"',
    '"a # b: [c], {d}"',
    '""',
    "'single'",
    "'it''s'",
    "''",
    '"\\n"',
    '"x" y',
    '\u00a0x',
    'x\u00a0',
    '😀 x',
    'é',
  ],
  ...[
    '[]',
    '{}',
    '[a, b]',
    '[a, [1, "x"], {k: v}]',
    '{ type: string, required: true }',
    '{a: 1, a: 2}',
    '[a,]',
    '[a b , c ]',
  ],
  ...[
    '[$x.0, -1, ~]',
    '{ a: }',
    '{ a }',
    '[a: b]',
    '{"a": 1}',
    '[ "a" , \'b\']',
    '[a#b]',
    '[a #b]',
    '[a:b]',
    '{a: b:c}',
    '[a] x',
  ],
  ...[
    '*a',
    '&a x',
    '&a [b, c]',
    '&b {a: *a, c: &c 1}',
    '[*a, *b ]',
    '&c',
    '*c ',
    '&a',
    '&d |',
    '&e # c',
    '!t x',
    '|',
    '>',
    '- a',
    '? a',
    '@x',
    '`x`',
    '%x',
    'a: b',
    'a:',
    'a :b',
    '',
    '# c',
    'x # c',
    '[a] # c',
    '"x" # c',
    '"x"#c',
    'x  ',
  ],
];
const KEYS = [
  'a',
  'b',
  'a-b',
  '$schema',
  'c.d',
  'true',
  'Null',
  '__proto__',
  '<<',
  '"q"',
  '1',
  'a b',
  'yes',
  'é',
  'x:y',
  "'s'",
  '"\\u0041"',
  '/p',
  'a - b',
  'a ',
];

/** A value of several lines, behind a key or a dash. The lines come without the indentation of the first one. */
const headers = fc.oneof(
  { arbitrary: fc.constantFrom('|', '>', '|-', '>-', '|+', '>+'), weight: 3 },
  fc.constantFrom('|2', '>1', '|-2', '>2+', '|4', '| # c 1', '>  ', '|+-', '|0', '|#c', '|22', '> x'),
);
const shiftedBy = (columns: readonly number[], lines: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...columns), fc.constantFrom(...lines))
    .map(([column, line]) => ' '.repeat(column) + line);

const blockTexts = fc
  .tuple(
    headers,
    fc.array(
      fc.oneof(
        { arbitrary: shiftedBy([2], ['text', 'two words  ', '# no comment', 'a: b', '- x']), weight: 4 },
        shiftedBy([2, 4], ['more', 'éx 😀']),
        fc.constant(''),
        shiftedBy([0, 1, 2, 3, 6], ['', 'x', '# c', '\ty']),
      ),
      { minLength: 1, maxLength: 6 },
    ),
  )
  .map(([header, lines]) => [header, ...lines]);

const plainTexts = fc
  .tuple(
    fc.constantFrom('one', '1', 'two words', 'true', '-x', 'one # c'),
    fc.array(
      fc.oneof(
        { arbitrary: shiftedBy([2, 4], ['more', 'two  words ', '- x', '"y"', '[z]', '1']), weight: 4 },
        fc.constantFrom('', ' ', '  # c', '# c'),
        shiftedBy([0, 1, 3], ['x', 'a: b', 'x # c', 'end:', 'a\tb']),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([first, lines]) => [first, ...lines]);

const quotedTexts = fc
  .tuple(
    fc.constantFrom('"', "'"),
    fc.array(
      fc.oneof(
        {
          arbitrary: fc.constantFrom('one', ' two ', '  three', "''", '\\n', '\\u00e9', '# x', 'a: b'),
          weight: 5,
        },
        fc.constantFrom(
          '',
          ' ',
          '\\',
          '\\ ',
          '\\U0001F600',
          '\\q',
          '\\x4',
          '\t',
          '\\uD83D\\uDE00',
          '\\/',
          '""',
        ),
      ),
      { maxLength: 5 },
    ),
    fc.constantFrom('\n', '\n  ', '\n   ', '\n\n  ', '', ' '),
    fc.constantFrom('', ' # c', ' x', '#c', ':'),
  )
  .map(([quote, parts, gap, behind]) => `${quote}${parts.join(gap)}${quote}${behind}`.split('\n'));

const gaps = fc.oneof(
  { arbitrary: fc.constantFrom('', ' '), weight: 3 },
  fc.constantFrom('\n  ', '\n    ', ' # c\n  ', '\n\n   ', '\n', '\n # c\n  ', '# c\n  ', '\t'),
);
const { flow: flows } = fc.letrec<{ flow: string; list: string; map: string; value: string }>((tie) => {
  const rest = fc.constantFrom('', '', '', ',', ', ', ',,');
  const joined = (open: string, part: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> =>
    fc.tuple(fc.array(fc.tuple(part, gaps, gaps), { maxLength: 3 }), rest, gaps).map(([parts, last, gap]) => {
      const items = parts.map(([item, before, behind]) => `${before}${item}${behind}`).join(',');
      return `${open}${items}${last}${gap}${close}`;
    });
  const keys = fc.constantFrom('a: ', 'b: ', 'c d: ', '"e":', "'f': ", '"g\\n": ', '/h: ', 'a:', '1: ', 'a ');
  return {
    flow: fc.oneof(tie('list'), tie('map')),
    list: joined('[', tie('value'), ']'),
    map: joined(
      '{',
      fc.tuple(keys, tie('value')).map(([key, value]) => key + value),
      '}',
    ),
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(
        'x',
        '$a.0',
        '1',
        'http://h/p?q=1',
        'a#b',
        '"q, r"',
        "'s'",
        'two words',
        '-1',
        'a:b',
        '~',
      ),
      tie('flow'),
    ),
  };
});

const SEVERAL_LINES = {
  'block texts': blockTexts,
  'plain texts': plainTexts,
  'texts in quotes': quotedTexts,
  'values in brackets': fc
    .tuple(flows, fc.constantFrom('', ' # c', ' x'))
    .map(([value, behind]) => (value + behind).split('\n')),
};
const severalLines = fc.oneof(...Object.values(SEVERAL_LINES));

/** Lines of nested maps and lists, some with faults. */
const { map: blocks } = fc.letrec<{ block: string[]; map: string[]; list: string[] }>((tie) => {
  const scalar = fc.oneof(
    { arbitrary: fc.constantFrom(...SCALARS.slice(0, 8)), weight: 2 },
    fc.constantFrom(...SCALARS),
  );
  const key = fc.oneof(
    { arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e'), weight: 6 },
    fc.constantFrom(...KEYS),
  );
  const shifted = (indent: fc.Arbitrary<number>) =>
    fc.tuple(indent, tie('block')).map(([columns, lines]) => lines.map((line) => ' '.repeat(columns) + line));
  const entry = fc.oneof(
    { arbitrary: fc.tuple(key, scalar).map(([name, value]) => [`${name}: ${value}`]), weight: 3 },
    fc
      .tuple(key, fc.constantFrom('', ' ', ' # c'), shifted(fc.constantFrom(2, 2, 2, 4, 1, 0)))
      .map(([name, behind, lines]) => [`${name}:${behind}`, ...lines]),
    {
      arbitrary: fc.constantFrom(
        [''],
        ['# c'],
        ['  # c'],
        [' '],
        ['---'],
        ['...'],
        ['# c', '', '# d'],
        ['a:'],
      ),
      weight: 1,
    },
    fc.tuple(key, severalLines).map(([name, [first = '', ...rest]]) => [`${name}: ${first}`, ...rest]),
  );
  const item = fc.oneof(
    scalar.map((value) => [`- ${value}`]),
    tie('map').map(([first = '', ...rest]) => [
      `- ${first}`,
      ...rest.map((line) => (line === '' ? '' : `  ${line}`)),
    ]),
    fc.constantFrom(['-'], ['# c'], [''], ['-   a: 1'], ['- - a'], ['-', '  a: 1'], ['- # c', '  - a']),
    severalLines.map(([first = '', ...rest]) => [`- ${first}`, ...rest]),
  );
  const joined = (part: fc.Arbitrary<readonly string[]>) =>
    fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.flat());
  return {
    block: fc.oneof({ maxDepth: 4 }, tie('map'), tie('list')),
    map: joined(entry),
    list: joined(item),
  };
});

const ends = fc.constantFrom('\n', '', '\n\n', '\n# c\n', '\n  # c', '\n ');

/** As it is, or with the line breaks of Windows. */
const withBreaks = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(texts, fc.boolean())
    .map(([text, isWindows]) => (isWindows ? text.replaceAll('\n', '\r\n') : text));

test('what is read plainly is what the parser reads', () => {
  let plain = 0;
  const texts = withBreaks(fc.tuple(blocks, ends).map(([lines, end]) => lines.join('\n') + end));
  fc.assert(
    fc.property(texts, (text) => {
      if (isSame(text)) plain += 1;
    }),
    { numRuns: 3_000 },
  );
  // The others have something that is left to the parser.
  expect(plain).toBeGreaterThan(100);
});

for (const [form, values] of Object.entries(SEVERAL_LINES)) {
  test(`${form} of several lines are what the parser reads`, () => {
    let plain = 0;
    const parts = fc.tuple(
      fc.constantFrom('a: ', '- ', 'a:\n  b: ', 'a:\n- b: ', '- - '),
      values,
      fc.constantFrom('', '\n', '\nc: d', '\n- c', '\n  c: d', '\n\n', '\n# c\n'),
    );
    const texts = parts.map(([start, lines, end]) => {
      const last = start.split('\n').at(-1) ?? '';
      const indent = ' '.repeat(/\S/.exec(last)?.index ?? 0);
      return start + lines.join(`\n${indent}`) + end;
    });
    fc.assert(
      fc.property(withBreaks(texts), (text) => {
        if (isSame(text)) plain += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(plain).toBeGreaterThan(50);
  });
}

test('the values of aliases are what the parser reads', () => {
  const values = fc.constantFrom(
    'x',
    '1',
    '[b, c]',
    '{a: b, c: [d]}',
    '"q"',
    '|\n    text\n',
    '\n    k: [v]\n    l: 1',
  );
  const uses = fc.constantFrom(
    '*one',
    '[*one, *two]',
    '{k: *two}',
    '*two # c',
    '\n    deep: *one',
    '*none',
    '&two *one',
  );
  const anchors = fc.constantFrom('', '', '', '&three ', '&one ');
  const parts = fc.tuple(
    values,
    values,
    fc.array(fc.tuple(anchors, fc.oneof(values, uses)), { minLength: 1, maxLength: 4 }),
  );
  let plain = 0;
  const texts = parts.map(([one, two, others]) =>
    [['&one ', one], ['&two ', two], ...others]
      .map(([anchor, value], index) => `k${index}: ${anchor}${value}`)
      .join('\n'),
  );
  fc.assert(
    fc.property(withBreaks(texts), (text) => {
      if (text.includes('*') && isSame(text)) plain += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(plain).toBeGreaterThan(50);
});

const FILE = `# A file
domain: travel
workflows:
  book:
    params:
      city: { type: string, description: City to stay in }

    graph:
      # First.
      search:
        call: search_hotels
        args: { city: $city, tags: [a, "b c", 'd'] }
        output: found
      pick:
        depends_on: [search]
        steps:
          - id: one
            max: 3
          - "text"
`;

test('three dashes begin a document at the start of a line only', () => {
  for (const text of ['---\na: 1', '# c\n--- # c\na: 1', '---\n--- a: 1']) isSame(text);
  for (const text of [' ---\n- a', ' ---\na: 1', '\n  --- # c\na: 1'])
    expect(readPlainYaml(new SourceText('f', text))).toBeUndefined();
});

test('long runs of blanks are read', () => {
  // A search that begins again at each blank would not end in time.
  const blanks = ' '.repeat(300_000);
  const texts = [`a: x${blanks}y`, `a: [x${blanks}y]`, `a: "x${blanks}y\n  z"`, `a: x\n  y${blanks}z # c`];
  for (const text of texts) expect(readPlainYaml(new SourceText('f', text))?.root).toBeDefined();
});

test('what is broken is read alike or left to the parser', () => {
  const noise = fc.constantFrom(
    '\n',
    ' ',
    '  ',
    ':',
    ': ',
    '- ',
    '#',
    ' #',
    '"',
    "'",
    '[',
    ']',
    ',',
    '}',
    '1',
    '.',
  );
  const edit = fc.tuple(fc.nat(FILE.length), fc.nat(3), fc.array(noise, { maxLength: 2 }));
  let plain = 0;
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 3 }), (edits) => {
      const text = edits.reduce(
        (edited, [at, length, pieces]) => edited.slice(0, at) + pieces.join('') + edited.slice(at + length),
        FILE,
      );
      if (isSame(text)) plain += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(plain).toBeGreaterThan(100);
});
