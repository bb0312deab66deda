import { defined } from './defined.js';
import { isJsonObject, type JsonSchema } from './json.js';

/** Whether the results of a tool with this output schema are `{ result: value }`, and steps bind the value alone. */
export function isWrapped(outputSchema: JsonSchema | undefined): boolean {
  return outputSchema?.['x-fastmcp-wrap-result'] === true;
}

/** The schema of the value that a step binds, by the output schema of its tool. */
export function boundSchema(outputSchema: JsonSchema): JsonSchema {
  const { properties, $defs, definitions } = outputSchema;
  const result = isJsonObject(properties) ? properties.result : undefined;
  if (!isWrapped(outputSchema) || !isJsonObject(result)) return outputSchema;
  // References in it begin at the root.
  return {
    ...result,
    ...defined({ $defs, definitions }),
  };
}
