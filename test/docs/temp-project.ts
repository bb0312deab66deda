import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtPackage } from '../built-package.js';
import { ROOT } from './fences.js';

/** The compiler options of the tutorial, without the types of browsers, which are larger than all other files. */
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022'],
    module: 'NodeNext',
    strict: true,
    experimentalDecorators: true,
    types: ['node'],
  },
};

const PACKAGES = [
  'zod',
  '@types/node',
  '@modelcontextprotocol/sdk',
  '@modelcontextprotocol/server',
  '@opentelemetry/sdk-trace-node',
  'esbuild',
  'eslint',
  '@typescript-eslint/parser',
];

/** An author's project in a temporary folder, with the built package as its `stepwright`. */
export interface TempProject {
  readonly root: string;
  write(file: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

/** Makes an empty project. The caller removes it. */
export async function tempProject(): Promise<TempProject> {
  const root = await mkdtemp(join(tmpdir(), 'stepwright-docs-'));
  const link = async (name: string, target: string): Promise<void> => {
    await mkdir(dirname(join(root, 'node_modules', name)), { recursive: true });
    await symlink(target, join(root, 'node_modules', name), 'junction');
  };
  await link('stepwright', builtPackage());
  for (const name of PACKAGES) await link(name, join(ROOT, 'node_modules', name));
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  };
  await write('package.json', '{ "type": "module" }\n');
  // Codegen needs no types of Node, which are larger than all other files together.
  const compilerOptions = { ...TSCONFIG.compilerOptions, types: [] };
  await write('tsconfig.json', JSON.stringify({ compilerOptions }));
  return { root, write, remove: () => rm(root, { recursive: true, force: true }) };
}

/** The errors of tsc in these files of a project, as `file: message`. */
export function typeErrors(root: string, files: readonly string[]): string[] {
  const compilerOptions = { ...TSCONFIG.compilerOptions, noEmit: true, skipLibCheck: true };
  const config = join(root, 'tsconfig.samples.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  // The native compiler: seconds less than the one that runs in this process.
  const args = [
    join(ROOT, 'node_modules/typescript-7/bin/tsc'),
    '--checkers',
    '1',
    '-p',
    config,
    '--pretty',
    'false',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const errors = stdout.split('\n').filter((line) => line !== '');
  if (stderr !== '' || (status !== 0 && errors.length === 0))
    throw new Error(`tsc failed: ${status} ${stderr}`);
  return errors.map((line) => line.replace(/^([^()]+)\(\d+,\d+\): error TS\d+/, '$1'));
}
