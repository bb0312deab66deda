import path from 'node:path';
import { expect, test } from 'vitest';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import { FIXTURES, loadFixtures } from './fixture.js';

const folder = path.dirname(FIXTURES);

test('legacy and TC39 decorators give the same graphs', () => {
  const fixture = loadFixtures().find(({ name }) => name === 'add-task');
  const overlay = new Map(fixture?.files.map(({ file, text }) => [file, text]));
  const outcomes = ['tsconfig.fixtures.json', 'tsconfig.tc39.json'].map((tsconfig) => {
    const files = [...overlay.keys()];
    const host = new SourceHost({ root: FIXTURES, tsconfig: path.resolve(folder, tsconfig), files, overlay });
    const extracted = extract(host.sourceFiles());
    return { extracted, linked: link(extracted.value) };
  });
  expect(outcomes[0]?.linked.value.map(({ graph }) => graph.name)).toEqual(['add-task']);
  expect(outcomes[1]).toEqual(outcomes[0]);
});
