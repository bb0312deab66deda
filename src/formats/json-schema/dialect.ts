import { isJsonObject, type Json, type JsonObject, type JsonSchema, pointerKey } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';

/** Dialects that say in other keywords what draft 2020-12 says. */
type Dialect = 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12';

/** A schema without a base of its own is resolved against this address. */
const NO_BASE = 'https://schema.invalid/';

/** What a keyword beside `$ref` may be up to draft 7, where all others have no effect. */
const BESIDE_REF = new Set([
  ...['$comment', '$defs', '$ref', '$schema', 'default', 'definitions', 'deprecated', 'description'],
  ...['examples', 'readOnly', 'title', 'writeOnly'],
]);

/**
 * Translates a schema from the dialect that its `$schema` declares to draft 2020-12, with every reference inside the
 * document as a JSON pointer. What no later dialect could mean, a list of `items` and a boolean `exclusiveMinimum`, is
 * translated in an undeclared dialect as well. An unknown dialect is read as draft 2020-12.
 *
 * @returns the schema itself where it says the same in draft 2020-12.
 */
export function currentSchema(schema: JsonSchema): JsonSchema {
  return getOrInsert(translations, schema, () => new Translation(schema).result());
}

/** Schemas do not change. */
const translations = new WeakMap<JsonSchema, JsonSchema>();

/** Where a schema inside a document is, before and after its translation. */
interface Location {
  readonly before: string;
  readonly after: string;
}

class Translation {
  readonly #root: JsonSchema;
  readonly #dialect: Dialect;
  readonly #base: string;
  /** The schemas that have an address of their own, by it, and those with an anchor. */
  readonly #byAddress = new Map<string, string>();
  /** Where schemas are after the translation, by where they were. */
  readonly #moves = new Map<string, string>();

  constructor(root: JsonSchema) {
    this.#root = root;
    this.#dialect = dialectOf(root.$schema);
    this.#base = this.#baseOf(root, NO_BASE);
    this.#index(root, NO_BASE, { before: '', after: '' });
  }

  result(): JsonSchema {
    const translated = withPropertyObjects(this.#translate(this.#root, NO_BASE, true) as JsonObject);
    if (translated === this.#root) return this.#root;
    const { $schema: _dialect, ...body } = translated;
    return body;
  }

  get #isBefore2019(): boolean {
    return this.#dialect !== '2019-09' && this.#dialect !== '2020-12';
  }

  #index(schema: Json, around: string, { before, after }: Location): void {
    if (!isJsonObject(schema)) return;
    if (before !== after) this.#moves.set(before, after);
    const base = this.#baseOf(schema, around);
    if (base !== around || before === '') this.#byAddress.set(base, before);
    for (const anchor of this.#anchorsOf(schema)) this.#byAddress.set(`${base}#${anchor}`, before);
    mapSubschemas(schema, (part, pointer) => {
      const moved = Array.isArray(schema.items) ? movedItem(pointer) : pointer;
      const to = this.#isBefore2019 ? moved.replace(/^\/dependencies\//, '/dependentSchemas/') : moved;
      this.#index(part, base, { before: `${before}${pointer}`, after: `${after}${to}` });
      return part;
    });
  }

  #baseOf(schema: JsonObject, around: string): string {
    const id = this.#idOf(schema);
    return id === undefined || id.startsWith('#') ? around : (addressOf(id, around) ?? around);
  }

  #idOf(schema: JsonObject): string | undefined {
    const id = this.#dialect === 'draft-04' ? schema.id : schema.$id;
    return typeof id === 'string' && !(this.#isBefore2019 && schema.$ref !== undefined) ? id : undefined;
  }

  #anchorsOf(schema: JsonObject): readonly string[] {
    const id = this.#idOf(schema);
    const ofId = id !== undefined && /^#[^/]/.test(id) ? [id.slice(1)] : [];
    return [...ofId, schema.$anchor, schema.$dynamicAnchor].filter((anchor) => typeof anchor === 'string');
  }

  #translate(schema: Json, around: string, isRoot = false): Json {
    if (!isJsonObject(schema)) return schema;
    const base = this.#baseOf(schema, around);
    let result = mapSubschemas(schema, (part) => this.#translate(part, base));
    const edit = (change: (keywords: Record<string, Json>) => void): void => {
      const keywords = { ...result };
      change(keywords);
      result = keywords;
    };
    // Anchors of other documents could be twice in this one.
    const isForeign = this.#isBefore2019 || base !== this.#base;
    if (this.#idOf(result) !== undefined || (isForeign && typeof result.$anchor === 'string'))
      edit((keywords) => {
        delete keywords[this.#dialect === 'draft-04' ? 'id' : '$id'];
        if (isForeign) delete keywords.$anchor;
      });
    if (Array.isArray(result.items)) edit(listItems);
    for (const [exclusive, limit] of LIMITS) {
      if (typeof result[exclusive] === 'boolean')
        edit((keywords) => exclusiveLimit(keywords, exclusive, limit));
    }
    if (this.#isBefore2019 && isJsonObject(result.dependencies)) edit(dependencies);
    if (result.$recursiveRef !== undefined || result.$recursiveAnchor !== undefined) edit(recursiveReference);
    const { $ref } = result;
    if (typeof $ref !== 'string') return result;
    const extras = Object.keys(result).filter((keyword) => !BESIDE_REF.has(keyword));
    const ignored = extras.filter((keyword) => !(isRoot && keyword === 'type'));
    if (this.#isBefore2019 && ignored.length > 0)
      edit((keywords) => {
        for (const keyword of ignored) delete keywords[keyword];
      });
    const pointer = this.#pointerOf($ref, base);
    return pointer === undefined || pointer === $ref ? result : { ...result, $ref: pointer };
  }

  /** A reference as a JSON pointer into the translated document, unless it leads to another document. */
  #pointerOf(ref: string, base: string): string | undefined {
    const mark = ref.indexOf('#');
    const [address, fragment] = mark < 0 ? [ref, ''] : [ref.slice(0, mark), ref.slice(mark + 1)];
    const document = address === '' ? base : addressOf(address, base);
    if (document === undefined) return undefined;
    if (fragment !== '' && !fragment.startsWith('/')) {
      const anchored = this.#byAddress.get(`${document}#${fragment}`);
      return anchored === undefined ? undefined : `#${this.#moved(anchored)}`;
    }
    const start = document === this.#base ? '' : this.#byAddress.get(document);
    return start === undefined ? undefined : `#${this.#moved(`${start}${fragment}`)}`;
  }

  #moved(pointer: string): string {
    return this.#moves.get(pointer) ?? pointer;
  }
}

/** Clients of MCP take objects alone for the schemas of arguments. */
function withPropertyObjects(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const entries = Object.entries(properties);
  if (!entries.some(([, property]) => typeof property === 'boolean')) return schema;
  const objects = entries.map(([name, property]): [string, Json] => [
    name,
    property === true ? {} : property === false ? { not: {} } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(objects) };
}

function dialectOf(declared: Json | undefined): Dialect {
  const name = typeof declared === 'string' ? /(?:draft-0|draft\/)(\d[\d-]*)/.exec(declared)?.[1] : undefined;
  switch (name) {
    case '3':
    case '4':
      return 'draft-04';
    case '6':
      return 'draft-06';
    case '7':
      return 'draft-07';
    case '2019-09':
      return '2019-09';
    default:
      return '2020-12';
  }
}

function addressOf(reference: string, base: string): string | undefined {
  try {
    const url = new URL(reference, base);
    url.hash = '';
    return url.href;
  } catch {
    return undefined;
  }
}

const LIMITS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** Where a schema is after a list of `items` has become `prefixItems`. */
function movedItem(pointer: string): string {
  return pointer.replace(/^\/items\//, '/prefixItems/').replace(/^\/additionalItems$/, '/items');
}

function listItems(keywords: Record<string, Json>): void {
  const { items = [], additionalItems } = keywords;
  delete keywords.items;
  delete keywords.additionalItems;
  if (Array.isArray(items) && items.length > 0) keywords.prefixItems = items;
  if (additionalItems !== undefined) keywords.items = additionalItems;
}

/** A limit that is exclusive by a flag beside it. */
function exclusiveLimit(keywords: Record<string, Json>, exclusive: string, limit: string): void {
  const value = keywords[limit];
  const isExclusive = keywords[exclusive] === true && value !== undefined;
  delete keywords[exclusive];
  if (!isExclusive) return;
  delete keywords[limit];
  keywords[exclusive] = value;
}

/** Within one document it names the root. */
function recursiveReference(keywords: Record<string, Json>): void {
  if (keywords.$recursiveRef !== undefined) keywords.$ref = '#';
  delete keywords.$recursiveRef;
  delete keywords.$recursiveAnchor;
}

/** Names that a property requires, and schemas that its presence applies, are two keywords since 2019. */
function dependencies(keywords: Record<string, Json>): void {
  const entries = Object.entries(keywords.dependencies ?? {});
  delete keywords.dependencies;
  const required = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  if (required.length > 0) keywords.dependentRequired = Object.fromEntries(required);
  if (schemas.length > 0) keywords.dependentSchemas = Object.fromEntries(schemas);
}

/** Keywords whose value is a schema; that of `items` may be a list of them in older dialects. */
const SCHEMA = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose value is a list of schemas. */
const LIST = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
/** Keywords whose value is an object of schemas. In `dependencies` some members are lists of names. */
const NAMED = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/**
 * A schema with each of the schemas directly inside it replaced. The schema itself where all of them stay as they are.
 *
 * @param map receives a schema, and the JSON pointer to it from the schema around it.
 */
export function mapSubschemas(schema: JsonObject, map: (part: Json, pointer: string) => Json): JsonObject {
  const changed: [string, Json][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = mapKeyword(keyword, value, map);
    if (mapped !== value) changed.push([keyword, mapped]);
  }
  if (changed.length === 0) return schema;
  const byKeyword = new Map(changed);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, byKeyword.get(keyword) ?? value]),
  );
}

function mapKeyword(keyword: string, value: Json, map: (part: Json, pointer: string) => Json): Json {
  if (LIST.has(keyword) && Array.isArray(value)) {
    const items = value.map((item: Json, index) => map(item, `/${keyword}/${index}`));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (NAMED.has(keyword) && isJsonObject(value)) {
    const members = Object.entries(value).map(([name, member]): [string, Json] => [
      name,
      Array.isArray(member) ? member : map(member, `/${keyword}/${pointerKey(name)}`),
    ]);
    return members.every(([name, member]) => member === value[name]) ? value : Object.fromEntries(members);
  }
  return SCHEMA.has(keyword) ? map(value, `/${keyword}`) : value;
}
