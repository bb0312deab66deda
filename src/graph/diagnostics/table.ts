/**
 * Every fault the product reports to an author, in one place. A code is never reused.
 * SW1xxx structure, SW2xxx expressions, SW3xxx references and order, SW4xxx graph, SW5xxx spec files,
 * SW6xxx schemas and modules, SW9xxx output and configuration. Each has a page in docs/diagnostics.
 */
interface Entry<P> {
  readonly severity: 'error' | 'warning';
  readonly message: (params: P) => string;
  readonly hint?: (params: P) => string | undefined;
}

const error = <P = Record<never, never>>(
  message: (params: P) => string,
  hint?: (params: P) => string | undefined,
): Entry<P> => ({ severity: 'error', message, ...(hint === undefined ? {} : { hint }) });

const warning = <P = Record<never, never>>(
  message: (params: P) => string,
  hint?: (params: P) => string | undefined,
): Entry<P> => ({ ...error(message, hint), severity: 'warning' });

/** ``did you mean `x`?``, or nothing where no known name is near. */
const nearest = (p: { suggestion?: string | undefined }): string | undefined =>
  p.suggestion === undefined ? undefined : `did you mean \`${p.suggestion}\`?`;

/** A decorator as `@Step`, a verb, whose name is in lower case, as `call`. */
const owner = (name: string): string => (/^[a-z]/.test(name) ? `\`${name}\`` : `@${name}`);

/** What takes the values of a step: a tool, another workflow, or else the state. */
const taker = (p: { tool?: string | undefined; workflow?: string | undefined }): string => {
  if (p.workflow !== undefined) return `workflow \`${p.workflow}\``;
  return p.tool === undefined ? 'the state' : `tool \`${p.tool}\``;
};

/** Whether JSON Schema can read it, whatever the run time can match. */
const isRegularExpression = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

export const diagnosticTable = {
  SW1001: error((p: { message: string }) => `syntax error: ${p.message}`),
  SW1002: error(
    (p: { kind: string; name: string; rule: string }) => `\`${p.name}\` is not a valid ${p.kind} name`,
    (p) => (p.rule.startsWith('an ') ? `use ${p.rule}` : `use a name that matches ${p.rule}`),
  ),
  SW1003: error(
    (p: { decorator: string; option: string }) =>
      `option \`${p.option}\` of ${owner(p.decorator)} is not a literal`,
    () => 'codegen reads options without running code: write the value here, not a name or a call',
  ),
  SW1004: error(
    (p: { kind: string; name: string }) => `two ${p.kind}s are named \`${p.name}\``,
    () => 'give one of them another name',
  ),
  SW1005: error(
    (p: { name: string; option: string }) => `\`${p.name}\` has no ${p.option}`,
    (p) => `add \`${p.option}\` to its decorator`,
  ),
  SW1006: error(
    (p: { field: string }) => `step \`${p.field}\` has no initializer`,
    () => 'a step is a field with a verb as its value, for example `= call(SomeTool, { … })`',
  ),
  SW1007: error(
    (p: { field: string }) => `\`${p.field}\` uses a workflow verb but has no @Step`,
    () => 'put @Step() before the field',
  ),
  SW1008: error(
    (p: { field: string }) => `\`${p.field}\` is bound twice in this workflow`,
    () => 'rename one of them',
  ),
  SW1009: error(
    (p: { workflow: string }) => `workflow \`${p.workflow}\` has no steps`,
    () => 'add at least one field with @Step()',
  ),
  SW1010: error(
    (p: { className: string }) =>
      `class \`${p.className}\` is not exported, so the registry cannot import it`,
    () => 'write `export class`',
  ),
  SW1011: error(
    (p: { decorator: string; option: string; suggestion?: string | undefined }) =>
      `${owner(p.decorator)} has no option \`${p.option}\``,
    nearest,
  ),
  SW1012: error(
    (p: { decorator: string; option: string; expected: string }) =>
      `option \`${p.option}\` of ${owner(p.decorator)} must be ${p.expected}`,
  ),
  SW1013: error(
    (p: { className: string }) => `class \`${p.className}\` has arguments or steps but no @Workflow`,
    () => 'put @Workflow({ … }) before the class',
  ),
  SW1014: error(
    (p: { decorator: string }) => `@${p.decorator} takes its options as one object literal`,
    (p) => `write \`@${p.decorator}({ … })\``,
  ),
  SW1015: error(
    (p: { uri: string }) => `two resources have the URI \`${p.uri}\``,
    () => 'give one of them another URI',
  ),
  SW1016: error((p: { decorator: string; what: string }) => `@${p.decorator} cannot stand on ${p.what}`),
  SW1017: error(
    (p: { argument: string; type: string }) =>
      `argument \`${p.argument}\` has the type \`${p.type}\`, which no caller can give as JSON`,
    () => 'use string, number, boolean, a union of literals, or arrays and objects of these',
  ),
  SW1018: error(
    (p: { step: string }) => `step \`${p.step}\` does nothing`,
    () => 'give it a value or a verb, or remove it',
  ),
  SW1019: error(
    (p: { decorator: string; suggestion?: string | undefined }) =>
      `decorator @${p.decorator} cannot be resolved`,
    (p) =>
      p.suggestion === undefined ? "import it from 'stepwright'" : `did you mean \`@${p.suggestion}\`?`,
  ),
  SW1020: error(
    (p: { what: string; first: string; second: string }) =>
      `${p.what} is given twice: to ${p.first} and to ${p.second}`,
    () => 'leave one of them out',
  ),
  SW1021: error(
    (p: { decorator: string; option: string; takes: string; name: string }) =>
      `option \`${p.option}\` of ${owner(p.decorator)} goes with ${p.takes}, which \`${p.name}\` is not`,
    () => 'leave it out',
  ),
  SW1022: error(
    (p: { className: string; method: string }) => `class \`${p.className}\` has no method \`${p.method}\``,
    (p) => `add \`${p.method}\` to the class`,
  ),
  SW1023: error(
    (p: { name: string; decorator: string; cycle: string }) =>
      `\`${p.name}\` may not exist yet when @${p.decorator} names it: ${p.cycle}`,
    () =>
      'let one of these modules import the other no longer: what both need goes into a third one, and types are imported with `import type`',
  ),
  SW1024: error(
    (p: { template: string; why: string }) => `\`${p.template}\` is not a URI template: ${p.why}`,
    () => 'write a template such as `notes://pages/{name}`',
  ),
  SW1025: error(
    (p: { state: string; problem: string }) => `state \`${p.state}\` cannot be kept: ${p.problem}`,
    () => 'state is kept as JSON: text, numbers, booleans, null, lists, tuples, records and objects of these',
  ),
  SW2001: error(
    (p: { what: string }) => `${p.what} cannot be stored in a workflow`,
    () => 'move the computation into a tool or an exported function, and call it as a step',
  ),
  SW2002: error(
    (p: { operator: string; instead: string }) => `\`${p.operator}\` depends on JavaScript's conversions`,
    (p) => `write \`${p.instead}\``,
  ),
  SW2003: error(
    (p: { verb: string }) => `\`${p.verb}\` cannot stand here`,
    () => 'give it a step of its own: `@Step() name = …`, then use `this.name`',
  ),
  SW2004: error(
    (p: { name: string; why: string }) => `function \`${p.name}\` cannot be part of a workflow: ${p.why}`,
    () => 'export it at the top level of its module',
  ),
  SW2005: error(
    (p: { what: 'list' | 'object' }) =>
      `as a condition, ${p.what === 'list' ? 'a list' : 'an object'} says no more than that it is there`,
    (p) => (p.what === 'list' ? 'ask for `.length > 0`, or for `!== undefined`' : 'ask for `!== undefined`'),
  ),
  SW2006: error(
    () => 'what `compensate` gives is not a call of a tool',
    () => 'undo with one call: `compensate: (out) => call(SomeTool, { id: out.id })`',
  ),
  SW3001: error(
    (p: { name: string; suggestion?: string | undefined }) => `nothing here is bound to \`${p.name}\``,
    nearest,
  ),
  SW3002: error(
    (p: { name: string; suggestion?: string | undefined }) => `the workflow has no argument \`${p.name}\``,
    nearest,
  ),
  SW3003: error(
    (p: { className: string; expected: string; verb: string }) =>
      `\`${p.className}\` is not a ${p.expected}: ${p.verb} takes a class with @${p.expected[0]?.toUpperCase()}${p.expected.slice(1)}`,
    (p) => `decorate \`${p.className}\`, or pass another class`,
  ),
  SW3004: error(
    (p: { name: string; step: string }) => `\`${p.name}\` is bound after \`${p.step}\``,
    (p) => `move \`${p.name}\` above \`${p.step}\``,
  ),
  SW3005: error(
    (p: { step: string; target: string; suggestion?: string | undefined }) =>
      `step \`${p.step}\` waits for \`${p.target}\`, which is not a step of this workflow`,
    nearest,
  ),
  SW3006: error(
    (p: { name: string; suggestion?: string | undefined }) =>
      `\`{${p.name}}\` names neither an argument nor an earlier step`,
    (p) => nearest(p) ?? 'name an argument or a step, or write the braces twice for literal text',
  ),
  SW3007: error(
    (p: {
      className: string;
      module?: { readonly specifier: string; readonly isFound: boolean } | undefined;
      suggestion?: string | undefined;
    }) => {
      if (p.module === undefined) return `\`${p.className}\` cannot be resolved to a class`;
      const { specifier, isFound } = p.module;
      return isFound
        ? `\`${specifier}\` exports no \`${p.className}\``
        : `\`${p.className}\` is imported from \`${specifier}\`, which cannot be found`;
    },
    (p) => {
      if (p.suggestion !== undefined) return nearest(p);
      if (p.module === undefined) return 'import it';
      return p.module.isFound
        ? 'import it from the module that exports it'
        : 'correct the path of the import';
    },
  ),
  SW3008: error(
    (p: { resource: string; variable: string; suggestion?: string | undefined }) =>
      `the address of resource \`${p.resource}\` has no variable \`${p.variable}\``,
    nearest,
  ),
  SW3009: error(
    (p: { resource: string; verb: string; variable: string }) =>
      `\`${p.verb}\` gives the address of resource \`${p.resource}\` no \`${p.variable}\``,
    (p) => `add \`${p.variable}\` to the variables: \`${p.verb}(…, { ${p.variable}: … })\``,
  ),
  SW3010: warning(
    (p: { step: string; what: string }) => `\`${p.step}\` is never used: the step only ${p.what}`,
    (p) => `use \`this.${p.step}\`, or remove the step`,
  ),
  SW3011: warning(
    (p: { name: string; workflow: string }) =>
      `argument \`${p.name}\` of workflow \`${p.workflow}\` is never used`,
    (p) => `use \`this.${p.name}\`, or remove the argument`,
  ),
  SW3012: error(
    (p: { step: string }) => `step \`${p.step}\` names the failure of a step outside of its fallback`,
    () => 'only the function that `attempt` takes knows the failure: use it there',
  ),
  SW3013: error(
    (p: { argument: string; path: string; suggestion?: string | undefined }) =>
      `argument \`${p.argument}\` has no \`${p.path}\``,
    nearest,
  ),
  SW3014: error(
    (p: { target: string; why: string }) => `\`goto\` cannot go back to \`${p.target}\`: ${p.why}`,
    () => 'name a step of this workflow that stands above: `goto(this.step, { max: 3 })`',
  ),
  SW3015: error(
    (p: { step: string; cycle: string }) => `what \`${p.step}\` gives follows from itself: ${p.cycle}`,
    (p) => `say what it gives: \`${p.step}: { … } = run(…)\``,
  ),
  SW4001: error(
    (p: { workflow: string; tool: string; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` requires tool \`${p.tool}\`, which is not registered`,
    nearest,
  ),
  SW4002: error(
    (p: { workflow: string; resource: string; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` requires resource \`${p.resource}\`, which is not registered`,
    nearest,
  ),
  SW4003: error(
    (p: { step: string; tool?: string; workflow?: string; input: string }) =>
      `step \`${p.step}\` gives ${taker(p)} no \`${p.input}\``,
    (p) => `add \`${p.input}\` to the input of the ${p.workflow === undefined ? 'call' : 'workflow'}`,
  ),
  SW4004: error(
    (p: { step: string; tool?: string; workflow?: string; input: string; suggestion?: string | undefined }) =>
      `${taker(p)} of step \`${p.step}\` takes no \`${p.input}\``,
    nearest,
  ),
  SW4005: error(
    (p: { path: string; step: string; of?: 'item' | 'state field'; suggestion?: string | undefined }) =>
      `${p.of ?? 'the output of'} \`${p.step}\` has no \`${p.path}\``,
    nearest,
  ),
  SW4006: error(
    (p: { cycle: string }) => `steps wait for each other: ${p.cycle}`,
    () => 'remove one of these dependencies',
  ),
  SW4007: error(
    (p: { uri: string; why: string }) => `\`${p.uri}\` is not an absolute URI: ${p.why}`,
    () => 'write a scheme and a path, for example `resource://logseq/intro`',
  ),
  SW4008: error((p: { what: string }) => `${p.what} must not be empty`),
  SW4009: error(
    (p: { id: string }) => `two steps have the id \`${p.id}\``,
    () => 'give one of them another id',
  ),
  SW4010: error(
    (p: { kind: string; id: string }) =>
      `step \`${p.id}\` is of the kind \`${p.kind}\`, which this version cannot run`,
  ),
  SW4011: error((p: { problem: string }) => `the graph is malformed: ${p.problem}`),
  SW4012: error(
    (p: {
      step: string;
      input: string;
      tool?: string;
      workflow?: string;
      expected: string;
      actual: string;
    }) => `\`${p.input}\` of ${taker(p)} takes ${p.expected}, and step \`${p.step}\` gives ${p.actual}`,
  ),
  SW4013: warning(
    (p: { step: string; end: string; ends?: string }) =>
      `step \`${p.step}\` is never reached: \`${p.end}\` always ends ${p.ends ?? 'the run'}`,
    (p) => `give \`${p.end}\` a condition, or remove \`${p.step}\``,
  ),
  SW4014: warning(
    (p: { step: string; tool: string; inside?: string }) =>
      `step \`${p.step}\` is tried again on failure, and tool \`${p.tool}\`${
        p.inside === undefined ? '' : `, which \`${p.inside}\` calls in it,`
      } is not idempotent`,
    (p) =>
      `if calling \`${p.tool}\` twice does no harm, say so with \`annotations: { idempotentHint: true }\`; else do not retry it`,
  ),
  SW4015: error(
    (p: { what: string; option: string; range: string; value: number }) =>
      `\`${p.option}\` of ${p.what} must be ${p.range}, not ${p.value}`,
  ),
  SW4016: error(
    (p: { step: string; arm: string }) => `two arms of \`${p.step}\` are named \`${p.arm}\``,
    () => 'give one of them another name',
  ),
  SW4017: error(
    (p: { step: string; option: string; target: string; why: string }) =>
      `\`${p.option}\` of step \`${p.step}\` names \`${p.target}\`, ${p.why}`,
    () => 'name a step that stands in the same list of steps',
  ),
  SW4018: error(
    (p: { name: string; where: string }) => `\`${p.name}\` cannot be read here: it stands in ${p.where}`,
  ),
  SW4019: error(
    (p: { step: string; target: string; kind: string }) =>
      `step \`${p.step}\` waits for \`${p.target}\`, a step of kind \`${p.kind}\` that runs only when it is selected`,
    () => 'wait for the step that selects it',
  ),
  SW4020: error(
    (p: { scope: string }) =>
      `no step of ${p.scope} can begin: whichever waits for no other only runs when it is selected`,
    () => 'add a step that is selected by no other',
  ),
  SW4021: warning(
    (p: { step: string }) => `step \`${p.step}\` never runs: nothing that runs selects it`,
    (p) => `select \`${p.step}\`, or remove it`,
  ),
  SW4022: warning(
    (p: { step: string; values?: string | undefined }) =>
      `step \`${p.step}\` fails where none of its cases holds${p.values === undefined ? '' : `: for ${p.values}`}`,
    () => 'add an `else`, or a case for what is left',
  ),
  SW4023: warning(
    (p: { step: string; arm: string; first: string }) =>
      `case \`${p.arm}\` of step \`${p.step}\` is never taken: \`${p.first}\` is taken wherever it holds`,
    () => 'remove one of the two, or change its condition',
  ),
  SW4024: warning(
    (p: { name: string; step: string }) =>
      `\`${p.name}\` may have been skipped where \`${p.step}\` reads from it`,
    (p) =>
      `provide for its absence with \`?.\` or \`??\`, or let \`${p.step}\` run only where \`${p.name}\` has`,
  ),
  SW4025: error(
    (p: { step: string; target: string }) =>
      `step \`${p.step}\` goes to \`${p.target}\`, which does not stand before it`,
    () => 'a `goto` goes back; what comes later is reached by going on',
  ),
  SW4026: error(
    (p: { workflow: string; target: string; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` requires workflow \`${p.target}\`, which is not registered`,
    nearest,
  ),
  SW4027: error(
    (p: { path: string; limit?: number }) =>
      p.limit === undefined
        ? `workflows run each other without a condition: ${p.path}`
        : `more than ${p.limit} workflows run inside each other: ${p.path}`,
    (p) => (p.limit === undefined ? 'say when it is to end' : 'run some of them one after the other'),
  ),
  SW4028: error(
    (p: { step: string }) => `step \`${p.step}\` rolls back, and nothing in it says how it is undone`,
    () => 'add `compensate` to a call in it, or let it fail without rolling back',
  ),
  SW4029: error(
    (p: { step: string; actual: string }) =>
      `step \`${p.step}\` goes through a list, and is given ${p.actual}`,
  ),
  SW4030: error(
    (p: { step: string; problem: string }) => `the options of question \`${p.step}\` ${p.problem}`,
    () => 'give one or more different texts',
  ),
  SW4031: error(
    (p: { workflow: string; field: string; suggestion?: string | undefined }) =>
      `the state of workflow \`${p.workflow}\` has no field \`${p.field}\``,
    nearest,
  ),
  SW4032: error(
    (p: { step: string; name: string; outer: string }) =>
      `two loops inside each other, \`${p.outer}\` and \`${p.step}\`, use the name \`${p.name}\``,
    () => 'give one of them another name',
  ),
  SW4033: error(
    (p: { step: string; field: string }) =>
      `step \`${p.step}\` reads the state's field \`${p.field}\`, which is not among its \`reads\``,
    (p) => `add \`${p.field}\` to them`,
  ),
  SW6001: error(
    (p: { file: string; reason: string }) => `\`${p.file}\` cannot be imported: ${p.reason}`,
    () => 'codegen imports tool modules to read their schemas; keep side effects out of the top level',
  ),
  SW6002: error(
    (p: { tool: string; which: string; reason: string }) =>
      `the ${p.which} schema of tool \`${p.tool}\` has no JSON Schema form: ${p.reason}`,
  ),
  SW6003: error(
    (p: { tool: string }) => `tool \`${p.tool}\` takes input but declares no schema`,
    () => 'give the parameter of `execute` a type, or add `input: z.object({ … })` to @Tool',
  ),
  SW6004: error(
    (p: { resource: string; file: string }) =>
      `resource \`${p.resource}\` names the file \`${p.file}\`, which cannot be read`,
  ),
  SW6005: error(
    (p: { seconds: number; file?: string | undefined }) =>
      p.file === undefined
        ? `the tool modules were not read within ${p.seconds} s`
        : `\`${p.file}\` was not read within ${p.seconds} s`,
    (p) => `${p.file === undefined ? 'a module' : 'the module'} waits or loops at its top level`,
  ),
  SW6006: error(
    (p: { tool: string; which: string }) =>
      `the ${p.which} schema of tool \`${p.tool}\` is not an object schema`,
    () => 'MCP tools take and return objects: wrap it in `z.object({ … })`',
  ),
  SW6007: error(
    (p: { className: string; reason: string }) =>
      `\`${p.className}\` differs from its source when it is loaded: ${p.reason}`,
    () => 'is a second copy of stepwright installed? `npm ls stepwright` shows it',
  ),
  SW6008: error(
    (p: { tool: string; path: string; type: string }) =>
      `\`${p.path}\` of tool \`${p.tool}\` is of the type \`${p.type}\`, which has no JSON form`,
    () =>
      'callers send and get JSON: text, numbers, booleans, null, lists, tuples, records and objects of these',
  ),
  SW6009: error(
    (p: { tool: string; path: string; tag: string; problem: string }) =>
      `\`@${p.tag}\` of \`${p.path}\` of tool \`${p.tool}\` ${p.problem}`,
  ),
  SW6010: error(
    (p: { path: string; owner: string; pattern: string; problem: string }) =>
      `the pattern \`${p.pattern}\` at \`${p.path}\` of ${p.owner} ${p.problem}`,
    (p) =>
      isRegularExpression(p.pattern)
        ? 'write it without lookaround, `(?=…)` and `(?<=…)`, and without `\\1`; or check the value in code'
        : 'JSON Schema reads patterns as regular expressions with the flag `u`',
  ),
  SW6011: warning(
    (p: { tool: string; problem: string }) => `the results of tool \`${p.tool}\` go unchecked: ${p.problem}`,
    () => 'return what JSON has, or give @Tool an `output` schema',
  ),
  SW6012: error(
    (p: { tool: string; count: number }) =>
      `\`execute\` of tool \`${p.tool}\` has ${p.count} signatures, and a schema is made from one`,
    () => 'write one signature, with unions for what may be given, or give @Tool `input` and `output`',
  ),
  SW9001: error(
    (p: { file: string; state?: 'stale' | 'missing' }) => `\`${p.file}\` is ${p.state ?? 'stale'}`,
    () => 'run `stepwright codegen` and commit the result',
  ),
  SW9002: error(
    (p: { file: string; problem: string; suggestion?: string | undefined }) =>
      `configuration \`${p.file}\`: ${p.problem}`,
    nearest,
  ),
  SW9003: error((p: { patterns: string }) => `no source file matches ${p.patterns}`),
  SW9004: error(
    (p: { file: string }) => `\`${p.file}\` was not written by stepwright, and is not overwritten`,
    () => 'name another file in `out`, or delete this one',
  ),
  SW9005: error((p: { file: string; reason: string }) => `\`${p.file}\` cannot be written: ${p.reason}`),
  SW9006: warning(
    (p: { file: string; count: number }) =>
      `\`${p.file}\` is empty: no class in ${p.count === 1 ? 'its one source file' : `its ${p.count} source files`} has a decorator of stepwright`,
    () => 'let the sources include the files with the classes, or remove the registry',
  ),
  SW9010: error(
    (p: { code: string; suggestion?: string | undefined }) => `there is no diagnostic \`${p.code}\``,
    nearest,
  ),
  SW9011: error(
    (p: { code: string; wanted: string }) => `\`${p.code}\` is an error, and cannot be made ${p.wanted}`,
    () => 'only warnings can be turned off or changed',
  ),
  SW9012: error(
    (p: { problem: string }) => `the comment \`stepwright-ignore\` ${p.problem}`,
    () => 'write `// stepwright-ignore SW3010: why it is right here`',
  ),
  SW9013: warning(
    (p: { code: string }) => `nothing here is reported as \`${p.code}\`: the comment silences nothing`,
    () => 'remove the comment, or move it above the line that is reported',
  ),
} as const;

export type DiagnosticCode = keyof typeof diagnosticTable;
export type DiagnosticParams<C extends DiagnosticCode> = Parameters<
  (typeof diagnosticTable)[C]['message']
>[0];
