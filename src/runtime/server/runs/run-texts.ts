import { clip, jsonText } from '../../tools/encode-text.js';

const listed = (ids: readonly string[]): string =>
  ids.length === 0 ? 'none' : ids.map((id) => `'${clip(id)}'`).join(', ');

/** Every sentence about runs that outlast a request, in one place. */
export const runTexts = {
  waitsUntil: (time: string) => `Goes on by itself at ${time}.`,

  badClaim: (claim: string, found: string) =>
    `The caller cannot be identified: \`${clip(claim)}\` is ${found}, and must be ${claim === 'iss' || claim === 'clientId' ? 'a text' : 'a text or a number'}. Nothing was done.`,
  claimMissing: (claim: string) =>
    `The caller cannot be identified: \`${clip(claim)}\` is missing. Nothing was done.`,

  /** The same for a run that never was, that is forgotten, and that is somebody else's. */
  unknownRun: (id: string) =>
    `Run '${clip(id)}' not found: it does not exist, was forgotten, or belongs to another caller. Check the id, and call as whoever started it.`,
  tooManyRuns: (open: number, limit: number) =>
    `${open} runs are open, and no more than ${limit} may be: finish or cancel one first.`,
  tooManyAnonymousRuns: (limit: number) =>
    `${limit} runs without authentication are open, which is the limit of this server: finish or cancel one first, or authenticate.`,
  tooManyActions: (open: number, limit: number) =>
    `${open} actions are open, and a run may begin only below ${limit}: answer or cancel some first.`,

  cancelled: (id: string, why: string) =>
    `Run '${clip(id)}' was cancelled: nothing can be submitted any more.${why === '' ? '' : ` ${clip(why)}`}`,
  notUsed: (action: string | undefined) =>
    `The run was over when this answer${action === undefined ? '' : ` to '${clip(action)}'`} came: it was not used.`,
  nothingUndone: 'The run was over when it was to be cancelled: nothing was undone.',
  ambiguous: (open: readonly string[]) =>
    `${open.length} actions are open: say which one by action_id. Open are ${listed(open)}.`,
  repeatedOrNew: (open: readonly string[]) =>
    `The same answer was accepted before, and may be meant for an action that is open now: say which one by action_id. Open are ${listed(open)}.`,
  nothingOpen: 'No action is open: the run goes on by itself. Ask for its status later.',
  unknownAction: (action: string, open: readonly string[]) =>
    `The run has no action '${clip(action)}'. Open are: ${listed(open)}. Nothing was consumed.`,
  closed: (action: string, open: readonly string[]) =>
    `Action '${clip(action)}' is not open any more: the run went on without an answer. Open are: ${listed(open)}.`,
  expired: (action: string, open: readonly string[]) =>
    `Action '${clip(action)}' has expired: its time to answer is over. Open are: ${listed(open)}.`,
  alreadySubmitted: (action: string) =>
    `Action '${clip(action)}' was answered before, in another way. The first answer holds.`,
  tooEarly: (action: string, ms: number) =>
    `'${clip(action)}' waits for a time and is not answered: ${ms} ms are left. Ask for the status then.`,

  shape: (problems: readonly string[], how: string) =>
    `The answer does not fit: ${problems.map(clip).join('; ')}. ${how} The action is still open.`,
  oneOfTwo: 'send either `result` or `error`, one of them',
  errorShape: '`error` must be an object { code?, message } with a message in text',
  notJson: (problem: string) => `it is not JSON, but holds ${problem}`,
  protoKey: 'the key `__proto__` is not allowed',
  notTaken: 'it is not what the step expects',
  brokenSchema: (why: string) => `what the step expects cannot be checked: ${clip(why)}`,
  stringified: (member: 'result' | 'error') =>
    `\`${member}\` came as text that holds JSON, and was read as such: send the JSON itself.`,
  /** How a question is answered; completes what was wrong, and stands in the answer of a waiting run. */
  how: {
    info: 'Send no result at all, or {"acknowledged": true}.',
    confirm: 'Send true or false, or {"confirmed": true}.',
    text: 'Send the text, or {"input": "the text"}.',
    choice: (options: readonly string[]) =>
      `Send one of ${options.map((option) => jsonText(option)).join(', ')}, or {"selected": "that one"}.`,
    yield: 'Send a result that fits the schema of the action.',
  },

  answeredWithError: 'Whoever was asked gave an error and no reason.',
  declined: 'The user declined to answer.',
  dismissed: 'The user closed the question without an answer.',
  requestCancelled: 'the request was cancelled',
  cancelledByCaller: 'the caller cancelled it',
  idle: (ms: number) => `nobody answered it or asked for it for ${ms} ms`,
  broke: (why: string) => `The run broke inside the server: ${clip(why)}`,
  journalFailed: (why: string) =>
    `The run's journal failed, and this server does not go on with the run: ${clip(why)}`,
  notForgotten: (ref: string, why: string) =>
    `the journal could not forget run ${ref}, which is over: ${clip(why)}`,
  noOperators: 'This server carries out no commands of operators. Nothing was done.',
  brokeLog: (workflow: string, ref: string, shown: string) =>
    `run ${ref} of workflow \`${workflow}\` broke: ${shown}`,
  sameId: (ref: string) => `newRunId gave the id of run ${ref} twice`,
} as const;
