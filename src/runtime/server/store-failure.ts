import { clip } from '../../graph/printable-text.js';
import type { Failure } from '../engine/contract.js';
import { JournalFailedError } from '../runs/store/journal.js';
import { StoreError, storeErrorIn, UnreadableRunError } from '../runs/store/store-error.js';
import type { Masking } from '../secrets/mask.js';
import { maskedError, thrownText } from '../tools/exceptions.js';
import type { Log } from '../tools/log.js';
import { faultCodes, ProtocolFault } from './wire.js';

/** Each text names what was asked for, and what to do. The path of the store is the operator's concern. */
const TEXTS = {
  E_STORE: (what: string) =>
    `The server could not read or write its store of runs. Whether ${what} took effect is not known: ask later with list_workflows or get_workflow_status, and send it again only if it did not.`,
  E_STORE_REPLACED: (what: string) =>
    `The store of runs was removed or replaced: no run and no answer is accepted until the server is started again. Whether ${what} took effect is not known: ask then with list_workflows or get_workflow_status, and send it again only if it did not.`,
  E_STORE_DAMAGED: (what: string) =>
    `The store has this run, and its part of the store is damaged: ${what} had no effect. The operator of the server finds damaged runs with \`stepwright runs check\`, and restores the store from a backup.`,
  E_STORE_VERSION: (what: string) =>
    `The store has this run, and another version of the server wrote it: ${what} had no effect. Send it to a server of that version, or ask the operator to update this one.`,
} as const;

/** The failure of a request that met a fault of the store. The fault is logged. Undefined for any other fault. */
export function storeFailure(fault: unknown, what: string, log: Log): Failure | undefined {
  const code = codeOf(fault);
  if (code === undefined) return undefined;
  // The others were logged when they were found.
  if (code === 'E_STORE') log(`${what}: ${thrownText(fault)}`, { event: 'store.failed' });
  return { code, message: TEXTS[code](what) };
}

/** Does work with a store. Returns what `refuse` makes of the failure where the store cannot do it. */
export async function orRefusal<T>(
  work: () => Promise<T>,
  what: string,
  { log, mask }: { readonly log: Log; readonly mask?: Masking },
  refuse: (failure: Failure) => T,
): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    const failure = storeFailure(fault, what, log);
    if (failure === undefined) throw mask === undefined ? fault : maskedError(fault, mask);
    return refuse(failure);
  }
}

/** The same as a fault of the protocol, for requests that have no result to report it. Any other fault is returned as it is. */
export function storeFault(fault: unknown, what: string, log: Log): unknown {
  const failure = storeFailure(fault, what, log);
  if (failure === undefined) return fault;
  const { code, message } = failure;
  return new ProtocolFault(faultCodes.internal, message, { code });
}

function codeOf(fault: unknown): keyof typeof TEXTS | undefined {
  if (fault instanceof UnreadableRunError) return fault.isDamaged ? 'E_STORE_DAMAGED' : 'E_STORE_VERSION';
  if (!(fault instanceof StoreError || fault instanceof JournalFailedError)) return undefined;
  return storeErrorIn(fault)?.problem === 'replaced' ? 'E_STORE_REPLACED' : 'E_STORE';
}

/** The fault of a task that does not exist, or not for its caller. */
export function taskNotFound(id: string): ProtocolFault {
  return new ProtocolFault(
    faultCodes.invalidParams,
    `Task '${clip(id)}' not found: it does not exist, was forgotten, or belongs to another caller`,
  );
}
