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

/** ``did you mean `x`?``, or nothing where no known name is near. */
const nearest = (p: { suggestion?: string | undefined }): string | undefined =>
  p.suggestion === undefined ? undefined : `did you mean \`${p.suggestion}\`?`;

export const diagnosticTable = {
  SW1001: error((p: { message: string }) => `syntax error: ${p.message}`),
  SW1002: error(
    (p: { kind: string; name: string; rule: string }) => `\`${p.name}\` is not a valid ${p.kind} name`,
    (p) => `use a name that matches ${p.rule}`,
  ),
  SW1003: error(
    (p: { decorator: string; option: string }) =>
      `option \`${p.option}\` of @${p.decorator} is not a literal`,
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
      `@${p.decorator} has no option \`${p.option}\``,
    nearest,
  ),
  SW1012: error(
    (p: { decorator: string; option: string; expected: string }) =>
      `option \`${p.option}\` of @${p.decorator} must be ${p.expected}`,
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
    () => 'a step calls, reads, fails or ends the run; use the expression where its value is needed',
  ),
  SW1019: error(
    (p: { decorator: string; suggestion?: string | undefined }) =>
      `decorator @${p.decorator} cannot be resolved`,
    (p) =>
      p.suggestion === undefined ? "import it from 'stepwright'" : `did you mean \`@${p.suggestion}\`?`,
  ),
  SW2001: error(
    (p: { what: string }) => `${p.what} cannot be stored in a workflow`,
    () => 'move the computation into a tool and call it as a step',
  ),
  SW2002: error(
    (p: { operator: string; instead: string }) => `\`${p.operator}\` depends on JavaScript's conversions`,
    (p) => `write \`${p.instead}\``,
  ),
  SW2003: error(
    (p: { verb: string }) => `\`${p.verb}\` cannot stand here`,
    () => 'give it a step of its own: `@Step() name = …`, then use `this.name`',
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
    (p: { name: string }) => `\`{${p.name}}\` names neither an argument nor an earlier step`,
    () => 'name an argument or a step, or write the braces twice for literal text',
  ),
  SW3007: error(
    (p: { className: string }) => `\`${p.className}\` cannot be resolved to a class`,
    () => 'import it',
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
    (p: { step: string; tool: string; input: string }) =>
      `step \`${p.step}\` gives tool \`${p.tool}\` no \`${p.input}\``,
    (p) => `add \`${p.input}\` to the input of the call`,
  ),
  SW4004: error(
    (p: { step: string; tool: string; input: string; suggestion?: string | undefined }) =>
      `tool \`${p.tool}\` of step \`${p.step}\` takes no \`${p.input}\``,
    nearest,
  ),
  SW4005: error(
    (p: { path: string; step: string; suggestion?: string | undefined }) =>
      `the output of \`${p.step}\` has no \`${p.path}\``,
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
    (p: { kind: string; id: string }) => `step \`${p.id}\` is a \`${p.kind}\`, which this version cannot run`,
  ),
  SW4011: error((p: { problem: string }) => `the graph is malformed: ${p.problem}`),
  SW4012: error(
    (p: { step: string; input: string; tool: string; expected: string; actual: string }) =>
      `\`${p.input}\` of tool \`${p.tool}\` takes ${p.expected}, and step \`${p.step}\` gives ${p.actual}`,
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
    () => 'add `input: z.object({ … })` to @Tool',
  ),
  SW6004: error(
    (p: { resource: string; file: string }) =>
      `resource \`${p.resource}\` names the file \`${p.file}\`, which cannot be read`,
  ),
  SW6005: error(
    (p: { seconds: number }) => `the tool modules were not read within ${p.seconds} s`,
    () => 'a module waits or loops at its top level',
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
  SW9001: error(
    (p: { file: string; state?: 'stale' | 'missing' }) => `\`${p.file}\` is ${p.state ?? 'stale'}`,
    () => 'run `stepwright codegen` and commit the result',
  ),
  SW9002: error((p: { file: string; problem: string }) => `configuration \`${p.file}\`: ${p.problem}`),
  SW9003: error((p: { patterns: string }) => `no source file matches ${p.patterns}`),
  SW9004: error(
    (p: { file: string }) => `\`${p.file}\` was not written by stepwright, and is not overwritten`,
    () => 'name another file in `out`, or delete this one',
  ),
  SW9005: error((p: { file: string; reason: string }) => `\`${p.file}\` cannot be written: ${p.reason}`),
} as const;

export type DiagnosticCode = keyof typeof diagnosticTable;
export type DiagnosticParams<C extends DiagnosticCode> = Parameters<
  (typeof diagnosticTable)[C]['message']
>[0];
