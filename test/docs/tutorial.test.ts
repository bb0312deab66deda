import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { install, linkPackage } from '../installed-package.js';
import { nightlyDescribe } from '../nightly.js';
import { fencesOf, page, ROOT } from './fences.js';

const fences = fencesOf(page('docs/tutorial.md'));
const textOf = (file: string): string => {
  const [fence, ...others] = fences.filter((candidate) => candidate.file === file);
  if (fence === undefined || others.length > 0)
    throw new Error(`the tutorial shows ${file} not exactly once`);
  return fence.body;
};

/** What the tutorial installs for development only. */
const DEVELOPMENT = ['ts-morph', 'esbuild', 'typescript', '@types/node'];

test('the tutorial installs the file that `npm pack` writes', () => {
  const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  const shell = fences.filter(({ language }) => language === 'sh').map(({ body }) => body);
  expect(shell[0]).toContain('npm pack --pack-destination ..\n');
  expect(shell[1]).toContain(`cd .. && mkdir notes && cd notes\n`);
  expect(shell[1]).toContain(`npm install ../${filename} `);
  const [, installed = ''] = /^npm install --save-dev (.*)$/m.exec(shell[1] ?? '') ?? [];
  expect(installed.split(' ').map((each) => each.replace(/(?<=.)@\d+$/, ''))).toEqual(DEVELOPMENT);
});

nightlyDescribe('the tutorial works as written', () => {
  let root = '';

  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  /** Runs a command of the page with the local package, as `npx` does. */
  const type = (command: string): { status: number | null; stdout: string; stderr: string } => {
    expect(fences.some((fence) => fence.language === 'sh' && fence.body === `${command}\n`)).toBe(true);
    const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
    const local = command.replaceAll('npx ', '');
    return spawnSync('sh', ['-c', local], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    });
  };
  const takeNote = async (text: string): Promise<string> => {
    const client = new Client({ name: 'tutorial', version: '0.1.0' });
    const args = ['dist/src/main.js'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: root }));
    const { messages } = await client.getPrompt({ name: 'take-note', arguments: { text } });
    await client.close();
    return messages
      .map(({ role, content }) => `[${role}] ${content.type === 'text' ? content.text.trimEnd() : ''}\n`)
      .join('\n');
  };

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'stepwright-tutorial-'));
    install(root);
    write('package.json', '{ "type": "module" }\n');
    const files = ['tsconfig.json', 'stepwright.config.json', 'src/tools.ts', 'src/take-note.workflow.ts'];
    for (const file of files) write(file, textOf(file));
  }, 300_000);

  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test('codegen, a mistake, and a server', { timeout: 300_000 }, async () => {
    const modules = join(root, 'node_modules');
    const cli = join(modules, 'stepwright/dist/cli/main.js');
    const help = spawnSync(process.execPath, [cli, 'codegen', '--help'], { cwd: root, encoding: 'utf8' });
    expect(help).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('--check') });
    expect(type('npx stepwright codegen')).toMatchObject({
      status: 1,
      stderr:
        'stepwright: `stepwright codegen` needs `ts-morph` and `esbuild`, which are not installed: run `npm install --save-dev ts-morph@28 esbuild@0`\n',
    });
    for (const name of DEVELOPMENT) if (name !== 'typescript') linkPackage(modules, name);
    expect(type('npx stepwright codegen')).toMatchObject({
      status: 0,
      stdout: 'wrote generated/registry.ts\n',
    });
    const registry = readFileSync(join(root, 'generated/registry.ts'), 'utf8');

    const workflow = textOf('src/take-note.workflow.ts');
    write('src/take-note.workflow.ts', workflow.replace('this.list.notes', 'this.list.note'));
    expect(type('npx stepwright codegen')).toMatchObject({ status: 1, stderr: textOf('broken') });
    expect(readFileSync(join(root, 'generated/registry.ts'), 'utf8')).toBe(registry);

    write('src/take-note.workflow.ts', workflow);
    write('src/main.ts', textOf('src/main.ts'));
    expect(type('npx stepwright codegen && npx tsc')).toMatchObject({ status: 0, stderr: '' });
    // As after `npm ci --omit=dev`: a server needs no compiler.
    for (const name of DEVELOPMENT) rmSync(join(modules, name));
    expect(await takeNote('Buy bread')).toBe(textOf('trace'));
    expect(readFileSync(join(root, 'notes.txt'), 'utf8')).toBe('Buy bread\n');
    expect(await takeNote('Buy bread')).toMatch(
      /\[assistant\] Step 'add' failed: 'Buy bread' is noted already\.\n\nNo tool call can continue this workflow\. [^\n]*\n$/,
    );
  });
});
