import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { takeTemporaryName } from '../../src/codegen/writer.js';
import { runCodegen } from '../built-package.js';
import { createProject, type Project } from './project.fixture.js';

let project: Project;
afterEach(() => project.remove());

/** A temporary file of a process that was killed while it wrote. */
function remainOf(target: string): string {
  const { pid } = spawnSync(process.execPath, ['--version']);
  const { temporary, release } = takeTemporaryName(target);
  release();
  return temporary.replace(`-${process.pid}-`, `-${pid}-`);
}

test('a run removes the temporary files of killed runs beside the registry', async () => {
  const remain = remainOf('generated/registry.ts');
  project = await createProject({
    'src/w.ts': `import { done, Step, Workflow } from 'stepwright';
@Workflow({ name: 'w', description: 'Ends' }) export class W { @Step() end = done({ a: 1 }); }`,
    [remain]: 'half of a regist',
    'generated/.other.ts.tmp': 'not ours',
  });
  const generated = path.join(project.root, 'generated');
  await runCodegen({ root: project.root, check: true });
  expect(readdirSync(generated)).toContain(path.basename(remain));
  const { diagnostics } = await runCodegen({ root: project.root });
  expect(diagnostics).toEqual([]);
  expect(readdirSync(generated).sort()).toEqual(['.other.ts.tmp', 'registry.ts']);
}, 60_000);
