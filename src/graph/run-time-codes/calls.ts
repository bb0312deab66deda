/** Failures of calls of tools. */
export const tools = {
  E_TOOL_ERROR: {
    meaning: 'The tool failed.',
    cause: '`execute` threw an error without a `code`, or returned a result with `isError`.',
    repair:
      "Read the message. The server's log has the stack. Throw an error with a `code` so that callers can tell causes apart.",
  },
  E_TOOL_UNKNOWN: {
    meaning: 'No tool has this name.',
    cause: "A built graph names a tool that is not in the server's registry.",
    repair: 'Correct the name or register the tool.',
  },
  E_TOOL_FACTORY: {
    meaning: 'The tool class could not be instantiated.',
    cause: 'Its factory or constructor threw, or the factory returned an object without `execute`.',
    repair: 'Correct the factory in `serve(registry, { tools })`, or `create`.',
  },
  E_INPUT_INVALID: {
    meaning: 'The input does not match the input schema; the tool was not called.',
    cause:
      'A property is missing, unknown or of the wrong type. `details.problems` lists each with its JSON pointer.',
    repair: 'Send the input that the schema asks for. This failure is never retried.',
  },
  E_SCHEMA_INVALID: {
    meaning: 'A schema of the tool cannot check a value.',
    cause: 'The JSON Schema does not compile, or the validator of the schema threw.',
    repair: 'Correct the schema and run `npx stepwright codegen`.',
  },
  E_OUTPUT_SCHEMA: {
    meaning: 'The result does not match the output schema.',
    cause: '`execute` returned a value that its `output` schema refuses. The tool did run.',
    repair:
      'Correct the schema or what `execute` returns. The call is retried only where `retrySafety` of the tool allows it.',
  },
  E_RESULT_NOT_JSON: {
    meaning: 'The result is not JSON.',
    cause:
      'The result holds a function, a promise, a cycle, a `bigint`, a number that is not finite, or the like, or is nested more than 512 levels; `details.pointer` says where.',
    repair:
      'Return plain JSON. A tool that failed so did run. Asynchronous work of a function belongs in a tool.',
  },
  E_RESULT_TOO_LARGE: {
    meaning: 'The result is larger than 4 MiB of JSON, or than what Temporal takes at once.',
    cause:
      'A tool returned, a resource held, or an answer was, more than a run keeps; or a response of a run on Temporal has more than 2 MiB. `details` has the size and the limit.',
    repair: 'Return or send a part of it, or a link to it.',
  },
  E_INPUT_TOO_LARGE: {
    meaning:
      'The input is larger than what Temporal takes at once: no tool was called, and no run was started.',
    cause:
      'The input of a call, or a workflow with its input, has more than 2 MiB on a store on Temporal. `details` has the size and the limit.',
    repair: 'Pass a part of it, or a link to it.',
  },
  E_RESULT_SECRET: {
    meaning: 'The call succeeded, but its masked result no longer matches the output schema.',
    cause: 'The result repeats a secret input, and the mask `••••` does not fit there.',
    repair: 'Leave secrets out of results. Do not call the tool again: it has taken effect.',
  },
  E_CLIENT_UNSUPPORTED: {
    meaning: 'The client cannot do what the tool asked of it.',
    cause:
      'The tool called `context.elicit`, `sample` or `roots`, and the client did not declare that capability, has no session, or the run has waited for something since its request.',
    repair: 'Catch the error where the tool can do without. In a workflow, ask with a step: `ask.text(…)`.',
  },
  E_CLIENT: {
    meaning: 'The client failed to answer a request of the tool.',
    cause: 'It answered `context.elicit`, `sample` or `roots` with an error, or its connection ended.',
    repair: 'Read the message. Catch the error where the tool can do without an answer.',
  },
  E_ELICIT_FORM: {
    meaning: 'The form of `context.elicit` cannot be shown.',
    cause: 'It is not a flat object of texts, numbers, booleans and choices.',
    repair: 'Ask for nested values one after the other.',
  },
  E_ELICIT_ANSWER: {
    meaning: 'The values a client sent for a form do not fit it.',
    cause: 'The client did not check what its user typed.',
    repair: 'Catch the error and ask again, or let the call fail.',
  },
  E_SCOPE: {
    meaning: 'The caller lacks a scope of the tool, the workflow or the prompt; nothing was done.',
    cause:
      'Its token does not have the scopes of `@Tool({ scopes })` or `@Workflow({ scopes })`, which `details.missing` lists, or it has no token. Over HTTP with `auth` the request gets the status 403 or 401.',
    repair: 'Call with a token that has the scopes. The user of a process, over stdio, has all scopes.',
  },
  E_REFUSED: {
    meaning: 'Middleware refused the call; the tool was not called.',
    cause: '`onRequest` threw an error without a `code`.',
    repair: 'Read the message. A refused call is never retried.',
  },
  E_MIDDLEWARE: {
    meaning: 'Middleware returned something invalid; the tool was not called.',
    cause: '`onRequest` returned neither nothing nor `{ input }` with a JSON object.',
    repair: 'Correct the middleware that the message names.',
  },
} as const;

/** Failures of calls of upstream servers. */
export const upstream = {
  E_UPSTREAM_CONFIG: {
    meaning: 'The upstream server of the tool is not configured.',
    cause:
      'The program passes no `upstream` with this name, the tool has no option `upstream`, or an environment variable that the configuration names is not set.',
    repair: 'Read the message. Configure the server, or set the variable.',
  },
  E_UPSTREAM_UNAVAILABLE: {
    meaning: 'The upstream server cannot be reached; the tool was not called.',
    cause: 'Its process did not start or ended at once, or nothing answers at its address.',
    repair:
      'Read the message and the log of the server. A retry of the step waits for the delay that the failure asks for.',
  },
  E_UPSTREAM_LOST: {
    meaning: 'The connection to the upstream server ended during a call, which may have taken effect.',
    cause: 'Its process ended, or its answer was cut off.',
    repair: 'Check what the call did before it is made again. The next call connects again.',
  },
  E_UPSTREAM_REFUSED: {
    meaning: 'The upstream server answered a call with a protocol error, or not with a result.',
    cause:
      'It does not have the tool any more, refuses the input, refuses the caller, asks for further input, or its result is malformed.',
    repair: 'Read the message; `npx stepwright pull NAME` records the tools of the server again.',
  },
  E_UPSTREAM_DRIFT: {
    meaning:
      'The workflow is unavailable: an upstream server does not have what it needs any more; nothing was done.',
    cause:
      'When the server started, a tool that a step calls was gone, refused an input that the step passes, or had lost or changed something that the workflow reads. `details` lists each.',
    repair:
      'Run `npx stepwright pull NAME` and `npx stepwright codegen`, correct the workflow, and start the server again.',
  },
} as const;

/** Failures of `RestCall` and `SqlQuery`. */
export const factories = {
  E_REST: {
    meaning: 'A request of a service failed.',
    cause:
      'The service answered with a status that is not a success, or did not answer, or an input cannot be part of the path.',
    repair: 'Read the message. A retry of the step waits as long as `Retry-After` of the response says.',
  },
  E_SQL: {
    meaning: 'A query of a database failed.',
    cause:
      'The database cannot be opened, the statement is wrong or writes, or there are more rows than `maxRows`.',
    repair: 'Read the message. The database is opened for reading only.',
  },
} as const;

/** Failures of reads of resources. */
export const resources = {
  E_RESOURCE_READ: {
    meaning: 'The resource could not be read.',
    cause: '`read` threw or returned something that is not content, or its file is gone.',
    repair: "Read the message; the server's log has the stack.",
  },
  E_RESOURCE_UNKNOWN: {
    meaning: 'No resource has this name or address.',
    cause:
      'A built graph names a resource that is not registered, or an address that its URI or template does not match.',
    repair: 'Correct the name or the URI, or register the resource.',
  },
  E_RESOURCE_URI: {
    meaning: 'The URI does not match what the template allows.',
    cause: 'A variable is empty or not percent-encoded, or its path has a segment `.` or `..`.',
    repair: 'Send a valid value. `dotSegments` of `@Resource` permits such segments.',
  },
  E_RESOURCE_FACTORY: {
    meaning: 'The resource class could not be instantiated.',
    cause: 'Its factory or constructor threw, or the factory returned an object without `read`.',
    repair: 'Correct the factory in `serve(registry, { resources })`, or `create`.',
  },
} as const;

/** Failures of exported functions that are steps. */
export const functions = {
  E_FUNCTION: {
    meaning: 'The function failed.',
    cause: 'The function threw an error without a `code`.',
    repair: "Read the message; the server's log has the stack.",
  },
  E_FUNCTION_UNKNOWN: {
    meaning: 'The registry has no function of this name.',
    cause: 'A workflow names a function that neither the registry nor the built workflow brings.',
    repair: 'Export the function, pass the built workflow to `serve`, or run `npx stepwright codegen`.',
  },
  E_FUNCTION_STALE: {
    meaning: 'The function has changed since the workflow was compiled.',
    cause: 'The source hash of the function differs from that in the graph.',
    repair: 'Run `npx stepwright codegen`.',
  },
} as const;
