import { registeredIn } from 'stepwright/builder';
import { registry } from '../../../examples/greeting/generated/greeting.registry.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { greetings } from '../wire/greetings.js';

/** The cost to build a step with the builder, in a short and in a long workflow. */
export async function builder(sizes: Sizes): Promise<Row[]> {
  const [shorter, longer] = sizes.built;
  const registered = registeredIn(registry);
  const [short, long] = [greetings(shorter), greetings(longer)];
  const costs = await inTurns(
    {
      short: timed(shorter, sizes.goMs, () => short.build(registered)),
      long: timed(longer, sizes.goMs, () => long.build(registered)),
    },
    sizes,
  );
  const target = { of: 'ours', atMost: 60 } as const;
  const peer = { name: `in one of ${shorter}`, value: costs.short };
  return [
    row({ name: `builder: build() of ${shorter} steps, for each`, unit: 'µs', ours: costs.short, target }),
    row({
      name: `builder: build() of ${longer} steps, for each`,
      unit: 'µs',
      ours: costs.long,
      target,
      peer,
    }),
  ];
}
