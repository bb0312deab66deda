import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Graph, Node } from '../../graph/model.js';
import { promptProgress } from './prompt-progress.js';

function graphOf(steps: number): Graph {
  const nodes = Array.from(
    { length: steps },
    (_, index): Node => ({
      kind: 'call',
      id: `s${index}`,
      tool: 't',
      input: { kind: 'dict', entries: [] },
      after: [],
      join: 'none_failed',
      executor: 'server',
    }),
  );
  return { graphVersion: 1, name: 'w', description: 'd', inputs: [], instructions: [], nodes };
}

describe('promptProgress', () => {
  test("a tool's report is its share of the step, with its message", () => {
    const seen: unknown[] = [];
    const progress = promptProgress(graphOf(4), (...report) => seen.push(report));
    progress.observe({ kind: 'nodeStarted', node: 's2', nodeKind: 'call' });
    progress.ofTool(1, 4, 'a quarter');
    expect(seen).toStrictEqual([
      [2, 4, 'Step 3/4: s2'],
      [2.25, 4, 'a quarter'],
    ]);
  });

  test('rises with every report, whatever tools report', () => {
    const number = fc.oneof(fc.double(), fc.integer({ min: -2, max: 5 }));
    const reports = fc.array(fc.tuple(number, fc.option(number, { nil: undefined })));
    fc.assert(
      fc.property(fc.array(reports, { maxLength: 5 }), (steps) => {
        const seen: number[] = [];
        const progress = promptProgress(graphOf(steps.length), (value) => seen.push(value));
        for (const [index, step] of steps.entries()) {
          progress.observe({ kind: 'nodeStarted', node: `s${index}`, nodeKind: 'call' });
          for (const [value, total] of step) progress.ofTool(value, total);
        }
        progress.observe({ kind: 'finished', status: 'succeeded' });
        for (const [index, value] of seen.entries()) {
          if (index > 0) expect(value).toBeGreaterThan(seen[index - 1] ?? Number.NaN);
        }
        expect(seen.at(-1)).toBe(steps.length);
      }),
    );
  });
});
