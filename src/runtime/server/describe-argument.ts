import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import { describeType } from './coerce.js';
import { limitWords } from './texts.js';

/** What a person should know of the values of an argument: its type, then its limits, in plain words. */
export function describeValues(schema: JsonSchema): string[] {
  const type = describeType(schema);
  return [...(type === undefined ? [] : [type]), ...describeLimits(schema)];
}

/** The limits of a schema; of alternatives only those of the one that is not `null`. */
function describeLimits(schema: JsonSchema): string[] {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(alternatives)) {
    const values = alternatives.filter(isJsonObject).filter(({ type }) => type !== 'null');
    const [only, ...others] = values;
    return only === undefined || others.length > 0 ? [] : describeLimits(only);
  }
  const number = (keyword: string): number | undefined => numberIn(schema[keyword]);
  const { pattern, uniqueItems } = schema;
  return [
    limitWords.range(number('minimum'), number('maximum')),
    limitWords.exclusiveRange(number('exclusiveMinimum'), number('exclusiveMaximum')),
    limitWords.multipleOf(number('multipleOf')),
    limitWords.count('character', number('minLength'), number('maxLength')),
    limitWords.count('item', number('minItems'), number('maxItems')),
    uniqueItems === true ? limitWords.unique : undefined,
    typeof pattern === 'string' ? limitWords.pattern(pattern) : undefined,
  ].filter((words) => words !== undefined);
}

function numberIn(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
