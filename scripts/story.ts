import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * The store that the option `--store` names. Servers on Temporal share one bundle of the interpreter, which would take each of
 * them seconds.
 *
 * @param folder - where the bundle is written.
 */
export async function storeOption(folder: string): Promise<string | undefined> {
  const { store } = parseArgs({ options: { store: { type: 'string' } } }).values;
  if (store === undefined || !store.startsWith('temporal:') || store.includes('bundlePath=')) return store;
  const bundlePath = join(folder, 'interpreter.js');
  const { writeBundle } = await import('stepwright/temporal');
  await writeBundle(bundlePath);
  const name = new URL(store);
  name.searchParams.set('bundlePath', bundlePath);
  return name.href;
}

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
