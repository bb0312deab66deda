import { cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { createProject, type Project, tsc } from './project.fixture.js';

const compilerOptions = {
  ...{ target: 'ES2022', lib: ['ES2023'], types: [], strict: true, skipLibCheck: true },
  ...{ module: 'NodeNext', experimentalDecorators: true, verbatimModuleSyntax: true },
};

/** The sources of a package of tools, two of whose classes have one name. */
export const PROVIDER: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    ...{ name: '@acme/tools', version: '1.2.0', type: 'module' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './pages': { types: './dist/pages/page.d.ts', default: './dist/pages/page.js' },
      './package.json': './package.json',
    },
    files: ['dist', 'stepwright.manifest.json'],
  }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: { ...compilerOptions, rootDir: 'src', outDir: 'dist', declaration: true },
    include: ['src'],
  }),
  'stepwright.config.json': JSON.stringify({
    registries: [
      {
        ...{ include: ['src/**/*.ts'], exclude: ['src/registry.ts'], out: 'src/registry.ts' },
        manifest: 'stepwright.manifest.json',
      },
    ],
  }),
  'src/index.ts': "export * from './search.js';\nexport { Guide as Manual } from './guide.js';\n",
  'src/search.ts': `import { Tool } from 'stepwright';
import { z } from 'zod';
@Tool({
  name: 'search',
  description: 'Searches',
  annotations: { readOnlyHint: true },
  input: z.object({ query: z.string().describe('What to find'), limit: z.number().default(3) }),
})
export class Search {
  execute({ query, limit }: { query: string; limit?: number }): { hits: string[]; count: number } {
    return { hits: Array.from({ length: limit ?? 0 }, (_, at) => \`\${query} \${at}\`), count: limit ?? 0 };
  }
}
`,
  'src/guide.ts': `import { Resource } from 'stepwright';
@Resource({ name: 'guide', description: 'How to search', file: 'guide.md' })
export class Guide {
  static readonly uri = 'acme://guide';
}
`,
  'src/guide.md': 'Search before you ask.\n',
  'src/pages/page.ts': `import { Tool } from 'stepwright';
/** The page of a hit. */
@Tool({ name: 'page', description: 'Reads a page', visibility: 'workflow' })
export default class Page {
  execute({ hit }: { hit: string }): { text: string } {
    return { text: \`page of \${hit}\` };
  }
}
`,
};

/** A project that calls the tools of that package. */
export const CONSUMER: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'author', type: 'module' }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: { ...compilerOptions, noEmit: true },
    include: ['src', 'generated'],
  }),
  'src/find.ts': `import { Arg, call, done, read, Step, Workflow } from 'stepwright';
import * as acme from '@acme/tools';
import Page from '@acme/tools/pages';
@Workflow({ name: 'find', description: 'Finds', instructions: [acme.Manual] })
export class Find {
  @Arg({ description: 'What' }) what!: Arg<string>;
  @Step() found = call(acme.Search, { query: this.what });
  @Step() page = call(Page, { hit: this.found.hits[0] ?? 'nothing' });
  @Step() guide = read(acme.Manual);
  output = done({ text: this.page.text, count: this.found.count, guide: this.guide });
}
`,
};

/** What is published of a package. */
const PUBLISHED = ['package.json', 'dist', 'stepwright.manifest.json'];

/** How a package is installed: where it is, by a link, as pnpm and workspaces do, or as a copy. */
export type Installation = 'link' | 'copy';

/** Puts a package into the `node_modules` of another project. */
export async function install(provider: Project, consumer: Project, way: Installation): Promise<void> {
  const target = path.join(consumer.root, 'node_modules/@acme/tools');
  await mkdir(path.dirname(target), { recursive: true });
  if (way === 'link') {
    await symlink(provider.root, target, 'dir');
    return;
  }
  for (const file of PUBLISHED)
    await cp(path.join(provider.root, file), path.join(target, file), { recursive: true });
}

/** Builds what is published with `tsc`; the manifest has to be there. */
export async function build(provider: Project): Promise<void> {
  const built = await tsc(provider);
  if (built.code !== 0) throw new Error(built.stdout);
}

/** The project of a package, with other files than usual where `more` has them. */
export function createProvider(more: Readonly<Record<string, string>> = {}): Promise<Project> {
  return createProject({ ...PROVIDER, ...more }, 'provider-');
}
