import { z } from 'zod';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type JsonObject } from '../../graph/json.js';
import { nearestName, withSuggestion } from '../../graph/names.js';
import { clip } from '../../graph/printable-text.js';
import { HINTS_META } from '../../infer/tool.js';
import type { UpstreamServer } from './config.js';
import type { UpstreamAnnotations, UpstreamListing, UpstreamTool } from './port.js';

/** So many pages of a list are read. */
const MOST_PAGES = 1_000;

/** Of a page only its form is checked: one tool that is malformed must not cost the others. */
export const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() });

export type ToolPage = z.output<typeof pageSchema>;

/**
 * Reads the tools of a server, page by page.
 *
 * @param hasHeaders whether calls repeat inputs in headers: tools that say so wrongly are left out.
 * @returns the tools, without those that are excluded or malformed, and notes about what was left out.
 * @throws what a request throws.
 */
export async function readTools(
  pageAt: (params: { readonly cursor?: string }) => Promise<ToolPage>,
  { tools: settings = {} }: Pick<UpstreamServer, 'tools'>,
  hasHeaders = false,
): Promise<Pick<UpstreamListing, 'tools' | 'notes'>> {
  const list = new ToolList(settings.exclude ?? [], hasHeaders);
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const page = await pageAt(defined({ cursor }));
    for (const tool of page.tools) list.add(tool);
    const { nextCursor: next } = page;
    if (next === undefined || next === null) break;
    if (typeof next !== 'string')
      list.notes.push(`\`nextCursor\` is ${kindOf(next)}: the list is read to there`);
    else if (cursors.has(next))
      list.notes.push(`\`nextCursor\` is '${clip(next)}' a second time: the list is read to there`);
    else if (cursors.size === MOST_PAGES)
      list.notes.push(`the list has more than ${MOST_PAGES} pages: the others are not read`);
    else {
      cursors.add(next);
      cursor = next;
      continue;
    }
    break;
  }
  return list.end();
}

class ToolList {
  readonly #tools = new Map<string, UpstreamTool>();
  /** Excluded names that were listed. */
  readonly #excluded = new Set<string>();
  readonly notes: string[] = [];
  #count = 0;

  constructor(
    readonly exclude: readonly string[],
    readonly hasHeaders: boolean,
  ) {}

  add(value: unknown): void {
    this.#count += 1;
    const name = isJsonObject(value) ? value.name : undefined;
    if (!isJsonObject(value) || typeof name !== 'string' || name === '') {
      const what = isJsonObject(value) ? `its \`name\` is ${kindOf(name)}` : `it is ${kindOf(value)}`;
      this.notes.push(`tool number ${this.#count} is left out: ${what}`);
      return;
    }
    if (this.exclude.includes(name)) {
      this.#excluded.add(name);
      return;
    }
    const say = (problem: string): void => void this.notes.push(`tool '${clip(name)}' ${problem}`);
    const { inputSchema } = value;
    const fault = schemaFault(inputSchema) ?? (this.hasHeaders ? headerFault(inputSchema) : undefined);
    if (fault !== undefined) {
      say(`is left out: its \`inputSchema${fault}`);
      return;
    }
    const first = this.#tools.get(name);
    if (first === undefined) this.#tools.set(name, toolOf(name, value, say));
    else if (JSON.stringify(first) !== JSON.stringify(toolOf(name, value, () => {})))
      say('is listed twice, in two forms: the first one is used');
  }

  end(): Pick<UpstreamListing, 'tools' | 'notes'> {
    const { notes } = this;
    for (const name of this.exclude) {
      if (this.#excluded.has(name)) continue;
      const text = `\`tools.exclude\` of the configuration has '${clip(name)}', which the server does not list`;
      notes.push(withSuggestion(text, nearestName(name, [...this.#tools.keys()])));
    }
    return { tools: [...this.#tools.values()], ...(notes.length === 0 ? {} : { notes }) };
  }
}

/** A tool with the members that have the types of the protocol. @param say gets a note about each other one. */
function toolOf(name: string, value: JsonObject, say: (problem: string) => void): UpstreamTool {
  const { title, description, inputSchema, outputSchema, annotations, _meta } = value;
  const text = (field: string, member: unknown): string | undefined => {
    if (typeof member === 'string' || member === undefined || member === null) return member ?? undefined;
    say(`is used without its \`${field}\`, which is ${kindOf(member)}`);
    return undefined;
  };
  const isAbsent = outputSchema === undefined || outputSchema === null;
  const fault = isAbsent ? undefined : schemaFault(outputSchema);
  if (fault !== undefined) say(`is used without its output schema: its \`outputSchema${fault}`);
  const hints = isJsonObject(_meta) ? _meta[HINTS_META] : undefined;
  return {
    name,
    ...defined({ title: text('title', title), description: text('description', description) }),
    inputSchema: inputSchema as JsonObject,
    ...(isAbsent || fault !== undefined ? {} : { outputSchema: outputSchema as JsonObject }),
    ...(isJsonObject(annotations) ? { annotations: annotationsOf(annotations, say) } : {}),
    ...(isJsonObject(hints) ? { hints } : {}),
  };
}

function annotationsOf(annotations: JsonObject, say: (problem: string) => void): UpstreamAnnotations {
  const entries = Object.entries(annotations).filter(([key, value]) => {
    const type = key === 'title' ? 'string' : key.endsWith('Hint') ? 'boolean' : typeof value;
    const isRight = typeof value === type;
    if (!isRight) say(`is used without its \`annotations.${clip(key)}\`, which is ${kindOf(value)}`);
    return isRight;
  });
  return Object.fromEntries(entries);
}

/** What is wrong with the schema of an input or an output, as the end of a text that begins with its name in backticks. */
function schemaFault(schema: unknown): string | undefined {
  if (!isJsonObject(schema)) return `\` is ${kindOf(schema)}`;
  const { type, properties, required } = schema;
  if (type !== 'object')
    return `.type\` has to be "object", and is ${typeof type === 'string' ? `"${clip(type)}"` : kindOf(type)}`;
  if (properties !== undefined && !isJsonObject(properties)) return `.properties\` is ${kindOf(properties)}`;
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
  )
    return `.required\` is not a list of names`;
  return undefined;
}

/** What an HTTP header can be named (RFC 9110, section 5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

/** As {@link schemaFault}, of the inputs that a call repeats in headers: `x-mcp-header` of revision 2026-07-28. */
function headerFault(schema: unknown): string | undefined {
  const names = new Set<string>();
  const visit = (node: unknown, path: string, place: 'root' | 'input' | 'elsewhere'): string | undefined => {
    if (!isJsonObject(node)) return undefined;
    const { 'x-mcp-header': name, properties, ...others } = node;
    if (name !== undefined) {
      const fault = `${path}\` has an \`x-mcp-header\` that`;
      if (place !== 'input') return `${fault} is not at an input: only \`properties\` lead to one`;
      if (typeof name !== 'string' || !HEADER_NAME.test(name)) return `${fault} is not the name of a header`;
      if (!['string', 'integer', 'boolean'].includes(String(node.type)))
        return `${fault} is at an input of another type than string, integer and boolean`;
      if (names.has(name.toLowerCase())) return `${fault} another input has: '${clip(name)}'`;
      names.add(name.toLowerCase());
    }
    const below = place === 'elsewhere' ? place : 'input';
    for (const [key, child] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const fault = visit(child, `${path}.${key}`, below);
      if (fault !== undefined) return fault;
    }
    for (const child of Object.values(others).flat()) {
      const fault = visit(child, path, 'elsewhere');
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  return visit(schema, '', 'root');
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (value === '') return 'empty';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
