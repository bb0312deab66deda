import { z } from 'zod';
import type { ListedOptions } from '../decorators/decorate.js';
import type { ToolAnnotations, ToolVisibility, UpstreamOption } from '../decorators/tool.js';
import { canonicalJson } from '../graph/canonical.js';
import type { JsonObject, JsonSchema, Value } from '../graph/json.js';
import type { ToolTask } from '../graph/model.js';
import { isValidName } from '../graph/names.js';
import { sha256Hex } from '../graph/sha256.js';
import type { RetrySafety } from '../graph/tool-safety.js';
import type { PlanningHints } from '../infer/tool.js';

/** The manifest of a package lies beside its `package.json`, under this name. */
export const MANIFEST_FILE = 'stepwright.manifest.json';

/** The version of the format of manifests. Codegen refuses manifests of other versions. */
export const MANIFEST_VERSION = 1;

/** What lists of clients show of an entry. */
type ListedData = { readonly [K in keyof ListedOptions]: ListedOptions[K] | undefined };

/** What a registry says of a tool, but its class. */
export interface ToolData extends ListedData {
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
  readonly listedSchema?: 'flat' | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly retrySafety?: RetrySafety | undefined;
  readonly visibility?: ToolVisibility | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly task?: ToolTask | undefined;
  readonly hints?: PlanningHints | undefined;
  readonly upstream?: UpstreamOption | undefined;
  readonly secret?: readonly string[] | undefined;
  readonly fingerprint: string;
}

/** What a registry says of a resource, but its class. */
export interface ResourceData extends ListedData {
  readonly uri: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly text?: string | undefined;
  readonly file?: string | undefined;
  readonly dotSegments?: readonly string[] | undefined;
  readonly fingerprint: string;
}

/** How programs import a class of a package. */
export interface ManifestExport {
  /** The package, or an entry point of it: `@acme/tools/search`. */
  readonly module: string;
  /** The name it is exported by, `default` included. */
  readonly name: string;
}

/** A tool or a resource, with all exports of its class. */
export type ManifestEntry<Data> = Data & { readonly exports: readonly ManifestExport[] };

/** What other projects need to know of the tools and resources of a package, since it has no sources. */
export interface PackageManifest {
  readonly manifestVersion: number;
  /** The version of the registries that its entries are for. */
  readonly registryVersion: number;
  /** {@link manifestChecksum} of the rest. */
  readonly checksum: string;
  readonly package: { readonly name: string; readonly version: string };
  readonly tools: Readonly<Record<string, ManifestEntry<ToolData>>>;
  readonly resources: Readonly<Record<string, ManifestEntry<ResourceData>>>;
}

/** Returns the SHA-256, as 64 hexadecimal digits, of the canonical JSON of all but the checksum and the comment. */
export function manifestChecksum(manifest: object): string {
  const { checksum: _checksum, $comment: _comment, ...rest } = manifest as JsonObject;
  return sha256Hex(canonicalJson(rest as Value));
}

const text = z.string();
const texts = z.array(text);
const schema = z.record(text, z.unknown());

const listed = {
  exports: z.array(z.strictObject({ module: text, name: text })).min(1),
  title: text.optional(),
  icons: z.array(z.looseObject({ src: text })).optional(),
  meta: z.record(text, z.unknown()).optional(),
  fingerprint: text,
};

const flag = z.boolean().optional();

const tool = z.strictObject({
  ...listed,
  description: text,
  inputSchema: schema,
  outputSchema: schema.optional(),
  listedSchema: z.literal('flat').optional(),
  annotations: z
    .strictObject({
      ...{ title: text.optional(), readOnlyHint: flag, destructiveHint: flag },
      ...{ idempotentHint: flag, openWorldHint: flag },
    })
    .optional(),
  retrySafety: z.enum(['idempotent', 'key', 'none']).optional(),
  visibility: z.enum(['client', 'workflow']).optional(),
  scopes: texts.optional(),
  task: z.enum(['optional', 'required']).optional(),
  hints: z
    .strictObject({
      ...{ category: text.optional(), next: texts.optional(), requires: texts.optional() },
      ...{ outputs: texts.optional(), hint: text.optional() },
      examples: z.array(z.unknown()).optional(),
    })
    .optional(),
  upstream: z.strictObject({ server: text, tool: text }).optional(),
  secret: texts.optional(),
});

const resource = z.strictObject({
  ...listed,
  uri: text,
  description: text.optional(),
  mimeType: text.optional(),
  text: text.optional(),
  dotSegments: texts.optional(),
});

const named = (kind: 'tool' | 'resource') => text.refine((name) => isValidName(kind, name));

const manifest = z.strictObject({
  $comment: text.optional(),
  manifestVersion: z.number(),
  registryVersion: z.number(),
  checksum: text,
  package: z.strictObject({ name: text, version: text }),
  tools: z.record(named('tool'), tool),
  resources: z.record(named('resource'), resource),
});

/** The manifest in a JSON value of this version of the format, or the pointer of the first part that does not belong to one. */
export function parseManifest(value: unknown): PackageManifest | { readonly pointer: string } {
  const parsed = manifest.safeParse(value);
  if (parsed.success) return value as PackageManifest;
  const [issue] = parsed.error.issues;
  return { pointer: `/${(issue?.path ?? []).map(String).join('/')}` };
}

/** What generated JSON files begin with. */
export const GENERATED_COMMENT =
  'Written by `stepwright codegen`: run it again instead of editing this file.';

/** The beginning of every manifest; a file without it is never overwritten. */
export const MANIFEST_HEADER = `{\n  "$comment": ${JSON.stringify(GENERATED_COMMENT)},\n`;
