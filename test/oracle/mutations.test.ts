import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Advance, Outstanding, RunState } from '../../src/runtime/engine/contract.js';
import type { Event } from '../../src/runtime/engine/events.js';
import { isNightly } from '../nightly.js';
import { again, call, coalesce, equals, graph, lit, node, ref, scope, step, undoing } from './build.js';
import { drive, ENGINE, type Engine } from './drive.js';
import { tell } from './oracle.js';
import { type Case, INPUT } from './random-graph.js';
import { RULES, type Rules } from './rules.js';
import { sample, timeoutFor } from './runs.js';
import { compared } from './same.js';
import { both, watchCopies, watchOrder, watchOwed, watchStale, watchUndoing } from './watch.js';
import type { Reply } from './world.js';

/** Far fewer graphs than every build tries. */
const GRAPHS = 2_500;

/** In its second round it skips what it did in the first, and then looks at it. */
const forgetful: Case = {
  world: { luck: [] },
  graph: graph(
    [
      call('once', {}, { when: equals(ref('state', 'round'), 0) }),
      node('set', 'count', { updates: [{ field: 'round', value: lit(1) }] }, { after: ['once'] }),
      node('goto', 'back', { target: 'once', max: 1, onLimit: 'continue' }),
      call('look', { at: coalesce(step('once'), lit('nothing')) }),
    ],
    { state: [{ name: 'round', scope: 'run', schema: {}, initial: 0 }] },
  ),
};

const value = (after: number): Reply => ({ kind: 'value', after, value: { id: 1 } });
const broken = (after: number): Reply => {
  return { kind: 'failure', after, attempted: true, failure: { code: 'X_BROKE', message: 'broke' } };
};

/** Between the attempts of a call the state changes that its input reads. */
const changing: Case = {
  world: { luck: [], replies: { slow: [broken(10), value(1)], quick: [value(2)] } },
  graph: graph(
    [
      call('slow', { at: ref('state', 'round') }, { retry: again(1) }),
      call('quick'),
      node('set', 'count', { updates: [{ field: 'round', value: lit(1) }] }, { after: ['quick'] }),
    ],
    { state: [{ name: 'round', scope: 'run', schema: {}, initial: 0 }] },
  ),
};

const trip = graph([
  node(
    'parallel',
    'book',
    {
      onPartialFailure: 'rollback',
      branches: [
        { id: 'pay', body: scope([call('pay', {}, { compensate: undoing('pay') })]) },
        { id: 'hotel', body: scope([call('hotel')]) },
      ],
    },
    { retry: again(1) },
  ),
]);

/** What was paid cannot be given back, and would be paid twice. */
const unsafe: Case = {
  graph: trip,
  world: { luck: [], replies: { pay: [value(1)], hotel: [broken(2)], undo_pay: [broken(3)] } },
};

/** Nothing is known of whether what was paid was given back, and it is paid again. */
const perhaps: Case = {
  graph: trip,
  world: {
    ...{ luck: [], tools: { pay: 'idempotent' } },
    replies: { pay: [value(1)], hotel: [broken(2), value(2)], undo_pay: [{ kind: 'hang' }] },
  },
};

/** What was paid was given back, and is paid again. */
const repeated: Case = {
  graph: trip,
  world: {
    ...{ luck: [], tools: { pay: 'idempotent', hotel: 'idempotent' } },
    replies: { pay: [value(1)], hotel: [broken(2), value(2)], undo_pay: [value(1)] },
  },
};

/** Cancelled while it gives back what was paid. */
const cancelled: Case = {
  graph: trip,
  world: {
    ...{ luck: [], replies: { pay: [value(1)], hotel: [broken(2)], undo_pay: [value(20)] } },
    cancel: { at: 9, compensate: false },
  },
};

const cases = [forgetful, changing, unsafe, perhaps, repeated, cancelled, ...sample(GRAPHS)];

const wrongRules: readonly [string, Partial<Rules>][] = [
  ['joins by `none_failed` as by `all_success`', joinAs('none_failed', 'all_success')],
  [
    'joins by `none_failed_min_one_success` as by `none_failed`',
    joinAs('none_failed_min_one_success', 'none_failed'),
  ],
  ['joins by `one_success` as by `all_done`', joinAs('one_success', 'all_done')],
  ['joins by `all_done` as by `none_failed`', joinAs('all_done', 'none_failed')],
  ['undoes what went well', { happyUndoes: true }],
  ['undoes what was done first before what was done last', { undoForward: true }],
  ['undoes nothing', { undoNothing: true }],
  ['gives the values of a loop in another order', { order: (values) => [...values].reverse() }],
  ['keeps what a jump should forget', { jumpForgets: false }],
  ['jumps once too often', { loopLimit: (max) => max + 1 }],
  ['says of who was not selected that its condition was false', { notSelected: 'condition_false' }],
  ['reports a false condition as not selected', { conditionFalse: 'not_selected' }],
  ['ignores fallbacks', { fallbacks: false }],
  ['repeats the key of a call whose effect was undone', { undoneRises: false }],
  ['repeats the key of a call that may have been undone', { perhapsUndoneRises: false }],
  ['repeats the keys of what a jump starts over', { restartsCount: false }],
  ['forgets how to undo what a jump starts over', { jumpForgetsEffects: true }],
  ['evaluates the input of each attempt', { frozenInput: false }],
  ['forgets a late success of an abandoned call', { lateCounts: false }],
  ['does not report the effect of a late success', { lateNamed: false }],
  ['does again what a roll-back left', { finalRollback: false }],
  ['stops a compensation when the run is cancelled', { undoingGoesOn: false }],
  ['fails a task where its steps wait', { pauses: false }],
  ['takes a call that was made outside for one of its own', { outsideRises: false }],
  ['undoes in a `compensate` node what was undone before', { stepsJoin: false }],
  ['has one field for all workflows that have their own', { sharesFields: true }],
  ['does not write the value of a node', { writes: false }],
  ['goes on after a loop that settles with failed items', { settles: false }],
  ['counts the limit of work from its request', { countsFromRequest: true }],
  ['ignores `else`', { elseTaken: false }],
  ['tries once too often', { extraTries: (extra) => extra + 1 }],
  ['tries once too few', { extraTries: (extra) => extra - 1 }],
  ['tries a refused input again', { refusedAgain: true }],
  ['repeats an effect for the sake of its result', { actsAgain: true }],
  ['goes on after a failure', { failFast: false }],
  ['lets calls settle that should be aborted', { abortWaits: true }],
  ['begins too many parts of a container at once', { window: (concurrency) => concurrency + 1 }],
  ['has one place too many', { places: (maxConcurrency) => maxConcurrency + 1 }],
  ['leaves out the defaults of a workflow’s inputs', { defaults: false }],
  ['lets a failure win over an `error` node', { errorWins: false }],
];

function joinAs(rule: string, other: Parameters<Rules['join']>[0]): Partial<Rules> {
  return { join: (given, joined) => RULES.join(given === rule ? other : given, joined) };
}

/** Every ninth one in `npm test`: most of them are found after many graphs. */
const someOf = <T>(all: readonly T[]): readonly T[] => all.filter((_, index) => isNightly || index % 9 === 0);

describe('an engine would be caught that', () => {
  test.each(someOf(wrongRules))('%s', { timeout: timeoutFor(GRAPHS) }, (_name, wrong) => {
    const rules = { ...RULES, ...wrong };
    expect(cases.some((each) => tellsOtherwise(each, rules))).toBe(true);
  });
});

/** Whether a machine with these rules would be told from the right one by this case. */
function tellsOtherwise({ graph, world }: Case, rules: Rules): boolean {
  const right = tell(graph, INPUT, world);
  try {
    const { expected, actual } = compared(right, tell(graph, INPUT, world, rules));
    return !isDeepStrictEqual(actual, expected);
  } catch {
    return true;
  }
}

/** With its changes made. */
function open(advance: Advance): Advance {
  return { ...advance, changes: advance.changes };
}

/** What each step gives, changed. */
function changed(change: (advance: Advance, event?: Event) => Advance): Engine {
  return {
    ...ENGINE,
    start: (...given) => change(open(ENGINE.start(...given))),
    advance: (plan, state, events) => change(open(ENGINE.advance(plan, state, events)), events[0]),
  };
}

function ofCommands(
  state: RunState,
  change: (all: Outstanding['commands']) => Outstanding['commands'],
): Outstanding {
  const { commands, more } = ENGINE.outstanding(state);
  return { commands: change(commands), more };
}

let steps = 0;

/** Every second time true. */
function turn(): boolean {
  steps += 1;
  return steps % 2 === 0;
}

const wrongEngines: readonly [string, Engine][] = [
  ['forgets a command', changed((given) => ({ ...given, commands: given.commands.slice(1) }))],
  [
    'gives a command twice',
    changed((given) => ({ ...given, commands: [...given.commands, ...given.commands.slice(0, 1)] })),
  ],
  ['owes more than it says', { ...ENGINE, outstanding: (state) => ofCommands(state, (all) => all.slice(1)) }],
  [
    'owes in another order',
    { ...ENGINE, outstanding: (state) => ofCommands(state, (all) => [...all].reverse()) },
  ],
  [
    'gives other bytes each time',
    changed((given) => ({ ...given, facts: given.facts.slice(0, turn() ? 9 : 99) })),
  ],
  [
    'reports the end of a node before its start',
    changed((given) => ({ ...given, facts: [...given.facts].reverse() })),
  ],
  [
    'keeps a value in the state that is not JSON',
    changed((given) => {
      given.state.fields.put('a', { value: (() => 1) as never });
      return given;
    }),
  ],
  [
    'takes late answers',
    {
      ...ENGINE,
      advance(plan, state, events) {
        const next = ENGINE.advance(plan, state, events);
        if (next.changes.length === 0) next.state.run.started = 0;
        return next;
      },
    },
  ],
];

describe('its steps would give an engine away that', () => {
  test.each(someOf(wrongEngines))('%s', { timeout: timeoutFor(GRAPHS) }, (_name, engine) => {
    expect(cases.slice(0, 200).some((each) => isCaught(engine, each))).toBe(true);
  });

  test('and the engine has none of that', { timeout: timeoutFor(GRAPHS) }, () => {
    expect(cases.slice(0, 200).filter((each) => isCaught(ENGINE, each))).toEqual([]);
  });
});

function isCaught(engine: Engine, { graph, world }: Case): boolean {
  const watch = both(
    ...[watchOwed(engine), watchCopies(engine, graph, INPUT, world), watchStale(engine, graph)],
    ...[watchOrder(graph), watchUndoing()],
  );
  try {
    drive(engine, graph, INPUT, world, watch);
    return false;
  } catch {
    return true;
  }
}
