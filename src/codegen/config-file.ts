import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { textIn } from '../formats/source-record.js';
import { type JsonDocument, parseJsonDocument } from '../formats/text/json-document.js';
import { defined } from '../graph/defined.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { isJsonObject, pointerOf } from '../graph/json.js';
import { type SettingFault, settingFaults } from '../graph/schema/setting-faults.js';
import { upstreamSchemas, upstreamSettingsAt } from '../runtime/upstream/config.js';
import type { Phase } from './declarations.js';
import { DOMAIN_SETTINGS, domainsSchema } from './hints-and-domains.js';
import { MANIFEST_FILE } from './manifest.js';
import type { ModuleLimits } from './schemas/module-loader.js';

/** The name of the configuration, looked for in the project's root. */
export const CONFIG_FILE = 'stepwright.config.json';

/** Where the configuration may be instead, as a member of the object in there. */
export const PACKAGE_FILE = 'package.json';
const PACKAGE_MEMBER = 'stepwright';

const insideRoot = z
  .string()
  .min(1)
  .refine(
    (text) => !path.posix.isAbsolute(text) && !/^[A-Za-z]:|\\/.test(text),
    'write a path relative to the root, with `/`',
  )
  .refine((text) => !path.posix.normalize(text).startsWith('..'), 'must not leave the project');

const specPatterns = z.array(insideRoot).min(1);

const registrySchema = z.strictObject({
  include: z.array(insideRoot).min(1).describe('Glob patterns of the sources of the registry.'),
  exclude: z
    .array(insideRoot)
    .optional()
    .describe(
      'Glob patterns of sources that are left out. Default: `**/dist/**`, `**/*.test.*` and `**/*.spec.*`.',
    ),
  specs: specPatterns
    .exactOptional()
    .describe('Glob patterns of files with workflows in YAML, JSON or XML. Default: none.'),
  out: insideRoot
    .regex(/\.m?ts$/, 'must end in .ts or .mts')
    .transform((out) => path.posix.normalize(out))
    .describe('The file of the registry.'),
  manifest: insideRoot
    .regex(
      /(?:^|\/)stepwright\.manifest\.json$/,
      `must end in ${MANIFEST_FILE}, which is what others look for`,
    )
    .transform((file) => path.posix.normalize(file))
    .exactOptional()
    .describe(
      'The manifest of the package, beside its `package.json`, by which other projects call the tools of the registry. Default: none.',
    ),
});

const limit = z.number().positive();

const limitsSchema = z
  .strictObject({
    cpuSeconds: limit.exactOptional().describe('CPU time. Default: 10.'),
    waitSeconds: limit.exactOptional().describe('How long it may do next to nothing. Default: 10.'),
    memoryMb: limit.exactOptional().describe('Memory of the process. Default: 2048.'),
  })
  .transform(
    ({ cpuSeconds, waitSeconds, memoryMb }): Partial<ModuleLimits> => ({
      ...(cpuSeconds === undefined ? {} : { cpuMs: cpuSeconds * 1000 }),
      ...(waitSeconds === undefined ? {} : { waitMs: waitSeconds * 1000 }),
      ...defined({ memoryMb }),
    }),
  );

const configSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON Schema of this file, for editors.'),
  tsconfig: insideRoot
    .default('tsconfig.json')
    .describe('The compiler options and files of the project, relative to its root.'),
  severity: z
    .record(z.string(), z.enum(['off', 'warning', 'error']))
    .default({})
    .describe('Severities of warnings, by code.'),
  moduleLimits: limitsSchema
    .default({})
    .describe('Limits on the import of each file with tools or resources.'),
  upstream: upstreamSchemas()
    .upstream.exactOptional()
    .describe('MCP servers whose tools steps call, by name.'),
  rest: upstreamSchemas()
    .rest.exactOptional()
    .describe('REST services that programs pass to `RestCall`, by name.'),
  domains: domainsSchema
    .exactOptional()
    .describe('What the overviews of workflows say about their domains: the option `domains` of a server.'),
  server: insideRoot.exactOptional().describe('A module whose default export is the options of the server.'),
  specs: specPatterns
    .exactOptional()
    .describe('The same as `specs` of a registry, where `registries` is left out. Default: none.'),
  registries: z
    .array(registrySchema)
    .min(1)
    .optional()
    .describe('Registries to write. Default: `generated/registry.ts` of the files of the tsconfig.'),
});

export function configJsonSchema(): object {
  return z.toJSONSchema(configSchema, { io: 'input' });
}

export type Config = z.output<typeof configSchema>;
export type RegistryConfig = z.output<typeof registrySchema>;

/** The configuration of a project without the option that names it. */
export function configFileOf(root: string): string | undefined {
  if (existsSync(path.join(root, CONFIG_FILE))) return CONFIG_FILE;
  return packageConfig(root) === undefined ? undefined : PACKAGE_FILE;
}

/** `package.json`, if there is a configuration in it. */
function packageConfig(root: string): JsonDocument | undefined {
  const text = textIn(path.join(root, PACKAGE_FILE));
  const document = text?.includes(`"${PACKAGE_MEMBER}"`) ? parseJsonDocument(PACKAGE_FILE, text) : undefined;
  return document?.has(`/${PACKAGE_MEMBER}`) === true ? document : undefined;
}

export function secondConfigFaults(root: string): readonly Diagnostic[] {
  const document = packageConfig(root);
  if (document === undefined) return [];
  const problem = `\`${CONFIG_FILE}\` configures the project as well: keep one of the two`;
  const place = document.keyPlaceOf(`/${PACKAGE_MEMBER}`);
  return [diagnostic('SW9002', place, { file: PACKAGE_FILE, problem })];
}

/** A configuration; pointers begin at it. */
interface ConfigDocument extends JsonDocument {
  /** Where it is in its file; empty for the whole of it. */
  readonly base: string;
}

function configIn(file: string, document: JsonDocument): ConfigDocument {
  if (path.posix.basename(file) !== PACKAGE_FILE) return { ...document, base: '' };
  const base = `/${PACKAGE_MEMBER}`;
  return {
    base,
    value: isJsonObject(document.value) ? document.value[PACKAGE_MEMBER] : undefined,
    faults: document.faults,
    has: (pointer) => document.has(`${base}${pointer}`),
    placeOf: (pointer) => document.placeOf(`${base}${pointer}`),
    keyPlaceOf: (pointer) => document.keyPlaceOf(`${base}${pointer}`),
  };
}

export interface ReadConfig {
  readonly config: Config;
  readonly document: JsonDocument;
}

export function readConfig(root: string, file: string): Phase<ReadConfig | undefined> {
  const fault = (
    problem: string,
    place?: Diagnostic['place'],
    names: Pick<SettingFault, 'suggestion' | 'candidates'> = {},
  ): Diagnostic => diagnostic('SW9002', place, { file, problem, ...names });
  let text: string;
  try {
    text = readFileSync(path.resolve(root, file), 'utf8');
  } catch (error) {
    const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
    return {
      value: undefined,
      diagnostics: [fault(code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`)],
    };
  }
  const document = configIn(file, parseJsonDocument(file, text));
  // What follows a syntax error is mostly its echo.
  const [syntax] = document.faults;
  if (syntax !== undefined) return { value: undefined, diagnostics: [fault(syntax.message, syntax.place)] };
  if (document.value === undefined) {
    const isFile = document.base === '';
    const problem = isFile ? 'it is empty: write `{}` to begin with' : `it has no \`${PACKAGE_MEMBER}\``;
    return { value: undefined, diagnostics: [fault(problem, document.placeOf(''))] };
  }
  const parsed = configSchema.safeParse(document.value);
  if (parsed.success) return { value: { config: parsed.data, document }, diagnostics: [] };
  const faults = parsed.error.issues.flatMap((issue) => settingFaults(issue, { ...document, settingsAt }));
  return {
    value: undefined,
    diagnostics: faults.map(({ path: setting, problem, isUnknown, ...names }) => {
      const pointer = pointerOf(setting);
      const place = isUnknown ? document.keyPlaceOf(pointer) : document.placeOf(pointer);
      return fault(problem, place, names);
    }),
  };
}

/** The settings that are allowed at a path of the configuration. */
function settingsAt(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return Object.keys(configSchema.shape);
  if (path[0] === 'upstream') return upstreamSettingsAt(path.slice(1));
  if (path[0] === 'domains') return DOMAIN_SETTINGS;
  if (path[0] === 'moduleLimits') return Object.keys(limitsSchema.in.shape);
  return path[0] === 'registries' && path.length === 2 ? Object.keys(registrySchema.shape) : [];
}
