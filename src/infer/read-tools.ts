import { isJsonObject, type Json, type JsonObject } from '../graph/json.js';
import type { PlanningHints, ToolDescription } from './tool.js';

/** Key of a tool's hints in its `_meta`. */
export const HINTS_META = 'stepwright/hints';

/**
 * Reads a list of tools: an array, `{ tools: […] }` as a result of `tools/list`, or such a result in a response.
 * `undefined` if an item is not a tool.
 */
export function toolsFrom(given: Json): ToolDescription[] | undefined {
  const list = listIn(given);
  const tools = list?.map(toolFrom);
  return tools?.every((tool) => tool !== undefined) === true ? tools : undefined;
}

function listIn(given: Json | undefined): readonly Json[] | undefined {
  if (Array.isArray(given)) return given;
  if (!isJsonObject(given)) return undefined;
  return Array.isArray(given.tools)
    ? given.tools
    : isJsonObject(given.result)
      ? listIn(given.result)
      : undefined;
}

function toolFrom(given: Json): ToolDescription | undefined {
  if (!isJsonObject(given) || typeof given.name !== 'string' || given.name === '') return undefined;
  const { name, description, inputSchema, outputSchema, hints, _meta: meta } = given;
  const own = isJsonObject(hints) ? hints : isJsonObject(meta) ? meta[HINTS_META] : undefined;
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    ...(isJsonObject(own) ? { hints: hintsFrom(own) } : {}),
  };
}

/** Reads hints. What is not of the expected type is left out. */
export function hintsFrom({ category, next, requires, outputs, hint, examples }: JsonObject): PlanningHints {
  const texts = (list: Json | undefined) =>
    Array.isArray(list) ? list.filter((each): each is string => typeof each === 'string') : undefined;
  const all = {
    category: typeof category === 'string' ? category : undefined,
    next: texts(next),
    requires: texts(requires),
    outputs: texts(outputs),
    hint: typeof hint === 'string' ? hint : undefined,
    examples: Array.isArray(examples) ? examples : undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
