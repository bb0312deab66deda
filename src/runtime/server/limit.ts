import type { Cancellation } from '../hosts/in-process/run-in-process.js';

/** How limited work ended. Work that was given up on may still go on; what it does then is ignored. */
export type Limited<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'cancelled' };

/**
 * Does work under a signal that is aborted when the request is cancelled or `limitMs` have passed, and answers then,
 * whether the work heeds its signal or not.
 *
 * @throws what `work` throws before that.
 */
export async function limited<T>(
  limitMs: number,
  request: Cancellation,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Limited<T>> {
  if (request.aborted) return { kind: 'cancelled' };
  const controller = new AbortController();
  let give: (ending: Limited<T>) => void = () => {};
  const givenUp = new Promise<Limited<T>>((resolve) => {
    give = resolve;
  });
  const cancel = (): void => {
    give({ kind: 'cancelled' });
    controller.abort(request.reason);
  };
  const timer = setTimeout(() => {
    give({ kind: 'timedOut' });
    controller.abort(new DOMException(`No answer within ${limitMs} ms`, 'TimeoutError'));
  }, limitMs);
  request.addEventListener('abort', cancel, { once: true });
  try {
    const done = work(controller.signal).then((value): Limited<T> => ({ kind: 'done', value }));
    return await Promise.race([done, givenUp]);
  } finally {
    clearTimeout(timer);
    request.removeEventListener('abort', cancel);
  }
}
