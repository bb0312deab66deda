import type { DiagnosticCode } from '../../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../../graph/names.js';
import { entryOf, type LocatedEntry, type LocatedMap } from '../../text/located.js';
import type { RepeatedKey } from '../../text/reading.js';
import type { Dialect } from '../dialect.js';
import { lowerDocument } from './document.js';
import { documentSchema } from './editor-schema.js';
import { DOCUMENT, PROMPT_TYPES } from './keys.js';

/** Workflows as lists of steps with templates, of which agents do a part: `steps`, in YAML and JSON. */
export const durable: Dialect = {
  id: 'durable',
  recognise: (document) =>
    entryOf(document, 'steps') !== undefined && entryOf(document, 'workflows') === undefined,
  resembles,
  lower: lowerDocument,
  editorSchema: documentSchema,
  hint: ({ code, params = {} }) => HINTS[code]?.(params),
  repeatedKey: promptType(),
};

/** `steps` is misspelt, or there is a `name` and no key of another dialect. */
function resembles({ entries }: LocatedMap): boolean {
  const keys = Object.keys(DOCUMENT);
  const names = entries
    .map(({ key }) => key.value)
    .map((name) => (keys.includes(name) ? name : nearestName(name, [...keys, 'workflows'])));
  if (names.includes('workflows')) return false;
  return names.includes('steps') || (names.includes('name') && !names.includes(undefined));
}

/** A prompt may have its own type in a second `type`. [P2] */
function promptType(): RepeatedKey {
  const textOf = ({ value }: LocatedEntry): string => (value.kind === 'text' ? value.value : '');
  const isType = (entry: LocatedEntry): boolean =>
    (PROMPT_TYPES as readonly string[]).includes(textOf(entry));
  return (first, second) => {
    if (first.key.value !== 'type') return undefined;
    const entry = textOf(first) === 'prompt' ? second : textOf(second) === 'prompt' ? first : undefined;
    return entry !== undefined && isType(entry) ? { entry, name: 'prompt_type' } : undefined;
  };
}

/** Repairs of faults that the checker finds, as they are written in this dialect. */
const HINTS: { readonly [C in DiagnosticCode]?: (params: Readonly<Record<string, unknown>>) => string } = {
  SW3011: ({ name }) => `use \`{{ inputs.${String(name)} }}\`, or remove the input`,
  SW4009: () => 'give one of them another id',
  SW4013: ({ end }) => `give \`${String(end)}\` a \`when\`, or remove the step`,
  SW4027: ({ limit }) =>
    limit === undefined ? 'give the `foreach` a `when`' : 'run some of them one after the other',
};
