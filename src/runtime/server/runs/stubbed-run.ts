import { sampleOf } from '../../../formats/json-schema/sample.js';
import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Fact, RunState } from '../../engine/contract.js';
import type { Event } from '../../engine/events.js';
import { snapshot } from '../../engine/snapshot.js';
import { processClock } from '../../host/in-process/clock.js';
import { LiveRun } from '../../host/in-process/live-run.js';
import type { RunKeeper } from '../../host/in-process/run-host.js';
import type { HostRow, LoadedRun } from '../../host/journal.js';
import { RunMask } from '../../host/run-mask.js';
import type { CallContext, CallPort } from '../../tools/port.js';
import type { Registry } from '../../tools/registry.js';
import type { Toolset } from '../../tools/toolset.js';
import { ActionHistory } from './action-history.js';
import type { Fork } from './fork.js';
import { runRowsIn } from './run-store.js';
import { runTexts } from './run-texts.js';
import { StoredRunReader, type StoredRunView } from './stored-view.js';

/** What answers in the place of tools. */
export interface Stubs {
  /** Results by tool. */
  readonly results: Readonly<Record<string, Json>>;
  /** Where the schemas of other results are. Default: other tools return null. */
  readonly tools?: Registry['tools'];
  /** Evaluates functions, which have no effect, and knows secret inputs. Default: a function fails. */
  readonly toolset?: Pick<Toolset, 'evaluate' | 'secretInputs'>;
}

/** A call that was answered by a stub. Secrets are masked. */
export interface StubbedCall {
  readonly step_id: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly result: Json;
  /** Where the result is from: what was given, an output schema, or nothing. */
  readonly stub: 'given' | 'schema' | 'null';
}

/** How far a run went with stubs. */
export interface StubbedRun {
  readonly view: StoredRunView;
  readonly calls: readonly StubbedCall[];
}

/** Goes on with a forked run in this process until it is over or waits. Nothing is written, and no tool is called. */
export function runStubbed(fork: Fork, stubs: Stubs): Promise<StubbedRun> {
  const { graph } = fork;
  const loaded: LoadedRun = { ...fork, seq: 0, epoch: 0, graphHash: hashIn(fork) };
  const { secretInputs } = stubs.toolset ?? {};
  const secrets = { input: inputIn(fork), rows: fork.hostRows };
  const mask = new RunMask(graph, { ...secrets, ...(secretInputs === undefined ? {} : { secretInputs }) });
  const port = new StubPort(stubs, mask);
  const notes = new Notes(fork.hostRows);
  return new Promise((resolve, reject) => {
    const keeper: RunKeeper = {
      changed() {
        if (run.liveStatus === 'busy') return;
        run.leave();
        const rows = snapshot(run.state);
        const now = { ...loaded, rows, hostRows: notes.rows };
        resolve({ view: new StoredRunReader(now, graph, { isHeld: true }).view, calls: port.calls });
      },
      broken: reject,
      note: (...transition) => notes.note(...transition),
    };
    const { owner } = runRowsIn(fork.hostRows).start ?? {};
    const context = {
      requestId: 'fork',
      progress: () => {},
      principal: owner ?? ({ kind: 'local' } as const),
    };
    const run = new LiveRun({ graph, loaded, context, mask }, { calls: port, clock: processClock }, keeper);
    run.go();
  });
}

/** The rows of the host as they would be written. */
class Notes {
  readonly #actions = new ActionHistory();
  readonly #rows = new Map<string, HostRow>();

  constructor(rows: readonly HostRow[]) {
    this.#actions.reload(rows);
    this.#put(rows);
  }

  get rows(): readonly HostRow[] {
    return [...this.#rows.values()];
  }

  note(events: readonly Event[], facts: readonly Fact[], state: RunState): readonly HostRow[] {
    this.#actions.note(events, facts, state, processClock.now());
    const rows = this.#actions.takeRows();
    this.#put(rows);
    return rows;
  }

  #put(rows: readonly HostRow[]): void {
    for (const row of rows) this.#rows.set(`${row.table} ${row.key}`, row);
  }
}

function startIn({ rows }: Fork) {
  for (const row of rows) if (row.table === 'start') return row.row;
  throw new Error('the run has no start');
}

function hashIn(fork: Fork): string {
  return startIn(fork).graphHash;
}

function inputIn(fork: Fork): JsonObject {
  return startIn(fork).input;
}

class StubPort implements CallPort {
  readonly calls: StubbedCall[] = [];
  readonly #stubs: Stubs;
  readonly #mask: RunMask;

  constructor(stubs: Stubs, mask: RunMask) {
    this.#stubs = stubs;
    this.#mask = mask;
  }

  async callTool(tool: string, input: JsonObject, { origin, mask }: CallContext) {
    const [result, stub] = this.#resultOf(tool);
    const secret = this.#stubs.toolset?.secretInputs(tool) ?? [];
    const step_id = origin?.source === 'workflow' ? origin.node : '';
    this.calls.push({
      ...{ step_id, tool, stub },
      input: mask?.input(input, secret) ?? input,
      result: this.#mask.json(result),
    });
    return { ok: true as const, value: result };
  }

  #resultOf(tool: string): readonly [Json, StubbedCall['stub']] {
    const given = ownProperty(this.#stubs.results, tool);
    if (given !== undefined) return [given, 'given'];
    const schema = ownProperty(this.#stubs.tools ?? {}, tool)?.outputSchema;
    return schema === undefined ? [null, 'null'] : [sampleOf(schema), 'schema'];
  }

  async readResource(_name: string, uri: string) {
    return { ok: true as const, value: { uri, text: '' } };
  }

  evaluate(...call: Parameters<CallPort['evaluate']>): ReturnType<CallPort['evaluate']> {
    const { toolset } = this.#stubs;
    if (toolset !== undefined) return toolset.evaluate(...call);
    const message = runTexts.stubbedFunction(call[0].name);
    return Promise.resolve({ ok: false, failure: { code: 'E_FUNCTION_UNKNOWN', message } });
  }
}
