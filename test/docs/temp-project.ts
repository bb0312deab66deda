import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
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

const PACKAGES = ['zod', '@types/node', '@modelcontextprotocol/sdk'];

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
  const { options } = ts.convertCompilerOptionsFromJson(TSCONFIG.compilerOptions, root);
  const checked = { ...options, noEmit: true, skipLibCheck: true };
  const program = ts.createProgram(
    files.map((file) => join(root, file)),
    checked,
    sharingHost(checked),
  );
  return files.flatMap((file) => {
    const source = program.getSourceFile(join(root, file));
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      (fault) => `${file}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`,
    );
  });
}

const shared = new Map<string, ts.SourceFile | undefined>();

/** Parses the files of this repository once for all programs: they are most of each, and do not change. */
function sharingHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (file, ...more) => {
    if (!file.startsWith(ROOT)) return parse(file, ...more);
    if (!shared.has(file)) shared.set(file, parse(file, ...more));
    return shared.get(file);
  };
  return host;
}
