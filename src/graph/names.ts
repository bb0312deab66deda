/** What has a name of its own that people or programs outside see. */
export type NamedKind =
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'workflow'
  | 'state'
  | 'step'
  | 'argument'
  | 'binding';

/** What MCP allows as the name of a tool or a prompt: a server that moves here keeps its names. */
const PROTOCOL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;

/** The tool of a workflow is `w_` and its name, in the 64 characters that every host takes. */
const WORKFLOW_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,61}$/;

/** An identifier, with dots and dashes inside. */
const EXTENDED_IDENTIFIER = /^[\p{ID_Start}_$][\p{ID_Continue}$.-]{0,127}$/u;

/**
 * The pattern of each kind of name, in one place. Only what authors write as an identifier has to be one: derived ids of
 * steps have dots and dashes, and so may arguments that callers know by another name than the field's.
 */
export const NAME_RULES: Readonly<Record<NamedKind, RegExp>> = {
  tool: PROTOCOL_NAME,
  prompt: PROTOCOL_NAME,
  resource: PROTOCOL_NAME,
  workflow: WORKFLOW_NAME,
  state: WORKFLOW_NAME,
  step: EXTENDED_IDENTIFIER,
  argument: EXTENDED_IDENTIFIER,
  binding: /^[\p{ID_Start}_$][\p{ID_Continue}$]{0,127}$/u,
};

/** True for a name of this kind. `__proto__` is none: as a key of an object it means something else. */
export function isValidName(kind: NamedKind, name: string): boolean {
  return name !== '__proto__' && NAME_RULES[kind].test(name);
}

/** What every host takes as the name of a tool. */
const PORTABLE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** True for a name of a tool or a prompt that every host takes: some refuse dots, and more than 64 characters. */
export function isPortableName(name: string): boolean {
  return PORTABLE_NAME.test(name);
}

/**
 * What a function beside a graph is known by: the identifier it is exported by, after `#` where what it belongs to is
 * named before it, and with a number where that leaves two of one name.
 */
export const FUNCTION_NAME_RULE =
  /^(?!__proto__$)(?:[^#\s]{1,255}#)?[\p{ID_Start}_$][\p{ID_Continue}$]{0,127}(?:-[0-9]{1,9})?$/u;

/** The code of a failure whose author gives none. */
const DEFAULT_CODE = 'E_FAIL';

/** Codes of failures, and of warnings beside results, that the product itself gives. */
const RESERVED_PREFIXES = ['E_', 'W_'] as const;

const PLAIN_IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** The code an `error` node fails with. */
export function failureCodeOf({ code = DEFAULT_CODE }: { readonly code?: string }): string {
  return code;
}

/** Why an author may not use a code, after "is"; nothing for one that is free. */
export function failureCodeFault(code: string): string | undefined {
  if (!PLAIN_IDENTIFIER.test(code)) return 'no plain identifier of at most 64 characters';
  const prefix = RESERVED_PREFIXES.find((each) => code.startsWith(each));
  return prefix === undefined ? undefined : `reserved: codes with \`${prefix}\` are the product's own`;
}

/** What an expression may read of the failure that a fallback replaces. */
export const ERROR_FIELDS: readonly string[] = ['code', 'message', 'attempts', 'node'];
