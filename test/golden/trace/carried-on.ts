import { isJsonObject, type Json, type JsonObject } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { planOf } from '../../../src/plan/compile.js';
import { actionKind, optionsOf, textOf } from '../../../src/runtime/engine/actions.js';
import type { Advance, Command, RunState } from '../../../src/runtime/engine/contract.js';
import type { Event, OwedCommand } from '../../../src/runtime/engine/events.js';
import { RunMask } from '../../../src/runtime/secrets/run-mask.js';
import type { HandOffCall, PromptTrace } from '../../../src/runtime/trace/messages.js';
import { createTrace } from '../../../src/runtime/trace/trace.js';
import { drive, ENGINE, IDS } from '../../oracle/drive.js';
import { type Case, INPUT } from '../../oracle/random-graph.js';

/** A run that stopped, and its trace. */
export interface Stopped {
  readonly graph: Graph;
  readonly state: RunState;
  readonly trace: PromptTrace;
  readonly events: readonly Event[];
  /** Whether a step began after a failure, or replaced a cancelled step. */
  readonly wentOn: boolean;
  /** Keys of the nodes that went back. */
  readonly jumped: readonly string[];
  /** Ids of the commands that the failed steps have issued last. */
  readonly failed: ReadonlySet<string>;
}

export function stop({ graph, world }: Case): Stopped {
  const mask = new RunMask(graph, { input: INPUT });
  const describeTool = (name: string) => ({
    ...{ description: name, annotations: { readOnlyHint: true }, safety: 'readOnly' as const },
  });
  const trace = createTrace({ graph, mask, describeTool, args: [], instructions: [] });
  const events: Event[] = [];
  const issued = new Map<string, string>();
  const jumped: string[] = [];
  const steps: { readonly event?: Event; readonly issued: boolean }[] = [];
  let stoodIn = false;
  let last = ENGINE.start(planOf(graph), INPUT, IDS);
  drive(ENGINE, graph, INPUT, world, ({ event, advance }) => {
    for (const fact of advance.facts) {
      mask.observe(fact, advance.state);
      trace.observe(fact, advance.state);
      if (fact.kind === 'jumped') jumped.push(fact.node);
    }
    if (event !== undefined) events.push(event);
    stoodIn ||= event?.kind === 'cancelled' && advance.facts.some(({ kind }) => kind === 'handled');
    for (const command of advance.commands) {
      if ('node' in command && !('isCompensation' in command)) issued.set(command.node, command.id);
    }
    const isIssued = advance.commands.some((each) => 'node' in each && !('isCompensation' in each));
    steps.push({ ...(event === undefined ? {} : { event }), issued: isIssued });
    last = advance;
  });
  const told = trace.finish(last.state);
  const failed = new Set(told._meta.errors.flatMap(({ step }) => issued.get(step ?? '') ?? []));
  const first = steps.findIndex(
    ({ event }) => event !== undefined && 'command' in event && failed.has(event.command),
  );
  const wentOn =
    stoodIn ||
    (first >= 0 &&
      steps
        .slice(first)
        .some(
          ({ event, issued: isIssued }) =>
            isIssued ||
            (event !== undefined && isFailure(event) && 'command' in event && !failed.has(event.command)),
        ));
  return { graph, state: last.state, trace: told, events, wentOn, jumped, failed };
}

/** A call, read or question that a hand-off lists. */
export type Asked = Extract<OwedCommand, { kind: 'callTool' | 'readResource' | 'requestAction' }>;

/**
 * A new run that is brought to the state in which another one stopped: successful steps succeed again, and failed steps
 * have no answer yet.
 */
export class CarriedOn {
  readonly #graph: Graph;
  readonly #luck: boolean;
  /** What calls have given, by the key of their nodes. */
  readonly answers = new Map<string, Json>();
  /** Keys of the nodes that went back since the other run stopped. */
  readonly jumped: string[] = [];
  /** Keys of the nodes that have failed since, whatever the calls gave. */
  readonly failed: string[] = [];
  #step: Advance;
  #at = 0;

  /** @param luck what conditions read from answers: `ok`, and whether `n` is more than nothing. */
  constructor({ graph, events, failed, jumped }: Stopped, luck: boolean) {
    this.#graph = graph;
    this.#luck = luck;
    this.#step = ENGINE.start(planOf(graph), INPUT, IDS);
    for (const event of events) {
      if (event.kind === 'cancelled') break;
      if (event.kind === 'retryRequested') this.#send(event, event.node);
      if (!('command' in event) || failed.has(event.command)) continue;
      const command = ENGINE.outstanding(this.#step.state).commands.find(({ id }) => id === event.command);
      if (command !== undefined) this.#send(event, command.node);
    }
    this.failed.length = 0;
    for (const node of jumped) {
      const at = this.jumped.indexOf(node);
      if (at >= 0) this.jumped.splice(at, 1);
    }
  }

  get status(): RunState['run']['status'] {
    return this.#step.state.run.status;
  }

  get failure(): string {
    const { failure, failedNode } = this.#step.state.run;
    return `${failedNode}: ${failure?.message}`;
  }

  /** The outstanding commands. Those without an outside decision are answered immediately. */
  open(): Asked[] {
    for (;;) {
      const { commands } = ENGINE.outstanding(this.#step.state);
      const silent = commands.find(
        (each) => each.kind === 'evaluate' || 'isCompensation' in each || isWait(each),
      );
      if (silent === undefined) return commands.filter(isAsked);
      this.answer(silent);
    }
  }

  answer(command: Command): void {
    const event = this.#answerTo(command);
    this.#send(event, 'node' in command ? command.node : '');
  }

  #send(event: Event, node: string): void {
    this.#at = Math.max(this.#at, event.at);
    if (event.kind === 'toolReturned' || event.kind === 'resourceRead' || event.kind === 'actionSubmitted')
      this.answers.set(node, event.value);
    this.#step = ENGINE.advance(planOf(this.#graph), this.#step.state, [event]);
    for (const fact of this.#step.facts) {
      if (fact.kind === 'jumped') this.jumped.push(fact.node);
      if (fact.kind === 'nodeFailed' || fact.kind === 'handled') this.failed.push(fact.node);
    }
  }

  #answerTo(command: Command): Event {
    const about = { at: this.#at, command: command.id };
    switch (command.kind) {
      case 'callTool':
        return { kind: 'toolReturned', ...about, value: this.#value(command.node) };
      case 'readResource':
        return { kind: 'resourceRead', ...about, value: { uri: command.uri, text: 'text' } };
      case 'evaluate':
        return { kind: 'evaluated', ...about, value: this.#value(command.node) };
      case 'requestAction': {
        const { action } = command;
        const value = {
          info: { acknowledged: true },
          confirm: { confirmed: this.#luck },
          text: { input: 'x' },
          choice: { selected: optionsOf(action)[0] ?? '' },
          yield: { ok: this.#luck },
          model: { ok: this.#luck },
          shell: { exit_code: this.#luck ? 0 : 1 },
          mcp_call: { ok: this.#luck },
          step: { ok: this.#luck },
          delegate: { response: 'x' },
        }[actionKind(action)];
        return { kind: 'actionSubmitted', ...about, value };
      }
      default:
        return { kind: 'timerFired', ...about };
    }
  }

  #value(node: string): JsonObject {
    return { ok: this.#luck, n: this.#luck ? 2 : 0, confirmed: this.#luck, of: node };
  }
}

function isAsked(command: OwedCommand): command is Asked {
  return command.kind === 'callTool' || command.kind === 'readResource' || command.kind === 'requestAction';
}

function isWait(command: Command): boolean {
  return command.kind === 'startTimer' && (command.purpose === 'wait' || command.purpose === 'backoff');
}

function isFailure({ kind }: Event): boolean {
  return kind.endsWith('Failed') || kind === 'timerFired';
}

/** What a command gives to the outside, as a hand-off lists it. */
export function inputOf(command: Asked): Json {
  if (command.kind === 'callTool') return command.input;
  if (command.kind === 'readResource') return command.uri;
  const { action } = command;
  if (action.type === 'shell') return action.command;
  if (action.type === 'step') return action.args ?? textOf(action);
  return action.type === 'mcp_call' ? action.args : textOf(action);
}

export function givenTo(call: HandOffCall): Json {
  if ('tool' in call) return call.arguments;
  if ('command' in call) return call.command;
  if ('instructions' in call) return call.instructions;
  return 'uri' in call ? call.uri : call.ask;
}

/** The steps that a line of a hand-off lists: those of all items if the line represents them all. */
export function isAbout(call: HandOffCall, node: string): boolean {
  if (call.in?.includes('[*]') !== true) return call.step === node;
  return nameOf(call.step) === nameOf(node);
}

const nameOf = (key: string): string => key.replaceAll(/\[[\d[\]]*\]/g, '');

const PLACEHOLDER = /<(?:output from ([^<>]+)|field '([^<>]+)' from ([^<>]+))>/;
const ANY_PLACEHOLDER = /<[^<>]+>/;

/** Whether a listed value is this one once its placeholders are filled in with what the calls before have given. */
export function fits(
  listed: Json | undefined,
  value: Json | undefined,
  answers: ReadonlyMap<string, Json>,
): boolean {
  if (typeof listed === 'string' && ANY_PLACEHOLDER.test(listed)) {
    const [whole, step, path, from] = PLACEHOLDER.exec(listed) ?? [];
    const answer = answers.get(step ?? from ?? '');
    if (whole !== listed || answer === undefined) return true;
    return JSON.stringify(readAt(answer, path)) === JSON.stringify(value);
  }
  if (Array.isArray(listed)) {
    if (!Array.isArray(value) || listed.length !== value.length) return false;
    return listed.every((item, index) => fits(item, value[index], answers));
  }
  if (isJsonObject(listed)) {
    if (!isJsonObject(value)) return false;
    return [...Object.keys(listed), ...Object.keys(value)].every((key) =>
      fits(listed[key], value[key], answers),
    );
  }
  return typeof listed === 'string' ? withoutItems(listed) === value : listed === value;
}

/** A check's code is its id, which names in a hand-off the item of the loop around it. */
const withoutItems = (text: string): string => text.replaceAll(/~\d+/g, '');

function readAt(value: Json | undefined, path: string | undefined): Json | undefined {
  if (path === undefined) return value;
  return path
    .split('.')
    .reduce<Json | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), value);
}
