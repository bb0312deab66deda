import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCS = join(ROOT, 'docs');
const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** The address of the sources, for links to files that are no pages. Without it they are shown as text. */
const SOURCES = process.env.SOURCES_URL;

const packaged = (file) => join(ROOT, 'site/node_modules', file);

/** The pages of folders have the names that sites have for them. */
const toIndex = (file) => file.replace(/(^|\/)README\.md/, '$1index.md');

const addressOf = (file) =>
  `/${file
    .replace(/(^|\/)README\.md/, '$1')
    .replace(/\.md(#|$)/, '$1')
    .replace(/^\.\//, '')}`;

/** The links of a page in its lists and in the first column of its tables, by section. */
function linksOf(page, folder = '') {
  const sections = readFileSync(join(DOCS, page), 'utf8')
    .split(/^## /m)
    .slice(folder === '' ? 1 : 0);
  return sections.map((text) => ({
    text: text.slice(0, text.indexOf('\n')),
    items: [...text.matchAll(/^(?:- |\| )\[([^\]]+)\]\(([\w./-]+\.md)\)(?:: (.*))?/gm)].map(
      ([, name, file, about = '']) => ({
        text: name,
        link: addressOf(folder + file),
        file: folder + file,
        about,
      }),
    ),
  }));
}

const [reference] = linksOf('reference/README.md', 'reference/');
/** The pages of verbs, by topic, and those of commands. */
const groups = [
  ...linksOf('reference/verbs.md', 'reference/').slice(1),
  { text: 'Commands', items: linksOf('reference/cli.md', 'reference/')[0].items },
]
  .filter(({ items }) => items.length > 0)
  .map(({ text, items }) => ({
    ...{ text, collapsed: true },
    items: items.map((item) => ({ ...item, text: item.text.replaceAll(/`|stepwright /g, '').trim() })),
  }));
/** Old pages of several verbs or commands: where each leads, and where its sections lead but for those below. */
const MOVED = {};
for (const topic of ['calls', 'control-flow', 'questions', 'client-work', 'state-and-time', 'results'])
  MOVED[topic] = ['verbs', 'verb-'];
for (const name of ['codegen', 'dev', 'graph', 'infer', 'pull', 'run', 'runs'])
  MOVED[`cli-${name}`] = [`command-${name}`, `command-${name}#`];
const MOVED_SECTIONS = {
  compensate: 'verb-call#compensate',
  'approval-of-a-call': 'verb-ask#approval-of-a-call',
  askmodel: 'verb-ask-model',
  'spec-files': 'command-validate',
  workers: 'command-worker',
  'stepwright-sign-in': 'command-sign-in',
};
const sections = linksOf('README.md').map((section) =>
  section.text === 'Reference'
    ? { ...section, items: [...section.items, ...reference.items, ...groups] }
    : section,
);

/** As GitHub does, so that one address of a section is right in both. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Links to files beside `docs` lead to the sources, and braces of templates in code are text. */
function adaptPages(markdown) {
  markdown.core.ruler.push('sources', ({ tokens }) => {
    for (const { children } of tokens) {
      const open = [];
      for (const token of children ?? []) {
        if (token.type === 'code_inline') token.attrSet('v-pre', '');
        else if (token.type === 'link_open') {
          const href = token.attrGet('href');
          // A link is relative to the address of a page, and not to its file.
          token.attrSet('href', toIndex(href));
          const isSource = /^(\.\.\/)+(?:examples|api|CHANGELOG|LICENSE)/.test(href);
          open.push(isSource && SOURCES === undefined);
          if (isSource && SOURCES === undefined)
            Object.assign(token, { tag: 'span', type: 'span_open', attrs: [] });
          else if (isSource) token.attrSet('href', SOURCES + href.replace(/^(\.\.\/)+/, '/'));
        } else if (token.type === 'link_close' && open.pop())
          Object.assign(token, { tag: 'span', type: 'span_close' });
      }
    }
  });
}

/** A page in the place of an old one. */
function redirect([page, section]) {
  const script = `const name = location.hash.slice(1), moved = ${JSON.stringify(MOVED_SECTIONS)};
location.replace(name === '' ? '${page}' : (moved[name] ?? '${section}' + name));`;
  return `<!doctype html><meta charset="utf-8"><title>${page}</title><script>${script}</script><p><a href="${page}">${page}</a></p>\n`;
}

/** Each page as Markdown beside its HTML, and `llms.txt` with a line for each. */
function writeMarkdown({ pages, outDir }) {
  for (const page of pages) {
    const target = join(outDir, toIndex(page));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      readFileSync(join(DOCS, page), 'utf8').replace(/(\]\([^)\s]*)README\.md/g, '$1index.md'),
    );
  }
  for (const [name, target] of Object.entries(MOVED))
    writeFileSync(join(outDir, `reference/${name}.html`), redirect(target));
  const lists = sections.map(
    ({ text, items }) =>
      `## ${text}\n\n${items
        .flatMap((item) => item.items ?? [item])
        .map(({ text: name, file, about }) => `- [${name}](${toIndex(file)})${about && `: ${about}`}`)
        .join('\n')}\n`,
  );
  writeFileSync(join(outDir, 'llms.txt'), `# Stepwright\n\n> ${description}\n\n${lists.join('\n')}`);
}

export default {
  title: 'Stepwright',
  description,
  srcDir: DOCS,
  outDir: '../site/dist',
  cacheDir: 'node_modules/.vitepress',
  cleanUrls: true,
  rewrites: toIndex,
  // The pages are outside of this folder, where the packages are.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: packaged('vue/dist/vue.runtime.esm-bundler.js') },
        {
          find: /^vue\/server-renderer$/,
          replacement: packaged('@vue/server-renderer/dist/server-renderer.esm-bundler.js'),
        },
      ],
    },
  },
  markdown: { anchor: { slugify }, config: adaptPages },
  themeConfig: {
    nav: [
      ...sections.map(({ text, items }) => ({ text, link: items[0].link })),
      { text: version, link: '/' },
    ],
    sidebar: sections.map((section) => ({ ...section, collapsed: section.text === 'Reference' })),
    outline: 'deep',
    search: { provider: 'local' },
  },
  buildEnd: writeMarkdown,
};
