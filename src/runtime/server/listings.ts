import type { Registry } from '../catalogue/registry.js';
import { listArgument } from './prompt-arguments.js';
import type { PromptListing, ResourceListing, ToolListing } from './wire.js';

/** What a server offers, each list in the order of names, as clients see it. */
export interface Listings {
  readonly tools: readonly ToolListing[];
  readonly prompts: readonly PromptListing[];
  readonly resources: readonly ResourceListing[];
}

/** Reads the lists out of a registry, once: they never change while a server runs. */
export function listingsOf(registry: Registry): Listings {
  return {
    tools: byName(registry.tools).map(
      ([name, { title, description, inputSchema, outputSchema, annotations }]) => ({
        name,
        ...(title === undefined ? {} : { title }),
        description,
        inputSchema,
        ...(outputSchema === undefined ? {} : { outputSchema }),
        ...(annotations === undefined ? {} : { annotations }),
      }),
    ),
    prompts: byName(registry.workflows)
      .filter(([, { graph }]) => isPrompt(graph))
      .map(([name, { graph }]) => ({
        name,
        ...(graph.title === undefined ? {} : { title: graph.title }),
        description: graph.description,
        arguments: graph.inputs.map(listArgument),
      })),
    resources: byName(registry.resources).map(([name, { uri, title, description, mimeType }]) => ({
      name,
      uri,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(mimeType === undefined ? {} : { mimeType }),
    })),
  };
}

/** Whether a workflow is offered as a prompt; it is unless it says otherwise. */
export function isPrompt({ expose = ['prompt'] }: { readonly expose?: readonly string[] }): boolean {
  return expose.includes('prompt');
}

/** By code unit, so that the order is the same in every locale. */
function byName<T>(entries: Readonly<Record<string, T>>): (readonly [string, T])[] {
  return Object.entries(entries).sort(([left], [right]) => (left < right ? -1 : 1));
}
