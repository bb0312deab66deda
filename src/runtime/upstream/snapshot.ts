import { isJsonObject, type Json } from '../../graph/json.js';
import { compareText } from '../../graph/names.js';
import { sha256Hex } from '../../graph/sha256.js';
import type { UpstreamListing, UpstreamTool } from './port.js';

const SNAPSHOT_VERSION = 1;

/** The tools of an upstream server, as `stepwright pull` records them. */
export interface UpstreamSnapshot extends Omit<UpstreamListing, 'notes'> {
  readonly snapshotVersion: typeof SNAPSHOT_VERSION;
}

/** Records what a server lists; the same tools give the same snapshot, whatever their order. */
export function snapshotOf({ server, tools }: UpstreamListing): UpstreamSnapshot {
  const sorted = [...tools].sort((a, b) => compareText(a.name, b.name));
  return {
    snapshotVersion: SNAPSHOT_VERSION,
    server,
    tools: sorted.map(
      ({ hints: _, ...tool }) => sortedKeys(tool as unknown as Json) as unknown as UpstreamTool,
    ),
  };
}

/** The text of a snapshot: keys sorted, without times and without anything of the machine. */
export function snapshotText(snapshot: UpstreamSnapshot): string {
  return `${JSON.stringify(sortedKeys(snapshot as unknown as Json), undefined, 2)}\n`;
}

/** Reads the text of a snapshot; nothing where it is none, or one of another version. */
export function parseSnapshot(text: string): UpstreamSnapshot | undefined {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || value.snapshotVersion !== SNAPSHOT_VERSION) return undefined;
  const { server, tools } = value;
  if (!isJsonObject(server) || !Array.isArray(tools) || !tools.every(isTool)) return undefined;
  return value as unknown as UpstreamSnapshot;
}

function isTool(value: Json): boolean {
  return isJsonObject(value) && typeof value.name === 'string' && isJsonObject(value.inputSchema);
}

/** Lists keep their order: that of `required` or `enum` is the author's. */
function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sortedKeys(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortedKeys(member)]));
}

/** An upstream tool with the names that it has in a project. */
export interface NamedTool {
  readonly tool: UpstreamTool;
  /** The name of the tool in the registry. */
  readonly toolName: string;
  readonly className: string;
}

/** The longest name that every host takes. */
const LONGEST_NAME = 64;

/** Names that the module of the classes imports. */
const TAKEN: readonly string[] = ['Json', 'Tool', 'ToolContext'];

/**
 * Names the tools of a server: `read_file` of `files` is `files_read_file`, with the class `FilesReadFile`. Characters
 * that a name cannot have become `_`. Where tools would share a name, all of them get a suffix that depends on their own
 * names alone.
 */
export function nameTools(server: string, tools: readonly UpstreamTool[]): readonly NamedTool[] {
  const toolNames = distinct(tools, (name) => [shortened(`${server}_${name}`)], '_');
  const classNames = distinct(
    tools,
    (name) => {
      const className = `${pascalCase(server)}${pascalCase(name)}`;
      return [className, `${className}Input`, `${className}Output`];
    },
    '',
  );
  return tools.map((tool, index) => ({
    tool,
    toolName: toolNames[index] ?? '',
    className: classNames[index] ?? '',
  }));
}

function shortened(name: string): string {
  const legal = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return legal.length <= LONGEST_NAME ? legal : `${legal.slice(0, LONGEST_NAME - 9)}_${digits(name)}`;
}

/**
 * @param namesOf the names that a tool takes, its own first.
 */
function distinct(
  tools: readonly UpstreamTool[],
  namesOf: (name: string) => readonly string[],
  separator: string,
): readonly string[] {
  const counts = new Map(TAKEN.map((name) => [name, 1]));
  const all = tools.map(({ name }) => namesOf(name));
  for (const name of all.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return all.map((names, index) => {
    const [own = ''] = names;
    if (names.every((name) => counts.get(name) === 1)) return own;
    const suffix = `${separator}${digits(tools[index]?.name ?? '')}`;
    return `${own.slice(0, LONGEST_NAME - suffix.length)}${suffix}`;
  });
}

function digits(name: string): string {
  return sha256Hex(name).slice(0, 8);
}

export function pascalCase(name: string): string {
  const words = name.match(/[A-Za-z0-9]+/g) ?? [];
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
}
