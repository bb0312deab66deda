import { clip, jsonText } from '../../../graph/printable-text.js';

export const listed = (ids: readonly string[]): string =>
  ids.length === 0 ? 'none' : ids.map((id) => `'${clip(id)}'`).join(', ');

/** Sentences about answers that several files use. */
export const answerTexts = {
  cancelled: (id: string, why: string) =>
    `Run '${clip(id)}' was cancelled: it takes no further answers.${why === '' ? '' : ` ${clip(why)}`}`,
  nothingOpen: 'No action is open: the run goes on by itself. Ask for its status later.',
  closed: (action: string, open: readonly string[]) =>
    `Action '${clip(action)}' is no longer open: the run went on without an answer. Open are: ${listed(open)}.`,

  shape: (problems: readonly string[], how: string) =>
    `The answer does not fit: ${problems.map(clip).join('; ')}. ${how} The action is still open.`,
  oneOfTwo: 'send either `result` or `error`, one of them',
  notTaken: 'it is not what the step expects',
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
} as const;
