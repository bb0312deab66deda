import type { Answerer } from '../../../graph/answerers.js';
import { defined } from '../../../graph/defined.js';
import type { Json, JsonSchema } from '../../../graph/json.js';
import { agentPrompt, loopInstructions } from '../../../print/agent-texts.js';
import { type ActionDetails, isClientWork, limitOf, requestOf } from '../../engine/actions.js';
import { agentItemOf, isAgentLoop, isSameItem, stepIdIn, taskOf } from '../../engine/agent-loops.js';
import type { Fact, Failure, RunState } from '../../engine/contract.js';
import type { OwedCommand } from '../../engine/events.js';
import { commandsOf, guidanceOf, isWait, itemsOf, refusedValues } from '../../engine/read.js';
import { maskedFailure } from '../../secrets/mask.js';
import type { RunMask } from '../../secrets/run-mask.js';

/** An action of a caller, or a time that the run waits for. */
interface OpenAction {
  readonly action_id: string;
  /** The run, or the child of an agent. */
  readonly workflow_id: string;
  readonly step_id: string;
  /** What a fitting answer looks like. Missing for what is not answered: a `wait`, and children of agents. */
  readonly schema?: JsonSchema;
  /** Who may answer, exclusively. Missing: the owner of the run. */
  readonly answer_by?: readonly Answerer[];
  /** The page on which a person answers it, on a server with pages. */
  readonly page_url?: string;
  /** The problems of each value that did not fit, the first try first. Missing without one. */
  readonly refused_values?: readonly { readonly problems: readonly string[] }[];
  /** When a `wait` is over, RFC 3339. */
  readonly resume_at?: string;
  /** How long the action may take from its first delivery. */
  readonly timeout_seconds?: number;
  /** RFC 3339. */
  readonly created_at: string;
  /** When a reminder of the question was given, RFC 3339. Missing before it. */
  readonly reminded_at?: string;
  /** RFC 3339. Missing where the action stays open for as long as it takes. */
  readonly expires_at?: string;
}

/** `duration` in seconds. `message`: the guidance of the step, if it has one. */
interface WaitRequest {
  readonly type: 'wait';
  readonly parameters: { readonly duration: number; readonly message: string };
}

/** A loop that agents drive: one sub-agent for each child. */
interface LoopRequest {
  readonly type: 'delegate';
  readonly parameters: {
    readonly instructions: string;
    readonly agent: string;
    readonly task: string;
    /** Those that may start now or have started, and have not ended. */
    readonly children: readonly {
      readonly workflow_id: string;
      readonly item: Json;
      readonly prompt: string;
    }[];
  };
}

/** The part of a run that an agent sees: an item of a loop. Undefined for the caller of the run. */
type Item = ReturnType<typeof agentItemOf>;

/** A child, as `Children` has it. */
interface ChildView extends NonNullable<Item> {
  readonly id: string;
  readonly at: number;
}

interface ActionView {
  readonly state: RunState;
  readonly mask: RunMask;
  readonly record: {
    /** Every action that the run has opened. `at` is when, in ms since the epoch. */
    readonly actions: { get(action: string): { readonly at: number } | undefined };
    /** The items that agents drive. */
    readonly children: {
      of(item: NonNullable<Item>): ChildView | undefined;
      open(): readonly (readonly ChildView[])[];
      /** What its agent knows a child of a run by. */
      idOf(run: string, child: string): string;
    };
  };
}

/** The actions that are open for the caller of a run, or for the agent of an item: the oldest first, loops last. */
export function openActions(
  view: ActionView,
  item?: Item,
): (OpenAction & (ActionDetails | WaitRequest | LoopRequest))[] {
  const { state, record } = view;
  const actions = commandsOf(state).flatMap((command) =>
    isSameItem(agentItemOf(state, command.node), item) ? openAction(view, command, item) : [],
  );
  const loops = record.children.open().flatMap((children) => {
    const [first] = children;
    if (first === undefined || !isSameItem(agentItemOf(state, first.loop), item)) return [];
    return loopAction(view, [first, ...children.slice(1)], item);
  });
  return [...actions, ...loops];
}

function openAction(view: ActionView, command: OwedCommand, item: Item): ReturnType<typeof openActions> {
  const { state, record, mask } = view;
  const opened = record.actions.get(command.id)?.at ?? state.run.startedAt;
  const head = { ...headOf(view, command.node, item), action_id: command.id, created_at: time(opened) };
  if (command.kind === 'requestAction') {
    const action = mask.action(command.node, command.action);
    const { schema, answerBy } = action;
    return [
      {
        ...head,
        ...requestOf(action),
        schema,
        ...defined({ answer_by: answerBy }),
        ...refusals(refusedValues(state, command.id), mask),
        ...(isClientWork(action)
          ? {
              timeout_seconds: action.timeoutMs / 1_000,
              ...(command.dueAt === undefined ? {} : { expires_at: time(command.dueAt) }),
            }
          : expiry(limitOf(command), opened)),
        ...(command.remindedAt === undefined ? {} : { reminded_at: time(command.remindedAt) }),
      },
    ];
  }
  if (command.kind !== 'startTimer' || !isWait(command)) return [];
  const duration = Math.max(0, command.dueAt - opened) / 1_000;
  const said = guidanceOf(state, command.node, opened);
  const message = said === undefined ? 'Continues by itself.' : mask.guidance(said, command.node);
  return [
    {
      ...head,
      type: 'wait',
      parameters: { duration, message },
      resume_at: time(command.dueAt),
      ...(command.purpose === 'wait' ? {} : expiry(command.dueAt, opened)),
    },
  ];
}

/** The run and the step of an action, as its caller knows them. */
function headOf({ state, record }: ActionView, node: string, item: Item) {
  const child = item && record.children.of(item);
  return child === undefined
    ? { workflow_id: state.run.id, step_id: node }
    : {
        workflow_id: record.children.idOf(state.run.id, child.id),
        step_id: stepIdIn(state.find(child.loop), node),
      };
}

export function loopActionId(loop: string): string {
  return `${loop}:children`;
}

function loopAction(
  view: ActionView,
  children: readonly [ChildView, ...ChildView[]],
  item: Item,
): ReturnType<typeof openActions> {
  const { state, mask, record } = view;
  const [{ loop: key, at }] = children;
  const loop = state.find(key);
  const { node } = loop.planned;
  if (!isAgentLoop(node)) return [];
  const { agent, id, concurrency } = node;
  const items = itemsOf(state, key) ?? [];
  const task = taskOf(node) ?? id;
  const head = headOf(view, key, item);
  const sizes = { count: items.length, agent, isSequential: concurrency === 1 };
  return [
    {
      ...head,
      action_id: loopActionId(key),
      type: 'delegate',
      parameters: {
        instructions: loopInstructions({ ...sizes, workflow: head.workflow_id, isChild: item !== undefined }),
        agent,
        task,
        children: children.map((child) => {
          const workflow_id = record.children.idOf(state.run.id, child.id);
          const shown = mask.itemOf(key, child.index, items[child.index] ?? null);
          return {
            workflow_id,
            item: shown,
            prompt: agentPrompt({ workflow: workflow_id, task, item: shown }),
          };
        }),
      },
      created_at: time(at),
    },
  ];
}

function refusals(
  refused: readonly (readonly string[])[],
  mask: RunMask,
): Pick<OpenAction, 'refused_values'> {
  if (refused.length === 0) return {};
  return {
    refused_values: refused.map((problems) => ({ problems: problems.map((problem) => mask.text(problem)) })),
  };
}

function expiry(dueAt: number | undefined, openedAt: number) {
  if (dueAt === undefined) return {};
  return { timeout_seconds: Math.max(0, dueAt - openedAt) / 1_000, expires_at: time(dueAt) };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

// What follows is for agents.

/** A child of a run, as its agent sees it. */
interface AgentView extends NonNullable<ReturnType<typeof agentItemOf>> {
  readonly outcome?: Extract<Fact, { kind: 'partEnded' }>['outcome'];
}

interface ParentView {
  readonly mask: RunMask;
  /** Missing when the run is over. */
  readonly view: Parameters<typeof openActions>[0] | undefined;
  /** Ms since the epoch. */
  readonly now: number;
}

/** A step as its agent gets it: an open action without the id of the run. */
type Step<A = ReturnType<typeof openActions>[number]> = A extends unknown ? Omit<A, 'workflow_id'> : never;

/** What the agent of a child does next. Plain JSON. */
type NextStep =
  | { readonly status: 'pending_step'; readonly step: Step }
  | { readonly status: 'waiting'; readonly retry_after_ms: number }
  | { readonly status: 'complete'; readonly final_result: Json }
  | { readonly status: 'error'; readonly error: Pick<Failure, 'code' | 'message'> };

/** An agent asks again after so many ms where it is not known when its next step is there. */
const RETRY_MS = 1_000;

/** The next step of a child: the same one until it is submitted. */
export function nextStepOf({ outcome, ...item }: AgentView, { mask, view, now }: ParentView): NextStep {
  switch (outcome?.status) {
    case 'succeeded':
      return {
        status: 'complete',
        final_result: mask.outputOf(item.loop, outcome.value ?? null, [item.index]),
      };
    case 'failed': {
      const { code, message } = maskedFailure(outcome.failure, mask);
      return { status: 'error', error: { code, message } };
    }
    case 'cancelled':
      return { status: 'error', error: CANCELLED };
    default:
  }
  if (view === undefined) return { status: 'error', error: CANCELLED };
  const open = openActions(view, item);
  const action = open.find(({ type }) => type !== 'wait');
  if (action !== undefined) {
    const { workflow_id: _run, ...step } = action;
    return { status: 'pending_step', step: step as Step };
  }
  const times = open.flatMap(({ resume_at }) =>
    resume_at === undefined ? [] : [Date.parse(resume_at) - now],
  );
  return {
    status: 'waiting',
    retry_after_ms: times.length === 0 ? RETRY_MS : Math.max(0, Math.min(...times)),
  };
}

const CANCELLED = {
  code: 'WORKFLOW_CANCELLED',
  message: 'The task was cancelled: its workflow continues without it, or has ended. Stop working on it.',
} as const;
