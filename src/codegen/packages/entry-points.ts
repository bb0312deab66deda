import { posix } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../graph/json.js';
import { compareText } from '../../graph/names.js';

/** A module that programs import from a package, and the source that it is built from. */
export interface EntryPoint {
  /** The package, or a part of it: `@acme/tools/search`. */
  readonly specifier: string;
  /** Missing where none of the sources is compiled to it. */
  readonly source?: string;
}

/** How sources become the files of a package. Paths are relative to the root of the project, with `/`. */
export interface PackageBuild {
  /** Where `package.json` is; empty for the root. */
  readonly folder: string;
  /** Sources, the preferred ones first. */
  readonly sources: readonly string[];
  /** Where compiled files are. Default: the first folder in the path of each. */
  readonly outDirs: readonly string[];
  /** The folder whose structure the compiled files have. Default: any that fits, the nearest to the root first. */
  readonly rootDir?: string;
}

/**
 * The entry points of a package, the package itself first, then by their specifiers.
 *
 * @param manifest - the object in its `package.json`.
 */
export function entryPoints(
  name: string,
  { exports, types, main }: JsonObject,
  build: PackageBuild,
): readonly EntryPoint[] {
  const legacy = [types, main].flatMap((target) =>
    typeof target === 'string' ? [`./${posix.normalize(target)}`] : [],
  );
  const subpaths =
    exports === undefined ? { '.': legacy.length > 0 ? legacy : ['./index.js'] } : subpathsOf(exports);
  const pointsOf = ([subpath, target]: readonly [string, Json]): readonly EntryPoint[] => {
    const modules = targetsIn(target).filter((each) => MODULE.test(each));
    const specifier = posix.join(name, subpath);
    const matches = modules.flatMap((each) => sourcesOf(each, build));
    const [best] = matches;
    if (modules.length === 0) return [];
    if (!subpath.includes('*'))
      return [best === undefined ? { specifier } : { specifier, source: best.source }];
    // The first that fits a specifier is the preferred one.
    const bySpecifier = new Map<string, string>();
    for (const { source, star } of matches) {
      const named = specifier.replace('*', () => star);
      if (!bySpecifier.has(named)) bySpecifier.set(named, source);
    }
    return [...bySpecifier].map(([named, source]) => ({ specifier: named, source }));
  };
  const isPattern = ([subpath]: readonly [string, Json]): boolean => subpath.includes('*');
  const all = Object.entries(subpaths);
  const ofPatterns = all.filter(isPattern).flatMap(pointsOf);
  const results = all.filter((each) => !isPattern(each)).flatMap(pointsOf);
  // A subpath that is written out wins over a pattern.
  const unique = new Map([...ofPatterns, ...results].map((each) => [each.specifier, each]));
  return [...unique.values()].sort((a, b) => compareText(a.specifier, b.specifier));
}

/** What holds classes: JavaScript, its declarations, or TypeScript. */
const MODULE = /\.[cm]?[jt]sx?$/;

function subpathsOf(exports: Json): JsonObject {
  const isTable = isJsonObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  return isTable ? exports : { '.': exports };
}

/** All files that a target may lead to, under whatever conditions. */
function targetsIn(target: Json): readonly string[] {
  if (typeof target === 'string') return [target];
  if (Array.isArray(target)) return target.flatMap(targetsIn);
  return isJsonObject(target) ? Object.values(target).flatMap(targetsIn) : [];
}

interface Match {
  readonly source: string;
  /** What is in the place of `*`. */
  readonly star: string;
}

const stemOf = (file: string): string => file.replace(/(?:\.d)?\.[cm]?[jt]sx?$/, '');

/** The sources that are compiled to a file, the preferred ones first. */
function sourcesOf(target: string, { folder, sources, outDirs, rootDir }: PackageBuild): readonly Match[] {
  const file = stemOf(posix.join(folder, target));
  const outDir =
    outDirs.find((each) => file.startsWith(`${each}/`)) ??
    file.slice(0, Math.max(0, file.indexOf('/', folder.length + 1)));
  const inside = outDir === '' ? file : posix.relative(outDir, file);
  const fits = (path: string, start: string): ((stem: string) => string | undefined) => {
    const [before = '', after] = path.split('*');
    const pattern = after === undefined ? literal(path) : `${literal(before)}(.+)${literal(after)}`;
    const expression = new RegExp(`^${start}${pattern}$`);
    return (stem) => {
      const match = expression.exec(stem);
      return match === null ? undefined : (match[1] ?? '');
    };
  };
  const anyRoot = inside.includes('*') ? `${literal(folder === '' ? '' : `${folder}/`)}[^/]+/` : '(?:.*/)?';
  // A package of the same repository may be imported as TypeScript.
  const ways = [
    fits(file, ''),
    rootDir === undefined ? fits(inside, anyRoot) : fits(posix.join(rootDir, inside), ''),
  ];
  const nearest = [...sources].sort((a, b) => a.split('/').length - b.split('/').length);
  return ways.flatMap((starOf) =>
    nearest.flatMap((source) => {
      const star = starOf(stemOf(source));
      return star === undefined ? [] : [{ source, star }];
    }),
  );
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
