import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { registryOf } from '../../../../test/e2e/server/fixture/registry-of.js';
import { isNightly } from '../../../../test/nightly.js';
import type { Graph, Node } from '../../../graph/model.js';
import { planOf } from '../../../plan/compile.js';
import { ask } from '../../../runtime/engine/constructs.fixture.js';
import { call, chain, compute, done, graph, lit, step } from '../../../runtime/engine/graph.fixture.js';
import { SqliteOperator } from '../../../runtime/runs/operate/sqlite-operator.js';
import { ada, envelopeIn } from '../../../runtime/runs/store.fixture.js';
import type { Definitions } from '../../../runtime/server/definitions.js';
import { missingIn } from '../../../runtime/tools/capabilities.js';
import { runRef } from '../../../runtime/tools/port.js';
import type { Registry } from '../../../runtime/tools/registry.js';
import { gateOutcome, targetIn } from './migrate.js';
import { runs, ServedStore } from './store.fixture.js';

const store = new ServedStore();

const order = (...nodes: Node[]): Graph => graph(chain(...nodes), { name: 'order' });
const go = ask('go');
const a = call('a', { n: lit(1) });
const before = order(go, a, call('b'), done('out', step('b')));

/** The workflow after an edit; undefined where it is gone. */
const WORKFLOWS: Readonly<Record<string, Graph | undefined>> = {
  same: before,
  shorter: order(go, a, done('out', step('a'))),
  longer: order(go, a, call('b'), call('c'), done('out', step('b'))),
  other: order(go, call('c'), done('out', step('c'))),
  asks: order(ask('ready'), a, done('out', step('a'))),
  gone: undefined,
};

const SCHEMAS = {
  same: { type: 'object', properties: { n: { type: 'number' } } },
  open: { type: 'object' },
  closed: { type: 'object', properties: {}, additionalProperties: false },
  requires: { type: 'object', properties: { n: {}, m: {} }, required: ['n', 'm'] },
  text: { type: 'object', properties: { n: { type: 'string' } } },
};

/** A build as commands and servers see it. */
function built(of: Graph | undefined, tools: Registry['tools']): Definitions {
  const registry = { tools, resources: {} } as unknown as Registry;
  const workflows = new Map(
    of === undefined ? [] : [[of.name, { graph: of, hash: planOf(of).hash }] as const],
  );
  const toolset = { secretInputs: () => [], toolSafety: () => 'none' } as unknown as ReturnType<
    Definitions['toolset']
  >;
  return { registry, workflows, toolset: () => toolset };
}

const edit = fc.record({
  workflow: fc.constantFrom(...Object.keys(WORKFLOWS)),
  a: fc.constantFrom(undefined, ...Object.keys(SCHEMAS)),
  hasB: fc.boolean(),
});

test('the outcome is what happens when the new build takes the run', { timeout: 600_000 }, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(edit, async ({ workflow, a: schema, hasB }) => {
      const tools = {
        ...(schema === undefined
          ? {}
          : { 'tool-a': { inputSchema: SCHEMAS[schema as keyof typeof SCHEMAS] } }),
        ...(hasB ? { 'tool-b': { inputSchema: SCHEMAS.open } } : {}),
        'tool-c': { inputSchema: SCHEMAS.open },
      } as unknown as Registry['tools'];
      const build = built(WORKFLOWS[workflow], tools);
      store.missing = () => [];
      const id = await store.start(before);
      await store.close();

      const operator = new SqliteOperator(store.path);
      const { outcome, reasons } = await operator.read(async (reader) => {
        const [head] = reader.find(id);
        if (head === undefined) throw new Error('the run is not there');
        return gateOutcome({ store: operator, reader, definitions: [build] }, head);
      });
      seen.add(outcome);
      if (outcome === 'moves')
        await operator.read(async (reader) => {
          for await (const moved of operator.migrate(reader.find(id), targetIn([build], 'order'), true))
            expect(moved.outcome.kind).toBe('moved');
        });
      const missing = missingIn(build.registry);
      store.missing = missing;
      const status = async () => envelopeIn(await store.served().get(ada, id));
      const needs = (await status()).missing_capabilities;
      expect([outcome === 'stuck', reasons.length > 0]).toEqual([
        needs !== undefined,
        outcome === 'stuck' || outcome === 'moves',
      ]);
      if (outcome !== 'stuck') {
        const { definition } = await status();
        expect(definition.hash === planOf(before).hash).toBe(outcome !== 'moves');
        await store.answer(id, 'go#1', true);
        expect(await status()).toMatchObject({ status: 'completed' });
      } else {
        // Open runs of an owner are limited.
        await store.close();
        store.missing = () => [];
        await store.cancel(id);
      }
      await store.close();
    }),
    { numRuns: isNightly ? 500 : 40 },
  );
  expect([...seen].sort()).toEqual(['moves', 'old_definition', 'stuck', 'unchanged']);
});

test('the command says what becomes of each run, and only reads', async () => {
  const changed = order(ask('go'), compute('c', lit('new')), done('out', step('c')));
  const ids = [
    await store.start(order(ask('go'), compute('c', lit('old')), done('out', step('c')))),
    await store.start(order(ask('go'), call('x'), done('out', step('x')))),
    await store.start(changed),
    await store.start(graph(chain(ask('go'), call('x'), done('out', step('x'))), { name: 'removed' })),
  ];
  const files = [store.file('registry.mjs'), store.file('options.mjs')] as const;
  writeFileSync(files[0], `export const registry = ${JSON.stringify(registryOf({ tools: [] }))};`);
  writeFileSync(files[1], `export default ${JSON.stringify({ workflows: [{ graph: changed }] })};`);
  const on = (...args: readonly string[]) =>
    runs('gate', ...args, '--registry', files[0], '--options', files[1], '--store', `sqlite:${store.path}`);
  const { code, out, err } = await on();
  expect([code, err]).toEqual([1, '']);
  expect(out.trim().split('\n').sort()).toEqual(
    [
      `${runRef(ids[0] ?? '')}  continues on its old definition`,
      `${runRef(ids[1] ?? '')}  moves safely with \`stepwright runs migrate --apply\`; until then this build does not have tool 'tool-x'`,
      `${runRef(ids[2] ?? '')}  continues unchanged`,
      `${runRef(ids[3] ?? '')}  would be stuck: this build does not have tool 'tool-x'`,
    ].sort(),
  );
  expect(JSON.parse((await on('--json')).out).runs).toContainEqual({
    ...{ run: runRef(ids[2] ?? ''), outcome: 'unchanged', reasons: [] },
  });
});
