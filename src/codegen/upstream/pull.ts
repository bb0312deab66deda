import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { UpstreamServer } from '../../runtime/upstream/config.js';
import type { UpstreamListing } from '../../runtime/upstream/port.js';
import {
  type NamedTool,
  nameTools,
  parseSnapshot,
  pascalCase,
  snapshotOf,
  snapshotText,
  type UpstreamSnapshot,
} from '../../runtime/upstream/snapshot.js';
import { foreignFile, type OutputFile, outputState, writeOutput } from '../writer.js';
import { classesHeader, classesText, propertyName, usableTools } from './classes.js';

/** What a server listed, to be recorded. */
export interface PullRequest {
  /** Absolute path of the project. */
  readonly root: string;
  /** The name of the server in the configuration. */
  readonly name: string;
  readonly server: UpstreamServer;
  readonly listing: UpstreamListing;
}

/** Paths are relative to the root. */
export interface PullResult {
  readonly written: readonly string[];
  readonly current: readonly string[];
  /** What the author should know about the tools, a sentence each. */
  readonly notes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The files of a server: its classes, and beside them its snapshot, and doubles and recorded answers for tests. */
export function upstreamFiles(
  name: string,
  { out }: UpstreamServer,
): Record<'classes' | 'snapshot' | 'doubles' | 'cassette', string> {
  const classes = path.posix.normalize(out ?? `src/upstream/${name}.ts`);
  return {
    classes,
    snapshot: classes.replace(/\.m?ts$/, '.json'),
    doubles: classes.replace(/(?=\.m?ts$)/, '.doubles'),
    cassette: classes.replace(/\.m?ts$/, '.cassette.json'),
  };
}

/**
 * Writes the snapshot of a server, its classes and their doubles, each only if it changes.
 *
 * @param hasTypeScript whether classes and doubles are written.
 */
export async function pullServer(
  { root, name, server, listing }: PullRequest,
  hasTypeScript: boolean,
): Promise<PullResult> {
  const files = upstreamFiles(name, server);
  const snapshot = snapshotOf(listing);
  const { visibility = 'workflow' } = server;
  const { text, notes } = classesText({ server: name, snapshot, visibility });
  const outputs: PulledFile[] = [
    {
      file: files.snapshot,
      text: snapshotText(snapshot),
      isOurs: (present) => parseSnapshot(present) !== undefined,
    },
  ];
  if (hasTypeScript) {
    const doubles = doublesText({ server: name, snapshot, classes: files.classes });
    outputs.push({ file: files.classes, text }, { file: files.doubles, text: doubles });
  }
  return { ...(await writePulled(root, outputs)), notes };
}

export interface PulledFile extends OutputFile {
  /** Whether `pull` has written a text. Default: it has written what begins with the same line. */
  readonly isOurs?: (present: string) => boolean;
}

/** Writes files, each only if it changes; none where one of them is somebody else's. */
export async function writePulled(
  root: string,
  outputs: readonly PulledFile[],
): Promise<Omit<PullResult, 'notes'>> {
  const written: string[] = [];
  const current: string[] = [];
  const outdated: OutputFile[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const output of outputs) {
    const { file } = output;
    const state = outputState(root, output);
    if (state === 'current') current.push(file);
    else if (state === 'foreign' || isOther(root, output)) diagnostics.push(foreignFile(root, file));
    else outdated.push(output);
  }
  if (diagnostics.length > 0) return { written, current, diagnostics };
  for (const output of outdated) {
    const fault = writeOutput(root, output);
    if (fault === undefined) written.push(output.file);
    else diagnostics.push(fault);
  }
  return { written, current, diagnostics };
}

/** Whether a file of another form has this name. */
function isOther(root: string, { file, isOurs }: PulledFile): boolean {
  if (isOurs === undefined) return false;
  try {
    return !isOurs(readFileSync(path.join(root, file), 'utf8'));
  } catch {
    return false;
  }
}

interface DoublesRequest {
  /** The name of the server in the configuration. */
  readonly server: string;
  readonly snapshot: UpstreamSnapshot;
  /** The file of the classes, which is beside that of the doubles. */
  readonly classes: string;
}

/** Prints a module with a function for doubles of all tools that have classes: the same text for the same snapshot. */
export function doublesText({ server, snapshot, classes }: DoublesRequest): string {
  const named = nameTools(server, usableTools(snapshot.tools).tools);
  if (named.length === 0) return `${classesHeader(server)}\nexport {};\n`;
  const name = pascalCase(server);
  const factory = `${name.charAt(0).toLowerCase()}${name.slice(1)}Doubles`;
  const answers = named.map((tool) => `  readonly ${keyOf(tool)}?: DoubleAnswer<tools.${tool.className}>;`);
  const entries = named.map((tool) => `      ${keyOf(tool)}: tools.${tool.className},`);
  return [
    classesHeader(server),
    "import { type DoubleAnswer, doublesOf, type UpstreamDouble } from 'stepwright/testing';",
    `import * as tools from './${path.posix.basename(classes).replace(/ts$/, 'js')}';`,
    '',
    '/** What doubles of the tools answer. One without an answer gives a value made up from the output schema. */',
    `export interface ${name}Answers {`,
    ...answers,
    '}',
    '',
    `/** Doubles of all tools of the upstream server \`${server}\`, for \`upstreamDoubles\`. */`,
    `export function ${factory}(answers: ${name}Answers = {}): readonly UpstreamDouble[] {`,
    '  return doublesOf(',
    '    {',
    ...entries,
    '    },',
    '    answers,',
    '  );',
    '}',
    '',
  ].join('\n');
}

/** The name that the server gives a tool, or the class for one that every object has, such as `toString`. */
function keyOf({ tool, className }: NamedTool): string {
  return tool.name in Object.prototype ? className : propertyName(tool.name);
}
