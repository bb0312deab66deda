import { faultCodes, ProtocolFault } from './fault.js';
import { texts } from './texts.js';

/** A stretch of a list, and the cursor of the next one where there is more. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/**
 * Cuts one page out of a list whose order never changes.
 *
 * @param list - names the list inside the cursor, so that a cursor of another list is refused.
 * @param cursor - from the page before; absent for the first page.
 * @param size - items per page, at least 1.
 * @throws {ProtocolFault} -32602 for a cursor this list did not hand out.
 */
export function pageOf<T>(
  list: string,
  items: readonly T[],
  cursor: string | undefined,
  size: number,
): Page<T> {
  const from = cursor === undefined ? 0 : offsetIn(list, items.length, cursor);
  const to = from + size;
  return {
    items: items.slice(from, to),
    ...(to < items.length ? { nextCursor: encode(list, to) } : {}),
  };
}

function encode(list: string, offset: number): string {
  return Buffer.from(`${list}:${offset}`).toString('base64url');
}

function offsetIn(list: string, length: number, cursor: string): number {
  const [, offset] =
    /^[a-z]+:([1-9][0-9]{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  const from = Number(offset);
  // Encoding it again refuses the many spellings that base64 decoders let pass.
  if (offset === undefined || from >= length || encode(list, from) !== cursor) {
    throw new ProtocolFault(faultCodes.invalidParams, texts.badCursor());
  }
  return from;
}
