import { type HumanAnswerer, isRole, type OwnerAnswerer, type RoleAnswerer } from '../graph/answerers.js';

export type { Answerer, HumanAnswerer, OwnerAnswerer, RoleAnswerer } from '../graph/answerers.js';

/** Options of {@link role}. */
export interface RoleOptions {
  /** `owner()`: the owner of the run may not answer, although it has the role. Default: it may. */
  readonly except?: OwnerAnswerer;
}

/**
 * Names the owner of the run as who may answer a question.
 *
 * @example
 * ```ts
 * @Step() sure = ask.confirm('Approve?', { answerBy: [owner(), role('lead')] });
 * ```
 */
export function owner(): OwnerAnswerer {
  return { kind: 'owner' };
}

/**
 * Names the owner of the run, as a person, as who may answer a question: on the page that the server has for it, with the
 * option `questions: { page: true }`. Forms of clients and `submit_result` are refused, since programs and models can answer those.
 *
 * @example
 * ```ts
 * @Step() sure = ask.confirm(`Delete ${this.project}?`, { answerBy: human() });
 * ```
 */
export function human(): HumanAnswerer {
  return { kind: 'human' };
}

/**
 * Names the callers with a role as who may answer a question. The roles of a caller come from the server: from the
 * `verify` function of its `auth`, or from `localRoles` over stdio.
 *
 * @param name 1 to 128 printable characters without quotes; in a workflow a literal.
 * @example
 * ```ts
 * @Step() approved = ask.confirm('Approve?', { answerBy: role('lead', { except: owner() }) });
 * ```
 * @throws RangeError for a name that is empty, too long or not printable.
 */
export function role(name: string, { except }: RoleOptions = {}): RoleAnswerer {
  if (!isRole(name)) {
    throw new RangeError(
      `${JSON.stringify(name)} is not a role: write 1 to 128 printable characters without quotes`,
    );
  }
  return { kind: 'role', role: name, ...(except === undefined ? {} : { except: 'owner' }) };
}
