import { expect, test } from 'vitest';
import { branch } from '../runtime/engine/constructs.fixture.js';
import { call, graph, lit } from '../runtime/engine/graph.fixture.js';
import { flowText } from './flow.js';

/** Branches in a row, each of which leads to both of the next two. */
function crossing(rows: number) {
  const fork = (id: string, row: number) =>
    branch(id, [
      [lit(true), `left${row}`],
      [undefined, `right${row}`],
    ]);
  const inRows = Array.from({ length: rows }, (_, row) => [
    fork(`left${row}`, row + 1),
    fork(`right${row}`, row + 1),
  ]);
  return graph([fork('start', 0), ...inRows.flat(), call(`left${rows}`), call(`right${rows}`)]);
}

test('shows the steps of one that is selected several times once', () => {
  expect(flowText(crossing(1))).toBe('[ [ left1 | right1 ] | [ left1 | right1 ] ]');
  expect(flowText(crossing(2))).toBe('[ [ [ left2 | right2 ] | [ left2 | right2 ] ] | [ left1 | right1 ] ]');
});

test('has a length in proportion to the steps, also where branches cross', () => {
  expect(flowText(crossing(60)).length).toBeLessThan(3_000);
});
