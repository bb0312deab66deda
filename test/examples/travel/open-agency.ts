import type { ToolContext } from 'stepwright';
import { toolContext } from 'stepwright/testing';
import { expect, onTestFinished } from 'vitest';
import { type AgencyOptions, TravelAgency } from '../../../examples/travel/agency.js';
import { Failures, type Switch, type ToolName } from '../../../examples/travel/failures.js';
import { travelTools } from '../../../examples/travel/tools.js';
import { readMetadata } from '../../../src/decorators/metadata.js';

/** Where every clock of these tests starts. */
export const NOW = Date.parse('2026-02-01T12:00:00Z');

export const HOUR = 3_600_000;

type Tools = ReturnType<typeof travelTools>;
type Execute<N extends ToolName> = ReturnType<Tools[N]>['execute'];

/** How a call is made; all of it may be left out. */
export interface CallSettings {
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** Calls tools as a server does: what goes in and what comes out has to fit their schemas. */
export type CallTool = <N extends ToolName>(
  name: N,
  input: Parameters<Execute<N>>[0],
  settings?: CallSettings,
) => ReturnType<Execute<N>>;

/** An agency for one test, in memory unless a file is named, with a clock that only the test moves. */
export async function openAgency(
  options: Pick<AgencyOptions, 'file'> & { readonly failures?: readonly Switch[] } = {},
): Promise<{ readonly call: CallTool; readonly passHours: (hours: number) => void }> {
  let now = NOW;
  const agency = await TravelAgency.open({
    ...options,
    clock: () => now,
    failures: new Failures(options.failures),
  });
  onTestFinished(() => agency.close());
  const tools = travelTools(agency);
  return {
    call: (name, input, settings = {}) => checkedCall(tools[name](), input, settings),
    passHours: (hours) => {
      now += hours * HOUR;
    },
  };
}

/** `R` is the promise that the tool's `execute` gives: the caller knows it, by the tool's name. */
function checkedCall<R>(tool: object, input: unknown, { key, signal }: CallSettings): R {
  const metadata = readMetadata(tool.constructor as new () => object);
  if (metadata?.kind !== 'tool') throw new Error(`${tool.constructor.name} is no tool`);
  const { input: takes, output: gives } = metadata.options;
  const context = toolContext({
    ...(signal === undefined ? {} : { signal }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  });
  const { execute } = tool as { execute: (input: unknown, context: ToolContext) => Promise<unknown> };
  return (async () => {
    expect(await takes?.['~standard'].validate(input)).toEqual({ value: input });
    const result = await execute.call(tool, input, context);
    expect(await gives?.['~standard'].validate(result)).toEqual({ value: result });
    return result;
  })() as R;
}

/** What a refused call rejects with. */
export const refusal = (code: string): object => expect.objectContaining({ name: 'Refusal', code });
