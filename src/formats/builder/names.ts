import { PATH_SEGMENT, parsePath } from '../../graph/guidance.js';
import { isValidName, NAME_RULES, type NamedKind } from '../../graph/names.js';
import { uriFault } from '../../graph/uri.js';
import { InvalidNameError, InvalidUriError } from './errors.js';

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';

/** The ASCII characters that are in no name; `$`, `-` and `.` are in some. */
// biome-ignore format: one line is read more easily
type Foreign = ' ' | '\t' | '\n' | '!' | '"' | '#' | '%' | '&' | "'" | '(' | ')' | '*' | '+' | ',' | '/' | ':' | ';' | '<' | '=' | '>' | '?' | '@' | '[' | '\\' | ']' | '^' | '`' | '{' | '|' | '}' | '~';

type Holding<Part extends string> = `${string}${Part}${string}`;

type Malformed = {
  readonly binding: '' | '__proto__' | Holding<Foreign | '-' | '.'> | `${Digit}${string}`;
  readonly argument: '' | '__proto__' | Holding<Foreign> | `${Digit | '-' | '.'}${string}`;
  readonly tool: '' | '__proto__' | Holding<Foreign | '$'>;
  readonly field: '' | '__proto__' | Holding<Foreign | '..'> | `.${string}` | `${string}.`;
};

/** The texts of type errors about names. */
type Expected = {
  readonly binding: 'a binding is an identifier';
  readonly argument: 'an argument is an identifier, with . and - inside';
  readonly tool: 'a tool has a name of A-Z, a-z, 0-9, _, - and .';
  readonly field: 'a field path is properties and indexes joined by dots; write other keys as a list';
};

/**
 * Why a literal is not a name of this kind, or `unknown`. Authors see the text. Non-ASCII characters, lengths and text
 * that is not a literal are checked only at run time.
 */
export type LiteralFault<N extends string, Kind extends keyof Malformed> = string extends N
  ? unknown
  : N extends Malformed[Kind]
    ? [Expected[Kind]]
    : unknown;

declare const NAME: unique symbol;

/** The compile-time mark of a checked name; no value has it at run time. */
interface Named<Kind extends string> {
  readonly [NAME]: Kind;
}

/** The id of a step: its binding, else derived from the name of its tool. */
export type StepName = string & Named<'step'>;
/** The name that later steps refer to a step's value by. */
export type BindingName = string & Named<'binding'>;
/** The name of an argument of a workflow or a tool. */
export type ArgName = string & Named<'argument'>;
/** A path into an output: `pages.0.title`. */
export type FieldPath = string & Named<'field'>;
/** The registered name of a tool. */
export type ToolName = string & Named<'tool'>;
/** An absolute URI. */
export type Uri = string & Named<'uri'>;

/**
 * Plain text, which is checked when the workflow is built, or a checked name of this kind. A checked name of another
 * kind is a type error.
 */
export type Naming<Kind extends string> = string & { readonly [NAME]?: Kind };

/** A path into an output: keys and indexes joined by dots, or a list of them if a key has a dot or a space. */
export type Path = Naming<'field'> | readonly (string | number)[];

/** Returns the keys of a path; `undefined` for an invalid path, such as one with `__proto__`. */
export function fieldKeys(path: Path): readonly (string | number)[] | undefined {
  const keys = typeof path === 'string' ? parsePath(path) : isKeys(path) ? [...path] : undefined;
  return keys?.includes('__proto__') ? undefined : keys;
}

/**
 * Returns the keys of a path.
 *
 * @throws InvalidNameError for an invalid path.
 */
export function checkedKeys(path: Path): readonly (string | number)[] {
  const keys = fieldKeys(path);
  if (keys !== undefined) return keys;
  throw new InvalidNameError({ kind: 'field path', name: shownPath(path), rule: PATH_SEGMENT.source });
}

/** A path as text for messages. */
export function shownPath(path: Path): string {
  return typeof path === 'string' ? path : JSON.stringify(path);
}

function isKeys(path: readonly unknown[]): boolean {
  const isKey = (key: unknown): boolean =>
    typeof key === 'string' || (Number.isSafeInteger(key) && Number(key) >= 0);
  return path.length > 0 && path.every(isKey);
}

/** Returns the error of a binding that a graph accepts as an id, but that is not an identifier. */
export function bindingError(name: string): InvalidNameError | undefined {
  if (!isValidName('step', name) || isValidName('binding', name)) return undefined;
  return new InvalidNameError({ kind: 'binding', name, rule: NAME_RULES.binding.source });
}

/**
 * Checks the id of a step.
 *
 * @returns the same text, with the type of a step's id.
 * @throws InvalidNameError for an invalid id.
 */
export function stepName<const N extends string>(name: N): N & StepName {
  return checkedName('step', name);
}

/**
 * Checks the name of an argument of the workflow or of a tool: an identifier, which may also have `.` and `-` inside.
 *
 * @returns the same text, with the type of an argument's name.
 * @throws InvalidNameError for an invalid name.
 */
export function arg<const N extends string>(name: N & LiteralFault<N, 'argument'>): N & ArgName {
  return checkedName<N, 'argument'>('argument', name);
}

/**
 * Checks the name of a binding, which is an identifier.
 *
 * @returns the same text, with the type of a binding.
 * @throws InvalidNameError for an invalid name.
 */
export function binding<const N extends string>(name: N & LiteralFault<N, 'binding'>): N & BindingName {
  return checkedName<N, 'binding'>('binding', name);
}

/**
 * Checks a path into an output: properties and indexes, joined by dots.
 *
 * @returns the same text, with the type of a path.
 * @throws InvalidNameError for an empty path or segment, for `__proto__`, and for segments with other characters than
 *   those of identifiers and indexes.
 */
export function field<const P extends string>(path: P & LiteralFault<P, 'field'>): P & FieldPath {
  return checked<P, 'field'>('field path', path, fieldKeys(path) !== undefined, PATH_SEGMENT);
}

/**
 * Checks the name of a tool, which matches `^[A-Za-z0-9_.-]{1,128}$`.
 *
 * @returns the same text, with the type of a tool's name.
 * @throws InvalidNameError for an invalid name.
 */
export function toolName<const N extends string>(name: N & LiteralFault<N, 'tool'>): N & ToolName {
  return checkedName<N, 'tool'>('tool', name);
}

/**
 * Checks an absolute URI.
 *
 * @returns the same text, with the type of a URI.
 * @throws InvalidUriError for text that is not an absolute URI.
 */
export function uri<const U extends string>(text: U): U & Uri {
  const why = uriFault(text);
  if (why !== undefined) throw new InvalidUriError({ uri: text, why });
  return text as U & Uri;
}

function checkedName<N extends string, Kind extends NamedKind>(kind: Kind, name: N): N & Named<Kind> {
  return checked(kind, name, isValidName(kind, name), NAME_RULES[kind]);
}

/** Throws for an invalid name, and otherwise returns it with its mark. */
function checked<N extends string, Kind extends string>(
  kind: string,
  name: N,
  isValid: boolean,
  rule: RegExp,
): N & Named<Kind> {
  if (!isValid) throw new InvalidNameError({ kind, name, rule: rule.source });
  return name as N & Named<Kind>;
}
