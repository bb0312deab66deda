import type { WorkflowDefinition } from './definition.js';
import { InvalidMappingError, InvalidOptionError, reasons, type WorkflowError } from './errors.js';
import type { StepDefinition } from './step.js';

/**
 * What a program without type checks has put in the wrong place. A definition without such faults is what its types say,
 * as far as the builder reads it.
 */
export function shapeProblems({
  name,
  description,
  args,
  steps,
  strategy,
  result,
}: WorkflowDefinition): WorkflowError[] {
  const strategyKind = memberOf(strategy, 'kind');
  return [
    ...optionProblems('the workflow', [
      ['name', name, isText, 'text'],
      ['description', description, isText, 'text'],
    ]),
    ...args.flatMap((arg) =>
      optionProblems(`argument '${String(arg.name)}'`, [
        ['name', arg.name, isText, 'text'],
        ['description', arg.description, isText, 'text'],
        ['required', arg.required, optionally(isBoolean), 'true or false'],
        ['title', arg.title, optionally(isText), 'text'],
        ['secret', arg.secret, optionally(isBoolean), 'true or false'],
      ]),
    ),
    ...steps.flatMap(stepProblems),
    ...optionProblems('the error strategy', [
      [
        'kind',
        strategyKind,
        (kind) => strategy === undefined || STRATEGIES.has(kind),
        [...STRATEGIES].join(' or '),
      ],
      [
        'retry',
        memberOf(strategy, 'retry'),
        (retry) => strategyKind !== 'retry' || isObject(retry),
        'an object of options',
      ],
    ]),
    ...(result === undefined ? [] : resultProblems(result)),
  ];
}

const STRATEGIES: ReadonlySet<unknown> = new Set(['failFast', 'collect', 'retry']);

type Check = readonly [option: string, given: unknown, fits: (given: unknown) => boolean, range: string];

function optionProblems(owner: string, checks: readonly Check[]): WorkflowError[] {
  return checks.flatMap(([option, given, fits, range]) => {
    if (fits(given)) return [];
    return [new InvalidOptionError({ owner, reason: reasons.option(option, shown(given), range) })];
  });
}

function stepProblems(given: StepDefinition | undefined, index: number): WorkflowError[] {
  const number = `step ${index + 1}`;
  const isStep = Array.isArray(memberOf(given, 'args')) && Array.isArray(memberOf(given, 'transforms'));
  if (!isStep || given === undefined) {
    return [new InvalidOptionError({ owner: 'the workflow', reason: reasons.noStep(index + 1) })];
  }
  const { args, binding, title, guidance, summary } = given;
  const step = typeof binding === 'string' ? binding : String(index + 1);
  return [
    ...optionProblems(typeof binding === 'string' ? `step '${binding}'` : number, [
      ['binding', binding, optionally(isText), 'text'],
      ['title', title, optionally(isText), 'text'],
      ['guidance', guidance, optionally(isText), 'text'],
      ['summary', summary, optionally(isText), 'text'],
    ]),
    ...args.flatMap(({ name, source }) => {
      if (isText(name) && isSource(source)) return [];
      return [
        new InvalidMappingError({ step, reason: reasons.noSource(String(name), shown(source)) }, 'SW4011'),
      ];
    }),
  ];
}

function resultProblems({ value, id }: NonNullable<WorkflowDefinition['result']>): WorkflowError[] {
  const owner = 'the result';
  const misfits =
    isObject(value) && !isSource(value) ? Object.entries(value).filter(([, part]) => !isSource(part)) : [];
  return [
    ...optionProblems(owner, [
      ['id', id, optionally(isText), 'text'],
      ['value', value, isObject, 'a source, or an object of sources'],
    ]),
    ...misfits.map(
      ([name, part]) => new InvalidOptionError({ owner, reason: reasons.noSource(name, shown(part)) }),
    ),
  ];
}

function isSource(value: unknown): boolean {
  switch (memberOf(value, 'kind')) {
    case 'argument':
      return isText(memberOf(value, 'name'));
    case 'step':
      return isText(memberOf(value, 'binding')) && isPath(memberOf(value, 'path'));
    case 'constant':
      return isObject(memberOf(value, 'value')) || isText(memberOf(value, 'fault'));
    case 'resource':
    case 'link': {
      const variables = memberOf(value, 'variables');
      return variables === undefined || (isObject(variables) && Object.values(variables).every(isSource));
    }
    case 'computed': {
      const sources = memberOf(value, 'sources');
      return (
        typeof memberOf(value, 'function') === 'function' && Array.isArray(sources) && sources.every(isSource)
      );
    }
    default:
      return false;
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Whether its keys are what they must be is found where it is read. */
function isPath(value: unknown): boolean {
  return value === undefined || isText(value) || Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function optionally(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || fits(value);
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'string') return `'${value}'`;
  return isObject(value) ? 'an object' : String(value);
}
