import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkGraph } from '../../src/check/check-graph.js';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import type { Node } from '../../src/graph/kinds/node.js';
import { bodiesOf } from '../../src/graph/nodes.js';
import { runInProcess } from '../../src/runtime/runs/run/run-in-process.js';
import type { CallPort } from '../../src/runtime/tools/port.js';
import { FIXTURES } from './fixture.js';

const FOLDER = 'examples/travel';
const ROOT = path.resolve(FIXTURES, '../../..');

const OUTLINES: Readonly<Record<string, readonly string[]>> = {
  book_flight: [
    'call search',
    'error flight',
    'call check',
    'branch decide',
    '  then:',
    '    call reserve, undone by cancel_booking, or decide.then.fallback',
    '    error decide.then.fallback',
    '  else:',
    '    call waitlist',
    'return output',
  ],
  book_trip: [
    'call hotels',
    'error hotel',
    'parallel booked',
    '  flight:',
    '    workflow booked.flight.1',
    '    error booked.flight',
    '  hotel:',
    '    call booked.hotel, undone by cancel_hotel',
    'call trip',
    'return output',
  ],
  cancel_booking: [
    'call booking',
    'branch cancelled',
    '  confirmed:',
    '    call cancelled.confirmed',
    '  cancelled:',
    '    error cancelled.cancelled',
    '  flown:',
    '    error cancelled.flown',
    'call refund',
    'return output',
  ],
  checkout: [
    'call cart',
    'call discounted',
    'call totals',
    'call payment, or payment.fallback',
    'error payment.fallback',
    'call order',
    'return output',
  ],
};

/** The nodes of a list, each followed by the nodes of its bodies. */
function outline(nodes: readonly Node[], depth = 0): string[] {
  return nodes.flatMap((node) => {
    const undone =
      'compensate' in node && node.compensate !== undefined ? `, undone by ${node.compensate.tool}` : '';
    const other =
      node.onError !== undefined && 'fallbackNode' in node.onError ? `, or ${node.onError.fallbackNode}` : '';
    const inside = bodiesOf(node).flatMap(({ arm, scope }) => [
      `${'  '.repeat(depth + 1)}${arm}:`,
      ...outline(scope.nodes, depth + 2),
    ]);
    return [`${'  '.repeat(depth)}${node.kind} ${node.id}${undone}${other}`, ...inside];
  });
}

describe('the workflows of the travel agency', () => {
  const files = readdirSync(path.join(ROOT, FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${FOLDER}/${file.replaceAll(path.sep, '/')}`);
  const host = new SourceHost({ root: ROOT, tsconfig: 'tsconfig.json', files: files.sort() });
  const { value: declarations, diagnostics } = extract(host.sourceFiles());
  const linked = link(declarations);

  test('have no faults', () => {
    const environment = {
      tools: new Map(declarations.tools.map(({ name }) => [name, { inputSchema: {} }])),
      resources: new Map(declarations.resources.map(({ name, uri }) => [name, { uri }])),
      workflows: new Map(linked.value.map(({ graph }) => [graph.name, graph])),
    };
    const checked = linked.value.flatMap(({ graph }) => checkGraph(graph, environment));
    const errors = [...diagnostics, ...linked.diagnostics, ...checked].filter(
      ({ severity }) => severity === 'error',
    );
    expect(errors).toEqual([]);
    expect(linked.value.map(({ graph }) => graph.name).sort()).toEqual(Object.keys(OUTLINES));
  });

  test.each(Object.entries(OUTLINES))('%s has the expected graph', (name, expected) => {
    const graph = linked.value.find((each) => each.graph.name === name)?.graph;
    expect(outline(graph?.nodes ?? [])).toEqual(expected);
  });

  test('end at their `done`, before the steps after it', async () => {
    const called: string[] = [];
    const failure = { code: 'E_TOOL_ERROR', message: 'declined' };
    const calls: CallPort = {
      async callTool(name) {
        called.push(name);
        if (name === 'charge_cart') return { ok: false, attempted: true, failure };
        return { ok: true, value: { id: 'CART-1', total: 5 } };
      },
      readResource: () => Promise.reject(new Error('nothing is read')),
      evaluate: () => Promise.reject(new Error('nothing is computed outside')),
    };
    const checkout = linked.value.find(({ graph }) => graph.name === 'checkout')?.graph;
    if (checkout === undefined) throw new Error('not linked');
    const nodes = checkout.nodes.map(({ retry: _, ...node }) => node as Node);
    const input = { cart_id: 'CART-1', payment_method: 'card' };
    const context = { requestId: '1', progress: () => {} };
    const outcome = await runInProcess({ graph: { ...checkout, nodes }, input, runId: 'r', calls, context });
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { code: 'E_FAIL', message: 'Payment processing failed after 1 attempts: declined' },
    });
    expect(called).toEqual(['validate_cart', 'calculate_total', 'charge_cart']);
  });
});
