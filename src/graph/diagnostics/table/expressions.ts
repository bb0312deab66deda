import { error, listed, nearest, warning } from './entry.js';

/** More names than these are no help. */
const MOST_NAMES = 12;

/** `name one of …`, if there are names and not too many of them. */
function oneOf(names: readonly string[] = []): string | undefined {
  if (names.length === 0 || names.length > MOST_NAMES) return undefined;
  return `name ${names.length === 1 ? '' : 'one of '}${listed(names)}`;
}

export const expressionFaults = {
  SW2001: error(
    (p: { what: string }) => `${p.what} cannot be stored in a workflow`,
    () => 'move the computation into a tool or an exported function, and call it as a step',
  ),
  SW2002: error(
    (p: { operator: string; instead: string }) => `\`${p.operator}\` depends on JavaScript's conversions`,
    (p) => `write \`${p.instead}\``,
  ),
  SW2003: error(
    (p: { verb: string }) => `\`${p.verb}\` is not allowed here`,
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
  SW2007: error(
    (p: { name: string; verb: string }) =>
      `function \`${p.name}\` calls \`${p.verb}\`, which throws outside of a workflow class`,
    (p) =>
      p.verb === 'fail'
        ? "let the function give the value, and write `… ?? fail('…')` in the step, or throw an error in it"
        : `write \`${p.verb}(…)\` in the step itself, or make the steps a workflow of their own and \`run\` it`,
  ),
  SW2008: error(
    (p: { taker: string; takes: string; actual: string }) => `${p.taker} takes ${p.takes}, not ${p.actual}`,
  ),
  SW2009: error((p: { what: string }) => `${p.what} has no meaning in a workflow: a step is not a promise`),
  SW2010: warning(
    (p: { what: string }) =>
      `${p.what === '…' ? 'the value' : `\`${p.what}\``} may be absent: an assertion changes its type alone`,
    () => "say what holds then: `?? …`, a condition, or a step such as `@Step() name = value ?? fail('…')`",
  ),
  SW2011: warning(
    () => '`shell.raw` inserts a value without quotes: a shell reads all of it',
    () => 'insert the value itself, which is quoted, or several values one by one',
  ),
  SW3018: error(
    (p: { target: string; why: string }) => `\`after\` cannot name \`${p.target}\`: ${p.why}`,
    () => 'name a step of this workflow that is declared above: `after: [this.step]`',
  ),
} as const;

/** Faults of references and of the order of steps. */
export const referenceFaults = {
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
      p.expected === 'handle'
        ? `\`${p.className}\` is not a tool, resource or workflow: \`${p.verb}\` takes a class with @Tool, @Resource or @Workflow`
        : `\`${p.className}\` is not ${p.expected === 'agent' ? 'an' : 'a'} ${p.expected}: ${p.verb} takes a class with @${p.expected[0]?.toUpperCase()}${p.expected.slice(1)}`,
    (p) => `decorate \`${p.className}\`, or pass another class`,
  ),
  SW3004: error(
    (p: { name: string; step: string; isOutcome?: boolean }) => {
      if (p.isOutcome === true)
        return p.name === p.step
          ? `\`${p.name}\` reads how it settles itself, which is not known before it has run`
          : `\`${p.step}\` reads how \`${p.name}\` settled, which it does later`;
      return p.name === p.step
        ? `\`${p.name}\` uses its own value, which is not there before it has run`
        : `\`${p.name}\` is bound after \`${p.step}\``;
    },
    (p) =>
      p.name === p.step && p.isOutcome === true
        ? 'read how an earlier step settled'
        : p.name === p.step
          ? 'use an earlier step; `compensate` and `transform` are given the output: `(out) => …`'
          : `move \`${p.name}\` above \`${p.step}\``,
  ),
  SW3005: error(
    (p: {
      step: string;
      target: string;
      suggestion?: string | undefined;
      candidates?: readonly string[] | undefined;
    }) => `step \`${p.step}\` waits for \`${p.target}\`, which is not a step of this workflow`,
    (p) => nearest(p) ?? oneOf(p.candidates),
  ),
  SW3006: error(
    (p: { name: string; suggestion?: string | undefined; candidates?: readonly string[] | undefined }) =>
      `\`{${p.name}}\` names neither an argument nor an earlier step`,
    (p) =>
      nearest(p) ??
      `${oneOf(p.candidates) ?? 'name an argument or a step'}, or write the braces twice for literal text`,
  ),
  SW3007: error(
    (p: {
      className: string;
      module?: { readonly specifier: string; readonly exists: boolean } | undefined;
      suggestion?: string | undefined;
    }) => {
      if (p.module === undefined) return `\`${p.className}\` cannot be resolved to a class`;
      const { specifier, exists } = p.module;
      return exists
        ? `\`${specifier}\` exports no \`${p.className}\``
        : `\`${p.className}\` is imported from \`${specifier}\`, which cannot be found`;
    },
    (p) => {
      if (p.suggestion !== undefined) return nearest(p);
      if (p.module === undefined) return 'import it';
      return p.module.exists ? 'import it from the module that exports it' : 'correct the path of the import';
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
    () => 'name a step of this workflow that is declared above: `goto(this.step, { max: 3 })`',
  ),
  SW3015: error(
    (p: { step: string; cycle: string }) => `what \`${p.step}\` gives follows from itself: ${p.cycle}`,
    (p) => `say what it gives: \`${p.step}: { … } = run(…)\``,
  ),
  SW3016: error(
    (p: { of: string; name: string; path: string }) =>
      `${p.of} \`${p.name}\` has no \`${p.path}\` in some of its forms`,
    () => 'ask first which form it has: compare the field that tells them apart, or `match` on it',
  ),
  SW3017: warning(
    (p: { tool: string }) => `the text names the private tool \`${p.tool}\`, which its reader cannot call`,
    (p) => `name a tool that clients may call, or take \`visibility: 'workflow'\` off \`${p.tool}\``,
  ),
  SW3019: error(
    (p: { value: string; candidates: readonly string[]; suggestion?: string | undefined }) =>
      `no step settles as \`${p.value}\``,
    (p) => nearest(p) ?? `use one of ${listed(p.candidates)}`,
  ),
  SW3020: warning(
    (p: {
      name: string;
      step: string;
      status: string;
      why: string;
      cause: 'failure' | 'result' | 'join' | 'step';
    }) => {
      const what = p.status === 'error' ? `has no failure` : `is never \`${p.status}\``;
      return `\`${p.name}\` ${what} where \`${p.step}\` reads it: ${p.why}`;
    },
    (p) => HINTS_OF_CAUSES[p.cause],
  ),
  SW3021: error((p: TextValue) => `${valueName(p)} is ${p.actual}${TEXT_TAKES}`, textRepair),
  SW3022: warning((p: TextValue) => `${valueName(p)} may be ${p.actual}${TEXT_TAKES}`, textRepair),
} as const;

/** What lets a step read a status or a failure, by what is in the way. */
const HINTS_OF_CAUSES = {
  failure: 'let a value take over with `attempt`, or set `failFast: false` or the error strategy `collect`',
  result: 'let a value or another step take over with `attempt`',
  join: "set `join: 'all_done'`, or do not wait for it in `after`",
  step: 'compare with another status, or remove the condition',
} as const;

type TextValue = {
  readonly name?: string | undefined;
  /** Whether it is the parameter of an arrow. */
  readonly isLocal: boolean;
  readonly actual: 'absent' | 'null' | 'a list' | 'an object';
  /** A field of the object. */
  readonly field?: string | undefined;
};

const TEXT_TAKES = ', and a text takes text, numbers and booleans';

function valueName({ name }: TextValue): string {
  return name === undefined ? 'a value' : `\`${name}\``;
}

function textRepair({ name, isLocal, actual, field }: TextValue): string {
  const value = name === undefined ? '…' : isLocal ? name : `this.${name}`;
  if (actual === 'a list') return `join its items: \`${value}.join(', ')\``;
  if (actual === 'an object') return `name a field of it: \`${value}.${field ?? '…'}\``;
  return `say what the text has then: \`${value} ?? '…'\``;
}
