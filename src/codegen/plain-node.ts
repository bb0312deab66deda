import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { isJsonObject, pointerOf } from '../graph/json.js';
import { type Inputs, statsOf } from './incremental/inputs.js';
import { moduleCandidates } from './schemas/loader/compile.js';
import { aliasedPaths, type LoaderSettings } from './schemas/loader/settings.js';
import { loadedSpecifiers, parseJsonDocument } from './source/files.js';

const PACKAGE_FILE = 'package.json';

export interface PlainNodeOptions {
  /** Absolute path of the project. */
  readonly root: string;
  readonly loader: LoaderSettings;
  /** The files with decorators and the registries, which need not be written yet; relative to the root. */
  readonly decorated: ReadonlySet<string>;
  /** Records what is read. Default: nothing is recorded. */
  readonly inputs?: Inputs;
}

/**
 * Reports scripts of `package.json` that run decorated classes by Node.js alone (SW9017): it removes types, and does not
 * know decorators.
 */
export function plainNodeScripts({ root, loader, decorated, inputs }: PlainNodeOptions): Diagnostic[] {
  inputs?.see(PACKAGE_FILE);
  let text: string;
  try {
    text = readFileSync(path.join(root, PACKAGE_FILE), 'utf8');
  } catch {
    return [];
  }
  const document = parseJsonDocument(PACKAGE_FILE, text);
  const scripts = isJsonObject(document.value) ? document.value.scripts : undefined;
  if (document.faults.length > 0 || !isJsonObject(scripts)) return [];
  const isDecorated = (file: string): boolean =>
    decorated.has(path.relative(root, file).split(path.sep).join('/'));
  const isFile = (file: string): boolean => isDecorated(file) || statsOf(file)?.isFile() === true;
  return Object.entries(scripts).flatMap(([script, command]) => {
    if (typeof command !== 'string') return [];
    const results = filesOfPlainNode(command).find((file) => {
      const absolute = path.resolve(root, file);
      if (!existsSync(absolute)) return false;
      const files = new Set([absolute]);
      // Iteration includes files that are added meanwhile.
      for (const each of files) {
        inputs?.see(each);
        for (const loaded of loadedFiles(each, loader, isFile)) files.add(loaded);
      }
      return [...files].some(isDecorated);
    });
    if (results === undefined) return [];
    const place = document.placeOf(pointerOf(['scripts', script]));
    return [diagnostic('SW9017', place, { script, file: results })];
  });
}

/** The modules that a module of the project loads by relative paths and aliases. */
function loadedFiles(
  file: string,
  loader: LoaderSettings,
  isFile: (file: string) => boolean,
): readonly string[] {
  if (!existsSync(file)) return [];
  return loadedSpecifiers(readFileSync(file, 'utf8')).flatMap((specifier) => {
    const isRelative = /^\.{1,2}(?:\/|$)/.test(specifier);
    const paths = isRelative
      ? [path.resolve(path.dirname(file), specifier)]
      : aliasedPaths(specifier, loader);
    return paths.flatMap((each) => [...moduleCandidates(each), each]).find(isFile) ?? [];
  });
}

/** The TypeScript files that a command line has Node.js run without a loader. */
export function filesOfPlainNode(commandLine: string): readonly string[] {
  return commandLine.split(/&&|\|\|?|[;&\n]/).flatMap((command) => {
    const words = command.trim().split(/\s+/);
    const start = words.findIndex((word) => !/^(?:\w+=.*|cross-env|env|exec)$/.test(word));
    if (!/^(?:.*\/)?node$/.test(words[start] ?? '')) return [];
    const args = words.slice(start + 1).map((word) => word.replaceAll(/^['"]|['"]$/g, ''));
    const at = args.findIndex((word) => !word.startsWith('-') && /\.[cm]?ts$/.test(word));
    const file = args[at];
    const options = args.slice(0, at);
    if (
      file === undefined ||
      options.some((word) => /^(?:--(?:import|require|(?:experimental-)?loader)|-r)(?:=|$)/.test(word))
    )
      return [];
    return [file];
  });
}
