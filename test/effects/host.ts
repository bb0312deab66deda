import type { Json } from '../../src/graph/json.js';
import type { Graph } from '../../src/graph/model.js';
import { planOf } from '../../src/plan/compile.js';
import { optionsOf } from '../../src/runtime/engine/actions.js';
import type { Advance, Command, Fact, Row, RunState } from '../../src/runtime/engine/contract.js';
import type { Event, StepAction } from '../../src/runtime/engine/events.js';
import { type Remains, remainsOf } from '../../src/runtime/engine/read.js';
import { restore, snapshot } from '../../src/runtime/engine/snapshot.js';
import { Agenda } from '../oracle/agenda.js';
import type { Engine } from '../oracle/drive.js';
import { INPUT } from '../oracle/random-graph.js';
import { rescue, said } from '../oracle/world.js';
import { toolsOf } from './calls.js';
import { type Draw, drawFrom, effectIn, type KeyMode, ToolWorld } from './tool-world.js';

/** Events without the time at which they happen. */
type Happening = Event extends infer E ? (E extends Event ? Omit<E, 'at'> : never) : never;
type ToolCall = Extract<Command, { kind: 'callTool' }>;

/** A graph, and the numbers that decide everything outside of it. */
export interface Trial {
  readonly graph: Graph;
  readonly mode: KeyMode;
  readonly luck: readonly number[];
  readonly cancel?: { readonly at: number; readonly compensate: boolean };
  readonly crashes: boolean;
  /** The host takes the failure of a call for sure that it makes again after a crash. */
  readonly trustsFailures?: true;
}

/** The outcome of a run as reported, and the effects that exist. */
export interface Outcome {
  readonly graph: Graph;
  readonly facts: readonly Fact[];
  readonly remains: Remains;
  readonly effects: ReadonlySet<string>;
  /** Commands that caused an effect, or returned it, by the effect's id: the nodes they were made for. */
  readonly makers: ReadonlyMap<string, ReadonlySet<string>>;
  /** Ids used twice, keys sent with two inputs, keys used again after what they did was undone. */
  readonly keyFaults: readonly string[];
}

const MOST_STEPS = 2_000;
const MOST_CRASHES = 3;

/** Plays a run to its end. Everything that is in memory is lost at a crash, and goes on from the state as text. */
export function play(engine: Engine, trial: Trial): Outcome {
  const host = new Host(trial);
  const { graph, cancel } = trial;
  const plan = planOf(graph);
  if (cancel !== undefined) {
    const what: Happening = { kind: 'cancelled', reason: 'enough', compensate: cancel.compensate };
    host.agenda.add({ at: cancel.at, rank: 'cancellation', key: '', what });
  }
  const facts: Fact[] = [];
  const take = ({ facts: told, commands, state }: Advance): RunState => {
    facts.push(...told);
    for (const fact of told)
      if (fact.kind === 'callReturned' && fact.outcome.ok) host.noteSuccess(fact.command);
    if (!host.crashes()) {
      for (const command of commands) host.carryOut(command);
      return state;
    }
    host.die(commands);
    const stored = restore(plan, JSON.parse(JSON.stringify(snapshot(state))) as Row[]);
    for (const command of engine.outstanding(stored).commands) host.carryOutAgain(command);
    return stored;
  };
  const tools = Object.fromEntries(toolsOf(graph).map((tool) => [tool, host.tools.safetyOf(tool)]));
  let state = take(engine.start(plan, INPUT, { runId: 'run', at: 0, tools }));
  for (let steps = 0; state.run.status === 'running'; steps += 1) {
    const next = host.agenda.next();
    if (next === undefined || steps > MOST_STEPS) throw new Error('the run does not end');
    const event = { ...host.made(next.what), at: host.agenda.now } as Event;
    state = take(engine.advance(plan, state, [event]));
  }
  return {
    graph,
    facts,
    remains: remainsOf(plan, state),
    effects: host.tools.effects,
    makers: host.makers,
    keyFaults: host.faults,
  };
}

class Host {
  readonly agenda = new Agenda<Happening>();
  readonly tools: ToolWorld;
  readonly makers = new Map<string, Set<string>>();
  /** The faults of ids and keys. */
  readonly faults: string[] = [];
  readonly #trial: Trial;
  readonly #draw: Draw;
  readonly #undone = new Set<string>();
  readonly #inputs = new Map<string, string>();
  readonly #ids = new Set<string>();
  readonly #compensations = new Map<string, string>();
  /** Calls that are made outside, by the id of the action. */
  readonly #outside = new Map<string, Pick<ToolCall, 'node' | 'tool' | 'input'>>();
  #crashes = 0;
  #steps = 0;
  #asked = 0;

  constructor(trial: Trial) {
    this.#trial = trial;
    this.#draw = drawFrom(trial.luck);
    this.tools = new ToolWorld(trial.mode, this.#draw);
  }

  crashes(): boolean {
    this.#steps += 1;
    if (!this.#trial.crashes || this.#crashes >= MOST_CRASHES) return false;
    if (this.#draw(9, 'crash', this.#steps) > 0) return false;
    this.#crashes += 1;
    return true;
  }

  /** Some of the last commands have reached their tools. No answer arrives any more. */
  die(commands: readonly Command[]): void {
    for (const command of commands) if (this.#draw(2, 'sent', command.id) === 0) this.carryOut(command);
    this.agenda.clear(({ rank }) => rank !== 'cancellation');
  }

  /** After a crash. A call that may have been made is repeated only where that is safe. */
  carryOutAgain(command: Command): void {
    if (command.kind !== 'callTool' || this.tools.safetyOf(command.tool) !== 'none') {
      this.carryOut(command, true);
      return;
    }
    const failure = { code: 'E_LOST', message: 'The process ended.', outcomeUnknown: true } as const;
    this.#expect(command, 0, { kind: 'toolFailed', command: command.id, failure, attempted: true });
  }

  carryOut(command: Command, isAgain = false): void {
    const isReissued =
      command.kind === 'requestAction' && (command.deliveredAt ?? command.remindedAt) !== undefined;
    if (!isAgain && !isReissued) this.#checkId(command);
    const { id } = command;
    switch (command.kind) {
      case 'callTool':
        this.#checkKey(command);
        this.#call(command, isAgain);
        this.#alarm(id, command.dueAt);
        break;
      case 'readResource':
        this.#expect(command, 3, {
          kind: 'resourceRead',
          command: id,
          value: { uri: command.uri, text: 'r' },
        });
        break;
      case 'evaluate':
        this.#expect(command, 2, { kind: 'evaluated', command: id, value: { ok: true, n: 2 } });
        break;
      case 'requestAction': {
        const { action, deliveredAt, remindedAt, dueAt } = command;
        if (dueAt !== undefined) this.#alarm(id, dueAt);
        if ((deliveredAt ?? remindedAt) !== undefined) break;
        this.#asked += 1;
        if (action.type === 'step') {
          this.#rescue(command, action);
          break;
        }
        if (action.type !== 'ask') this.#expect(command, 4, { kind: 'actionDelivered', command: id });
        for (const word of said(
          { luck: this.#trial.luck },
          action.type === 'ask' ? action.mode : action.type,
          optionsOf(action),
          command.node,
          this.#asked,
        )) {
          const what: Happening =
            word.kind === 'failure'
              ? { kind: 'actionFailed', command: id, failure: word.failure }
              : { kind: 'actionSubmitted', command: id, value: word.value };
          this.#expect(command, word.after, what);
        }
        break;
      }
      case 'startTimer':
        this.#alarm(id, command.dueAt);
        break;
      case 'cancelTimer':
        this.#drop(command.timer, true);
        break;
      case 'cancelCall':
        this.#drop(command.call, this.#draw(3, 'late', command.call) === 0);
        break;
    }
  }

  /** A call takes effect at once, if it does; its answer comes later, if it does. */
  #call(command: ToolCall, isAgain: boolean): void {
    const { id, tool, key, input } = command;
    const fate = this.#draw(100, 'fate', id, this.#crashes);
    const after = this.#draw(fate >= 90 ? 90 : 25, 'after', id);
    const fail = (attempted: boolean, isUnknown: boolean): void => {
      // What failed may have been done before the crash.
      const isUnsure = isAgain && this.#trial.trustsFailures !== true;
      const outcomeUnknown = isUnknown || isUnsure;
      const failure = { code: 'X_BROKE', message: 'broke', ...(outcomeUnknown ? { outcomeUnknown } : {}) };
      this.#expect(command, after, {
        kind: 'toolFailed',
        command: id,
        attempted: attempted || isUnsure,
        failure,
      } as Happening);
    };
    if (fate >= 64 && fate < 74) fail(true, false);
    else if (fate >= 74 && fate < 76) fail(false, false);
    else {
      const isUnknown = fate >= 76 && fate < 90;
      const happens = !isUnknown || this.#draw(3, 'happens', id) > 0;
      const value = happens ? this.tools.perform({ tool, key, input }) : undefined;
      this.#noteMaker(value, command.node);
      if (!isUnknown && value !== undefined)
        this.#expect(command, after, { kind: 'toolReturned', command: id, value });
      else if (fate < 83) fail(true, true);
    }
  }

  /** What becomes of a step that failed in a task. Its call may be made outside, with a key of its own, once. */
  #rescue(
    { id, node }: Extract<Command, { kind: 'requestAction' }>,
    { schema, tool, args }: StepAction,
  ): void {
    const [member] = Array.isArray(schema.required) ? schema.required : [];
    const what = rescue(
      { luck: this.#trial.luck },
      member === undefined ? undefined : String(member),
      node,
      this.#asked,
    );
    const of = { id, node };
    if (what.kind === 'retry') this.#expect(of, what.after, { kind: 'retryRequested', node });
    else if (what.kind === 'failure')
      this.#expect(of, what.after, { kind: 'actionFailed', command: id, failure: what.failure });
    else {
      if (tool !== undefined) this.#outside.set(id, { node, tool, input: args ?? {} });
      this.#expect(of, what.after, { kind: 'actionSubmitted', command: id, value: what.value });
    }
  }

  /** A call that is made outside is made when its result is sent. */
  made(what: Happening): Happening {
    if (what.kind !== 'actionSubmitted') return what;
    const call = this.#outside.get(what.command);
    if (call === undefined) return what;
    const { tool, input, node } = call;
    const value = this.tools.perform({ tool, key: `outside ${what.command}`, input });
    this.#noteMaker(value, node);
    return { ...what, value };
  }

  #noteMaker(value: Json | undefined, node: string): void {
    const effect = effectIn(value);
    if (effect === undefined) return;
    const nodes = this.makers.get(effect) ?? new Set();
    this.makers.set(effect, nodes.add(node));
  }

  #checkId({ id, kind }: Command): void {
    if (this.#ids.has(id)) this.faults.push(`the id ${id} of a ${kind} is used twice`);
    this.#ids.add(id);
  }

  #checkKey({ id, key, tool, input, isCompensation }: ToolCall): void {
    const sent = JSON.stringify([tool, input]);
    if ((this.#inputs.get(key) ?? sent) !== sent) this.faults.push(`${key} is sent with two inputs`);
    this.#inputs.set(key, sent);
    if (isCompensation) this.#compensations.set(id, key);
    if (this.#undone.has(key)) this.faults.push(`${key} is used again after what it did was undone`);
  }

  /** What a compensation undid is not called again with the same key. */
  noteSuccess(command: string): void {
    const key = this.#compensations.get(command);
    const [kind, call] = key === undefined ? [] : (JSON.parse(key) as string[]);
    if (kind === 'undo' && call !== undefined) this.#undone.add(call);
  }

  #expect(
    { id, node }: { readonly id: string; readonly node?: string } & object,
    after: number,
    what: Happening,
  ): void {
    this.agenda.add({ at: this.agenda.now + after, rank: 'answer', key: `${node ?? ''} ${id}`, what });
  }

  #alarm(id: string, at: number): void {
    const what: Happening = { kind: 'timerFired', command: id };
    this.agenda.add({ at: Math.max(at, this.agenda.now), rank: 'timer', key: id, what });
  }

  /** The run no longer waits for it. `isSilent`: it is not answered either. */
  #drop(id: string, isSilent: boolean): void {
    this.agenda.clear(
      ({ rank, what }) => 'command' in what && what.command === id && (isSilent || rank === 'timer'),
    );
  }
}
