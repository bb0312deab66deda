import { didYouMeanSentence } from '../../graph/names.js';
import { clip, oneLine } from '../../graph/printable-text.js';

/** Sentences of the server that several files use. */
export const serverTexts = {
  workflowFault: (workflow: string, { code, message }: { readonly code: string; readonly message: string }) =>
    `workflow \`${clip(workflow)}\`: ${code}: ${oneLine(message)}`,
  promptFailed: (prompt: string, why: string) => `Prompt '${prompt}' failed: ${oneLine(why)}`,
  badContent: (number: number, what: string) => `message ${number} holds ${what}`,
  unknownResource: (uri: string) => `Resource not found: ${clip(uri)}`,
  tooManySubscriptions: (limit: number) =>
    `A connection subscribes to ${limit} resources at most: unsubscribe from some first`,
  requestCancelled: () => 'the request was cancelled',
  badParams: (method: string, problems: string) => `Invalid params of ${method}: ${oneLine(problems)}`,
  unknownMethod: (method: string) => `Method not found: ${clip(method)}`,
  internal: (method: string) => `Internal error in ${clip(method)}; the server's log has the details`,
  unknownArgument: (name: string, near: string | undefined) =>
    `Unknown argument '${clip(name)}'${asSentence(near)}`,
  /** `problem` is a sentence about the value, such as `the value must be >= 1`. */
  refusedValue: (name: string, problem: string) => `Invalid value for argument '${name}': ${problem}`,
  noAnswer: (ms: number) => `there was no answer within ${ms} ms`,
  stopped: () => 'the server was stopped',
  notHost: (text: string) =>
    `\`allowedHosts\` lists '${clip(text)}', which is not a host: write \`example.com\` or \`example.com:8443\``,
  notOrigin: (text: string) =>
    `\`allowedOrigins\` lists '${clip(text)}', which is not an origin: write \`https://example.com\``,
  foreignHost: (host: string | undefined) =>
    `Forbidden: ${host === undefined ? 'the request has no Host header' : `this server is not served as '${clip(host)}'`}. Its operator lists its names in \`allowedHosts\`.`,
  foreignOrigin: (origin: string) =>
    `Forbidden: pages of '${clip(origin)}' must not call this server. Its operator lists those that may in \`allowedOrigins\`.`,
} as const;

export function asSentence(near: string | undefined): string {
  return near === undefined ? '' : `. ${didYouMeanSentence(near)}`;
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** What this adapter says about messages that never reach the server, to clients and to operators. */
export const adapterTexts = {
  messageTooLong: (limit: number) =>
    `Invalid Request: a message must not exceed ${limit} bytes; send large content in several calls, or a reference to it`,
  notJson: () => 'Parse error: the message is not JSON',
  batch: () => 'Invalid Request: batches are not supported, send one message at a time',
  notObject: () => 'Invalid Request: a message is a JSON object',
  badVersion: () => 'Invalid Request: `jsonrpc` must be "2.0"',
  badParams: () => 'Invalid Request: `params` must be an object',
  inexactId: () =>
    'Invalid Request: numbers beyond 2^53 - 1 are not exact, so this answer has no id: use a smaller number or text as `id`',
  badMessage: () => 'Invalid Request: the message is not a JSON-RPC 2.0 request, notification or response',
  badInitialize: (problems: string) => `Invalid params of initialize: ${oneLine(problems)}`,

  notAttached: (problems: readonly string[]) =>
    `the registry cannot be added to the server:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
  attachedLate: () => 'the server is connected already: call attach before connect',
  notAttachable: () =>
    'this is not a Server or McpServer of @modelcontextprotocol/sdk 1.x: pass the object that you connect',
  nameInBoth: (what: string, name: string) =>
    `${what} \`${clip(name)}\` is in both: rename it in the registry or in the server`,
  noClientYet: () => 'there is no client yet: the lists are read before the server connects',

  refused: (why: string) => `a message of the client was refused: ${why}`,
  strayMessage: (why: string) => `a message of the client was ignored: ${oneLine(why, 200)}`,
  connectionClosed: () => 'the connection was closed',
  aborted: (count: number) =>
    `the client hung up: ${count === 1 ? '1 request was' : `${count} requests were`} still in flight and aborted`,
} as const;
