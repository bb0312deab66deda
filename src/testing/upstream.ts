import { readFileSync } from 'node:fs';
import type { ToolContext } from '../decorators/context.js';
import { readMetadata } from '../decorators/metadata.js';
import type { JsonObject } from '../graph/json.js';
import { CassetteUpstream, parseCassette } from '../runtime/upstream/cassette.js';
import {
  UpstreamError,
  type UpstreamPort,
  type UpstreamReference,
  type UpstreamResult,
} from '../runtime/upstream/port.js';
import { upstreamTexts } from '../runtime/upstream/texts.js';

/** A class that `stepwright pull` has written. */
type UpstreamClass<Input, Output> = new () => {
  execute(input: Input, context: ToolContext): Promise<Output>;
};

/** A function in the place of an upstream tool. */
export interface UpstreamDouble {
  readonly reference: UpstreamReference;
  readonly answer: (input: JsonObject) => Promise<UpstreamResult>;
}

/**
 * A double of an upstream tool, with the types of its class. What the function throws fails the call, as an error of the
 * tool with the message.
 *
 * @throws TypeError for a class without the option `upstream`.
 * @example
 * ```ts
 * const upstream = upstreamDoubles(double(FilesReadFile, ({ path }) => ({ content: `text of ${path}` })));
 * createServer(registry, { upstream });
 * ```
 */
export function double<Input, Output>(
  tool: UpstreamClass<Input, Output>,
  answer: (input: Input) => Output | Promise<Output>,
): UpstreamDouble {
  const metadata = readMetadata(tool);
  const upstream = metadata?.kind === 'tool' ? metadata.options.upstream : undefined;
  if (upstream === undefined) throw new TypeError(upstreamTexts.noUpstreamClass(tool.name));
  const isWrapped =
    metadata?.kind === 'tool' && metadata.options.outputSchema?.['x-fastmcp-wrap-result'] === true;
  return {
    reference: upstream,
    async answer(input) {
      try {
        return resultOf(await answer(input as Input), isWrapped);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return { content: [{ type: 'text', text }], isError: true };
      }
    },
  };
}

/** Upstream servers made of doubles. A call of another tool fails with `E_UPSTREAM_REFUSED`. */
export function upstreamDoubles(...doubles: readonly UpstreamDouble[]): UpstreamPort {
  return {
    async call({ server, tool }, input) {
      const found = doubles.find(({ reference }) => reference.server === server && reference.tool === tool);
      if (found !== undefined) return found.answer(input);
      throw new UpstreamError('E_UPSTREAM_REFUSED', upstreamTexts.noDouble(server, tool));
    },
    close: async () => {},
  };
}

/**
 * Upstream servers that answer as they did when `stepwright run --record` wrote the file.
 *
 * @param file the path of a cassette.
 * @throws TypeError for another file than a cassette.
 */
export function upstreamCassette(file: string): UpstreamPort {
  return new CassetteUpstream(parseCassette(readFileSync(file, 'utf8')));
}

/** The value as a server would send it. */
function resultOf(value: unknown, isWrapped: boolean): UpstreamResult {
  if (isWrapped) return { content: [], structuredContent: { result: value } as JsonObject, isError: false };
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }], isError: false };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject) return { content: [], structuredContent: value as JsonObject, isError: false };
  return { content: [{ type: 'text', text: JSON.stringify(value) }], isError: false };
}
