import { canonicalJson } from '../../../graph/canonical.js';
import type { JsonObject } from '../../../graph/json.js';
import { planOf } from '../../../plan/compile.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { effectiveEvents, Replay } from '../../engine/fork.js';
import { nodeOf } from '../../engine/identity.js';
import { commandOf, commandsOf } from '../../engine/read.js';
import { snapshot } from '../../engine/snapshot.js';
import { ActionHistory } from '../actions/action-history.js';
import type { Operator } from '../actions/operator-commands.js';
import { hasWholeLog } from '../store/host-rows.js';
import type { JournalEntry } from '../store/journal.js';
import type { StoredEntry } from '../store/reader.js';
import type { ForkSource } from './fork.js';
import { changesBetween } from './move-run.js';

/** Kinds of nodes whose timeout is that of a call. */
const CALLS: ReadonlySet<string> = new Set(['call', 'resource', 'compute']);

/** What a log shows of a run. */
class Course {
  readonly actions = new ActionHistory();
  /** What was done outside: calls and accepted answers, by the ids of their commands. */
  readonly deeds = new Map<string, { readonly node: string; readonly content: string }>();
  /** The nodes that have failed, each with the id of the call that failed it. */
  readonly failed = new Map<string, string | undefined>();
  state: RunState;

  constructor({ loaded, graph }: ForkSource, entries: readonly StoredEntry[]) {
    const startRow = loaded.rows.find((row) => row.table === 'start');
    if (startRow?.table !== 'start') throw new Error('the run has no start');
    const { startedAt } = startRow.row;
    const replay = new Replay(planOf(graph), loaded.run, startRow.row, (events, facts, state) => {
      this.actions.note(events, facts, state, events.at(-1)?.at ?? startedAt);
      for (const fact of facts) this.#note(fact, events);
    });
    for (const events of effectiveEvents(entries)) replay.apply(events);
    this.state = replay.state;
  }

  #note(fact: Fact, events: readonly Event[]): void {
    switch (fact.kind) {
      case 'callIssued':
        this.#add(fact, [fact.tool, fact.input]);
        return;
      case 'answered':
        this.#add(fact, fact.value);
        return;
      case 'nodeStarted':
        this.failed.delete(fact.node);
        return;
      case 'nodeFailed': {
        const cause = events.find(
          (event) =>
            'command' in event &&
            nodeOf(event.command) === fact.node &&
            (event.kind === 'timerFired' ? CALLS.has(fact.nodeKind) : event.kind !== 'actionFailed'),
        );
        this.failed.set(fact.node, cause !== undefined && 'command' in cause ? cause.command : undefined);
        return;
      }
      default:
    }
  }

  #add(
    { command, node }: Extract<Fact, { kind: 'callIssued' | 'answered' }>,
    content: Parameters<typeof canonicalJson>[0],
  ): void {
    this.deeds.set(command, { node, content: canonicalJson(content) });
  }

  /** The calls that failed the run, by their nodes: no container around them has handled the failure. */
  get failedCalls(): ReadonlyMap<string, string> {
    const calls = new Map<string, string>();
    for (const [node, command] of this.failed)
      if (command !== undefined && this.#failsRun(node)) calls.set(node, command);
    return calls;
  }

  #failsRun(node: string): boolean {
    const { container } = this.state.find(node).scope;
    return container === undefined || (this.failed.has(container.key) && this.#failsRun(container.key));
  }
}

interface Reopening {
  readonly entry: JournalEntry;
  /** The steps with calls in flight that may not be repeated. */
  readonly steps: readonly string[];
}

/** Refuses to reopen a run. */
function refused(message: string): { readonly failure: Failure } {
  return { failure: { code: 'E_NOT_REOPENED', message: `${message} Nothing was done.` } };
}

/**
 * Makes the entry that reopens a failed run: the calls that failed it are in flight again, as if their failures had not
 * arrived. All effects stay done, and each call keeps its id and its key.
 *
 * @param at now, in ms since the epoch.
 */
export function reopening(
  source: ForkSource,
  { at, by }: { readonly at: number; readonly by: Operator },
): Reopening | { readonly failure: Failure } {
  const { loaded, entries } = source;
  if (!hasWholeLog(source))
    return refused('The log does not begin with the run, which was forked or moved: fork it.');
  const before = new Course(source, entries);
  const { run } = before.state;
  if (run.status !== 'failed') return refused('Only a run that has failed is reopened.');
  const { failedCalls } = before;
  if (failedCalls.size === 0) {
    const where = run.failedNode === undefined ? '' : ` at step '${run.failedNode}'`;
    return refused(
      `No call has failed the run, but its workflow${where}, with ${run.failure?.code}: it would fail again. Start the workflow again.`,
    );
  }
  if (run.deadlineAt !== undefined && run.deadlineAt <= at)
    return refused('The deadline of the run has passed. Start its workflow again.');
  const events = [...failedCalls].map(
    ([node, reopens]): Event => ({
      ...{ kind: 'retryRequested', at, node, reopens, by: { ...by } as JsonObject },
    }),
  );
  const seq = loaded.seq + 1;
  const after = new Course(source, [...entries, { seq, events }]);
  const { state } = after;
  const lost = [...before.deeds].find(([id, { content }]) => after.deeds.get(id)?.content !== content);
  if (lost !== undefined)
    return refused(
      `The run has acted on its failure, in step '${lost[1].node}', as by undoing effects. Start its workflow again.`,
    );
  if (state.run.status !== 'running' || state.root.details.failure !== undefined)
    return refused('Another step of the run has failed by its workflow: it would fail again.');
  const existing = new Set(loaded.hostRows.map(({ table, key }) => `${table} ${key}`));
  const entry = {
    ...{ run: loaded.run, seq, expectedSeq: loaded.seq, epoch: loaded.epoch + 1, events },
    // The start does not change.
    changes: changesBetween(loaded.rows, snapshot(state)).filter(({ table }) => table !== 'start'),
    hostRows: after.actions
      .takeRows()
      .filter(({ table, key }) => !existing.has(`${table} ${key}`) && commandOf(state, key) !== undefined),
  };
  const steps = commandsOf(state).flatMap((each) =>
    each.kind === 'callTool' && !each.isCompensation && state.safetyOf(each.tool) === 'none'
      ? [each.node]
      : [],
  );
  return { entry, steps };
}
