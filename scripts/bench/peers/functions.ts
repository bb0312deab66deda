import { increment } from '../host.js';

/** A tool in plain code: an async function. */
async function tool(input: { readonly n: number }): Promise<{ n: number }> {
  return increment(input);
}

/** `line` as plain code. */
export async function line(count: number): Promise<number> {
  let last = { n: 0 };
  for (let place = 0; place < count; place += 1) last = await tool({ n: last.n });
  return last.n;
}

/** `loop` as plain code: workers that take the next item until there is none. */
export async function loop(items: readonly number[], concurrency: number): Promise<number[]> {
  const results: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const place = next;
      next += 1;
      results[place] = (await tool({ n: items[place] ?? 0 })).n;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}
