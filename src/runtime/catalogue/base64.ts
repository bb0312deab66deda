/** Bytes as base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Whether a value is base64 as clients accept it: the standard alphabet, padded. */
export function isBase64(value: unknown): value is string {
  if (typeof value !== 'string' || value.length % 4 !== 0) return false;
  return !/[^A-Za-z0-9+/]/.test(value.replace(/={1,2}$/, ''));
}
