/** Prints one line of what an example does. */
export function say(text: string): void {
  console.log(text);
}

/** Prints a value. @throws Error for another one than is expected. */
export function check(what: string, actual: unknown, expected: unknown): void {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
  say(`  ${what}: ${a}`);
}
