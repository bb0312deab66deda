import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../graph/json.js';
import { SourceHost } from '../source/source-host.js';
import { schemaOfType } from './type-schema.js';

/** A type, a value it has, and one it has not; the latter is never null. */
interface Case {
  readonly type: string;
  readonly good: Json;
  readonly bad: Json;
}

const leaf: fc.Arbitrary<Case> = fc.oneof(
  fc.string().map((good) => ({ type: 'string', good, bad: 5 })),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((good) => ({ type: 'number', good, bad: 'x' })),
  fc.boolean().map((good) => ({ type: 'boolean', good, bad: 'true' })),
  fc.constantFrom('a', "b'c", 7, true).map((good) => ({ type: JSON.stringify(good), good, bad: 'other' })),
  fc.constantFrom('x', 'y').map((good) => ({ type: "'y' | 'x'", good, bad: 'z' })),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a type
  fc.nat(9).map((good) => ({ type: '`v${number}`', good: `v${good}`, bad: 'vx' })),
);

/** Without `__proto__`, which no input may have. */
const key = fc.constantFrom('a', 'b', 'c', 'two words', 'constructor', 'toString');

const { anyCase } = fc.letrec<{ anyCase: Case }>((tie) => ({
  anyCase: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie('anyCase').map(({ type, good, bad }) => ({ type: `(${type})[]`, good: [good], bad: [good, bad] })),
    tie('anyCase').map(({ type, good, bad }) => ({
      type: `(${type}) | null`,
      good: null,
      bad: good === bad ? 0 : bad,
    })),
    tie('anyCase').map(({ type, good, bad }) => ({
      type: `Record<string, ${type}>`,
      good: { any: good, other: good },
      bad: { any: bad },
    })),
    fc.tuple(tie('anyCase'), tie('anyCase')).map(([a, b]) => ({
      type: `[${a.type}, (${b.type})?]`,
      good: [a.good],
      bad: [a.good, b.bad],
    })),
    fc
      .tuple(fc.uniqueArray(key, { minLength: 1 }), fc.array(tie('anyCase'), { minLength: 6, maxLength: 6 }))
      .map(([keys, cases]) => objectCase(keys, cases)),
  ),
}));

/** The last property is optional, and left out of the good value. */
function objectCase(keys: readonly string[], cases: readonly Case[]): Case {
  const pairs = keys.map((name, i): readonly [string, Case] => [name, cases[i] as Case]);
  const properties = pairs.map(
    ([name, { type }], i) => `${JSON.stringify(name)}${i === pairs.length - 1 ? '?' : ''}: ${type}`,
  );
  const good = Object.fromEntries(pairs.slice(0, -1).map(([name, each]) => [name, each.good]));
  const last = pairs.at(-1) as readonly [string, Case];
  return {
    type: `{ ${properties.join('; ')} }`,
    good,
    bad: Object.fromEntries([...Object.entries(good), [last[0], last[1].bad]]),
  };
}

test('a schema accepts the values of its type, and refuses others', { timeout: 120_000 }, () => {
  const ajv = new Ajv2020({ strict: false, ownProperties: true });
  fc.assert(
    fc.property(fc.array(anyCase, { minLength: 40, maxLength: 40 }), (cases) => {
      const text = cases.map(
        ({ type }, i) => `@D() export class C${i} { execute(_input: { value: ${type} }): void {} }`,
      );
      const source = `const D = () => (..._target: unknown[]): void => {};\n${text.join('\n')}`;
      const host = new SourceHost({
        root: '/virtual',
        files: ['a.ts'],
        overlay: new Map([['a.ts', source]]),
      });
      const [file] = host.sourceFiles();
      expect(file?.faults).toEqual([]);
      for (const [i, { type, good, bad }] of cases.entries()) {
        const input = file?.classes[i]?.methods[0]?.parameters[0]?.type ?? { kind: 'undefined' };
        const { schema, faults } = schemaOfType(input, 'input');
        expect({ type, faults }).toEqual({ type, faults: [] });
        const validate = ajv.compile(schema ?? false);
        expect({ type, good, accepted: validate({ value: good }) }).toEqual({ type, good, accepted: true });
        expect({ type, bad, accepted: validate({ value: bad }) }).toEqual({ type, bad, accepted: false });
        expect(validate({ value: good, more: 1 })).toBe(false);
      }
    }),
    { numRuns: 5 },
  );
});
