import { proxyActivities } from '@temporalio/workflow';

// What someone writes by hand with the SDK of Temporal for `line` and `fan`; see `graphs.ts`.

interface Counter {
  readonly n: number;
}

const { increment } = proxyActivities<{ increment(input: Counter): Promise<Counter> }>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
  retry: { maximumAttempts: 1 },
});

export async function line(count: number): Promise<number> {
  let n = 0;
  for (let place = 0; place < count; place += 1) ({ n } = await increment({ n }));
  return n;
}

export async function fan(count: number): Promise<number> {
  const first = await increment({ n: 0 });
  await Promise.all(Array.from({ length: count - 2 }, () => increment(first)));
  return (await increment(first)).n;
}
