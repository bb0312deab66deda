import type { ArgOptions } from '../../decorators/arg.js';
import { readMetadata } from '../../decorators/metadata.js';
import type { SimplePrompt } from '../../decorators/prompt.js';
import type { Icon } from '../../decorators/tool.js';
import type { JsonObject } from '../../graph/json.js';
import type { Graph, Input } from '../../graph/model.js';
import type { AnyClass, PromptEntry, Registry, WorkflowEntry } from '../tools/registry.js';

/** A workflow that can be run, wherever its graph comes from. */
export type RunnableWorkflow = Pick<WorkflowEntry, 'graph' | 'hash'>;

/** Suggests values of an argument; see {@link ArgOptions.complete}. */
export type Completer = NonNullable<ArgOptions['complete']>;

/** Something a client can get by `prompts/get`. */
export interface PromptOffer {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly meta?: JsonObject;
  /** In declaration order. */
  readonly inputs: readonly Input[];
  /** By argument. */
  readonly completers: ReadonlyMap<string, Completer>;
  readonly content:
    | { readonly kind: 'workflow'; readonly workflow: RunnableWorkflow }
    | { readonly kind: 'class'; readonly entry: PromptEntry }
    | { readonly kind: 'function'; readonly prompt: SimplePrompt };
}

/** Every prompt of a server: exposed workflows, prompt classes and plain prompts. */
export function promptOffers(
  registry: Registry,
  built: readonly RunnableWorkflow[],
  plain: readonly SimplePrompt[],
): PromptOffer[] {
  const decorated = Object.values(registry.workflows);
  return [
    ...decorated.filter(({ graph }) => isPrompt(graph)).map((entry) => workflowOffer(entry, entry)),
    ...built.filter(({ graph }) => isPrompt(graph)).map((workflow) => workflowOffer(workflow)),
    ...Object.entries(registry.prompts ?? {}).map(([name, entry]) => classOffer(name, entry)),
    ...plain.map(plainOffer),
  ];
}

/** Whether a workflow is offered as a prompt; it is unless it says otherwise. */
function isPrompt({ expose = ['prompt'] }: Graph): boolean {
  return expose.includes('prompt');
}

function workflowOffer(workflow: RunnableWorkflow, entry?: WorkflowEntry): PromptOffer {
  const { name, title, description, inputs } = workflow.graph;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    ...(entry?.icons === undefined ? {} : { icons: entry.icons }),
    ...(entry?.meta === undefined ? {} : { meta: entry.meta }),
    inputs,
    completers: entry === undefined ? new Map() : completersOf(entry.class),
    content: { kind: 'workflow', workflow },
  };
}

function classOffer(name: string, entry: PromptEntry): PromptOffer {
  const { title, description, icons, meta } = entry;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
    ...(meta === undefined ? {} : { meta }),
    inputs: entry.arguments,
    completers: completersOf(entry.class),
    content: { kind: 'class', entry },
  };
}

function plainOffer(prompt: SimplePrompt): PromptOffer {
  const { name, description } = prompt;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputs: prompt.arguments.map((argument) => ({ ...argument, schema: { type: 'string' } })),
    completers: new Map(),
    content: { kind: 'function', prompt },
  };
}

/** Functions never enter a registry: these are read from the class. */
function completersOf(cls: AnyClass): ReadonlyMap<string, Completer> {
  const metadata = readMetadata(cls);
  if (metadata?.kind !== 'workflow' && metadata?.kind !== 'prompt') return new Map();
  return new Map(
    metadata.args.flatMap(({ name: field, options: { name = field, complete } }) =>
      complete === undefined ? [] : [[name, complete] as const],
    ),
  );
}
