import type { ToolContext } from '../decorators/context.js';
import { readMetadata } from '../decorators/metadata.js';
import { SchemaCompiler } from '../formats/json-schema/schema-compiler.js';
import { isWrapped, type Json, type JsonObject, type JsonSchema } from '../graph/json.js';
import { nearestName } from '../graph/names.js';
import { sampleResult, sentResult } from '../runtime/runs/operate/stubs.js';
import { CassetteUpstream, readCassette } from '../runtime/upstream/cassette.js';
import {
  UpstreamError,
  type UpstreamPort,
  type UpstreamReference,
  type UpstreamResult,
  upstreamTexts,
} from '../runtime/upstream/port.js';

/** A class that `stepwright pull` has written. */
type UpstreamClass<Input, Output> = new () => {
  execute(input: Input, context: ToolContext): Promise<Output>;
};

/** What a double of a class that `stepwright pull` has written does: it gets the input, and returns the output. */
export type DoubleAnswer<Tool> = Tool extends {
  execute(input: infer Input, context: ToolContext): Promise<infer Output>;
}
  ? (input: Input) => Output | Promise<Output>
  : never;

/** A function in the place of an upstream tool. */
export interface UpstreamDouble {
  readonly reference: UpstreamReference;
  readonly answer: (input: JsonObject) => Promise<UpstreamResult>;
}

/**
 * A double of an upstream tool, with the types of its class. What the function throws fails the call, as an error of the
 * tool with the message.
 *
 * @param answer Default: the value that `stepwright run --dry` makes up from the output schema. A call of a tool of whose
 * schema none can be made up fails with `E_UPSTREAM_REFUSED`.
 * @throws TypeError for a class without the option `upstream`.
 * @example
 * ```ts
 * const upstream = upstreamDoubles(double(FilesReadFile, ({ path }) => ({ content: `text of ${path}` })));
 * createServer(registry, { upstream });
 * ```
 */
export function double<Input, Output>(
  tool: UpstreamClass<Input, Output>,
  answer?: (input: Input) => Output | Promise<Output>,
): UpstreamDouble {
  const isClass = typeof tool === 'function';
  const metadata = isClass ? readMetadata(tool) : undefined;
  const options = metadata?.kind === 'tool' ? metadata.options : {};
  const { upstream, outputSchema } = options as { upstream?: UpstreamReference; outputSchema?: JsonSchema };
  if (upstream === undefined)
    throw new TypeError(
      `${isClass ? tool.name : String(tool)} is not a tool of an upstream server: pass a class that \`stepwright pull\` has written`,
    );
  const wraps = isWrapped(outputSchema);
  return {
    reference: upstream,
    async answer(input) {
      if (answer === undefined) return resultOf(madeUp(upstream, outputSchema), wraps);
      try {
        return resultOf(await answer(input as Input), wraps);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return { content: [{ type: 'text', text }], isError: true };
      }
    },
  };
}

/** @throws UpstreamError where no value can be made up. */
function madeUp({ server, tool }: UpstreamReference, outputSchema: JsonSchema | undefined): Json {
  if (outputSchema === undefined)
    throw new UpstreamError('E_UPSTREAM_REFUSED', upstreamTexts.noAnswer(server, tool, false));
  const entry = { outputSchema };
  const sample = sampleResult(entry) ?? null;
  if (new SchemaCompiler().check(outputSchema, sentResult(entry, sample)).length === 0) return sample;
  throw new UpstreamError('E_UPSTREAM_REFUSED', upstreamTexts.noAnswer(server, tool, true));
}

/**
 * Doubles of the tools of a server. `stepwright pull` writes a function that calls this, with the classes of the server.
 *
 * @param tools the classes, by the names that the server gives the tools.
 * @param answers what the doubles answer, as for {@link double}.
 * @throws TypeError for an answer of a tool that the server does not have.
 */
export function doublesOf<Tools extends Readonly<Record<string, UpstreamClass<never, unknown>>>>(
  tools: Tools,
  answers: { readonly [Name in keyof Tools]?: DoubleAnswer<InstanceType<Tools[Name]>> },
): readonly UpstreamDouble[] {
  const names = Object.keys(tools);
  for (const name of Object.keys(answers))
    if (!names.includes(name)) throw new TypeError(upstreamTexts.noTool(name, nearestName(name, names)));
  return Object.entries(tools).map(([name, tool]) =>
    Object.hasOwn(answers, name) ? double(tool, answers[name]) : double(tool),
  );
}

/** Upstream servers made of doubles. A call of another tool fails with `E_UPSTREAM_REFUSED`. */
export function upstreamDoubles(...doubles: readonly UpstreamDouble[]): UpstreamPort {
  return {
    async call({ server, tool }, input) {
      const double = doubleOf(doubles, { server, tool });
      if (double !== undefined) return double.answer(input);
      throw new UpstreamError(
        'E_UPSTREAM_REFUSED',
        `There is no double of '${tool}' of the upstream server '${server}': add one with \`double\``,
      );
    },
    close: async () => {},
  };
}

/**
 * Upstream servers that answer as they did when `stepwright pull --record` or `stepwright run --record` wrote the file:
 * each recorded call once. A call that was not recorded fails with `E_UPSTREAM_REFUSED`.
 *
 * @param file the path of a cassette.
 * @param doubles what answers calls of their tools in the place of the cassette.
 * @throws TypeError for another file than a cassette.
 * @example
 * ```ts
 * createServer(registry, { upstream: upstreamCassette('src/upstream/files.cassette.json', ...memoryDoubles()) });
 * ```
 */
export function upstreamCassette(file: string, ...doubles: readonly UpstreamDouble[]): UpstreamPort {
  const cassette = new CassetteUpstream(readCassette(file));
  return {
    call: (reference, input) =>
      doubleOf(doubles, reference)?.answer(input) ?? cassette.call(reference, input),
    close: () => cassette.close(),
  };
}

function doubleOf(
  doubles: readonly UpstreamDouble[],
  { server, tool }: UpstreamReference,
): UpstreamDouble | undefined {
  return doubles.find(({ reference }) => reference.server === server && reference.tool === tool);
}

/** The value as a server would send it. */
function resultOf(value: unknown, wraps: boolean): UpstreamResult {
  if (wraps) return { content: [], structuredContent: { result: value } as JsonObject, isError: false };
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }], isError: false };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject) return { content: [], structuredContent: value as JsonObject, isError: false };
  return { content: [{ type: 'text', text: JSON.stringify(value) }], isError: false };
}
