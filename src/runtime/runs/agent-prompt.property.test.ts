import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Expr } from '../../graph/expression/tree.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Graph } from '../../graph/model.js';
import {
  body,
  branch,
  field,
  foreach,
  item,
  parallel,
  required,
  set,
  shell,
} from '../engine/constructs.fixture.js';
import { chain, graph, input, lit, text } from '../engine/graph.fixture.js';
import { Agent, loopIn } from './children.fixture.js';
import { ada, Store } from './store.fixture.js';

/** Texts that occur in a prompt only if the value that they mark does. */
const marked = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}-${'x'.repeat(8)}`);

interface Sample {
  readonly inputs: number;
  readonly fields: number;
  readonly items: number;
  readonly concurrency: number;
  readonly around: readonly ('parallel' | 'branch' | 'loop')[];
  readonly hasRest: boolean;
}

const samples: fc.Arbitrary<Sample> = fc.record({
  inputs: fc.integer({ min: 1, max: 3 }),
  fields: fc.integer({ min: 1, max: 3 }),
  items: fc.integer({ min: 1, max: 4 }),
  concurrency: fc.integer({ min: 1, max: 4 }),
  around: fc.array(fc.constantFrom('parallel', 'branch', 'loop'), { maxLength: 3 }),
  hasRest: fc.boolean(),
});

/** A workflow with a loop for agents somewhere. Its steps read all values that they may. */
function workflowOf({ inputs, fields, items, concurrency, around, hasRest }: Sample): Graph {
  const all: readonly Expr[] = [
    ...Array.from({ length: inputs }, (_, index) => input(`input${index}`)),
    ...Array.from({ length: fields }, (_, index) => field(`field${index}`)),
  ];
  const values = marked('item', items);
  const each = foreach(
    'each',
    lit(hasRest ? values.map((id) => ({ id })) : values),
    body([shell('work', text('do ', hasRest ? item('file', 'id') : item('file'), ...all))]),
    { as: 'file', agent: '@task', concurrency },
  );
  const inner = around.reduce<Node>((node, kind, level) => {
    if (kind === 'parallel') return parallel(`p${level}`, { only: body([node]) });
    if (kind === 'branch') return branch(`b${level}`, [[lit(true), body([node])]]);
    return foreach(`l${level}`, lit(['outer-0-xxxxxxxx']), body([node]), {
      as: `outer${level}`,
      indexAs: `at${level}`,
    });
  }, each);
  const writes = Array.from({ length: fields }, (_, index) =>
    set(`write${index}`, { [`field${index}`]: lit(marked('state', fields)[index]) }),
  );
  return graph(chain(...writes, inner), {
    inputs: Array.from({ length: inputs }, (_, index) => required(`input${index}`)),
    state: Array.from({ length: fields }, (_, index) => ({
      name: `field${index}`,
      scope: 'run' as const,
      schema: {},
    })),
  });
}

test('the prompt of a sub-agent has its id, its task and its item, and no other value of the run', async () => {
  await fc.assert(
    fc.asyncProperty(samples, async (sample) => {
      const store = new Store();
      const inputs = Object.fromEntries(
        marked('input', sample.inputs).map((value, index) => [`input${index}`, value]),
      );
      const envelope = await store.start(workflowOf(sample), inputs);
      const loop = loopIn(envelope);
      expect(loop.children).toHaveLength(Math.min(sample.items, sample.concurrency));
      for (const [index, { prompt, workflow_id }] of loop.children.entries()) {
        expect(prompt).toContain(`- Workflow ID: ${workflow_id}\n- Task: "each"\n`);
        expect(prompt.match(/\w+-\d-x{8}/g)).toEqual([`item-${index}-xxxxxxxx`]);
        expect(prompt).not.toContain(envelope.workflow_id);
        expect(prompt).not.toContain('Temporal');
      }
      const [first] = loop.children;
      const next = await new Agent(store, ada, first?.workflow_id).next();
      // The values are there: the server fills them in.
      expect(JSON.stringify(next)).toContain('state-0-xxxxxxxx');
    }),
  );
});
