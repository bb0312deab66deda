import path from 'node:path';
import { readSourceRecord, type SourceRecord, sourceRecordName } from '../../formats/source-record.js';
import { defined } from '../../graph/defined.js';
import { writeIfPermitted } from '../temporary-files.js';
import type { OutputFile } from '../writer.js';
import type { Inputs } from './inputs.js';
import { cacheFolder } from './memo.js';
import type { RunName } from './run-record.js';

/** How many former checksums of a registry are kept: a program that was built before codegen ran has one of them. */
const MOST_CHECKSUMS = 20;

/** What the sources of a run are read off. */
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
  specs: readonly string[],
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
    .map(([each]): [string, string] => [nameIn(root, each), inputs.textHashOf(each, isCurrent) ?? 'changed'])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const record: SourceRecord = {
    registries: Object.fromEntries(outputs.map((output) => [output.file, checksums(output, former)])),
    ...defined({ configFile }),
    sources: Object.fromEntries(sources),
    names,
    ...(specs.length === 0 ? {} : { specs }),
  };
  writeIfPermitted(file, JSON.stringify(record));
}

/** In the project, and not installed. */
function isOwn(root: string, file: string): boolean {
  return file.startsWith(root + path.sep) && !file.split(path.sep).includes('node_modules');
}

function nameIn(root: string, file: string): string {
  return path.relative(root, file).split(path.sep).join('/');
}

function checksums({ file, text }: OutputFile, former: SourceRecord['registries']): readonly string[] {
  const [, checksum = ''] = /^ {2}checksum: '([0-9a-f]{64})',$/m.exec(text) ?? [];
  const others = (former[file] ?? []).filter((each) => each !== checksum);
  return [checksum, ...others].slice(0, MOST_CHECKSUMS);
}
