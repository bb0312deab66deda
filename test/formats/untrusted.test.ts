import { expect, test } from 'vitest';
import { parseUntrustedWorkflows, parseWorkflows } from '../../src/formats/index.js';
import { canonicalGraph } from '../../src/graph/canonical.js';
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

test('an untrusted text beyond the limits is refused', { timeout: 60_000 }, async () => {
  const long = await parseUntrustedWorkflows(`# ${'x'.repeat(300_000)}`, options);
  expect(said(long.diagnostics)).toEqual([
    'f.yaml:1:1 SW5001 the file has more than 262144 characters (split it into several files)',
  ]);
  const deep = await parseUntrustedWorkflows('['.repeat(1_000), options);
  expect(deep.diagnostics.map(({ code }) => code)).toEqual(['SW5001']);
});
