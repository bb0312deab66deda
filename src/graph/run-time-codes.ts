/** What one run-time code tells a reader, each in a sentence or two of Markdown. */
interface RunTimeCodeEntry {
  readonly meaning: string;
  readonly cause: string;
  readonly repair: string;
}

const entry = (meaning: string, cause: string, repair: string): RunTimeCodeEntry => ({
  meaning,
  cause,
  repair,
});

/** Failures of calls of tools. */
const tools = {
  E_TOOL_ERROR: entry(
    'The tool failed.',
    '`execute` threw an error without a `code`, or returned a result with `isError`.',
    "Read the message. The server's log has the stack. Throw an error with a `code` so that callers can tell causes apart.",
  ),
  E_TOOL_UNKNOWN: entry(
    'No tool has this name.',
    "A built graph names a tool that is not in the server's registry.",
    'Correct the name or register the tool.',
  ),
  E_TOOL_FACTORY: entry(
    'The tool class could not be instantiated.',
    'Its factory or constructor threw, or the factory returned an object without `execute`.',
    'Correct the factory in `serve(registry, { tools })`.',
  ),
  E_INPUT_INVALID: entry(
    'The input does not match the input schema; the tool was not called.',
    'A property is missing, unknown or of the wrong type. `details.problems` lists each with its JSON pointer.',
    'Send the input that the schema asks for. This failure is never retried.',
  ),
  E_SCHEMA_INVALID: entry(
    'A schema of the tool cannot check a value.',
    'The JSON Schema does not compile, or the validator of the schema threw.',
    'Correct the schema and run `npx stepwright codegen`.',
  ),
  E_OUTPUT_SCHEMA: entry(
    'The result does not match the output schema.',
    '`execute` returned a value that its `output` schema refuses. The tool did run.',
    'Correct the schema or what `execute` returns.',
  ),
  E_RESULT_NOT_JSON: entry(
    'The result is not JSON.',
    'The result holds a function, a promise, a cycle, a `bigint`, a number that is not finite, or the like, or is nested more than 512 levels; `details.pointer` says where.',
    'Return plain JSON. A tool that failed so did run. Asynchronous work of a function belongs in a tool.',
  ),
  E_RESULT_TOO_LARGE: entry(
    'The result is larger than 4 MiB of JSON.',
    'A tool returned, or a resource held, more than a run keeps. `details` has the size and the limit.',
    'Return a part of it, or a link to it.',
  ),
  E_RESULT_SECRET: entry(
    'The call succeeded, but its masked result no longer matches the output schema.',
    'The result repeats a secret input, and the mask `••••` does not fit there.',
    'Leave secrets out of results. Do not call the tool again: it has taken effect.',
  ),
  E_REFUSED: entry(
    'Middleware refused the call; the tool was not called.',
    '`onRequest` threw an error without a `code`.',
    'Read the message. A refused call is never retried.',
  ),
  E_MIDDLEWARE: entry(
    'Middleware returned something invalid; the tool was not called.',
    '`onRequest` returned neither nothing nor `{ input }` with a JSON object.',
    'Correct the middleware that the message names.',
  ),
} as const;

/** Failures of reads of resources. */
const resources = {
  E_RESOURCE_READ: entry(
    'The resource could not be read.',
    '`read` threw or returned something that is not content, or its file is gone.',
    "Read the message; the server's log has the stack.",
  ),
  E_RESOURCE_UNKNOWN: entry(
    'No resource has this name or address.',
    'A built graph names a resource that is not registered, or an address that its URI or template does not match.',
    'Correct the name or the URI, or register the resource.',
  ),
  E_RESOURCE_URI: entry(
    'The URI does not match what the template allows.',
    'A variable is empty or not percent-encoded, or its path has a segment `.` or `..`.',
    'Send a valid value. `dotSegments` of `@Resource` permits such segments.',
  ),
  E_RESOURCE_FACTORY: entry(
    'The resource class could not be instantiated.',
    'Its factory or constructor threw, or the factory returned an object without `read`.',
    'Correct the factory in `serve(registry, { resources })`.',
  ),
} as const;

/** Failures of exported functions that are steps. */
const functions = {
  E_FUNCTION: entry(
    'The function failed.',
    'The function threw an error without a `code`.',
    "Read the message; the server's log has the stack.",
  ),
  E_FUNCTION_UNKNOWN: entry(
    'The registry has no function of this name.',
    'A workflow names a function that neither the registry nor the built workflow brings.',
    'Export the function, pass the built workflow to `serve`, or run `npx stepwright codegen`.',
  ),
  E_FUNCTION_STALE: entry(
    'The function has changed since the workflow was compiled.',
    'The source hash of the function differs from that in the graph.',
    'Run `npx stepwright codegen`.',
  ),
} as const;

/** How a run ends, and what its limits are. */
const runs = {
  E_FAIL: entry(
    'The workflow ended itself.',
    'A `fail(message)` without a `code` ran.',
    'Read the message, which its author wrote. `fail(message, { code })` gives programs a code of their own.',
  ),
  E_TIMEOUT: entry(
    'An attempt took longer than its limit.',
    '`timeoutMs` of the step, or the limit of a direct call, has passed. A call in flight has an unknown outcome.',
    'Check whether the call took effect before you repeat it. Raise `timeoutMs` or make the work shorter.',
  ),
  E_DEADLINE: entry(
    'The run reached its deadline.',
    'A prompt run has `promptTimeoutMs` in all, 45 s by default. A call in flight has an unknown outcome.',
    'Make the calls of the hand-off, raise `promptTimeoutMs`, or expose the workflow as a tool.',
  ),
  E_CANCELLED: entry(
    'The run, or this call, was cancelled.',
    'The request or the run was cancelled, the server was drained, or another failure aborted the call.',
    '`outcome_unknown` marks a call that may have taken effect: check it before you repeat it.',
  ),
  E_IDLE: entry(
    'The run was cancelled because no answer came.',
    'It waited for an answer and no request asked for it during `runs.idleMs`, one day by default.',
    'Start the workflow again, or raise `runs.idleMs`.',
  ),
  E_STEP_LIMIT: entry(
    'The run started more than 100,000 steps.',
    'A loop or a `goto` repeats far too often.',
    'Shorten the list, or split the work into several runs.',
  ),
  E_INPUT: entry(
    'A nested workflow was run with the wrong arguments.',
    'A required argument of `run(Workflow, args)` is absent at run time, or an argument is unknown.',
    'Give the argument a value or a default. `details` names the missing and the unknown ones.',
  ),
  E_DEPTH: entry(
    'Something is nested too deep.',
    'Workflows run each other more than 5 deep, or a value or an expression is nested more than 1,000 levels.',
    'End the recursion by a condition, or flatten the value.',
  ),
  E_JOURNAL: entry(
    'The run left this process because its journal failed.',
    'Three writes in a row failed, or another process wrote to the run. The journal keeps the run as last written.',
    'Repair the journal. Look the outcome up in it before you start the workflow again.',
  ),
  E_INTERNAL: entry(
    'The server itself failed.',
    'A defect of stepwright or of a host; a call in flight has an unknown outcome.',
    "Report it with the stack from the server's log.",
  ),
  E_UNFINISHED: entry(
    'The prompt run ended before it had a result.',
    'A step of the conversation had no outcome when the run stopped.',
    'Make the calls that the hand-off lists.',
  ),
  E_WAITING: entry(
    'The run waits for an answer or a time.',
    'The workflow asks or waits. This is a state in `pause_reason`, not a failure.',
    'Answer with `submit_result`, or ask later with `get_workflow_status`.',
  ),
  E_RUNNING: entry(
    'The run goes on after the conversation has ended.',
    'The prompt reached its cap. This is a state in `pause_reason`, not a failure.',
    'Ask for the run with `get_workflow_status`.',
  ),
} as const;

/** Failures of steps that hold or order other steps. */
const constructs = {
  E_NO_MATCH: entry(
    'No case of a branch matched.',
    'A value at run time is none of the keys of `match`, and the branch has no `else`.',
    'Add an arm for the value.',
  ),
  E_FOREACH_ITEMS: entry(
    'The items of a loop are not a list.',
    'The expression gave null, an absent value or another type at run time.',
    'Give a default: `this.found.items ?? []`.',
  ),
  E_FOREACH_LIMIT: entry(
    'The list of a loop is longer than `max`.',
    '`max` is 1,000 by default. No item was started.',
    'Raise `max`, or shorten the list with `.slice`.',
  ),
  E_LOOP_LIMIT: entry(
    'A `goto` has gone back `max` times.',
    'Its condition was still true after the last round.',
    "Raise `max`, correct the condition, or write `onLimit: 'continue'`.",
  ),
  E_PARTIAL_FAILURE: entry(
    'A branch of a `parallel` failed and the others were rolled back.',
    "`onPartialFailure: 'rollback'` applies. `details.failed` has each failure, `details.compensation` what was undone.",
    'Repair the cause in `details.failed`. Undo by hand what `not_undone` lists.',
  ),
  E_COMPENSATION: entry(
    'A compensation failed or has no input.',
    'A call that undoes an effect failed, or its input refers to a step that has not succeeded.',
    'Undo by hand what `not_undone` lists, and correct the compensation.',
  ),
  E_NOT_UNDOABLE: entry(
    'A rollback could not undo a call.',
    'The call has an effect and no `compensate`.',
    'Write `compensate` on the call. SW4037 reports it at build time.',
  ),
  E_WAIT: entry(
    'The time to wait for is not valid.',
    'The span is negative, not finite or longer than 366 days, or `until` is not a time.',
    'Send a time as RFC 3339 or in milliseconds.',
  ),
  E_NOT_TEXT: entry(
    'A URI or a message is not text.',
    'The expression for it gave another type at run time.',
    'Make it text with a template literal.',
  ),
  E_NOT_OBJECT: entry(
    'The input of a call is not an object.',
    'The expression for the whole input gave another type at run time.',
    'Write the input as an object literal.',
  ),
  E_NOT_LIST: entry(
    'The arguments of a function are not a list.',
    'A built graph has an expression for the arguments that gave another type.',
    'Correct the graph.',
  ),
} as const;

/** Failures of questions, and refusals of the tools that look after runs. */
const questions = {
  E_ASK_OPTIONS: entry(
    'A choice cannot be asked.',
    'Its options are not one or more distinct texts.',
    'Filter empty lists and duplicates before you ask.',
  ),
  E_ASK_DECLINED: entry(
    'The user declined to answer.',
    'The client reported that the form was declined.',
    'Handle it with `attempt(ask.…, …)` where the workflow can go on.',
  ),
  E_ASK_CANCELLED: entry(
    'The user closed the question without an answer.',
    'The client reported that the form was dismissed.',
    'Handle it with `attempt(ask.…, …)`, or ask again with a `retry`.',
  ),
  E_ACTION_FAILED: entry(
    'The action was answered with an error.',
    '`submit_result` sent `error` without a `code` in capital letters.',
    'Read the message of the caller.',
  ),
  E_NOBODY_TO_ASK: entry(
    'The run cannot ask.',
    'The run ends with its call, so an answer could not reach it.',
    'Use a server, which keeps runs that wait.',
  ),
  E_RESULT_SHAPE: entry(
    'The answer does not fit the schema of the action.',
    '`details.problems` lists what is wrong and `details.schema` what fits. The action is still open.',
    'Send an answer that fits.',
  ),
  NO_OPEN_ACTION: entry(
    'The run has no open action.',
    'It is running, or waits for a time.',
    'Ask for its status later with `get_workflow_status`.',
  ),
  AMBIGUOUS_ACTION: entry(
    'The answer does not say which open action it is for.',
    'Several actions are open, or the answer repeats one that was accepted while another action is open.',
    'Send `action_id`; `details.open_actions` lists the open ones.',
  ),
  UNKNOWN_ACTION: entry(
    'The run has no action with this id.',
    '`action_id` is misspelt or belongs to another run.',
    'Take the id from `actions` of `get_workflow_status`.',
  ),
  ACTION_EXPIRED: entry(
    'The time to answer this action is over.',
    '`timeoutMs` of the step has passed.',
    'Look at the status: the step has failed or its fallback has run.',
  ),
  ACTION_CANCELLED: entry(
    'The action is no longer open.',
    'The run went on without the answer: a step failed, or a result was reached.',
    'Look at the status.',
  ),
  ALREADY_SUBMITTED: entry(
    'The action has a different answer already.',
    'The first accepted answer counts.',
    'Look at the status. Start the workflow again for another answer.',
  ),
  TOO_EARLY: entry(
    'A `wait` takes no answer.',
    'The action waits for a time; `details.remaining_ms` says how long.',
    'Ask for the status at that time.',
  ),
  WORKFLOW_CANCELLED: entry(
    'The run was cancelled and takes no answer.',
    'A caller, a limit or the server cancelled it.',
    'Start the workflow again.',
  ),
  WORKFLOW_NOT_FOUND: entry(
    'The caller has no run with this id.',
    'The run does not exist, was forgotten, or belongs to another caller. All three get the same response.',
    'Check the id, and call as the principal that started the run.',
  ),
  RESOURCE_EXHAUSTED: entry(
    'A limit on open runs or actions is reached.',
    '`runs.maxOpenRuns`, `runs.maxPendingActions` or `runs.maxAnonymousRuns`. The run was not started.',
    'Finish or cancel a run, or raise the limit.',
  ),
} as const;

/** Why an expression has no value. */
const expressions = {
  E_NOT_AN_OBJECT: entry(
    'A field was read from a value that has none.',
    'The value is null, absent, a number or a boolean at run time.',
    'Read it with `?.`, or give a default with `??`.',
  ),
  E_KEY_TYPE: entry(
    'A computed key is neither text nor a number.',
    '`value[key]` was evaluated with another type.',
    'Correct the key.',
  ),
  E_COMPARE_TYPES: entry(
    'Two values of different types were compared.',
    '`<`, `<=`, `>` and `>=` take two numbers or two texts.',
    'Compare values of one type.',
  ),
  E_NOT_A_BOOLEAN: entry(
    'A condition is not a boolean.',
    'The value of a condition is a text, a number, a list or an object at run time.',
    'Write a comparison: `!== undefined`, `.length > 0`.',
  ),
  E_NOT_A_LIST: entry(
    'A value that is spread into a list is not a list.',
    '`[...value]` was evaluated with another type.',
    'Give a default: `[...(value ?? [])]`.',
  ),
  E_OPERAND_TYPES: entry(
    'An operator met a value that it cannot calculate with.',
    'Arithmetic takes numbers; `+` joins texts as well.',
    'Correct the operand.',
  ),
  E_NUMBER: entry(
    'A calculation has no finite result.',
    'A division by zero, or a power that is too large.',
    'Check the divisor with a condition first.',
  ),
  E_UNSAFE_INTEGER: entry(
    'A whole number is beyond 2^53 - 1.',
    'Numbers of this size are not exact in JSON.',
    'Keep such numbers as text.',
  ),
  E_ARGUMENT_TYPE: entry(
    'A method was called on, or with, a value of the wrong type.',
    'The value differs from its TypeScript type at run time.',
    'Check the output schema of the tool that supplied it.',
  ),
  E_UNKNOWN_NAME: entry(
    'An expression names something that is not bound.',
    'A graph that was built by hand has a wrong name.',
    'Correct the graph.',
  ),
  E_UNKNOWN_FUNCTION: entry(
    'An expression calls a function that this version does not have.',
    'The graph was built by hand or by a later version.',
    'Update stepwright, or correct the graph.',
  ),
  E_ARITY: entry(
    'An expression function has the wrong number of arguments.',
    'A graph that was built by hand calls it so.',
    'Correct the graph.',
  ),
  E_UNSUPPORTED: entry(
    'This version cannot run a part of the graph, or a request.',
    'The graph was made for a later version, or an operator command reached a server that has none.',
    'Update stepwright, or remove the part that the message names.',
  ),
  E_BUDGET: entry(
    'An evaluation used up its budget.',
    'One transition of a run may evaluate a million units: one for each expression node, item and character.',
    'Move the work to an exported function or a tool.',
  ),
} as const;

/** Failures of loose and plain prompts. */
const prompts = {
  E_PROMPT: entry(
    'The prompt failed.',
    '`render`, or the handler of a plain prompt, threw an error without a `code`.',
    "Read the message; the server's log has the stack.",
  ),
  E_PROMPT_CONTENT: entry(
    'A message of the prompt cannot be sent.',
    'It is not `{ role, content }`, or its content is not a valid block.',
    'Make messages with `user(…)` and `assistant(…)`.',
  ),
  E_PROMPT_HANDLE: entry(
    'A message names a class that cannot be shown.',
    'The class is not a tool, a workflow or a resource, or it is a resource template.',
    'Name another class, or write `link(Template, variables)`.',
  ),
  E_PROMPT_FACTORY: entry(
    'The prompt class could not be instantiated.',
    'Its factory or constructor threw, or the factory returned an object without `render`.',
    'Correct the factory in `serve(registry, { promptClasses })`.',
  ),
  E_MISSING_TOOL: entry(
    'A message names a tool that the server does not have.',
    'The tool class is in another registry.',
    'Include its file in the registry that is served.',
  ),
  E_MISSING_RESOURCE: entry(
    'A message names a resource that the server does not have.',
    'The resource class is in another registry.',
    'Include its file in the registry that is served.',
  ),
  E_MISSING_WORKFLOW: entry(
    'A message names a workflow that the server does not have.',
    'The workflow class is in another registry.',
    'Include its file in the registry that is served.',
  ),
} as const;

/** What keeps a server from starting, or a graph from running. */
const starts = {
  E_NOT_REGISTRABLE: entry(
    'An item of `workflows` or `prompts` is something else.',
    'The list holds a builder, a class or another value.',
    'Pass the result of `build()`, or of `simplePrompt(…)`.',
  ),
  E_NAME_TAKEN: entry(
    'Two prompts or workflows have one name.',
    'Workflows and prompts share the names of `prompts/get`.',
    'Rename one.',
  ),
  E_TOOL_NAME: entry(
    "A workflow's tool, or a tool beside it, cannot have its name.",
    'The name is taken, longer than 64 characters, or one of the tools that manage runs.',
    'Rename the workflow or the tool, or give the workflow a `domain`.',
  ),
  E_FUNCTION_OTHER: entry(
    'Two different functions have one name.',
    'A built workflow brings a function whose name the registry has for another one.',
    'Rename one of them.',
  ),
  E_NESTED_WORKFLOW: entry(
    'A workflow runs a workflow that cannot be included.',
    'The nested workflow is missing, or they are more than 5 deep.',
    'Register the nested workflow, or flatten the nesting.',
  ),
  E_SCHEMA: entry(
    'A schema cannot be used.',
    'The JSON Schema of a tool or an argument does not compile; `pointer` says where.',
    'Correct the schema.',
  ),
  E_DEFAULT: entry(
    'The default of an argument does not fit its schema.',
    'A built workflow or a plain prompt gives both.',
    'Correct the default or the schema.',
  ),
  E_GRAPH: entry(
    'The graph is malformed.',
    'A graph that was built by hand has a duplicate id, an unknown target or a cycle.',
    'Make graphs with codegen or the builder, which report these faults at their source.',
  ),
  E_ON_ERROR_TYPE: entry(
    'A node that ends the workflow has a fallback.',
    'A graph that was built by hand has `onError` on a `return` or `error` node.',
    'Remove `onError` from the node.',
  ),
} as const;

/** Warnings beside results: the run succeeded or the request was accepted. */
const warnings = {
  W_STRINGIFIED: entry(
    'The answer came as text that holds a JSON object.',
    'The client sent JSON in quotes. It was read as the object.',
    'Send the object itself.',
  ),
  W_NOT_USED: entry(
    'The request came too late to change the run.',
    'The run was over when the answer or the cancellation came.',
    'Look at the status in the same response.',
  ),
  W_NOT_UNDONE: entry(
    'Effects that were to be undone remain.',
    'A compensation failed, has no outcome, or does not exist.',
    'Undo by hand what `not_undone` lists. Check first where it says `outcome_unknown`.',
  ),
  W_OUTCOME_UNKNOWN: entry(
    'Calls without an answer may have taken effect.',
    'They were cancelled, or took longer than their limit.',
    'Check each of `unknown_outcomes` before you repeat it.',
  ),
  W_ITEMS_FAILED: entry(
    'Items of a loop failed and are null in the result.',
    "The loop has `onItemError: 'continue'`.",
    'Repair the items that `failed_items` lists, and run them again.',
  ),
} as const;

/** The catalogue by topic, in the order of its page. */
export const runTimeCodeTopics = {
  Tools: tools,
  Resources: resources,
  Functions: functions,
  Runs: runs,
  'Branches, loops and undoing': constructs,
  'Questions and answers': questions,
  Expressions: expressions,
  Prompts: prompts,
  'Starting a server': starts,
  Warnings: warnings,
} as const;

/**
 * Every code that the product gives a run, a call or a request, in one place. A code is never given another meaning.
 * Codes that authors choose (`fail`, errors with a `code`) are not among them.
 */
export const runTimeCodes = {
  ...tools,
  ...resources,
  ...functions,
  ...runs,
  ...constructs,
  ...questions,
  ...expressions,
  ...prompts,
  ...starts,
  ...warnings,
} as const;

export type RunTimeCode = keyof typeof runTimeCodes;

/** The Markdown about one code, to follow a heading with the code. */
export function runTimeCodeText(code: RunTimeCode): string {
  const { meaning, cause, repair } = runTimeCodes[code];
  return `${meaning}\n\n- Cause: ${cause}\n- Repair: ${repair}\n`;
}
