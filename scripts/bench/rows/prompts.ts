import { deepStrictEqual } from 'node:assert';
import type { GetPromptResult } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { connect, fetchHandler } from 'stepwright/runtime';
import { inTurns, timed } from '../measure.js';
import { answerByHand, type Script, scriptOf, serverByHand, statelessByHand } from '../peers/by-hand.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import {
  type Channel,
  type Era,
  inMemory,
  overHttp,
  overStatelessHttp,
  overStdio,
} from '../wire/channels.js';
import { greetingRequest, greetingServer } from '../wire/greetings.js';

/** A prompt runs more code than all other measurements, so it takes longer until all of it is optimized. */
const warm = ({ warmUpMs, ...sizes }: Sizes): Sizes => ({ ...sizes, warmUpMs: warmUpMs * 3 });

/** The cost of `prompts/get` over each transport, compared with the same messages by hand on the SDK's server. */
export async function prompts(sizes: Sizes): Promise<Row[]> {
  const [steps] = sizes.prompt;
  const { ask, script } = await scripted(steps);
  const rows: Row[] = [];
  for (const [name, atMost, open] of [
    ['in memory', 4, openInMemory],
    ['over stdio', 1.5, openOverStdio()],
    ['over HTTP', 1.15, openOverHttp],
    ['over stdio, 2026-07-28', 1.5, openOverStdio('stateless')],
    ['over HTTP, 2026-07-28', 1.15, openOverStatelessHttp],
  ] as const) {
    const { ours, byHand } = await open(steps, script);
    deepStrictEqual(await ours.client.getPrompt(ask), await byHand.client.getPrompt(ask));
    const costs = await inTurns(
      {
        ours: timed(1, sizes.goMs, () => ours.client.getPrompt(ask), ours.cpu),
        byHand: timed(1, sizes.goMs, () => byHand.client.getPrompt(ask), byHand.cpu),
      },
      warm(sizes),
    );
    await Promise.all([ours.close(), byHand.close()]);
    rows.push(
      row({
        name: `prompts/get of ${steps} steps, ${name}`,
        unit: 'µs',
        ours: costs.ours,
        peer: { name: 'by hand', value: costs.byHand },
        target: { of: 'ratio', atMost },
      }),
    );
  }
  return rows;
}

/** The cost of a further step of a prompt, without a protocol. */
export async function promptSlope(sizes: Sizes): Promise<Row[]> {
  const [shorter, longer] = sizes.prompt;
  const [short, long] = [await scripted(shorter), await scripted(longer)];
  const costs = await inTurns(
    {
      short: timed(1, sizes.goMs, short.direct),
      long: timed(1, sizes.goMs, long.direct),
      shortByHand: timed(1, sizes.goMs, () => answerByHand(short.script, short.ask.arguments)),
      longByHand: timed(1, sizes.goMs, () => answerByHand(long.script, long.ask.arguments)),
    },
    warm(sizes),
  );
  const slope = (one: number, other: number): number => (one - other) / (longer - shorter);
  return [
    row({
      name: `trace and host: a further step of a prompt, from ${shorter} to ${longer}`,
      unit: 'µs',
      ours: slope(costs.long, costs.short),
      peer: { name: 'by hand', value: slope(costs.longByHand, costs.shortByHand) },
      target: { of: 'ours', atMost: 15 },
    }),
  ];
}

/** A prompt with a number of steps, and the script of its answer by hand. */
async function scripted(steps: number) {
  const server = greetingServer([steps]);
  const ask = greetingRequest(steps);
  const direct = () =>
    server.getPrompt(ask.name, ask.arguments, {
      signal: new AbortController().signal,
      requestId: '1',
      progress() {},
      local: true,
    });
  const answer = JSON.parse(JSON.stringify(await direct())) as GetPromptResult;
  return { ask, direct, script: scriptOf(steps, answer, ask.arguments.name) };
}

type Open = (steps: number, script: Script) => Promise<{ readonly ours: Channel; readonly byHand: Channel }>;

const openInMemory: Open = async (steps, script) => ({
  ours: await inMemory((transport) => connect(greetingServer([steps]), transport)),
  byHand: await inMemory((transport) => serverByHand(script).connect(transport)),
});

const openOverHttp: Open = async (steps, script) => ({
  ours: await overHttp((transport) => connect(greetingServer([steps]), transport)),
  byHand: await overHttp((transport) => serverByHand(script).connect(transport)),
});

const openOverStatelessHttp: Open = async (steps, script) => ({
  ours: await overStatelessHttp(fetchHandler(greetingServer([steps]))),
  byHand: await overStatelessHttp(createMcpHandler(() => statelessByHand(script)).fetch),
});

const openOverStdio =
  (era: Era = 'sessions'): Open =>
  async (steps, script) => {
    const [ours, byHand] = await Promise.all([
      overStdio('stdio-server.ts', [String(steps)], era),
      overStdio('stdio-by-hand.ts', [JSON.stringify(script), era], era),
    ]);
    return { ours, byHand };
  };
