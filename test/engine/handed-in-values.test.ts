import { expect, test } from 'vitest';
import { drive, ENGINE, type Engine } from '../oracle/drive.js';
import { INPUT } from '../oracle/random-graph.js';
import { sample } from '../oracle/runs.js';

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** Hosts freeze or copy what is handed in: it cannot be changed behind the engine's back, and the engine does not. */
const frozenOnly: Engine = {
  ...ENGINE,
  start: (plan, input, ids) =>
    ENGINE.start(plan, frozen(structuredClone(input)), frozen(structuredClone(ids))),
  advance: (plan, state, events) => ENGINE.advance(plan, state, frozen(structuredClone(events))),
};

test('the engine changes nothing of an input, of start ids or of an event', { timeout: 120_000 }, () => {
  for (const { graph, world } of sample(200)) {
    expect(drive(frozenOnly, graph, INPUT, world)).toEqual(drive(ENGINE, graph, INPUT, world));
  }
});
