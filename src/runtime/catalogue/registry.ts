import type { ToolAnnotations } from '../../decorators/tool.js';
import type { JsonSchema } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';

export { REGISTRY_VERSION, registryChecksum } from '../../decorators/registry-format.js';

/** What `stepwright codegen` writes and everything at run time reads. */
export interface Registry {
  readonly registryVersion: number;
  /** sha256 of the canonical JSON of everything below, classes left out. */
  readonly checksum: string;
  readonly tools: Readonly<Record<string, ToolEntry>>;
  readonly resources: Readonly<Record<string, ResourceEntry>>;
  readonly workflows: Readonly<Record<string, WorkflowEntry>>;
}

// biome-ignore lint/suspicious/noExplicitAny: constructor parameters of a tool class are the author's own
export type AnyClass = abstract new (...args: any[]) => object;

export interface ToolEntry {
  readonly class: AnyClass;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Fingerprint of the decorator metadata codegen saw. */
  readonly fingerprint: string;
}

export interface ResourceEntry {
  readonly class: AnyClass;
  readonly uri: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** The content, where codegen embedded it (text up to 64 KiB). */
  readonly text?: string;
  readonly fingerprint: string;
}

export interface WorkflowEntry {
  readonly class: AnyClass;
  readonly graph: Graph;
  /** Hash of the graph's canonical JSON. */
  readonly hash: string;
  readonly fingerprint: string;
}

/** Keeps the literal types of a generated registry, which `serve` and the helper types read. */
export function defineRegistry<const R extends Registry>(registry: R): R {
  return registry;
}
