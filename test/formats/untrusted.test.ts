import { expect, test } from 'vitest';
import { parseUntrustedWorkflows, parseWorkflows } from '../../src/formats/index.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
import { nightlyTest } from '../nightly.js';
import { said, specText } from './spec-file.fixture.js';

const options = { file: 'f.yaml', format: 'yaml' } as const;

test('an untrusted text is read as any other, in a process of its own', { timeout: 60_000 }, async () => {
  const text = specText('book-flight.yaml');
  const [untrusted, own] = [
    await parseUntrustedWorkflows(text, options),
    await parseWorkflows(text, options),
  ];
  expect(untrusted.diagnostics).toEqual(own.diagnostics);
  expect(untrusted.workflows.map(({ graph }) => canonicalGraph(graph))).toEqual(
    own.workflows.map(({ graph }) => canonicalGraph(graph)),
  );
  const broken = text.replace('$passenger', '$pasenger');
  expect(said((await parseUntrustedWorkflows(broken, options)).diagnostics)).toContainEqual(
    expect.stringContaining('f.yaml:42:22 SW5013 nothing here is named `$pasenger`'),
  );
});

nightlyTest('an untrusted text beyond the limits is refused', { timeout: 60_000 }, async () => {
  const long = await parseUntrustedWorkflows(`# ${'x'.repeat(300_000)}`, options);
  expect(said(long.diagnostics)).toEqual([
    'f.yaml:1:1 SW5001 the file has more than 262144 characters (split it into several files)',
  ]);
  const deep = await parseUntrustedWorkflows('['.repeat(1_000), options);
  expect(deep.diagnostics.map(({ code }) => code)).toEqual(['SW5001']);
  const workflow = (name: string, nodes: number) => [
    `  ${name}:`,
    '    description: d',
    '    graph:',
    ...Array.from({ length: nodes }, (_, index) => `      n${index}: { call: t }`),
  ];
  const many = Array.from({ length: 101 }, (_, index) => workflow(`w${index}`, 1)).flat();
  const workflows = await parseUntrustedWorkflows(['workflows:', ...many].join('\n'), options);
  expect(workflows.workflows).toEqual([]);
  expect(said(workflows.diagnostics)).toEqual([
    'f.yaml:402:3 SW5001 the file has more than 100 workflows (split it into several files)',
  ]);
  const ofNodes = await parseUntrustedWorkflows(['workflows:', ...workflow('w', 1_001)].join('\n'), options);
  expect(said(ofNodes.diagnostics)).toEqual([
    'f.yaml:1005:7 SW5001 the file has more than 1000 nodes (split it into several files)',
  ]);
});
