import type { Placed } from '../check/subject.js';
import type { WaitsOf } from '../check/waits.js';

/** What a node waits for, without what it only reads and what comes long before anyway. */
export function sourcesOf(placed: Placed, waitsOf: WaitsOf): Placed[] {
  const { after, all } = waitsOf(placed);
  const onlyRead = [...all].filter((source) => !after.has(source));
  if (onlyRead.length === 0 || all.size === 1) return [...all];
  const first = Math.min(...onlyRead.map(({ index }) => index));
  const before = new Set<Placed>();
  const open = [...all];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    for (const source of waitsOf(each).all) {
      if (source.index < first || before.has(source)) continue;
      before.add(source);
      open.push(source);
    }
  }
  return [...all].filter((source) => after.has(source) || !before.has(source));
}
