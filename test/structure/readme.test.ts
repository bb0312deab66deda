import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const OF_NPM = new Set(['ci', 'install', 'test']);

/** The commands of a text's shell fences that `npm` cannot carry out in a package with these scripts. */
function unknownCommands(markdown: string, scripts: Readonly<Record<string, string>>): string[] {
  return [...markdown.matchAll(/^```(?:sh|bash|shell)\n(.*?)^```/gms)]
    .flatMap(([, body]) => (body ?? '').split(/\n|&&/))
    .map((command) => command.replace(/#.*/, '').trim())
    .filter((command) => {
      const [program, verb = '', script = ''] = command.split(/\s+/);
      if (program !== 'npm') return false;
      if (verb === 'test' || verb === 'run') return !((verb === 'run' ? script : verb) in scripts);
      return !OF_NPM.has(verb);
    });
}

/** Relative links of a page that lead nowhere. */
function deadLinks(file: string, markdown: string): string[] {
  return [...markdown.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
    .map(([, target]) => posix.join(posix.dirname(file), target ?? ''))
    .filter((target) => !existsSync(ROOT + target));
}

/** Paths that a text names as code and the repository does not have. Patterns and placeholders are left out. */
function missingPaths(markdown: string): string[] {
  return [...markdown.matchAll(/`((?:src|test|docs|examples|scripts)\/[^`\s]*)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/\*|nnnn/.test(path) && !existsSync(ROOT + path));
}

const read = (file: string): string => readFileSync(ROOT + file, 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'docs/tutorial.md',
  'docs/how-it-works.md',
  'docs/reference/README.md',
  'docs/diagnostics/README.md',
];

test('the README names the two commands', () => {
  expect(read('README.md')).toContain('npm ci && npm run demo');
  expect(read('README.md')).toContain('npm ci && npm test');
});

const FOR_CONTRIBUTORS = ['ARCHITECTURE.md', 'CONTRIBUTING.md'];

test.each(['README.md', ...FOR_CONTRIBUTORS])('%s: its commands exist', (file) => {
  expect(unknownCommands(read(file), scripts)).toEqual([]);
});

test.each(FOR_CONTRIBUTORS)('%s: the files and folders it names exist', (file) => {
  expect(missingPaths(read(file))).toEqual([]);
});

test.each(PAGES)('%s: its links lead somewhere', (file) => {
  expect(deadLinks(file, read(file))).toEqual([]);
});

describe('the rules', () => {
  test('find a command that is gone', () => {
    const page =
      '```sh\nnpm ci && npm run gone  # why\nnpm run here -- --check\nnpm tset\nnode x.js\n```\n`npm run prose`';
    expect(unknownCommands(page, { here: '' })).toEqual(['npm run gone', 'npm tset']);
  });

  test('find a path that is gone', () => {
    expect(missingPaths('`src/graph` `src/gone.ts` `test/**/*.ts` src/gone')).toEqual(['src/gone.ts']);
  });

  test('find a dead link', () => {
    expect(
      deadLinks('docs/a.md', '[a](../ARCHITECTURE.md) [b](gone.md#x) [c](https://example.org) [d](#e)'),
    ).toEqual(['docs/gone.md']);
  });
});
