import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type JsonSchema, ownProperty } from '../../graph/json.js';
import type { ToolDeclaration } from '../declarations.js';
import { withoutUndefined } from '../type-syntax.js';

/**
 * Compares the defaults of a declared input schema with the type of `execute`'s parameter, which is what callers see:
 * SW6020 for a field with a default that callers have to give all the same, SW6021 for one they may leave out without
 * a default.
 *
 * @param declared nothing where the schema is derived from that type, which says nothing of defaults.
 */
export function defaultFaults(
  tool: ToolDeclaration,
  declared: JsonSchema | undefined,
): readonly Diagnostic[] {
  const type = tool.inputType && withoutUndefined(tool.inputType);
  if (type?.kind !== 'object') return [];
  return type.properties.flatMap(({ name, optional, hasDefault, place = tool.inputPlace ?? tool.place }) => {
    const params = { tool: tool.name, property: name };
    const isGiven = defaultOf(declared, name) !== undefined;
    if (hasDefault) return isGiven ? [] : [diagnostic('SW6021', place, params)];
    return isGiven && !optional ? [diagnostic('SW6020', place, params)] : [];
  });
}

function defaultOf(schema: JsonSchema | undefined, name: string): unknown {
  const properties = schema?.properties;
  const own = isJsonObject(properties) ? ownProperty(properties, name) : undefined;
  return isJsonObject(own) ? own.default : undefined;
}
