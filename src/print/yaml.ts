import { isJsonObject, type Json } from '../graph/json.js';

/** A value as YAML 1.2, in blocks. The text ends with a line break. */
export function yamlText(value: Json): string {
  return `${linesOf(value).join('\n')}\n`;
}

function linesOf(value: Json): string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item: Json) => {
      const [first = '', ...rest] = linesOf(item);
      return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [scalarText(value)];
  return Object.entries(value).flatMap(([key, item]) => {
    const isBlock = typeof item === 'object' && item !== null && Object.keys(item).length > 0;
    const name = scalarText(key);
    return isBlock
      ? [`${name}:`, ...linesOf(item).map((line) => `  ${line}`)]
      : [`${name}: ${scalarText(item)}`];
  });
}

/** Words that mean something else, in YAML 1.1 as well. */
const OTHER_MEANING = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;

/** JSON is YAML: a text is quoted unless it is a plain word. */
function scalarText(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*$/.test(value) && !OTHER_MEANING.test(value);
  return isPlain ? value : JSON.stringify(value);
}
