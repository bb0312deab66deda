import { join } from 'node:path';
import * as authors from 'stepwright';
import * as builder from 'stepwright/builder';
import * as codegen from 'stepwright/codegen';
import * as formats from 'stepwright/formats';
import * as runtime from 'stepwright/runtime';
import { afterAll, describe, expect, test } from 'vitest';
import { dispatch } from '../../src/cli/dispatch.js';
import { diagnosticTable } from '../../src/graph/diagnostics/diagnostic.js';
import { runCodegen } from '../built-package.js';
import { sharedClasses } from './diagnostic-examples.js';
import { fencesOf, page } from './fences.js';
import {
  examplesWith,
  excerptsOf,
  fenceNamed,
  PAGES,
  pageProject,
  project,
  REFERENCE,
  samplesOf,
} from './pages.js';
import { typeErrors } from './temp-project.js';

const withExcerpts = PAGES.filter((file) => excerptsOf(file).length > 0);
const withSamples = PAGES.filter((file) => samplesOf(file).length > 0);
const fences = PAGES.flatMap((file) => fencesOf(page(file)).map((fence) => ({ page: file, ...fence })));
const json = fences.filter(({ language }) => language === 'json');
const commands = PAGES.flatMap((file) =>
  [...page(file).matchAll(/npx stepwright ([^`\n&]*)/g)].map(([, command = '']) => ({
    page: file,
    command: command.trim(),
  })),
);

/** The functions that an initializer may call: exports of `stepwright` in lower case, except those for messages. */
const MESSAGES = new Set(['user', 'assistant', 'system', 'image', 'audio', 'simplePrompt']);
const VERBS = Object.keys(authors).filter((name) => /^[a-z]/.test(name) && !MESSAGES.has(name));

test('every code fence is of a kind that is tested', () => {
  const languages = new Set(fences.map(({ language }) => language));
  // The tests of each page compare its text with real output.
  expect([...languages].sort()).toEqual(['diff', 'json', 'sh', 'text', 'ts', 'yaml']);
  expect(withExcerpts).toContain('README.md');
  expect(withSamples).toEqual([
    'docs/deploy.md',
    'docs/design-patterns.md',
    'docs/how-it-checks.md',
    'docs/migration.md',
    'docs/opentelemetry.md',
    'docs/question-pages.md',
    'docs/recipes.md',
    'docs/serve-over-http.md',
    'docs/several-servers.md',
    'docs/spec-files.md',
    'docs/tasks.md',
    'docs/temporal.md',
    'docs/tutorial.md',
    'docs/upstream-tools.md',
    'docs/reference/builder.md',
    'docs/reference/cli.md',
    'docs/reference/command-codegen.md',
    'docs/reference/configuration.md',
    'docs/reference/decorators.md',
    'docs/reference/expressions.md',
    'docs/reference/middleware.md',
    'docs/reference/programs.md',
    'docs/reference/server.md',
    'docs/reference/store.md',
    'docs/reference/verb-ask-model.md',
    'docs/reference/verb-ask.md',
    'docs/reference/verb-attempt.md',
    'docs/reference/verb-branches.md',
    'docs/reference/verb-call.md',
    'docs/reference/verb-chain.md',
    'docs/reference/verb-delegate.md',
    'docs/reference/verb-done.md',
    'docs/reference/verb-errorof.md',
    'docs/reference/verb-fail.md',
    'docs/reference/verb-foreach.md',
    'docs/reference/verb-get.md',
    'docs/reference/verb-goto.md',
    'docs/reference/verb-human.md',
    'docs/reference/verb-jinja.md',
    'docs/reference/verb-link.md',
    'docs/reference/verb-match.md',
    'docs/reference/verb-onclient.md',
    'docs/reference/verb-owner.md',
    'docs/reference/verb-parallel.md',
    'docs/reference/verb-prompt.md',
    'docs/reference/verb-read.md',
    'docs/reference/verb-role.md',
    'docs/reference/verb-run.md',
    'docs/reference/verb-set.md',
    'docs/reference/verb-shell.md',
    'docs/reference/verb-statusof.md',
    'docs/reference/verb-wait.md',
    'docs/reference/verbs.md',
  ]);
});

test.each(withExcerpts)('%s shows its excerpts as they are in the repository', (file) => {
  for (const { file: source = '', body } of excerptsOf(file)) expect(page(source)).toContain(body);
});

/** Pages whose samples are checked as one project, since each project needs a compiler. */
const projects = [
  ...withSamples.filter((file) => !REFERENCE.includes(file)).map((file) => [file]),
  withSamples.filter((file) => REFERENCE.includes(file)),
].map((files) => ({ name: files.join(', '), files }));

/** The files of the projects that were made. */
const made: { readonly root: string; readonly files: readonly string[]; remove(): Promise<void> }[] = [];
afterAll(() => Promise.all(made.map(({ remove }) => remove())));

test.each(projects)(
  '$name: workflows that codegen accepts',
  { timeout: 300_000 },
  async ({ files: pages }) => {
    const { root, files, result, remove } = await pageProject(...pages);
    made.push({ root, files: [...files, 'generated/registry.ts'].map((file) => join(root, file)), remove });
    expect(result.diagnostics).toEqual([]);
    const samples = pages.flatMap(samplesOf);
    const declared = samples.flatMap(({ body }) => body.match(/^@Workflow\(/gm) ?? []);
    expect(result.found.workflows).toBe(declared.length);
  },
);

// One compiler for all pages: it reads the declarations of the packages once.
test('the code of these pages compiles', { timeout: 300_000 }, () => {
  const [first] = made;
  if (first === undefined) throw new Error('no page has samples');
  const files = made.flatMap((project) => project.files);
  expect(typeErrors(first.root, files)).toEqual([]);
});

test.each(json)('$page: JSON under "$section" can be read', ({ body }) => {
  for (const text of body.trim().split(/\n(?=\{)/)) expect(() => JSON.parse(text)).not.toThrow();
});

test.each(json.filter(({ file }) => file === 'stepwright.config.json'))(
  '$page: the configuration under "$section" is accepted',
  { timeout: 300_000 },
  async ({ body }) => {
    const { root, write } = await project();
    await write('stepwright.config.json', body);
    await write('src/tools.ts', sharedClasses());
    const { diagnostics } = await runCodegen({ root });
    // The classes that `stepwright pull` writes are not there.
    expect(diagnostics.filter(({ code }) => code !== 'SW4045')).toEqual([]);
  },
);

test.each(commands)('$page: `stepwright $command` is a command with these options', async ({ command }) => {
  const said: string[] = [];
  const output = { out: () => {}, err: (text: string) => void said.push(text), color: false };
  expect(await dispatch([...(command.match(/(?:[^\s"]|"[^"]*")+/g) ?? []), '--help'], output)).toBe(0);
  expect(said).toEqual([]);
});

test('each command has a page with its help', async () => {
  const helpOf = async (...args: readonly string[]): Promise<string> => {
    const said: string[] = [];
    const output = { out: (text: string) => void said.push(text), err: () => {}, color: false };
    await dispatch([...args, '--help'], output);
    return said.join('');
  };
  const names = [...(await helpOf()).matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name = '']) => name);
  expect(names).toContain('explain');
  expect(REFERENCE.filter((file) => /\/command-/.test(file)).sort()).toEqual(
    names.map((name) => `docs/reference/command-${name}.md`).sort(),
  );
  for (const name of names) {
    const text = page(`docs/reference/command-${name}.md`);
    expect(text.startsWith(`# \`stepwright ${name}\`\n`)).toBe(true);
    expect(text).toContain(`\`\`\`text\n${await helpOf(name)}\`\`\`\n`);
  }
});

test('the README shows the diagnostic of a broken reference', { timeout: 300_000 }, async () => {
  const file = 'examples/logseq/add-task.workflow.ts';
  const { said } = await examplesWith(file, page(file).replace('this.verify.path', 'this.verify.paht'));
  expect(said).toBe(fenceNamed('README.md', 'broken').body);
});

describe('the reference', () => {
  test('names everything that the entry points export', () => {
    const exported = [authors, runtime, codegen, builder, formats].flatMap((entry) => Object.keys(entry));
    const words = new Set(REFERENCE.flatMap((file) => page(file).match(/[\w$]+/g) ?? []));
    expect(exported.filter((name) => !words.has(name))).toEqual([]);
  });

  test.each(VERBS)('says of `%s` how it is written, how it fails, and shows it', (verb) => {
    const section = page(`docs/reference/verb-${verb.toLowerCase()}.md`);
    expect(section).toMatch(new RegExp(`^(\\| |.*)\`.*\\b${verb}\\b`, 'm'));
    expect(section).toMatch(/^Errors: /m);
    expect(section).toMatch(/^```ts$/m);
  });

  test('lists every warning', () => {
    const [, section = ''] = /^## Warnings\n(.*)/ms.exec(page('docs/reference/configuration.md')) ?? [];
    const listed = [...section.matchAll(/^- \[(SW\d{4})\]/gm)].map(([, code]) => code);
    const warnings = Object.entries(diagnosticTable).filter(([, { severity }]) => severity === 'warning');
    expect(listed).toEqual(warnings.map(([code]) => code).sort());
  });

  test('builds a valid workflow, with the requirements it lists', async () => {
    const { root, write } = await project();
    await write('src/tools.ts', sharedClasses());
    const [fence] = samplesOf('docs/reference/builder.md');
    await write('src/builder.ts', fence?.body ?? '');
    const { needed } = (await import(`${root}/src/builder.ts`)) as { needed: readonly string[] };
    expect(needed).toEqual(['find-page', 'add-line', 'resource://notes/guide']);
  });
});
