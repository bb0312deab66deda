import { mapSubschemas } from '../../formats/json-schema/dialect.js';
import { combinatorsOf } from '../../formats/json-schema/flat-schema.js';
import { patternFaults, SchemaCompiler } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic, hasErrors } from '../../graph/diagnostics/diagnostic.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  keysOf,
  memberOf,
  ownProperty,
  referredValue,
} from '../../graph/json.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ClassHandle, Phase, ToolDeclaration } from '../declarations.js';
import { type TypeSyntax, unresolvedType, whyUnresolved, withoutUndefined } from '../syntax.js';
import type { ClassReading } from './import-modules.js';
import type { SchemaReading, SchemaSide } from './json-schema.js';
import { isNever, problemOf, schemaOfType, type TypeFault } from './type-schema.js';

/** The schemas of a tool, from its module and its types. */
export interface ToolReading {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly fingerprint: string;
}

/** What a tool without a schema and without a parameter accepts. */
const NO_INPUT: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/**
 * The schemas of one tool: those it declares, or else those of the types of `execute`, each side on its own. A result
 * gets a schema where its type is an object. If that has no JSON form, it is an error for a tool without any schema,
 * and a warning beside a declared input: an author of schemas may return values that only code can use.
 */
export function toolReading(tool: ToolDeclaration, reading: ClassReading): Phase<ToolReading | undefined> {
  if (reading.kind !== 'tool') return { value: undefined, diagnostics: [notRead(tool, reading, 'tool')] };
  const isDeclared = reading.input !== undefined && reading.output !== undefined;
  if (tool.overloads !== undefined && !isDeclared)
    return { value: undefined, diagnostics: [overloaded(tool)] };
  const diagnostics: Diagnostic[] = [];
  const existing = new Set<string>();
  const report: Report = (fault, key) => {
    if (key === undefined || !existing.has(key)) diagnostics.push(fault);
    if (key !== undefined) existing.add(key);
  };
  const outputSchema =
    reading.output !== undefined
      ? declaredSchema(tool, 'output', reading.output, report)
      : derivedOutput(tool, reading.input !== undefined, report);
  const inputSchema =
    reading.input !== undefined
      ? declaredSchema(tool, 'input', reading.input, report)
      : derivedInput(tool, report);
  const declared = reading.input === undefined ? undefined : inputSchema;
  for (const fault of defaultFaults(tool, declared)) report(fault);
  const sides = { input: inputSchema, ...defined({ output: outputSchema }) };
  for (const [side, schema = {}] of hasErrors(diagnostics) ? [] : Object.entries(sides)) {
    const owner = `the ${side} schema of tool \`${tool.name}\``;
    diagnostics.push(...schemaDiagnostics(schema, { owner, place: tool.place }));
  }
  if (inputSchema !== undefined) diagnostics.push(...listedDiagnostics(tool, inputSchema));
  if (inputSchema === undefined || hasErrors(diagnostics)) return { value: undefined, diagnostics };
  return {
    value: {
      inputSchema,
      ...defined({ outputSchema }),
      fingerprint: reading.fingerprint,
    },
    diagnostics,
  };
}

/** What some hosts refuse in a list of tools (SW6022), and an option for it that changes nothing (SW6023). */
function listedDiagnostics(
  { name, place, inputPlace = place, visibility, listedSchema }: ToolDeclaration,
  inputSchema: JsonSchema,
): readonly Diagnostic[] {
  const [keyword] = combinatorsOf(inputSchema);
  const isHidden = visibility === 'workflow';
  if (listedSchema === 'flat')
    return keyword === undefined || isHidden ? [diagnostic('SW6023', place, { tool: name, isHidden })] : [];
  return keyword === undefined || isHidden ? [] : [diagnostic('SW6022', inputPlace, { tool: name, keyword })];
}

/** Whether the types of `execute` say something that the schemas of a tool do not. */
export function needsTypes(reading: ClassReading): boolean {
  if (reading.kind !== 'tool') return false;
  const { input, output } = reading;
  const properties = input?.kind === 'schema' ? input.schema.properties : undefined;
  const hasDefaults =
    isJsonObject(properties) && Object.keys(properties).some((name) => isGiven(properties, name));
  return input === undefined || output === undefined || hasDefaults;
}

const isGiven = (properties: JsonObject, name: string): boolean =>
  defaultOf({ properties }, name) !== undefined;

/** A class that is not what its source says (SW6007). */
export function notRead(
  handle: ClassHandle,
  reading: ClassReading,
  expected: 'tool' | 'resource',
): Diagnostic {
  const reason = reading.kind === 'missing' ? reading.reason : `it is a ${reading.kind}, not a ${expected}`;
  return diagnostic('SW6007', handle.place, { className: handle.className, reason });
}

/** A schema is derived from one signature, and an overloaded `execute` has several (SW6012). */
function overloaded({ name, place, overloads = [] }: ToolDeclaration): Diagnostic {
  const [first = place, ...others] = overloads;
  const related = others.map((other) => ({ message: 'another signature of `execute`', place: other }));
  return diagnostic('SW6012', first, { tool: name, count: overloads.length }, { related });
}

/** A fault with a key is reported once: a type used on both sides has the same fields. */
type Report = (fault: Diagnostic, key?: string) => void;

function declaredSchema(
  tool: ToolDeclaration,
  which: SchemaSide,
  schema: SchemaReading,
  report: Report,
): JsonSchema | undefined {
  switch (schema.kind) {
    case 'schema':
      return schema.schema;
    case 'unrepresentable':
      report(diagnostic('SW6002', tool.place, { tool: tool.name, which, reason: schema.reason }));
      return undefined;
    case 'notAnObject':
      report(diagnostic('SW6006', tool.place, { tool: tool.name, which }));
      return undefined;
    default:
      return schema satisfies never;
  }
}

function derivedInput(tool: ToolDeclaration, report: Report): JsonSchema | undefined {
  const { inputType, inputPlace = tool.place } = tool;
  if (inputType === undefined) return NO_INPUT;
  if (reportUnresolved(tool, 'input', inputType, report)) return undefined;
  if (inputType.kind === 'unknown') {
    report(diagnostic('SW6003', inputPlace, { tool: tool.name }));
    return undefined;
  }
  const { schema, faults } = schemaOfType(inputType, 'input');
  reportFaults(tool, faults, inputPlace, report);
  if (schema === undefined && faults.length === 0) {
    report(
      diagnostic(
        'SW6006',
        inputPlace,
        { tool: tool.name, which: 'input' },
        { hint: 'MCP tools take objects: `execute({ … }: { … })`' },
      ),
    );
  }
  return schema;
}

function derivedOutput(
  tool: ToolDeclaration,
  isInputDeclared: boolean,
  report: Report,
): JsonSchema | undefined {
  const { outputType, outputPlace = tool.place } = tool;
  if (outputType === undefined || isNothing(outputType) || speaksProtocol(outputType)) return undefined;
  if (reportUnresolved(tool, 'result', outputType, report)) return undefined;
  const { schema, faults } = schemaOfType(outputType, 'output');
  const [first] = faults;
  // A result that has no JSON form as a whole is not an object, and MCP has no schema for such results.
  const isObject = faults.every(({ path }) => path !== 'output');
  if (!isInputDeclared) reportFaults(tool, faults, outputPlace, report);
  else if (first !== undefined && isObject) {
    report(
      diagnostic('SW6011', ('place' in first && first.place) || outputPlace, {
        tool: tool.name,
        problem: problemOf(first),
      }),
    );
  }
  return schema;
}

/** An unresolved type is `any`, and would accept every value without a diagnostic. */
function reportUnresolved(
  tool: ToolDeclaration,
  side: 'input' | 'result',
  type: TypeSyntax,
  report: Report,
): boolean {
  const unresolved = unresolvedType(type);
  if (unresolved === undefined) return false;
  const { name, place } = unresolved;
  const what = `the ${side} of tool \`${tool.name}\``;
  report(diagnostic('SW6016', place, { name, what, why: whyUnresolved(unresolved) }), JSON.stringify(place));
  return true;
}

function reportFaults(
  tool: ToolDeclaration,
  faults: readonly TypeFault[],
  place: SourceLocation,
  report: Report,
): void {
  for (const fault of faults) {
    switch (fault.kind) {
      case 'noJsonForm': {
        const { path, type, hint } = fault;
        const key = fault.place && JSON.stringify([fault.place, type]);
        report(diagnostic('SW6008', fault.place ?? place, { tool: tool.name, path, type }, { hint }), key);
        break;
      }
      case 'tag': {
        const { path, tag, pattern, problem } = fault;
        const owner = `tool \`${tool.name}\``;
        report(
          pattern === undefined
            ? diagnostic('SW6009', fault.place, { tool: tool.name, path, tag, problem })
            : diagnostic('SW6010', fault.place, { path, owner, pattern, problem }),
        );
        break;
      }
      default:
        fault satisfies never;
    }
  }
}

/** `void`, and `never` of an `execute` that always throws. */
function isNothing(type: TypeSyntax): boolean {
  return type.kind === 'undefined' || isNever(type);
}

/** True for a result in MCP's own form, or one that may be: content blocks are no output of the tool's own. */
function speaksProtocol(type: TypeSyntax): boolean {
  if (type.kind === 'union') return type.members.some(speaksProtocol);
  if (type.kind !== 'object' && type.kind !== 'record') return false;
  const content = type.properties.find(({ name }) => name === 'content')?.type;
  return content?.kind === 'array' && isBlock(content.items);
}

function isBlock(type: TypeSyntax): boolean {
  if (type.kind === 'union') return type.members.every(isBlock);
  return type.kind === 'object' && type.properties.some(({ name }) => name === 'type');
}

/**
 * Compares the defaults of a declared input schema with the type of `execute`'s parameter, which is what callers see:
 * SW6020, a warning, for a field with a default that steps have to give all the same, SW6021 for one they may leave out without
 * a default.
 *
 * @param declared nothing where the schema is derived from that type, which says nothing of defaults.
 */
function defaultFaults(tool: ToolDeclaration, declared: JsonSchema | undefined): readonly Diagnostic[] {
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

/** A schema of a project, and its place. */
interface SchemaOwner {
  /** As the end of a sentence: "the input schema of tool `t`". */
  readonly owner: string;
  readonly place: SourceLocation;
}

/** Shared, since it is expensive to make. */
const schemas = new SchemaCompiler();

/**
 * Why values cannot be checked against a schema: patterns that cannot be matched (SW6010), and all other faults that the
 * compiler of the run time finds (SW6018). Patterns beside a `format` are left out: a library wrote them, and the format
 * says the same.
 */
export function schemaDiagnostics(schema: JsonSchema, { owner, place }: SchemaOwner): Diagnostic[] {
  const patterns = patternFaults(schema).flatMap(({ pointer, problem }) => {
    const { pattern, isOfFormat } = patternAt(schema, pointer);
    return isOfFormat ? [] : [diagnostic('SW6010', place, { path: pointer, owner, pattern, problem })];
  });
  const others = isPlain(schema, schema) ? [] : schemas.faults(schema, 'usable');
  return [
    ...patterns,
    ...others.map(({ pointer, problem }) => diagnostic('SW6018', place, { owner, pointer, problem })),
  ];
}

const TYPES = new Set<Json>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const isText = (value: Json): boolean => typeof value === 'string';
const isNumber = (value: Json): boolean => typeof value === 'number';
const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;
const isList = (value: Json, fits: (item: Json) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits) && new Set(value).size === value.length;

type Rule = (value: Json, root: JsonSchema) => boolean;

/** What the values of usual keywords are. */
const RULES: readonly (readonly [keywords: readonly string[], rule: Rule])[] = [
  [['title', 'description', 'format', 'pattern'], isText],
  [['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], isNumber],
  [['minLength', 'maxLength', 'minItems', 'maxItems'], isCount],
  [['deprecated', 'uniqueItems'], (value) => typeof value === 'boolean'],
  [['const', 'default'], () => true],
  [
    ['$defs', 'properties'],
    (value) => isJsonObject(value) && !Object.values(value).some((part) => Array.isArray(part)),
  ],
  [['allOf', 'anyOf', 'oneOf', 'prefixItems'], (value) => Array.isArray(value) && value.length > 0],
  [
    ['additionalProperties', 'items', 'not', 'propertyNames', 'unevaluatedProperties'],
    (value) => isJsonObject(value) || typeof value === 'boolean',
  ],
  [['enum'], (value) => isList(value, (item) => typeof item !== 'object')],
  [['multipleOf'], (value) => isNumber(value) && Number(value) > 0],
  [['required'], (value) => isList(value, isText)],
  [['type'], (value) => TYPES.has(value) || isList(value, (type) => TYPES.has(type))],
  [['$ref'], (value, root) => isText(value) && referredValue(String(value), root) !== undefined],
];

const PLAIN: ReadonlyMap<string, Rule> = new Map(
  RULES.flatMap(([keywords, rule]) => keywords.map((keyword) => [keyword, rule] as const)),
);

/**
 * Whether a schema has only keywords that zod and types lead to, each with a value of its form: then it compiles. It
 * saves codegen the compiler, which takes as long as a tenth of all else.
 */
export function isPlain(schema: Json, root: JsonSchema): boolean {
  if (!isJsonObject(schema)) return typeof schema === 'boolean';
  let result = Object.entries(schema).every(([keyword, value]) => PLAIN.get(keyword)?.(value, root) === true);
  mapSubschemas(schema, (part) => {
    result &&= isPlain(part, root);
    return part;
  });
  return result;
}

function patternAt(
  schema: JsonSchema,
  pointer: string,
): { readonly pattern: string; readonly isOfFormat: boolean } {
  const keys = keysOf(pointer);
  const nodes: (Json | undefined)[] = [schema];
  for (const key of keys) nodes.push(memberOf(nodes.at(-1), key));
  const value = nodes.at(-1);
  // A pattern is the value of `pattern`, or a key under `patternProperties`.
  if (typeof value !== 'string') return { pattern: keys.at(-1) ?? '', isOfFormat: false };
  const around = keys.at(-3) === 'allOf' ? [nodes.at(-2), nodes.at(-4)] : [nodes.at(-2)];
  return { pattern: value, isOfFormat: around.some((node) => typeof memberOf(node, 'format') === 'string') };
}
