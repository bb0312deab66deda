import { isJsonObject, type Json } from '../../graph/json.js';
import { compareText } from '../../graph/names.js';
import type { UpstreamListing, UpstreamTool } from './port.js';

/** The version of the format of snapshots. */
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
    tools: sorted.map(({ hints: _, ...tool }) => withSortedKeys(tool)),
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

function withSortedKeys(tool: UpstreamTool): UpstreamTool {
  return sortedKeys(tool as unknown as Json) as unknown as UpstreamTool;
}

/** Lists keep their order: that of `required` or `enum` is the author's. */
function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sortedKeys(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortedKeys(member)]));
}
