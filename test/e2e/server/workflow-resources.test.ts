import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { registry as travel } from '../../../examples/travel/generated/travel.registry.js';
import { registryChecksum } from '../../../src/decorators/metadata.js';
import { type Domain, parseWorkflows } from '../../../src/formats/index.js';
import type { Graph } from '../../../src/graph/model.js';
import { createServer, type StepwrightServer } from '../../../src/runtime/index.js';
import type { Registry } from '../../../src/runtime/tools/registry.js';
import { expectGolden } from '../../golden/golden.js';

const GOLDEN = fileURLToPath(new URL('../../golden/workflow-resources/', import.meta.url));

/** The travel agency, whose workflows are resources as well. Nothing is called: its tools cannot be made. */
function serverWith(
  changes: Readonly<Record<string, Partial<Graph>>> = {},
  privateTool?: string,
  domains: readonly Domain[] = [],
) {
  const { tools, resources, workflows, functions = {}, ...others }: Registry = travel;
  const changed = Object.entries(workflows).map(([name, entry]) => {
    const graph: Graph = { ...entry.graph, domain: 'travel', expose: ['tool', 'resource'], ...changes[name] };
    return [name, { ...entry, graph }] as const;
  });
  const hidden = Object.entries(tools).map(
    ([name, tool]) =>
      [name, name === privateTool ? { ...tool, visibility: 'workflow' as const } : tool] as const,
  );
  const tables = {
    tools: Object.fromEntries(hidden),
    resources,
    workflows: Object.fromEntries(changed),
    prompts: {},
    functions,
  };
  const factory = () => {
    throw new Error('a tool was called');
  };
  const factories = { tools: Object.fromEntries(Object.keys(tools).map((name) => [name, factory])) };
  const registry = { ...others, ...tables, checksum: registryChecksum(tables) };
  return createServer(registry as never, { ...factories, domains } as never) as StepwrightServer;
}

const requestWith = (...scopes: readonly string[]) =>
  ({
    signal: new AbortController().signal,
    ...(scopes.length === 0 ? {} : { auth: { token: 't', clientId: 'app', scopes } }),
  }) as never;

async function read(server: StepwrightServer, uri: string) {
  const { contents } = await server.readResource(uri, requestWith());
  const [content] = contents;
  if (content === undefined || !('text' in content)) throw new Error('no text');
  return content;
}

const urisOf = (server: StepwrightServer) =>
  server
    .listResources()
    .resources.map(({ uri }) => uri)
    .filter((uri) => uri.startsWith('workflow:'));

describe('workflows as resources', () => {
  test('have the rules and documents of their domain in its overview', async () => {
    const text = [
      'domain: travel',
      'rules: ["Ask before you pay.", "Ask before you pay."]',
      'docs: |',
      '  Prices are in euros.',
      '',
      '  - Taxes are *included*.',
      'workflows: { ping: { description: p, graph: { a: { call: ping } } } }',
    ].join('\n');
    const { domains } = await parseWorkflows(text, { file: 'travel.yaml', format: 'yaml' });
    const other = { name: 'other', rules: ['Not of this domain.'], docs: 'Nothing' };
    const overview = (
      await read(serverWith({}, undefined, [...domains, other]), 'workflow://travel/overview')
    ).text;
    expect(overview).toContain(
      '# Travel: workflow guide\n\nPrices are in euros.\n\n- Taxes are *included*.\n\n## Available workflows\n',
    );
    expect(overview).toContain('\n## Rules\n\n- Ask before you pay.\n- Never call ');
    expect(overview).not.toContain('Not of this domain');
  });

  test('are listed with an overview of their domain', () => {
    const server = serverWith();
    expect(urisOf(server)).toEqual([
      'workflow://travel/overview',
      'workflow://travel/book_flight',
      'workflow://travel/book_trip',
      'workflow://travel/cancel_booking',
      'workflow://travel/checkout',
    ]);
    expect(server.listResourceTemplates().resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'workflow://{domain}/{name}',
      'workflow://{domain}/{name}.yaml',
      'workflow://{domain}/{name}.mmd',
    ]);
  });

  test.each([
    ['overview', 'workflow://travel/overview', 'text/markdown'],
    ['book_flight-json', 'workflow://travel/book_flight', 'application/json'],
    ['book_trip-yaml', 'workflow://travel/book_trip.yaml', 'application/yaml'],
    ['book_flight-mmd', 'workflow://travel/book_flight.mmd', 'text/vnd.mermaid'],
    ['book_trip-skill', 'skill://travel/book_trip/book-trip/SKILL.md', 'text/markdown'],
  ])('%s', async (name, uri, mimeType) => {
    const content = await read(serverWith({ book_trip: { expose: ['tool', 'resource', 'skill'] } }), uri);
    expect(content).toMatchObject({ uri, mimeType });
    expectGolden(`${GOLDEN}${name}.txt`, content.text);
  });

  test('complete their templates', async () => {
    const server = serverWith({ checkout: { domain: 'shop' } });
    const complete = (argument: string, value: string, given: Readonly<Record<string, string>> = {}) =>
      server.complete(
        { kind: 'template', uriTemplate: 'workflow://{domain}/{name}.yaml' },
        { argument, value, given },
        requestWith(),
      );
    expect(await complete('domain', 't')).toMatchObject({ completion: { values: ['travel'] } });
    expect(await complete('name', 'book')).toMatchObject({
      completion: { values: ['book_flight', 'book_trip'] },
    });
    // What is chosen already narrows the other part of the address.
    expect(await complete('name', '', { domain: 'shop' })).toMatchObject({
      completion: { values: ['checkout'] },
    });
    expect(await complete('domain', '', { name: 'book_trip' })).toMatchObject({
      completion: { values: ['travel'] },
    });
  });

  test('are not there without `expose`', async () => {
    const server = serverWith({ checkout: { expose: ['tool'] } });
    expect(urisOf(server)).not.toContain('workflow://travel/checkout');
    await expect(read(server, 'workflow://travel/checkout')).rejects.toThrow();
    expect((await read(server, 'workflow://travel/overview')).text).not.toContain('w_checkout');
  });

  test('with scopes are listed nowhere, and read with them only', async () => {
    const server = serverWith({ checkout: { scopes: ['shop:buy'] } });
    expect(urisOf(server)).not.toContain('workflow://travel/checkout');
    expect((await read(server, 'workflow://travel/overview')).text).not.toContain('w_checkout');
    const uri = 'workflow://travel/checkout';
    await expect(read(server, uri)).rejects.toThrow();
    const { contents } = await server.readResource(uri, requestWith('shop:buy'));
    expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
  });

  test('do not name private tools', async () => {
    const server = serverWith({}, 'charge_cart');
    for (const uri of ['overview', 'checkout', 'checkout.yaml', 'checkout.mmd']) {
      const { text } = await read(server, `workflow://travel/${uri}`);
      expect(text).not.toContain('charge_cart');
      expect(text).toContain('internal-step');
    }
  });

  test.each(['workflow://travel/none', 'workflow://other/book_flight', 'workflow://travel/book_flight.xml'])(
    '%s is not a resource',
    async (uri) => {
      const server = serverWith();
      expect(server.hasResource(uri)).toBe(false);
      await expect(read(server, uri)).rejects.toThrow();
    },
  );
});
