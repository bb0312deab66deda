import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { nearestName } from '../../../graph/names.js';
import { escapeUnprintable } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';
import { specTexts } from './spec-texts.js';

const { hints: texts } = specTexts;

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
  if (encoded !== undefined && !/^[\w-]*$/.test(encoded)) return { problem: texts.notBase64 };
  const text = encoded === undefined ? value : Buffer.from(encoded, 'base64url').toString('utf8');
  if (text.length > HEADER_LIMIT) return { problem: texts.tooLong(HEADER_LIMIT) };
  if (encoded === undefined && /[^\t\x20-\x7e]/.test(text)) return { problem: texts.notAscii };
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    return { problem: texts.notJson(thrownText(error)) };
  }
}

/**
 * Checks hints by tool.
 *
 * @param tools the tools that clients have.
 */
export function checkToolHints(given: unknown, tools: ReadonlySet<string>): ReadToolHints {
  if (!isJsonObject(given)) return { ok: false, problems: [texts.notObject] };
  const problems = Object.entries(given).flatMap(([tool, hints]) => {
    if (!tools.has(tool)) return [texts.unknownTool(tool, nearestName(tool, tools))];
    if (!isJsonObject(hints)) return [texts.entry(tool)];
    return Object.entries(hints).flatMap(([key, value]) => hintProblems(tool, key, value, tools));
  });
  return problems.length > 0
    ? { ok: false, problems: problems.slice(0, 10) }
    : { ok: true, hints: given as Readonly<Record<string, JsonObject>> };
}

const KEYS = ['category', 'next', 'requires', 'outputs', 'hint', 'examples'] as const;

function hintProblems(tool: string, key: string, value: Json, tools: ReadonlySet<string>): string[] {
  switch (key) {
    case 'category':
    case 'hint':
      return isText(value, TEXT_LIMIT) ? [] : [texts.notText(tool, key, TEXT_LIMIT)];
    case 'outputs':
      return isTexts(value) ? [] : [texts.notList(tool, key, LIST_LIMIT, NAME_LIMIT)];
    case 'next':
    case 'requires':
      if (!isTexts(value)) return [texts.notList(tool, key, LIST_LIMIT, NAME_LIMIT)];
      return value
        .filter((name) => !tools.has(name))
        .map((name) => texts.unknownTool(name, nearestName(name, tools)));
    case 'examples':
      return Array.isArray(value) && value.length <= LIST_LIMIT ? [] : [texts.notExamples(tool, LIST_LIMIT)];
    default:
      return [texts.unknownKey(tool, key, nearestName(key, KEYS))];
  }
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
