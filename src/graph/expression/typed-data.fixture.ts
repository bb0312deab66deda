import fc from 'fast-check';
import type { Value } from '../json.js';

/** The arguments the sources use, each of its type; `o` is an item, null or absent. */
export interface Data {
  readonly [name: string]: Value;
}

const numbers = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.constantFrom(0.5, -1.25, 1e9, 9007199254740991, 1e-9),
);
const texts = fc.oneof(
  fc.constantFrom(
    '',
    ' a b ',
    'aXbXc',
    'ß',
    'İ',
    'ǅ',
    '\u{1f600}x',
    '\ud83d',
    'ΑΣ',
    '\u00a0\ufeff\u2028 x',
    'abab',
    'ababc',
  ),
  fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'X', '\u{1f600}'), maxLength: 8 }),
);
const item = fc.record(
  { a: numbers, t: texts, list: fc.array(numbers, { maxLength: 3 }) },
  { requiredKeys: ['t'], noNullPrototype: true },
);

export const data: fc.Arbitrary<Data> = fc.record(
  {
    n: numbers,
    s: texts,
    b: fc.boolean(),
    ns: fc.array(numbers, { maxLength: 5 }),
    ts: fc.array(texts, { maxLength: 5 }),
    items: fc.array(item, { maxLength: 4 }),
    o: fc.option(item),
  },
  { requiredKeys: ['n', 's', 'b', 'ns', 'ts', 'items'], noNullPrototype: true },
) as fc.Arbitrary<Data>;

/** What generated sources use beside the language: as in the tree, a number must be finite and exact, and a text takes scalars. */
export const PRELUDE = `
  const num = (value) => {
    if (!Number.isFinite(value)) throw { code: 'E_NUMBER' };
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw { code: 'E_UNSAFE_INTEGER' };
    return value;
  };
  const shown = (value) => {
    if (value === null || value === undefined || typeof value === 'object') throw { code: 'E_TEXT_VALUE' };
    return value;
  };
  const joined = (list, between) => list.map((item) => item == null ? '' : shown(item)).join(between);
`;
