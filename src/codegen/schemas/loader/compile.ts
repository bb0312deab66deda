import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import type { TransformFailure, TransformOptions } from 'esbuild';

/** The files that Node does not load by itself. */
export const TYPESCRIPT = /\.(?:[cm]?ts|tsx)$/;

/** A module of JSON, which is always named as it is. */
export const JSON_MODULE = /\.json$/;

/** True where Node takes a TypeScript file's output for CommonJS: by its extension, else by its package's `type`. */
export function isCommonJs(file: string): boolean {
  const extension = extname(file);
  if (extension === '.cts') return true;
  if (extension === '.mts') return false;
  const manifest = manifestOf(file);
  return manifest === undefined || packageType(manifest) !== 'module';
}

/** The `package.json` that a file belongs to. */
export function manifestOf(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) return manifest;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The member `type` of a package's description; undefined where it cannot be read. */
export function packageType(manifest: string): unknown {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** Types are removed and decorators compiled; the author's tsconfig decides on nothing but the decorators. */
export function transformOptions(
  file: string,
  format: 'esm' | 'cjs',
  { experimentalDecorators }: LoaderSettings,
) {
  return {
    loader: extname(file) === '.tsx' ? 'tsx' : 'ts',
    format,
    target: 'es2022',
    // Node.js decides by them how it loads JSON.
    supported: { 'import-attributes': true },
    platform: 'node',
    sourcefile: file,
    sourcemap: 'inline',
    sourcesContent: false,
    keepNames: true,
    logLevel: 'silent',
    tsconfigRaw: { compilerOptions: { experimentalDecorators, useDefineForClassFields: true } },
  } satisfies TransformOptions;
}

/** A syntax error with its place, from what the compiler throws. It keeps its message on the way between threads. */
export function compileFault(error: unknown, file: string): Error {
  const [first] = (error as Partial<TransformFailure>).errors ?? [];
  if (first === undefined) return error instanceof Error ? error : new Error(String(error));
  const { location, text } = first;
  const place = location === null ? file : `${file}:${location.line}:${location.column + 1}`;
  return new SyntaxError(`${place}: ${text}`);
}

/**
 * The file that a specifier of a TypeScript module refers to, by a relative path or by `paths`; nothing where Node finds
 * it itself.
 *
 * @param parent - absolute path of the module.
 * @param onMissing - is called with each file that would be preferred and does not exist.
 */
export function moduleFile(
  specifier: string,
  parent: string | undefined,
  settings: LoaderSettings,
  onMissing: OnMissing,
): string | undefined {
  if (parent === undefined || !TYPESCRIPT.test(parent)) return undefined;
  if (/^\.{1,2}(?:\/|$)/.test(specifier)) return writtenFor(resolve(dirname(parent), specifier), onMissing);
  for (const path of aliasedPaths(specifier, settings)) {
    const file = writtenFor(path, onMissing) ?? [path].find((each) => isFile(each, onMissing));
    if (file !== undefined) return file;
  }
  return undefined;
}

export type OnMissing = (file: string) => void;

/**
 * The file that an absolute path is written for, in TypeScript; nothing where it is the file itself.
 *
 * @see {@link moduleCandidates}
 */
export function writtenFor(path: string, onMissing: OnMissing): string | undefined {
  return moduleCandidates(path).find((file) => isFile(file, onMissing));
}

function isFile(path: string, onMissing: OnMissing): boolean {
  // `statSync` throws for a path that leads through a file.
  const is = existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (!is) onMissing(path);
  return is;
}

/**
 * The files that a path in a TypeScript module may be written for, the likeliest first: TypeScript writes `./x.js` for
 * `./x.ts`, and bundlers leave the extension out.
 *
 * @param path - absolute, as it is written.
 */
export function moduleCandidates(path: string): readonly string[] {
  if (JSON_MODULE.test(path)) return [];
  const [, stem, mark, x] = /^(.*)\.([cm]?)js(x?)$/.exec(path) ?? [];
  if (stem === undefined) {
    const files = ['.ts', '.tsx', '.mts', '.cts', '.js'].map((extension) => path + extension);
    return [...files, join(path, 'index.ts'), join(path, 'index.js')];
  }
  return x === 'x' || mark !== '' ? [`${stem}.${mark}ts${x}`] : [`${stem}.ts`, `${stem}.tsx`];
}

/** How the author's modules are loaded, by the compiler options of the project. */
export interface LoaderSettings {
  /** Legacy decorators when true, TC39 ones otherwise. */
  readonly experimentalDecorators: boolean;
  /** `paths`, and `baseUrl` as the last of them; targets are absolute. Default: none. */
  readonly paths?: Readonly<Record<string, readonly string[]>>;
  /** `customConditions`: of the `exports` and `imports` of packages, beside those of Node.js. Default: none. */
  readonly conditions?: readonly string[];
}

/**
 * The absolute paths, in their order, that a specifier may mean by `paths`: those of the pattern that is the specifier,
 * else of the one with the longest beginning. Whether anything is there is not looked at.
 */
export function aliasedPaths(specifier: string, { paths = {} }: LoaderSettings): readonly string[] {
  if (/^(?:\.{0,2}\/|\.{1,2}$|\w{2,}:)/.test(specifier)) return [];
  const own = Object.hasOwn(paths, specifier) ? paths[specifier] : undefined;
  if (own !== undefined) return own;
  const [pattern] = Object.keys(paths)
    .filter((each) => isMatch(each, specifier))
    .sort((a, b) => b.indexOf('*') - a.indexOf('*'));
  if (pattern === undefined) return [];
  const [head = '', tail = ''] = pattern.split('*');
  const matched = specifier.slice(head.length, specifier.length - tail.length);
  return (paths[pattern] ?? []).map((target) => target.replace('*', () => matched));
}

function isMatch(pattern: string, specifier: string): boolean {
  const [head = '', tail] = pattern.split('*');
  if (tail === undefined || specifier.length < head.length + tail.length) return false;
  return specifier.startsWith(head) && specifier.endsWith(tail);
}
