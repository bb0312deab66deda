import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { specSchema } from '../../../src/formats/dialects/dialects.js';
import { parseWorkflows } from '../../../src/formats/index.js';
import type { JsonSchema } from '../../../src/graph/json.js';
import { type CompletionItem, LanguageServer } from './language-server.js';

const search: JsonSchema = {
  type: 'object',
  properties: {
    origin: { type: 'string', description: 'Where it starts' },
    cabin: { enum: ['economy', 'business'] },
    seats: { type: 'integer' },
  },
  required: ['origin'],
  additionalProperties: false,
};

const TOOLS = [
  { name: 'search_flights', title: 'Flights', description: 'Finds flights', inputSchema: search },
  {
    name: 'create_booking',
    description: 'Books a flight',
    inputSchema: { type: 'object', properties: { flight: { type: 'string' } }, additionalProperties: false },
  },
];

const OTHER = `workflows:
  find:
    description: Finds a flight
    params: { origin: { type: str, required: true, description: Where it starts } }
    graph: { only: { call: search_flights, args: { origin: $origin } } }
`;

const HEAD = `# yaml-language-server: $schema=../generated/registry.specs.schema.json
workflows:
  book:
    description: Books a flight
    graph:
      search:
`;

describe('the YAML language server with the generated schema', { timeout: 60_000 }, () => {
  let root = '';
  let server: LanguageServer;
  let count = 0;

  beforeAll(async () => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'stepwright-editor-')));
    const { workflows } = await parseWorkflows(OTHER, { file: 'f.yaml', format: 'yaml' });
    const graphs = workflows.map(({ graph }) => graph);
    expect(graphs).toHaveLength(1);
    await mkdir(path.join(root, 'generated'));
    await writeFile(
      path.join(root, 'generated/registry.specs.schema.json'),
      JSON.stringify(specSchema({ tools: TOOLS, workflows: graphs })),
    );
    server = await LanguageServer.start(root);
  });

  afterAll(async () => {
    await server.stop();
    rmSync(root, { recursive: true });
  });

  /** Opens a file with a node; `|` is where the cursor is. */
  async function open(node: readonly string[]) {
    const text = HEAD + node.map((line) => `        ${line}\n`).join('');
    const before = text.split('|')[0]?.split('\n') ?? [];
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    count += 1;
    const file = path.join(root, 'workflows', `f${count}.yaml`);
    const messages = await server.open(file, text.replace('|', ''));
    return { file, position, messages };
  }

  async function complete(...node: string[]): Promise<readonly CompletionItem[]> {
    const { file, position } = await open(node);
    return server.complete(file, position);
  }

  const labels = (items: readonly CompletionItem[]) => items.map(({ label }) => label).sort();

  test('completes the names of tools, with their descriptions', async () => {
    const items = await complete('call: |');
    expect(labels(items)).toEqual(['create_booking', 'search_flights']);
    const found = items.find(({ label }) => label === 'search_flights');
    expect(JSON.stringify(found?.documentation)).toContain('Flights: Finds flights');
  });

  test('completes the arguments of the tool that is called, and no others', async () => {
    const ofSearch = labels(await complete('call: search_flights', 'args:', '  |'));
    expect(ofSearch).toEqual(expect.arrayContaining(['origin', 'cabin', 'seats']));
    expect(ofSearch).not.toContain('flight');
    const ofBooking = labels(await complete('call: create_booking', 'args:', '  |'));
    expect(ofBooking).toContain('flight');
    expect(ofBooking).not.toContain('origin');
    const values = await complete('call: search_flights', 'args:', '  origin: x', '  cabin: |');
    expect(labels(values)).toEqual(['business', 'economy']);
  });

  test('completes the names of workflows, and their arguments', async () => {
    expect(labels(await complete('workflow: |'))).toEqual(['find']);
    expect(labels(await complete('workflow: find', 'args:', '  |'))).toContain('origin');
  });

  test('completes the keys of the kind of a node', async () => {
    const ofNothing = labels(await complete('|'));
    expect(ofNothing).toEqual(expect.arrayContaining(['call', 'workflow', 'on', 'items', 'depends_on']));
    expect(ofNothing).not.toContain('on_error');
    const ofCall = labels(await complete('call: create_booking', '|'));
    expect(ofCall).toEqual(expect.arrayContaining(['args', 'on_error', 'compensate', 'depends_on']));
    expect(ofCall).not.toContain('branches');
  });

  test('completes tools where calls undo others', async () => {
    const items = await complete('call: create_booking', 'compensate:', '  call: |');
    expect(labels(items)).toEqual(['create_booking', 'search_flights']);
  });

  test('reports a wrong tool, and wrong arguments', async () => {
    expect((await open(['call: search_flight'])).messages).toEqual([
      'Value is not accepted. Valid values: "create_booking", "search_flights".',
    ]);
    const wrong = ['call: search_flights', 'args: { origin: $x, cabin: first, seats: many, more: 1 }'];
    expect((await open(wrong)).messages).toEqual([
      'Value is not accepted. Valid values: "economy", "business".',
      'Incorrect type. Expected "integer".',
      'Property more is not allowed.',
    ]);
    expect((await open(['call: search_flights'])).messages).toEqual(['Missing property "args".']);
  });

  test('reports nothing where there is no fault', async () => {
    const node = ['call: search_flights', 'args: { origin: $x, cabin: $y, seats: $z.count }'];
    expect((await open(node)).messages).toEqual([]);
    expect((await open(['workflow: not-yet', 'args: { some: 1 }'])).messages).toEqual([]);
  });

  test('describes what is under the cursor', async () => {
    const hover = async (...node: string[]) => {
      const { file, position } = await open(node);
      return server.hover(file, position);
    };
    expect(await hover('call: search_|flights')).toContain('Flights: Finds flights');
    expect(await hover('call: search_flights', 'args: { ori|gin: x }')).toContain('Where it starts');
    expect(await hover('depends|_on: [x]')).toContain('The nodes that this one waits for');
  });
});
