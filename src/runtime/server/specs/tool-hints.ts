import { defined } from '../../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import { nearestName, withQuestion } from '../../../graph/names.js';
import { clip, escapeUnprintable } from '../../../graph/printable-text.js';
import { readHints } from '../../../infer/hints.js';
import { thrownText } from '../../tools/exceptions.js';

/** Hints by tool, or everything that is wrong with them. */
export type ReadToolHints =
  | { readonly ok: true; readonly hints: Readonly<Record<string, JsonObject>> }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The longest value of the header, decoded. */
const HEADER_LIMIT = 16_384;
const TEXT_LIMIT = 500;
const NAME_LIMIT = 128;
const LIST_LIMIT = 50;

/** Reads the value of the header `X-Tool-Hints`: JSON, or `base64url:` and JSON in base64url. Nothing of it is checked. */
export function readHintsHeader(value: string): { readonly json: unknown } | { readonly problem: string } {
  const encoded = /^base64url:(.*)$/s.exec(value)?.[1];
  if (encoded !== undefined && !/^[\w-]*$/.test(encoded)) return { problem: 'it is not base64url' };
  const text = encoded === undefined ? value : Buffer.from(encoded, 'base64url').toString('utf8');
  if (text.length > HEADER_LIMIT) return { problem: `it has more than ${HEADER_LIMIT} characters` };
  if (encoded === undefined && /[^\t\x20-\x7e]/.test(text))
    return { problem: 'it has characters beyond ASCII: send them as `base64url:` and the JSON in base64url' };
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    return { problem: `it is not JSON: ${thrownText(error)}` };
  }
}

/**
 * Checks hints by tool.
 *
 * @param tools the tools that clients have.
 */
export function checkToolHints(hintsByTool: unknown, tools: ReadonlySet<string>): ReadToolHints {
  if (!isJsonObject(hintsByTool))
    return { ok: false, problems: ['it is not an object of hints by tool: {"search": {"next": ["book"]}}'] };
  const problems = Object.entries(hintsByTool).flatMap(([tool, hints]) => {
    if (!tools.has(tool)) return [unknownTool(tool, tools)];
    if (!isJsonObject(hints)) return [`'${clip(tool)}' is not an object of hints`];
    return Object.entries(hints).flatMap(([key, value]) => hintProblems(tool, key, value, tools));
  });
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, 10) };
  const descriptions = [...tools].map((name) => ({
    name,
    ...defined({ hints: ownProperty(hintsByTool, name) as JsonObject | undefined }),
  }));
  const cycles = readHints(descriptions).faults.flatMap((fault) =>
    fault.kind === 'cycle' ? [fault.tools] : [],
  );
  return cycles.length > 0
    ? { ok: false, problems: cycles.map(circular) }
    : { ok: true, hints: hintsByTool as Readonly<Record<string, JsonObject>> };
}

function circular(tools: readonly string[]): string {
  return `'requires' of ${tools.map((tool) => `'${tool}'`).join(' and ')} name each other: leave one out`;
}

const KEYS = ['category', 'next', 'requires', 'outputs', 'hint', 'examples'] as const;

function hintProblems(tool: string, key: string, value: Json, tools: ReadonlySet<string>): string[] {
  const notNames = `'${key}' of '${tool}' must be a list of at most ${LIST_LIMIT} texts of 1 to ${NAME_LIMIT} printable characters`;
  switch (key) {
    case 'category':
    case 'hint':
      return isText(value, TEXT_LIMIT)
        ? []
        : [`'${key}' of '${tool}' must be a text of 1 to ${TEXT_LIMIT} printable characters`];
    case 'outputs':
      return isTexts(value) ? [] : [notNames];
    case 'next':
    case 'requires':
      if (!isTexts(value)) return [notNames];
      return value.filter((name) => !tools.has(name)).map((name) => unknownTool(name, tools));
    case 'examples':
      return Array.isArray(value) && value.length <= LIST_LIMIT
        ? []
        : [`'examples' of '${tool}' must be a list of at most ${LIST_LIMIT}`];
    default:
      return [withQuestion(`'${tool}' has '${clip(key)}', which is not a hint`, nearestName(key, KEYS))];
  }
}

function unknownTool(name: string, tools: ReadonlySet<string>): string {
  return withQuestion(`clients have no tool '${clip(name)}'`, nearestName(name, tools));
}

function isText(value: Json, limit: number): value is string {
  if (typeof value !== 'string' || value === '' || value.length > limit) return false;
  return escapeUnprintable(value) === value;
}

function isTexts(value: Json): value is readonly string[] & Json {
  return (
    Array.isArray(value) &&
    value.length <= LIST_LIMIT &&
    value.every((each: Json) => isText(each, NAME_LIMIT))
  );
}
