import type { Json } from '../../graph/json.js';
import { clip, jsonText, oneLine } from '../../graph/printable-text.js';

const listed = (ids: readonly string[]): string =>
  ids.length === 0 ? 'none' : ids.map((id) => `'${clip(id)}'`).join(', ');

/** Every sentence about runs that outlast a request, in one place. */
export const runTexts = {
  stubbedFunction: (name: string) =>
    `Function '${clip(name)}' is not known here: name the registry it belongs to with \`--registry FILE\`.`,
  waitsUntil: (time: string) => `Goes on by itself at ${time}.`,

  badClaim: (claim: string, found: string) =>
    `The caller cannot be identified: \`${clip(claim)}\` is ${found}, and must be ${claim === 'iss' || claim === 'clientId' ? 'a text' : 'a text or a number'}. Nothing was done.`,
  claimMissing: (claim: string) =>
    `The caller cannot be identified: \`${clip(claim)}\` is missing. Nothing was done.`,

  /** The same for a run that never was, that is forgotten, and that is somebody else's. */
  unknownRun: (id: string) =>
    `Run '${clip(id)}' not found: it does not exist, was forgotten, or belongs to another caller. Check the id, and call as the caller that started it.`,
  tooManyRuns: (open: number, limit: number) =>
    `${open} runs are open, and no more than ${limit} may be: finish or cancel one first.`,
  tooManyAnonymousRuns: (limit: number) =>
    `${limit} runs without authentication are open, which is the limit of this server: finish or cancel one first, or authenticate.`,
  tooManyActions: (open: number, limit: number) =>
    `${open} actions are open, and a run may begin only below ${limit}: answer or cancel some first.`,

  storeSecrets: (workflow: string) =>
    `The run was not started: workflow '${clip(workflow)}' takes or passes on secrets, and the store keeps values unencrypted. Serve it with the store 'memory'.`,
  notResumedLog: (ref: string, why: string) =>
    `Run ${ref} does not go on in this process, and stays in the store as it is: ${why}`,
  notLookedAfter: (why: string) =>
    `The runs of other servers on the store could not be looked after, which is tried again: ${why}`,
  noRoles: (step: string, who: string) =>
    `The run was not started: only ${who} may answer its step '${clip(step)}', and no caller of this server has this role. Its operator gives roles with \`auth\` over HTTP, and with \`localRoles\` over stdio.`,
  anonymousOwner: (step: string, who: string) =>
    `The run was not started: only ${who} may answer its step '${clip(step)}', and a caller without a token cannot be distinguished from others. Send the request with a bearer token.`,
  notPermitted: (action: string, who: string) =>
    `Action '${clip(action)}' is not yours to answer: only ${who} may. Nothing was consumed, and the action is still open or was answered.`,
  answerLost: 'The answer could not be written down: it was not accepted.',

  cancelled: (id: string, why: string) =>
    `Run '${clip(id)}' was cancelled: it takes no further answers.${why === '' ? '' : ` ${clip(why)}`}`,
  notUsed: (action: string | undefined) =>
    `The run had ended when this answer${action === undefined ? '' : ` to '${clip(action)}'`} arrived: it was not used.`,
  nothingUndone: 'The run had ended before it was cancelled: nothing was undone.',
  ambiguous: (open: readonly string[]) =>
    `${open.length} actions are open: say which one by action_id. Open are ${listed(open)}.`,
  repeatedOrNew: (open: readonly string[]) =>
    `The same answer was accepted before, and may be meant for an action that is open now: say which one by action_id. Open are ${listed(open)}.`,
  nothingOpen: 'No action is open: the run goes on by itself. Ask for its status later.',
  nothingOpenPaused:
    'No action is open: the run is paused at a call whose outcome is not known, until an operator decides about it.',
  unknownAction: (action: string, open: readonly string[]) =>
    `The run has no action '${clip(action)}'. Open are: ${listed(open)}. Nothing was consumed.`,
  closed: (action: string, open: readonly string[]) =>
    `Action '${clip(action)}' is no longer open: the run went on without an answer. Open are: ${listed(open)}.`,
  expired: (action: string, open: readonly string[]) =>
    `Action '${clip(action)}' has expired: its time limit has passed. Open are: ${listed(open)}.`,
  alreadySubmitted: (action: string) =>
    `Action '${clip(action)}' was answered before with another answer. The first answer counts.`,
  tooEarly: (action: string, ms: number) =>
    `'${clip(action)}' waits for a time and is not answered: ${ms} ms are left. Ask for the status then.`,

  shape: (problems: readonly string[], how: string) =>
    `The answer does not fit: ${problems.map(clip).join('; ')}. ${how} The action is still open.`,
  oneOfTwo: 'send either `result` or `error`, one of them',
  errorShape: '`error` must be an object { code?, message } with a message in text',
  notJson: (problem: string) => `it is not JSON, but holds ${problem}`,
  protoKey: 'the key `__proto__` is not allowed',
  answerTooLarge: (size: number, limit: number) =>
    `What was sent has at least ${size} bytes of JSON, and a run keeps at most ${limit}: send a part of it, or a link to it. Nothing was done.`,
  notTaken: 'it is not what the step expects',
  brokenSchema: (why: string) => `what the step expects cannot be checked: ${clip(why)}`,
  stringified: (member: 'result' | 'error') =>
    `\`${member}\` came as text that holds JSON, and was read as such: send the JSON itself.`,
  /** How a question is answered; completes a refusal, and is part of the answer of a waiting run. */
  how: {
    info: 'Send no result at all, or {"acknowledged": true}.',
    confirm: 'Send true or false, or {"confirmed": true}.',
    text: 'Send the text, or {"input": "the text"}.',
    choice: (options: readonly string[]) =>
      `Send one of ${options.map((option) => jsonText(option)).join(', ')}, or {"selected": "that one"}.`,
    yield: 'Send a result that fits the schema of the action.',
    model: 'Send the value as the result: JSON that fits the schema of the action.',
  },

  model: {
    notJson: 'it is not JSON',
    failed: 'The model could not be asked for the value.',
    failedLog: (step: string, workflow: string, run: string, why: string) =>
      `The model failed for step '${step}' of workflow '${workflow}' (run ${run}): ${why}`,
    /** `schema` is JSON. */
    sampling: (message: string, schema: string, errors: readonly string[]) =>
      [
        message,
        `Answer with one JSON value, and nothing else. It fits this schema: ${schema}`,
        ...(errors.length === 0 ? [] : [`The answer before did not fit: ${errors.join('; ')}`]),
      ].join('\n\n'),
  },

  declined: 'The user declined to answer.',
  dismissed: 'The user closed the question without an answer.',
  requestCancelled: 'the request was cancelled',
  cancelledByCaller: 'the caller cancelled it',
  cancelledByOperator: 'an operator cancelled it',
  idle: (ms: number) => `no caller answered it or asked for it for ${ms} ms`,
  broke: (why: string) => `The run failed inside the server: ${clip(why)}`,
  journalFailed: (why: string) =>
    `The run's journal failed, and this server does not go on with the run: ${clip(why)}`,
  notForgotten: (ref: string, why: string) =>
    `the journal could not forget run ${ref}, which is over: ${clip(why)}`,
  unknownOperatorCommand: 'This server does not know this command of an operator. Nothing was done.',
  notPaused: (step: string, paused: readonly string[]) =>
    paused.length === 0
      ? `No call of this run waits for a decision, also not that of step '${clip(step)}'. Nothing was done.`
      : `The call of step '${clip(step)}' does not wait for a decision, but that of ${paused.map((each) => `'${clip(each)}'`).join(', ')} does. Nothing was done.`,
  brokeLog: (workflow: string, ref: string, shown: string) =>
    `run ${ref} of workflow \`${workflow}\` failed inside the server: ${shown}`,
  startedLog: (workflow: string, ref: string, isResumed: boolean) =>
    `run ${ref} of workflow \`${workflow}\` ${isResumed ? 'goes on after a restart' : 'started'}`,
  endedLog: (workflow: string, ref: string, status: string, code: string | undefined, ms: number) =>
    `run ${ref} of workflow \`${workflow}\` ${status}${code === undefined ? '' : ` with ${code}`} after ${ms} ms`,
  sameId: (ref: string) => `newRunId returned the id of run ${ref} twice`,
} as const;

/** So many steps of a kind are named in a text. */
const NAMED_STEPS = 10;

const joined = (parts: readonly string[], more: number): string =>
  `${parts.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
const first = (steps: readonly string[]): string =>
  joined(steps.slice(0, NAMED_STEPS).map(clip), Math.max(0, steps.length - NAMED_STEPS));
const json = (value: unknown): string => jsonText(value as Json);

/** Every sentence of composite tools and of the tools that look after runs, in one place. */
export const workflowToolTexts = {
  nameTaken: (workflow: string, tool: string) =>
    `workflow \`${clip(workflow)}\`: E_TOOL_NAME: its tool would have the name of another tool, \`${clip(tool)}\`: rename one of them`,
  nameUnfit: (workflow: string, tool: string) =>
    `workflow \`${clip(workflow)}\`: E_TOOL_NAME: \`${clip(tool)}\` is not a valid tool name: use at most 64 characters of A-Z, a-z, 0-9, _ and -`,
  runToolTaken: (tool: string) =>
    `tool \`${tool}\`: E_TOOL_NAME: a server with workflows that are tools or can wait has its own tool of this name: rename yours`,
  notBundled: (workflow: string, why: string) => `workflow \`${clip(workflow)}\`: ${clip(why)}`,

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
  openActions: (ids: string) => `Open actions: ${ids}`,
  noRuns: 'No runs.',
  runLine: (id: string, name: string, status: string, isCancelling: boolean, open: number) =>
    `${id}  ${name}  ${status}${isCancelling ? ', was cancelled; undoing is in progress' : ''}${open === 0 ? '' : `, ${open} open ${open === 1 ? 'action' : 'actions'}`}`,
  /** Follows the line of a run. */
  runAbout: (started: string, ended: string | undefined, given: unknown, omitted: readonly string[]) =>
    `  ${started}${ended === undefined ? '' : ` to ${ended}`}  ${clip(json(given))}${omitted.length === 0 ? '' : ` without ${omitted.map(clip).join(', ')}, too large to be shown`}`,
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
