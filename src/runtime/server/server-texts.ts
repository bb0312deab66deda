import { didYouMeanSentence } from '../../graph/names.js';
import { clip, oneLine } from '../../graph/printable-text.js';

/** Sentences of the server that several places use. */
export const serverTexts = {
  workflowFault: (workflow: string, { code, message }: { readonly code: string; readonly message: string }) =>
    `workflow \`${clip(workflow)}\`: ${code}: ${oneLine(message)}`,
  promptFailed: (prompt: string, why: string) => `Prompt '${prompt}' failed: ${oneLine(why)}`,
  badContent: (number: number, what: string) => `message ${number} holds ${what}`,
  unknownResource: (uri: string) => `Resource not found: ${clip(uri)}`,
  requestCancelled: () => 'the request was cancelled',
  unknownArgument: (name: string, near: string | undefined) =>
    `Unknown argument '${clip(name)}'${asSentence(near)}`,
  /** `problem` is a sentence about the value, such as `the value must be >= 1`. */
  refusedValue: (name: string, problem: string) => `Invalid value for argument '${name}': ${problem}`,
  noAnswer: (ms: number) => `there was no answer within ${ms} ms`,
  stopped: () => 'the server was stopped',
} as const;

export function asSentence(near: string | undefined): string {
  return near === undefined ? '' : `. ${didYouMeanSentence(near)}`;
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
