import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { dispatched as stepwright } from '../../src/cli/dispatched.fixture.js';
import { FLIGHTS } from '../../src/infer/flights.fixture.js';
import { nightlyTest } from '../nightly.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-infer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const list = path.join(folder, 'tools.json');
writeFileSync(list, JSON.stringify({ tools: FLIGHTS }));

describe('stepwright infer', { timeout: 120_000 }, () => {
  test('prints the order of the tools of a file', async () => {
    const { code, out } = await stepwright('infer', list);
    expect(code).toBe(0);
    expect(out).toContain('- search_flights → check_availability → add_to_waitlist\n');
  });

  test('prints JSON, a chart and a draft', async () => {
    const { out } = await stepwright('infer', list, '--format', 'json');
    expect(JSON.parse(out)).toMatchObject({
      edges: expect.arrayContaining([
        expect.objectContaining({ from: 'search_flights', to: 'check_availability', confidence: 1 }),
      ]),
      choices: [{ after: 'check_availability', oneOf: ['create_booking', 'add_to_waitlist'] }],
      cycles: [],
      faults: [],
    });
    expect((await stepwright('infer', list, '--format', 'mermaid')).out).toMatch(/^flowchart LR\n/);
    expect((await stepwright('infer', list, '--format', 'spec')).out).toContain('\nworkflows:\n');
  });

  test('plans for a goal', async () => {
    const { out } = await stepwright('infer', list, '--goal', 'create a booking', '--format', 'json');
    const { steps } = JSON.parse(out) as { steps: { tool: string }[] };
    expect(steps.map(({ tool }) => tool)).toEqual(['search_flights', 'check_availability', 'create_booking']);
  });

  test('takes the tools of workflows in a list as workflows', async () => {
    const file = path.join(folder, 'served.json');
    const workflow = {
      name: 'w_book_flight',
      description: 'Search, check, and book a flight',
      inputSchema: { type: 'object', properties: { origin: { type: 'string' } }, required: ['origin'] },
      outputSchema: { type: 'object', properties: { flight_id: { type: 'string' } } },
    };
    const status = { name: 'get_workflow_status', inputSchema: { type: 'object' } };
    writeFileSync(file, JSON.stringify({ tools: [...FLIGHTS, workflow, status] }));
    const { out } = await stepwright('infer', file, '--format', 'json');
    expect((JSON.parse(out) as { tools: string[] }).tools).toEqual(FLIGHTS.map(({ name }) => name));
    const plan = await stepwright('infer', file, '--goal', 'book a flight', '--format', 'json');
    expect(JSON.parse(plan.out)).toMatchObject({
      workflows: [{ workflow: 'book_flight', tool: 'w_book_flight', parameters: [{ name: 'origin' }] }],
    });
  });

  // In a process of its own: loading TypeScript registers a loader.
  nightlyTest('reads the registries of a project, and finds the workflow of a goal', () => {
    const main = ['--conditions=@stepwright/source', '--import', './scripts/register.mjs', 'src/cli/main.ts'];
    const given = ['infer', '--registry', 'travel', '--goal', 'check out my cart'];
    const { status, stdout } = spawnSync(process.execPath, [...main, ...given], { encoding: 'utf8' });
    expect([status, stdout.split('\n', 3)]).toEqual([
      0,
      ['goal: check out my cart', 'workflows:', '- w_checkout (1)'],
    ]);
  });

  test.each([
    ['{', 'stepwright: cannot read tools from'],
    ['{"tools": [{}]}', 'it is not a list of tools, such as `{ "tools": [{ "name"'],
  ])('refuses a file with %s', async (text, message) => {
    const file = path.join(folder, 'bad.json');
    writeFileSync(file, text);
    const { code, err } = await stepwright('infer', file);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  test('says why a file cannot be read', async () => {
    const read = async (name: string) => (await stepwright('infer', path.join(folder, name))).err;
    expect(await read('none.json')).toContain('none.json`: there is no such file\n');
    expect(await read('.')).toContain('`: it is not a file\n');
    writeFileSync(path.join(folder, 'utf16.json'), Buffer.from('\ufeff[]', 'utf16le'));
    expect(await read('utf16.json')).toContain('utf16.json`: it is not UTF-8\n');
    writeFileSync(path.join(folder, 'lines.json'), 'a: b\nc: d\n');
    expect((await read('lines.json')).split('\n')).toHaveLength(2);
  });

  test('reads a file with a byte order mark', async () => {
    const file = path.join(folder, 'marked.json');
    writeFileSync(file, '\ufeff[]');
    expect(await stepwright('infer', file)).toMatchObject({ code: 0, err: '' });
  });

  test('draws no chart of a plan', async () => {
    const { code, err } = await stepwright('infer', list, '--goal', 'book', '--format', 'mermaid');
    expect([code, err]).toEqual([2, 'stepwright: `--goal` takes `--format text` or `--format json`\n']);
  });
});
