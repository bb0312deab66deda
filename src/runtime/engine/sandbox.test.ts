import { fileURLToPath } from 'node:url';
import { type Context, createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, chain, done, graph, input, read, step, text } from './graph.fixture.js';
import * as engine from './sandbox-entry.fixture.js';

/** The engine and all it imports as one script, as a workflow sandbox would bundle it. */
async function bundle(): Promise<string> {
  const entry = fileURLToPath(new URL('./sandbox-entry.fixture.ts', import.meta.url));
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry, name: 'engine', formats: ['iife'] },
    },
  });
  const [result] = Array.isArray(output) ? output : [output];
  if (result === undefined || !('output' in result)) throw new Error('nothing was built');
  return result.output[0].code;
}

/** The language and nothing else: no host object, no clock, no random number. */
function bareContext(): Context {
  const context = createContext({});
  const strip =
    'delete globalThis.console; delete globalThis.WebAssembly; delete globalThis.Date; delete Math.random;';
  runInContext(strip, context);
  return context;
}

describe('in a context with nothing but the language', () => {
  let script = '';
  beforeAll(async () => {
    script = await bundle();
  });

  /** Data cross the border as JSON: the context shares no object with this test. */
  function inSandbox<T>(expression: string, values: object): T {
    const context = bareContext();
    runInContext(`'use strict';${script};globalThis.engine = engine;`, context);
    const given = JSON.stringify(JSON.stringify(values));
    return JSON.parse(
      runInContext(`JSON.stringify((${expression})(engine, JSON.parse(${given})))`, context),
    ) as T;
  }

  test('there is no host global to lean on', () => {
    const names = [
      'process',
      'Buffer',
      'console',
      'setTimeout',
      'TextEncoder',
      'structuredClone',
      'crypto',
      'performance',
      'Date',
      'Math.random',
    ];
    const context = bareContext();
    for (const name of names)
      expect([name, runInContext(`typeof ${name}`, context)]).toEqual([name, 'undefined']);
  });

  test('a run goes from its start to its end, with the bytes it has outside', () => {
    const sample = graph(
      chain(
        call('list', { who: input('who') }, { guidance: text('List for ', input('who')) }),
        read('guide', text('res://', step('list', 'page'))),
        done('out', step('guide', 'text')),
      ),
    );
    const events = [
      { kind: 'toolReturned', at: 5, command: 'list#1', value: { page: 'é✓𝄞' } },
      { kind: 'resourceRead', at: 9, command: 'guide#1', value: { uri: 'res://x', text: 'hello' } },
    ];
    const drive = (
      { planOf, start, advance, outstanding, snapshot }: typeof engine,
      { graph: of, events: list }: { graph: never; events: never[] },
    ) => {
      let current = start(planOf(of), { who: 'é' }, { runId: 'r', at: 1 });
      const steps = [{ ...current, state: snapshot(current.state), owed: outstanding(current.state) }];
      for (const event of list) {
        current = advance(planOf(of), current.state, [event]);
        steps.push({ ...current, state: snapshot(current.state), owed: outstanding(current.state) });
      }
      return steps;
    };
    const values = { graph: sample, events };
    const steps = inSandbox<ReturnType<typeof drive>>(drive.toString(), values);
    expect(steps).toEqual(JSON.parse(JSON.stringify(drive(engine, values as never))));
    expect(steps.at(-1)?.facts.at(-1)).toEqual({ kind: 'finished', status: 'succeeded', result: 'hello' });
  });
});
