import type { Diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import type { Domain, Graph } from '../../graph/model.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { LocatedMap } from '../text/located.js';
import type { XmlMapping } from '../text/read-xml.js';
import type { RepeatedKey, Reports } from '../text/reading.js';

/** A language of spec files: how workflows are written in the values of YAML, JSON and perhaps XML. */
export interface Dialect {
  readonly id: string;
  /** Whether a document is written in this dialect: its top-level keys decide. */
  recognise(document: LocatedMap): boolean;
  /** Whether a document that no dialect recognises is likely in this one: its names are near to the keys. */
  resembles?(document: LocatedMap): boolean;
  /** Lowers a document to graphs, and reports faults of its form. The checker finds faults of meaning in the graphs. */
  lower(document: LocatedMap, reports: Reports): LoweredDocument | undefined;
  /** The JSON Schema of documents for editors. Its `required` keys are those that {@link recognise} looks for. */
  editorSchema(vocabulary: SpecVocabulary): JsonObject & { readonly required: readonly string[] };
  /** The repair of a fault that the checker found, as it is written in this dialect. */
  hint?(diagnostic: Diagnostic): string | undefined;
  /** The meaning of a key that an object has twice, where the dialect knows one. */
  readonly repeatedKey?: RepeatedKey;
  /** The form of the dialect in XML. */
  readonly xml?: XmlMapping;
}

export interface LoweredDocument {
  readonly domain: Domain;
  /** In the order of writing. Faulty parts are left out. */
  readonly graphs: readonly Graph[];
  /** The workflows that its nodes run by domain and name: a graph holds the name alone. */
  readonly qualifiedNames?: readonly QualifiedName[];
}

/** A workflow that a node runs, written as `domain/name`. */
export interface QualifiedName {
  readonly domain: string;
  readonly name: string;
  /** The workflow of the node. */
  readonly caller: string;
  readonly source: SourceLocation;
}

/** The tools and workflows that spec files may use. */
export interface SpecVocabulary {
  readonly tools: readonly DescribedTool[];
  readonly workflows: readonly Graph[];
}

/** A tool that spec files may call. */
export interface DescribedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The tool of an upstream server that it calls. */
  readonly upstream?: { readonly server: string; readonly tool: string } | undefined;
}

/** A definition of the schema for editors. */
export const ref = (definition: string): JsonSchema => ({ $ref: `#/definitions/${definition}` });

/** An object of some keys, and keys of its author's own. */
export function objectWith(properties: JsonObject): JsonObject {
  return { type: 'object', properties, patternProperties: { '^x-': {} }, additionalProperties: false };
}

/** In draft 7, what is beside a reference does not count. */
export function described(schema: JsonSchema, description: string | undefined): JsonSchema {
  if (description === undefined) return schema;
  return schema.$ref === undefined ? { description, ...schema } : { description, allOf: [schema] };
}
