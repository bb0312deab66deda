import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import type { Graph } from '../../src/graph/model.js';
import { failing, runSpec, type SpecRun, specFile } from './spec-file.fixture.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const INPUT = { origin: 'NYC', destination: 'Paris', date: '2026-02-26', passenger: 'John' };
const TOOLS = {
  search_flights: [{ id: 'F1' }],
  check_availability: { seats_available: 3 },
  create_booking: { id: 'B1' },
  add_to_waitlist: { position: 4 },
};

function decorated(): Graph {
  const files = ['test/formats/decorated/book-flight.ts'];
  const host = new SourceHost({ root: ROOT, tsconfig: 'tsconfig.json', files });
  const { value } = extract(host.sourceFiles());
  const linked = link(value);
  // The first flight is asserted: there may be none.
  expect(linked.diagnostics.map(({ code }) => code)).toEqual(['SW2010', 'SW2010', 'SW2010']);
  const [graph] = linked.value.map((workflow) => workflow.graph);
  if (graph === undefined) throw new Error('there is no workflow');
  return graph;
}

/** What a run did to the outside, and how it ended: steps have other names, calls and their order are the same. */
function effectsOf({ status, result, failure, calls, facts }: SpecRun) {
  const outside = ['callIssued', 'callReturned', 'callFailed', 'retrying', 'finished'];
  return {
    status,
    result,
    failure: failure && { code: failure.code, message: failure.message },
    calls,
    facts: facts.map(({ kind }) => kind).filter((kind) => outside.includes(kind)),
  };
}

describe('a decorated class that says what book_flight says', () => {
  const graph = decorated();

  test.each([
    ['where there are seats', {}],
    ['on a full flight', { check_availability: { seats_available: 0 } }],
    ['where booking fails', { create_booking: failing('no connection') }],
    ['where searching fails', { search_flights: failing('no connection') }],
  ])('has equal facts and results %s', async (_, others) => {
    const [spec] = (await specFile('book-flight.yaml')).workflows;
    const tools = { ...TOOLS, ...others };
    const [written, typed] = [
      await runSpec(spec?.graph as Graph, INPUT, tools),
      await runSpec(graph, INPUT, tools),
    ];
    expect(effectsOf(typed)).toEqual(effectsOf(written));
  });
});
