import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWorkflows } from '../../src/formats/index.js';
import { draftSpec } from '../../src/infer/draft-spec.js';
import { toolOf } from '../../src/infer/flights.fixture.js';
import { inferOrder } from '../../src/infer/infer.js';
import type { ToolDescription } from '../../src/infer/tool.js';
import { cases } from '../golden/infer/cases.js';
import { isNightly } from '../nightly.js';

/** The names of the workflows of a draft, which has to load without an error, and the draft. */
async function load(tools: readonly ToolDescription[]) {
  const inference = inferOrder(tools);
  const draft = draftSpec(tools, inference);
  const { workflows, diagnostics } = await parseWorkflows(draft, { file: 'draft.yaml', format: 'yaml' });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  // A list without an order gives a draft without a workflow, which says so.
  if (inference.sequences.length === 0) expect(draft).toContain('no order was inferred');
  else expect(errors.map(({ code, message }) => `${code} ${message}\n${draft}`)).toEqual([]);
  return { draft, inference, names: workflows.map(({ graph }) => graph.name) };
}

describe('a draft of a spec file', () => {
  test.each(Object.entries(cases))('of %s loads', async (_, tools) => {
    const { inference, names, draft } = await load(tools);
    expect(names.length > 0).toBe(inference.sequences.length > 0);
    if (names.length > 0) expect(draft).toContain('# TODO: a name');
  });

  const word = fc.oneof(
    fc.constantFrom(
      'search',
      'book',
      'flight',
      'seat',
      'id',
      'status',
      'params',
      'error',
      '9',
      'größe',
      '!',
      'on',
      'null',
    ),
    fc.string({ minLength: 1, maxLength: 4 }),
  );
  const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('_'));
  // No tool of MCP has a `$`, which begins a reference.
  const toolName = name.map((text) => text.replaceAll('$', ''));
  const fields = fc.array(name, { maxLength: 3 });
  const tool = fc.record({
    name: toolName,
    takes: fields,
    returns: fields,
    next: fc.array(fc.nat(5), { maxLength: 3 }),
  });

  test('of any list of tools loads', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(tool, { minLength: 1, maxLength: 6 }), async (given) => {
        const names = given.map((each) => each.name);
        await load(
          given.map(({ name, takes, returns, next }) =>
            toolOf(name, takes, {
              returns,
              hints: { next: next.flatMap((index) => names[index] ?? []) },
            }),
          ),
        );
      }),
      {
        numRuns: isNightly ? 300 : 40,
        examples: [
          // A result that no reference can name.
          [
            [
              { name: ' ', takes: ['book'], returns: [], next: [] },
              { name: '!', takes: [], returns: ['$_book'], next: [] },
            ],
          ],
          // A parameter without a word in its name, of two tools in order.
          [
            [
              { name: 'find', takes: ['_'], returns: [], next: [1] },
              { name: 'search', takes: [], returns: [], next: [] },
            ],
          ],
        ],
      },
    );
  });
});
