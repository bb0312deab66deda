/** Ends a `switch` over a union: reaching it is a fault of our own. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected ${String(value)}`);
}
