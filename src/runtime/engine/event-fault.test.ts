import { describe, expect, test } from 'vitest';
import { planOf } from '../../plan/compile.js';
import { eventFault } from './event-fault.js';
import { call, chain, done, graph, Run, step } from './graph.fixture.js';
import { outstanding } from './read.js';
import { restore, snapshot } from './snapshot.js';
import { GraphMismatchError, StateVersionError } from './state.js';
import { rowsText } from './tables.fixture.js';

const at = 1;

describe('an event from outside', () => {
  const cyclic: Record<string, unknown> = { kind: 'toolReturned', at, command: 'a#1' };
  cyclic.value = { self: cyclic };
  const cases: readonly [string, unknown, string | undefined][] = [
    ['that fits', { kind: 'toolReturned', at, command: 'a#1', value: { n: [1, null] } }, undefined],
    [
      'that an operator sends later',
      { kind: 'retryRequested', at, node: 'a', by: { kind: 'system' } },
      undefined,
    ],
    ['without a value, where one may be missing', { kind: 'evaluated', at, command: 'a#1' }, undefined],
    ['that is not an object', 'toolReturned', 'not an object'],
    ['of an unknown kind', { kind: 'stop', at }, '"stop", which is not one of toolReturned'],
    ['without what its kind needs', { kind: 'timerFired', at }, "must have 'command'"],
    ['with more than its kind has', { kind: 'timerFired', at, command: 'a', more: 1 }, "cannot have 'more'"],
    ['at no time', { kind: 'timerFired', at: '1', command: 'a' }, "'at' of an event of kind 'timerFired'"],
    [
      'with a date',
      { kind: 'toolReturned', at, command: 'a', value: [new Date(0)] },
      "plain JSON at '/value/0'",
    ],
    [
      'with NaN',
      { kind: 'toolReturned', at, command: 'a', value: { 'a/b': Number.NaN } },
      "at '/value/a~1b'",
    ],
    ['with a function', { kind: 'toolReturned', at, command: 'a', value: () => 1 }, "at '/value'"],
    [
      'with a getter',
      {
        kind: 'toolReturned',
        at,
        command: 'a',
        get value() {
          return 1;
        },
      },
      "at '/value'",
    ],
    ['that holds itself', cyclic, 'not plain JSON'],
    [
      'about an outcome without a value',
      { kind: 'outcomeDecided', at, node: 'a', outcome: { kind: 'happened' } },
      "'outcome' of an event",
    ],
  ];

  test.each(cases)('%s', (_, event, fault) => {
    if (fault === undefined) expect(eventFault(event)).toBeUndefined();
    else expect(eventFault(event)).toContain(fault);
  });
});

describe('the rows of a state', () => {
  const line = graph(chain(call('a'), done('out', step('a'))));

  test('make it up again, and it goes on as before', () => {
    const run = new Run(line);
    const copy = restore(planOf(line), JSON.parse(JSON.stringify(snapshot(run.state))));
    expect(rowsText(copy)).toBe(rowsText(run.state));
    expect(outstanding(copy)).toEqual(outstanding(run.state));
  });

  test('are refused for another graph, and for a version of later', () => {
    const rows = snapshot(new Run(line).state);
    expect(() => restore(planOf(graph([call('b')])), rows)).toThrow(GraphMismatchError);
    const later = rows.map((row) =>
      row.table === 'run' ? { ...row, row: { ...row.row, stateVersion: 99 } } : row,
    );
    expect(() => restore(planOf(line), later)).toThrow(StateVersionError);
  });
});
