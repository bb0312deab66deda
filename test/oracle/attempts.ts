import type { Json } from '../../src/graph/json.js';
import type { AskNode, CallNode, DelegateNode, ShellNode, WaitNode } from '../../src/graph/model.js';
import { alarm, commandDone, failAttempt, giveUp, later, succeed } from './endings.js';
import {
  callKey,
  issue,
  noteKnown,
  noteLate,
  noteSuccess,
  noteUnknown,
  safetyOf,
  type Undo,
  undoOf,
} from './records.js';
import { countOf, type Instance, type Run } from './run.js';
import { attempt, NoValue, read, readText } from './values.js';
import { type Asker, answersLate, deliveredAfter, reply, said } from './world.js';

const ATTEMPT_MS = 60_000;
const LONGEST_WAIT_MS = 10 * 366 * 24 * 3_600_000;

/** Waits for one of the run's places, and begins an attempt then. */
export function standInLine(run: Run, instance: Instance): void {
  instance.status = 'ready';
  const begin = (): void =>
    attempt(
      () => launch(run, instance),
      (fault) => giveUp(run, instance, fault),
    );
  run.line.push({ who: instance, begin });
}

/** One attempt of a call, a read or a function. @throws NoValue */
function launch(run: Run, instance: Instance): void {
  const { key, node } = instance;
  const asked = askedBy(run, instance);
  const before = countOf(run.asked, key);
  const answer = reply(run.world, { ...asked, who: key, before });
  instance.placed = true;
  run.running += 1;
  started(run, instance, 'running', node.timeoutMs ?? ATTEMPT_MS);
  const at = run.agenda.now + (answer.kind === 'hang' ? 0 : answer.after);
  const call = node.kind === 'call' ? sendCall(run, instance, asked) : undefined;
  instance.flight = {
    giveUp: () => {
      if (call === undefined) return;
      call.isUnknown();
      const undo = undoOf(run, instance);
      if (answer.kind === 'hang' || !run.rules.lateCounts || !answersLate(run.world, key, before)) return;
      const what = (): void => {
        if (answer.kind === 'value') call.comesLate(undo(answer.value));
        else if (!answer.attempted) call.isRefused();
      };
      run.agenda.add({ at, rank: 'answer', key, what });
    },
  };
  if (answer.kind === 'hang') return;
  later(run, instance, { at, rank: 'answer', key }, () => {
    instance.flight = undefined;
    if (answer.kind === 'value') {
      // It undoes what was done in the state before this.
      const undo = call && undoOf(run, instance)(answer.value);
      succeed(run, instance, answer.value);
      if (undo !== undefined) call?.succeeds(undo);
      return;
    }
    if (answer.attempted && answer.failure.outcomeUnknown) call?.isUnknown();
    if (!answer.attempted) instance.reached -= 1;
    const isOver = answer.acted === true && safetyOf(run, asked.tool) === 'none' && !run.rules.actsAgain;
    const again = !isOver && (answer.attempted || run.rules.refusedAgain);
    failAttempt(run, instance, { ...answer.failure, again });
  });
}

/** The request of an attempt. All attempts of a call send the same input; other nodes evaluate theirs again. */
function askedBy(run: Run, instance: Instance): Pick<Asker, 'kind' | 'tool' | 'input'> {
  const { node, part } = instance;
  switch (node.kind) {
    case 'call':
      if (!run.rules.frozenInput) instance.input = undefined;
      instance.input ??= read(run, part, node.input) ?? null;
      return { kind: 'tool', tool: node.tool, input: instance.input };
    case 'resource':
      return { kind: 'resource', tool: node.resource, input: readText(run, part, node.uri) };
    case 'compute':
      return { kind: 'function', tool: 'f', input: read(run, part, node.value) ?? null };
    default:
      throw new Error(`a ${node.kind} has no command`);
  }
}

/** Makes a call, and keeps account of what becomes of it. */
function sendCall(run: Run, instance: Instance, { tool, input }: Pick<Asker, 'tool' | 'input'>) {
  const { key } = instance;
  const generation = issue(run, instance, input);
  const row = `${key}@${generation}`;
  const call = {};
  run.calls.push({
    ...{ at: run.agenda.now, node: key, tool, input },
    ...{ identity: callKey(instance, generation), compensation: false },
  });
  return {
    isUnknown: () => noteUnknown(run, row, key, tool, call),
    succeeds: (undo: Undo) => noteSuccess(run, instance, generation, undo),
    isRefused: () => noteKnown(run, row, call),
    comesLate: (undo: Undo) => {
      const wasUnknown = noteKnown(run, row, call);
      noteLate(run, instance, generation, undo, wasUnknown);
    },
  };
}

/** @throws NoValue */
export function askPerson(run: Run, instance: Instance, node: AskNode): void {
  const { part, key } = instance;
  readText(run, part, node.message);
  const options = node.options === undefined ? [] : read(run, part, node.options);
  if (node.mode === 'choice' && !isChoice(options)) throw new NoValue('E_ASK_OPTIONS');
  started(run, instance, 'waiting', node.timeoutMs);
  for (const word of said(run.world, node.mode, options as string[], key, countOf(run.asked, key))) {
    const due = { at: run.agenda.now + word.after, rank: 'answer', key } as const;
    if (word.kind === 'answer') later(run, instance, due, () => succeed(run, instance, word.value));
    if (word.kind === 'failure')
      later(run, instance, due, () => failAttempt(run, instance, { ...word.failure, again: true }));
  }
}

const GRACE_MS = 30_000;
const CLIENT_MS = { shell: 30_000, call: 30_000, delegate: 300_000 };

/** Work of the client. Its limit counts from its delivery. @throws NoValue */
export function askClient(run: Run, instance: Instance, node: ShellNode | DelegateNode | CallNode): void {
  const { part, key } = instance;
  if (node.kind === 'call') read(run, part, node.input);
  else readText(run, part, node.kind === 'shell' ? node.command : node.prompt);
  started(run, instance, 'waiting', undefined);
  const before = countOf(run.asked, key);
  const delivered = run.rules.countsFromRequest ? 0 : deliveredAfter(run.world, key, before);
  alarm(run, instance, delivered + (node.timeoutMs ?? CLIENT_MS[node.kind]) + GRACE_MS, () =>
    failAttempt(run, instance, { code: 'E_TIMEOUT', message: '', again: true }),
  );
  const kind = node.kind === 'call' ? 'mcp_call' : node.kind;
  for (const word of said(run.world, kind, [], key, before)) {
    const due = { at: run.agenda.now + word.after, rank: 'answer', key } as const;
    if (word.kind === 'answer') later(run, instance, due, () => workDone(run, instance, node, word.value));
    if (word.kind === 'failure')
      later(run, instance, due, () => failAttempt(run, instance, { ...word.failure, again: true }));
  }
}

function workDone(
  run: Run,
  instance: Instance,
  node: ShellNode | DelegateNode | CallNode,
  value: Json,
): void {
  if (node.kind === 'shell') commandDone(run, instance, node, value);
  else succeed(run, instance, value);
}

/** Texts, at least one and none twice. */
function isChoice(options: unknown): boolean {
  if (!Array.isArray(options) || options.length === 0) return false;
  return options.every((option) => typeof option === 'string') && new Set(options).size === options.length;
}

/** @throws NoValue */
export function awaitTime(run: Run, instance: Instance, { durationMs, until, timeoutMs }: WaitNode): void {
  const given = read(run, instance.part, durationMs ?? until ?? { kind: 'literal' });
  const time = typeof given === 'string' && durationMs === undefined ? Date.parse(given) : given;
  if (typeof time !== 'number' || !Number.isFinite(time)) throw new NoValue('E_WAIT');
  const rest = durationMs === undefined ? time - run.agenda.now : time;
  if (rest > LONGEST_WAIT_MS || (durationMs !== undefined && rest < 0)) throw new NoValue('E_WAIT');
  if (rest <= 0) {
    succeed(run, instance, undefined);
    return;
  }
  started(run, instance, 'waiting', timeoutMs);
  alarm(run, instance, rest, () => succeed(run, instance, undefined));
}

/** An attempt runs, with this time limit. */
function started(
  run: Run,
  instance: Instance,
  status: 'running' | 'waiting',
  limitMs: number | undefined,
): void {
  instance.status = status;
  instance.fault = undefined;
  instance.attempts += 1;
  instance.reached += 1;
  if (limitMs === undefined) return;
  alarm(run, instance, limitMs, () =>
    failAttempt(run, instance, { code: 'E_TIMEOUT', message: '', again: true }),
  );
}
