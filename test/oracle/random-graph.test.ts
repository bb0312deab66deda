import { describe, expect, test } from 'vitest';
import { checkGraph } from '../../src/check/check-graph.js';
import { nodesOf } from '../../src/graph/nodes.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import { isNightly } from '../nightly.js';
import { tell } from './oracle.js';
import { INPUT } from './random-graph.js';
import { sample } from './runs.js';

const cases = sample(isNightly ? 1_500 : 200);

/** Names that mean nothing, order that goes round, ways out of a scope. What a graph merely should not do is allowed. */
const MALFORMED = [
  'SW3001',
  'SW3002',
  'SW3004',
  'SW3005',
  'SW3012',
  'SW4006',
  'SW4017',
  'SW4018',
  'SW4025',
  'SW4026',
];

describe('random graphs', () => {
  test('are graphs', () => {
    for (const { graph } of cases) {
      expect(parseGraph(JSON.parse(JSON.stringify(graph)))).toMatchObject({ ok: true });
      for (const each of [graph, ...(graph.tasks ?? [])]) {
        const found = checkGraph(each, { tools: new Map(), resources: new Map() });
        expect(found.filter(({ code }) => MALFORMED.includes(code))).toEqual([]);
      }
    }
  });

  test('are of every kind, and end in every way', () => {
    const kinds = new Set(cases.flatMap(({ graph }) => nodesOf(graph).map(({ kind }) => kind)));
    expect([...kinds].sort()).toEqual(
      [
        ...[
          'ask',
          'branch',
          'call',
          'compensate',
          'compute',
          'error',
          'foreach',
          'goto',
          'parallel',
          'resource',
        ],
        ...['delegate', 'return', 'set', 'shell', 'wait', 'workflow'],
      ].sort(),
    );
    const stories = cases.map(({ graph, world }) => tell(graph, INPUT, world));
    const ends = new Set(stories.flatMap((story) => [story.status, ...Object.values(story.left)]));
    expect([...ends].sort()).toEqual([
      ...['cancelled', 'failed', 'handled', 'skipped(condition_false)', 'skipped(not_selected)'],
      ...['skipped(run_ended)', 'skipped(upstream_failed)', 'skipped(upstream_skipped)', 'succeeded'],
    ]);
    const share = stories.filter(({ status }) => status === 'succeeded').length / stories.length;
    expect(share).toBeGreaterThan(0.25);
  });
});
