import { defined } from '../../defined.js';
import { didYouMean } from '../../names.js';

/** One fault: its severity, its message, and what to write instead. */
export interface Entry<P> {
  readonly severity: 'error' | 'warning';
  readonly message: (params: P) => string;
  readonly hint?: (params: P) => string | undefined;
}

export const error = <P = Record<never, never>>(
  message: (params: P) => string,
  hint?: (params: P) => string | undefined,
): Entry<P> => ({ severity: 'error', message, ...defined({ hint }) });

export const warning = <P = Record<never, never>>(
  message: (params: P) => string,
  hint?: (params: P) => string | undefined,
): Entry<P> => ({ ...error(message, hint), severity: 'warning' });

/** ``did you mean `x`?``; `undefined` if no name is near. */
export const nearest = (p: { suggestion?: string | undefined }): string | undefined =>
  didYouMean(p.suggestion);

/** A decorator as `@Step`, a verb, whose name is in lower case, as `call`. */
export const owner = (name: string): string => (/^[a-z]/.test(name) ? `\`${name}\`` : `@${name}`);

/** Names in a sentence. */
export const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
