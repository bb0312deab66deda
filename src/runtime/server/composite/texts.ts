import type { Json } from '../../../graph/json.js';
import { clip, jsonText, oneLine } from '../../tools/encode-text.js';

/** So many steps of a kind are named in a text. */
const NAMED_STEPS = 10;

const listed = (parts: readonly string[], more: number): string =>
  `${parts.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
const first = (steps: readonly string[]): string =>
  listed(steps.slice(0, NAMED_STEPS).map(clip), Math.max(0, steps.length - NAMED_STEPS));
const json = (value: unknown): string => jsonText(value as Json);

/** Every sentence of composite tools and of the tools that look after runs, in one place. */
export const workflowToolTexts = {
  nameTaken: (workflow: string, tool: string) =>
    `workflow \`${clip(workflow)}\`: E_TOOL_NAME: its tool would be named \`${clip(tool)}\`, as another tool is`,
  nameUnfit: (workflow: string, tool: string) =>
    `workflow \`${clip(workflow)}\`: E_TOOL_NAME: \`${clip(tool)}\` is no name of a tool: at most 64 characters of A-Z, a-z, 0-9, _ and -`,
  runToolTaken: (tool: string) =>
    `tool \`${tool}\`: E_TOOL_NAME: with workflows that are tools or that can wait, the server has one of this name itself`,
  notBundled: (workflow: string, why: string) => `workflow \`${clip(workflow)}\`: ${clip(why)}`,

  secretNote: 'secret: it is shown to nobody',
  resultDescription: 'What the workflow gives',
  envelopeDescription: 'How the run stands, where it has not come to its result',

  /** How a value of the wrong type is put right; follows the problem. */
  sendInstead: (right: unknown, wrong: unknown) => `send ${clip(json(right))}, not ${clip(json(wrong))}`,

  box: {
    head: (workflow: string) => `Workflow: ${workflow}`,
    failFast: 'stops at the first failure',
    goesOn: 'steps that do not depend on it go on',
    collect: 'steps that do not depend on it go on, and all failures are told',
    retries: (attempts: number) => `each call is tried up to ${attempts} times`,
    retried: (steps: string) => `${steps}: tried again`,
    fallbacks: (steps: string) => `${steps}: a fallback`,
    branchesFail: (steps: string) => `${steps}: goes on if one branch succeeds`,
    itemsFail: (steps: string) => `${steps}: goes on, with null for the item`,
    undone: (steps: string) => `${steps}: what was done is undone`,
    /** At most three by name. */
    steps: (ids: readonly string[]) =>
      ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`,
    onFailure: (policy: readonly string[]) => `On failure: ${policy.join('; ')}`,
    asks: 'May ask a question before it is done: then answer with submit_result.',
    waits: 'May take its time: where it waits, ask for it with get_workflow_status.',
    parameters: 'Params:',
    parametersLeft: (count: number) => `Params: ${count}, as the input schema says`,
    parameter: (name: string, notes: readonly string[]) => `  ${name} (${notes.join(', ')})`,
  },

  waiting: (workflow: string, id: string) => `Workflow '${clip(workflow)}' waits. workflow_id: ${id}`,
  running: (workflow: string, id: string) =>
    `Workflow '${clip(workflow)}' is still running. workflow_id: ${id}\nAsk for it with get_workflow_status.`,
  cancelling: (workflow: string, id: string) =>
    `Workflow '${clip(workflow)}' was cancelled; undoing is under way. workflow_id: ${id}\nAsk for it with get_workflow_status.`,
  completed: (workflow: string, id: string) =>
    `Workflow '${clip(workflow)}' is completed. workflow_id: ${id}`,
  result: (value: Json) => `Result: ${json(value)}`,
  ended: (workflow: string, status: string, at: string | undefined, code: string, message: string) =>
    `Workflow '${clip(workflow)}' ${status === 'cancelled' ? 'was cancelled' : 'failed'}` +
    `${at === undefined ? '' : ` at step '${clip(at)}'`}: ${oneLine(message)} (${code})`,
  failedItem: (index: number, finished: number) =>
    `In the loop, item ${index} failed (the first is 0); ${finished} ${finished === 1 ? 'item' : 'items'} had finished.`,
  failedItemOf: ({
    step,
    index,
    code,
    message,
  }: {
    step: string;
    index: number;
    code: string;
    message: string;
  }) => `item ${index} of step '${clip(step)}': ${clip(message)} (${code})`,
  failedItems: (items: readonly string[], more: number) =>
    `Items failed, and are null in the result (the first is 0): ${listed(items, more)}.`,
  runningSteps: (steps: readonly string[]) => `Running: ${first(steps)}.`,
  waitingSteps: (steps: readonly string[]) => `Waiting: ${first(steps)}.`,
  waitingStep: (step: string, what: 'answer' | 'time' | 'retry', until = '') => {
    const how = { answer: 'for an answer', time: `until ${until}`, retry: `to be tried again at ${until}` };
    return `${clip(step)} (${how[what]})`;
  },
  finishedSteps: (steps: readonly string[]) => `Finished before that: ${steps.map(clip).join(', ')}.`,
  undoneSteps: (steps: readonly string[]) =>
    `Finished before that and undone, all or a part of it: ${steps.map(clip).join(', ')}.`,
  standingCall: (step: string, tool: string | undefined, input: unknown) =>
    tool === undefined
      ? `step '${clip(step)}' (nothing says how to undo it)`
      : `step '${clip(step)}' (to undo it: ${tool}${input === undefined ? '' : ` ${clip(json(input))}`})`,
  /** `more` of either kind are not named. */
  notUndone: (standing: readonly string[], unsure: readonly string[], more: number) =>
    [
      ...(standing.length === 0 ? [] : [`Not undone, and still in effect: ${standing.join(', ')}.`]),
      ...(unsure.length === 0 ? [] : [`May have been undone, check first: ${unsure.join(', ')}.`]),
      ...(more === 0 ? [] : [`And ${more} more.`]),
    ].join(' '),
  unknownCall: (step: string, tool: string) => `${tool} (step '${clip(step)}')`,
  outcomeUnknown: (calls: readonly string[], more: number) =>
    `Without an answer, but may have taken effect all the same: ${listed(calls, more)}. Check before repeating.`,
  question: (action: string, step: string, message: string) =>
    `Action '${action}' of step '${clip(step)}' asks: ${json(message)}`,
  time: (action: string, message: string) => `Action '${action}': ${message}`,
  schema: (schema: unknown) => `The answer's schema: ${json(schema)}`,
  expires: (time: string) => `It expires at ${time}.`,
  submit: (id: string, action: string, how: string) =>
    `Answer with submit_result { "workflow_id": ${json(id)}, "action_id": ${json(action)}, "result": … }. ${how}`,
  submitError: 'If it cannot be answered, send "error": { "message": … } in place of the result.',
  warning: (code: string, message: string) => `${code}: ${message}`,
  openActions: (ids: string) => `Open actions: ${ids}`,
  noRuns: 'No runs.',
  runLine: (id: string, name: string, status: string, isCancelling: boolean, open: number) =>
    `${id}  ${name}  ${status}${isCancelling ? ', was cancelled; undoing is under way' : ''}${open === 0 ? '' : `, ${open} open ${open === 1 ? 'action' : 'actions'}`}`,
  /** Follows the line of a run. */
  runAbout: (started: string, ended: string | undefined, given: unknown, omitted: readonly string[]) =>
    `  ${started}${ended === undefined ? '' : ` to ${ended}`}  ${clip(json(given))}${omitted.length === 0 ? '' : ` without ${omitted.map(clip).join(', ')}, too large to be shown`}`,
  workflowLine: (name: string, description: string, tool: string | undefined) =>
    `${name}${tool === undefined ? '' : ` (tool ${tool})`}: ${clip(description)}`,
  moreListed: (cursor: string) => `There are more: call list_workflows again with "cursor": ${json(cursor)}.`,
  badCursor: () =>
    '`cursor` is not one that list_workflows returned, or the run that it refers to was forgotten: call it again without `cursor`',
  twoIds: 'workflow_id and run_id name two runs: send one of them',
  unfitResult: (workflow: string, ref: string) =>
    `run ${ref} of workflow \`${workflow}\`: its result does not fit the output schema of its tool; it was handed out in an envelope`,

  tools: {
    submitResult: {
      title: 'Answer a waiting workflow',
      description:
        'Answers an action of a workflow that waits, and moves it on. Send `result`, or `error` where there is none. ' +
        '`action_id` may be left out where one action is open. The answer says how the run stands then.',
      result:
        'The answer: an object that fits the schema of the action, or in short a boolean for confirm, a text for text and choice, nothing for info.',
      error: 'Why there is no answer: the step fails with it.',
    },
    getStatus: {
      title: 'See how a workflow run stands',
      description: 'Tells how a run of a workflow stands: its open actions, its result, or why it failed.',
    },
    cancel: {
      title: 'Cancel a workflow run',
      description:
        'Gives a run up: calls in flight are aborted, open actions are taken back. With `compensate` what it did is undone first, the latest first.',
      reason: 'Why, in one sentence',
      compensate: 'Whether what the run did is undone. Default: false',
    },
    list: {
      title: 'List workflows and runs',
      description: 'Lists the workflows of this server and your runs of them, the latest first.',
      status: 'Only runs with this status',
      limit: 'At most this many workflows and this many runs. Default: the page size of the server',
      cursor: '`next_cursor` of the page before, with the same status',
    },
    workflowId: 'The id of the run, from the answer that said it waits or runs',
    actionId: 'The id of the action. May be left out where one is open.',
  },
} as const;
