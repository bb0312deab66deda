import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearestName } from '../graph/suggest.js';
import { texts } from './texts.js';

/** An option that takes a value may name the values it knows. */
type OptionRule =
  | { readonly type: 'boolean' }
  | { readonly type: 'string'; readonly oneOf?: readonly string[] };

/** The options of a command, by their long names. */
export type OptionTable = Readonly<Record<string, OptionRule>>;

type ValueOf<R extends OptionRule> = R extends { readonly oneOf: readonly (infer V)[] }
  ? V
  : R extends { readonly type: 'string' }
    ? string
    : boolean;

type Values<T extends OptionTable> = { readonly [K in keyof T]?: ValueOf<T[K]> };

export type ParsedOptions<T extends OptionTable> =
  | { readonly kind: 'options'; readonly values: Values<T>; readonly args: readonly string[] }
  /** One line that says what is wrong. */
  | { readonly kind: 'fault'; readonly text: string };

/**
 * Reads the options of a command and what stands beside them. The first fault is reported; it never throws.
 *
 * @param command - as the user typed it, for the texts: `stepwright codegen`.
 * @param most - how many arguments beside the options it takes.
 */
export function parseOptions<T extends OptionTable>(
  command: string,
  args: readonly string[],
  table: T,
  most = 0,
): ParsedOptions<T> {
  const { tokens } = parseArgs({
    args: [...args],
    options: table as ParseArgsConfig['options'] & object,
    // What is wrong is said in our words, below.
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string | boolean> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      if (positionals.length === most) return fault(texts.needlessArgument(command, token.value, most));
      positionals.push(token.value);
      continue;
    }
    const option = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (option === undefined) {
      const suggestion = nearestName(token.name, Object.keys(table));
      const known = Object.keys(table).map((name) => `--${name}`);
      const nearest = suggestion === undefined ? undefined : `--${suggestion}`;
      return fault(texts.unknownOption(command, token.rawName, nearest, known));
    }
    if (option.type === 'boolean') {
      if (token.value !== undefined) return fault(texts.needlessValue(command, token.rawName));
      values[token.name] = true;
    } else {
      // Without an `=` the next word was taken, whatever it is.
      const isOption = token.inlineValue === false && token.value.startsWith('-');
      if (token.value === undefined || token.value === '' || isOption) {
        return fault(texts.missingValue(command, token.rawName));
      }
      if (option.oneOf !== undefined && !option.oneOf.includes(token.value)) {
        return fault(texts.unknownValue(command, token.rawName, token.value, option.oneOf));
      }
      values[token.name] = token.value;
    }
  }
  return { kind: 'options', values: values as Values<T>, args: positionals };
}

function fault<T extends OptionTable>(text: string): ParsedOptions<T> {
  return { kind: 'fault', text };
}
