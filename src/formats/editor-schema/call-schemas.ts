import { defined } from '../../graph/defined.js';
import type { Json, JsonObject, JsonSchema } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { writtenArguments } from './arguments.js';
import { NODE_KEYS } from './key-descriptions.js';
import { objectOf, ref } from './schema-parts.js';

/** A tool that spec files may call. */
export interface DescribedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The tool of an upstream server that it calls. */
  readonly upstream?: { readonly server: string; readonly tool: string } | undefined;
}

/** What has `call` and `args`: the tool decides which arguments there are. */
export function callSchema(tools: readonly DescribedTool[]): JsonSchema {
  const known = tools.map(({ name }) => name);
  const names = [...new Set([...known, ...tools.flatMap(upstreamNames)])];
  const listed = known.length === 0 ? {} : namesOf(known, tools);
  // Names by their server are accepted, and not completed: each tool is offered once.
  const others = names.filter((name) => !known.includes(name));
  const call = others.length === 0 ? listed : { anyOf: [listed, { enum: others }] };
  return {
    properties: { call: { ...about('call'), type: 'string', ...call } },
    allOf: [
      ...tools.map((tool) => {
        const args = writtenArguments(tool.inputSchema, true);
        const own = upstreamNames(tool).filter((name) => !known.includes(name));
        return {
          if: isOneOf('call', [tool.name, ...own]),
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: {
            properties: { args: { ...about('args'), ...args } },
            ...(args.required === undefined ? {} : { required: ['args'] }),
          },
        };
      }),
      otherArguments('call', names),
    ],
  };
}

/**
 * What has `workflow` and `args`. Files may have workflows that codegen has not read yet: names and arguments are
 * completed, and codegen checks them.
 */
export function workflowCallSchema(workflows: readonly Graph[]): JsonSchema {
  const names = workflows.map(({ name }) => name);
  const known: Json[] = names.length === 0 ? [] : [namesOf(names, workflows)];
  return {
    properties: { workflow: { ...about('workflow'), anyOf: [...known, { type: 'string' }] } },
    allOf: [
      ...workflows.map((graph) => ({
        if: isOneOf('workflow', writtenNames(graph)),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: {
          properties: { args: { ...about('args'), ...writtenArguments(describedInputs(graph), false) } },
        },
      })),
      otherArguments('workflow', workflows.flatMap(writtenNames)),
    ],
  };
}

/** A call that undoes another one. */
export function undoSchema(keys: readonly string[]): JsonSchema {
  const descriptions = { ...NODE_KEYS, ignore_error: 'Whether its failure counts as nothing.' };
  return {
    ...objectOf(keys, descriptions, { ignore_error: { type: 'boolean' } }),
    required: ['call'],
    allOf: [ref('call')],
  };
}

/** The schema of the arguments of a workflow. One with a default may be left out. */
export function describedInputs({ inputs }: Pick<Graph, 'inputs'>): JsonSchema {
  const properties = inputs.map(
    ({ name, title, schema, description, default: fallback }): [string, JsonSchema] => [
      name,
      {
        ...schema,
        ...defined({ title }),
        description,
        ...defined({ default: fallback }),
      },
    ],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: inputs.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

/** How a tool is written by its upstream server. */
function upstreamNames({ upstream }: DescribedTool): readonly string[] {
  if (upstream === undefined) return [];
  return ['/', '.'].map((separator) => `${upstream.server}${separator}${upstream.tool}`);
}

function writtenNames({ name, domain }: Graph): readonly string[] {
  return domain === undefined ? [name] : [name, `${domain}/${name}`];
}

function isOneOf(key: string, names: readonly string[]): JsonObject {
  const only = names.length === 0 ? false : { enum: names };
  return { properties: { [key]: only }, required: [key] };
}

/** The arguments of what is not known yet. */
function otherArguments(key: string, names: readonly string[]): JsonObject {
  return {
    if: { not: isOneOf(key, names) },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { args: { ...about('args'), type: 'object' } } },
  };
}

const about = (key: string): JsonObject => ({ description: NODE_KEYS[key] ?? '' });

/** Names with what editors show beside them. */
function namesOf(
  names: readonly string[],
  all: readonly { readonly title?: string | undefined; readonly description: string }[],
): JsonObject {
  const texts = all.map(({ title, description }) =>
    title === undefined ? description : `${title}: ${description}`,
  );
  return { enum: names, enumDescriptions: texts, markdownEnumDescriptions: texts };
}
