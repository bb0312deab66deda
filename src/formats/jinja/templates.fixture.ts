import fc from 'fast-check';

/** Pieces of templates, valid or not, as an attacker may put them together. */
const NAMES = [
  'state',
  'inputs',
  'item',
  'loop',
  'x',
  '__proto__',
  'constructor',
  'prototype',
  'now',
  'range',
  'dict',
  'self',
];
const WORDS = [
  'if',
  'else',
  'elif',
  'endif',
  'for',
  'in',
  'endfor',
  'set',
  'endset',
  'with',
  'endwith',
  'filter',
  'raw',
  'not',
  'and',
  'or',
  'is',
  'none',
  'true',
  'include',
];
const FILTERS = [
  'length',
  'upper',
  'join',
  'map',
  'select',
  'sort',
  'tojson',
  'default',
  'round',
  'int',
  'format',
  'regex_search',
  'replace',
  'batch',
  'groupby',
  'indent',
  'center',
  'attr',
];
const SIGNS = [
  '.',
  '|',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ':',
  '=',
  '==',
  '<',
  '>',
  '+',
  '-',
  '*',
  '**',
  '/',
  '//',
  '%',
  '~',
  "'",
  '"',
  '\\',
  '\n',
  ' ',
];
const TEXTS = [
  "'a'",
  '"b"',
  "'(a+)+$'",
  "r'\\d'",
  '1',
  '0',
  '9999',
  '1.5',
  '1e308',
  '-1',
  '[]',
  '{}',
  "'%9999d'",
];
const MARKS = ['{{', '}}', '{%', '%}', '{#', '#}', '{%-', '-%}', 'text'];

const expression = fc.array(fc.constantFrom(...NAMES, ...WORDS, ...FILTERS, ...SIGNS, ...TEXTS), {
  maxLength: 12,
});
const wellFormed = fc
  .tuple(
    fc.constantFrom(
      'state',
      'inputs',
      'item',
      'state.a',
      'state.l',
      "state['__proto__']",
      'item.constructor',
      '[1, 2]',
      "'x'",
      'now()',
      'range(3)',
    ),
    fc.array(
      fc.constantFrom(
        ...FILTERS.map((name) => ` | ${name}`),
        '.constructor',
        '.__proto__',
        "['constructor']",
        '.upper()',
        '.keys()',
        '[0]',
        '[-1]',
        '[::2]',
        " | map('upper')",
        " | select('odd')",
        " | map(attribute='constructor')",
        ' * 3',
        ' ~ 1',
        ' is defined',
      ),
      { maxLength: 4 },
    ),
  )
  .map(([start, links]) => `{{ ${start}${links.join('')} }}`);

/** Random templates. */
export const anyTemplate: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: wellFormed },
  { weight: 2, arbitrary: expression.map((parts) => `{{ ${parts.join(' ')} }}`) },
  {
    weight: 1,
    arbitrary: expression.map((parts) => `{% for x in state.l %}{{ ${parts.join('')} }}{% endfor %}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.constantFrom(...MARKS, ...NAMES, ...WORDS, ...SIGNS), { maxLength: 15 })
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }) },
);
