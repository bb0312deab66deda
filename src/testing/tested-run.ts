import type { Owner } from '../decorators/context.js';
import type { Answerer } from '../graph/answerers.js';
import { defined } from '../graph/defined.js';
import { type Json, type JsonObject, type JsonSchema, ownProperty } from '../graph/json.js';
import type { Graph } from '../graph/model.js';
import { nearestName, withSuggestion } from '../graph/names.js';
import { nodesWithTasks } from '../graph/nodes.js';
import type { Fact, Failure, RunState } from '../runtime/engine/contract.js';
import { commandsOf } from '../runtime/engine/read.js';
import type { RunStoreOptions } from '../runtime/runs/journal-run-store.js';
import { journalStore } from '../runtime/runs/operate/run-stores.js';
import { stubNames } from '../runtime/runs/operate/stubs.js';
import { SkippingClock } from '../runtime/runs/run/clock.js';
import type { Envelope, SubmitAnswer } from '../runtime/runs/run/envelope.js';
import { ownerKey } from '../runtime/runs/run/owner.js';
import { FILE_LIMITS, type RunStore, type Waiter } from '../runtime/runs/run-store.js';
import type { Journal } from '../runtime/runs/store/journal.js';
import { MemoryJournal } from '../runtime/runs/store/memory-journal.js';
import { RunMask } from '../runtime/secrets/run-mask.js';
import { inputOf } from '../runtime/server/composite/workflow-calls.js';
import type { ServerSettings } from '../runtime/server/options.js';
import type { StepwrightServer } from '../runtime/server/stepwright-server.js';
import type { UntypedFactories } from '../runtime/tools/instances.js';
import type { CallPort } from '../runtime/tools/port.js';
import type { Registry } from '../runtime/tools/registry.js';
import type { Telemetry } from '../runtime/tools/telemetry.js';
import { createTrace, type TraceObserver } from '../runtime/trace/trace.js';
import { untypedServer } from '../runtime/transports/start-server.js';

/** A call of a tool by the run. */
export interface TestedCall {
  readonly step: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** Missing for a call that failed or has not returned. */
  readonly result?: Json;
  readonly failure?: Failure;
}

/** What the run waits for. */
export interface TestedWait {
  /** What `answer` and `answers` know it by. */
  readonly step: string;
  /** `confirm`, `text`, `choice`, `shell`, `delegate`, `wait` and others. */
  readonly kind: string;
  /** Of a question. */
  readonly message?: string;
  /** What an answer has to fit. Missing for a time. */
  readonly schema?: JsonSchema;
  /** Who may answer. Missing: the owner. */
  readonly answerBy?: readonly Answerer[];
  /** When a time is over. */
  readonly until?: Date;
}

/** An answer that a test has prepared. */
export type ScriptedAnswer = Json | ((question: TestedWait) => Json);

/** Where the process of a run is killed. */
export interface Crash<Tool extends string = string> {
  readonly tool: Tool;
  /** After: the work of the tool is done, and its result is lost. */
  readonly when: 'before' | 'after';
}

/** What a test says of a run. */
export interface ScriptedRun<Tool extends string = string> {
  /**
   * Answers of questions, and results of other work for clients, by the id of the step: a value, a list with one for each
   * time the step asks, or a function of the question. They come from a caller who may answer.
   */
  readonly answers?: Readonly<Record<string, ScriptedAnswer>>;
  /** Supplies the values of `ask.model`. */
  readonly model?: ServerSettings['model'];
  /**
   * The time of the run is not that of the process. `'skip'`: waits and delays before retries take no time, unless the run
   * waits for an answer as well. `'hold'`: time passes with `advance` alone. Default: `'skip'`.
   */
  readonly clock?: 'skip' | 'hold';
  /** The time at the start. Default: now. */
  readonly startsAt?: Date;
  /** The caller who starts the run. Default: an authenticated caller without roles. */
  readonly owner?: Owner;
  /**
   * Kills the process of the run once, at the first call of a tool, before or after the tool does its work. A run that
   * ends without this call is an error of the test.
   */
  readonly crashAt?: Crash<Tool>;
}

interface TestedRunOptions extends ScriptedRun {
  readonly server: ServerSettings & UntypedFactories;
}

/** How long a call may take in this process before the run counts as one that waits for it, in ms. */
const PATIENCE_MS = 5_000;

/** A run under test. What it did so far is in its members. */
export class TestedRun<Result> {
  /** The calls of tools, in order. A call that was refused by its schema is among them. */
  readonly calls: TestedCall[] = [];
  readonly #registry: Registry;
  readonly #graph: Graph;
  readonly #options: TestedRunOptions;
  readonly #owner: Owner;
  readonly #clock: TestClock;
  readonly #journal = new MemoryJournal();
  readonly #effects: (TestedCall & { readonly command: string })[] = [];
  readonly #answered = new Map<string, number>();
  #process: Process;
  #trace: TraceObserver | undefined;
  #state: RunState | undefined;
  #envelope: Envelope | undefined;
  #hasCrashed = false;
  #isStopped = false;
  /** Names the run; those that it starts have other names. */
  #ref: string | undefined;
  /** Why the model of the test gave no value. */
  #modelError: unknown;
  /** What the test has asked for last: the next waits for it. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @internal `testWorkflow` makes it. */
  constructor(registry: Registry, graph: Graph, options: TestedRunOptions) {
    this.#registry = registry;
    this.#graph = graph;
    this.#options = options;
    this.#owner = options.owner ?? { kind: 'principal', subject: 'owner' };
    this.#clock = new TestClock(options.startsAt?.getTime());
    for (const step of Object.keys(options.answers ?? {})) this.checkName('step', step);
    if (options.crashAt !== undefined) this.checkName('tool', options.crashAt.tool);
    this.#process = this.#boot();
  }

  get status(): Envelope['status'] {
    return this.#shown.status;
  }

  /** What the workflow hands back. */
  get result(): Result | undefined {
    return this.#shown.result as Result | undefined;
  }

  /** Why it failed or was cancelled. */
  get failure(): Pick<Failure, 'code' | 'message'> | undefined {
    const { error } = this.#shown;
    if (error === undefined) return undefined;
    const { code, message } = error;
    const why = code === 'E_MODEL_VALUE' && this.#modelError !== undefined ? ` (${this.#modelError})` : '';
    return { code, message: `${message}${why}` };
  }

  /** Calls that may have changed something and were not undone. */
  get effects(): readonly TestedCall[] {
    return this.#effects.map(({ command: _, ...call }) => call);
  }

  /** Answers and times that the run waits for. */
  get waiting(): readonly TestedWait[] {
    return this.#shown.actions.map((action): TestedWait => {
      const { step_id, type, schema, answer_by, parameters, resume_at } = action;
      const { message } = parameters as { readonly message?: string };
      return {
        step: step_id,
        kind: type === 'prompt' ? parameters.type : type,
        ...defined({ message, schema, answerBy: answer_by }),
        ...(resume_at === undefined ? {} : { until: new Date(resume_at) }),
      };
    });
  }

  /** The conversation that a prompt of the workflow is, as text. */
  get trace(): string {
    const [trace, state] = [this.#trace, this.#state];
    if (trace === undefined || state === undefined) return '';
    return trace
      .finish(state, { workflowId: state.run.id })
      .messages.map(
        ({ role, content }) => `[${role}] ${content.type === 'text' ? content.text.trimEnd() : ''}\n`,
      )
      .join('\n');
  }

  /**
   * Answers a question, or hands in the result of other work, and runs on.
   *
   * @param how the step that asks (default: the only one), and who answers (default: a caller who may).
   * @throws Error with the `code` of the refusal.
   */
  async answer(value: unknown, how: { readonly step?: string; readonly as?: Owner } = {}): Promise<this> {
    return this.#inTurn(async () => {
      await this.#submit(value as Json, how);
      return this.#settle();
    });
  }

  /** Lets time pass: what is due on the way happens at its time. */
  async advance(ms: number): Promise<this> {
    if (!(Number.isFinite(ms) && ms >= 0))
      throw new RangeError(`advance() takes a number of ms from 0, not ${String(ms)}`);
    return this.#inTurn(async () => {
      const end = this.#clock.now() + ms;
      do await this.#settle(false);
      while (!this.#isOver && this.#clock.skip(end));
      this.#clock.reach(end);
      return this.#settle();
    });
  }

  /** Kills the process of the run and starts another one on its store, which resumes the run. */
  async kill(): Promise<this> {
    return this.#inTurn(async () => {
      await this.#restart();
      return this.#settle();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      if (this.#isStopped) throw new Error('The run was stopped: answer it, or let time pass, before stop()');
      return work();
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** @internal Throws a TypeError for a name that is of no tool, or of no step. */
  checkName(kind: 'tool' | 'step', name: string): void {
    const names = kind === 'tool' ? Object.keys(this.#registry.tools) : stepNames(this.#graph);
    // The key of an item or of a step inside another workflow names a step at run time.
    if (names.includes(name) || (kind === 'step' && /[/[]/.test(name))) return;
    const of = kind === 'tool' ? 'The registry' : `Workflow '${this.#graph.name}'`;
    throw new TypeError(withSuggestion(`${of} has no ${kind} '${name}'`, nearestName(name, names)));
  }

  /** Stops the server of a run that is not over, with its hooks. It takes no answer afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#process.server.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** @internal */
  async start(args: JsonObject): Promise<void> {
    const { server, store, host } = this.#process;
    const checked = await inputOf(this.#graph, args, host.schemas);
    if (!checked.ok) throw refusal(checked.failure);
    const { input } = checked;
    await server.start();
    const { secretInputs, toolSafety = () => 'none', isPrivate = () => false } = host;
    const mask = new RunMask(this.#graph, { input, secretInputs });
    this.#trace = createTrace({
      graph: this.#graph,
      mask,
      describeTool: (name) => {
        const entry = ownProperty(this.#registry.tools, name);
        return (
          entry && {
            description: entry.description,
            safety: toolSafety(name),
            ...defined({ secret: entry.secret }),
          }
        );
      },
      isPrivate,
      args: Object.entries(args).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
      instructions: [],
    });
    const started = await store.start(
      { owner: this.#owner, graph: this.#graph, input, mask },
      this.#waiter(),
    );
    this.#envelope = envelopeIn(started);
    await this.#settle();
  }

  get #shown(): Envelope {
    if (this.#envelope === undefined) throw new Error('the run was not started');
    return this.#envelope;
  }

  get #isOver(): boolean {
    return !['running', 'waiting'].includes(this.status);
  }

  #waiter(): Waiter {
    return { answerMs: 0, request: this.#request() };
  }

  #request(principal = this.#owner): Waiter['request'] {
    return { requestId: 'test', signal: new AbortController().signal, progress: () => {}, principal };
  }

  #observe(fact: Fact, state: RunState): void {
    this.#state = state;
    this.#trace?.observe(fact, state);
    if (fact.kind === 'callIssued') {
      const { node, command, tool, input, isCompensation, undoes = node } = fact;
      const undone =
        isCompensation === true ? this.#effects.findLast(({ step }) => step === undoes) : undefined;
      this.#issued.set(command, { step: node, tool, input, command, ...defined({ undone }) });
    }
    if (fact.kind !== 'callReturned') return;
    const issued = this.#issued.get(fact.command);
    if (issued === undefined) return;
    const { undone, ...call } = issued;
    const { outcome } = fact;
    if (undone !== undefined && outcome.ok) this.#effects.splice(this.#effects.indexOf(undone), 1);
    if (undone !== undefined || this.#process.host.toolSafety?.(call.tool) === 'readOnly') return;
    if (outcome.ok) this.#effects.push({ ...call, result: outcome.value });
    else if (outcome.failure.outcomeUnknown === true)
      this.#effects.push({ ...call, failure: outcome.failure });
  }

  readonly #issued = new Map<
    string,
    TestedCall & { readonly command: string; readonly undone?: TestedCall & { readonly command: string } }
  >();

  #boot(): Process {
    const { server: settings } = this.#options;
    const model = this.#modelOf(this.#options.model);
    const killing = new AbortController();
    const process = { killed: killing.signal, kill: () => killing.abort() };
    let parts: Pick<Process, 'store' | 'host'> | undefined;
    const server = untypedServer(this.#registry, {
      ...settings,
      ...defined({ model }),
      store: {
        open: (options: RunStoreOptions) => {
          const host = {
            ...options,
            clock: this.#clock,
            calls: this.#recorded(options.calls, process),
            telemetry: this.#observed(options.telemetry),
            limits: { ...FILE_LIMITS, ...settings.runs },
          };
          const store = journalStore(untilKilled(this.#journal, process.killed), host);
          parts = { store, host };
          return store;
        },
      },
    });
    server.authenticates();
    if (parts === undefined) throw new Error('the server has opened no store');
    return { ...process, ...parts, server };
  }

  /** The model of the test, of which the last error is kept. */
  #modelOf(model: ServerSettings['model']): ServerSettings['model'] {
    return (
      model &&
      (async (...request) => {
        try {
          return await model(...request);
        } catch (error) {
          this.#modelError = error;
          throw error;
        }
      })
    );
  }

  async #restart(): Promise<void> {
    this.#process.kill();
    this.#process = this.#boot();
    await this.#process.server.start();
  }

  /**
   * Telemetry that shows the test all facts of its run: a request gets those of a process from its own arrival on, and
   * would miss what a run that is resumed does before.
   */
  #observed(own: Telemetry | undefined): Telemetry {
    return {
      request: (request, work) => (own === undefined ? work() : own.request(request, work)),
      carrier: () => own?.carrier() ?? {},
      remoteCall: (call, make) => (own === undefined ? make() : own.remoteCall(call, make)),
      upstream: (reference, send) => (own === undefined ? send({}) : own.upstream(reference, send)),
      storeFault: (problem) => own?.storeFault(problem),
      run: (run) => {
        const inner = own?.run(run);
        this.#ref ??= run.ref;
        return {
          carrier: inner?.carrier ?? {},
          observe: (fact, state) => {
            if (run.ref === this.#ref) this.#observe(fact, state);
            inner?.observe(fact, state);
          },
          inCall: (call, make) => (inner === undefined ? make() : inner.inCall(call, make)),
          end: () => inner?.end(),
        };
      },
    };
  }

  /** The calls of a process, as the test sees them. A process that was killed makes no call, and gets no result. */
  #recorded(calls: CallPort, { killed, kill }: Pick<Process, 'killed' | 'kill'>): CallPort {
    const crash = (tool: string, when: Crash['when']): boolean => {
      const { crashAt } = this.#options;
      const isPoint = !this.#hasCrashed && crashAt?.tool === tool && crashAt.when === when;
      if (isPoint) {
        this.#hasCrashed = true;
        kill();
      }
      return killed.aborted;
    };
    return {
      ...defined({ isolates: calls.isolates }),
      callTool: async (tool, input, context) => {
        if (crash(tool, 'before')) return never();
        const { origin } = context;
        const call = { step: origin?.source === 'workflow' ? origin.node : '', tool, input };
        const index = this.calls.push(call) - 1;
        const outcome = await calls.callTool(tool, input, context);
        if (crash(tool, 'after')) return never();
        this.calls[index] = {
          ...call,
          ...(outcome.ok ? { result: outcome.value } : { failure: outcome.failure }),
        };
        return outcome;
      },
      readResource: (...call) => calls.readResource(...call),
      evaluate: (...call) => calls.evaluate(...call),
    };
  }

  /** Runs on until the run is over, or waits for what the test has not said. */
  async #settle(skips = this.#options.clock !== 'hold'): Promise<this> {
    const patience = performance.now() + PATIENCE_MS;
    for (;;) {
      if (this.#process.killed.aborted) await this.#restart();
      const { store } = this.#process;
      const id = this.#shown.workflow_id;
      const work = await store.inspect(this.#owner, id, ({ state }) =>
        state === undefined ? 'over' : this.#workOf(state),
      );
      const answer = await store.get(this.#owner, id);
      if (!answer.ok) throw refusal(answer.failure);
      this.#envelope = answer.envelope;
      if (this.#isOver) {
        await this.#process.server.stop();
        const { crashAt } = this.#options;
        if (crashAt !== undefined && !this.#hasCrashed)
          throw new Error(`The run is ${this.status} without a call of '${crashAt.tool}': it did not crash`);
        return this;
      }
      if (work === 'busy') {
        if (performance.now() > patience) return this;
        await new Promise((resolve) => setTimeout(resolve, 1));
      } else if (!(await this.#answerNext()) && !(skips && this.#isTimed && this.#clock.skip())) return this;
    }
  }

  #workOf(state: RunState): 'busy' | 'idle' {
    const { model } = this.#options;
    const isBusy = commandsOf(state).some(
      (command) =>
        (command.kind !== 'requestAction' && command.kind !== 'startTimer') ||
        (command.kind === 'requestAction' &&
          command.action.type === 'ask' &&
          command.action.mode === 'model' &&
          model !== undefined),
    );
    return isBusy || state.run.remainingWork !== undefined ? 'busy' : 'idle';
  }

  /** Whether time alone moves the run on. */
  get #isTimed(): boolean {
    return this.waiting.every(({ kind }) => kind === 'wait');
  }

  /** Gives the next answer that the test has prepared. */
  async #answerNext(): Promise<boolean> {
    const { answers = {} } = this.#options;
    for (const question of this.waiting) {
      const name = namesOf(question.step).find((each) => Object.hasOwn(answers, each));
      if (name === undefined || question.schema === undefined) continue;
      const count = this.#answered.get(name) ?? 0;
      this.#answered.set(name, count + 1);
      const script = answers[name];
      const value =
        typeof script === 'function' ? script(question) : Array.isArray(script) ? script[count] : script;
      if (Array.isArray(script) && count >= script.length) continue;
      await this.#submit(value, { step: question.step }).catch((error: Error) => {
        throw Object.assign(error, { message: `\`answers\` of '${name}': ${error.message}` });
      });
      return true;
    }
    return false;
  }

  async #submit(result: Json, { step, as }: { readonly step?: string; readonly as?: Owner }): Promise<void> {
    const { store } = this.#process;
    const questions = this.#shown.actions.filter(({ schema }) => schema !== undefined);
    const fitting = questions.filter(({ step_id }) => step === undefined || namesOf(step_id).includes(step));
    const [action, ...others] = fitting;
    if (action === undefined || others.length > 0) {
      const steps = questions.map(({ step_id }) => `'${step_id}'`).join(', ');
      const open = steps === '' ? 'the run waits for no answer' : `the run waits for answers of ${steps}`;
      throw new Error(
        `${step === undefined ? 'No single step asks' : `Step '${step}' does not ask`}: ${open}`,
      );
    }
    const by = as ?? answererOf(action.answer_by, this.#owner);
    const waiter = { ...this.#waiter(), request: this.#request(by) };
    const isOwner = ownerKey(by) === ownerKey(this.#owner);
    const shared = isOwner ? [] : await store.toAnswer(by);
    const id =
      shared.find(({ action_id }) => action_id === action.action_id)?.workflow_id ?? action.workflow_id;
    const answer = await store.submit(by, id, { actionId: action.action_id, result }, waiter);
    if (answer.ok) return;
    const { code, message } = answer.failure;
    // As for a client, so that a test can tell.
    const isForeign = code === 'WORKFLOW_NOT_FOUND' && as !== undefined;
    const why = isForeign ? '; this caller may not answer, and does not learn that there is such a run' : '';
    throw refusal({ ...answer.failure, message: `${message}${why}` });
  }
}

/** What the test may call the steps of a workflow. */
function stepNames(graph: Graph): readonly string[] {
  return [...new Set(nodesWithTasks(graph).flatMap(({ id }) => namesOf(id)))];
}

/** A server on the journal of a test, and whether it was killed. */
interface Process {
  readonly killed: AbortSignal;
  readonly kill: () => void;
  readonly server: StepwrightServer;
  readonly store: RunStore;
  readonly host: RunStoreOptions;
}

class TestClock extends SkippingClock {
  reach(time: number): void {
    this.time = Math.max(this.time, time);
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** A journal that a process reaches until it is killed: afterwards no method of it answers. */
function untilKilled(journal: Journal, killed: AbortSignal): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => (killed.aborted ? never() : member.apply(target, args));
    },
  });
}

/** What a test may call a step: its whole key, its id, or the field of the workflow that it is a part of. */
function namesOf(key: string): readonly string[] {
  return [...stubNames(key), key.split(/[.[/]/, 1)[0] ?? key];
}

/** A caller who may answer. */
function answererOf(answerers: readonly Answerer[] | undefined, owner: Owner): Owner {
  if (answerers === undefined || answerers.some(({ kind }) => kind === 'owner')) return owner;
  if (answerers.some(({ kind }) => kind === 'human')) return { ...owner, person: true };
  const roles = answerers.flatMap((each) => (each.kind === 'role' ? [each.role] : []));
  return { kind: 'principal', subject: 'answerer', roles };
}

function envelopeIn(answer: SubmitAnswer): Envelope {
  if (!answer.ok) throw refusal(answer.failure);
  if ('accepted' in answer) throw new Error('the caller is not the owner of the run');
  return answer.envelope;
}

function refusal({ code, message, details }: Failure): Error {
  return Object.assign(new Error(message), { code, ...defined({ details }) });
}
