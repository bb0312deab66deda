import { currentSchema } from '../../formats/json-schema/dialect.js';
import { combinatorsOf } from '../../formats/json-schema/flat-schema.js';
import { SchemaCompiler, withUsablePatterns } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  referredValue,
} from '../../graph/json.js';
import { boundSchema } from '../../graph/part-schema.js';
import type { UpstreamTool } from '../../runtime/upstream/port.js';
import { type NamedTool, nameTools, type UpstreamSnapshot } from '../../runtime/upstream/snapshot.js';
import {
  Identifier,
  type Literal,
  type LiteralObject,
  printKey,
  printLiteral,
  printString,
} from '../emit/literals.js';
import { objectRoot } from '../schemas/json-schema.js';

export interface ClassesRequest {
  /** The name of the server in the configuration. */
  readonly server: string;
  readonly snapshot: UpstreamSnapshot;
  readonly visibility: 'client' | 'workflow';
}

export interface ClassesText {
  readonly text: string;
  /** What authors should know: tools that were left out, and names that differ from those of the server. */
  readonly notes: readonly string[];
}

/** The first line of what is written of a server; a file without it is never overwritten. */
export function classesHeader(server: string): string {
  return `// Written by \`stepwright pull ${server}\`: run it again instead of editing this file.`;
}

/** Prints a module with a tool class for each tool of a snapshot: the same text for the same snapshot. */
export function classesText(request: ClassesRequest): ClassesText {
  const { server, snapshot } = request;
  const { tools, notes } = usableTools(snapshot.tools);
  const named = nameTools(server, tools);
  for (const { tool, toolName } of named) {
    if (toolName !== `${server}_${tool.name}`)
      notes.push(`tool ${printString(tool.name)} is named ${printString(toolName)}`);
  }
  const classes = named.map((each) => classText(each, request));
  const isUntyped = named.some(({ tool }) => tool.outputSchema === undefined);
  const imports = [...(isUntyped ? ['type Json'] : []), 'Tool', 'type ToolContext'];
  const lines = [
    classesHeader(server),
    ...(named.length === 0 ? ['export {};'] : [`import { ${imports.join(', ')} } from 'stepwright';`]),
    ...classes.map((text) => `\n${text}`),
    '',
  ];
  return { text: lines.join('\n'), notes };
}

/** The tools that can have a class, and notes of the others. */
export function usableTools(all: readonly UpstreamTool[]): {
  tools: readonly UpstreamTool[];
  notes: string[];
} {
  const notes: string[] = [];
  const tools = all.flatMap((tool): UpstreamTool[] => {
    const say = (problem: string): void => void notes.push(`tool ${printString(tool.name)} is ${problem}`);
    const problem = unusable(tool);
    if (problem !== undefined) say(`left out: ${problem}`);
    const usable = problem === undefined ? withUsableSchemas(tool, say) : undefined;
    return usable === undefined ? [] : [usable];
  });
  return { tools, notes };
}

/** A tool with the schemas that the run time checks; `undefined` for an input that cannot be checked. */
function withUsableSchemas(tool: UpstreamTool, say: (problem: string) => void): UpstreamTool | undefined {
  const { outputSchema: written, inputSchema, ...rest } = tool;
  const input = usableSchema(inputSchema);
  const output = written && usableSchema(written);
  if (input.fault !== undefined) {
    say(`left out: its input cannot be checked: ${input.fault}`);
    return undefined;
  }
  for (const [side, { patterns }] of Object.entries({ input, ...defined({ output }) })) {
    for (const { pointer, pattern, problem } of patterns)
      say(`used without the pattern \`${pattern}\` of its ${side} at \`${pointer}\`: it ${problem}`);
  }
  if (output?.fault !== undefined)
    say(`used without its output schema: it cannot be checked: ${output.fault}`);
  return {
    ...rest,
    inputSchema: input.schema,
    ...(output === undefined || output.fault !== undefined ? {} : { outputSchema: output.schema }),
  };
}

const schemas = new SchemaCompiler();

/** A schema without the patterns that cannot be matched, and why it cannot be checked all the same. */
function usableSchema(written: JsonSchema) {
  const { schema, patterns } = withUsablePatterns(currentSchema(written));
  const [fault] = schemas.faults(schema);
  return {
    schema,
    patterns,
    ...defined({ fault: fault && `at \`${fault.pointer}\` it ${fault.problem}` }),
  };
}

/** Why a tool can have no class; nothing for one that can. */
function unusable({ inputSchema, outputSchema }: UpstreamTool): string | undefined {
  if (objectRoot(inputSchema) === undefined) return 'its input is not an object';
  if (outputSchema !== undefined && objectRoot(outputSchema) === undefined)
    return 'its output is not an object';
  return [inputSchema, outputSchema ?? null].some(hasPrototypeKey)
    ? 'its schema has the key `__proto__`, which no object literal can have'
    : undefined;
}

function hasPrototypeKey(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasPrototypeKey);
  if (!isJsonObject(value)) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasPrototypeKey);
}

/** The options of the decorator of an upstream tool, which are all that is known about it. */
export function toolOptions(
  { tool, toolName }: Pick<NamedTool, 'tool' | 'toolName'>,
  { server, visibility }: Pick<ClassesRequest, 'server' | 'visibility'>,
) {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  const isClientTool = visibility === 'client';
  return defined({
    name: toolName,
    title,
    description: description ?? tool.name,
    inputSchema,
    outputSchema,
    listedSchema: isClientTool && combinatorsOf(inputSchema).length > 0 ? ('flat' as const) : undefined,
    annotations: knownAnnotations(annotations),
    visibility: isClientTool ? undefined : visibility,
    upstream: { server, tool: tool.name },
  });
}

function classText(named: NamedTool, request: ClassesRequest): string {
  const { tool, className } = named;
  const { description, inputSchema, outputSchema } = tool;
  const options: LiteralObject = toolOptions(named, request);
  const output = outputSchema === undefined ? 'Json' : `${className}Output`;
  const comment = docComment(description);
  return [
    declaration(`${className}Input`, inputSchema),
    ...(outputSchema === undefined ? [] : [declaration(`${className}Output`, boundSchema(outputSchema))]),
    ...(comment === undefined ? [] : [comment]),
    `@Tool(${printLiteral(onOneLine(options))})`,
    `export class ${className} {`,
    `  execute(input: ${className}Input, context: ToolContext): Promise<${output}> {`,
    '    return context.callUpstream(input);',
    '  }',
    '}',
  ].join('\n');
}

function declaration(name: string, schema: JsonSchema): string {
  const type = typeText(schema);
  return type.startsWith('{\n') && type.endsWith('\n}') && !type.includes('\n} ')
    ? `export interface ${name} ${type}\n`
    : `export type ${name} = ${type};\n`;
}

/** A server may send more than MCP defines. */
function knownAnnotations(annotations: UpstreamTool['annotations']) {
  if (annotations === undefined) return undefined;
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const specified = defined({ title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint });
  return Object.keys(specified).length > 0 ? specified : undefined;
}

/** Codegen reads literals alone: a long text is one of them, not a sum of lines. */
function onOneLine(value: Literal | JsonObject): Literal {
  if (typeof value === 'string') return new Identifier(printString(value));
  if (Array.isArray(value)) return value.map((item: Literal) => onOneLine(item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as LiteralObject).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, onOneLine(member as Literal)]));
}

/**
 * The TypeScript type of the values of a JSON Schema, as text. It may be wider than the schema: keywords that only
 * narrow a value have no form in TypeScript. A recursive reference is `unknown`.
 *
 * @param indent spaces before the lines of an object.
 */
export function typeText(schema: JsonSchema, indent = 0): string {
  return new TypePrinter(schema).print(schema, indent, []);
}

class TypePrinter {
  constructor(readonly root: JsonSchema) {}

  /** @param followed the references that lead here. */
  print(schema: Json | undefined, indent: number, followed: readonly string[]): string {
    if (schema === false) return 'never';
    if (!isJsonObject(schema)) return 'unknown';
    const { $ref, allOf } = schema;
    if (typeof $ref === 'string') {
      const target = followed.includes($ref) ? undefined : referredValue($ref, this.root);
      return this.print(target, indent, [...followed, $ref]);
    }
    if (schema.const !== undefined) return literal(schema.const);
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(alternatives) && schema.properties === undefined)
      return union(alternatives.map((each: Json) => this.print(each, indent, followed)));
    if (Array.isArray(allOf) && schema.properties === undefined)
      return intersection(allOf.map((each: Json) => this.print(each, indent, followed)));
    if (Array.isArray(schema.type))
      return union(schema.type.map((type) => this.#ofType(String(type), schema, indent, followed)));
    const type = schema.type ?? (schema.properties === undefined ? undefined : 'object');
    return this.#ofType(type, schema, indent, followed);
  }

  #ofType(type: Json | undefined, schema: JsonObject, indent: number, followed: readonly string[]): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return this.#list(schema, indent, followed);
      case 'object':
        return this.#object(schema, indent, followed);
      default:
        return 'unknown';
    }
  }

  #list({ prefixItems, items }: JsonObject, indent: number, followed: readonly string[]): string {
    if (Array.isArray(prefixItems)) {
      const parts = prefixItems.map((item: Json) => this.print(item, indent, followed));
      const rest = items === false ? [] : [`...${inList(this.print(items, indent, followed))}[]`];
      return `readonly [${[...parts, ...rest].join(', ')}]`;
    }
    return `readonly ${inList(this.print(items, indent, followed))}[]`;
  }

  #object(schema: JsonObject, indent: number, followed: readonly string[]): string {
    const { properties, additionalProperties, required } = schema;
    const entries = isJsonObject(properties) ? Object.entries(properties) : [];
    if (entries.length === 0) {
      if (additionalProperties === false) return 'Record<never, never>';
      return `{ readonly [key: string]: ${this.print(additionalProperties, indent, followed)} }`;
    }
    const names = Array.isArray(required) ? required : [];
    const pad = ' '.repeat(indent + 2);
    const lines = entries.flatMap(([name, member]) => {
      const { description, default: fallback } = isJsonObject(member) ? member : {};
      const sign = names.includes(name) && fallback === undefined ? '' : '?';
      const type = this.print(member, indent + 2, followed);
      const comment = docComment(description);
      return [
        ...(comment === undefined ? [] : [`${pad}${comment}`]),
        `${pad}readonly ${printKey(name)}${sign}: ${type};`,
      ];
    });
    return `{\n${lines.join('\n')}\n${' '.repeat(indent)}}`;
  }
}

/** A comment of one line; nothing for a text that is empty. */
export function docComment(text: Json | undefined): string | undefined {
  if (typeof text !== 'string') return undefined;
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/').trim();
  return line === '' ? undefined : `/** ${line} */`;
}

function literal(value: Json): string {
  if (typeof value === 'string') return printString(value);
  return value === null || typeof value !== 'object' ? String(value) : 'unknown';
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes('unknown')) return 'unknown';
  const values = distinct.filter((type) => type !== 'never');
  return values.length === 0 ? 'never' : values.join(' | ');
}

function intersection(types: readonly string[]): string {
  const cached = [...new Set(types)].filter((type) => type !== 'unknown');
  return cached.length === 0
    ? 'unknown'
    : cached.map((type) => (type.includes(' | ') ? `(${type})` : type)).join(' & ');
}

/** `readonly` and unions bind less than `[]`. */
function inList(type: string): string {
  return /^[\w.]+$|^\{[\s\S]*\}$/.test(type) && !type.includes(' | ') ? type : `(${type})`;
}
