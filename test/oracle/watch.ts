import type { JsonObject } from '../../src/graph/json.js';
import type { Graph, Node } from '../../src/graph/model.js';
import { bodiesOf, nodesOf } from '../../src/graph/nodes.js';
import { planOf } from '../../src/plan/compile.js';
import { parseNodeKey } from '../../src/plan/instances.js';
import type { Advance, Change, Command, Fact, Row, RunState } from '../../src/runtime/engine/contract.js';
import type { Event } from '../../src/runtime/engine/events.js';
import { commandOf } from '../../src/runtime/engine/read.js';
import { foldRows, restore, snapshot } from '../../src/runtime/engine/snapshot.js';
import { rowsText, textOf } from '../../src/runtime/engine/tables.fixture.js';
import { type Engine, idsIn, type Step } from './drive.js';
import { waitsIn } from './order.js';
import type { World } from './world.js';

/** Looks at each step of a run, and throws where one breaks a promise. */
export type Watcher = (step: Step) => void;

export function both(...watchers: readonly Watcher[]): Watcher {
  return (step) => {
    for (const watch of watchers) watch(step);
  };
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

const bytes = (value: unknown): string => JSON.stringify(value);

/** `outstanding` lists the commands that were neither answered nor withdrawn, in the order of issue. */
export function watchOwed(engine: Engine): Watcher {
  const owed = new Map<string, Command>();
  return ({ event, advance }) => {
    if (event !== undefined && 'command' in event && !isOpenStill(event, advance.state))
      owed.delete(event.command);
    for (const command of advance.commands) {
      if (command.kind === 'cancelTimer') owed.delete(command.timer);
      else if (command.kind === 'cancelCall') owed.delete(command.call);
      else {
        demand(owed.has(command.id) === isAgain(command), `${command.id} is commanded twice`);
        owed.set(command.id, unnumbered(command));
      }
    }
    const found = engine.outstanding(advance.state).commands.map(unnumbered);
    demand(
      bytes(found) === bytes([...owed.values()]),
      `outstanding is ${bytes(found)}, not ${bytes([...owed.values()])}`,
    );
    demand(
      found.length > 0 === (advance.state.run.status === 'running'),
      'a run that has not ended waits for something',
    );
  };
}

/** Whether it is an action that is requested again because it was delivered, or a reminder of it was given. */
function isAgain(command: Command): boolean {
  return command.kind === 'requestAction' && (command.deliveredAt ?? command.remindedAt) !== undefined;
}

/** Without its place in the order of issue. */
function unnumbered({ seq: _, ...command }: Command & { readonly seq?: number }): Command {
  return command as Command;
}

/** An answer that did not fit leaves its question open, and so does a reminder. */
function isOpenStill(event: Event, state: RunState): boolean {
  if (event.kind === 'actionDelivered') return true;
  const mayStay = event.kind === 'actionSubmitted' || event.kind === 'timerFired';
  return mayStay && commandOf(state, event.command) !== undefined;
}

/** A state that was written down and read again goes on byte for byte as the one that was not, for an equal graph too. */
export function watchCopies(engine: Engine, graph: Graph, input: JsonObject, world: World): Watcher {
  const copy = planOf(JSON.parse(bytes(graph)) as Graph);
  let stored = '';
  return ({ event, advance }) => {
    const again =
      event === undefined
        ? engine.start(copy, input, idsIn(world))
        : engine.advance(copy, restore(copy, (JSON.parse(stored) as Row[]).reverse()), [event]);
    demand(asText(again) === asText(advance), `${bytes(event)} gives other bytes when the state was stored`);
    const rows = snapshot(advance.state);
    stored = bytes(rows);
    demand(isPlain(rows), 'the state is not plain JSON');
  };
}

function asText({ state, changes, commands, facts, more, consumed }: Advance): string {
  return bytes([rowsText(state), textOf(changes), commands, facts, more, consumed]);
}

/** The changes of all steps, written down and read again, add up to the state. */
export function watchChanges(): Watcher {
  let log: Change[] = [];
  return ({ event, advance: { changes, state } }) => {
    if (event === undefined) log = [];
    log.push(...(JSON.parse(bytes(changes)) as Change[]));
    demand(textOf(foldRows(log)) === rowsText(state), 'the changes do not add up to the state');
  };
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isPlain);
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}

/** Events that are late, repeated, or answer no outstanding command change nothing. */
export function watchStale(engine: Engine, graph: Graph): Watcher {
  const plan = planOf(graph);
  let past: Event[] = [];
  return ({ event, advance: { state } }) => {
    if (event !== undefined && 'command' in event && !isOpenStill(event, state))
      past = [event, ...past].slice(0, 3);
    const at = event?.at ?? 0;
    const wrong = engine
      .outstanding(state)
      .commands.slice(0, 2)
      .map(({ id, kind }): Event => {
        if (kind === 'callTool') return { kind: 'actionSubmitted', at, command: id, value: 1 };
        return { kind: 'toolReturned', at, command: id, value: 1 };
      });
    const unknown: Event = { kind: 'toolReturned', at, command: 'constructor', value: 1 };
    const before = rowsText(state);
    for (const stale of [...past, ...wrong, unknown]) {
      const { changes, commands, facts, state: after } = engine.advance(plan, state, [stale]);
      const isIdle = changes.length + commands.length + facts.length === 0;
      demand(isIdle && rowsText(after) === before, `${bytes(stale)} changes something`);
    }
    demand(rowsText(state) === before, 'a state changed that was handed out');
  };
}

/** A node of a graph, and the list that contains it. */
interface Placed {
  readonly node: Node;
  readonly beside: readonly Node[];
  readonly graph: Graph;
}

/** Every node, by the names of the `workflow` nodes it runs under and its own. */
function placesOf(graph: Graph, tasks: readonly Graph[], prefix = '', depth = 0): Map<string, Placed> {
  const places = new Map<string, Placed>();
  const add = (beside: readonly Node[]): void => {
    for (const node of beside) {
      places.set(prefix + node.id, { node, beside, graph });
      const inner = tasks.find(({ name }) => node.kind === 'workflow' && name === node.workflow);
      if (inner === undefined || depth > 5) continue;
      for (const [id, place] of placesOf(inner, tasks, `${prefix}${node.id}/`, depth + 1))
        places.set(id, place);
    }
  };
  add(graph.nodes);
  for (const node of nodesOf(graph)) for (const { scope } of bodiesOf(node)) add(scope.nodes);
  return places;
}

/** Nothing begins before all it waits for has settled, and only what may be repeated is. */
export function watchOrder(graph: Graph): Watcher {
  const places = placesOf(graph, graph.tasks ?? []);
  const settled = new Set<string>();
  const begun = new Set<string>();
  let hasJumped = false;
  const placeOf = (key: string): Placed => {
    const place = places.get(
      parseNodeKey(key)
        .map(({ id }) => id)
        .join('/'),
    );
    if (place === undefined) throw new Error(`'${key}' is not a node`);
    return place;
  };
  // A container of a task may be tried again on request.
  const hasRetry =
    graph.task === true ||
    [...places.values()].some(
      ({ node, graph: own }) => node.retry !== undefined || own.errorStrategy?.kind === 'retry',
    );
  const mayRepeat = (): boolean => hasRetry || hasJumped;
  return ({ advance }) => {
    for (const fact of advance.facts) follow(fact);
  };

  function follow(fact: Fact): void {
    switch (fact.kind) {
      case 'nodeStarted': {
        const { node, beside } = placeOf(fact.node);
        for (const id of waitsIn(beside).get(node.id)?.all ?? [])
          demand(settled.has(sibling(fact.node, id)), `${fact.node} begins before ${id} has settled`);
        demand(!begun.has(fact.node) || mayRepeat(), `${fact.node} begins twice`);
        demand(!settled.has(fact.node) || mayRepeat(), `${fact.node} begins after its end`);
        begun.add(fact.node);
        for (const inner of nodesOf({ nodes: [node] })) if (inner !== node) forget(inner.id, fact.node);
        settled.delete(fact.node);
        break;
      }
      case 'jumped': {
        hasJumped = true;
        const { node, beside } = placeOf(fact.node);
        const first = beside.findIndex(({ id }) => id === fact.target);
        for (const again of beside.slice(first, beside.indexOf(node) + 1))
          settled.delete(sibling(fact.node, again.id));
        break;
      }
      case 'nodeSucceeded':
      case 'nodeFailed':
      case 'nodeSkipped':
      case 'nodeCancelled':
        demand(!settled.has(fact.node) || mayRepeat(), `${fact.node} ends twice`);
        settled.add(fact.node);
        break;
      case 'handled':
        if (fact.fallbackNode !== undefined) settled.add(fact.node);
        break;
      default:
        break;
    }
  }

  /** The nodes inside the node that begins, without those of other items of the loops around it. */
  function forget(id: string, container: string): void {
    for (const key of settled) if (isInside(key, id, container)) settled.delete(key);
  }
}

function isInside(key: string, id: string, container: string): boolean {
  const inner = parseNodeKey(key).at(-1);
  const outer = parseNodeKey(container).at(-1)?.indices ?? [];
  if (prefixOf(key) !== prefixOf(container) || inner?.id !== id) return false;
  return outer.every((index, depth) => inner.indices[depth] === index);
}

function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/** The key of another node of the same scope. */
function sibling(key: string, id: string): string {
  const start = key.lastIndexOf('/') + 1;
  const bracket = key.indexOf('[', start);
  return key.slice(0, start) + id + (bracket < 0 ? '' : key.slice(bracket));
}

/** No command has an id that another one had, unless it is the same action as it was delivered or with its reminder, and no idempotency key goes with two inputs. */
export function watchIdentity(): Watcher {
  const ids = new Set<string>();
  const inputs = new Map<string, string>();
  return ({ advance }) => {
    for (const command of advance.commands) {
      demand(ids.has(command.id) === isAgain(command), `the id ${command.id} is used twice`);
      ids.add(command.id);
      if (command.kind !== 'callTool') continue;
      const sent = bytes([command.tool, command.input]);
      demand((inputs.get(command.key) ?? sent) === sent, `${command.key} goes with two inputs`);
      inputs.set(command.key, sent);
    }
  };
}

/** What was undone is not undone once more: a compensation that succeeded is not made again. */
export function watchUndoing(): Watcher {
  const undone = new Set<string>();
  const issued = new Map<string, string>();
  return ({ advance }) => {
    for (const command of advance.commands) {
      if (command.kind !== 'callTool' || command.isCompensation !== true) continue;
      demand(!undone.has(command.key), `${command.key} is undone twice`);
      if (command.key.startsWith('["undo"')) issued.set(command.id, command.key);
    }
    for (const fact of advance.facts) {
      if (fact.kind !== 'callReturned' || !fact.outcome.ok) continue;
      const key = issued.get(fact.command);
      if (key !== undefined) undone.add(key);
    }
  };
}
