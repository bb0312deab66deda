import { connect } from 'stepwright/runtime';
import { inTurns, timed } from '../measure.js';
import { serverByHand } from '../peers/by-hand.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { inMemory } from '../wire/channels.js';
import { greetingServer } from '../wire/greetings.js';

const request = { name: 'greet', arguments: { name: 'Ada' } };

/** The cost of `tools/call` through the server, compared with a handler without checks on the SDK's server. */
export async function tools(sizes: Sizes): Promise<Row[]> {
  const ours = await inMemory((transport) => connect(greetingServer([]), transport));
  const byHand = await inMemory((transport) => serverByHand().connect(transport));
  const costs = await inTurns(
    {
      ours: timed(1, sizes.goMs, () => ours.client.callTool(request)),
      byHand: timed(1, sizes.goMs, () => byHand.client.callTool(request)),
    },
    sizes,
  );
  await Promise.all([ours.close(), byHand.close()]);
  const peer = { name: 'by hand', value: costs.byHand };
  return [row({ name: 'tools/call, in memory', unit: 'µs', ours: costs.ours, peer })];
}
