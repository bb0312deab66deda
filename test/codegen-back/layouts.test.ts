import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { smoke } from '../nightly.js';
import { command, createProject, type Project, stepwright } from './project.fixture.js';

/** What the modules of a layout import one another by. */
interface Specifiers {
  /** Of the constant that the description and the schema of the tool are made with. */
  readonly words: string;
  readonly tool: string;
}

/** A tool that codegen has to import for its schema, and a workflow that calls it. */
const sources = ({ words, tool }: Specifiers) => ({
  words: "export const greeting: string = 'Hello';\n",
  tool: `import { Tool } from 'stepwright';
import { z } from 'zod';
import { greeting } from '${words}';
@Tool({
  name: 'greet',
  description: 'Greets',
  input: z.object({ name: z.string().describe(\`Who hears \${greeting}\`) }),
})
export class Greet {
  execute({ name }: { name: string }): { text: string } {
    return { text: \`\${greeting} \${name}\` };
  }
}
`,
  workflow: `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { Greet } from '${tool}';
@Workflow({ name: 'hello', description: 'Greets somebody' })
export class Hello {
  @Arg({ description: 'Who' }) who!: Arg<string>;
  @Step() greeted = call(Greet, { name: this.who });
  output = done({ text: this.greeted.text });
}
`,
});

const OPTIONS = {
  ...{ target: 'ES2022', lib: ['ES2023'], types: [], noEmit: true, strict: true },
  ...{ experimentalDecorators: true, skipLibCheck: true, module: 'NodeNext' },
};
const BUNDLER = { ...OPTIONS, module: 'ESNext', moduleResolution: 'bundler' };
const tsconfig = (compilerOptions: object, more: object = { include: ['src', 'generated'] }): string =>
  JSON.stringify({ compilerOptions, ...more });
const manifest = (more: object = {}): string => JSON.stringify({ name: 'author', type: 'module', ...more });

type Files = Readonly<Record<string, string>>;

/** A layout of one folder, `src`. */
const inSource = (specifiers: Specifiers, files: Files): Files => {
  const { words, tool, workflow } = sources(specifiers);
  return { 'src/words.ts': words, 'src/tool.ts': tool, 'src/hello.ts': workflow, ...files };
};

const relative: Specifiers = { words: './words.js', tool: './tool.js' };
const bare: Specifiers = { words: './words', tool: './tool' };
const aliased: Specifiers = { words: '@/words', tool: '@/tool' };
const aliases = { paths: { '@/*': ['./src/*'] } };

/** A tool whose schema says what a file of JSON has. */
const withJson = (from: string, words: string, more: Files): Files =>
  inSource(relative, {
    ...more,
    'src/words.json': '{ "greeting": "Hello" }',
    'src/words.ts': words,
    'src/tool.ts': sources({ ...relative, words: from }).tool,
  });
const resolvingJson = { ...BUNDLER, resolveJsonModule: true };

/** A package that another one of the same repository imports. */
const sharedWords = (exports: unknown): Files => ({
  'packages/words/package.json': JSON.stringify({ name: '@acme/words', type: 'module', exports }),
  'packages/words/src/index.ts': sources(relative).words,
});
const inPackage = (files: Files): Files => {
  const { tool, workflow } = sources({ words: '@acme/words', tool: './tool.js' });
  return {
    'packages/app/package.json': manifest({ name: '@acme/app' }),
    'packages/app/tsconfig.json': tsconfig(OPTIONS),
    'packages/app/src/tool.ts': tool,
    'packages/app/src/hello.ts': workflow,
    ...files,
  };
};

/** Files in other places. */
function moved(files: Files, places: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([file, text]) => [places[file] ?? file, text]));
}

interface Layout {
  readonly files: Files;
  /** The folder that commands are run in. Default: the root. */
  readonly cwd?: string;
  /** Beside those that run a command. */
  readonly args?: readonly string[];
  /** Symbolic links: where they are, and where they lead. */
  readonly links?: Files;
}

const LAYOUTS: Readonly<Record<string, Layout>> = {
  'imports without an extension': { files: inSource(bare, { 'tsconfig.json': tsconfig(BUNDLER) }) },
  'imports of a folder': {
    files: inSource(
      { ...bare, words: './folder' },
      { 'tsconfig.json': tsconfig(BUNDLER), 'src/folder/index.ts': sources(bare).words },
    ),
  },
  'JSON as bundlers import it': {
    files: withJson(
      './words.json',
      "import words from './words.json';\nexport const { greeting } = words;\n",
      {
        'tsconfig.json': tsconfig(resolvingJson),
      },
    ),
  },
  'sources behind links': {
    files: {
      ...moved(inSource(relative, {}), { 'src/words.ts': 'real/words.ts', 'src/tool.ts': 'real/tool.ts' }),
      'tsconfig.json': tsconfig(OPTIONS),
      'stepwright.config.json': JSON.stringify({
        registries: [{ include: ['src/**'], out: 'generated/registry.ts' }],
      }),
      'src/hello.ts': sources({ ...relative, tool: './linked/tool.js' }).workflow,
    },
    links: { 'src/linked': 'real' },
  },
  '`paths`': {
    files: inSource(aliased, { 'tsconfig.json': tsconfig({ ...BUNDLER, ...aliases }) }),
  },
  '`paths` in a tsconfig that is extended': {
    files: inSource(aliased, {
      'config/base.json': tsconfig({ ...BUNDLER, paths: { '@/*': ['../src/*'] } }, {}),
      'tsconfig.json': JSON.stringify({ extends: './config/base.json', include: ['src', 'generated'] }),
    }),
  },
  '`baseUrl`': {
    files: inSource(
      { words: 'src/words', tool: 'src/tool' },
      { 'tsconfig.json': tsconfig({ ...BUNDLER, baseUrl: '.', ignoreDeprecations: '6.0' }) },
    ),
  },
  '`paths` of CommonJS': {
    files: inSource(aliased, {
      'package.json': JSON.stringify({ name: 'author' }),
      'tsconfig.json': tsconfig({ ...OPTIONS, module: 'CommonJS', moduleResolution: 'bundler', ...aliases }),
    }),
  },
  '`module: commonjs`': {
    files: inSource(bare, {
      'package.json': JSON.stringify({ name: 'author' }),
      'tsconfig.json': tsconfig({ ...OPTIONS, module: 'CommonJS', moduleResolution: 'bundler' }),
    }),
  },
  '`imports` of package.json': {
    files: inSource(
      { words: '#app/words', tool: '#app/tool' },
      {
        'package.json': manifest({ imports: { '#app/*': './src/*.js' } }),
        'tsconfig.json': tsconfig({ ...OPTIONS, rootDir: '.' }),
      },
    ),
  },
  'several tsconfigs': {
    files: inSource(relative, {
      'tsconfig.json': tsconfig(OPTIONS, { include: ['test'] }),
      'tsconfig.build.json': tsconfig(OPTIONS, { include: ['src'] }),
      'stepwright.config.json': '{ "tsconfig": "tsconfig.build.json" }',
    }),
  },
  'a solution': {
    files: inSource(aliased, {
      'tsconfig.json': JSON.stringify({
        files: [],
        references: [{ path: './node' }, { path: './tsconfig.app.json' }],
      }),
      'tsconfig.app.json': tsconfig({ ...BUNDLER, ...aliases, composite: true }),
      'node/tsconfig.json': JSON.stringify({
        compilerOptions: { composite: true, module: 'NodeNext' },
        include: ['*.ts'],
      }),
      'node/vite.config.ts': '',
    }),
  },
  'a workspace, from the package': {
    cwd: 'packages/app',
    files: inPackage(sharedWords('./src/index.ts')),
    links: { 'node_modules/@acme/words': 'packages/words' },
  },
  'a workspace, from the root': {
    args: ['--root', 'packages/app'],
    files: inPackage(sharedWords('./src/index.ts')),
    links: { 'node_modules/@acme/words': 'packages/words' },
  },
  'a workspace whose configuration is in the root': {
    files: {
      ...inPackage(sharedWords('./src/index.ts')),
      'stepwright.config.json': JSON.stringify({
        tsconfig: 'packages/app/tsconfig.json',
        registries: [{ include: ['packages/app/src/**'], out: 'packages/app/generated/registry.ts' }],
      }),
    },
    links: { 'packages/app/node_modules/@acme/words': 'packages/words' },
  },
  '`customConditions`': {
    cwd: 'packages/app',
    files: inPackage({
      ...sharedWords({ '@acme/source': './src/index.ts', default: './dist/index.js' }),
      'packages/app/tsconfig.json': tsconfig({ ...OPTIONS, customConditions: ['@acme/source'] }),
    }),
    links: { 'node_modules/@acme/words': 'packages/words' },
  },
  '`node_modules` that is a link': {
    cwd: 'checkout',
    files: Object.fromEntries(
      Object.entries(
        inSource(relative, { 'package.json': manifest(), 'tsconfig.json': tsconfig(OPTIONS) }),
      ).map(([file, text]) => [`checkout/${file}`, text]),
    ),
    links: { 'checkout/node_modules': 'node_modules' },
  },
  'JSON with an attribute': {
    files: withJson(
      './words.js',
      "import words from './words.json' with { type: 'json' };\nexport const { greeting } = words;\n",
      { 'tsconfig.json': tsconfig({ ...OPTIONS, resolveJsonModule: true }) },
    ),
  },
  'its own package.json': {
    files: withJson(
      './words.js',
      "import { name } from '../package.json';\nexport const greeting = name === 'author' ? 'Hello' : name;\n",
      { 'tsconfig.json': tsconfig(resolvingJson) },
    ),
  },
  'JSON of CommonJS': {
    files: withJson('./words', "import words from './words.json';\nexport const { greeting } = words;\n", {
      'package.json': JSON.stringify({ name: 'author' }),
      'tsconfig.json': tsconfig({
        ...{ ...OPTIONS, module: 'CommonJS', moduleResolution: 'bundler' },
        ...{ resolveJsonModule: true, esModuleInterop: true },
      }),
    }),
  },
  'sources that are links, and no configuration': {
    files: {
      ...moved(inSource(relative, {}), {
        'src/words.ts': 'real/words.ts',
        'src/tool.ts': 'real/tool.ts',
        'src/hello.ts': 'real/hello.ts',
      }),
      'tsconfig.json': tsconfig(OPTIONS),
    },
    links: {
      'src/words.ts': 'real/words.ts',
      'src/tool.ts': 'real/tool.ts',
      'src/hello.ts': 'real/hello.ts',
    },
  },
  'the store of pnpm': {
    files: inSource(
      { words: 'words', tool: './tool.js' },
      {
        'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
        'tsconfig.json': tsconfig(OPTIONS),
        // A package of the store finds the packages that it depends on beside itself, and not in the project.
        'node_modules/.pnpm/words@1.0.0/node_modules/words/package.json':
          '{ "name": "words", "version": "1.0.0", "type": "module", "exports": { "types": "./index.d.ts", "default": "./index.js" } }',
        'node_modules/.pnpm/words@1.0.0/node_modules/words/index.js': "export { greeting } from 'inner';\n",
        'node_modules/.pnpm/words@1.0.0/node_modules/words/index.d.ts':
          'export declare const greeting: string;\n',
        'node_modules/.pnpm/inner@1.0.0/node_modules/inner/package.json':
          '{ "name": "inner", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
        'node_modules/.pnpm/inner@1.0.0/node_modules/inner/index.js': "export const greeting = 'Hello';\n",
      },
    ),
    links: {
      'node_modules/words': 'node_modules/.pnpm/words@1.0.0/node_modules/words',
      'node_modules/.pnpm/words@1.0.0/node_modules/inner':
        'node_modules/.pnpm/inner@1.0.0/node_modules/inner',
    },
  },
  'a configuration in package.json': {
    files: inSource(relative, {
      'package.json': manifest({
        stepwright: {
          tsconfig: 'tsconfig.app.json',
          registries: [{ include: ['src/**'], out: 'src/registry.ts' }],
        },
      }),
      'tsconfig.app.json': tsconfig(OPTIONS),
    }),
  },
};

let project: Project;
afterEach(() => project.remove());

async function create({ files, links = {} }: Layout): Promise<void> {
  project = await createProject(files);
  for (const [link, target] of Object.entries(links)) {
    const at = path.join(project.root, link);
    await mkdir(path.dirname(at), { recursive: true });
    await symlink(path.relative(path.dirname(at), path.join(project.root, target)), at);
  }
}

// Each test starts processes with a compiler in them.
describe('a project with', { timeout: 240_000 }, () => {
  test.each(smoke(Object.entries(LAYOUTS)))('%s is compiled, and its workflow runs', async (_, layout) => {
    await create(layout);
    const { cwd = '.', args = [] } = layout;
    const at = ([name = '', ...more]: readonly string[]) =>
      (name === 'run' ? stepwright : command)([name, ...more, ...args], path.join(project.root, cwd));
    expect(await at(['codegen'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('wrote '),
    });
    const ran = await at(['run', 'hello', '--arg', 'who=Ada', '--json']);
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'succeeded', result: { text: 'Hello Ada' } });
    expect(await at(['check'])).toMatchObject({ code: 0, stderr: '' });
  });
});
