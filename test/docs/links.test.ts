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

/** Broken links of a page to files and sections of the repository. */
function deadLinks(file: string, markdown: string, read = page): string[] {
  const outside = markdown.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  return [...outside.matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
    ([, target = '', anchor]) => {
      const to = target === '' ? file : posix.join(posix.dirname(file), target);
      if (target !== '' && !existsSync(ROOT + to)) return [target];
      const isThere = anchor === undefined || anchorsOf(target === '' ? markdown : read(to)).has(anchor);
      return isThere ? [] : [`${target}#${anchor}`];
    },
  );
}

test.each([...PAGES, ...DIAGNOSTICS])('%s: its links lead somewhere', (file) => {
  expect(deadLinks(file, page(file))).toEqual([]);
});

test('the README and the index of the reference lead to every page', () => {
  const linked = ['README.md', 'docs/reference/README.md'].flatMap((file) =>
    [...page(file).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) =>
      posix.join(posix.dirname(file), target),
    ),
  );
  expect(PAGES.filter((file) => file !== 'README.md' && !linked.includes(file))).toEqual([]);
});

describe('the rule', () => {
  test('finds links to missing pages and sections', () => {
    const markdown =
      '# A, b\n[a](gone.md) [b](#a-b) [c](#gone) [d](b.md#x) [e](https://example.org) `[f](g)`\n';
    const read = () => '# Y\n';
    expect(deadLinks('README.md', markdown, read)).toEqual(['gone.md', '#gone', 'b.md']);
    expect(deadLinks('README.md', '[a](docs/recipes.md#x)', read)).toEqual(['docs/recipes.md#x']);
  });
});
