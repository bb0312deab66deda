import { oneLine } from '../catalogue/one-line.js';

/** Every sentence this room answers a client with, in one place. */
export const texts = {
  unknownTool: (name: string, near: string | undefined) => `Unknown tool '${clip(name)}'${didYouMean(near)}`,
  unknownPrompt: (name: string, near: string | undefined) =>
    `Unknown prompt '${clip(name)}'${didYouMean(near)}`,
  unknownResource: (uri: string) => `Resource not found: ${clip(uri)}`,
  unreadableResource: (uri: string, why: string) => `Resource ${clip(uri)} cannot be read: ${why}`,
  instructionUnreadable: (uri: string, why: string) => `Its instruction ${clip(uri)} cannot be read: ${why}`,
  requestCancelled: () => 'the request was cancelled',
  badCursor: () => 'Invalid cursor: it is not one this list handed out',
  badParams: (method: string, problems: string) => `Invalid params of ${method}: ${problems}`,
  unknownMethod: (method: string) => `Method not found: ${clip(method)}`,
  internal: (method: string) => `Internal error in ${method}; the server's log has the details`,
  /** One refusal for all problems of a request's arguments. */
  badArguments: (problems: readonly string[]) => problems.join('; '),
  missingArgument: (name: string) => `Missing required argument '${name}'`,
  unknownArgument: (name: string, near: string | undefined) =>
    `Unknown argument '${clip(name)}'${didYouMean(near)}`,
  notText: (name: string, found: string) =>
    `Invalid value for argument '${name}': prompt arguments are text, and this is ${found}`,
  invalidValue: (name: string, value: string, expected: string) =>
    `Invalid value for argument '${name}': '${clip(value)}' is not ${expected}`,
  /** `problem` is a sentence about the value, such as `the value must be >= 1`. */
  refusedValue: (name: string, problem: string) => `Invalid value for argument '${name}': ${problem}`,
  toolTimedOut: (name: string, ms: number) =>
    `Tool '${name}' did not answer within ${ms} ms; whether it took effect is unknown`,
  noAnswer: (ms: number) => `there was no answer within ${ms} ms`,
  toolCancelled: (name: string) =>
    `The call of tool '${name}' was cancelled; whether it took effect is unknown`,
} as const;

/** How values of an argument are described to a person who types them. */
export const valueWords = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list, as JSON',
  object: 'an object, as JSON',
  oneOf: (values: readonly string[]) => `one of: ${values.join(', ')}`,
  standing: (value: string) => `default: ${value}`,
} as const;

/** What a refused value should have been; completes "'x' is not …". */
export const expectedWords = {
  number: 'a valid number',
  integer: 'a valid integer',
  boolean: 'a valid boolean (use true/false)',
  array: 'a valid JSON array',
  object: 'a valid JSON object',
  null: 'null',
  oneOf: (values: readonly string[]) => `one of: ${values.join(', ')}`,
  oneOfTypes: (expected: readonly string[]) => expected.join(' or '),
} as const;

function didYouMean(near: string | undefined): string {
  return near === undefined ? '' : `. Did you mean '${near}'?`;
}

/** Keeps hostile or huge input from filling a message. */
function clip(text: string): string {
  return oneLine(text, 200);
}
