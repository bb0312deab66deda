import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import type { Graph } from '../../graph/model.js';
import { planOf } from '../../plan/compile.js';
import { compensate, undo } from './constructs.fixture.js';
import type { Command, Fact } from './contract.js';
import { advance } from './engine.js';
import type { Event } from './events.js';
import { forkFault, forkRows, Replay } from './fork.js';
import { call, chain, graph, Run, step } from './graph.fixture.js';
import { randomGraph } from './random-graph.fixture.js';
import { answer, INPUT, type Move, moves, play, RANDOM, settle } from './random-run.fixture.js';
import { randomUndoGraph } from './random-undo-graph.fixture.js';
import { commandsOf } from './read.js';
import { restore, snapshot } from './snapshot.js';
import { rowsText } from './tables.fixture.js';

const START = { workflow: 'sample', graphHash: '', startedAt: 0, random: RANDOM, input: INPUT, tools: {} };

/** What a run took in, as its log has it. */
function logOf(of: Graph, world: readonly Move[]): { readonly events: Event[]; readonly texts: string[] } {
  const events: Event[] = [];
  const texts: string[] = [];
  play(of, world, ({ event, advance: { state } }) => {
    if (event !== undefined) events.push(event);
    texts.push(rowsText(state));
  });
  return { events, texts };
}

/** So many runs are forked. */
const FORKS = isNightly ? 400 : 40;

test('a log leads to the state that the run had after each of its events', () => {
  fc.assert(
    fc.property(fc.oneof(randomGraph, randomUndoGraph), moves, (of, world) => {
      const { events, texts } = logOf(of, world);
      const replay = new Replay(planOf(of), 'run', START, () => {});
      expect(rowsText(replay.state)).toBe(texts[0]);
      for (const [index, event] of events.entries()) {
        replay.apply([event]);
        expect(rowsText(replay.state)).toBe(texts[index + 1]);
      }
    }),
    { numRuns: isNightly ? 200 : 20 },
  );
});

describe('a fork', () => {
  test('goes on to its end, and undoes no effect of the other run', () => {
    let forks = 0;
    let undone = 0;
    fc.assert(
      fc.property(randomUndoGraph, moves, moves, fc.nat(), (of, world, later, cut) => {
        const { events } = logOf(of, world);
        const inherited = new Set<string>();
        const own = new Map<string, string>();
        const note = (_: readonly Event[], facts: readonly Fact[]): void => {
          for (const fact of facts) {
            if (fact.kind === 'callIssued') own.set(fact.command, fact.node);
            if (fact.kind === 'callReturned' && fact.outcome.ok) inherited.add(own.get(fact.command) ?? '');
          }
        };
        const replay = new Replay(planOf(of), 'new', START, note);
        for (const event of events.slice(0, cut % (events.length + 1))) replay.apply([event]);
        if (forkFault(replay.state) !== undefined) return;
        forks += 1;
        /** Keys of undo records of the other run. */
        const known = new Set(
          snapshot(replay.state).flatMap(({ table, key }) => (table === 'effects' ? [key] : [])),
        );
        const rows = forkRows(replay.state, { id: 'fork', at: 5, laterMs: 7, effects: inherited });
        let state = restore(planOf(of), rows);
        const owed = new Map<string, Command>(commandsOf(state).map((command) => [command.id, command]));
        for (let index = 0; owed.size > 0 && index < 300; index += 1) {
          const move = later[index] ?? { pick: 0, how: 'succeed', value: true, ticks: 1 };
          const open = [...owed.values()];
          const command = open[move.pick % open.length];
          if (command === undefined) break;
          const event: Event =
            move.how === 'cancel'
              ? { kind: 'cancelled', at: index, reason: 'enough', compensate: true }
              : answer(command, move.how === 'timeout' ? { how: 'fail', value: null } : move, index);
          if ('command' in event) owed.delete(event.command);
          // From then on the record is that of a call of the fork.
          if (event.kind === 'toolReturned' && command.kind === 'callTool' && command.isCompensation !== true)
            for (const key of [...known]) if (key.startsWith(`${command.node}@`)) known.delete(key);
          const next = advance(planOf(of), state, [event]);
          state = next.state;
          settle(owed, next.commands);
          for (const each of next.commands) {
            if (each.kind !== 'callTool' || each.isCompensation !== true) continue;
            undone += 1;
            expect(known).not.toContain(each.effect);
          }
        }
        expect(owed.size).toBe(0);
        expect(state.run.status).not.toBe('running');
      }),
      { numRuns: FORKS, seed: 7 },
    );
    expect(forks).toBeGreaterThan(FORKS / 2);
    expect(undone).toBeGreaterThan(FORKS / 4);
  });

  test('fails the step of a `compensate` node that would undo a call of the other run, and names it', () => {
    const of = graph([
      ...chain(call('a'), call('b', {}, { onError: { fallbackNode: 'clean' } })),
      compensate('clean', [undo('undo-a', { of: step('a') })]),
    ]);
    const run = new Run(of).returns('a', 1);
    const rows = forkRows(run.state, { id: 'fork', at: 0, laterMs: 0, effects: ['a'] });
    const failure = { code: 'E_TOOL', message: 'broke' };
    const event = { kind: 'toolFailed', at: 1, command: 'b#1', failure, attempted: true } as const;
    const { state, commands } = advance(planOf(of), restore(planOf(of), rows), [event]);
    expect(commands).toEqual([]);
    expect(state.run.status).toBe('failed');
    const reasons = [...state.effects.rows()].map(([, row]) => [row.tool, row.status, row.failure?.code]);
    expect(reasons).toEqual([['undo-a', 'failed', 'E_INHERITED']]);
    // The run itself undoes it.
    expect(run.fails('b', failure).commands).toMatchObject([{ kind: 'callTool', tool: 'undo-a' }]);
  });

  test('has keys of its own, and its times later', () => {
    const run = new Run(graph(chain(call('a'), call('b'))));
    const [before] = commandsOf(run.state);
    const rows = forkRows(run.state, { id: 'fork', at: 50_000, laterMs: 49_000, effects: [] });
    const state = restore(run.plan, rows);
    const [after] = commandsOf(state);
    if (before?.kind !== 'callTool' || after?.kind !== 'callTool') throw new Error('there is no call');
    expect(after).toEqual({
      ...before,
      key: before.key.replace('run-1', 'fork'),
      dueAt: before.dueAt + 49_000,
    });
    expect(state.run).toMatchObject({ id: 'fork', startedAt: 50_000 });
  });
});

describe('a fork of a task', () => {
  const nodes = [
    call('a', {}, { compensate: undo('un-a', { of: step('a') }) }),
    call('b', { x: step('a') }, { after: ['a'] }),
  ];
  const of = graph(nodes, { task: true });

  const forked = (run: Run) => {
    const rows = forkRows(run.state, { id: 'fork', at: 5, laterMs: 7, effects: ['a'] });
    return restore(planOf(of), rows);
  };

  test('waits where the other run waits, and makes its own call when it is tried again', () => {
    const run = new Run(of).returns('a', 1).fails('b');
    const state = forked(run);
    expect(commandsOf(state)).toEqual(commandsOf(run.state));
    const { commands } = advance(planOf(of), state, [{ kind: 'retryRequested', at: 6, node: 'b' }]);
    expect(commands.at(-1)).toMatchObject({ kind: 'callTool', input: { x: 1 } });
    expect(commands.at(-1)).toMatchObject({ key: expect.stringContaining('"fork"') });
  });

  test('undoes no effect that was made outside for the other run', () => {
    const state = forked(new Run(of).fails('a').answers('a', 1).fails('b'));
    const { commands } = advance(planOf(of), state, [
      { kind: 'cancelled', at: 6, reason: 'enough', compensate: true },
    ]);
    expect(commands.filter(({ kind }) => kind === 'callTool')).toEqual([]);
    expect(state.inherited).toEqual(['a@3']);
  });
});
