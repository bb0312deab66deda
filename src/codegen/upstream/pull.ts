import path from 'node:path';
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
import { printKey } from '../emit/literals.js';
import { type OutputFile, type WrittenOutputs, writeOutputs } from '../writer.js';
import { classesHeader, classesText, usableTools } from './classes.js';

/** What a server listed, to be recorded. */
export interface PullRequest {
  /** Absolute path of the project. */
  readonly root: string;
  /** The name of the server in the configuration. */
  readonly name: string;
  readonly server: UpstreamServer;
  readonly listing: UpstreamListing;
}

export interface PullResult extends WrittenOutputs {
  /** What the author should know about the tools, a sentence each. */
  readonly notes: readonly string[];
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
export function pullServer({ root, name, server, listing }: PullRequest, hasTypeScript: boolean): PullResult {
  const files = upstreamFiles(name, server);
  const snapshot = snapshotOf(listing);
  const { visibility = 'workflow' } = server;
  const { text, notes } = classesText({ server: name, snapshot, visibility });
  const outputs: OutputFile[] = [
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
  return { ...writeOutputs(root, outputs, false), notes };
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
  return tool.name in Object.prototype ? className : printKey(tool.name);
}
