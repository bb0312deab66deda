/**
 * What another call of a tool with the same input does: `readOnly` changes nothing at all, `idempotent` has no further
 * effect, `key` has none where it is given the same idempotency key, `none` may repeat the effect.
 */
export type ToolSafety = 'readOnly' | RetrySafety;

/** What an author may say of a tool that changes something. */
export type RetrySafety = (typeof RETRY_SAFETIES)[number];

export const RETRY_SAFETIES = ['idempotent', 'key', 'none'] as const;

/** What a tool's declaration says about its effects. */
export interface ToolEffects {
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly idempotentHint?: boolean } | undefined;
  readonly retrySafety?: RetrySafety | undefined;
}

/**
 * The hint a declared safety contradicts. A tool that a repeated call leaves without further effect needs no key, and
 * one that changes nothing needs neither.
 */
export function contradictedHint({ annotations, retrySafety }: ToolEffects): ContradictedHint | undefined {
  if (retrySafety === undefined) return undefined;
  const isIdempotent = retrySafety === 'idempotent';
  if (annotations?.readOnlyHint === true && !isIdempotent) return { hint: 'readOnlyHint', value: true };
  const { idempotentHint } = annotations ?? {};
  return idempotentHint === undefined || idempotentHint === isIdempotent
    ? undefined
    : { hint: 'idempotentHint', value: idempotentHint };
}

export interface ContradictedHint {
  readonly hint: 'readOnlyHint' | 'idempotentHint';
  readonly value: boolean;
}

/** The safety a declaration comes to: what its author says, else what follows from the hints. */
export function toolSafetyOf({ annotations, retrySafety }: ToolEffects): ToolSafety {
  if (annotations?.readOnlyHint === true) return 'readOnly';
  return retrySafety ?? (annotations?.idempotentHint === true ? 'idempotent' : 'none');
}
