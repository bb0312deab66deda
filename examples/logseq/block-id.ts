import { createHash, randomUUID } from 'node:crypto';

/**
 * The id of a new block. The same key gives the same id, so a second attempt of a step finds what the first one wrote;
 * without a key the id is random. Version 8 of RFC 9562.
 */
export function blockId(idempotencyKey: string | undefined): string {
  if (idempotencyKey === undefined) return randomUUID();
  const hex = createHash('sha256').update(idempotencyKey).digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
