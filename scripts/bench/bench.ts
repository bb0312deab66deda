import type { Row } from './row.js';
import { agents } from './rows/agents.js';
import { builder } from './rows/builder.js';
import { compiler } from './rows/compiler.js';
import { dev } from './rows/dev.js';
import { durable } from './rows/durable.js';
import { durablePeers } from './rows/durable-peers.js';
import { frameworks } from './rows/frameworks.js';
import { graphSize, runLength } from './rows/growth.js';
import { items } from './rows/items.js';
import { memory, rowBytes } from './rows/memory.js';
import { openRuns } from './rows/open-runs.js';
import { planning, references } from './rows/parts.js';
import { promptSlope, prompts } from './rows/prompts.js';
import { secrets } from './rows/secrets.js';
import { specs } from './rows/specs.js';
import { startup } from './rows/startup.js';
import { stateSize } from './rows/state-size.js';
import { steps } from './rows/steps.js';
import { studio } from './rows/studio.js';
import { tasks } from './rows/tasks.js';
import { templates } from './rows/templates.js';
import { temporalRows } from './rows/temporal.js';
import { tools } from './rows/tools.js';
import { openWaits } from './rows/waits.js';
import type { Sizes } from './sizes.js';

/** Groups that can be measured separately, by the names for `--only`. Each includes its peers. */
export const GROUPS: Readonly<Record<string, (sizes: Sizes) => Promise<Row[]>>> = {
  steps,
  items,
  frameworks,
  waits: openWaits,
  growth: graphSize,
  length: runLength,
  state: stateSize,
  memory,
  rows: rowBytes,
  plan: planning,
  references,
  secrets,
  builder,
  specs,
  slope: promptSlope,
  prompts,
  tools,
  durable: async (sizes) => [...(await durable(sizes)), ...(await durablePeers(sizes))],
  open: openRuns,
  tasks,
  agents: async (sizes) => [...(await agents(sizes)), ...(await templates(sizes))],
  temporal: temporalRows,
  startup,
  compiler,
  dev,
  studio,
};

/** Measures groups by their names. Default: all groups. */
export async function bench(sizes: Sizes, names: readonly string[] = Object.keys(GROUPS)): Promise<Row[]> {
  const rows: Row[] = [];
  for (const name of names) rows.push(...((await GROUPS[name]?.(sizes)) ?? []));
  return rows;
}
