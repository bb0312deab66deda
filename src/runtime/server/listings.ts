import type { Icon } from '../../decorators/tool.js';
import type { JsonObject } from '../../graph/json.js';
import type { Registry } from '../tools/registry.js';
import type { PromptOffer } from './offers.js';
import { listArgument } from './prompt-arguments.js';
import { faultCodes, ProtocolFault } from './request.js';
import { texts } from './texts.js';
import type { PromptListing, ResourceListing, ResourceTemplateListing, ToolListing } from './wire.js';

/** Key of a tool's hints in its `_meta`. */
const HINTS_META = 'stepwright/hints';

/** What a server offers, each list in the order of names, as clients see it. */
export interface Listings {
  readonly tools: readonly ToolListing[];
  readonly prompts: readonly PromptListing[];
  readonly resources: readonly ResourceListing[];
  readonly templates: readonly ResourceTemplateListing[];
}

/** Makes the lists, once: they never change while a server runs. */
export function listingsOf(registry: Registry, offers: readonly PromptOffer[]): Listings {
  const resources = byName(Object.entries(registry.resources)).map(([name, entry]) => {
    const { uri, description, mimeType } = entry;
    const listing = {
      ...headOf(name, entry),
      ...(description === undefined ? {} : { description }),
      ...(mimeType === undefined ? {} : { mimeType }),
    };
    return { uri, listing };
  });
  return {
    tools: byName(Object.entries(registry.tools)).map(([name, entry]) => {
      const { description, inputSchema, outputSchema, annotations, hints } = entry;
      const meta = hints === undefined ? entry.meta : { ...entry.meta, [HINTS_META]: hints };
      return {
        ...headOf(name, { ...entry, meta }),
        description,
        inputSchema,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        ...(annotations === undefined ? {} : { annotations }),
      };
    }),
    prompts: byName(offers.map((offer) => [offer.name, offer] as const)).map(([name, offer]) => ({
      ...headOf(name, offer),
      ...(offer.description === undefined ? {} : { description: offer.description }),
      arguments: offer.inputs.map(listArgument),
    })),
    resources: resources.flatMap(({ uri, listing }) => (isTemplate(uri) ? [] : [{ ...listing, uri }])),
    templates: resources.flatMap(({ uri, listing }) =>
      isTemplate(uri) ? [{ ...listing, uriTemplate: uri }] : [],
    ),
  };
}

/** What every item of a list may have. */
function headOf(
  name: string,
  entry: {
    readonly title?: string;
    readonly icons?: readonly Icon[];
    readonly meta?: JsonObject | undefined;
  },
) {
  const { title, icons, meta } = entry;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(icons === undefined ? {} : { icons }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/** An address never holds a brace. */
function isTemplate(uri: string): boolean {
  return uri.includes('{');
}

/** By code unit, so that the order is the same in every locale. */
function byName<T>(entries: readonly (readonly [string, T])[]): (readonly [string, T])[] {
  return entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** A stretch of a list, and the cursor of the next one where there is more. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/**
 * Cuts one page out of a list whose order never changes.
 *
 * @param list - names the list inside the cursor, so that a cursor of another list is refused.
 * @param cursor - from the page before; absent for the first page.
 * @param size - items per page, at least 1.
 * @throws {ProtocolFault} -32602 for a cursor this list did not hand out.
 */
export function pageOf<T>(
  list: string,
  items: readonly T[],
  cursor: string | undefined,
  size: number,
): Page<T> {
  const from = cursor === undefined ? 0 : offsetIn(list, items.length, cursor);
  const to = from + size;
  return {
    items: items.slice(from, to),
    ...(to < items.length ? { nextCursor: encode(list, to) } : {}),
  };
}

function encode(list: string, offset: number): string {
  return Buffer.from(`${list}:${offset}`).toString('base64url');
}

function offsetIn(list: string, length: number, cursor: string): number {
  const [, offset] =
    /^[a-z]+:([1-9][0-9]{0,14})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  const from = Number(offset);
  // Encoding it again refuses the many spellings that base64 decoders let pass.
  if (offset === undefined || from >= length || encode(list, from) !== cursor) {
    throw new ProtocolFault(faultCodes.invalidParams, texts.badCursor());
  }
  return from;
}
