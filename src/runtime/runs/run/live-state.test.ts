import { describe, expect, test } from 'vitest';
import { planOf } from '../../../plan/compile.js';
import { start } from '../../engine/engine.js';
import { call, graph } from '../../engine/graph.fixture.js';
import { follow, isEnded, isSafe, type LiveState } from './live-state.js';

const ids = { runId: 'run-1', at: 1, random: 0 };
const first = start(planOf(graph([call('a')])), {}, ids);

const STATES: { readonly [Kind in LiveState['kind']]: Extract<LiveState, { kind: Kind }> } = {
  starting: { kind: 'starting', start: { input: {}, ids }, first },
  following: { kind: 'following' },
  working: { kind: 'working' },
  yielding: { kind: 'yielding' },
  gathering: { kind: 'gathering' },
  waiting: { kind: 'waiting' },
  writing: {
    ...{ kind: 'writing', start: undefined, transition: first, events: [] },
    ...{ delivery: undefined, response: null, hostRows: [] },
  },
  lost: { kind: 'lost' },
  over: { kind: 'over' },
};

const KINDS = Object.keys(STATES) as LiveState['kind'][];

/** The pairs that may happen; every other one is refused. */
const ALLOWED = new Set([
  ...['starting > working', 'starting > over'],
  ...['following > working', 'following > waiting', 'following > over'],
  ...['working > yielding', 'working > waiting', 'working > writing', 'working > over'],
  ...['yielding > working', 'yielding > over'],
  ...['gathering > working', 'gathering > over'],
  ...['waiting > working', 'waiting > gathering', 'waiting > over'],
  ...['writing > working', 'writing > lost', 'writing > over'],
]);

const pairs = KINDS.flatMap((from) => KINDS.map((to) => [from, to] as const));
const isAllowed = ([from, to]: (typeof pairs)[number]): boolean => ALLOWED.has(`${from} > ${to}`);

describe('the driver of a run', () => {
  test.each(pairs.filter(isAllowed))('that is %s becomes %s', (from, to) => {
    expect(follow(STATES[from], STATES[to])).toBe(STATES[to]);
  });

  test.each(pairs.filter((pair) => !isAllowed(pair)))('that is %s never becomes %s', (from, to) => {
    expect(() => follow(STATES[from], STATES[to])).toThrow(`a run that is ${from} cannot become ${to}`);
  });

  test('executes no more of a run that is over or lost, and shows what is safe alone', () => {
    expect(KINDS.filter((kind) => isEnded(STATES[kind]))).toEqual(['lost', 'over']);
    expect(KINDS.filter((kind) => !isSafe(STATES[kind]))).toEqual(['writing', 'lost']);
  });
});
