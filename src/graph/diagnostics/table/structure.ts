import { error, nearest, owner, warning } from './entry.js';

/** Faults of how classes and workflows are written. */
export const structureFaults = {
  SW1001: error((p: { message: string; isUnreadable?: true | undefined }) =>
    p.isUnreadable ? p.message : `syntax error: ${p.message}`,
  ),
  SW1002: error(
    (p: { kind: string; name: string; rule: string }) => `\`${p.name}\` is not a valid ${p.kind} name`,
    (p) => {
      if (p.rule.startsWith('an ')) return `use ${p.rule}`;
      return p.name === '__proto__'
        ? '`__proto__` is never a name: use another one'
        : `use a name that matches ${p.rule}`;
    },
  ),
  SW1003: error(
    (p: { decorator: string; option: string }) =>
      `option \`${p.option}\` of ${owner(p.decorator)} is not a literal`,
    () => 'codegen reads options without running code: write the value here, or name a constant',
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
    (p: {
      decorator: string;
      option: string;
      suggestion?: string | undefined;
      candidates: readonly string[];
    }) => `${owner(p.decorator)} has no option \`${p.option}\``,
    (p) => nearest(p) ?? `the options are ${p.candidates.map((name) => `\`${name}\``).join(', ')}`,
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
  SW1016: error((p: { decorator: string; what: string }) => `@${p.decorator} is not allowed on ${p.what}`),
  SW1017: error(
    (p: { argument: string; type: string; problem?: string | undefined }) =>
      p.problem === undefined
        ? `argument \`${p.argument}\` has the type \`${p.type}\`, which no caller can give as JSON`
        : `the type of argument \`${p.argument}\` has no schema: ${p.problem}`,
    (p) =>
      p.problem === undefined
        ? 'use string, number, boolean, a union of literals, or arrays and objects of these'
        : 'correct the tag, or remove it',
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
  SW1027: error(
    (p: { className: string; method: string; what: string }) =>
      `\`${p.method}\` of class \`${p.className}\` cannot be called by a server: it is ${p.what}`,
  ),
  SW1028: error(
    (p: { className: string; what: string; member: string }) =>
      `workflow class \`${p.className}\` has ${p.what}${p.member === '' ? '' : ` \`${p.member}\``}, which nothing reads: its members are arguments, steps and results`,
  ),
  SW1029: error(
    (p: { className: string; member: string }) =>
      `\`${p.member}\` of workflow class \`${p.className}\` is not a result: \`done(…)\` makes one`,
    (p) => `write \`${p.member} = done({ … })\``,
  ),
  SW1030: error(
    (p: { className: string; kind: string; base: string; fields: readonly string[] }) =>
      p.fields.length === 0
        ? `${p.kind} class \`${p.className}\` extends \`${p.base}\`: it inherits nothing, since one class lists all of its arguments and steps, in their order`
        : `${p.kind} class \`${p.className}\` extends \`${p.base}\`, whose ${p.fields.map((field) => `\`${field}\``).join(', ')} it does not inherit: one class lists all of its arguments and steps, in their order`,
    (p) =>
      p.kind === 'workflow' && p.fields.length > 0
        ? `write them in \`${p.className}\`; or make \`${p.base}\` a workflow of its own and run it as a step: \`@Step() name = run(${p.base}, { … })\``
        : `leave out \`extends ${p.base}\`, and write what is needed in \`${p.className}\``,
  ),
  SW1031: error(
    (p: { verb: string; max: number; count: number }) =>
      `\`${p.verb}\` takes at most ${p.max} argument${p.max === 1 ? '' : 's'}, and is given ${p.count}`,
    () => 'leave out what is too much',
  ),
  SW1032: error(
    (p: { tool: string; safety: string; hint: string; value: boolean }) =>
      `tool \`${p.tool}\` says \`retrySafety: '${p.safety}'\` and \`${p.hint}: ${p.value}\`, which contradict each other`,
    () => 'leave out the one that is wrong: without `retrySafety` the hints decide',
  ),
  SW1033: error(
    (p: { className: string; file: string; part: string }) =>
      `the registry cannot import class \`${p.className}\` from \`${p.file}\`: Node.js reads \`${p.part}\` in the path of a module as something else`,
    () => 'rename the file or the folder',
  ),
  SW1034: error(
    (p: { className: string }) =>
      `\`new ${p.className}()\` makes an instance of a workflow class: its verbs throw when they run as code`,
    () => 'run the workflow by its name: `server.callTool(…)`, or as a step with `run(…)`',
  ),
  SW1050: warning(
    (p: { kind: string; name: string }) => `some hosts refuse the ${p.kind} name \`${p.name}\``,
    () =>
      'they take at most 64 letters, digits, `_` and `-`: rename it, unless clients know it by this name already',
  ),
  SW1051: error(
    (p: { workflow: string; argument: string; field: string }) =>
      `a spread cannot supply the argument \`${p.argument}\` of workflow \`${p.workflow}\`, whose field is \`${p.field}\``,
    (p) => `write the arguments out: \`${p.field}: …\``,
  ),
} as const;
