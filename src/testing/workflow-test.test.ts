import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { NoteTask } from '../../examples/logseq/note-task.workflow.js';
import { BookFlight } from '../../examples/travel/book-flight.workflow.js';
import { registry } from '../../examples/travel/generated/travel.registry.js';
import { registry as logseq } from '../../generated/registry.js';
import { expectRun, matchers, type RunMatchers, stopRuns, testWorkflow } from './index.js';

const args = { origin: 'Rome', destination: 'Oslo', date: '2026-03-01', passenger: 'Ada' };

const booked = {
  id: 'B-1',
  status: 'confirmed',
  flight_id: 'F-1',
  passenger: 'Ada',
  paid: false,
  total_price: { cents: 9_900, currency: 'USD' },
  booked_at: '2026-01-01T00:00:00Z',
} as const;

const down = new Error('the airline is down');

/** A folder with a workflow in it. */
function yaml(text: string): `${string}.yaml` {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-testing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'w.yaml'), text);
  return `${folder}/w.yaml`;
}

const NAP = yamlOf('nap', 'rest: { wait: 2h }\n      again: { wait: 30m, depends_on: [rest] }');

function yamlOf(name: string, graph: string): string {
  return `workflows:\n  ${name}:\n    description: rest\n    graph:\n      ${graph}\n`;
}

describe('testWorkflow', () => {
  test('makes values up from schemas where the test has no stub', async () => {
    const tools = { create_booking: [booked] } as const;
    const run = await testWorkflow(registry, BookFlight, { args, tools, otherTools: 'sample' });
    expect(run.calls.map(({ step, tool }) => `${step} ${tool}`)).toContain('search search_flights');
  });

  test('fails calls by their number, and skips the delays between', async () => {
    const run = await testWorkflow(registry, 'book_flight', {
      args,
      otherTools: 'sample',
      tools: {
        check_availability: () => ({ flight_id: 'F-1', seats_available: 3 }),
        search_flights: (input) => ({ flights: [flightTo(input.destination)] }),
        create_booking: (input, _context, call) => {
          if (call < 3) throw down;
          return { ...booked, passenger: input.passenger };
        },
      },
    });
    expect(run).toMatchObject({ status: 'completed', result: { id: 'B-1' } });
    expect(
      run.calls.filter(({ tool }) => tool === 'create_booking').map(({ failure }) => failure?.message),
    ).toEqual([down.message, down.message, undefined]);
    expect(run.effects).toMatchObject([{ step: 'reserve', tool: 'create_booking' }]);
    expect(run.trace).toContain("Calling tool 'create_booking'");
  });

  test('reports the failure of a run with a list of results that ends with an error', async () => {
    const run = await testWorkflow(registry, BookFlight, {
      args,
      tools: {
        search_flights: [{ flights: [flightTo('Oslo')] }],
        check_availability: [{ flight_id: 'F-1', seats_available: 1 }],
        create_booking: [down],
      },
      otherTools: 'refuse',
    });
    expect(run.failure?.message).toBe('Booking failed after 3 attempts: the airline is down');
    expect(run.effects).toEqual([]);
  });

  test('refuses calls of tools without a stub, with what to write', async () => {
    const run = await testWorkflow(registry, BookFlight, { args, otherTools: 'refuse' });
    expect(run.failure?.message).toBe(
      "Tool 'search_flights' is not called in tests. Give the test a stub: tools: { 'search_flights': () => … }",
    );
  });

  test('does without the factories of tools that a workflow may not call', async () => {
    const tools = { search_flights: [{ flights: [] }] };
    const run = await testWorkflow(registry, BookFlight, { args, tools });
    expect(run.failure?.message).toBe('No flight from Rome to Oslo on 2026-03-01');
    const other = await testWorkflow(registry, BookFlight, { args });
    expect(other.failure?.message).toContain(
      "Tool 'search_flights' is not called in tests: its class needs a factory",
    );
  });

  test('supplies values of a model', async () => {
    const run = await testWorkflow(logseq, NoteTask, {
      args: { project: 'garden', task: 'weed' },
      tools: {
        'list-pages': [{ pages: ['Garden'] }],
        'add-content': ({ content }) => ({ entry_id: content, page: 'p', block_ref: 'r' }),
      },
      otherTools: 'refuse',
      model: async () => 'TODO weed',
    });
    expect(run.result).toEqual({ entry_id: 'TODO weed', page: 'p' });
  });

  test('runs a file, and skips what it waits for', async () => {
    const run = await testWorkflow(registry, yaml(NAP), { otherTools: 'refuse' });
    expect(run.status).toBe('completed');
  });

  test('lets time pass where the test says so', async () => {
    const startsAt = new Date('2026-01-01T00:00:00Z');
    const run = await testWorkflow(registry, yaml(NAP), { otherTools: 'refuse', clock: 'hold', startsAt });
    expect(run.waiting).toMatchObject([
      { step: 'rest', kind: 'wait', until: new Date('2026-01-01T02:00:00Z') },
    ]);
    await run.advance(2 * 3_600_000 - 1);
    expect(run.waiting).toMatchObject([{ step: 'rest' }]);
    await run.advance(1);
    expect(run.waiting).toMatchObject([{ step: 'again', until: new Date('2026-01-01T02:30:00Z') }]);
    await (await run.kill()).advance(3_600_000);
    expect(run.status).toBe('completed');
  });

  test('answers each question as the test has said', async () => {
    const expects = 'expects: { is: { type: str, required: true } }';
    const first = `who: { yield: "Who?", ${expects} }`;
    const second = `why: { yield: "Why?", ${expects}, depends_on: [who] }`;
    const run = await testWorkflow(registry, yaml(yamlOf('ask', `${first}\n      ${second}`)), {
      otherTools: 'refuse',
      answers: { who: [{ is: 'Ada' }], why: ({ message = '' }) => ({ is: message }) },
    });
    expect(run.status).toBe('completed');
    expect(run.trace).toContain('"is": "Why?"');
  });

  test.each(['before', 'after'] as const)('sees what is done after a crash %s a call', async (when) => {
    const run = await testWorkflow(registry, BookFlight, {
      args,
      otherTools: 'refuse',
      tools: {
        search_flights: [{ flights: [flightTo('Oslo')] }],
        check_availability: [{ flight_id: 'F-1', seats_available: 1 }],
        create_booking: [booked],
      },
      crashAt: { tool: 'create_booking', when },
    });
    expect(run).toMatchObject({ status: 'completed', effects: [{ tool: 'create_booking', result: booked }] });
    expect(run.trace).toContain('"id": "B-1"');
    expect(run.trace.match(/Calling tool 'create_booking'/g)).toHaveLength(1);
    expect(run.calls.filter(({ tool }) => tool === 'create_booking')).toHaveLength(when === 'before' ? 1 : 2);
  });

  test.each([
    [
      { crashAt: { tool: 'create_bookin', when: 'after' } },
      "no tool 'create_bookin'. Did you mean 'create_booking'?",
    ],
    [
      { crashAt: { tool: 'create_booking', when: 'during' } },
      "`crashAt.when` is 'before' or 'after', not \"during\"",
    ],
    [
      { crashAt: { tool: 'cancel_booking', when: 'after' } },
      "without a call of 'cancel_booking': it did not crash",
    ],
    [{ answers: { serch: 1 } }, "has no step 'serch'. Did you mean 'search'?"],
    [{ answer: {} }, "There is no option 'answer'. Did you mean 'answers'?"],
    [{ clock: 'fake' }, "`clock` is 'skip' or 'hold', not \"fake\""],
    [{ otherTools: 'stub' }, "`otherTools` is 'real' or 'sample' or 'refuse', not \"stub\""],
    [{ startsAt: new Date('x') }, '`startsAt` is a valid Date, not Invalid Date'],
    [{ startsAt: '2026-01-01' }, '`startsAt` is a valid Date, not 2026-01-01'],
    [
      { tools: { search_flights: { flights: [] } } },
      "write a function, or a list of results: tools: { 'search_flights'",
    ],
    [{ tools: { search_flights: [] } }, "The stub of 'search_flights' is a list without a result"],
  ])('refuses %j', async (options, message) => {
    const all = { args, otherTools: 'refuse', ...options } as object;
    await expect(testWorkflow(registry, BookFlight, all)).rejects.toThrow(message);
  });

  test('says what an answer, a time or a caller is refused for', async () => {
    const expects = 'expects: { is: { type: str, required: true } }, answer_by: lead';
    const file = yaml(yamlOf('ask', `who: { yield: "Who?", ${expects} }`));
    await expect(testWorkflow(registry, file, { otherTools: 'refuse', answers: { who: 5 } })).rejects.toThrow(
      "`answers` of 'who': The answer does not fit",
    );
    const run = await testWorkflow(registry, file, { otherTools: 'refuse' });
    await expect(run.advance(Number.NaN)).rejects.toThrow('advance() takes a number of ms from 0, not NaN');
    const eve = { kind: 'principal', subject: 'eve', roles: [] } as const;
    await expect(run.answer({ is: 'a' }, { as: eve })).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_FOUND',
      message: expect.stringContaining('this caller may not answer'),
    });
    await Promise.all([run.kill(), run.kill()]);
    expect(run.waiting).toMatchObject([{ step: 'who' }]);
    await expect(testWorkflow(undefined as never, BookFlight)).rejects.toThrow('The registry is undefined: ');
    await expect(testWorkflow(registry, undefined as never)).rejects.toThrow('The workflow is undefined: ');
    await expect(testWorkflow({} as never, BookFlight)).rejects.toThrow('pass `registry` of a module');
    for (const [wrong, text] of [
      [3, '3'],
      [{}, '{}'],
    ] as const)
      await expect(testWorkflow(registry, wrong as never)).rejects.toThrow(`The workflow is ${text}: pass`);
  });

  test('says what is wrong with a test', async () => {
    await expect(testWorkflow(registry, 'book_fligt' as 'book_flight', { args })).rejects.toThrow(
      "The registry has no workflow 'book_fligt'. Did you mean 'book_flight'?",
    );
    // @ts-expect-error there is no such tool
    await expect(testWorkflow(registry, BookFlight, { args, tools: { book: [] } })).rejects.toThrow(
      "There is no tool 'book' to stub",
    );
    await expect(
      testWorkflow(registry, BookFlight, { args: { ...args, date: 'soon' }, otherTools: 'refuse' }),
    ).rejects.toMatchObject({ code: 'E_INPUT_INVALID' });
    await expect(testWorkflow(registry, yaml('workflows: {}'))).rejects.toThrow('error SW');
    const run = await testWorkflow(registry, BookFlight, { args, otherTools: 'refuse' });
    await expect(run.answer(true)).rejects.toThrow('No single step asks: the run waits for no answer');
  });

  test('has the types of the registry', () => {
    const seats = '1';
    void (() =>
      testWorkflow(registry, BookFlight, {
        // @ts-expect-error the number of seats is a number
        tools: { check_availability: [{ flight_id: '', seats_available: seats }] },
      }));
    // @ts-expect-error the workflow has no such argument
    void (() => testWorkflow(registry, BookFlight, { args: { ...args, day: '' } }));
  });
});

function flightTo(destination: string) {
  const [departs_at, arrives_at] = ['2026-03-01T08:00:00Z', '2026-03-01T10:00:00Z'];
  const price = { cents: 9_900, currency: 'USD' } as const;
  return { id: 'F-1', airline: 'Air', origin: 'Rome', destination, departs_at, arrives_at, price };
}

describe('matchers', () => {
  test('assert through `expectRun`, and say how the run is otherwise', async () => {
    const failed = await testWorkflow(registry, BookFlight, { args, otherTools: 'refuse' });
    const asserted = expectRun(failed);
    asserted.toHaveFailed();
    asserted.toHaveFailed(failed.failure?.code);
    asserted.toHaveCalled('search_flights', { destination: 'Oslo' });
    expect(() => asserted.toHaveCompleted()).toThrow('expected the run to complete: it is failed, ');
    expect(() => asserted.toHaveFailed('E_OTHER')).toThrow(
      'expected the run to fail with E_OTHER: it is failed, ',
    );
    expect(() => asserted.toBeWaitingFor('search')).toThrow(
      'expected the run to wait for `search`: it is failed, ',
    );
    expect(() => asserted.toBeWaitingFor('serch')).toThrow("has no step 'serch'. Did you mean 'search'?");
    expect(() => asserted.toHaveCalled('search_flight')).toThrow("The registry has no tool 'search_flight'.");
    expect(() => expectRun(Promise.resolve() as never)).not.toThrow();
    expect(() => expectRun(Promise.resolve() as never).toHaveNoEffects()).toThrow('await testWorkflow(');
    expect(() => asserted.toHaveCalled('search_flights', { destination: 'Bergen' })).toThrow(
      'expected the run to call search_flights with {"destination":"Bergen"}: it called search_flights {',
    );
  });

  test('name a call that has not returned', async () => {
    let now = 0;
    const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    onTestFinished(() => time.mockRestore());
    const tools = { search_flights: () => new Promise<never>(() => {}) };
    const run = await testWorkflow(registry, BookFlight, { args, tools, otherTools: 'sample' });
    expect(() => expectRun(run).toHaveCompleted()).toThrow(/it is running, since search_flights .* has not/);
    await run.stop();
    await expect(run.answer(true)).rejects.toThrow('The run was stopped');
  });

  test('extend `expect`, whose own matchers fit within them', async () => {
    expect.extend(matchers);
    const nap = await testWorkflow(registry, yaml(NAP), { clock: 'hold' });
    const extended = (of: object) => expect(of) as unknown as RunMatchers & { not: RunMatchers };
    extended(nap).toBeWaitingFor('rest');
    extended(nap).not.toHaveCompleted();
    extended(nap).toHaveNoEffects();
    expect(() => extended(nap).toHaveCompleted()).toThrow(
      'expected the run to complete: it waits for `rest`',
    );
    await nap.advance(3 * 3_600_000);
    extended(nap).toHaveCompleted(null);
    expect(() => extended(nap).not.toHaveCompleted()).toThrow(
      'expected the run not to complete: it completed with ',
    );
  });

  test('a run that waits is stopped after its test', async () => {
    const stopped: string[] = [];
    const server = { onStop: () => void stopped.push('stop') };
    await testWorkflow(registry, yaml(NAP), { clock: 'hold', server });
    await stopRuns();
    await stopRuns();
    expect(stopped).toEqual(['stop']);
  });
});
