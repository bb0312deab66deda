import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadWorkflowFiles, SpecFiles } from './load-files.js';

function folderWith(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'stepwright-load-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text);
  return root;
}

const flow = (name: string, body = '{ call: t }'): string =>
  `workflows: { ${name}: { description: d, graph: { a: ${body} } } }`;

const tools = new Map([['t', { inputSchema: { type: 'object' } }]]);
const registered = { tools, resources: new Map() };

test('no name of a file rejects', async () => {
  const root = folderWith({ 'a.yaml': flow('a') });
  const names = ['a.yaml', 'b.yaml', '\0.yaml', '', '.', 'x'.repeat(5000), 5, undefined, null] as string[];
  for (const options of [{ root }, {}, { root: `${root}/none` }, { root: '\0' }]) {
    const { diagnostics } = await loadWorkflowFiles(names, options);
    const codes = new Set(diagnostics.flatMap(({ code, severity }) => (severity === 'error' ? [code] : [])));
    expect([...codes]).toEqual(['SW5019']);
  }
});

test('the root confines', async () => {
  const outer = folderWith({ 'secret.yaml': flow('secret') });
  const root = folderWith({ 'a.yaml': flow('a') });
  for (const file of [
    path.join(outer, 'secret.yaml'),
    path.relative(root, path.join(outer, 'secret.yaml')),
  ]) {
    const { workflows, diagnostics } = await loadWorkflowFiles(['a.yaml', file], { root, registered });
    expect(workflows).toEqual([]);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      expect.stringMatching(/cannot be read: it is not in the folder .*move it there/),
    ]);
  }
  const { workflows } = await loadWorkflowFiles([path.join(outer, 'secret.yaml')], { registered });
  expect(workflows).toHaveLength(1);
});

test('what has not changed is the same object, and what runs a changed workflow is another', async () => {
  const root = folderWith({
    'a.yaml': flow('a'),
    'b.yaml': flow('b'),
    'c.yaml': flow('c', '{ workflow: a }'),
  });
  const names = ['a.yaml', 'b.yaml', 'c.yaml'];
  const files = new SpecFiles(root);
  const one = await files.load(names, registered);
  const same = await files.load(names, registered);
  expect(same.workflows.map(({ graph }, index) => graph === one.workflows[index]?.graph)).toEqual([
    true,
    true,
    true,
  ]);
  writeFileSync(path.join(root, 'a.yaml'), flow('a', '{ call: t, title: x }'));
  const unread = await files.load(names, registered, () => false);
  expect(unread.workflows.every(({ graph }, index) => graph === one.workflows[index]?.graph)).toBe(true);
  const next = await files.load(names, registered, (file) => file === 'a.yaml');
  expect(next.workflows.map(({ graph }, index) => graph === one.workflows[index]?.graph)).toEqual([
    false,
    true,
    false,
  ]);
  expect(next.workflows[2]?.graph.tasks).toMatchObject([{ nodes: [{ title: 'x' }] }]);
});
