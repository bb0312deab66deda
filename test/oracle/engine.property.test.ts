import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { planOf } from '../../src/plan/compile.js';
import type { Event } from '../../src/runtime/engine/events.js';
import { commandOf } from '../../src/runtime/engine/read.js';
import { tablesOf } from '../../src/runtime/engine/tables.fixture.js';
import { drive, ENGINE, type Engine, idsIn } from './drive.js';
import { tell } from './oracle.js';
import { type Case, INPUT } from './random-graph.js';
import { hold, RUNS, timeoutFor } from './runs.js';
import { compared } from './same.js';
import {
  both,
  type Watcher,
  watchChanges,
  watchCopies,
  watchIdentity,
  watchOrder,
  watchOwed,
  watchStale,
  watchUndoing,
} from './watch.js';
import type { World } from './world.js';

/** The more demanding properties are tried on fewer graphs. */
const FEWER = Math.ceil(RUNS / 10);

const LIMIT = timeoutFor(RUNS);

function agree({ graph, world }: Case, watch?: Watcher): void {
  const { expected, actual } = compared(tell(graph, INPUT, world), drive(ENGINE, graph, INPUT, world, watch));
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

describe('the engine and the oracle', () => {
  test(`agree on ${RUNS} graphs, and every run ends`, { timeout: LIMIT }, () => {
    hold(RUNS, (each) =>
      agree(each, both(watchOwed(ENGINE), watchOrder(each.graph), watchUndoing(), watchIdentity())),
    );
  });

  test('agree when the run is cancelled at any time', { timeout: LIMIT }, () => {
    hold(FEWER, ({ graph, world }) => {
      const moments = new Set<number>();
      drive(ENGINE, graph, INPUT, world, ({ event }) => moments.add(event?.at ?? 0));
      for (const at of spread([...moments], 12)) {
        for (const compensate of [false, true])
          agree({ graph, world: { ...world, cancel: { at, compensate } } });
      }
    });
  });
});

test('a step whose running fallback is aborted with the run has failed', () => {
  const text = readFileSync(new URL('./aborted-fallback.json', import.meta.url), 'utf8');
  const graph = JSON.parse(text) as Case['graph'];
  for (const compensate of [false, true])
    agree({ graph, world: { luck: [1125], cancel: { at: 15, compensate } } });
});

describe('the state of a run', () => {
  test('may be written down and read again between any two events, and the same events give the same bytes', {
    timeout: LIMIT,
  }, () => {
    hold(FEWER, ({ graph, world }) => {
      drive(ENGINE, graph, INPUT, world, watchCopies(ENGINE, graph, INPUT, world));
    });
  });

  test('is not changed by events that are late, repeated, of a wrong kind or for no command', {
    timeout: LIMIT,
  }, () => {
    hold(FEWER, ({ graph, world }) => {
      drive(ENGINE, graph, INPUT, world, watchStale(ENGINE, graph));
    });
  });

  test('is what the changes of its steps add up to', { timeout: LIMIT }, () => {
    hold(FEWER, ({ graph, world }) => {
      drive(ENGINE, graph, INPUT, world, watchChanges());
    });
  });
});

describe('a clock that steps back', () => {
  test('changes nothing but times', { timeout: LIMIT }, () => {
    hold(FEWER, ({ graph, world }) => {
      // When a wait until a time ends is a matter of the clock.
      if (JSON.stringify(graph).includes('"until"')) return;
      const events = eventsOf(ENGINE, { graph, world });
      const ends = (shift: (event: Event, index: number) => number): unknown => {
        const plan = planOf(graph);
        let { state } = ENGINE.start(plan, INPUT, idsIn(world));
        events.forEach((event, index) => {
          const owed = 'command' in event ? commandOf(state, event.command) : undefined;
          const isDue = event.kind === 'timerFired' && owed !== undefined && 'dueAt' in owed;
          const earliest = isDue ? (owed.dueAt ?? 0) : Number.NEGATIVE_INFINITY;
          const at = Math.max(earliest, shift(event, index));
          ({ state } = ENGINE.advance(plan, state, [{ ...event, at }]));
        });
        const { nodes, outputs } = tablesOf(state);
        return [
          state.run.status,
          state.run.result,
          state.run.failure?.code,
          Object.entries(nodes).map(([key, { status, reason }]) => [key, status, reason]),
          outputs,
        ];
      };
      const middle = Math.floor(events.length / 2);
      expect(ends(({ at }, index) => (index < middle ? at : at - 1_000))).toEqual(ends(({ at }) => at));
    });
  });
});

/** So many of them, the first and the last among them. */
function spread<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return all.filter(
    (_, index) => Math.floor((index * most) / all.length) !== Math.floor(((index - 1) * most) / all.length),
  );
}

function eventsOf(engine: Engine, { graph, world }: { graph: Case['graph']; world: World }): Event[] {
  const events: Event[] = [];
  drive(engine, graph, INPUT, world, ({ event }) => {
    if (event !== undefined) events.push(event);
  });
  return events;
}
