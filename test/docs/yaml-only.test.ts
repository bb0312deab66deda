import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wordsOf } from '../../src/cli/command-line.js';
import { bareProject, type CliProject } from '../cli/cli-project.fixture.js';
import { publishedServer } from '../e2e/upstream/servers.js';
import { fencesOf, page } from './fences.js';

const fences = fencesOf(page('docs/yaml-only.md'));
const named = (file: string) => fences.find((fence) => fence.file === file)?.body ?? '';

let project: CliProject;
beforeAll(() => {
  project = bareProject();
}, 240_000);
afterAll(() => project.remove());

/** The commands of a section. */
function commandsOf(section: string): readonly string[] {
  const lines = fences.filter((each) => each.language === 'sh' && each.section === section);
  return lines.flatMap(({ body }) => body.trimEnd().split('\n'));
}

function type(line = ''): ReturnType<CliProject['stepwright']> {
  const [npx, stepwright, ...args] = wordsOf(line) ?? [];
  expect([npx, stepwright]).toEqual(['npx', 'stepwright']);
  return project.stepwright(...args);
}

const typed = (section: string) => commandsOf(section).map(type);

/** Starts the published server of this repository in place of one that is fetched. */
function withInstalledServer(): void {
  const config = JSON.parse(named('templates/yaml/stepwright.config.json'));
  config.upstream.files = publishedServer('filesystem', 'notes');
  project.write('stepwright.config.json', JSON.stringify(config));
}

test('the page leads from an empty folder to an answer, a fault and a chart', { timeout: 240_000 }, () => {
  const [install, init, run, ...others] = commandsOf('In three commands');
  expect([install?.startsWith('npm install '), others]).toEqual([true, []]);
  // By `npm install`.
  project.write('package.json', '{}');
  const made = type(init);
  expect(made).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`\nNext: ${run}\n`) });
  for (const file of ['stepwright.config.json', 'workflows/add-note.yaml'])
    expect(readFileSync(path.join(project.root, file), 'utf8')).toBe(named(`templates/yaml/${file}`));
  expect(existsSync(path.join(project.root, 'generated/registry.specs.schema.json'))).toBe(true);

  withInstalledServer();
  const answer = type(run);
  expect({ code: answer.code, out: answer.out.trimEnd() }).toEqual({
    code: 0,
    out: named('answer').trimEnd(),
  });
  expect(readFileSync(path.join(project.root, 'notes/inbox.md'), 'utf8')).toBe(named('answer'));

  expect(typed('Check it')).toMatchObject([{ code: 0, out: '1 workflow without errors: add-note\n' }]);
  const workflow = named('templates/yaml/workflows/add-note.yaml');
  project.write('workflows/add-note.yaml', workflow.replace('{ path:', '{ pth:'));
  const { err } = project.stepwright('validate');
  expect(err).toContain(named('fault'));
  const tasksOf = (file: string | URL) => JSON.parse(readFileSync(file, 'utf8')).tasks;
  const [{ problemMatcher: matchers }] = tasksOf(path.join(project.root, '.vscode/tasks.json'));
  const inEditor = new RegExp(matchers[0].pattern.regexp, 'm').exec(err)?.slice(1, -1);
  expect(inEditor).toEqual(['workflows/add-note.yaml', '9', '15', 'error', 'SW4003']);
  const typescript = new URL('../../templates/typescript/_vscode/tasks.json', import.meta.url);
  expect(tasksOf(typescript)[0].problemMatcher).toEqual(['$tsc', ...matchers]);
  project.write('workflows/add-note.yaml', workflow);
  const snippets = JSON.parse(
    readFileSync(path.join(project.root, '.vscode/stepwright.code-snippets'), 'utf8'),
  );
  const lines: readonly string[] = snippets['Stepwright workflow'].body;
  const text = lines
    .join('\n')
    .replace(/\$\{\d+:([^}]*)\}/g, '$1')
    .replace('$0', '')
    .replaceAll('\\$', '$');
  project.write('workflows/snippet.yaml', text);
  expect(project.stepwright('validate')).toMatchObject({
    code: 0,
    out: expect.stringContaining('show-note'),
  });
  rmSync(path.join(project.root, 'workflows/snippet.yaml'));

  const [listed, outline, dry] = typed('See it');
  expect(listed?.out).toContain('    add-note: Adds a line to the inbox');
  expect(outline?.out).toContain('- write: call files_write_file\n');
  expect(dry).toMatchObject({ code: 0 });

  const [record, repeat] = commandsOf('Test it');
  expect(type(record)).toMatchObject({ code: 0 });
  project.write('add-note.test.mjs', named('add-note.test.mjs'));
  const [node, ...args] = wordsOf(repeat ?? '') ?? [];
  expect(node).toBe('node');
  const tested = spawnSync(process.execPath, args, { cwd: project.root, encoding: 'utf8' });
  expect(tested.stdout).toContain('# pass 1\n');

  // The snapshot of the template is that of the version which its configuration names.
  expect(typed('Add a server')).toMatchObject([{ code: 0, out: 'src/upstream/files.json is current\n' }]);
});
