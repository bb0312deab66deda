import { REGISTRY_VERSION } from '../../decorators/metadata.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Json, JsonObject } from '../../graph/json.js';
import { compareText } from '../../graph/names.js';
import { formatLocation } from '../../graph/source-location.js';
import type { ClassHandle, Declarations, Phase, ResourceDeclaration } from '../declarations.js';
import type { EntryContent, RegistryContent } from '../emit/registry.js';
import { GENERATED_COMMENT, MANIFEST_VERSION, type ManifestExport, manifestChecksum } from '../manifest.js';
import type { ToolSchemas } from '../schemas/read-schemas.js';
import type { SourceHost } from '../source/source-host.js';
import type { Tsconfig } from '../source/tsconfig.js';
import type { OutputFile } from '../writer.js';
import { type EntryPoint, entryPoints } from './entry-points.js';
import type { ManifestPlan } from './plan.js';

/** The sources of a package. */
interface PackageSources {
  readonly host: Pick<SourceHost, 'exportedClasses'>;
  /** Those of the registry, relative to the root. */
  readonly files: readonly string[];
  readonly compiled: Pick<Tsconfig, 'files' | 'build'> | undefined;
  readonly readings: ToolSchemas['resources'];
}

/** The manifests of a registry's content: one, or none where none is planned. */
type Manifests = (content: RegistryContent) => readonly OutputFile[];

/**
 * Finds by which entry points of its package each tool and each resource is exported. One that is not exported, or that
 * depends on a file of the package, is reported: other projects could not use it (SW6035).
 */
export function manifestOf(
  plan: ManifestPlan | undefined,
  { tools, resources }: Declarations,
  { host, files, compiled, readings }: PackageSources,
): Phase<Manifests> {
  if (plan === undefined) return { value: () => [], diagnostics: [] };
  const { file, folder, name, version, packageFile } = plan;
  const sources = [...new Set([...files, ...(compiled?.files ?? [])])].filter(
    (each) => !/\.d\.[cm]?ts$/.test(each),
  );
  const { outDirs = [], rootDir } = compiled?.build ?? {};
  const build = { folder, sources, outDirs, ...defined({ rootDir }) };
  const points = entryPoints(name, packageFile, build);
  const exportsOf = exportsByPlace(points, host);
  const own = [...tools, ...resources].filter(({ listed }) => listed === undefined);
  const unexported = own.filter((each) => each.exportName !== undefined && exportsOf(each).length === 0);
  const diagnostics = unexported.map((handle) => {
    const params = {
      className: handle.className,
      package: name,
      why: 'no entry point of the package exports it',
    };
    return diagnostic('SW6035', handle.place, params, {
      hint: `export it from one of them: ${describe(points)}`,
    });
  });
  return {
    value: (content) => [
      {
        file,
        text: emitManifest({
          package: { name, version },
          tools: content.tools.filter(({ handle }) => handle.package === undefined),
          resources: content.resources.filter(({ handle }) => handle.package === undefined),
          exportsOf,
        }),
      },
    ],
    diagnostics: [...diagnostics, ...fileFaults(resources, name, readings)],
  };
}

type Exports = (handle: ClassHandle) => readonly ManifestExport[];

function exportsByPlace(points: readonly EntryPoint[], host: PackageSources['host']): Exports {
  const results = new Map<string, ManifestExport[]>();
  for (const { specifier, source } of points) {
    for (const { name, place } of source === undefined ? [] : host.exportedClasses(source)) {
      const key = formatLocation(place);
      results.set(key, [...(results.get(key) ?? []), { module: specifier, name }]);
    }
  }
  return ({ place }) => results.get(formatLocation(place)) ?? [];
}

function describe(points: readonly EntryPoint[]): string {
  const texts = points.map(({ specifier, source }) =>
    source === undefined ? `\`${specifier}\` (its source was not found)` : `\`${specifier}\` (\`${source}\`)`,
  );
  return texts.length === 0 ? 'its `package.json` names none' : texts.join(', ');
}

/** Content that is not embedded is looked for in the package of the registry, which is another one there. */
function fileFaults(
  resources: readonly ResourceDeclaration[],
  name: string,
  readings: ToolSchemas['resources'],
): readonly Diagnostic[] {
  return resources.flatMap((resource) => {
    if (readings.get(resource)?.file === undefined) return [];
    const why = `the file \`${resource.contentFile}\` is too large to be embedded, or is not text`;
    const hint = 'give its content by `read()`, which may read the file by `import.meta.url`';
    const params = { className: resource.className, package: name, why };
    return [diagnostic('SW6035', resource.contentFilePlace ?? resource.place, params, { hint })];
  });
}

/** What goes into a manifest. */
interface ManifestContent extends Pick<RegistryContent, 'tools' | 'resources'> {
  readonly package: { readonly name: string; readonly version: string };
  exportsOf(handle: ClassHandle): readonly ManifestExport[];
}

/** Prints a manifest as JSON: the same content gives the same text, whatever order it comes in. */
function emitManifest({ package: of, tools, resources, exportsOf }: ManifestContent): string {
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
