import type { Row } from './row.js';
import { graphSize, runLength } from './rows/growth.js';
import { items } from './rows/items.js';
import { memory } from './rows/memory.js';
import { planning, references } from './rows/parts.js';
import { secrets } from './rows/secrets.js';
import { server } from './rows/server.js';
import { stateSize } from './rows/state-size.js';
import { steps } from './rows/steps.js';
import type { Sizes } from './sizes.js';

const GROUPS = [
  steps,
  items,
  graphSize,
  runLength,
  stateSize,
  memory,
  planning,
  references,
  secrets,
  server,
] as const;

/** Measures everything there is. */
export async function bench(sizes: Sizes): Promise<Row[]> {
  const rows: Row[] = [];
  for (const group of GROUPS) rows.push(...(await group(sizes)));
  return rows;
}
