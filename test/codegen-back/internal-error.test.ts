import { afterEach, expect, test, vi } from 'vitest';
import { runCodegen } from '../../src/codegen/codegen.js';
import { createProject, type Project } from './project.fixture.js';

vi.mock('../../src/check/check-graph.js', () => ({
  checkGraph: () => {
    throw new RangeError('Maximum call stack size exceeded');
  },
}));

let project: Project;
afterEach(() => project.remove());

test('an internal error names the class it occurred in, and nothing is written', async () => {
  project = await createProject({
    'src/w.ts': `import { done, Step, Workflow } from 'stepwright';
@Workflow({ name: 'w', description: 'Ends' }) export class W { @Step() end = done({ a: 1 }); }`,
  });
  const { diagnostics, written, internalErrors } = await runCodegen({ root: project.root, cache: false });
  expect(diagnostics.map(({ code, message, place }) => `${code} ${place?.file} ${message}`)).toEqual([
    'SW9014 src/w.ts stepwright failed while it read class `W` of `src/w.ts`: Maximum call stack size exceeded',
  ]);
  expect(written).toEqual([]);
  expect(internalErrors).toMatchObject([{ cause: expect.any(RangeError) }]);
}, 60_000);
