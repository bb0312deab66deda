import { proxyLocalActivities } from '@temporalio/workflow';
import { canonicalJson } from '../../graph/canonical.js';
import type { Json } from '../../graph/json.js';
import type { Failure } from '../../runtime/engine/contract.js';
import type { Activities, CommandResponse } from '../protocol.js';

const { checkResult } = proxyLocalActivities<Pick<Activities, 'checkResult'>>({
  startToCloseTimeout: '1 minute',
});

/** The code of a refusal until a value is checked. */
const UNCHECKED = 'unchecked';

/**
 * Checks values that take the place of a tool's result. The worker has the output schemas, and the store in the sandbox
 * decides about a request at once: a request with a value that is not checked yet is refused, and made again after the check.
 */
export class ResultChecks {
  readonly #outcomes = new Map<string, Failure | null>();
  /** What requests were refused for, by the keys of outcomes. */
  #needed = new Map<string, Parameters<Activities['checkResult']>[0]>();

  /** See `StoreParts.resultFailure`. */
  readonly resultFailure = (tool: string, value: Json): Failure | undefined => {
    const key = canonicalJson([tool, value]);
    const outcome = this.#outcomes.get(key);
    if (outcome !== undefined) return outcome ?? undefined;
    this.#needed.set(key, { tool, value });
    return { code: UNCHECKED, message: 'The value is not checked yet.' };
  };

  /** Makes a request, again after each check that it needs. */
  async decided<R extends CommandResponse>(request: () => Promise<R>): Promise<R> {
    const checked = new Set<string>();
    try {
      for (;;) {
        const response = await request();
        if (response.ok || response.failure.code !== UNCHECKED) return response;
        const needed = this.#needed;
        this.#needed = new Map();
        for (const [key, result] of needed) {
          this.#outcomes.set(key, await checkResult(result));
          checked.add(key);
        }
      }
    } finally {
      // The schemas of a later worker may be others.
      for (const key of checked) this.#outcomes.delete(key);
    }
  }
}
