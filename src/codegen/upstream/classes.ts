import { currentSchema } from '../../formats/json-schema/dialect.js';
import { combinatorsOf } from '../../formats/json-schema/flat-schema.js';
import { SchemaCompiler, withUsablePatterns } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../graph/json.js';
import { boundSchema } from '../../graph/part-schema.js';
import type { UpstreamTool } from '../../runtime/upstream/port.js';
import { type NamedTool, nameTools, type UpstreamSnapshot } from '../../runtime/upstream/snapshot.js';
import { Identifier, type Literal, type LiteralObject, printLiteral, printString } from '../emit/literals.js';
import { objectRoot } from '../schemas/json-schema.js';
import { docComment, typeText } from './type-text.js';

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
