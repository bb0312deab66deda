import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildContext, Loader, OnLoadResult, Plugin } from 'esbuild';
import { compilerFile } from '../../../formats/own-files.js';
import { States } from '../../incremental/inputs.js';
import { isCommonJs, type LoaderSettings, manifestOf, transformOptions, writtenFor } from './compile.js';

/** Modules of a project in as few files as possible. */
export interface Bundle {
  /** Absolute. */
  readonly folder: string;
  /** The file of each module that was asked for, by its source; both absolute. */
  readonly files: Readonly<Record<string, string>>;
  /** A module that loads the packages that the bundle loads at once. Absolute. */
  readonly packages: string;
  /** The states of its modules, and of their folders, by absolute paths; see `States`. */
  readonly states: ReadonlyMap<string, string>;
}

/**
 * Bundles the ES modules of a project's package, and again where one has changed. To load a bundle takes a tenth of the
 * time of its modules, each of which waits for the loader's hooks several times.
 *
 * Installed packages, CommonJS and modules of other packages stay outside: a bundle loads them as the modules would.
 */
export class Bundler {
  readonly #folder: string;
  readonly #modules: readonly string[];
  readonly #context: Promise<BuildContext<{ write: false; metafile: true }>>;
  readonly #textOf: (module: string) => string | undefined;
  readonly #states = new States();
  readonly #sources = new Map<string, string>();
  #builds = 0;
  #last: Bundle | undefined;

  /**
   * @param folder - absolute; bundles are written into folders in it. Packages are looked for from there.
   * @param modules - absolute paths.
   * @param textOf - the text of a module that has no file.
   */
  constructor(
    folder: string,
    modules: readonly string[],
    settings: LoaderSettings,
    textOf: (module: string) => string | undefined = () => undefined,
  ) {
    this.#folder = folder;
    this.#modules = modules;
    this.#textOf = textOf;
    const { context } = createRequire(import.meta.url)(compilerFile('esbuild')) as typeof import('esbuild');
    const { loader: _, sourcefile: __, tsconfigRaw, ...options } = transformOptions('', 'esm', settings);
    const { paths, conditions = [] } = settings;
    const [first = ''] = modules;
    this.#context = context({
      ...options,
      entryPoints: Object.fromEntries(modules.map((module, index) => [`module${index}`, module])),
      outdir: path.join(folder, '0'),
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      packages: 'external',
      conditions: [...conditions],
      tsconfigRaw: {
        compilerOptions: {
          ...tsconfigRaw.compilerOptions,
          ...(paths && { paths: writable(paths) }),
        },
      },
      plugins: [
        entryPoints(modules),
        modulesOf(manifestOf(first), settings, textOf, (file) => this.#see(file)),
      ],
      write: false,
      metafile: true,
    });
  }

  /**
   * @returns the last bundle while no module in it is different.
   * @throws Error with the reason where the modules cannot be bundled.
   */
  async build(): Promise<Bundle> {
    const last = this.#last;
    if (last !== undefined && this.#areCurrent(last.states)) return last;
    this.#last = undefined;
    this.#sources.clear();
    this.#builds += 1;
    const folder = path.join(this.#folder, String(this.#builds));
    mkdirSync(folder, { recursive: true });
    const { outputFiles, metafile } = await (await this.#context).rebuild();
    for (const file of outputFiles) this.#write(path.basename(file.path), file.contents);
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
    const external = imports.filter((each) => each.external && each.kind === 'import-statement');
    const names = new Set(external.map((each) => each.path).filter((name) => !name.startsWith('file:')));
    // A package that cannot be loaded is reported where it is used.
    const packages = this.#write(
      'packages.mjs',
      `await Promise.allSettled(${JSON.stringify([...names])}.map((name) => import(name)));\n`,
    );
    const files = this.#modules.map((module, index) => [module, path.join(folder, `module${index}.mjs`)]);
    for (const input of Object.keys(metafile.inputs)) this.#see(path.resolve(input));
    // A new file may be found before one that is in the bundle.
    for (const file of [...this.#sources.keys()]) this.#see(path.dirname(file));
    this.#last = { folder, files: Object.fromEntries(files), packages, states: new Map(this.#sources) };
    return this.#last;
  }

  /** Records the state of a file before it is read. */
  #see(file: string): void {
    if (!this.#sources.has(file)) this.#sources.set(file, this.#stateOf(file));
  }

  #areCurrent(states: ReadonlyMap<string, string>): boolean {
    return [...states].every(([file, state]) => this.#stateOf(file) === state);
  }

  #stateOf(file: string): string {
    return this.#textOf(file) ?? this.#states.of(file);
  }

  /** @returns where the file of the bundle is. Absolute. */
  #write(name: string, content: string | Uint8Array): string {
    const file = path.join(this.#folder, String(this.#builds), name);
    writeFileSync(file, content);
    return file;
  }

  /** Its bundles stay. */
  async dispose(): Promise<void> {
    await (await this.#context).dispose();
  }
}

function writable(paths: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(paths).map(([pattern, targets]) => [pattern, [...targets]]));
}

/** Whether a module is loaded by its path in a bundle as it would be alone. */
export function canBundle(module: string): boolean {
  return /\.m?tsx?$/.test(module) && !isCommonJs(module);
}

const SOURCE = /\.[cm]?[jt]sx?$/;

/** What has the value of its own file in a bundle. */
const OWN_PLACE = /\bimport\s*\.\s*meta\b/;

/** An import of a module that only a run knows. */
const COMPUTED_IMPORT = /\bimport\s*\(\s*(?!(['"])[^'"\n]*\1\s*[,)])|\bimport\s*\.\s*meta\s*\.\s*resolve\b/;

/** Modules that are bundled whether they have files or not. */
function entryPoints(modules: readonly string[]): Plugin {
  const filter = new RegExp(`^(?:${modules.map(escaped).join('|')})$`);
  return {
    name: 'entry points',
    setup: (build) => build.onResolve({ filter }, ({ path: file }) => ({ path: file })),
  };
}

/** @param manifest - the `package.json` of the modules to bundle. */
function modulesOf(
  manifest: string | undefined,
  settings: LoaderSettings,
  textOf: (module: string) => string | undefined,
  onRead: (file: string) => void,
): Plugin {
  return {
    name: 'modules',
    setup(build) {
      const manifests = new Map<string, string | undefined>();
      const manifestIn = (folder: string): string | undefined => {
        if (!manifests.has(folder)) manifests.set(folder, manifestOf(path.join(folder, 'file')));
        return manifests.get(folder);
      };
      build.onStart(() => manifests.clear());
      const own = packageName(manifest);
      if (own !== undefined)
        build.onResolve({ filter: new RegExp(`^${escaped(own)}(?:/|$)`) }, ({ path: name, importer }) => ({
          errors: [{ text: `${importer} imports \`${name}\`, its own package, by name` }],
        }));
      build.onLoad({ filter: SOURCE }, async ({ path: file }): Promise<OnLoadResult> => {
        const source = /\.[cm]?jsx?$/.test(file) ? writtenFor(file, () => {}) : undefined;
        if (source !== undefined)
          return { contents: allOf(source), loader: 'js', resolveDir: path.dirname(file) };
        if (manifestIn(path.dirname(file)) !== manifest || /\.c[jt]s$/.test(file))
          return { contents: allOf(pathToFileURL(file).href), loader: 'js' };
        onRead(file);
        const text = textOf(file) ?? readFileSync(file, 'utf8');
        if (COMPUTED_IMPORT.test(text))
          return { errors: [{ text: `${file} imports a module by a computed name` }] };
        if (!OWN_PLACE.test(text)) return { contents: text, loader: loaderOf(file) };
        const options = { ...transformOptions(file, 'esm', settings), loader: loaderOf(file) };
        const { code } = await build.esbuild.transform(text, { ...options, define: ownPlace(file) });
        return { contents: code, loader: 'js' };
      });
      build.onResolve({ filter: /^file:/ }, ({ path: name }) => ({ path: name, external: true }));
    },
  };
}

function ownPlace(file: string): Record<string, string> {
  const text = JSON.stringify;
  return {
    'import.meta.url': text(pathToFileURL(file).href),
    'import.meta.filename': text(file),
    'import.meta.dirname': text(path.dirname(file)),
  };
}

/** A module with all exports of another. */
function allOf(module: string): string {
  const name = JSON.stringify(module);
  return `import * as all from ${name};\nexport * from ${name};\nexport default all.default;\n`;
}

function loaderOf(file: string): Loader {
  return path.extname(file).replace(/^\.[cm]?/, '') as Loader;
}

function packageName(manifest: string | undefined): string | undefined {
  if (manifest === undefined) return undefined;
  const { name } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly name?: unknown };
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function escaped(text: string): string {
  return text.replace(/[^\w@/-]/g, '\\$&');
}
