import { createRequire } from 'node:module';
import { currentSchema, mapSubschemas } from '../../formats/json-schema/dialect.js';
import { patternOf } from '../../formats/json-schema/regular-expression.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, ownProperty } from '../../graph/json.js';

/** The dialect every schema in a registry is written in. */
const TARGET = 'draft-2020-12';

/** Which side of a schema is wanted: what callers may send, or what comes out of it. */
export type SchemaSide = 'input' | 'output';

/** A JSON Schema, or why there is none. */
export type SchemaReading =
  | { readonly kind: 'schema'; readonly schema: JsonSchema }
  | { readonly kind: 'unrepresentable'; readonly reason: string }
  | { readonly kind: 'notAnObject' };

/** The parts of the Standard Schema interfaces that are read here. */
interface StandardProps {
  readonly vendor: string;
  readonly jsonSchema?: { readonly [S in SchemaSide]?: (options: ConverterOptions) => unknown };
}

interface ConverterOptions {
  readonly target: string;
  readonly libraryOptions?: ZodOptions;
}

/** The options of zod's converter, whether it is reached through the schema or through the library. */
interface ZodOptions {
  readonly override: (at: OverrideContext) => void;
  readonly unrepresentable: 'throw' | ((at: { readonly path: readonly (string | number)[] }) => 'throw');
}

interface OverrideContext {
  readonly zodSchema: unknown;
  readonly jsonSchema: Record<string, unknown>;
}

type ZodToJsonSchema = (schema: unknown, options: ZodOptions & { target: string; io: SchemaSide }) => unknown;

/**
 * Turns a zod schema or any other Standard Schema into a JSON Schema (draft 2020-12) for an object.
 *
 * Plain zod objects are closed (`additionalProperties: false`) on both sides and at any depth: an unknown argument is
 * an error to report, not a value to drop. The author's own copy of zod does the conversion.
 *
 * @param schema - what the decorator was given.
 * @param side - `input` leaves out what a default or `optional` fills in; `output` does not.
 * @param file - absolute path of the module that holds the schema, from where its library is found.
 */
export function readJsonSchema(schema: unknown, side: SchemaSide, file: string): SchemaReading {
  const reading = readAnySchema(schema, side, file);
  return reading.kind === 'schema' ? writtenSchema(reading.schema) : reading;
}

/** The same for a value of any kind. */
export function readAnySchema(schema: unknown, side: SchemaSide, file: string): SchemaReading {
  const props = standardProps(schema);
  if (props === undefined) return unrepresentable('it is not a Standard Schema');
  let plain: Json;
  try {
    const raw: unknown =
      props.vendor === 'zod'
        ? convertZod(schema, props, side, file)
        : props.jsonSchema?.[side]?.({ target: TARGET });
    if (raw === undefined) {
      return unrepresentable(
        `\`${props.vendor}\` offers no JSON Schema for it (\`~standard.jsonSchema\` is missing)`,
      );
    }
    // Serializing drops values that are not JSON (functions, `undefined`, symbols) and refuses cycles.
    plain = JSON.parse(JSON.stringify(raw)) as Json;
  } catch (error) {
    return unrepresentable(error instanceof Error ? error.message : String(error));
  }
  if (!isJsonObject(plain)) return unrepresentable('its JSON Schema is not an object');
  const { $schema: dialect, '~standard': _marker, ...bare } = plain;
  // zod writes the dialect that MCP takes for granted into every schema; elsewhere an author may have chosen it.
  const rest = dialect === undefined || props.vendor === 'zod' ? bare : { $schema: dialect, ...bare };
  const pooled = props.vendor === 'zod' ? poolIntersections(rest, rest) : rest;
  return isJsonObject(pooled) ? { kind: 'schema', schema: currentSchema(pooled) } : { kind: 'notAnObject' };
}

/** A JSON Schema that an author wrote out, in the dialect of a registry. */
export function writtenSchema(schema: JsonSchema): SchemaReading {
  const rooted = objectRoot(currentSchema(schema));
  return rooted === undefined ? { kind: 'notAnObject' } : { kind: 'schema', schema: rooted };
}

const unrepresentable = (reason: string): SchemaReading => ({ kind: 'unrepresentable', reason });

function standardProps(schema: unknown): StandardProps | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined;
  const props = (schema as { readonly '~standard'?: unknown })['~standard'];
  if (typeof props !== 'object' || props === null) return undefined;
  return typeof (props as StandardProps).vendor === 'string' ? (props as StandardProps) : undefined;
}

function convertZod(schema: unknown, props: StandardProps, side: SchemaSide, file: string): unknown {
  if (!isZodFour(schema)) throw new Error('zod 3 schemas have none: use zod 4');
  const ofSchema = props.jsonSchema?.[side];
  const convert = (unrepresentable: ZodOptions['unrepresentable']): unknown => {
    const override = (at: OverrideContext): void => {
      adaptSchema(at, side);
    };
    const options: ZodOptions = { override, unrepresentable };
    return ofSchema === undefined
      ? zodOf(file)(schema, { ...options, target: TARGET, io: side })
      : ofSchema({ target: TARGET, libraryOptions: options });
  };
  try {
    return convert('throw');
  } catch (error) {
    throw withPath(error, convert);
  }
}

/** Converts again to learn where the fault is: zod tells a handler the path, and an error only the type. */
function withPath(
  error: unknown,
  convert: (unrepresentable: ZodOptions['unrepresentable']) => unknown,
): unknown {
  let path = '';
  try {
    convert((at) => {
      path = readablePath(at.path);
      return 'throw';
    });
  } catch {
    // The same error again; the handler has noted the path.
  }
  if (path === '' || !(error instanceof Error)) return error;
  return new Error(`${error.message} (at \`${path}\`)`);
}

/** `['properties', 'tasks', 'items', 'properties', 'due']` → `tasks[].due`. */
function readablePath(path: readonly (string | number)[]): string {
  let text = '';
  for (let i = 0; i < path.length; i += 1) {
    const segment = path[i];
    if (segment === 'items' || segment === 'prefixItems') text += '[]';
    if (segment !== 'properties') continue;
    i += 1;
    text += `${text === '' ? '' : '.'}${String(path[i] ?? '')}`;
  }
  return text;
}

function isZodFour(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

/** Zod Mini and zod before 4.2 convert through the library alone: the copy that the author's module resolves to. */
function zodOf(file: string): ZodToJsonSchema {
  const library = (requireZod(file) ?? requireZod(import.meta.url)) as {
    readonly toJSONSchema?: ZodToJsonSchema;
  };
  if (library?.toJSONSchema === undefined)
    throw new Error('the installed zod has no `toJSONSchema`: use zod 4');
  return library.toJSONSchema;
}

/** Nothing where a module got its schema from another package and has no zod of its own. */
function requireZod(from: string): unknown {
  const require = createRequire(from);
  try {
    return require('zod');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The parts of the definition of a zod schema that are read here. */
interface ZodDefinition {
  readonly type: string;
  readonly catchall?: unknown;
  /** The kind of a check. */
  readonly check?: string;
  readonly in?: ZodSchema;
  readonly keyType?: ZodSchema;
  readonly pattern?: RegExp;
  readonly checks?: readonly ZodSchema[];
}

interface ZodSchema {
  readonly _zod: { readonly def: ZodDefinition; readonly bag?: { readonly patterns?: Iterable<RegExp> } };
}

function adaptSchema({ zodSchema, jsonSchema }: OverrideContext, side: SchemaSide): void {
  const { def } = (zodSchema as ZodSchema)._zod;
  switch (def.type) {
    case 'object':
      if (def.catchall === undefined) jsonSchema.additionalProperties = false;
      break;
    case 'string':
      writePatterns(jsonSchema, expressionsOf(zodSchema as ZodSchema));
      // What callers send is longer than a trimmed text, and in other letters than a lower-case one.
      if (side === 'input' && def.checks?.some((check) => check._zod.def.check === 'overwrite') === true)
        for (const keyword of ['allOf', 'maxLength', 'pattern']) delete jsonSchema[keyword];
      break;
    case 'record':
      if (def.keyType !== undefined && isJsonObject(jsonSchema.patternProperties)) {
        const expressions = expressionsOf(def.keyType);
        jsonSchema.patternProperties = Object.fromEntries(
          Object.entries(jsonSchema.patternProperties).map(([source, schema]) => [
            writtenPattern(source, expressions),
            schema,
          ]),
        );
      }
      break;
    case 'pipe':
    case 'catch':
      // The value is changed before it is what the schema describes: its keys may be others.
      if (side === 'input' && (def.type === 'catch' || def.in?._zod.def.type === 'transform'))
        Object.assign(jsonSchema, opened(jsonSchema as JsonObject));
      break;
    default:
      break;
  }
}

/** The regular expressions of a schema of text. */
function expressionsOf({ _zod: { def, bag } }: ZodSchema): readonly RegExp[] {
  const ofChecks = (def.checks ?? []).map((check) => check._zod.def.pattern);
  return [def.pattern, ...ofChecks, ...(bag?.patterns ?? [])].filter((each) => each !== undefined);
}

/** Zod writes the sources of regular expressions, without their flags. */
function writePatterns(jsonSchema: Record<string, unknown>, expressions: readonly RegExp[]): void {
  if (expressions.length === 0) return;
  if (typeof jsonSchema.pattern === 'string')
    jsonSchema.pattern = writtenPattern(jsonSchema.pattern, expressions);
  if (!Array.isArray(jsonSchema.allOf)) return;
  jsonSchema.allOf = jsonSchema.allOf.map((part: Json) =>
    isJsonObject(part) && typeof part.pattern === 'string'
      ? { ...part, pattern: writtenPattern(part.pattern, expressions) }
      : part,
  );
}

/** @throws Error for an expression that has no form as a pattern. */
function writtenPattern(source: string, expressions: readonly RegExp[]): string {
  const expression = expressions.find((each) => each.source === source);
  // A schema that extends another one gets the patterns of that one, which have been written.
  if (expression === undefined) return source;
  const written = patternOf(expression);
  if (written.ok) return written.pattern;
  // Codegen reports it with its place in the schema.
  if (expression.flags === '') return source;
  throw new Error(`the regular expression ${String(expression)} ${written.why}`);
}

/** A schema whose objects take further keys, at any depth. */
function opened(schema: JsonObject): JsonObject {
  const { additionalProperties, ...rest } = mapSubschemas(schema, (part) =>
    isJsonObject(part) ? opened(part) : part,
  );
  return additionalProperties === undefined
    ? rest
    : { ...rest, additionalProperties: additionalProperties === false ? {} : additionalProperties };
}

/**
 * Closed objects under one `allOf` refuse each other's keys, so nothing would ever match. The keys are pooled
 * instead, as zod's parser does: the members are opened, and `unevaluatedProperties` closes the whole.
 */
function poolIntersections(value: Json, root: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item: Json) => poolIntersections(item, root));
  if (!isJsonObject(value)) return value;
  const node = mapValues(value, (child) => poolIntersections(child, root));
  if (!Array.isArray(node.allOf)) return node;
  const members = (node.allOf as readonly Json[]).map((member) => localTarget(member, root));
  if (members.length < 2 || !members.every((member) => member?.additionalProperties === false)) return node;
  return { ...node, allOf: members.map(openObject), unevaluatedProperties: false };
}

function openObject(schema: JsonObject | undefined): JsonObject {
  const { additionalProperties: _closed, ...open } = schema ?? {};
  return open;
}

/** Keeps a key named `__proto__` an own property, which an assignment would not. */
function mapValues(object: JsonObject, map: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}

/** Follows `#/$defs/name`; returns any other schema itself. */
function localTarget(schema: Json, root: JsonObject): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typeof schema.$ref !== 'string') return schema;
  const name = /^#\/\$defs\/([^/]+)$/.exec(schema.$ref)?.[1];
  const defs = root.$defs;
  const target = name !== undefined && isJsonObject(defs) ? ownProperty(defs, name) : undefined;
  return isJsonObject(target) ? target : undefined;
}

/**
 * MCP wants `type: "object"` written at the root. A union or a reference of which every form is an object gets it;
 * anything else has no form as a tool's schema.
 */
export function objectRoot(schema: JsonObject): JsonSchema | undefined {
  if (schema.type === 'object') return schema;
  return isObjectSchema(schema, schema, 0) ? { type: 'object', ...schema } : undefined;
}

function isObjectSchema(schema: Json | undefined, root: JsonObject, depth: number): boolean {
  if (!isJsonObject(schema) || depth > 16) return false;
  if (schema.type !== undefined) return schema.type === 'object';
  const target = typeof schema.$ref === 'string' ? localTarget(schema, root) : undefined;
  if (target !== undefined) return isObjectSchema(target, root, depth + 1);
  for (const key of ['anyOf', 'oneOf'] as const) {
    const forms = schema[key];
    if (Array.isArray(forms) && forms.length > 0) {
      return forms.every((form: Json) => isObjectSchema(form, root, depth + 1));
    }
  }
  const parts = schema.allOf;
  return Array.isArray(parts) && parts.some((part: Json) => isObjectSchema(part, root, depth + 1));
}
