import type { Json } from '../../../graph/json.js';
import { clip, jsonText, oneLine } from '../../../graph/printable-text.js';

/** So many steps of a kind are named in a text. */
const NAMED_STEPS = 10;

const joined = (parts: readonly string[], more: number): string =>
  `${parts.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
const first = (steps: readonly string[]): string =>
  joined(steps.slice(0, NAMED_STEPS).map(clip), Math.max(0, steps.length - NAMED_STEPS));
const json = (value: unknown): string => jsonText(value as Json);

/** Every sentence of composite tools and of the tools that look after runs, in one place. */
export const workflowToolTexts = {
  secretNote: 'secret: its value is never shown',
  resultDescription: 'The result of the workflow',
  envelopeDescription: 'The state of the run, if it has no result',

  box: {
    head: (workflow: string) => `Workflow: ${workflow}`,
    onFailure: (policy: string) => `On failure: ${policy}`,
    asks: 'May ask a question before it is done: then answer with submit_result.',
    asksOthers: (who: string) =>
      `May ask a question before it is done, which only ${clip(who)} may answer: get_workflow_status returns its state.`,
    asksBoth: (who: string) =>
      `May ask questions before it is done: then answer with submit_result. Some only ${clip(who)} may answer: get_workflow_status returns its state.`,
    waits: 'May wait for a time: get_workflow_status returns its state.',
    parameters: 'Params:',
    parametersLeft: (count: number) => `Params: ${count}, as the input schema says`,
    parameter: (name: string, notes: readonly string[]) => `  ${name} (${notes.join(', ')})`,
  },

  paused: (name: string, id: string, step: string, tool: string) =>
    `Workflow '${name}' is paused at step '${step}' (run '${id}'): the server stopped while '${tool}' was called, whether it took effect is unknown, and it may not be repeated. Check what it did; cancel_workflow ends the run.`,
  definitionChanged:
    'The server has another definition of this workflow by now, or none: the run goes on with the one it started with.',
  missingTools: (tools: readonly string[]) =>
    `The server no longer has ${tools.map((tool) => `'${clip(tool)}'`).join(', ')}, which the workflow may call: a step that does fails.`,
  waiting: (workflow: string, id: string) => `Workflow '${clip(workflow)}' waits. workflow_id: ${id}`,
  running: (workflow: string, id: string) =>
    `Workflow '${clip(workflow)}' is still running. workflow_id: ${id}\nAsk for it with get_workflow_status.`,
  cancelling: (workflow: string, id: string) =>
    `Workflow '${clip(workflow)}' was cancelled; undoing is in progress. workflow_id: ${id}\nAsk for it with get_workflow_status.`,
  completed: (workflow: string, id: string) =>
    `Workflow '${clip(workflow)}' is completed. workflow_id: ${id}`,
  result: (value: Json) => `Result: ${json(value)}`,
  linkDescription: (workflow: string) => `The result of a run of workflow '${clip(workflow)}'`,
  resultOmitted: (id: string, length: number) =>
    `The result has ${length} characters, too many for this answer. Read it in parts: get_workflow_status { "workflow_id": ${json(id)}, "result_from": 0 }. Or read the linked resource.`,
  refusedValue: (tries: number, problems: readonly string[]) =>
    `Try ${tries} of the model did not fit: ${problems.map((problem) => oneLine(problem)).join('; ')}`,
  /** What is in a result that is too long for an answer. */
  outline: {
    begin: (text: string) => `It begins with:\n${text}`,
    value: (shape: string) => `It is ${shape}.`,
    list: (items: number) => `a list of ${items} ${items === 1 ? 'item' : 'items'}`,
    object: (members: number) => `an object of ${members} ${members === 1 ? 'member' : 'members'}`,
    member: (name: string, shape: string) => `- ${clip(name)}: ${shape}`,
    more: (members: number) => `- and ${members} more`,
  },
  resultNext: (id: string, next: number) =>
    `There is more: get_workflow_status { "workflow_id": ${json(id)}, "result_from": ${next} }.`,
  noResultPart: (from: number) =>
    `\`result_from\` is ${from}, but the run has no result of more than ${from} characters: leave it out to see the state of the run`,
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
    `Items failed, and are null in the result (the first is 0): ${joined(items, more)}.`,
  runningSteps: (steps: readonly string[]) => `Running: ${first(steps)}.`,
  waitingSteps: (steps: readonly string[]) => `Waiting: ${first(steps)}.`,
  waitingStep: (step: string, what: 'answer' | 'time' | 'retry', until = '') => {
    const how = { answer: 'for an answer', time: `until ${until}`, retry: `to be tried again at ${until}` };
    return `${clip(step)} (${how[what]})`;
  },
  finishedSteps: (steps: readonly string[]) => `Finished before that: ${steps.map(clip).join(', ')}.`,
  undoneSteps: (steps: readonly string[]) =>
    `Finished before that and undone, all or a part of it: ${steps.map(clip).join(', ')}.`,
  remainingCall: (step: string, tool: string | undefined, input: unknown) =>
    tool === undefined
      ? `step '${clip(step)}' (no tool is known to undo it)`
      : `step '${clip(step)}' (to undo it: ${tool}${input === undefined ? '' : ` ${clip(json(input))}`})`,
  /** `more` of either kind are not named. */
  notUndone: (remaining: readonly string[], unsure: readonly string[], more: number) =>
    [
      ...(remaining.length === 0 ? [] : [`Not undone, and still in effect: ${remaining.join(', ')}.`]),
      ...(unsure.length === 0 ? [] : [`May have been undone, check first: ${unsure.join(', ')}.`]),
      ...(more === 0 ? [] : [`And ${more} more.`]),
    ].join(' '),
  unknownCall: (step: string, tool: string) => `${tool} (step '${clip(step)}')`,
  outcomeUnknown: (calls: readonly string[], more: number) =>
    `Without an answer, but may have taken effect all the same: ${joined(calls, more)}. Check before repeating.`,
  question: (action: string, step: string, message: string) =>
    `Action '${action}' of step '${clip(step)}' asks: ${json(message)}`,
  answeredBy: (id: string, action: string, who: string) =>
    `Somebody else answers: only ${who} may, and finds it with list_workflows. Do not ask the user. Ask for the state with get_workflow_status { "workflow_id": ${json(id)} }. A permitted caller answers action ${json(action)} with submit_result.`,
  accepted: 'The answer was accepted.',
  toAnswer: 'To answer:',
  /** A question of another caller's run. */
  toAnswerLine: (id: string, action: string, workflow: string, message: string, schema: unknown) =>
    `Workflow '${clip(workflow)}' asks: ${json(message)}\nThe answer's schema: ${json(schema)}\nAnswer with submit_result { "workflow_id": ${json(id)}, "action_id": ${json(action)}, "result": … }.`,
  moreToAnswer: (count: number) => `${count} more are left out: answer these first.`,
  time: (action: string, message: string) => `Action '${action}': ${message}`,
  schema: (schema: unknown) => `The answer's schema: ${json(schema)}`,
  expires: (time: string) => `It expires at ${time}.`,
  submit: (id: string, action: string, how: string) =>
    `Answer with submit_result { "workflow_id": ${json(id)}, "action_id": ${json(action)}, "result": … }. ${how}`,
  submitError: 'If it cannot be answered, send "error": { "message": … } in place of the result.',
  warning: (code: string, message: string) => `${code}: ${message}`,
  noRuns: 'No runs.',
  runLine: (id: string, name: string, status: string, isCancelling: boolean, open: number) =>
    `${id}  ${name}  ${status}${isCancelling ? ', was cancelled; undoing is in progress' : ''}${open === 0 ? '' : `, ${open} open ${open === 1 ? 'action' : 'actions'}`}`,
  /** Follows the line of a run. */
  runAbout: (started: string, ended: string | undefined, args: unknown, omitted: readonly string[]) =>
    `  ${started}${ended === undefined ? '' : ` to ${ended}`}  ${clip(json(args))}${omitted.length === 0 ? '' : ` without ${omitted.map(clip).join(', ')}, too large to be shown`}`,
  workflowLine: (name: string, description: string, tool: string | undefined) =>
    `${name}${tool === undefined ? '' : ` (tool ${tool})`}: ${clip(description)}`,
  moreListed: (cursor: string) => `There are more: call list_workflows again with "cursor": ${json(cursor)}.`,
  badCursor: () =>
    '`cursor` is not one that list_workflows returned for this `status`, or the run that it refers to was forgotten: call it again without `cursor`',
  twoIds: 'workflow_id and run_id name two runs: send one of them',
  storeFailed: (tool: string) =>
    `The server could not read or write its store of runs. Whether '${tool}' took effect is not known: ask later with list_workflows or get_workflow_status, and send it again only if it did not.`,
  unfitResult: (workflow: string, ref: string) =>
    `run ${ref} of workflow \`${workflow}\`: its result does not fit the output schema of its tool; it was returned in an envelope`,

  tools: {
    submitResult: {
      title: 'Answer a waiting workflow',
      description: 'Answers an open action of a run with `result`, or with `error`.',
      result: 'What fits the schema of the action; in short true, false, a text or an option.',
      error: '{ message, code? }: the step fails with it.',
    },
    getStatus: {
      title: 'Get the state of a workflow run',
      description: 'Returns the state of a run: open actions, result or failure.',
    },
    cancel: {
      title: 'Cancel a workflow run',
      description: 'Cancels a run and its calls in flight.',
      compensate: 'Undo what it did first. Default: false',
    },
    list: {
      title: 'List workflows and runs',
      description: 'Lists workflows, your runs (latest first) and questions you may answer.',
      status: 'Only runs with this status',
      cursor: '`next_cursor` of the page before',
    },
    workflowId: 'Id of the run',
    actionId: 'May be left out where one is open',
  },
} as const;
