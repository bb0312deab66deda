import type { Owner } from '../../decorators/context.js';
import { clip } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import type { RequestContext } from '../runs/request.js';

/** Who asks, as far as its scopes are concerned. */
export type ScopedCaller = Pick<RequestContext, 'auth' | 'local'>;

/**
 * The scopes that a caller lacks. The user of this process has all, an authenticated caller those of its token, and any
 * other none.
 */
export function lackingScopes(required: readonly string[] = [], { auth, local }: ScopedCaller): string[] {
  if (required.length === 0 || (auth === undefined && local === true)) return [];
  return required.filter((scope) => auth?.scopes.includes(scope) !== true);
}

/** The refusal of a call whose caller lacks scopes. */
export function scopeFailure(missing: readonly string[]): Failure {
  return {
    code: 'E_SCOPE',
    message: `The caller lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${missing.map((scope) => `'${clip(scope)}'`).join(', ')}: call again with a token that has ${missing.length === 1 ? 'it' : 'them'}`,
    details: { missing },
  };
}

export function withRoles(owner: Owner, roles: readonly string[] = [], localRoles: readonly string[]): Owner {
  if (owner.kind === 'anonymous') return owner;
  const ownRoles = owner.kind === 'local' ? localRoles : roles;
  return ownRoles.length === 0 ? owner : { ...owner, roles: ownRoles };
}
