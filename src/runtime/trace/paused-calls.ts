import { defined } from '../../graph/defined.js';
import { dataPath } from '../../graph/expression/traversal.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { CallNode } from '../../graph/model.js';
import { isServerCall, ownResources } from '../../graph/nodes.js';
import { jsonText, MASKED, oneLine } from '../../graph/printable-text.js';
import type { Fact, RunState } from '../engine/contract.js';
import type { OwedCommand } from '../engine/events.js';
import { commandsOf, guidanceOf, nodeRecord, stoppedInput, stoppedSteps } from '../engine/read.js';
import type { FailedStep } from './explain-failure.js';
import { bodyName, guidanceNote, readNote, shortArguments, whereIs } from './hand-off-calls.js';
import type { HandOffCall } from './messages.js';
import type { HandOffContext } from './planned-run.js';
import { outputField, promptArgument, stop } from './sentences.js';

/** Whether a run continues only with a step that is made from outside. */
export function isPaused(state: RunState): boolean {
  return (
    state.run.status === 'running' && stoppedSteps(state).length > 0 && !commandsOf(state).some(isInFlight)
  );
}

function isInFlight({ kind }: OwedCommand): boolean {
  return kind === 'callTool' || kind === 'readResource' || kind === 'evaluate';
}

/** The failures of the steps that wait to be made. The run has not reported them, since it continues with these steps. */
export function pauseFacts(state: RunState): readonly Fact[] {
  return stoppedSteps(state).map(({ node, action: { failure } }) => {
    return { kind: 'nodeFailed', node, nodeKind: state.find(node).planned.node.kind, failure };
  });
}

/**
 * The calls that continue a paused run: one for each step that waits to be made, and no other. The server makes the later
 * calls itself, so that listing them would repeat their side effects.
 */
export function pausedCalls(
  context: HandOffContext,
  workflowId: string,
  failed: readonly FailedStep[],
): readonly HandOffCall[] {
  const open = new Set(stoppedSteps(context.state).map(({ node }) => node));
  return failed
    .filter(({ node }) => open.has(node.key))
    .map((step) => {
      const { planned } = step.node;
      const { node: model } = planned;
      const call =
        isServerCall(model) && !context.isPrivate(model.tool)
          ? ownCall(step, model, context)
          : serverCall(step, workflowId, context);
      return { ...call, ...bodyName(step.node.scope) };
    });
}

function ownCall(step: FailedStep, model: CallNode, context: HandOffContext): HandOffCall {
  const { secrets, state } = context;
  const { key } = step.node;
  const { args, lacking } = stoppedInput(state, key, Date.now());
  const shown = shortArguments(secrets.pausedInput(key, args, promptArgument), model);
  const placeholders = lacking.map(({ name, expr }) => [name, placeholderOf(name, expr)] as const);
  const isMasked = jsonText(shown).includes(MASKED);
  const { lines = [], text: guidance } = guidanceIn(step, context);
  const notes = [
    ...notesOf(step, context),
    ...lacking.map(({ name, failure }) => `Fill in \`${name}\` first: ${stop(oneLine(failure.message))}`),
    ...(isMasked ? [`Fill in what is masked (${MASKED}) first, or have the server try the step again.`] : []),
    ...lines,
  ];
  return {
    step: key,
    tool: model.tool,
    arguments: { ...shown, ...Object.fromEntries(placeholders) },
    ...(step.isUnknown && !step.retryable ? { outcomeUnknown: true } : {}),
    ...(notes.length === 0 ? {} : { note: secrets.text(notes.join(' ')) }),
    ...defined({ guidance }),
  };
}

/** The call that has the server try a step again which its client cannot make. */
function serverCall(step: FailedStep, workflowId: string, context: HandOffContext): HandOffCall {
  const { key, planned } = step.node;
  const notes = [...notesOf(step, context), `The server then tries step '${planned.node.id}' again.`];
  return {
    step: key,
    tool: 'resume_workflow',
    arguments: { workflow_id: workflowId, steps: [key] },
    note: context.secrets.text(notes.join(' ')),
  };
}

/** What to know before a step is made. */
function notesOf(step: FailedStep, { secrets, state }: HandOffContext): string[] {
  const { node, failure, attempts, isUnknown, retryable } = step;
  const where = whereIs(node.scope);
  const shown = nodeRecord(state, node.key)?.details.shown ?? 0;
  const unread = ownResources(node.planned.node)
    .slice(shown)
    .map(({ uri }) => secrets.text(uri));
  return [
    ...(where === '' ? [] : [`It is made${where}.`]),
    ...(attempts === 0 || retryable ? [] : [isUnknown ? MAY_HAVE_TAKEN_EFFECT : NOT_SAFE]),
    ...(attempts === 0 && failure.code === 'E_INPUT_INVALID'
      ? [`Correct the arguments first: ${stop(oneLine(failure.message))}`]
      : []),
    ...readNote(unread),
  ];
}

const MAY_HAVE_TAKEN_EFFECT =
  "It may have taken effect. Check that first: if it did, send its result with tool 'submit_result' in place of this call.";

const NOT_SAFE = 'It is not known to be safe to repeat: check first that the failed call had no effect.';

function guidanceIn({ node }: FailedStep, { secrets, state }: HandOffContext) {
  const text = guidanceOf(state, node.key, Date.now());
  return text === undefined ? {} : guidanceNote(node, secrets.guidance(text, node.key));
}

/** A placeholder for a parameter that has no value: where its expression reads it from. */
function placeholderOf(name: string, expr: Expr): string {
  const path = dataPath(expr);
  const keys = path?.segments.map(({ key }) => key).join('.') ?? '';
  const [first = ''] = path?.ref.path ?? [];
  switch (path?.ref.root) {
    case 'steps':
      return outputField(String(first), keys);
    case 'inputs':
      return promptArgument(keys === '' ? String(first) : `${first}.${keys}`);
    default:
      return `<value of ${name}>`;
  }
}
