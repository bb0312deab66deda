import { REGISTRY_VERSION } from '../../decorators/metadata.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { compareText } from '../../graph/names.js';
import type { ClassHandle } from '../declarations.js';
import { MANIFEST_VERSION, type ManifestExport, manifestChecksum } from '../manifest.js';
import type { EntryContent, RegistryContent } from './registry.js';

/** What generated JSON files begin with. */
export const GENERATED_COMMENT =
  'Written by `stepwright codegen`: run it again instead of editing this file.';

/** The beginning of every manifest; a file without it is never overwritten. */
export const MANIFEST_HEADER = `{\n  "$comment": ${JSON.stringify(GENERATED_COMMENT)},\n`;

/** What goes into a manifest. */
export interface ManifestContent extends Pick<RegistryContent, 'tools' | 'resources'> {
  readonly package: { readonly name: string; readonly version: string };
  exportsOf(handle: ClassHandle): readonly ManifestExport[];
}

/** Prints a manifest as JSON: the same content gives the same text, whatever order it comes in. */
export function emitManifest({ package: of, tools, resources, exportsOf }: ManifestContent): string {
  const table = (entries: readonly EntryContent[]): JsonObject =>
    Object.fromEntries(
      [...entries]
        .sort((a, b) => compareText(a.name, b.name))
        .map(({ name, handle, data }) => [name, { exports: exportsOf(handle), ...data } as unknown as Json]),
    );
  const versions = { manifestVersion: MANIFEST_VERSION, registryVersion: REGISTRY_VERSION };
  const content = { package: { ...of }, tools: table(tools), resources: table(resources) };
  const checksum = manifestChecksum({ ...versions, ...content });
  return `${JSON.stringify({ $comment: GENERATED_COMMENT, ...versions, checksum, ...content }, undefined, 2)}\n`;
}
