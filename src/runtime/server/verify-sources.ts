import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { compilerFile } from '../../formats/own-files.js';
import { pnpFlags } from '../../formats/plug-n-play.js';
import {
  foldersAbove,
  readSourceRecords,
  realPath,
  SOURCE,
  type SourceRecord,
  sourceNames,
  textHash,
  textIn,
} from '../../formats/source-record.js';
import { type Registry, StaleRegistryError, verifyRegistry } from '../tools/registry.js';

/** What was verified in this process. */
const verified = new WeakSet<Registry>();

/** Takes a registry as current: codegen has just written it from the sources that this process has loaded. */
export function trustRegistry(registry: Registry): void {
  verified.add(registry);
}

/** As `verifyRegistry`, unless this process has verified the registry, or trusts it. */
export function verifyOnce(registry: Registry): void {
  if (!verified.has(registry)) verifyRegistry(registry);
}

/**
 * Compares a registry with its classes (see `verifyRegistry`) and with the sources that it was made from: a step that was
 * edited would run as it was before.
 *
 * Codegen keeps the hashes of the sources in `node_modules/.cache/stepwright`. Where they differ, or codegen has not run
 * on this machine, `stepwright check` decides, in a process of its own: most edits leave a registry as it is. Sources are
 * not compared with `NODE_ENV=production`, with `STEPWRIGHT_SOURCE_CHECK=off`, and where they are not there.
 *
 * @param root - of the project, where it need not be above the working directory or the program.
 * @throws StaleRegistryError with the files that changed and the command that repairs it.
 */
export function verifyCurrent(registry: Registry, root?: string): void {
  const { NODE_ENV, STEPWRIGHT_SOURCE_CHECK } = process.env;
  const isChecked = NODE_ENV !== 'production' && STEPWRIGHT_SOURCE_CHECK !== 'off';
  if (isChecked && verified.has(registry)) return;
  try {
    verifyRegistry(registry);
  } catch (error) {
    if (!isChecked || !(error instanceof StaleRegistryError)) throw error;
    const project = findProject(registry.checksum, root);
    const files = project?.record === undefined ? [] : changesOf(project.root, project.record).files;
    throw new StaleRegistryError([...error.differences, ...files], project?.record?.configFile);
  }
  if (!isChecked) return;
  const current = findProject(registry.checksum, root);
  if (current !== undefined) verifySources(current, registry.checksum);
  verified.add(registry);
}

/** A project that a registry was made in. */
interface Project {
  /** Absolute path. */
  readonly root: string;
  /** The file of the registry, relative to the root. */
  readonly out: string;
  /** Missing where codegen has kept nothing on this machine. */
  readonly record?: SourceRecord;
}

function verifySources({ root, out, record }: Project, checksum: string): void {
  const isFormer = record !== undefined && record.registries[out]?.[0] !== checksum;
  const changes = record === undefined ? undefined : changesOf(root, record);
  if (changes !== undefined && !changes.areThere) return;
  const isSame = changes?.files.length === 0 && !changes.isRenamed;
  if (isSame && !isFormer) return;
  const isCurrent = runCheck(root, record);
  const hasChecksum = mentions(path.join(root, out), checksum);
  if (isCurrent && hasChecksum) return;
  const files = changes?.files ?? [];
  const differences = [
    ...files,
    ...(files.length === 0 && changes?.isRenamed ? ['a source was added or removed after codegen ran'] : []),
    ...(changes === undefined ? [`\`${out}\` differs from its sources`] : []),
    ...(hasChecksum
      ? []
      : [`\`${out}\` was written again after it was loaded or compiled: build the program again`]),
  ];
  // Where there is no compiler to ask, a new file need not matter; a changed one may.
  const isProven = isCurrent !== undefined || files.length > 0 || !hasChecksum;
  if (isProven) throw new StaleRegistryError(differences, record?.configFile);
}

/** Looks in the folders above the working directory and above the program. */
function findProject(checksum: string, start: string | undefined): Project | undefined {
  for (const root of projectFolders(start)) {
    for (const record of readSourceRecords(root)) {
      const [out] = Object.entries(record.registries).find(([, all]) => all.includes(checksum)) ?? [];
      if (out !== undefined) return { root, out, record };
    }
    const out = namedRegistries(root).find((file) => mentions(path.join(root, file), checksum));
    if (out !== undefined) return { root, out };
  }
  return undefined;
}

function projectFolders(start: string | undefined): readonly string[] {
  const program = process.argv[1];
  const starts = [
    ...(start === undefined ? [] : [start]),
    process.cwd(),
    ...(program === undefined ? [] : [path.dirname(realPath(program))]),
  ];
  const folders = new Set(starts.flatMap(foldersAbove));
  return [...folders].filter((folder) => existsSync(path.join(folder, 'package.json')));
}

/** The files of registries that a project without a record may have. */
function namedRegistries(root: string): readonly string[] {
  const text = ['stepwright.config.json', 'package.json'].map((file) => textIn(path.join(root, file)));
  const named = [...text.join('\n').matchAll(/"out"\s*:\s*"([^"\\]+)"/g)].map(([, file = '']) =>
    path.posix.normalize(file),
  );
  return [...named, 'generated/registry.ts'];
}

function mentions(file: string, checksum: string): boolean {
  return textIn(file)?.includes(`checksum: '${checksum}'`) === true;
}

interface Changes {
  /** As sentences. */
  readonly files: readonly string[];
  /** Whether there is another file that may be a source, or one of them is gone. */
  readonly isRenamed: boolean;
  /** False in a deployment without sources. */
  readonly areThere: boolean;
}

function changesOf(root: string, { sources, names, registries, patterns }: SourceRecord): Changes {
  const hashes = Object.entries(sources).map(([file, hash]) => [file, hash, textHash(path.join(root, file))]);
  const files = hashes.filter(([, hash, now]) => now !== hash);
  return {
    files: changeTexts(files.map(([file = '', , now]) => ({ file, isGone: now === '' }))),
    isRenamed: sourceNames(root, Object.keys(registries), patterns) !== names,
    areThere: hashes.some(([file = '', , now]) => now !== '' && SOURCE.test(file)),
  };
}

function changeTexts(files: readonly { readonly file: string; readonly isGone: boolean }[]): string[] {
  const shown = files
    .slice(0, 5)
    .map(({ file, isGone }) => `\`${file}\` ${isGone ? 'was removed' : 'changed'} after codegen ran`);
  return files.length > 5 ? [...shown, `and ${files.length - 5} more files`] : shown;
}

const LONGEST_CHECK_MS = 120_000;

/** Whether the registries of a project are current; undefined where no compiler is installed to tell. */
function runCheck(root: string, record: SourceRecord | undefined): boolean | undefined {
  const program = commandLine(root);
  if (program === undefined) return undefined;
  const { configFile } = record ?? {};
  const args = [
    ...pnpFlags(root),
    program,
    'check',
    '--root',
    root,
    ...(configFile === undefined ? [] : ['--config', configFile]),
  ];
  // Loaded here: most starts need no other process.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { status } = spawnSync(process.execPath, args, { env, stdio: 'ignore', timeout: LONGEST_CHECK_MS });
  return status === 0;
}

/** The command line of the Stepwright that a project has installed, if its compilers are there as well. */
function commandLine(root: string): string | undefined {
  try {
    const manifest = createRequire(path.join(root, 'package.json')).resolve('stepwright/package.json');
    for (const compiler of ['ts-morph', 'esbuild']) compilerFile(compiler, root, manifest);
    const program = path.join(path.dirname(manifest), 'dist/cli/main.js');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}
