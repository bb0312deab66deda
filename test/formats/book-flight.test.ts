import { describe, expect, test } from 'vitest';
import { canonicalGraph } from '../../src/graph/canonical.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import { failing, runSpec, said, specFile, toolsOf } from './spec-file.fixture.js';

const INPUT = { origin: 'NYC', destination: 'Paris', date: '2026-02-26', passenger: 'John' };

const TOOLS = {
  search_flights: [{ id: 'F1' }, { id: 'F2' }],
  check_availability: { seats_available: 3 },
  create_booking: { id: 'B1' },
  add_to_waitlist: { position: 4 },
};

async function graphOf(file: string) {
  const { workflows, diagnostics } = await specFile(file);
  const graph = workflows[0]?.graph;
  if (graph === undefined) throw new Error(said(diagnostics).join('\n'));
  return graph;
}

describe('book_flight of the specification', () => {
  test('is the same graph in YAML and XML, byte by byte', async () => {
    const [yaml, xml] = [await graphOf('book-flight.yaml'), await graphOf('book-flight.xml')];
    expect(canonicalGraph(xml)).toBe(canonicalGraph(yaml));
    expect(parseGraph(JSON.parse(JSON.stringify(yaml)))).toMatchObject({ ok: true });
  });

  test('has warnings for its retry and for what no registry is asked about', async () => {
    const { diagnostics, domains } = await specFile('book-flight.yaml');
    expect(said(diagnostics).map((line) => line.replace(/ \(.*/, ''))).toEqual([
      'book-flight.yaml:14:7 SW5034 it is not known whether there is a tool `search_flights`',
      'book-flight.yaml:22:7 SW5034 it is not known whether there is a tool `check_availability`',
      'book-flight.yaml:38:7 SW4014 step `reserve` is tried again on failure, and tool `create_booking` may repeat its effect',
      'book-flight.yaml:38:7 SW5034 it is not known whether there is a tool `create_booking`',
      'book-flight.yaml:49:7 SW5034 it is not known whether there is a tool `add_to_waitlist`',
    ]);
    expect(domains).toEqual([{ name: 'travel_booking', rules: [] }]);
  });

  test.each(['book-flight.yaml', 'book-flight.xml'])('%s books where there are seats', async (file) => {
    const run = await runSpec(await graphOf(file), INPUT, TOOLS);
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'B1' } });
    expect(run.calls).toEqual([
      { tool: 'search_flights', input: { origin: 'NYC', destination: 'Paris', date: '2026-02-26' } },
      { tool: 'check_availability', input: { flight_id: 'F1' } },
      { tool: 'create_booking', input: { flight_id: 'F1', passenger: 'John' } },
    ]);
  });

  test('puts the passenger on the waiting list where there are none', async () => {
    const full = { ...TOOLS, check_availability: { seats_available: 0 } };
    const run = await runSpec(await graphOf('book-flight.yaml'), INPUT, full);
    expect(run).toMatchObject({ status: 'succeeded', result: { position: 4 } });
    expect(toolsOf(run)).toEqual(['search_flights', 'check_availability', 'add_to_waitlist']);
  });

  test('fails with the message of its error node after three attempts', async () => {
    const broken = { ...TOOLS, create_booking: failing('no connection') };
    const run = await runSpec(await graphOf('book-flight.yaml'), INPUT, broken);
    expect(run).toMatchObject({
      status: 'failed',
      failure: { code: 'fail_booking', message: 'Booking failed after retries' },
    });
    expect(toolsOf(run).filter((tool) => tool === 'create_booking')).toHaveLength(3);
  });

  test('calls nothing with a value that is not there', async () => {
    const run = await runSpec(await graphOf('book-flight.yaml'), INPUT, { ...TOOLS, search_flights: [] });
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_REF_MISSING' } });
    expect(toolsOf(run)).toEqual(['search_flights']);
  });

  test('fails, and does neither, where the number of seats is no number', async () => {
    const odd = { ...TOOLS, check_availability: { seats_available: null } };
    const run = await runSpec(await graphOf('book-flight.yaml'), INPUT, odd);
    expect(run).toMatchObject({ status: 'failed', failure: { code: 'E_COMPARE_TYPES' } });
    expect(toolsOf(run)).toEqual(['search_flights', 'check_availability']);
  });

  test('in JSON is a smaller workflow that runs by itself', async () => {
    const run = await runSpec(await graphOf('book-flight.json'), INPUT, {
      ...TOOLS,
      check_availability: { seats_available: 0 },
    });
    expect(run).toMatchObject({ status: 'succeeded', result: { id: 'B1' } });
    expect(toolsOf(run)).toEqual(['search_flights', 'check_availability', 'create_booking']);
  });
});
