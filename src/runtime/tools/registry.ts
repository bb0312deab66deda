import { createHash } from 'node:crypto';
import type { Icon } from '../../decorators/decorate.js';
import {
  fingerprint,
  fromMetadata,
  REGISTRY_VERSION,
  readMetadata,
  registryChecksum,
} from '../../decorators/metadata.js';
import type { ToolAnnotations, ToolVisibility } from '../../decorators/tool.js';
import { isPlugAndPlay } from '../../formats/plug-n-play.js';
import type { JsonObject, JsonSchema } from '../../graph/json.js';
import type { Domain, Graph, Input, ToolTask } from '../../graph/model.js';
import type { RetrySafety } from '../../graph/tool-safety.js';
import type { UpstreamReference } from '../upstream/port.js';
import { quoted } from './tool-texts.js';

export { REGISTRY_VERSION, registryChecksum };

/** What `stepwright codegen` writes and everything at run time reads. */
export interface Registry {
  readonly registryVersion: number;
  /** sha256 of the canonical JSON of everything below, classes, functions and `module` left out. */
  readonly checksum: string;
  /**
   * `import.meta.url` of the generated module. The package it lies in is the root of {@link ResourceEntry.file}.
   * Without it that is the package of the working directory.
   */
  readonly module?: string;
  readonly tools: Readonly<Record<string, ToolEntry>>;
  readonly resources: Readonly<Record<string, ResourceEntry>>;
  readonly workflows: Readonly<Record<string, WorkflowEntry>>;
  readonly prompts?: Readonly<Record<string, PromptEntry>>;
  /** What `evaluate` commands name. */
  readonly functions?: Readonly<Record<string, FunctionEntry>>;
  /** What spec files and the configuration say about domains, each once. */
  readonly domains?: readonly Domain[];
}

// biome-ignore lint/suspicious/noExplicitAny: constructor parameters of a tool class are the author's own
export type AnyClass = abstract new (...args: any[]) => object;

/** What every kind of entry may tell clients beside what it is. */
interface Listed {
  readonly title?: string;
  readonly icons?: readonly Icon[];
  /** `_meta` in the list. */
  readonly meta?: JsonObject;
}

export interface ToolEntry extends Listed {
  readonly class: AnyClass;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** What clients see of the input schema. Default: the schema itself. */
  readonly listedSchema?: 'flat';
  readonly annotations?: ToolAnnotations;
  readonly retrySafety?: RetrySafety;
  /** Who may call it. Default: `'client'`. */
  readonly visibility?: ToolVisibility;
  /** What a client needs to call it. Default: none. */
  readonly scopes?: readonly string[];
  /** Whether clients may, or must, call it as an MCP task. Default: they may not. */
  readonly task?: ToolTask;
  /** What the author says about the use of the tool; classes by their names. Listed in `_meta`. */
  readonly hints?: JsonObject;
  /** The tool of an upstream server that it calls. */
  readonly upstream?: UpstreamReference;
  /** Inputs whose values are masked wherever the runtime shows them. */
  readonly secret?: readonly string[];
  /** The package that the class comes from, whose manifest codegen has read. Default: the project itself. */
  readonly package?: string;
  /** Fingerprint of the decorator metadata codegen saw. */
  readonly fingerprint: string;
}

/** Whether only steps of workflows may call a tool. */
export function isPrivateTool({ visibility }: Pick<ToolEntry, 'visibility'>): boolean {
  return visibility === 'workflow';
}

/** The names of the tools that clients may call. */
export function clientToolNames({ tools }: Pick<Registry, 'tools'>): string[] {
  return Object.entries(tools).flatMap(([name, entry]) => (isPrivateTool(entry) ? [] : [name]));
}

export interface ResourceEntry extends Listed {
  readonly class: AnyClass;
  /** The address, or the `uriTemplate` of the class: an address never holds a brace. */
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** The content, where codegen embedded it (text up to 64 KiB). */
  readonly text?: string;
  /** Where the content is, relative to the package root with `/` between folders, where codegen did not embed it. */
  readonly file?: string;
  /** Variables of the template whose values may climb: begin with a slash, or hold segments `.` and `..`. */
  readonly dotSegments?: readonly string[];
  /** The package that the class comes from, whose manifest codegen has read. Default: the project itself. */
  readonly package?: string;
  readonly fingerprint: string;
}

export interface WorkflowEntry extends Listed {
  /** Missing for a workflow of a spec file. */
  readonly class?: AnyClass;
  readonly graph: Graph;
  /** Hash of the graph's canonical JSON. */
  readonly hash: string;
  /** The fields of arguments that callers know by another name, by that name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Of the decorators of the class. */
  readonly fingerprint?: string;
}

/** A prompt in loose mode: its class renders the messages. */
export interface PromptEntry extends Listed {
  readonly class: AnyClass;
  readonly description?: string;
  /** In declaration order. */
  readonly arguments: readonly Input[];
  /** The fields of arguments that callers know by another name, by that name. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly fingerprint: string;
}

/** A pure function that graphs name. Its hash is the one of its source. */
export interface FunctionEntry {
  // biome-ignore lint/suspicious/noExplicitAny: parameters of an author's function are its own
  readonly function: (...args: any[]) => unknown;
  readonly hash: string;
}

/** Keeps the literal types of a generated registry, which `serve` and the helper types read. */
export function defineRegistry<const R extends Registry>(registry: R): R {
  return registry;
}

declare const TYPES: unique symbol;

/** A graph that was not made of a class, with the types of its arguments and of its result. */
export interface TypedGraph<Args, Result> extends Graph {
  /** No value has it. */
  readonly [TYPES]?: { readonly args: Args; readonly result: Result };
}

/** The types of a {@link TypedGraph}. */
export type TypesOfGraph<G> = G extends { readonly [TYPES]?: infer Types } ? NonNullable<Types> : never;

/**
 * A graph in a generated registry, of its JSON text.
 *
 * @typeParam Exposed its `expose`, where it has one.
 * @typeParam Args what a caller supplies, and `Result` what it hands back, where there is no class that says so.
 */
export function graphJson(text: TemplateStringsArray): Graph;
export function graphJson<Args, Result>(text: TemplateStringsArray): TypedGraph<Args, Result>;
export function graphJson<Exposed extends NonNullable<Graph['expose']>>(
  text: TemplateStringsArray,
): Graph & { readonly expose: Exposed };
export function graphJson(text: TemplateStringsArray): Graph {
  return parsed(text) as Graph;
}

/** A schema in a generated registry, of its JSON text. */
export function schemaJson(text: TemplateStringsArray): JsonSchema {
  return parsed(text) as JsonSchema;
}

/** The text of a template as it is in the source: escapes in it are those of JSON. */
function parsed({ raw: [text = ''] }: TemplateStringsArray): unknown {
  return JSON.parse(text);
}

/** Thrown at start-up when the generated registry differs from the loaded classes or from its sources; lists every difference. */
export class StaleRegistryError extends Error {
  override readonly name = 'StaleRegistryError';

  /** @param configFile - the configuration that codegen needs to be given. */
  constructor(
    readonly differences: readonly string[],
    configFile?: string,
  ) {
    super(
      `the generated registry is stale:\n${differences.map((line) => `  - ${line}`).join('\n')}\nRun \`${isPlugAndPlay() ? 'yarn' : 'npx'} stepwright codegen${configFile === undefined ? '' : ` --config ${configFile}`}\`.`,
    );
  }
}

/**
 * Compares a generated registry with itself (version, checksum) and with what the decorators of its classes say now. The
 * checksum covers the graphs and their hashes, so that no graph is hashed here. Changed method bodies are not seen here:
 * `stepwright codegen --check` sees them.
 * @throws StaleRegistryError with all differences and the command that repairs them.
 */
export function verifyRegistry(registry: Registry): void {
  // Nothing else can be read safely from a format this runtime does not know.
  if (registry.registryVersion !== REGISTRY_VERSION) {
    throw new StaleRegistryError([
      `it has registry version ${registry.registryVersion}, this runtime reads version ${REGISTRY_VERSION}`,
    ]);
  }
  const differences: string[] = [];
  if (registryChecksum(registry, nativeSha256) !== registry.checksum)
    differences.push(
      'its checksum does not match its content: it was edited by hand, or written only in part',
    );
  for (const kind of ['tool', 'resource', 'workflow', 'prompt'] as const) {
    const entries: Readonly<Record<string, FingerprintedEntry>> = registry[`${kind}s`] ?? {};
    for (const [name, entry] of Object.entries(entries)) {
      const difference = entryDifference(kind, name, entry);
      if (difference !== undefined) differences.push(difference);
    }
  }
  if (differences.length > 0) throw new StaleRegistryError(differences);
}

/** Every start hashes the whole registry, before the portable implementation is compiled to machine code. */
function nativeSha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

interface FingerprintedEntry {
  readonly package?: string;
  readonly class?: AnyClass;
  readonly fingerprint?: string;
}

function entryDifference(kind: string, name: string, entry: FingerprintedEntry): string | undefined {
  // The checksum covers all that a workflow of a spec file is made of.
  if (entry.class === undefined) return undefined;
  try {
    const metadata = readMetadata(entry.class);
    if (metadata?.kind !== kind)
      return entry.package === undefined
        ? `${kind} ${quoted(name)}: ${entry.class.name} no longer has its decorator`
        : `${kind} ${quoted(name)}: the installed package ${quoted(entry.package)} is not the one that codegen read: ${entry.class.name} has no such decorator`;
    if (fingerprint(fromMetadata(metadata), nativeSha256) === entry.fingerprint) return undefined;
  } catch (error) {
    // A resource class that lost its `uri`.
    if (!(error instanceof TypeError)) throw error;
  }
  return entry.package === undefined
    ? `${kind} ${quoted(name)}: the decorators of ${entry.class.name} changed after codegen ran`
    : `${kind} ${quoted(name)}: the installed package ${quoted(entry.package)} is not the one that codegen read: the decorators of ${entry.class.name} differ`;
}

const NO_CLASSES = { registryVersion: REGISTRY_VERSION, tools: {}, resources: {}, workflows: {} } as const;

/** The registry of a server without classes: its workflows are spec files, and the work is that of its clients. */
export const emptyRegistry = { ...NO_CLASSES, checksum: registryChecksum(NO_CLASSES) } satisfies Registry;
