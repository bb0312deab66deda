import { isJsonObject, type Json } from '../../../graph/json.js';
import { bodyText, clip, clipText, counted, jsonText } from '../../../graph/printable-text.js';
import type { Envelope } from '../../runs/run/envelope.js';
import type { ContentBlock, ResourceContents, ToolResult } from '../wire.js';

/** A result as text: a text as it is, anything else as JSON. */
export function shown(value: Json): string {
  return typeof value === 'string' ? bodyText(value) : jsonText(value);
}

const ADDRESS = /^workflow:\/\/runs\/([^/?#]+)(\/result)?$/;

/** The run that has this address, or its result; nothing for another address. */
export function runAt(uri: string): { readonly id: string; readonly isResult: boolean } | undefined {
  const [, id, result] = ADDRESS.exec(uri) ?? [];
  return id === undefined ? undefined : { id, isResult: result !== undefined };
}

/** The address of the result of a run: its owner may read it while the run is kept. */
function addressOf(run: string): string {
  return `workflow://runs/${run}/result`;
}

/** The result of a completed run as a resource; nothing for a run without one. */
export function resultContents({ workflow_id, result }: Envelope): ResourceContents | undefined {
  if (result === undefined) return undefined;
  return { uri: addressOf(workflow_id), mimeType: typeOf(result), text: shown(result) };
}

function typeOf(result: Json): string {
  return typeof result === 'string' ? 'text/plain' : 'application/json';
}

/** A completed run whose result is too long for an answer: the envelope without it, and a link to it. */
export interface LongResult {
  readonly envelope: Envelope;
  /** In UTF-16 code units. */
  readonly length: number;
  readonly link: ContentBlock;
  /** What is in it, for a reader that decides whether to read on. */
  readonly outline: string;
}

/** @param limit the longest result of an answer, in UTF-16 code units. */
export function longResult(envelope: Envelope, limit: number): LongResult | undefined {
  const { result, ...rest } = envelope;
  if (result === undefined) return undefined;
  const { length } = shown(result);
  if (length <= limit) return undefined;
  const { workflow_id: id, definition } = envelope;
  const uri = addressOf(id);
  return {
    envelope: { ...rest, result_omitted: { uri, length } },
    length,
    outline: outlineOf(result, Math.min(limit, OUTLINE_LIMIT)),
    link: {
      type: 'resource_link',
      uri,
      name: `${definition.name}-result`,
      description: `The result of a run of workflow '${clip(definition.name)}'`,
      mimeType: typeOf(result),
    },
  };
}

/** A result that says where the rest is. */
export function withLink(result: ToolResult, { envelope, length, link, outline }: LongResult): ToolResult {
  const id = jsonText(envelope.workflow_id);
  const about = `The result has ${length} characters, too many for this answer. Read it in parts: get_workflow_status { "workflow_id": ${id}, "result_from": 0 }. Or read the linked resource.`;
  const text = outline === '' ? about : `${about}\n${outline}`;
  return { ...result, content: [...result.content, { type: 'text', text }, link] };
}

/** The longest outline, in UTF-16 code units. */
const OUTLINE_LIMIT = 1_000;

/** So many members of a result are in its outline. */
const OUTLINED = 20;

/** The begin of a text; the number of items of a list; the members of an object, a line each, as far as they fit. */
function outlineOf(value: Json, limit: number): string {
  if (typeof value === 'string') return `It begins with:\n${clipText(bodyText(value), limit)}`;
  if (!isJsonObject(value)) return `It is ${shapeOf(value)}.`;
  const members = Object.entries(value);
  const lines: string[] = [];
  let room = limit;
  for (const [name, member] of members.slice(0, OUTLINED)) {
    const line = `- ${clip(name)}: ${shapeOf(member)}`;
    if (line.length > room) break;
    room -= line.length;
    lines.push(line);
  }
  const hidden = members.length - lines.length;
  return [...lines, ...(hidden === 0 ? [] : [`- and ${hidden} more`])].join('\n');
}

/** A value in a few words; a short one as it is. */
function shapeOf(value: Json): string {
  if (Array.isArray(value)) return `a list of ${counted(value.length, 'item')}`;
  return isJsonObject(value)
    ? `an object of ${counted(Object.keys(value).length, 'member')}`
    : clip(jsonText(value));
}

export interface ResultPart {
  readonly text: string;
  /** Where it begins, in UTF-16 code units. */
  readonly from: number;
  readonly length: number;
  /** Where the next part begins; missing in the last one. */
  readonly next?: number;
}

/** Cuts a part out of a result, never through a character. Nothing for a position beyond its end. */
export function partOf(result: Json, from: number, limit: number): ResultPart | undefined {
  const text = shown(result);
  if (from >= text.length) return undefined;
  const begin = isInCharacter(text, from) ? from - 1 : from;
  const end = begin + limit;
  const to = end < text.length && isInCharacter(text, end) ? end + 1 : end;
  return {
    text: text.slice(begin, to),
    from: begin,
    length: text.length,
    ...(to < text.length ? { next: to } : {}),
  };
}

/** Whether a position is between the two halves of a character. */
function isInCharacter(text: string, at: number): boolean {
  return at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
