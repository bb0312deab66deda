import { expect, test } from 'vitest';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
import { FIXTURES } from './fixture.js';

const head = `import { Arg, call, chain, done, fail, Step, Tool, Workflow } from 'stepwright';

@Tool({ name: 'ping', description: 'Pings' })
export class Ping { execute(_input: { value?: unknown }): { text: string } { return { text: '' }; } }

@Workflow({ name: 'grows', description: 'uses each step twice in the next one' })
export class Grows {
  @Arg({ description: 'Text' }) s0!: Arg<string>;
`;

/** Length of the graph of a workflow whose steps use the one before them twice. */
function lengthOf(steps: readonly string[], last: string): number {
  const text = `${head}${steps.join('\n')}\n  output = done(this.${last});\n}\n`;
  const host = new SourceHost({
    root: FIXTURES,
    tsconfig: '../tsconfig.fixtures.json',
    files: ['grows.ts'],
    overlay: new Map([['grows.ts', text]]),
  });
  const extracted = extract(host.sourceFiles());
  const { value, diagnostics } = link(extracted.value);
  expect([...extracted.diagnostics, ...diagnostics]).toEqual([]);
  const [workflow] = value;
  if (workflow === undefined) throw new Error('nothing was linked');
  return canonicalGraph(workflow.graph).length;
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

test.each<[string, (count: number) => number]>([
  [
    'values that are required',
    (count) =>
      lengthOf(
        numbers(count).map((n) => `  @Step() s${n} = (this.s${n - 1} + this.s${n - 1}) ?? fail('none');`),
        `s${count}`,
      ),
  ],
  [
    'conditions on them',
    (count) =>
      lengthOf(
        numbers(count).map((n) => {
          const before = `this.s${n - 1}`;
          return `  @Step() s${n} = ${before} !== undefined ? (${before} ?? fail('none')) : undefined;`;
        }),
        `s${count}`,
      ),
  ],
  [
    'transforms',
    (count) =>
      lengthOf(
        numbers(count).map(
          (n) =>
            `  @Step() s${n} = call(Ping, {}, { transform: (out) => out.text + this.s${n - 1} + this.s${n - 1} });`,
        ),
        `s${count}`,
      ),
  ],
  [
    'links of a chain',
    (count) =>
      lengthOf(
        [
          `  @Step() s1 = chain(call(Ping), ${numbers(count)
            .map(() => '(v) => call(Ping, { value: v }, { transform: (out) => [v, v, out.text] })')
            .join(', ')});`,
        ],
        's1',
      ),
  ],
])('a graph grows linearly with the number of its steps: %s', (_, length) => {
  expect(length(40)).toBeLessThan(length(10) * 6);
});
