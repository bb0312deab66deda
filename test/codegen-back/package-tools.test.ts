import { afterEach, describe, expect, test } from 'vitest';
import { build, CONSUMER, createProvider, install } from './package-tools.fixture.js';
import { createProject, type Project, stepwright, tsc } from './project.fixture.js';

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
  test.each(['link', 'copy'] as const)('installed as a %s are called, and run', async (way) => {
    const provider = await keep(createProvider());
    expect(await stepwright(['codegen'], provider.root)).toMatchObject({ code: 0, stderr: '' });
    await build(provider);
    const consumer = await keep(createProject(CONSUMER));
    await install(provider, consumer, way);
    expect(await stepwright(['codegen'], consumer.root)).toMatchObject({ code: 0, stderr: '' });
    expect(await tsc(consumer)).toMatchObject({ code: 0, stdout: '' });
    const ran = await stepwright(['run', 'find', '--arg', 'what=cats', '--json'], consumer.root);
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      status: 'succeeded',
      result: { text: 'page of cats 0', count: 3, guide: 'Search before you ask.\n' },
    });
    expect(await stepwright(['check'], consumer.root)).toMatchObject({ code: 0, stderr: '' });
    expect(await stepwright(['check'], provider.root)).toMatchObject({ code: 0, stderr: '' });
  });
});
