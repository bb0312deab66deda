import { isJsonObject, type Json, type JsonObject } from '../../../graph/json.js';
import { nearestName } from '../../../graph/names.js';
import { clip, escapeUnprintable } from '../../../graph/printable-text.js';
import { thrownText } from '../../tools/exceptions.js';

/** What a server says about the files and addresses that its workflows come from. */
export const specTexts = {
  unusable: (what: string, report: string) => `The workflows of ${what} cannot be used:\n${report}`,
  unknownShown: (profile: string, name: string, nearest: string | undefined) =>
    `profiles.${profile}.workflows: there is no workflow '${clip(name)}'${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
  unknownOption: (where: string, option: string, nearest: string | undefined, options: readonly string[]) =>
    `${where} has no option '${clip(option)}'${nearest === undefined ? `; it has ${options.join(', ')}` : `; did you mean '${nearest}'?`}`,
  notList: (option: string) => `${option} must be a list of texts`,
  why: {
    notResolved: (host: string, code: string) => `the name ${host} is not resolved (${code})`,
    address: (host: string, address: string, range: string) =>
      `${host} has the address ${address}, which is ${range}; list its network in specs.remote.allowAddresses if it is meant`,
  },

  hints: {
    unknownKey: (tool: string, key: string, nearest: string | undefined) =>
      `'${tool}' has '${clip(key)}', which is not a hint${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
    notList: (tool: string, key: string, most: number, limit: number) =>
      `'${key}' of '${tool}' must be a list of at most ${most} texts of 1 to ${limit} printable characters`,
    unknownTool: (tool: string, nearest: string | undefined) =>
      `clients have no tool '${clip(tool)}'${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
  },
  badHints: (where: string, problems: readonly string[]) => `${where}: ${problems.join('; ')}`,

  headerIgnored: (name: string, option: string) =>
    `a client sends the header ${name}, which is ignored: set headers.${option} to take it. This is not logged again`,
  headerForbidden: (name: string) => `This caller may not use the header ${name} of this server`,
  badRule: (option: string) => `headers.${option} must be a function from a caller to true or false`,
} as const;

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
    if (!tools.has(tool)) return [texts.unknownTool(tool, nearestName(tool, tools))];
    if (!isJsonObject(hints)) return [`'${clip(tool)}' is not an object of hints`];
    return Object.entries(hints).flatMap(([key, value]) => hintProblems(tool, key, value, tools));
  });
  return problems.length > 0
    ? { ok: false, problems: problems.slice(0, 10) }
    : { ok: true, hints: hintsByTool as Readonly<Record<string, JsonObject>> };
}

const KEYS = ['category', 'next', 'requires', 'outputs', 'hint', 'examples'] as const;

function hintProblems(tool: string, key: string, value: Json, tools: ReadonlySet<string>): string[] {
  switch (key) {
    case 'category':
    case 'hint':
      return isText(value, TEXT_LIMIT)
        ? []
        : [`'${key}' of '${tool}' must be a text of 1 to ${TEXT_LIMIT} printable characters`];
    case 'outputs':
      return isTexts(value) ? [] : [texts.notList(tool, key, LIST_LIMIT, NAME_LIMIT)];
    case 'next':
    case 'requires':
      if (!isTexts(value)) return [texts.notList(tool, key, LIST_LIMIT, NAME_LIMIT)];
      return value
        .filter((name) => !tools.has(name))
        .map((name) => texts.unknownTool(name, nearestName(name, tools)));
    case 'examples':
      return Array.isArray(value) && value.length <= LIST_LIMIT
        ? []
        : [`'examples' of '${tool}' must be a list of at most ${LIST_LIMIT}`];
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
