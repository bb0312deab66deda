/** Why an expression has no value. */
export const expressions = {
  E_NOT_AN_OBJECT: {
    meaning: 'A field was read from a value that has none.',
    cause: 'The value is null, absent, a number or a boolean at run time.',
    repair: 'Read it with `?.`, or give a default with `??`.',
  },
  E_REF_MISSING: {
    meaning: 'A reference of a spec file found nothing.',
    cause:
      'The step it names was skipped or has no value, a list has no item at the index, or a key is not there.',
    repair: 'Write `?` behind the reference if its value may be missing: `$search.0.id?`.',
  },
  E_TEXT_VALUE: {
    meaning: 'A value in a text is null, absent, a list or an object.',
    cause:
      'An optional argument was not given, a field is not there, or a whole result is written in place of a field of it. Texts take text, numbers and booleans.',
    repair:
      "In a class give a default, as in `this.date ?? 'today'`, or name a field. In a spec file `?` behind the name is an empty text, `|json` writes JSON: `{cart|json}` behind the dollar sign.",
  },
  E_KEY_TYPE: {
    meaning: 'A computed key is neither text nor a number.',
    cause: '`value[key]` was evaluated with another type.',
    repair: 'Correct the key.',
  },
  E_COMPARE_TYPES: {
    meaning: 'Two values of different types were compared.',
    cause: '`<`, `<=`, `>` and `>=` take two numbers or two texts.',
    repair: 'Compare values of one type.',
  },
  E_NOT_A_BOOLEAN: {
    meaning: 'A condition is not a boolean.',
    cause: 'The value of a condition is a text, a number, a list or an object at run time.',
    repair: 'Write a comparison: `!== undefined`, `.length > 0`.',
  },
  E_NOT_A_LIST: {
    meaning: 'A value that is spread into a list is not a list.',
    cause: '`[...value]` was evaluated with another type.',
    repair: 'Give a default: `[...(value ?? [])]`.',
  },
  E_UNDEFINED: {
    meaning: 'A template uses a value that is not there, where one is needed.',
    cause:
      'A state field was not written yet, an object lacks a key, or an index is beyond the end of a list.',
    repair: 'Give a value for that case with `| default(…)`, or ask with `is defined` before.',
  },
  E_VALUE: {
    meaning: 'A filter, method or function of a template cannot do what it is asked to.',
    cause:
      'The value has the right kind and the wrong content: an empty separator, a pattern that cannot be read, a format without enough values.',
    repair: 'The message names the function and the problem.',
  },
  E_PARSE_JSON: {
    meaning: '`parse_json` was given a text that is not JSON.',
    cause: 'An agent answered in prose, or with text around the JSON.',
    repair:
      'Give the step a `response_schema`, so that the answer is checked when it arrives, or ask for JSON alone in the instructions.',
  },
  E_ACCESS: {
    meaning: 'A step reads a state field that its `needs_state` does not list.',
    cause: 'The name is computed when the run gets there, or the graph was not checked.',
    repair: 'List every field that the name may be in `needs_state`.',
  },
  E_OPERAND_TYPES: {
    meaning: 'An operator met a value that it cannot calculate with.',
    cause: 'Arithmetic takes numbers; `+` joins texts as well.',
    repair: 'Correct the operand.',
  },
  E_NUMBER: {
    meaning: 'A calculation has no finite result.',
    cause: 'A division by zero, or a power that is too large.',
    repair: 'Check the divisor with a condition first.',
  },
  E_UNSAFE_INTEGER: {
    meaning: 'A whole number is beyond 2^53 - 1.',
    cause: 'Numbers of this size are not exact in JSON.',
    repair: 'Keep such numbers as text.',
  },
  E_ARGUMENT_TYPE: {
    meaning: 'A method was called on, or with, a value of the wrong type.',
    cause: 'The value differs from its TypeScript type at run time.',
    repair: 'Check the output schema of the tool that supplied it.',
  },
  E_UNKNOWN_NAME: {
    meaning: 'An expression names something that is not bound.',
    cause: 'A graph that was built by hand has a wrong name.',
    repair: 'Correct the graph.',
  },
  E_UNKNOWN_FUNCTION: {
    meaning: 'An expression calls a function that this version does not have.',
    cause: 'The graph was built by hand or by a later version.',
    repair: 'Update stepwright, or correct the graph.',
  },
  E_ARITY: {
    meaning: 'An expression function has the wrong number of arguments.',
    cause: 'A graph that was built by hand calls it so.',
    repair: 'Correct the graph.',
  },
  E_UNSUPPORTED: {
    meaning: 'This version cannot run a part of the graph, or a request.',
    cause: 'The graph was made for a later version, or an operator command reached a server that has none.',
    repair: 'Update stepwright, or remove the part that the message names.',
  },
  E_BUDGET: {
    meaning: 'An evaluation used up its budget.',
    cause:
      'One transition of a run may evaluate a million units: one for each expression node, item and character.',
    repair: 'Move the work to an exported function or a tool.',
  },
} as const;

/** Failures of loose and plain prompts. */
export const prompts = {
  E_PROMPT: {
    meaning: 'The prompt failed.',
    cause: '`render`, or the handler of a plain prompt, threw an error without a `code`.',
    repair: "Read the message; the server's log has the stack.",
  },
  E_PROMPT_CONTENT: {
    meaning: 'A message of the prompt cannot be sent.',
    cause: 'It is not `{ role, content }`, or its content is not a valid block.',
    repair: 'Make messages with `user(…)` and `assistant(…)`.',
  },
  E_PROMPT_HANDLE: {
    meaning: 'A message names a class that cannot be shown.',
    cause: 'The class is not a tool, a workflow or a resource, or it is a resource template.',
    repair: 'Name another class, or write `link(Template, variables)`.',
  },
  E_PROMPT_FACTORY: {
    meaning: 'The prompt class could not be instantiated.',
    cause: 'Its factory or constructor threw, or the factory returned an object without `render`.',
    repair: 'Correct the factory in `serve(registry, { promptClasses })`, or `create`.',
  },
  E_MISSING_TOOL: {
    meaning: 'A message names a tool that the server does not have.',
    cause: 'The tool class is in another registry.',
    repair: 'Include its file in the registry that is served.',
  },
  E_MISSING_RESOURCE: {
    meaning: 'A message names a resource that the server does not have.',
    cause: 'The resource class is in another registry.',
    repair: 'Include its file in the registry that is served.',
  },
  E_MISSING_WORKFLOW: {
    meaning: 'A message names a workflow that the server does not have.',
    cause: 'The workflow class is in another registry.',
    repair: 'Include its file in the registry that is served.',
  },
} as const;

/** What keeps a server from starting, or a graph from running. */
export const starts = {
  E_NOT_REGISTRABLE: {
    meaning: 'An item of `workflows` or `prompts` is something else.',
    cause: 'The list holds a builder, a class or another value.',
    repair: 'Pass the result of `build()`, or of `simplePrompt(…)`.',
  },
  E_NAME_TAKEN: {
    meaning: 'Two prompts or workflows have one name.',
    cause:
      'Workflows and prompts share the names of `prompts/get`. A spec file that codegen has read is in the registry already.',
    repair: 'Rename one, or serve without the file that the registry has.',
  },
  E_TASK_STORE: {
    meaning: 'The runs of a workflow are tasks, and the server keeps no runs.',
    cause: 'The options of the server have neither `store` nor `journal`.',
    repair: "Set `store: 'memory'`, or `store: 'sqlite:PATH'` for tasks that outlast the process.",
  },
  E_TOOL_NAME: {
    meaning: "A workflow's tool, or a tool beside it, cannot have its name.",
    cause: 'The name is taken, longer than 64 characters, or one of the tools that manage runs.',
    repair: 'Rename the workflow or the tool, or give the workflow a `domain`.',
  },
  E_FUNCTION_OTHER: {
    meaning: 'Two different functions have one name.',
    cause: 'A built workflow brings a function whose name the registry has for another one.',
    repair: 'Rename one of them.',
  },
  E_NESTED_WORKFLOW: {
    meaning: 'A workflow runs a workflow that cannot be included.',
    cause: 'The nested workflow is missing, or they are more than 5 deep.',
    repair: 'Register the nested workflow, or flatten the nesting.',
  },
  E_SCHEMA: {
    meaning: 'A schema cannot be used.',
    cause:
      'The JSON Schema of an argument of a built workflow does not compile, or a schema of a listed tool is not one of an object, for which clients refuse the whole list; `pointer` says where.',
    repair: 'Correct the schema.',
  },
  E_DEFAULT: {
    meaning: 'The default of an argument does not fit its schema.',
    cause: 'A built workflow or a plain prompt gives both.',
    repair: 'Correct the default or the schema.',
  },
  E_GRAPH: {
    meaning: 'The graph is malformed.',
    cause: 'A graph that was built by hand has a duplicate id, an unknown target or a cycle.',
    repair: 'Make graphs with codegen or the builder, which report these faults at their source.',
  },
  E_ON_ERROR_TYPE: {
    meaning: 'A node that ends the workflow has a fallback.',
    cause: 'A graph that was built by hand has `onError` on a `return` or `error` node.',
    repair: 'Remove `onError` from the node.',
  },
} as const;

/** Why a client of a server does not get workflows of files and addresses, or a profile. */
export const specs = {
  E_PROFILE_UNKNOWN: {
    meaning: 'A client asks for a profile that the server does not have.',
    cause: 'The path behind that of the server, such as `/mcp/flights`, names none of its `profiles`.',
    repair: 'Use the name of a profile: the message has the nearest one.',
  },
  E_SPEC_INVALID: {
    meaning: 'The workflows of files or of an address cannot be used.',
    cause:
      'They have faults, listed at their lines, or names that are taken. At the start of a server, they end it.',
    repair: 'Correct the faults; `stepwright validate FILE` lists them without a server.',
  },
  E_SPEC_NOT_ALLOWED: {
    meaning: 'The address of a spec file may not be read.',
    cause: 'It is not below an entry of `specs.remote.allow`, or the server has no such list.',
    repair: 'Add its origin, or its folder, to `specs.remote.allow`.',
  },
  E_SPEC_FETCH: {
    meaning: 'An address of a spec file is allowed, and was not read.',
    cause:
      'The host, a redirect, the status, the content type, the size or the time was refused. The client learns no more than this; the log of the server has the reason.',
    repair: 'Read the log. A host in a private network needs `specs.remote.allowAddresses`.',
  },
  E_SPEC_HEADER: {
    meaning: 'A header with workflows or hints is malformed, or not for this caller.',
    cause: '`X-Tool-Hints` is not JSON of hints by tool, or the rule of the header refuses the caller.',
    repair: 'Correct what the message names.',
  },
  E_SPEC_OFF: {
    meaning: 'A client brings workflows, and the server offers none.',
    cause: '`offerWorkflows` is false, or the profile has an empty list of workflows.',
    repair: 'Leave the headers `X-Workflow-URL` and `X-Workflow-Resources` out.',
  },
} as const;
