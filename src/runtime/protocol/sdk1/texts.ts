import { oneLine } from '../../tools/encode-text.js';

/** What this adapter says about messages that never reach the server, to clients and to operators. */
export const adapterTexts = {
  messageTooLong: (limit: number) =>
    `Invalid Request: a message must not exceed ${limit} bytes; send large content in several calls, or a reference to it`,
  notJson: () => 'Parse error: the line is not JSON',
  batch: () => 'Invalid Request: batches are not supported, send one message per line',
  notObject: () => 'Invalid Request: a message is a JSON object',
  badVersion: () => 'Invalid Request: `jsonrpc` must be "2.0"',
  badParams: () => 'Invalid Request: `params` must be an object',
  badMessage: () => 'Invalid Request: this is no JSON-RPC 2.0 request, notification or response',
  badInitialize: (problems: string) => `Invalid params of initialize: ${oneLine(problems)}`,

  refused: (why: string) => `a message of the client was refused: ${why}`,
  strayMessage: (why: string) => `a message of the client was ignored: ${oneLine(why, 200)}`,
  connectionClosed: () => 'the connection was closed',
  aborted: (count: number) =>
    `the client hung up: ${count === 1 ? '1 request was' : `${count} requests were`} still under way and had to be aborted`,
} as const;
