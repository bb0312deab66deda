import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliProject, cliProject } from '../cli/cli-project.fixture.js';
import { fencesOf, page } from './fences.js';

const fences = fencesOf(page('docs/tutorial-agent.md'));
const textOf = (file: string): string => fences.find((fence) => fence.file === file)?.body ?? '';

let project: CliProject;
beforeAll(() => {
  project = cliProject();
  for (const file of ['garden.txt', 'review.yaml']) project.write(file, textOf(file));
}, 300_000);
afterAll(() => project.remove());

/** Runs a command of the page. @param input what is typed. */
function type(start: string, input = ''): { readonly status: number | null; out: string; err: string } {
  const [command, ...others] = fences.flatMap(({ language, body }) =>
    language === 'sh' && body.startsWith(start) ? [body] : [],
  );
  if (command === undefined || others.length > 0) throw new Error(`the page has not one command ${start}`);
  const local = command.replace('npx stepwright', `${process.execPath} ${project.main}`);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', local], {
    cwd: project.root,
    encoding: 'utf8',
    input,
  });
  return { status, out: stdout, err: stderr };
}

test('the tutorial of agents works as written', { timeout: 300_000 }, () => {
  expect(type('npx stepwright validate')).toMatchObject({ status: 0 });
  const typed = type('npx stepwright run', 'y\nIt is short.\ny\n');
  expect({ status: typed.status, result: JSON.parse(typed.out) }).toEqual({
    status: 0,
    result: { kept: true, review: 'It is short.' },
  });
  expect(typed.err).toContain("Step 'read' has a command:\n  cat garden.txt\nRun it? [y/N]");
  expect(type('echo y |')).toMatchObject({ status: 0, out: textOf('output') });

  project.write('review.yaml', textOf('review.yaml').replace('needs_state: [source]', 'needs_state: []'));
  expect(type('npx stepwright validate')).toMatchObject({
    status: 1,
    err: expect.stringContaining('SW4033'),
  });
});
