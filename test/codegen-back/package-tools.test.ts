import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type WatchedRun, watchCodegen } from '../../src/codegen/watch.js';
import { nightlyTest, smoke } from '../nightly.js';
import { build, CONSUMER, createProvider, install } from './package-tools.fixture.js';
import { command, createProject, type Project, stepwright, tsc } from './project.fixture.js';

const projects: Project[] = [];
afterEach(async () => {
  for (const project of projects.splice(0)) await project.remove();
});

const keep = async (made: Promise<Project>): Promise<Project> => {
  const project = await made;
  projects.push(project);
  return project;
};

// Each test starts processes with a compiler in them.
describe('tools of a package', { timeout: 240_000 }, () => {
  test.each(smoke(['link', 'copy'] as const))('installed as a %s are called, and run', async (way) => {
    const provider = await keep(createProvider());
    expect(await command(['codegen'], provider.root)).toMatchObject({ code: 0, stderr: '' });
    await build(provider);
    const consumer = await keep(createProject(CONSUMER));
    await install(provider, consumer, way);
    expect(await command(['codegen'], consumer.root)).toMatchObject({ code: 0, stderr: '' });
    expect(await tsc(consumer)).toMatchObject({ code: 0, stdout: '' });
    const ran = await stepwright(['run', 'find', '--arg', 'what=cats', '--json'], consumer.root);
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      status: 'succeeded',
      result: { text: 'page of cats 0', count: 3, guide: 'Search before you ask.\n' },
    });
    expect(await command(['check'], consumer.root)).toMatchObject({ code: 0, stderr: '' });
    expect(await command(['check'], provider.root)).toMatchObject({ code: 0, stderr: '' });
  });

  nightlyTest.each(['link', 'copy'] as const)('a watched run follows the manifest of a %s', async (way) => {
    const provider = await keep(createProvider());
    expect(await command(['codegen'], provider.root)).toMatchObject({ code: 0, stderr: '' });
    await build(provider);
    const consumer = await keep(createProject(CONSUMER));
    await install(provider, consumer, way);
    const runs = watchedRuns(consumer.root);
    expect((await runs.next()).result?.diagnostics).toEqual([]);

    const manifest = path.join(consumer.root, 'node_modules/@acme/tools/stepwright.manifest.json');
    const kept = path.join(consumer.root, 'kept');
    copyFileSync(manifest, kept);
    writeFileSync(manifest, '{');
    const codes = async () => (await runs.next()).result?.diagnostics.map(({ code }) => code);
    expect(await codes()).toContain('SW6031');
    // As installers do.
    rmSync(manifest);
    renameSync(kept, manifest);
    let last = await codes();
    // The moment without a manifest may have been seen.
    if (last?.length !== 0) last = await codes();
    expect(last).toEqual([]);
    writeFileSync(manifest, '[');
    expect(await codes()).toContain('SW6031');
    await runs.close();
  });
});

/** The runs of codegen that watches a project, one after another. */
function watchedRuns(root: string): { next: () => Promise<WatchedRun>; close: () => Promise<void> } {
  const runs: WatchedRun[] = [];
  let wake = (): void => {};
  const watcher = watchCodegen({
    root,
    onRun: (run) => {
      runs.push(run);
      wake();
    },
  });
  return {
    next: async () => {
      while (runs.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return runs.shift() as WatchedRun;
    },
    close: () => watcher.close(),
  };
}
