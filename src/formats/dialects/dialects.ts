import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import { entryOf, type Located, type LocatedMap } from '../text/located.js';
import type { RepeatedKey, Reports } from '../text/reading.js';
import type { Dialect, LoweredDocument, SpecVocabulary } from './dialect.js';
import { durable } from './durable/durable.js';
import { expectMap } from './fields.js';
import { orchestrator } from './orchestrator/orchestrator.js';

/** The dialects of spec files. */
const DIALECTS: readonly Dialect[] = [
  durable,
  // The last one reports the faults of unrecognised documents.
  orchestrator,
];

const DEFAULT: Dialect = orchestrator;

export const XML_MAPPINGS = DIALECTS.flatMap(({ xml }) => xml ?? []);

/** The meaning of repeated keys, in whichever dialect they have one: documents are read before it is known. */
export const repeatedKey: RepeatedKey = (first, second) => {
  for (const dialect of DIALECTS) {
    const meaning = dialect.repeatedKey?.(first, second);
    if (meaning !== undefined) return meaning;
  }
  return undefined;
};

/** The workflows of a document, with the id of its dialect. */
export interface SpecDocument extends LoweredDocument {
  readonly dialect: string;
}

/** Lowers a document of any dialect to graphs. */
export function lowerDocument(root: Located, reports: Reports): SpecDocument | undefined {
  const document = expectMap(reports, root, 'a spec file');
  if (document === undefined) return undefined;
  const recognised = DIALECTS.find((dialect) => dialect.recognise(document));
  const foreign = recognised === undefined ? foreignFormatOf(document) : undefined;
  if (foreign !== undefined) {
    reports.report('SW5008', document.entries[0]?.key ?? document, { format: foreign });
    return undefined;
  }
  const dialect = recognised ?? DIALECTS.find((each) => each.resembles?.(document)) ?? DEFAULT;
  const lowered = dialect.lower(document, reports);
  return lowered && { ...lowered, dialect: dialect.id };
}

/** A diagnostic of the checker with the repair of a dialect. */
export function withHintOf(id: string, diagnostic: Diagnostic): Diagnostic {
  const hint = DIALECTS.find((dialect) => dialect.id === id)?.hint?.(diagnostic);
  return hint === undefined ? diagnostic : { ...diagnostic, hint };
}

/**
 * The JSON Schema (draft 7, which all editors know) of spec files in YAML and JSON: it completes and describes keys,
 * tools with their arguments, and workflows. It accepts every file that has no error; what it does not know, codegen
 * reports. The same vocabulary in any order gives the same schema.
 */
export function specSchema(vocabulary: SpecVocabulary): JsonObject {
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const schemas = DIALECTS.map((dialect) => ({ dialect, schema: dialect.editorSchema(vocabulary) }));
  const definitions = schemas.map(({ dialect: { id }, schema }): [string, JsonObject] => {
    const within = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"#/definitions/${id}/`);
    return [id, JSON.parse(within) as JsonObject];
  });
  const reference = ({ id }: Dialect): JsonSchema => ({ $ref: `#/definitions/${id}` });
  const choice = schemas.slice(0, -1).reduceRight<JsonSchema>(
    (others, { dialect, schema: { required } }) =>
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      ({ if: { required }, then: reference(dialect), else: others }),
    reference(DEFAULT),
  );
  return { $schema, definitions: Object.fromEntries(definitions), ...choice };
}

/** A format that no dialect reads, and how its documents are recognised. */
interface ForeignFormat {
  /** As its users call it. */
  readonly name: string;
  readonly matches: (root: LocatedMap) => boolean;
}

const FORMATS: readonly ForeignFormat[] = [
  { name: 'Arazzo', matches: (root) => hasKeys(root, 'arazzo') },
  {
    name: 'CNCF Serverless Workflow',
    matches: (root) => {
      const document = entryOf(root, 'document')?.value;
      return (document?.kind === 'map' && hasKeys(document, 'dsl')) || hasKeys(root, 'specVersion', 'states');
    },
  },
  { name: 'Amazon States Language', matches: (root) => hasKeys(root, 'StartAt', 'States') },
  { name: 'Argo Workflows', matches: (root) => textOf(root, 'apiVersion').startsWith('argoproj.io/') },
  {
    name: 'n8n',
    matches: (root) => hasKeys(root, 'nodes', 'connections') && valueIn(root, 'nodes')?.kind === 'list',
  },
  {
    name: 'Netflix Conductor',
    matches: (root) => itemsOf(valueIn(root, 'tasks')).some((task) => hasKeys(task, 'taskReferenceName')),
  },
  {
    name: 'Microsoft Conductor',
    matches: (root) =>
      valueIn(root, 'workflow')?.kind === 'map' && itemsOf(valueIn(root, 'agents')).length > 0,
  },
  { name: 'GitHub Actions', matches: (root) => hasKeys(root, 'on', 'jobs') },
  { name: 'GitLab CI', matches: (root) => hasKeys(root, 'stages') && !hasKeys(root, 'workflows') },
  { name: 'OpenAPI', matches: (root) => hasKeys(root, 'openapi') || hasKeys(root, 'swagger') },
  {
    name: 'Google Cloud Workflows',
    matches: (root) => {
      const main = valueIn(root, 'main');
      return main?.kind === 'map' && valueIn(main, 'steps')?.kind === 'list';
    },
  },
  { name: 'Docker Compose', matches: (root) => valueIn(root, 'services')?.kind === 'map' },
];

/** The format of a document that no dialect recognises; undefined if it is unknown. */
function foreignFormatOf(root: LocatedMap): string | undefined {
  return FORMATS.find(({ matches }) => matches(root))?.name;
}

function valueIn(map: LocatedMap, key: string): Located | undefined {
  return entryOf(map, key)?.value;
}

function hasKeys(map: LocatedMap, ...keys: readonly string[]): boolean {
  return keys.every((key) => entryOf(map, key) !== undefined);
}

function textOf(map: LocatedMap, key: string): string {
  const value = valueIn(map, key);
  return value?.kind === 'text' ? value.value : '';
}

function itemsOf(value: Located | undefined): readonly LocatedMap[] {
  return value?.kind === 'list' ? value.items.filter((item) => item.kind === 'map') : [];
}
