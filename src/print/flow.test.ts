import { expect, test } from 'vitest';
import { body, branch } from '../runtime/engine/constructs.fixture.js';
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

test('ends a long row of fallbacks and of branches', () => {
  const ids = Array.from({ length: 900 }, (_, index) => index);
  const fallbacks = ids.map((id) => call(`s${id}`, {}, { onError: { fallbackNode: `s${id + 1}` } }));
  expect(flowText(graph([...fallbacks, call('s900')]))).toMatch(/^\( try s0, else .*, else … [ )]+$/);
  const branches = ids.map((id) =>
    branch(`s${id}`, [
      [lit(true), `s${id + 1}`],
      [undefined, body([])],
    ]),
  );
  expect(flowText(graph([...branches, call('s900')]))).toMatch(/^\[ \[ .*… \| – \]/);
});
