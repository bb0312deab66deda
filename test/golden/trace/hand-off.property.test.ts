import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../src/graph/json.js';
import type { Graph } from '../../../src/graph/model.js';
import { nodesOf } from '../../../src/graph/node-expressions.js';
import { planOf } from '../../../src/plan/plan.js';
import type { Command, Event, RunState } from '../../../src/runtime/engine/contract.js';
import { commandOf } from '../../../src/runtime/engine/read.js';
import { RunMask } from '../../../src/runtime/hosts/run-mask.js';
import type { HandOffCall } from '../../../src/runtime/observers/trace/messages.js';
import { createTrace } from '../../../src/runtime/observers/trace/trace.js';
import { drive, ENGINE, IDS } from '../../oracle/drive.js';
import { type Case, INPUT } from '../../oracle/random-graph.js';
import { sample } from '../../oracle/runs.js';

const RUNS = 600;

const VALUE: JsonObject = { ok: true, n: 2, confirmed: true };

/** A run that stopped: what happened, and what its hand-off lists. */
interface Stopped {
  readonly state: RunState;
  readonly calls: readonly HandOffCall[];
  readonly events: readonly Event[];
  readonly errors: ReadonlySet<string>;
}

function stop({ graph, world }: Case): Stopped {
  const mask = new RunMask(graph, { input: INPUT });
  const describeTool = (name: string) => ({
    ...{ description: name, annotations: { readOnlyHint: true }, safety: 'readOnly' as const },
  });
  const trace = createTrace({ graph, mask, describeTool, given: [], instructions: [] });
  const events: Event[] = [];
  let last = ENGINE.start(planOf(graph), INPUT, IDS);
  drive(ENGINE, graph, INPUT, world, ({ event, advance }) => {
    for (const fact of advance.facts) {
      mask.observe(fact, advance.state);
      trace.observe(fact, advance.state);
    }
    if (event !== undefined) events.push(event);
    last = advance;
  });
  const { _meta } = trace.finish(last.state);
  const errors = new Set(_meta.errors.flatMap(({ step }) => step ?? []));
  return { state: last.state, calls: _meta.calls, events, errors };
}

const CONTAINERS = ['branch', 'parallel', 'foreach', 'workflow'];

/** Without what hangs on the moment at which something happens: retries, limits of containers, and state that is read. */
function timeless(graph: Graph): Graph {
  return JSON.parse(JSON.stringify(graph), (key, value) => {
    if (value?.kind === 'ref' && value.root === 'state') return { kind: 'literal', value: 'state' };
    if (key === 'retry' || (key === 'errorStrategy' && value.kind === 'retry')) return undefined;
    if (!CONTAINERS.includes(value?.kind)) return value;
    const { timeoutMs: _timeoutMs, ...node } = value;
    return node;
  }) as Graph;
}

interface Issued {
  readonly node: string;
  readonly input: Json;
}

/** Runs anew: what went well goes so again, and whatever failed or was not made is answered now. */
function goOn(graph: Graph, { events, errors }: Stopped): Issued[] {
  let step = ENGINE.start(planOf(graph), INPUT, IDS);
  let at = 0;
  const failing = new Set<string>();
  for (const event of events) {
    if (event.kind === 'cancelled') break;
    if (!('command' in event)) continue;
    const command = commandOf(step.state, event.command);
    if (command === undefined || failing.has(event.command)) continue;
    const isAnswer =
      event.kind === 'toolReturned' || event.kind === 'resourceRead' || event.kind === 'evaluated';
    const isAgain = 'node' in command && errors.has(command.node) && isLastFailure(event, command, events);
    if (isAgain && !isAnswer && event.kind !== 'actionSubmitted' && !isWait(graph, command)) {
      failing.add(event.command);
      continue;
    }
    at = event.at;
    step = ENGINE.advance(planOf(graph), step.state, [event]);
  }
  const issued: Issued[] = [];
  for (let count = 0; count < 2_000 && step.state.run.status === 'running'; count += 1) {
    const command = ENGINE.outstanding(step.state).commands.find((each) => answerTo(each, at) !== undefined);
    if (command === undefined) break;
    if (command.kind === 'callTool') issued.push({ node: command.node, input: command.input });
    if (command.kind === 'readResource') issued.push({ node: command.node, input: command.uri });
    step = ENGINE.advance(planOf(graph), step.state, [answerTo(command, at) as Event]);
  }
  return issued;
}

function isLastFailure(event: Event, command: Command, events: readonly Event[]): boolean {
  const base = command.id.replace(/[#@].*/, '');
  const later = events.slice(events.indexOf(event) + 1);
  return !later.some(
    (each) =>
      'command' in each && each.command.replace(/[#@].*/, '') === base && !each.command.endsWith(':timer'),
  );
}

function isWait(graph: Graph, command: Command): boolean {
  const node = 'node' in command ? command.node : '';
  const id = node.split('/').at(-1)?.replace(/\[.*/, '');
  return [graph, ...(graph.tasks ?? [])].some((each) =>
    nodesOf(each).some((one) => one.id === id && one.kind === 'wait'),
  );
}

function answerTo(command: Command, at: number): Event | undefined {
  const about = { at, command: command.id };
  switch (command.kind) {
    case 'callTool':
      return { kind: 'toolReturned', ...about, value: VALUE };
    case 'readResource':
      return { kind: 'resourceRead', ...about, value: { uri: command.uri, text: 'text' } };
    case 'evaluate':
      return { kind: 'evaluated', ...about, value: VALUE };
    case 'requestAction': {
      const { mode, options } = command.action;
      const value = {
        info: { acknowledged: true },
        confirm: { confirmed: true },
        text: { input: 'x' },
        choice: { selected: options?.[0] ?? '' },
        yield: { ok: true },
      }[mode];
      return { kind: 'actionSubmitted', ...about, value };
    }
    case 'startTimer':
      return command.id.endsWith(':timer') ? undefined : { kind: 'timerFired', ...about };
    default:
      return undefined;
  }
}

const PLACEHOLDER = /<[^<>]+>/;

/** Whether a listed value is this one once its placeholders are filled in. */
function fits(listed: Json | undefined, value: Json | undefined): boolean {
  if (typeof listed === 'string' && PLACEHOLDER.test(listed)) return true;
  if (Array.isArray(listed)) {
    return (
      Array.isArray(value) &&
      listed.length === value.length &&
      listed.every((item, index) => fits(item, value[index]))
    );
  }
  if (isJsonObject(listed)) {
    if (!isJsonObject(value)) return false;
    return [...Object.keys(listed), ...Object.keys(value)].every((key) => fits(listed[key], value[key]));
  }
  return typeof listed === 'string' ? withoutItems(listed) === value : listed === value;
}

/** A check's code is its id, which says in a hand-off which item of a loop it stands in. */
const withoutItems = (text: string): string => text.replaceAll(/~\d+/g, '');

const given = (call: HandOffCall): Json =>
  'tool' in call ? call.arguments : 'uri' in call ? call.uri : null;

describe('the calls of a hand-off', () => {
  test('are made by the engine with the same input', { timeout: 600_000 }, () => {
    let compared = 0;
    for (const drawn of sample(RUNS)) {
      const each = { ...drawn, graph: timeless(drawn.graph) };
      const stopped = stop(each);
      const { state, calls } = stopped;
      if (state.run.status === 'succeeded' || state.run.status === 'running') continue;
      const listed = calls.filter((call) => call.undoes !== true && !('ask' in call));
      const issued = goOn(each.graph, stopped);
      for (const call of listed) {
        const made = issued.filter(({ node }) => node === call.step);
        if (made.length > 0) compared += 1;
        const why = `${call.step} is listed with ${JSON.stringify(given(call))}, and made with ${JSON.stringify(made)} (${call.note}) ${JSON.stringify([...stopped.errors])}`;
        if (made.length > 0)
          expect(
            made.some(({ input }) => fits(given(call), input)),
            why,
          ).toBe(true);
      }
    }
    // The property is about something: many calls are listed, and made.
    expect(compared).toBeGreaterThan(RUNS / 5);
  });
});
