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

/** What an expression may read of the failure that something stands in for. */
export const ERROR_FIELDS: readonly string[] = ['code', 'message', 'attempts', 'node'];
