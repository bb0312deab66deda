import type { Icon } from '../../decorators/tool.js';
import type { JsonObject } from '../../graph/json.js';
import type { Registry } from '../catalogue/registry.js';
import type { PromptOffer } from './offers.js';
import { listArgument } from './prompt-arguments.js';
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
