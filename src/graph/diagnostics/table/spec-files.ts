import { didYouMean } from '../../names.js';
import { error, listed, nearest, warning } from './entry.js';

/** Faults of workflows in YAML, JSON and XML. */
export const specFileFaults = {
  SW5001: error(
    (p: { what: string; limit: number }) => `the file has more than ${p.limit} ${p.what}`,
    ({ what }) =>
      what === 'levels of nesting'
        ? 'make what is nested deeply a workflow of its own'
        : what.endsWith('aliases')
          ? 'write the values out'
          : 'split it into several files',
  ),
  SW5002: error((p: { format: string; problem: string }) => `this is not valid ${p.format}: ${p.problem}`),
  SW5003: error(
    (p: { what: string; instead: string }) => `${p.what} is not allowed in a spec file`,
    (p) => p.instead,
  ),
  SW5004: error(
    (p: { key: string }) => `\`${p.key}\` is written twice`,
    () => 'remove one of them, or give it another name',
  ),
  SW5005: error(
    (p: { key: string; where: string; suggestion?: string | undefined; candidates: readonly string[] }) =>
      `${p.where} has no \`${p.key}\``,
    (p) => nearest(p) ?? `it has ${listed(p.candidates)}; keys of your own begin with \`x-\``,
  ),
  SW5006: error(
    (p: { what: string; expected: string; actual: string }) =>
      `${p.what} must be ${p.expected}, not ${p.actual}`,
  ),
  SW5007: error((p: { what: string; key: string }) => `${p.what} needs \`${p.key}\``),
  SW5008: error(
    (p: { format: string }) => `this is a document of ${p.format}, which Stepwright does not read`,
    () => 'write the workflow under `workflows:` with a `graph:`; see docs/spec-files.md',
  ),
  SW5009: error(
    (p: { text: string }) => `\`version\` must be text: ${p.text} without quotes is a number`,
    (p) => `write \`version: "${p.text}"\``,
  ),
  SW5010: error(
    (p: { kind: string; name: string; rule: string; suggestion?: string | undefined }) =>
      `'${p.name}' is not a valid name of ${p.kind}: use ${p.rule}`,
    (p) => (p.suggestion === undefined ? undefined : `write \`${p.suggestion}\``),
  ),
  SW5011: error((p: { node: string; problem: string }) => `node \`${p.node}\` ${p.problem}`),
  SW5012: error(
    (p: { name: string; first: string }) => `\`$${p.name}\` would be two things: it is ${p.first} as well`,
    () => 'give one of them another name, with `output` for the result of a node',
  ),
  SW5013: error(
    (p: { name: string; suggestion?: string | undefined }) => `nothing here is named \`$${p.name}\``,
    (p) =>
      didYouMean(p.suggestion, (name) => `\`$${name}\``) ??
      `name a parameter or a result, or write \`$$${p.name}\` for a dollar sign`,
  ),
  SW5014: error(
    (p: { what: 'a condition' | 'an expression' | 'a template'; problem: string }) =>
      `this is not ${p.what}: ${p.problem}`,
    (p) =>
      p.what === 'a template'
        ? undefined
        : p.what === 'a condition'
          ? "write a comparison of references and values: `$check.seats > 0 && $class != 'economy'`"
          : 'write references with `$`, numbers and functions: `$price * 2`, `sum($prices)`',
  ),
  SW5015: error(
    (p: { key: string; text: string }) => `\`${p.key}\` takes no reference such as \`${p.text}\``,
    () => 'what a workflow calls and the order of its nodes are fixed: write the name',
  ),
  SW5016: error(
    (p: { key: string; node: string; name: string; why: string; suggestion?: string | undefined }) =>
      `\`${p.key}\` of node \`${p.node}\` names \`${p.name}\`, ${p.why}`,
    nearest,
  ),
  SW5017: error((p: { node: string; problem: string }) => `branch \`${p.node}\` ${p.problem}`),
  SW5018: error(
    (p: { key: string; kind: string; instead: string }) => `${p.kind} takes no \`${p.key}\``,
    (p) => p.instead,
  ),
  SW5019: error((p: { file: string; reason: string }) => `\`${p.file}\` cannot be read: ${p.reason}`),
  SW5020: error((p: { ref: string; why: string }) => `\`${p.ref}\` has no value here: ${p.why}`),
  SW5021: error(
    (p: { what: string; value: string; candidates: readonly string[]; suggestion?: string | undefined }) =>
      `${p.what} cannot be \`${p.value}\``,
    (p) => nearest(p) ?? `use one of ${listed(p.candidates)}`,
  ),
  SW5030: warning(
    (p: { node: string; source: string }) =>
      `node \`${p.node}\` uses the result of \`${p.source}\`, which it does not name in \`depends_on\``,
    (p) => `it waits for \`${p.source}\` all the same: add it to \`depends_on\``,
  ),
  SW5031: warning(
    (p: { name: string }) => `parameter \`${p.name}\` is required, so that its default is never used`,
    () => 'remove `required`, or the default',
  ),
  SW5032: warning(
    (p: { workflow: string; sinks: readonly string[] }) =>
      `workflow \`${p.workflow}\` may end with the results of ${listed(p.sinks)}, and does not say what it returns`,
    () => 'add `returns` with the values that callers need',
  ),
  SW5033: warning(
    (p: { ref: string; key: string; what: string; instead: string }) =>
      `\`${p.ref}\` becomes a part of ${p.what} in \`${p.key}\` as it is`,
    (p) => p.instead,
  ),
  SW5034: warning(
    (p: { tool: string }) => `it is not known whether there is a tool \`${p.tool}\``,
    () => 'check the file in a project whose registry has its tools',
  ),
  SW5036: warning(
    (p: { key: string; name: string }) => `\`${p.key}\` is written twice: this one is read as \`${p.name}\``,
    (p) => `write \`${p.name}\``,
  ),
  SW5037: warning(
    (p: { step: string }) => `step \`${p.step}\` succeeds with any exit code, and no step reads the code`,
    () => 'add `fail_on_error: true`, or a step that reads `exit_code` of its result',
  ),
  SW5038: warning(
    (p: { step: string; task: string }) =>
      `step \`${p.step}\` has no \`output_to\`: what task \`${p.task}\` returns is lost`,
    () => 'add `output_to` with the name of a state field',
  ),
  SW5039: warning(
    (p: { task: string }) => `task \`${p.task}\` has no step of type \`return\`: its result is null`,
    () => 'add a step of `type: return` with the `value`',
  ),
  SW5040: warning(
    (p: { step: string; field: string }) =>
      `step \`${p.step}\` declares the state field \`${p.field}\`, and does not read it`,
    (p) => `remove \`${p.field}\` from its \`needs_state\``,
  ),
  SW5041: warning(
    (p: { step: string }) => `step ${p.step} may read every state field`,
    () => 'name the fields that it reads',
  ),
  SW5042: error(
    (p: { step: string; task: string; name: string }) =>
      `task \`${p.task}\` reads \`${p.name}\`, and \`${p.step}\` runs its items at the same time`,
    (p) => `add \`sequential: true\` to \`${p.step}\``,
  ),
  SW5035: warning(
    (p: { text: string; instead: string }) => `\`${p.text}\` is text, and is not computed`,
    (p) => p.instead,
  ),
} as const;
