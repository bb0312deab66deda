import { PATH_SEGMENT, parsePath } from '../../graph/guidance.js';
import { isValidName, NAME_RULES, type NamedKind } from '../../graph/names.js';
import { uriFault } from '../../graph/uri.js';
import { InvalidNameError, InvalidUriError } from './errors.js';
import type { LiteralFault } from './literal-names.js';

declare const NAME: unique symbol;

/** The mark of a checked name. Nothing carries it at run time. */
interface Named<Kind extends string> {
  readonly [NAME]: Kind;
}

/** Id of a step in its graph: its binding, or one derived from the tool's name. */
export type StepName = string & Named<'step'>;
/** What a step's output is bound to. */
export type BindingName = string & Named<'binding'>;
/** An argument of a workflow, or of a tool. */
export type ArgName = string & Named<'argument'>;
/** A path into an output: `pages.0.title`. */
export type FieldPath = string & Named<'field'>;
/** The name a tool is registered under. */
export type ToolName = string & Named<'tool'>;
/** An absolute URI. */
export type Uri = string & Named<'uri'>;

/** Plain text, which is checked when the workflow is built, or a checked name of this kind; one of another kind is a type error. */
export type Naming<Kind extends string> = string & { readonly [NAME]?: Kind };

/** A path into an output: keys and indexes joined by dots, or a list of them where a key holds a dot or a space. */
export type Path = Naming<'field'> | readonly (string | number)[];

/** The keys of a path; nothing for what is none. `__proto__` is no field of anything. */
export function fieldKeys(path: Path): readonly (string | number)[] | undefined {
  const keys = typeof path === 'string' ? parsePath(path) : isKeys(path) ? [...path] : undefined;
  return keys?.includes('__proto__') ? undefined : keys;
}

/**
 * The same for a path that has to be one.
 * @throws InvalidNameError for what is none.
 */
export function checkedKeys(path: Path): readonly (string | number)[] {
  const keys = fieldKeys(path);
  if (keys !== undefined) return keys;
  throw new InvalidNameError({ kind: 'field path', name: shownPath(path), rule: PATH_SEGMENT.source });
}

/** A path for the author who reads an error. */
export function shownPath(path: Path): string {
  return typeof path === 'string' ? path : JSON.stringify(path);
}

function isKeys(path: readonly unknown[]): boolean {
  const isKey = (key: unknown): boolean =>
    typeof key === 'string' || (Number.isSafeInteger(key) && Number(key) >= 0);
  return path.length > 0 && path.every(isKey);
}

/** The fault of a binding that is no identifier, where a graph may hold it: its own derived ids are such. */
export function bindingError(name: string): InvalidNameError | undefined {
  if (!isValidName('step', name) || isValidName('binding', name)) return undefined;
  return new InvalidNameError({ kind: 'binding', name, rule: NAME_RULES.binding.source });
}

/**
 * The name of a step.
 * @throws InvalidNameError for what no step can be called.
 */
export function stepName<const N extends string>(name: N): N & StepName {
  return checkedName('step', name);
}

/**
 * The name of an argument, of the workflow or of a tool: an identifier, with dots and dashes inside.
 * @throws InvalidNameError for what no argument can be called.
 */
export function arg<const N extends string>(name: N & LiteralFault<N, 'argument'>): N & ArgName {
  return checkedName<N, 'argument'>('argument', name);
}

/**
 * The name of a binding.
 * @throws InvalidNameError for what is no identifier.
 */
export function binding<const N extends string>(name: N & LiteralFault<N, 'binding'>): N & BindingName {
  return checkedName<N, 'binding'>('binding', name);
}

/**
 * A path into an output: properties and indexes, joined by dots.
 * @throws InvalidNameError for an empty path or segment, for `__proto__`, and for characters no property of an
 *   identifier's kind has.
 */
export function field<const P extends string>(path: P & LiteralFault<P, 'field'>): P & FieldPath {
  return checked<P, 'field'>('field path', path, fieldKeys(path) !== undefined, PATH_SEGMENT);
}

/**
 * The name of a tool.
 * @throws InvalidNameError for what no tool can be called.
 */
export function toolName<const N extends string>(name: N & LiteralFault<N, 'tool'>): N & ToolName {
  return checkedName<N, 'tool'>('tool', name);
}

/**
 * An absolute URI.
 * @throws InvalidUriError for text that is none.
 */
export function uri<const U extends string>(text: U): U & Uri {
  const why = uriFault(text);
  if (why !== undefined) throw new InvalidUriError({ uri: text, why });
  return text as U & Uri;
}

function checkedName<N extends string, Kind extends NamedKind>(kind: Kind, name: N): N & Named<Kind> {
  return checked(kind, name, isValidName(kind, name), NAME_RULES[kind]);
}

/** Marks what was found valid. */
function checked<N extends string, Kind extends string>(
  kind: string,
  name: N,
  isValid: boolean,
  rule: RegExp,
): N & Named<Kind> {
  if (!isValid) throw new InvalidNameError({ kind, name, rule: rule.source });
  return name as N & Named<Kind>;
}
