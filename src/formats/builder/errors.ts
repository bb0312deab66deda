import type { DiagnosticCode } from '../../graph/diagnostics/diagnostic.js';
import { didYouMeanSentence, nearestName } from '../../graph/names.js';

/** An error or a warning of a built workflow. There is one class for each cause. */
export abstract class WorkflowError extends Error {
  /** The code of the diagnostic, such as `SW3001`. `stepwright explain CODE` explains it. */
  readonly code: DiagnosticCode;
  /** The name of the workflow; absent for a name that was checked outside a workflow. */
  declare readonly workflow?: string;

  constructor(code: DiagnosticCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Sets the workflow of an error that has none. */
export function within<E extends WorkflowError>(workflow: string, error: E): E {
  return error.workflow === undefined ? Object.assign(error, { workflow }) : error;
}

/** A step, or its guidance, reads a binding that no earlier step has. */
export class UnknownBindingError extends WorkflowError {
  override readonly name = 'UnknownBindingError';
  readonly step: string;
  readonly binding: string;
  /** The bindings the step may read, in order. */
  readonly available: readonly string[];

  /** @param because the reason or a suggestion, as a sentence. */
  constructor(
    { step, binding, available }: Pick<UnknownBindingError, 'step' | 'binding' | 'available'>,
    code: DiagnosticCode = 'SW3001',
    because = didYouMean(binding, available),
  ) {
    const bindings = listed('bindings', available);
    super(code, sentences(`Step '${step}' references unknown binding '${binding}'`, bindings, because));
    this.step = step;
    this.binding = binding;
    this.available = available;
  }
}

/** A tool that is not registered, or a class without `@Tool`. */
export class MissingToolError extends WorkflowError {
  override readonly name = 'MissingToolError';
  override readonly workflow: string;
  readonly tool: string;

  /** @param registered the names of the registered tools, for a suggestion. */
  constructor(
    { workflow, tool }: Pick<MissingToolError, 'workflow' | 'tool'>,
    registered: Iterable<string>,
    code: DiagnosticCode = 'SW4001',
    because = didYouMean(tool, registered),
  ) {
    super(code, sentences(`Workflow '${workflow}' requires unregistered tool '${tool}'`, because));
    this.workflow = workflow;
    this.tool = tool;
  }
}

/** A resource that is not registered, or a class without `@Resource`. */
export class MissingResourceError extends WorkflowError {
  override readonly name = 'MissingResourceError';
  override readonly workflow: string;
  /** The URI; if that is unknown, the name of the class. */
  readonly resource: string;

  /** @param registered the URIs of the registered resources, for a suggestion. */
  constructor(
    { workflow, resource }: Pick<MissingResourceError, 'workflow' | 'resource'>,
    registered: Iterable<string>,
    code: DiagnosticCode = 'SW4002',
    because = didYouMean(resource, registered),
  ) {
    super(code, sentences(`Workflow '${workflow}' requires unregistered resource '${resource}'`, because));
    this.workflow = workflow;
    this.resource = resource;
  }
}

/** Steps that wait for each other, or for themselves. */
export class CircularDependencyError extends WorkflowError {
  override readonly name = 'CircularDependencyError';
  override readonly workflow: string;
  /** Ids of the steps, each of which waits for the next, with the first again at the end: `a → b → a`. */
  readonly cycle: string;

  constructor({ workflow, cycle }: Pick<CircularDependencyError, 'workflow' | 'cycle'>) {
    super('SW4006', `Circular dependency detected in workflow '${workflow}': ${cycle}`);
    this.workflow = workflow;
    this.cycle = cycle;
  }
}

/** An argument or a transform of a step is invalid. */
export class InvalidMappingError extends WorkflowError {
  override readonly name = 'InvalidMappingError';
  readonly step: string;
  readonly reason: string;

  constructor({ step, reason }: Pick<InvalidMappingError, 'step' | 'reason'>, code: DiagnosticCode) {
    super(code, `Invalid argument mapping in step '${step}': ${reason}`);
    this.step = step;
    this.reason = reason;
  }
}

/** Text that is not an absolute URI. */
export class InvalidUriError extends WorkflowError {
  override readonly name = 'InvalidUriError';
  readonly uri: string;
  /** The reason, as the end of a sentence: `it has no scheme`. */
  readonly why: string;

  constructor({ uri, why }: Pick<InvalidUriError, 'uri' | 'why'>) {
    super(
      'SW4007',
      `Invalid URI '${uri}': ${why}. Write an absolute URI, for example 'resource://logseq/intro'`,
    );
    this.uri = uri;
    this.why = why;
  }
}

/** The name, the description or the steps of a workflow are missing. */
export class MissingFieldError extends WorkflowError {
  override readonly name = 'MissingFieldError';
  override readonly workflow: string;
  readonly field: string;

  constructor(
    { workflow, field }: Pick<MissingFieldError, 'workflow' | 'field'>,
    code: DiagnosticCode = 'SW4008',
  ) {
    super(code, `Workflow '${workflow}' is missing required field: ${field}`);
    this.workflow = workflow;
    this.field = field;
  }
}

/** A path to a field that the output of a step does not have. */
export class OutputFieldNotFoundError extends WorkflowError {
  override readonly name = 'OutputFieldNotFoundError';
  /** The step that has the output. */
  readonly step: string;
  /** The path up to the missing field: `pages[0].titel`. */
  readonly field: string;

  /** @param suggestion the name of a similar field. */
  constructor(
    { step, field }: Pick<OutputFieldNotFoundError, 'step' | 'field'>,
    suggestion: string | undefined,
  ) {
    super(
      'SW4005',
      sentences(`Step '${step}' output field '${field}' not found in result`, didYouMeanSentence(suggestion)),
    );
    this.step = step;
    this.field = field;
  }
}

/** A name that does not match its pattern. */
export class InvalidNameError extends WorkflowError {
  override readonly name = 'InvalidNameError';
  /** The kind of the name: `workflow`, `step`, `argument`, … */
  readonly kind: string;
  readonly invalid: string;

  /** @param fields.rule the pattern, as the source of a regular expression. */
  constructor({ kind, name, rule }: { readonly kind: string; readonly name: string; readonly rule: string }) {
    const repair = /\b__proto__\b/.test(name)
      ? '`__proto__` is never a name'
      : `Use a name that matches ${rule}`;
    super('SW1002', `'${name}' is not a valid ${kind} name. ${repair}`);
    this.kind = kind;
    this.invalid = name;
  }
}

/** An option with an invalid value. */
export class InvalidOptionError extends WorkflowError {
  override readonly name = 'InvalidOptionError';
  /** The owner of the option, as text: `step 'add'`, `the error strategy`. */
  readonly owner: string;

  constructor({ owner, reason }: { readonly owner: string; readonly reason: string }) {
    super('SW4015', `Invalid option of ${owner}: ${reason}`);
    this.owner = owner;
  }
}

/** A name that is used twice in a workflow. */
export class DuplicateNameError extends WorkflowError {
  override readonly name = 'DuplicateNameError';
  override readonly workflow: string;
  readonly duplicate: string;

  /** @param fields.kinds the owners of the name, as text: `two steps`, `an argument and a step`. */
  constructor(
    { workflow, name, kinds }: { readonly workflow: string; readonly name: string; readonly kinds: string },
    code: DiagnosticCode,
  ) {
    super(code, `Workflow '${workflow}' uses the name '${name}' for ${kinds}. Rename one of them`);
    this.workflow = workflow;
    this.duplicate = name;
  }
}

/** Any other diagnostic, or a class that cannot be read. `cause` is the diagnostic or the error. */
export class OtherWorkflowError extends WorkflowError {
  override readonly name = 'OtherWorkflowError';

  constructor(message: string, code: DiagnosticCode, options: { readonly cause: unknown }) {
    super(code, message, options);
  }
}

/** Thrown by `build()` for a workflow with errors. `problems` lists all of them in the order of the calls. */
export class WorkflowBuildError extends Error {
  override readonly name = 'WorkflowBuildError';
  readonly workflow: string;
  readonly problems: readonly WorkflowError[];

  constructor(workflow: string, problems: readonly WorkflowError[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    const lines = problems.map(({ code, message }) => `\n  ${code}: ${message}`);
    super(`Workflow '${workflow}' has ${count}:${lines.join('')}`);
    this.workflow = workflow;
    this.problems = problems;
  }
}

/** The reason for an option with a wrong value. @param range what it must be, in words. */
export function optionReason(option: string, value: unknown, range: string): string {
  return `'${option}' is ${String(value)}. It must be ${range}`;
}

/** The reason for text or a list that is not a path. */
export function pathReason(path: string): string {
  return `'${path}' is not a field path. Write properties and indexes joined by dots, for example 'pages.0.title', or list them: ['pages', 0, 'a key']`;
}

/** Returns `Did you mean 'x'?`, or `undefined` if no known name is similar. */
export function didYouMean(name: string, names: Iterable<string>): string | undefined {
  return didYouMeanSentence(nearestName(name, names));
}

export function listed(what: string, names: readonly string[]): string {
  return names.length === 0 ? `There are no ${what} to read` : `Available ${what}: ${names.join(', ')}`;
}

/** Joins sentences. The last one has no full stop. */
export function sentences(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('. ');
}
