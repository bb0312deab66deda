import { beforeAll, describe, expect, test } from 'vitest';
import { bench, GROUPS } from '../../scripts/bench/bench.js';
import { compare, comparisonText } from '../../scripts/bench/compare.js';
import {
  fan,
  line,
  lineBehindOutput,
  lineBesideAsks,
  lineBesideField,
  loop,
  question,
} from '../../scripts/bench/graphs.js';
import { HostedRun, runHosted, runStored } from '../../scripts/bench/host.js';
import {
  DURABLE_FRAMEWORKS,
  durableFrameworks,
  FRAMEWORKS,
  installedFrameworks,
  missingFrameworks,
} from '../../scripts/bench/peers/frameworks.js';
import * as functions from '../../scripts/bench/peers/functions.js';
import { lineMachine, loopMachine, runMachine } from '../../scripts/bench/peers/machines.js';
import { markdown, type Row, row, table } from '../../scripts/bench/row.js';
import { agents } from '../../scripts/bench/rows/agents.js';
import { durable } from '../../scripts/bench/rows/durable.js';
import { durablePeers } from '../../scripts/bench/rows/durable-peers.js';
import { tasks } from '../../scripts/bench/rows/tasks.js';
import { TINY } from '../../scripts/bench/sizes.js';
import { nightlyDescribe } from '../nightly.js';

describe('a measured workload', () => {
  const items = [5, 3, 9, 1];

  test('has the same result in every contestant: a line of calls', async () => {
    expect(new HostedRun(line(7)).answer().result).toBe(7);
    expect(await functions.line(7)).toBe(7);
    expect(await runMachine(lineMachine(7))).toBe(7);
  });

  test.each([1, 3, 10])(
    'has the same result in every contestant: a fan-out, %i at once',
    async (concurrency) => {
      expect(new HostedRun(loop(concurrency), { items }).answer().result).toEqual([6, 4, 10, 2]);
      expect(await functions.loop(items, concurrency)).toEqual([6, 4, 10, 2]);
      expect(await runMachine(loopMachine(concurrency), items)).toEqual([6, 4, 10, 2]);
    },
  );

  test('is a whole run', async () => {
    expect(new HostedRun(fan(12)).answer().result).toBe(2);
    expect(new HostedRun(lineBesideField('x', 3)).answer().result).toBe(3);
    expect(new HostedRun(lineBehindOutput({ n: 1 }, 3)).answer().result).toBe(3);
    expect(new HostedRun(line(9)).answer(4).answer(5).result).toBe(9);
    expect(() => new HostedRun(line(9)).answer(4).result).toThrow('running');
    expect(new HostedRun(question()).answer().state.find('sure').status).toBe('waiting');
    expect(await runHosted(line(9))).toBe(9);
    expect(await runStored(lineBesideAsks(2, 3))).toMatchObject({
      ok: true,
      envelope: { status: 'waiting', actions: [{}, {}] },
    });
  });
});

nightlyDescribe('the rows', () => {
  let rows: readonly Row[] = [];

  beforeAll(async () => {
    // Other engines are installed on request, and have separate tests.
    const apart = ['frameworks', 'durable', 'agents', 'tasks', 'temporal'];
    const names = Object.keys(GROUPS).filter((name) => !apart.includes(name));
    rows = [
      ...(await bench(TINY, names)),
      ...(await durable(TINY)),
      ...(await agents(TINY)),
      ...(await tasks(TINY)),
    ];
  }, 240_000);

  test('are complete', () => {
    expect(rows.map(({ name, peer }) => (peer === undefined ? name : `${name} / ${peer.name}`))).toEqual([
      'engine: step, in a line of 2 / XState',
      'host: step, in a line of 2 / XState',
      'host: step, in a line of 2 / async functions',
      'engine: step, in a line of 3 / XState',
      'host: step, in a line of 3 / XState',
      'host: step, in a line of 3 / async functions',
      'engine: item, 4 of them, 2 at once / XState',
      'host: item, 4 of them, 2 at once / XState',
      'host: item, 4 of them, 2 at once / async functions',
      'engine: item, 5 of them, 3 at once / XState',
      'host: item, 5 of them, 3 at once / XState',
      'host: item, 5 of them, 3 at once / async functions',
      'host: call beside 3 open questions / beside none',
      'host: call beside 3 open times / beside none',
      'engine: node, planned and run, in a line of 8 / in one of 4',
      'engine: node, planned and run, in a fan of 8 / in one of 4',
      'engine: step 5 of a run / step 2',
      'engine: step beside a field of 1 kB / of a few bytes',
      'engine: step that reads a result of 1 kB / of a few bytes',
      'engine: memory of a run that waits, 10 of them / XState',
      'host: memory of a run that waits, 10 of them / XState',
      'journal: what a step writes down',
      'journal: what a step writes down',
      'plan, for each node, without its hash / XState',
      'hash, for each node / the plan',
      'reference in an expression / JavaScript',
      'secret item, 4 of them / one of 2',
      'builder: build() of 2 steps, for each',
      'builder: build() of 3 steps, for each / in one of 2',
      'spec file of 3 nodes, read / yaml',
      'spec file of 3 nodes, to a graph / yaml',
      'spec file of 3 nodes, to a checked graph / yaml',
      'spec file of 3 nodes, its check',
      'spec file, 3 keys that are repeated / yaml',
      'spec file refused: 100 aliases',
      'spec file refused: a billion laughs',
      'spec file refused: a bomb of entities',
      'spec file refused: 100 brackets of YAML',
      'spec file refused: 100 levels of YAML',
      'spec file refused: 100 brackets of JSON',
      'spec file refused: 100 levels of XML',
      'spec file refused: 500 kB',
      '2 spec files of 2 nodes, in a new process / yaml',
      'one of 3 served spec files changes',
      'one of 3 served spec files changes, longest stall',
      'trace and host: a further step of a prompt, from 2 to 3 / by hand',
      'prompts/get of 2 steps, in memory / by hand',
      'prompts/get of 2 steps, over stdio / by hand',
      'prompts/get of 2 steps, over HTTP / by hand',
      'prompts/get of 2 steps, over stdio, 2026-07-28 / by hand',
      'prompts/get of 2 steps, over HTTP, 2026-07-28 / by hand',
      'tools/call, in memory / by hand',
      'HTTP: start beside 5 open runs / beside none',
      'HTTP: answer beside 5 open runs / beside none',
      'start of a server with 2 tools, to its first list / by hand',
      'start of a server with 2 tools, to its first list, 2026-07-28 / by hand',
      'memory of a server with 2 tools that has started / by hand',
      'memory of a server with 2 tools and a store in a file',
      'tools/list of 3 tools, over stdio / by hand',
      'codegen of 2 workflows, cold / tsc 6.0',
      'codegen of 2 workflows, cold: memory',
      'codegen of 2 workflows, one edited',
      'codegen of 2 workflows, unchanged',
      'codegen --check of 2 workflows, unchanged',
      'a rebuild of 2 workflows, one workflow edited, p95',
      'a rebuild of 2 workflows, one tool edited, p95',
      'tsc 6.0 of 2 workflows, with the registry / without',
      'codegen of 2 workflows with zod, cold / tsc 6.0',
      'codegen of 2 workflows with zod, cold: memory',
      'codegen of 2 workflows with zod, one edited',
      'codegen of 2 workflows with zod, unchanged',
      'codegen --check of 2 workflows with zod, unchanged',
      'tsc 6.0 of 2 workflows with zod, with the registry / without',
      'dev of 2 workflows, from save to served, p50',
      'dev of 2 workflows, from save to served, p95',
      'studio: first paint of the list of runs, by the clock / a page of one line',
      'studio: first paint of a run of 60 steps, by the clock / a page of one line',
      'studio: 2 runs listed, by the clock',
      'studio: from the result of a tool to the screen, by the clock',
      'studio: weight of the heaviest page with its files',
      'store: step of a run, FULL, by the clock / SQLite',
      'store: step of a run, FULL / SQLite',
      'store: step of a run, NORMAL, by the clock / SQLite',
      'store: step of a run, NORMAL / SQLite',
      'store: step of 2 runs at once, FULL, by the clock / SQLite',
      'store: step of 2 runs at once, FULL, by the clock / one run after another',
      'store: item, 4 of them at once, FULL / SQLite',
      'store: resume of a run after 3 events',
      'store: step of a run beside 10 that wait / beside none',
      'store: start beside 10 that wait / beside none',
      'store: step 5 of a run / step 2',
      'store: what a step takes on disk',
      'store: result of a command, in memory / a question',
      'store: result of a command, NORMAL / SQLite',
      'get_next_step beside 10 open runs / beside one',
      'memory of a run with an open action',
      'memory of a definition of 20 steps',
      'tasks: prompt of 2 steps, in memory / without a task',
      'tasks: call that continues a task of 20 steps, in memory / plain calls',
      'tasks: result of a step, NORMAL / SQLite',
      'tasks: tasks/get beside 10 open tasks / beside one',
    ]);
  });

  test('have figures', () => {
    for (const { name, ours, peer } of rows) {
      expect(ours, name).toSatisfy(Number.isFinite);
      if (peer !== undefined) expect(peer.value, `${name}, ${peer.name}`).toSatisfy(Number.isFinite);
    }
  });

  test('have one line each', () => {
    expect(table(rows).split('\n')).toHaveLength(rows.length + 1);
  });
});

describe('a target', () => {
  const figures = { name: 'step', unit: 'µs', ours: 12, peer: { name: 'XState', value: 48 } } as const;

  test('may be for the figure itself', () => {
    expect(row({ ...figures, target: { of: 'ours', atMost: 12 } })).toMatchObject({ ratio: 0.25, ok: true });
    expect(row({ ...figures, target: { of: 'ours', atMost: 10 } }).ok).toBe(false);
  });

  test('may be for the ratio', () => {
    expect(row({ ...figures, target: { of: 'ratio', atMost: 0.25 } }).ok).toBe(true);
    expect(row({ ...figures, target: { of: 'ratio', atMost: 0.2 } }).ok).toBe(false);
  });

  test('that is missed is marked', () => {
    const missed = row({ ...figures, target: { of: 'ours', atMost: 10 } });
    const [, first, second] = table([missed, row(figures)]).split('\n');
    expect(first).toBe('step  12.0 µs  48.0 µs  XState  0.250×  ≤ 10 µs  MISSED');
    expect(second).toBe('step  12.0 µs  48.0 µs  XState  0.250×');
  });

  test('may be the only comparison', () => {
    const { peer: _, ...alone } = figures;
    expect(row({ ...alone, target: { of: 'ours', atMost: 12 } }).ok).toBe(true);
    expect(row({ ...alone, target: { of: 'ratio', atMost: 12 } }).ok).toBe(false);
  });

  test('that is missed is bold in the document', () => {
    const [, , first, second] = markdown([
      row({ ...figures, target: { of: 'ratio', atMost: 0.1 } }),
      row({ name: 'rows', unit: 'B', ours: 400, target: { of: 'ours', atMost: 400 } }),
    ]).split('\n');
    expect(first).toBe('| step | 12.0 µs | 48.0 µs XState | 0.250× | ≤ 0.1×, **missed** |');
    expect(second).toBe('| rows | 400 B |  |  | ≤ 400 B, met |');
  });
});

describe('a comparison with committed results', () => {
  const step = (value: number, peer = 'XState') =>
    row({ name: 'step', unit: 'µs', ours: value, peer: { name: peer, value: 10 } });
  const bytes = (ours: number) => row({ name: 'rows', unit: 'B', ours });

  test('compares ratios, and figures of rows without a peer', () => {
    const { changes } = compare([step(5), bytes(400)], [step(6), bytes(600)]);
    expect(changes).toEqual([
      { name: 'step / XState', before: 0.5, after: 0.6, isWorse: false },
      { name: 'rows (B)', before: 400, after: 600, isWorse: true },
    ]);
  });

  test('compares rows with the same peer', () => {
    expect(compare([step(5, 'Mastra')], [step(6)])).toEqual({ changes: [], unmatched: ['step / XState'] });
  });

  test('lists rows that became worse first', () => {
    const text = comparisonText(compare([step(5), bytes(400)], [step(6), bytes(600), step(1, 'loop')]));
    expect(text.split('\n')).toEqual([
      'WORSE 1.50×  400 → 600  rows (B)',
      '      1.20×  0.500 → 0.600  step / XState',
      'NEW    step / loop',
    ]);
  });
});

describe('other engines', () => {
  test('are measured, or listed as missing', async () => {
    const { length } = await installedFrameworks();
    expect(length + missingFrameworks().length).toBe(Object.keys(FRAMEWORKS).length);
    const { found, missing } = await durableFrameworks();
    expect(found.length + missing.length).toBe(Object.keys(DURABLE_FRAMEWORKS).length);
  });

  test('have the same result as stepwright, if they are installed', async () => {
    for (const { line, loop } of await installedFrameworks()) {
      expect(await line(7)()).toBe(7);
      expect(await loop(3)([5, 3, 9, 1])).toEqual([6, 4, 10, 2]);
    }
  });

  test('that keep runs are compared with a run in a file, if they can be measured', async () => {
    const { found } = await durableFrameworks();
    const rows = await durablePeers(TINY);
    const step = 'store: step in a line of 3, FULL';
    expect(rows.map(({ name, peer }) => [name, peer?.name])).toEqual(
      found.flatMap(({ name, server }) => [
        [`${step}, by the clock`, name],
        [step, server === undefined ? name : `${name}, without ${server}`],
      ]),
    );
    for (const { ratio } of rows) expect(ratio).toSatisfy(Number.isFinite);
  });
});
