import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as zod from 'zod';
import { fingerprint } from '../../decorators/metadata.js';
import type { ToolOptions } from '../../decorators/tool.js';
import type { JsonSchema } from '../../graph/json.js';
import type { ResourceDeclaration, ToolDeclaration } from '../declarations.js';
import type { Inputs } from '../incremental/inputs.js';
import { type Memo, sha256 } from '../incremental/memo.js';
import type { SchemaSyntax, WrittenSchemas } from '../syntax.js';
import type { ClassReading } from './import-modules.js';
import {
  readAnySchema,
  readJsonSchema,
  type SchemaReading,
  type SchemaSide,
  writtenSchema,
} from './json-schema.js';

export type ReadDeclaration = ToolDeclaration | ResourceDeclaration;

export interface LiteralClassesOptions {
  /** Absolute path of the project, links resolved. */
  readonly root: string;
  /** Of the schemas that were made. Default: all are made. */
  readonly memo?: Memo | undefined;
  /** Records the libraries of schemas. Default: nothing is recorded. */
  readonly inputs?: Inputs | undefined;
}

/**
 * What classes declare whose sources say all of it: their modules need not run. Schemas that are written with the
 * functions of zod are made here, with the author's own copy of it. What zod refuses is left to the module, whose import
 * says why.
 *
 * @returns by {@link classKey}.
 */
export function readLiteralClasses(
  declared: readonly ReadDeclaration[],
  options: LiteralClassesOptions,
): ReadonlyMap<string, ClassReading> {
  const schemas = new WrittenSchemaReader(options);
  const readings = new Map<string, ClassReading>();
  for (const handle of declared) {
    const reading = readLiteral(handle, schemas);
    if (reading !== undefined) readings.set(classKey(handle), reading);
  }
  return readings;
}

function readLiteral(handle: ReadDeclaration, schemas: WrittenSchemaReader): ClassReading | undefined {
  const { exportName, literalOptions: options } = handle;
  if (options === undefined || exportName === undefined) return undefined;
  if (isResource(handle)) {
    const address = handle.variables === undefined ? { uri: handle.uri } : { uriTemplate: handle.uri };
    const mark = fingerprint({ kind: 'resource', options, ...address }, sha256);
    return { kind: 'resource', exportName, fingerprint: mark };
  }
  const argument = schemas.of(handle.file, handle.writtenSchemas ?? {});
  if (argument === undefined) return undefined;
  // The rules of these options admit nothing else.
  const { inputSchema, outputSchema } = options as Pick<ToolOptions, 'inputSchema' | 'outputSchema'>;
  return {
    ...{ kind: 'tool', exportName, fingerprint: fingerprint({ kind: 'tool', options }, sha256), ...argument },
    ...(inputSchema === undefined ? {} : { input: writtenSchema(inputSchema) }),
    ...(outputSchema === undefined ? {} : { output: writtenSchema(outputSchema) }),
  };
}

/** Identifies a class by its file and the name it is exported by. */
export function classKey({ file, exportName }: Pick<ReadDeclaration, 'file' | 'exportName'>): string {
  return `${file}#${exportName ?? ''}`;
}

export const isResource = (handle: ReadDeclaration): handle is ResourceDeclaration => 'uri' in handle;

/** Makes JSON Schemas of schemas that are written with the functions of zod, with the author's own copy of it. */
export class WrittenSchemaReader {
  readonly #options: LiteralClassesOptions;
  readonly #libraries = new Map<string, Library | undefined>();

  constructor(options: LiteralClassesOptions) {
    this.#options = options;
  }

  /** @param file - of the tool, relative to the root. */
  of(file: string, written: WrittenSchemas): { readonly [Side in SchemaSide]?: SchemaReading } | undefined {
    const readings: { [Side in SchemaSide]?: SchemaReading } = {};
    for (const side of ['input', 'output'] as const) {
      const syntax = written[side];
      if (syntax === undefined) continue;
      const schema = this.#schema(join(this.#options.root, file), syntax, side);
      if (schema === undefined) return undefined;
      readings[side] = { kind: 'schema', schema };
    }
    return readings;
  }

  /** The schema of the reply of an agent. */
  response(file: string, syntax: SchemaSyntax): JsonSchema | undefined {
    return this.#schema(join(this.#options.root, file), syntax, 'response');
  }

  #schema(file: string, syntax: SchemaSyntax, side: Side): JsonSchema | undefined {
    const libraries = new Map<string, Library>();
    for (const specifier of librariesOf(syntax)) {
      const library = this.#library(file, specifier);
      if (library === undefined) return undefined;
      libraries.set(specifier, library);
    }
    const key = sha256(
      JSON.stringify([side, syntax, [...libraries.values()].map(({ identity }) => identity)]),
    );
    const { memo } = this.#options;
    const cached = memo?.recall<JsonSchema>('schema', key, '');
    if (cached !== undefined) return cached;
    const schema = makeSchema(syntax, { side, file, libraries });
    if (schema !== undefined) memo?.keep('schema', key, '', schema);
    return schema;
  }

  /** Nothing for one that is not installed as the author's module would find it, and for another version than this process has loaded. */
  #library(file: string, specifier: string): Library | undefined {
    const require = createRequire(file);
    try {
      const manifest = require.resolve(`${packageOf(specifier)}/package.json`);
      if (!this.#libraries.has(manifest)) {
        this.#options.inputs?.see(manifest);
        const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: unknown };
        const identity = `${manifest} ${String(version)}`;
        const isLoaded = (loaded.get(manifest) ?? identity) === identity;
        loaded.set(manifest, loaded.get(manifest) ?? identity);
        const load = manifest === OWN_ZOD ? () => zod : require;
        this.#libraries.set(manifest, isLoaded ? { identity, load } : undefined);
      }
      return this.#libraries.get(manifest);
    } catch {
      return undefined;
    }
  }
}

/** What a schema is of: a side of a tool, or the reply of an agent, which may be of any kind. */
type Side = SchemaSide | 'response';

/** The identities of the libraries that this process has loaded, by their manifests: a process loads a module once. */
const loaded = new Map<string, string>();

interface Library {
  /** Its place and version. */
  readonly identity: string;
  /** @param specifier - of the library, or of a part of it. */
  load(specifier: string): unknown;
}

/** The copy of zod that is loaded already. */
const OWN_ZOD = createRequire(import.meta.url).resolve('zod/package.json');

function makeSchema(
  syntax: SchemaSyntax,
  { side, file, libraries }: { side: Side; file: string; libraries: ReadonlyMap<string, Library> },
): JsonSchema | undefined {
  try {
    const value = evaluate(syntax, libraries);
    const reading =
      side === 'response' ? readAnySchema(value, 'output', file) : readJsonSchema(value, side, file);
    return reading.kind === 'schema' ? reading.schema : undefined;
  } catch {
    return undefined;
  }
}

function librariesOf(syntax: SchemaSyntax): ReadonlySet<string> {
  const results = new Set<string>();
  const open = [syntax];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.kind === 'library') results.add(next.specifier);
    else open.push(...partsOf(next));
  }
  return results;
}

function partsOf(syntax: Exclude<SchemaSyntax, { kind: 'library' }>): readonly SchemaSyntax[] {
  switch (syntax.kind) {
    case 'literal':
      return [];
    case 'member':
      return [syntax.of];
    case 'call':
      return [syntax.callee, ...syntax.args];
    case 'list':
      return syntax.items;
    case 'object':
      return syntax.entries.map((entry) => ('spread' in entry ? entry.spread : entry.value));
    default:
      return syntax satisfies never;
  }
}

function packageOf(specifier: string): string {
  const [name = specifier] = specifier.split('/');
  return name;
}

/** @throws Error where the library refuses what it is given. */
function evaluate(syntax: SchemaSyntax, libraries: ReadonlyMap<string, Library>): unknown {
  const inner = (part: SchemaSyntax): unknown => evaluate(part, libraries);
  switch (syntax.kind) {
    case 'library':
      return libraries.get(syntax.specifier)?.load(syntax.specifier);
    case 'literal':
      return syntax.value;
    case 'member':
      return memberOf(inner(syntax.of), syntax.name);
    case 'call': {
      const { callee, args } = syntax;
      const object = callee.kind === 'member' ? inner(callee.of) : undefined;
      const called = callee.kind === 'member' ? memberOf(object, callee.name) : inner(callee);
      return Reflect.apply(called as () => unknown, object, args.map(inner));
    }
    case 'list':
      return syntax.items.map(inner);
    case 'object':
      return Object.assign(
        {},
        ...syntax.entries.map((entry) =>
          'spread' in entry ? inner(entry.spread) : { [entry.key]: inner(entry.value) },
        ),
      );
    default:
      return syntax satisfies never;
  }
}

function memberOf(object: unknown, name: string): unknown {
  return (object as Readonly<Record<string, unknown>>)[name];
}
