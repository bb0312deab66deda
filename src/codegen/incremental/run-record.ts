import { readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isFromSource, packageFile } from '../../formats/own-files.js';
import {
  readSourceRecord,
  relativePath,
  type SourcePatterns,
  type SourceRecord,
  sourceRecordName,
} from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { type OutputFile, writeIfPermitted } from '../writer.js';
import { type Inputs, marksIn, stateOf } from './inputs.js';
import { cacheFolder, Memo, type MemoFile, sha256 } from './memo.js';

export interface RunName {
  /** Absolute path of the project, links resolved. */
  readonly root: string;
  /** As it was passed; missing for the usual one. */
  readonly configFile?: string | undefined;
}

/** The result of a run without an error, whose registries are written. */
export interface CleanRun<Plan = object> {
  /** Warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** Its registries, relative to the root. */
  readonly files: readonly string[];
  readonly plan: Plan;
}

/** The phase that is a whole run. */
const RUN = 'clean run';

/**
 * The result of the last run of this name, if nothing that it has looked at is different since. It loads neither
 * TypeScript nor a module of the author.
 *
 * Compared are, by their bytes, all sources, declarations and configurations that were read, those of packages among
 * them; what was looked for and was missing; the names of all files that may be sources; what the modules of tools and
 * resources have loaded and read; and the registries.
 */
export function recallRun<Plan>({ root: folder, configFile }: RunName): CleanRun<Plan> | undefined {
  const root = realpathSync(folder);
  const file = memoFile({ root, configFile });
  if (file === undefined) return undefined;
  return new Memo(file).recall<CleanRun<Plan>>(RUN, '', '', marksIn(root));
}

/** Keeps the result of a run, whose registries were written meanwhile. */
export function keepRun(memo: Memo, root: string, inputs: Inputs, run: CleanRun): void {
  const outputs = run.files.map((file) => path.join(root, file));
  const states = outputs.map((file) => [file, inputs.stateOf(file)] as const);
  memo.keep(RUN, '', '', run, new Map([...inputs.paths, ...inputs.others, ...states]));
}

/** Where the memo of runs of this name is saved; nothing where the project has no place for a cache. */
export function memoFile({ root, configFile = '' }: RunName): MemoFile | undefined {
  const folder = cacheFolder(root);
  return folder === undefined ? undefined : { folder, name: `memo ${configFile}`, key: softwareKey() };
}

/** Identifies Node.js and this package, by its version when it is installed and by its files in a checkout. */
function softwareKey(): string {
  const { node, v8 } = process.versions;
  const manifest = packageFile('package.json');
  const isInstalled = manifest.split(path.sep).includes('node_modules');
  const files = isInstalled ? [] : stampsIn(packageFile(isFromSource ? 'src' : 'dist'));
  return sha256(JSON.stringify([node, v8, stateOf(manifest), files]));
}

function stampsIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:m?ts|js)$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => {
      const { mtimeMs, size } = statSync(path.join(folder, name));
      return `${name} ${mtimeMs} ${size}`;
    })
    .sort();
}

/** How many former checksums of a registry are kept: a program that was built before codegen ran has one of them. */
const MOST_CHECKSUMS = 20;

interface RunSources {
  readonly inputs: Inputs;
  /** `sourceNames` without the registries, when the run began. */
  readonly names: string;
  /** Whether all inputs but the registries are unchanged since. */
  readonly isCurrent: boolean;
}

/** Records for servers what the registries were made from: see `SourceRecord`. */
export function keepSources(
  { root, configFile }: RunName,
  { inputs, names, isCurrent }: RunSources,
  outputs: readonly OutputFile[],
  patterns: SourcePatterns,
): void {
  const folder = cacheFolder(root);
  if (folder === undefined) return;
  const file = path.join(folder, sourceRecordName(configFile));
  const former = readSourceRecord(file)?.registries ?? {};
  const outs = outputs.map((output) => path.join(root, output.file));
  const sources = [...inputs.paths]
    .filter(([each]) => isOwn(root, each) && !outs.includes(each))
    .filter(([, state]) => state.startsWith('file '))
    // A file that was changed during the run has no hash that it could have when a server starts.
    .map(([each]): [string, string] => [
      relativePath(root, each),
      inputs.textHashOf(each, isCurrent) ?? 'changed',
    ])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const record: SourceRecord = {
    registries: Object.fromEntries(outputs.map((output) => [output.file, checksums(output, former)])),
    ...defined({ configFile }),
    sources: Object.fromEntries(sources),
    ...{ names, patterns },
  };
  writeIfPermitted(file, JSON.stringify(record));
}

/** In the project, and not installed. */
function isOwn(root: string, file: string): boolean {
  return file.startsWith(root + path.sep) && !file.split(path.sep).includes('node_modules');
}

function checksums({ file, text }: OutputFile, former: SourceRecord['registries']): readonly string[] {
  const [, checksum = ''] = /^ {2}checksum: '([0-9a-f]{64})',$/m.exec(text) ?? [];
  const others = (former[file] ?? []).filter((each) => each !== checksum);
  return [checksum, ...others].slice(0, MOST_CHECKSUMS);
}
