import path from 'node:path';
import { isPlugAndPlay, linkedFolder, linkedNames, realFolder } from '../../formats/plug-n-play.js';

/** The parts of the compiler's file system through which it finds packages. */
interface PackageSystem {
  readFile(file: string, encoding?: string): string | undefined;
  fileExists(file: string): boolean;
  directoryExists(folder: string): boolean;
  getDirectories(folder: string): string[];
  realpath?(path: string): string;
}

/**
 * A file system in which every package has a `node_modules` with links to those that it depends on, as the compiler
 * expects it. Without Yarn's Plug'n'Play it is the one that is given.
 */
export function withLinkedPackages<System extends PackageSystem>(system: System): System {
  if (!isPlugAndPlay()) return system;
  const links = new Map<string, string | undefined>();
  const linkOf = (owner: string, name: string): string | undefined => {
    const key = `${owner}\0${name}`;
    if (!links.has(key)) links.set(key, linkedFolder(owner, name));
    return links.get(key);
  };
  /** The path without its last link. */
  const follow = (file: string): string => {
    const { owner, name, inside } = linkIn(file) ?? {};
    const folder = owner === undefined || name === undefined ? undefined : linkOf(owner, name);
    return folder === undefined ? file : toCompiler(folder) + inside;
  };
  return {
    ...system,
    readFile: (file: string, encoding?: string) => system.readFile(follow(file), encoding),
    fileExists: (file: string) => system.fileExists(follow(file)),
    directoryExists: (folder: string) => system.directoryExists(follow(folder)) || linksIn(folder).length > 0,
    getDirectories: (folder: string) => {
      const names = linksIn(folder);
      return names.length > 0 ? names : system.getDirectories(follow(folder));
    },
    realpath: (file: string) => {
      const followed = follow(file);
      return toCompiler(realFolder(system.realpath?.(followed) ?? followed));
    },
  };
}

/** Splits `OWNER/node_modules/NAME/inside` at the last such folder. */
function linkIn(
  file: string,
): { readonly owner: string; readonly name: string; readonly inside: string } | undefined {
  const [, owner, name, inside = ''] =
    /^(.*)\/node_modules\/((?:@[^/]+\/)?[^@/][^/]*)(\/.*)?$/.exec(file) ?? [];
  return owner === undefined || name === undefined ? undefined : { owner, name, inside };
}

/** What `node_modules`, or a folder of a scope in it, would list. */
function linksIn(folder: string): string[] {
  const [, owner, scope] = /^(.*)\/node_modules(?:\/(@[^/]+))?\/?$/.exec(folder) ?? [];
  const names = owner === undefined ? undefined : linkedNames(owner);
  if (names === undefined) return [];
  if (scope === undefined) return [...names];
  return names.filter((name) => name.startsWith(`${scope}/`)).map((name) => name.slice(scope.length + 1));
}

const toCompiler = (file: string): string => file.split(path.sep).join('/');
