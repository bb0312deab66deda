import type { Json } from '../../graph/json.js';
import { didYouMeanSentence } from '../../graph/names.js';
import { clip, oneLine } from '../../graph/printable-text.js';

/** Every sentence this room answers a client with, or tells an operator, in one place. */
export const serverTexts = {
  registrationRefused: (problems: readonly string[]) =>
    `the server cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
  sourcesChanged: (
    files: readonly { readonly file: string; readonly isGone: boolean }[],
  ): readonly string[] => {
    const shown = files
      .slice(0, 5)
      .map(({ file, isGone }) => `\`${file}\` ${isGone ? 'was removed' : 'changed'} after codegen ran`);
    return files.length > 5 ? [...shown, `and ${files.length - 5} more files`] : shown;
  },
  sourcesRenamed: () => 'a source was added or removed after codegen ran',
  registryDiffers: (file: string) => `\`${file}\` differs from its sources`,
  registryReplaced: (file: string) =>
    `\`${file}\` was written again after it was loaded or compiled: build the program again`,
  workflowFault: (workflow: string, { code, message }: { readonly code: string; readonly message: string }) =>
    `workflow \`${clip(workflow)}\`: ${code}: ${oneLine(message)}`,
  noFunction: (workflow: string, name: string) =>
    `workflow \`${clip(workflow)}\`: it names the function \`${clip(name)}\`, which neither the registry nor the workflow has`,
  twoFunctions: (workflow: string, name: string) =>
    `workflow \`${clip(workflow)}\`: it names the function \`${clip(name)}\`, but another function of that name is registered`,
  notBuilt: (index: number, found: string) =>
    `workflows[${index}] is ${found}, not a built workflow: make it with build() of stepwright/builder`,
  notPlainPrompt: (index: number, found: string) =>
    `prompts[${index}] is ${found}, not a plain prompt: make it with simplePrompt(name, handler)`,
  argumentSchema: (kind: string, holder: string, argument: string, { pointer, problem }: Fault) =>
    `${kind} \`${clip(holder)}\`: the schema of argument \`${clip(argument)}\`${inPlace(pointer)} ${oneLine(problem)}`,
  toolSchema: (tool: string, schema: string, { pointer, problem }: Fault) =>
    `tool \`${clip(tool)}\`: its \`${schema}\`${inPlace(pointer)} ${oneLine(problem)}`,
  listedSchemas: {
    notSchema: 'is not a JSON Schema: write an object',
    notOfObject: (type: Json | undefined) =>
      `${type === undefined ? 'is missing' : `is ${JSON.stringify(type)}`}, and the tools of MCP take and return objects: write { "type": "object", "properties": … }, with the value as a property, or give the tool the visibility 'workflow'`,
    notProperties: 'is not an object of schemas',
    notProperty: 'is not a JSON Schema: write an object',
    notRequired: 'is not a list of names',
  },
  argumentDefault: (kind: string, holder: string, argument: string, problem: string) =>
    `${kind} \`${clip(holder)}\`: the default of argument \`${clip(argument)}\` does not fit: ${problem}`,
  workflowResources: {
    overview: (domain: string) =>
      `The workflows of ${domain}, their steps and rules: read it before you plan`,
    template: 'A workflow: its parameters, and its steps with the tools that they call',
    privateTool: 'internal-step',
  },
  planTool: {
    description:
      'Suggests how to reach a goal: the workflows that fit with the parameters that they need, or else a sequence of tool calls, inferred from their hints and schemas. It calls nothing.',
    goal: 'What to reach, in words of the descriptions of tools',
    taken: 'planTool needs the name `_plan`, which a tool of the registry has',
    badInput: (longest: number) =>
      `\`goal\` has to be a text of 1 to ${longest} characters, not all of them blank; no other argument is taken`,
  },
  /** What a client should choose first. */
  decisions: {
    head: 'For each request, take the first of these that fits:',
    workflow: (prefix: string) =>
      `A tool that runs a whole workflow${prefix === '' ? '' : `: its name begins with \`${prefix}\``}. Choose it by its description and give the parameters; the order of the steps, retries and undoing are done for you.`,
    sequence:
      'Several tools, in the order of their descriptions: call all tools of "Requires" before, and one of "Next" after. Pass on the values that a later tool takes.',
    single: 'A single tool.',
    plan: 'If you are not sure, `_plan` suggests one of these for a goal.',
  },
  kinds: {
    workflow: 'a workflow of the registry',
    prompt: 'a prompt of the registry',
    builtWorkflow: 'a built workflow',
    codegenSpec: 'a workflow that codegen has read from a spec file',
    specWorkflow: (place: string) => `the workflow at ${clip(place)}`,
    plainPrompt: 'a plain prompt',
  },
  unportablePrompt: (name: string) =>
    `prompt \`${clip(name)}\`: some hosts refuse its name: they take at most 64 letters, digits, _ and -`,
  nameTaken: (name: string, first: string, second: string, file: string | undefined) =>
    `${second} is named \`${clip(name)}\`, as ${first} is: prompts and workflows share their names. Rename one of them` +
    (file === undefined
      ? ''
      : ', or leave out the file if codegen has read it for the registry (`specs` of the configuration)'),

  systemMessage: (prompt: string) =>
    `prompt \`${clip(prompt)}\` has a system message, which MCP does not know: it is sent as the user's. ` +
    'Write `user(...)`, or keep such text in the description of a tool or in a resource.',
  /** `shown` is the stack. */
  promptThrew: (prompt: string, shown: string) => `prompt \`${clip(prompt)}\` threw: ${shown}`,
  promptFailed: (prompt: string, why: string) => `Prompt '${prompt}' failed: ${oneLine(why)}`,
  promptRefused: (prompt: string, why: string) => `Prompt '${clip(prompt)}' was refused: ${oneLine(why)}`,
  noSuchTool: (tool: string, near: string | undefined) =>
    `it names the tool '${clip(tool)}', which this server does not have${asSentence(near)}`,
  noSuchResource: (uri: string, near: string | undefined) =>
    `it names the resource '${clip(uri)}', which this server does not have${asSentence(near)}`,
  noSuchWorkflow: (workflow: string, near: string | undefined) =>
    `it names the workflow '${clip(workflow)}', which this server does not have${asSentence(near)}`,
  noHandle: (className: string) =>
    `it names the class ${clip(className)}, which is not a tool, resource or workflow`,
  privateHandle: (tool: string) =>
    `it names the tool '${clip(tool)}', which only steps of workflows may call: name a workflow that calls it, or leave out \`visibility: 'workflow'\``,
  templateHandle: (className: string) =>
    `it names the class ${clip(className)}, which has no address of its own: write a link to one of its addresses`,
  noMessages: () => 'render returned no messages: return a list of them, or { messages }',
  badMessage: (number: number) => `message ${number} is not an object { role, content }`,
  badRole: (number: number, role: string) =>
    `message ${number} has the role '${clip(role)}': write 'user' or 'assistant'`,
  badContent: (number: number, what: string) => `message ${number} holds ${what}`,
  /** What a tool handle becomes in a message. */
  toolHandle: (name: string, description: string, schema: string) =>
    `Tool: ${name}\nDescription: ${description}\nSchema: ${schema}`,
  /** What a workflow handle becomes in a message. */
  workflowHandle: (name: string, description: string) => `Workflow: ${name}\nDescription: ${description}`,

  unknownTemplate: (uri: string) => `Unknown resource template '${clip(uri)}'`,
  notCompleted: (argument: string, why: string) =>
    `Argument '${clip(argument)}' cannot be completed: ${oneLine(why)}`,
  badCompletion: () => '`complete` must return a list of texts',

  unknownTool: (name: string, near: string | undefined) => `Unknown tool '${clip(name)}'${asSentence(near)}`,
  unknownPrompt: (name: string, near: string | undefined) =>
    `Unknown prompt '${clip(name)}'${asSentence(near)}`,
  unknownResource: (uri: string) => `Resource not found: ${clip(uri)}`,
  tooManySubscriptions: (limit: number) =>
    `A connection subscribes to ${limit} resources at most: unsubscribe from some first`,
  unreadableResource: (uri: string, why: string) => `Resource ${clip(uri)} cannot be read: ${oneLine(why)}`,
  instructionUnreadable: (uri: string, why: string) =>
    `Its instruction ${clip(uri)} cannot be read: ${oneLine(why)}`,
  requestCancelled: () => 'the request was cancelled',
  badCursor: () => 'Invalid cursor: this list did not return it. Leave it out to get the first page',
  badParams: (method: string, problems: string) => `Invalid params of ${method}: ${oneLine(problems)}`,
  unknownMethod: (method: string) => `Method not found: ${clip(method)}`,
  internal: (method: string) => `Internal error in ${clip(method)}; the server's log has the details`,
  /** One refusal for all problems of a request's arguments. */
  badArguments: (problems: readonly string[]) => problems.map((problem) => oneLine(problem)).join('; '),
  missingArgument: (name: string) => `Missing required argument '${name}'`,
  unknownArgument: (name: string, near: string | undefined) =>
    `Unknown argument '${clip(name)}'${asSentence(near)}`,
  notText: (name: string, found: string) =>
    `Invalid value for argument '${name}': prompt arguments are text, and this is ${found}`,
  invalidValue: (name: string, value: string, expected: string) =>
    `Invalid value for argument '${name}': '${clip(value)}' is not ${expected}`,
  /** `problem` is a sentence about the value, such as `the value must be >= 1`. */
  refusedValue: (name: string, problem: string) => `Invalid value for argument '${name}': ${problem}`,
  resultSecret: (name: string) =>
    `Tool '${name}' succeeded, but its result cannot be shown: it repeats a secret of the input, and does not match the output schema without it. Do not call it again.`,
  lackingScopes: (missing: readonly string[]) =>
    `The caller lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${missing.map((scope) => `'${clip(scope)}'`).join(', ')}: call again with a token that has ${missing.length === 1 ? 'it' : 'them'}`,
  undeclaredSafety: (tools: readonly string[]) =>
    `a run in the store pauses when the server is stopped in a call of ${tools.map((tool) => `\`${clip(tool)}\``).join(', ')}: say what another call does, \`retrySafety: 'idempotent'\`, \`'key'\` or \`'none'\` of @Tool`,
  toolTimedOut: (name: string, ms: number) =>
    `Tool '${name}' did not answer within ${ms} ms; whether it took effect is unknown`,
  noAnswer: (ms: number) => `there was no answer within ${ms} ms`,
  startFailed: (why: string) => `the server cannot start: its \`onStart\` failed: ${oneLine(why)}`,
  stopFailed: (shown: string) => `\`onStop\` of the server failed: ${shown}`,
  stopLate: (ms: number) => `\`onStop\` of the server did not finish within ${ms} ms`,
  shuttingDown: () =>
    'The server is shutting down and takes no further requests: connect again and repeat this one',
  stopped: () => 'the server was stopped',
  drains: (requests: number, ms: number) =>
    `the server is being stopped: ${counted(requests, 'request')} in flight may take ${ms} ms to finish`,
  drained: (requests: number, runs: number) =>
    `the server was stopped: cancelled ${counted(requests, 'request')} and ${counted(runs, 'run')} that were not over`,
  unanswered: (requests: number) =>
    `the server was stopped: ${counted(requests, 'request')} got no answer in time`,
  strayOutput: (tools: readonly string[]) =>
    `stdout belongs to the protocol: what was written to it during the call of ${toolList(tools)} goes to stderr. Log with \`console.error\` or \`context.log\``,
  exitDuringCalls: (code: number, tools: readonly string[]) =>
    `the process ends with exit code ${code} during the call of ${toolList(tools)}. If that called \`process.exit\`: throw an error instead, which fails the call alone`,
  strayError: (isRejection: boolean, shown: string) =>
    `${isRejection ? 'A rejection was left unhandled' : 'An error was thrown outside of any call'}; the server keeps serving: ${shown}`,
  fatalError: (shown: string) => `The server cannot go on and ends with exit code 1: ${shown}`,
  notHost: (text: string) =>
    `\`allowedHosts\` lists '${clip(text)}', which is not a host: write \`example.com\` or \`example.com:8443\``,
  notOrigin: (text: string) =>
    `\`allowedOrigins\` lists '${clip(text)}', which is not an origin: write \`https://example.com\``,
  foreignHost: (host: string | undefined) =>
    `Forbidden: ${host === undefined ? 'the request has no Host header' : `this server is not served as '${clip(host)}'`}. Its operator lists its names in \`allowedHosts\`.`,
  foreignOrigin: (origin: string) =>
    `Forbidden: pages of '${clip(origin)}' must not call this server. Its operator lists those that may in \`allowedOrigins\`.`,
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
  defaultValue: (value: string) => `default: ${value}`,
} as const;

/** How the limits of an argument are described; nothing where there is none. */
export const limitWords = {
  range: (least: number | undefined, most: number | undefined) => {
    if (least !== undefined && most !== undefined) return `from ${least} to ${most}`;
    if (least !== undefined) return `at least ${least}`;
    return most === undefined ? undefined : `at most ${most}`;
  },
  exclusiveRange: (above: number | undefined, below: number | undefined) => {
    if (above !== undefined && below !== undefined) return `above ${above} and below ${below}`;
    if (above !== undefined) return `above ${above}`;
    return below === undefined ? undefined : `below ${below}`;
  },
  multipleOf: (step: number | undefined) => (step === undefined ? undefined : `a multiple of ${step}`),
  count: (
    noun: 'character' | 'item',
    least: number | undefined,
    most: number | undefined,
  ): string | undefined => {
    const nouns = (count: number) => `${count} ${noun}${count === 1 ? '' : 's'}`;
    if (least !== undefined && least === most) return `exactly ${nouns(least)}`;
    // A minimum of one character needs no note.
    if (noun === 'character' && least === 1) return limitWords.count(noun, undefined, most);
    if (least !== undefined && most !== undefined) return `${least} to ${nouns(most)}`;
    if (least !== undefined) return `at least ${nouns(least)}`;
    return most === undefined ? undefined : `at most ${nouns(most)}`;
  },
  unique: 'no item twice',
  pattern: (pattern: string) => `matches ${clip(pattern)}`,
} as const;

/** What a refused value should have been; completes "'x' is not …". */
export const expectedWords = {
  number: 'a valid number',
  safeNumber: 'a number that is kept exactly: whole numbers beyond 2^53 - 1 are not exact',
  safeNumbers: (expected: string) =>
    `${expected} of numbers that are kept exactly: whole numbers beyond 2^53 - 1 are not exact`,
  integer: 'a valid integer',
  boolean: 'a valid boolean (use true/false)',
  array: 'a valid JSON array',
  object: 'a valid JSON object',
  null: 'null',
  oneOf: (values: readonly string[]) => `one of: ${values.join(', ')}`,
  oneOfTypes: (expected: readonly string[]) => expected.join(' or '),
} as const;

/** What a message holds that cannot be sent; completes "message 2 holds …". */
export const contentWords = {
  kind: (content: unknown) => {
    if (content === undefined || content === null) return String(content);
    return `a ${typeof content}`;
  },
  notJson: (pointer: string, problem: string) =>
    pointer === '' ? `what is not JSON: ${problem}` : `what is not JSON: '${clip(pointer)}' is ${problem}`,
  shape: 'an object that is not content of MCP: text, image, audio, resource or resource_link',
} as const;

/** A fault, and where in its schema it is. */
interface Fault {
  readonly pointer: string;
  readonly problem: string;
}

function inPlace(pointer: string): string {
  return pointer === '' ? '' : ` at \`${clip(pointer)}\``;
}

function asSentence(near: string | undefined): string {
  return near === undefined ? '' : `. ${didYouMeanSentence(near)}`;
}

function toolList(tools: readonly string[]): string {
  return `${tools.length === 1 ? 'tool' : 'tools'} ${tools.map((tool) => `\`${clip(tool)}\``).join(', ')}`;
}

function counted(count: number, what: string): string {
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
