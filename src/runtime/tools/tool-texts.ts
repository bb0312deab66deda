import type { Json } from '../../graph/json.js';
import { didYouMean } from '../../graph/names.js';
import { clip, FAILURE_MESSAGE_LIMIT, jsonText, oneLine } from '../../graph/printable-text.js';

const quoted = (text: string): string => `\`${oneLine(text, 80)}\``;
const inBrackets = (near: string | undefined): string =>
  near === undefined ? '' : ` (${didYouMean(near, quoted)})`;
const inObject = (pointer: string): string => (pointer === '' ? '' : ` in ${quoted(pointer)}`);

/** Formats of JSON Schema in plain words. */
const formatWords: ReadonlyMap<string, string> = new Map([
  ['date', 'a date, yyyy-mm-dd'],
  ['time', 'a time with its zone, hh:mm:ssZ'],
  ['date-time', 'a date and time with its zone, yyyy-mm-ddThh:mm:ssZ'],
  ['duration', 'a duration, such as P1DT2H'],
  ['email', 'an e-mail address'],
  ['uri', 'an absolute URI'],
  ['uuid', 'a UUID'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
]);

/** Every sentence the toolset speaks to a model or an operator. */
export const toolTexts = {
  toolUnknown: (name: string, suggestion: string | undefined) =>
    `no tool is named ${quoted(name)}${inBrackets(suggestion)}`,
  resourceUnknown: (name: string, suggestion: string | undefined) =>
    `no resource is named ${quoted(name)}${inBrackets(suggestion)}`,
  resourceElsewhere: (name: string, uri: string, asked: string) =>
    `resource ${quoted(name)} is at ${quoted(uri)}, not at ${quoted(asked)}`,
  clientCannot: (capability: string) =>
    `the client does not support ${capability}, or no request of it is open`,
  clientFailed: (capability: string, error: unknown) =>
    `the client failed to answer (${capability}): ${oneLine(error instanceof Error ? error.message : String(error))}`,
  badAnswer: (problems: readonly string[]) =>
    `the values the user sent do not fit the form: ${problems.map((problem) => oneLine(problem)).join('; ')}`,
  notForm: () => 'a form is { properties: { name: field, … } }, or a Standard Schema of an object',
  notField: (name: string) =>
    `field ${quoted(name)} of the form is not a text, number, boolean or list of choices: clients show flat forms`,
  undescribedForm: () =>
    'the schema of the form does not describe itself as JSON Schema: use zod 4.2 or later, or a JSON Schema',

  cancelled: (name: string) => `the call of ${quoted(name)} was cancelled before it began`,

  middlewareAnswer: (name: string) =>
    `middleware ${quoted(name)} must return nothing, or { input } with a JSON object`,
  /** `shown` is what it threw, a stack perhaps. */
  middlewareThrew: (name: string, hook: string, tool: string, shown: string) =>
    `middleware ${quoted(name)}: ${hook} of a call of ${quoted(tool)} failed: ${shown}`,

  middlewareEndThrew: (name: string, subject: string, shown: string) =>
    `middleware ${quoted(name)}: what it returned for ${subject} failed: ${shown}`,

  /** `caller` says who asked, `shown` is the stack. */
  threw: (kind: string, name: string, caller: string, shown: string) =>
    `${kind} ${quoted(name)} threw (${caller}): ${shown}`,
  calledByClient: () => 'called by a client',
  calledByStep: (workflow: string, run: string, step: string) =>
    `run ${run} of workflow ${quoted(workflow)}, step ${quoted(step)}`,

  functionUnknown: (name: string, suggestion: string | undefined) =>
    `the registry has no function ${quoted(name)}${inBrackets(suggestion)}`,
  functionStale: (name: string) =>
    `function ${quoted(name)} is not the one this workflow was made with: run \`npx stepwright codegen\``,
  functionCancelled: (name: string) => `the evaluation of ${quoted(name)} was cancelled before it began`,

  templateBroken: (name: string, uri: string, why: string) =>
    `resource ${quoted(name)}: ${quoted(uri)} is not a URI template: ${why}`,
  badEncoding: (variable: string, raw: string) =>
    `variable ${quoted(variable)} is not percent-encoded text: ${quoted(raw)}`,
  climbs: (variable: string, value: string) =>
    `variable ${quoted(variable)} must not leave its folder: ${quoted(value)}. \`dotSegments: [${JSON.stringify(variable)}]\` of its @Resource allows such values`,
  fileMissing: (name: string, file: string, root: string) =>
    `resource ${quoted(name)}: there is no file ${quoted(file)} in ${quoted(root)}`,

  factoryThrew: (kind: string, name: string, why: string) =>
    `the factory of ${kind} ${quoted(name)} failed: ${why}`,
  constructorThrew: (kind: string, name: string, why: string) =>
    `the class of ${kind} ${quoted(name)} could not be instantiated: ${why}`,
  factoryUseless: (kind: string, name: string, method: string) =>
    `the factory of ${kind} ${quoted(name)} returned an object without ${method}()`,
  factoryMissing: (kind: string, name: string, className: string) =>
    `${kind} ${quoted(name)}: the constructor of ${className} takes parameters; give it a factory: '${name}': () => new ${className}(…)`,
  badScope: (scopes: readonly string[], value: unknown) =>
    `instances must be '${scopes.join("', '")}', not ${JSON.stringify(value)}`,
  badCreate: (type: string) =>
    `create must be a function that makes an instance of a class, and is a value of type ${type}`,
  factoryUnknown: (kind: string, name: string, suggestion: string | undefined) =>
    `a factory is given for ${kind} ${quoted(name)}, which the registry does not have${inBrackets(suggestion)}`,
  classWithout: (kind: string, name: string, className: string, method: string) =>
    `${kind} ${quoted(name)}: ${className} has no ${method}() method`,
  resourceWithoutContent: (name: string, className: string) =>
    `resource ${quoted(name)}: it has neither embedded text, nor a file, nor a read() method on ${className}`,
  factoriesRefused: (problems: readonly string[]) =>
    `the server cannot start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,

  inputInvalid: (problems: readonly string[]) => {
    const shown = problems.slice(0, 10);
    const rest = problems.length - shown.length;
    return `invalid input: ${shown.join('; ')}${rest === 0 ? '' : `; and ${rest} more`}`;
  },
  schemaBroken: (which: string, name: string, why: string) =>
    `the ${which} schema of ${quoted(name)} cannot be compiled: ${why}`,
  schemaUnusable: (fault: string) => `${fault}; every call of the tool fails until it is corrected`,
  missingRequired: (name: string, pointer: string) => `missing required ${quoted(name)}${inObject(pointer)}`,
  unknownArgument: (name: string, pointer: string, suggestion: string | undefined) =>
    `unknown ${pointer === '' ? 'argument' : 'property'} ${quoted(name)}${inObject(pointer)}${inBrackets(suggestion)}`,
  mustBe: (pointer: string, what: string) => `${subject(pointer)} must be ${what}`,
  other: (pointer: string, message: string) => `${subject(pointer)} ${message}`,
  wrongFormat: (pointer: string, format: string) => {
    const words = formatWords.get(format);
    return `${subject(pointer)} must ${words === undefined ? `match format "${oneLine(format, 80)}"` : `be ${words}`}`;
  },
  wrongPattern: (pointer: string, pattern: string) =>
    `${subject(pointer)} must match pattern "${oneLine(pattern, 80)}"`,
  noAlternative: (pointer: string) => `${subject(pointer)} has none of the allowed forms`,
  issue: (pointer: string, message: string) => (pointer === '' ? message : `${quoted(pointer)}: ${message}`),
  forbiddenKey: (pointer: string) => `unknown argument \`__proto__\`${inObject(pointer)}`,
  validatorThrew: (why: string) => `the input could not be checked: ${why}`,

  /** Follows the problem of a value that only has the wrong type. */
  sendInstead: (right: Json, wrong: Json) => `send ${clip(jsonText(right))}, not ${clip(jsonText(wrong))}`,

  resultNotJson: (pointer: string, problem: string) =>
    pointer === ''
      ? `the result is not JSON: it is ${problem}`
      : `the result is not JSON: ${quoted(pointer)} is ${problem}`,
  resultTooLarge: (size: number, limit: number) =>
    `the result is too large: its JSON text has at least ${size} bytes, and ${limit} are allowed`,
  resourceTooLarge: (size: number, limit: number) =>
    `the content is too large: its JSON text has at least ${size} bytes, and ${limit} are allowed`,
  outputInvalid: (problems: readonly string[]) =>
    `the result does not match the tool's output schema: ${problems.slice(0, 10).join('; ')}`,
  toolErrorWithoutText: () => 'the tool reported an error without a message',

  resourceUnusable: (what: string) =>
    `read() gave ${what}: it may return text, bytes (Uint8Array), { text }, { blob } or a list of these`,
  resourceItemUnusable: (index: number, what: string) =>
    `read() gave a list, and item ${index} of it is ${what}: an item is text, bytes (Uint8Array), { text, uri? } or { blob, uri? }`,
  contentElsewhere: (uri: string, fault: string) =>
    `an object whose uri ${quoted(uri)} is not an absolute URI (${fault})`,
  contentWithoutUri: () => 'an object whose uri is not text',
  contentOfOtherShape: () => 'an object of another shape',
  /** What replaces bytes among several contents that are shown as one text. */
  bytesAt: (uri: string) => `[Resource: ${uri}]`,
  blobNotBase64: () => 'a blob whose text is not base64',

  staleRegistry: (differences: readonly string[], configFile: string | undefined, runner: 'npx' | 'yarn') =>
    `the generated registry is stale:\n${differences.map((line) => `  - ${line}`).join('\n')}\nRun \`${runner} stepwright codegen${configFile === undefined ? '' : ` --config ${configFile}`}\`.`,
  staleVersion: (version: number, wanted: number) =>
    `it has registry version ${version}, this runtime reads version ${wanted}`,
  staleChecksum: () =>
    'its checksum does not match its content: it was edited by hand, or written only in part',
  staleEntry: (kind: string, name: string, className: string, from: string | undefined) =>
    from === undefined
      ? `${kind} ${quoted(name)}: the decorators of ${className} changed after codegen ran`
      : `${kind} ${quoted(name)}: the installed package ${quoted(from)} is not the one that codegen read: the decorators of ${className} differ`,
  undecoratedEntry: (kind: string, name: string, className: string, from: string | undefined) =>
    from === undefined
      ? `${kind} ${quoted(name)}: ${className} no longer has its decorator`
      : `${kind} ${quoted(name)}: the installed package ${quoted(from)} is not the one that codegen read: ${className} has no such decorator`,
} as const;

function subject(pointer: string): string {
  return pointer === '' ? 'the value' : quoted(pointer);
}

/** A sentence of this table as a failure message: one line, at most {@link FAILURE_MESSAGE_LIMIT} characters. */
export function message(text: string): string {
  return oneLine(text, FAILURE_MESSAGE_LIMIT);
}
