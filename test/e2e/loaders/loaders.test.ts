import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Options, transform } from '@swc/core';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createProject,
  type Project,
  type Ran,
  run,
  stepwright,
  tsc,
} from '../../codegen-back/project.fixture.js';
import { nightlyDescribe, smoke } from '../../nightly.js';

const { resolve } = createRequire(import.meta.url);

const FILES = {
  'src/greet.ts': `import { Tool } from 'stepwright';
import { z } from 'zod';

@Tool({ name: 'greet', description: 'Greets', input: z.object({ name: z.string() }) })
export class Greet {
  readonly #greeting = 'Hello';
  execute({ name }: { name: string }): { text: string } {
    return { text: \`\${this.#greeting} \${name}\` };
  }
}
`,
  'src/hello.workflow.ts': `import { Arg, call, done, Step, Workflow } from 'stepwright';
import { Greet } from './greet.js';

@Workflow({ name: 'hello', description: 'greet somebody' })
export class Hello {
  @Arg({ description: 'Who' }) who!: Arg<string>;
  @Step() greeted = call(Greet, { name: this.who });
  output = done({ text: this.greeted.text });
}
`,
  'src/main.ts': `import { createServer } from 'stepwright/runtime';
import { registry } from '../generated/registry.js';

const request = { signal: new AbortController().signal, requestId: '1', progress: () => {} };
const trace = await createServer(registry).getPrompt('hello', { who: 'Ada' }, request);
console.log(JSON.stringify('_meta' in trace ? trace._meta.result : trace));
`,
};

const OPTIONS = {
  ...{ target: 'ES2022', lib: ['ES2023', 'DOM'], types: [], strict: true, module: 'NodeNext' },
  ...{ skipLibCheck: true, outDir: 'dist', rootDir: '.' },
};

type Decorators = 'legacy' | 'tc39';

/** Compiles and starts \`src/main.ts\` of a project. */
type Loader = (project: Project, decorators: Decorators) => Promise<Ran>;

const start = (project: Project, file: string): Promise<Ran> =>
  run([path.join(project.root, file)], project.root);

const ofSwc = (decorators: Decorators): Options => ({
  module: { type: 'es6' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform:
      decorators === 'legacy'
        ? { legacyDecorator: true, useDefineForClassFields: true }
        : { decoratorVersion: '2022-03' },
  },
});

const TS_NODE = `data:text/javascript,import { register } from 'node:module';
register(${JSON.stringify(pathToFileURL(resolve('ts-node/esm')).href)});`;

const LOADERS: Readonly<Record<string, Loader>> = {
  async tsc(project) {
    expect(await tsc(project)).toMatchObject({ code: 0, stdout: '' });
    return start(project, 'dist/src/main.js');
  },
  async 'tsc 7'(project) {
    expect(await tsc(project, 'typescript-7')).toMatchObject({ code: 0, stdout: '' });
    return start(project, 'dist/src/main.js');
  },
  'ts-node': (project) => run(['--import', TS_NODE, 'src/main.ts'], project.root),
  tsx: (project) => run(['--import', pathToFileURL(resolve('tsx')).href, 'src/main.ts'], project.root),
  async esbuild(project) {
    await esbuild({
      ...{ absWorkingDir: project.root, entryPoints: ['src/main.ts'], outfile: 'dist/main.js' },
      ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', logLevel: 'silent' },
      target: 'node20',
    });
    return start(project, 'dist/main.js');
  },
  async Vite(project) {
    await vite({
      ...{ root: project.root, configFile: false, logLevel: 'silent' },
      build: { ssr: 'src/main.ts', outDir: 'dist' },
    });
    return start(project, 'dist/main.js');
  },
  async SWC(project, decorators) {
    const sources = await readdir(project.root, { recursive: true });
    for (const file of sources.filter((each) => /^(?:src|generated)\b.*\.ts$/.test(each))) {
      const { code } = await transform(await project.read(file), ofSwc(decorators));
      const out = path.join(project.root, 'dist', file.replace(/\.ts$/, '.js'));
      await mkdir(path.dirname(out), { recursive: true });
      await writeFile(out, code);
    }
    return start(project, 'dist/src/main.js');
  },
  Bun: (project) => run(['src/main.ts'], project.root, {}, resolve('bun/bin/bun.exe')),
};

let project: Project;
afterEach(() => project.remove());

/** What leaves decorators as they are. */
const REFUSED = ['tc39 Vite'];

async function create(decorators: Decorators, script = ''): Promise<void> {
  const compilerOptions = { ...OPTIONS, experimentalDecorators: decorators === 'legacy' };
  project = await createProject({
    ...FILES,
    'package.json': JSON.stringify({ name: 'author', type: 'module', scripts: { start: script } }),
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['src', 'generated'] }),
  });
}

// Each test starts processes with a compiler in them.
describe.each(smoke(['legacy', 'tc39'] as const))('%s decorators', { timeout: 240_000 }, (decorators) => {
  test.each(smoke(Object.entries(LOADERS)))('as they are compiled by %s', async (name, load) => {
    await create(decorators);
    expect(await stepwright(['codegen'], project.root)).toMatchObject({ code: 0, stderr: '' });
    const ran = await load(project, decorators);
    if (REFUSED.includes(`${decorators} ${name}`))
      expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('SyntaxError') });
    else expect(ran).toEqual({ code: 0, stdout: '{"text":"Hello Ada"}\n', stderr: '' });
  });
});

nightlyDescribe('a script', { timeout: 240_000 }, () => {
  test.each([
    ['node src/main.ts', 1],
    ['node --import tsx src/main.ts', 0],
    ['node src/other.ts', 0],
    ['node src/gone.ts', 0],
  ])('`%s` is reported as often as %d', async (script, count) => {
    await create('legacy', script);
    await project.write({ 'src/other.ts': "import './words.js';\n", 'src/words.ts': 'export {};\n' });
    const { code, stdout } = await stepwright(['codegen', '--format', 'json'], project.root);
    expect(code).toBe(0);
    const found = [...stdout.matchAll(/"SW9017"/g)];
    expect({ count: found.length, stdout }).toEqual({ count, stdout });
    if (count > 0) expect(stdout).toContain('"file":"package.json","line":1,"column":');
  });
});
