import { existsSync, readdirSync } from 'node:fs';
import Module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The part of Yarn's `pnpapi` that this product uses. Folders are absolute and end with a separator. */
interface PnpApi {
  findPackageLocator(path: string): Locator | null;
  getPackageInformation(locator: Locator): PackageInformation;
  resolveToUnqualified(
    request: string,
    issuer: string,
    options: { considerBuiltins: boolean },
  ): string | null;
  /** The folder without the part that identifies its peer dependencies; null for one without such a part. */
  resolveVirtual?(path: string): string | null;
}

interface Locator {
  readonly name: string | null;
  readonly reference: string | null;
}

interface PackageInformation {
  readonly packageLocation: string;
  readonly packageDependencies: ReadonlyMap<string, unknown>;
}

/** Yarn adds it to Node's `Module` in a process that runs with Plug'n'Play. */
interface PnpModule {
  readonly findPnpApi?: (path: string) => PnpApi | null;
}

/** The table of packages that Yarn writes in the root of a project, in the place of `node_modules`. */
const PNP_FILE = '.pnp.cjs';

const LOADER_FILE = '.pnp.loader.mjs';

/** Whether this process runs with Yarn's Plug'n'Play. */
export const isPlugAndPlay = (): boolean => process.versions.pnp !== undefined;

/** The table of packages for a folder, in the folder or above it. */
function pnpFileAbove(folder: string): string | undefined {
  const file = path.join(folder, PNP_FILE);
  if (existsSync(file)) return file;
  const above = path.dirname(folder);
  return above === folder ? undefined : pnpFileAbove(above);
}

/**
 * The table of packages of a project that this process cannot read, as it runs without Plug'n'Play; nothing where
 * packages are installed in `node_modules`.
 */
export function unreadPnpFile(folder: string): string | undefined {
  if (isPlugAndPlay() || hasPackages(path.join(folder, 'node_modules'))) return undefined;
  const file = path.join(folder, PNP_FILE);
  if (existsSync(file)) return file;
  const above = path.dirname(folder);
  return above === folder ? undefined : unreadPnpFile(above);
}

/** Tools keep caches in `node_modules` under Plug'n'Play as well. */
function hasPackages(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => !name.startsWith('.'));
}

/**
 * Node's arguments for a child that is to find packages as this process does; none without Plug'n'Play.
 *
 * @param folder - of the project.
 * @param nodeOptions - those of the child, which may have them already.
 */
export function pnpFlags(folder: string, nodeOptions = ''): readonly string[] {
  const file = isPlugAndPlay() ? pnpFileAbove(folder) : undefined;
  if (file === undefined || nodeOptions.includes(PNP_FILE)) return [];
  const loader = path.join(path.dirname(file), LOADER_FILE);
  const flags = ['--require', file];
  return existsSync(loader) ? [...flags, '--experimental-loader', pathToFileURL(loader).href] : flags;
}

/**
 * The folder that `node_modules/NAME` of a package would lead to, if its packages were linked there; nothing without
 * Plug'n'Play, for a folder without a package, and for a package that it does not depend on.
 *
 * @param owner - the folder of the package.
 */
export function linkedFolder(owner: string, name: string): string | undefined {
  const own = isPlugAndPlay() ? packageAt(owner) : undefined;
  if (own === undefined) return undefined;
  try {
    const issuer = owner.endsWith(path.sep) ? owner : owner + path.sep;
    const folder = own.api.resolveToUnqualified(name, issuer, { considerBuiltins: false });
    return folder === null ? undefined : realFolder(folder.replace(/[\\/]$/, ''));
  } catch {
    return undefined;
  }
}

/** The names of the packages that the package in a folder depends on; nothing for a folder without a package. */
export function linkedNames(owner: string): readonly string[] | undefined {
  const own = isPlugAndPlay() ? packageAt(owner) : undefined;
  return own && [...own.information.packageDependencies.keys()];
}

/**
 * The folder of a package of the project by a path of Yarn, which gives a package with peer dependencies a path for each
 * set of them. Packages that are installed keep that path, by which Yarn knows their peers.
 */
export function realFolder(folder: string): string {
  const real = apiFor(folder)?.resolveVirtual?.(folder) ?? folder;
  return real.split(path.sep).includes('node_modules') ? folder : real.replace(/[\\/]$/, '');
}

function packageAt(
  folder: string,
): { readonly api: PnpApi; readonly information: PackageInformation } | undefined {
  const api = apiFor(folder);
  const locator = api?.findPackageLocator(path.join(folder, path.sep));
  if (api === undefined || locator == null) return undefined;
  const information = api.getPackageInformation(locator);
  return path.relative(information.packageLocation, folder) === '' ? { api, information } : undefined;
}

function apiFor(folder: string): PnpApi | undefined {
  return (Module as PnpModule).findPnpApi?.(path.join(folder, path.sep)) ?? undefined;
}
