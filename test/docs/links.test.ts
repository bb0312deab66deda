import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { page, ROOT } from './fences.js';
import { PAGES } from './pages.js';

const DIAGNOSTICS = readdirSync(`${ROOT}docs/diagnostics`).map((file) => `docs/diagnostics/${file}`);

/** The anchors of a page: those that GitHub makes of headings, and explicit ones. */
function anchorsOf(markdown: string): Set<string> {
  const outside = markdown.replace(/^```.*?^```$/gms, '');
  const headings = [...outside.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...headings, ...[...outside.matchAll(/<a id="([^"]*)">/g)].map(([, id = '']) => id)]);
}

/** A link of a page to a file or a section. */
interface Link {
  /** As it is written, without the section; empty for the page itself. */
  readonly target: string;
  readonly anchor: string | undefined;
  /** The file or folder, relative to the root. */
  readonly to: string;
}

/** The links of a page that are not addresses on the web. */
function linksOf(file: string, markdown: string): Link[] {
  const outside = markdown.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  return [...outside.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([, target = '', anchor]) => ({
      target,
      anchor,
      to: target === '' ? file : posix.join(posix.dirname(file), target),
    }),
  );
}

/** Broken links of a page to files and sections of the repository. */
function deadLinks(file: string, markdown: string, read = page): string[] {
  return linksOf(file, markdown).flatMap(({ target, anchor, to }) => {
    if (!existsSync(ROOT + to)) return [target];
    const isThere = anchor === undefined || anchorsOf(target === '' ? markdown : read(to)).has(anchor);
    return isThere ? [] : [`${target}#${anchor}`];
  });
}

/** Links of the pages among the files of a package to files that are not among them. */
function linksOutside(files: readonly string[], read = page): string[] {
  const isPacked = (to: string): boolean =>
    files.some((file) => file === to || file.startsWith(to.replace(/\/?$/, '/')));
  return files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      linksOf(file, read(file)).flatMap(({ target, to }) => (isPacked(to) ? [] : [`${file}: ${target}`])),
    );
}

/** The files that `npm pack` takes, except what a build makes. */
function packedFiles(): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'));
}

test.each([...PAGES, ...DIAGNOSTICS])('%s: its links lead somewhere', (file) => {
  expect(deadLinks(file, page(file))).toEqual([]);
});

test('the pages of the package link to nothing that is left out of it', () => {
  const files = packedFiles();
  expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/tutorial.md', ...DIAGNOSTICS]));
  expect(linksOutside(files)).toEqual([]);
});

test('the README and the indexes lead to every page', () => {
  const linked = [
    'README.md',
    'docs/README.md',
    'docs/reference/README.md',
    'docs/reference/verbs.md',
    'docs/reference/cli.md',
  ].flatMap((file) => linksOf(file, page(file)).map(({ to }) => to));
  // Pages for people with a checkout are named: a link would be dead in the package.
  const named = [...page('README.md').matchAll(/`([A-Z]+\.md)`/g)].map(([, file = '']) => file);
  const led = ['README.md', ...linked, ...named];
  expect(PAGES.filter((file) => !led.includes(file))).toEqual([]);
});

test('the index of the documentation has the sections of the site', () => {
  expect([...page('docs/README.md').matchAll(/^## (.*)$/gm)].map(([, name]) => name)).toEqual([
    'Start',
    'Learn',
    'Do',
    'Reference',
    'Codes',
    'Trust',
  ]);
});

describe('the rule', () => {
  test('finds links to missing pages and sections', () => {
    const markdown =
      '# A, b\n[a](gone.md) [b](#a-b) [c](#gone) [d](b.md#x) [e](https://example.org) `[f](g)`\n';
    const read = () => '# Y\n';
    expect(deadLinks('README.md', markdown, read)).toEqual(['gone.md', '#gone', 'b.md']);
    expect(deadLinks('README.md', '[a](docs/recipes.md#x)', read)).toEqual(['docs/recipes.md#x']);
  });

  test('finds links out of the package', () => {
    const read = (file: string) =>
      file === 'a.md' ? '[b](docs/b.md#x) [c](c.md) [d](docs) [e](#e)' : '[a](../a.md) [f](../f)';
    expect(linksOutside(['a.md', 'docs/b.md'], read)).toEqual(['a.md: c.md', 'docs/b.md: ../f']);
  });
});
