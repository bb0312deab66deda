// Builds the package: `node scripts/build.mjs [folder [module…]]`, by default into `dist`. The compiler writes the
// declarations, one for each module. The JavaScript is bundled: each file that a server loads delays its start. Further
// modules are entries of the bundle as well; `sources.json` then lists the modules of each file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build as bundle, transform } from 'esbuild';
import { build, normalizePath } from 'vite';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'src');
const [folder = join(ROOT, 'dist'), ...innerModules] = process.argv.slice(2);
const outDir = resolve(folder);

const { name, exports, bundled, dependencies, peerDependencies, tools } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

/** The packages that its files may load. `tools` are for development: npm keeps peers where it leaves such packages out. */
const PACKAGES = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies, ...tools })]);

/** Packages that are many times as large as what is used of them, with what they import. */
const BUNDLED = new Set([...bundled, '@dagrejs/graphlib', 'fdir', 'picomatch', 'readdirp', 'xmlchars']);

/** The modules that are loaded by path. Each is a file at the place it has in the sources. */
const ENTRIES = [
  ...Object.values(exports).flatMap((entry) => entry['@stepwright/source'] ?? []),
  './src/cli/main.ts',
  './src/cli/commands/dev-server.ts',
  './src/codegen/schemas/child.ts',
  './src/codegen/schemas/loader/hooks.ts',
  './src/eslint/worker.ts',
  './src/formats/untrusted/child.ts',
  ...innerModules,
].map((file) => normalizePath(resolve(ROOT, file)));

const nameOf = (file) => normalizePath(relative(SOURCES, file)).replace(/\.ts$/, '');

/** What a server imports, and what both versions of the protocol load with the first request. */
const SERVER = ['index', 'runtime/index', 'runtime/transports/answer-request'];

/** What a server loads with its first run. */
const RUNS = [
  'runtime/server/requests/prompt-run',
  'runtime/server/composite/workflow-calls',
  'runtime/engine/snapshot',
];

/**
 * What a server loads, in as few files as the other entries allow: each layer is what the entries named here share with
 * a server, without the layers before it. What no server loads is split by use.
 */
const LAYERS = {
  authoring: ['index', 'codegen/schemas/child'],
  tools: ['testing/upstream', 'runtime/tools/tool-context'],
  graph: ['formats/index'],
  builder: ['formats/builder/index', 'codegen/index'],
  server: ['runtime/index', 'runtime/transports/answer-request'],
  runs: RUNS,
};

/** What a run of codegen that changes nothing loads, and no server. */
const UNCHANGED = ['codegen/incremental/run-record'];

const moduleOf = (name) => normalizePath(join(SOURCES, `${name}.ts`));

/** The modules that are loaded with some entries. */
function reach(entries, graph) {
  const reached = new Set(entries);
  for (const id of reached) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) reached.add(next);
  return reached;
}

/**
 * A chunk of the modules that some entries load and that a server loads as well, or that none does. Where others are
 * named, only of those that they load too.
 */
function chunk(name, entries, isServed, priority, others = entries) {
  let shared;
  let served;
  let common;
  return {
    debugName: name,
    priority,
    name(id, graph) {
      if (ENTRIES.includes(id)) return null;
      shared ??= reach(entries.map(moduleOf), graph);
      served ??= reach([...SERVER, ...RUNS].map(moduleOf), graph);
      common ??= reach(others.map(moduleOf), graph);
      return shared.has(id) && common.has(id) && served.has(id) === isServed ? name : null;
    },
  };
}

const POLYFILL = "import 'reflect-metadata/lite';\n";

/** Removes the declarations that no import of a user reaches. */
async function removeInnerDeclarations() {
  const reached = new Set(
    Object.values(exports).flatMap(({ types }) => (types ? [join(outDir, relative('dist', types))] : [])),
  );
  for (const file of reached)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /(?:from|import)[\s(]*['"](\.[^'"]+)\.js['"]/g,
    ))
      reached.add(join(dirname(file), `${path}.d.ts`));
  const all = readdirSync(outDir, { recursive: true }).filter((file) => file.endsWith('.d.ts'));
  const inner = all.map((file) => join(outDir, file)).filter((file) => !reached.has(file));
  await Promise.all(inner.map((file) => rm(file)));
  // It is part of the files, and users have no types of it.
  const withPolyfill = [...reached].filter((file) => readFileSync(file, 'utf8').includes(POLYFILL));
  await Promise.all(
    withPolyfill.map((file) => writeFile(file, readFileSync(file, 'utf8').replace(POLYFILL, ''))),
  );
}

async function writeDeclarations() {
  const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const args = [tsc, '--checkers', '1', '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', outDir];
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close');
  if (code !== 0) throw new Error(`The compiler ended with exit code ${code}`);
  await removeInnerDeclarations();
}

/**
 * Names stay, and lines are short: stack traces say where an error comes from. ASCII alone, since V8 keeps a file in two
 * bytes for each character, and reads it slower, as soon as it has one beyond Latin-1.
 */
const SHORT = {
  target: 'es2022',
  charset: 'ascii',
  legalComments: 'none',
  minifyWhitespace: true,
  lineLimit: 200,
};

const shorten = {
  name: 'shorten',
  async generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk');
    await Promise.all(
      chunks.map(async (chunk) => {
        chunk.code = (await transform(chunk.code, { format: 'esm', ...SHORT })).code;
      }),
    );
  },
};

/** Lists the modules of each file, from the repository's root, for tests. */
const sourceList = {
  name: 'source-list',
  generateBundle(_options, bundle) {
    if (innerModules.length === 0) return;
    const modulesOf = ({ modules }) =>
      Object.entries(modules).flatMap(([id, { code }]) =>
        isAbsolute(id) && code ? [normalizePath(relative(ROOT, id))] : [],
      );
    const files = Object.values(bundle).flatMap((file) =>
      file.type === 'chunk' ? [[file.fileName, modulesOf(file)]] : [],
    );
    this.emitFile({
      type: 'asset',
      fileName: 'sources.json',
      source: JSON.stringify(Object.fromEntries(files)),
    });
  },
};

/** Writes the licences of the packages that are part of the files. Those that packages leave out are beside this script. */
async function writeLicences(names) {
  const texts = names.map((name) => {
    const folder = join(ROOT, 'node_modules', name);
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const path = file === undefined ? join(ROOT, `scripts/licences/${name}.txt`) : join(folder, file);
    const text = readFileSync(path, 'utf8').trim();
    return `${name}\n\n${text}\n`;
  });
  await writeFile(join(outDir, 'LICENSES.txt'), texts.join('\n\n'));
}

const COMPILER = 'ts-morph';

/** `import` searches the text of a CommonJS module for the names it exports: 0.25 s of CPU time for the compiler. */
const requireCompiler = {
  name: 'require-compiler',
  enforce: 'pre',
  resolveId: (id) => (id === COMPILER ? `\0${COMPILER}` : null),
  load: (id) =>
    id === `\0${COMPILER}`
      ? `import { createRequire } from 'node:module';
export const { Project, ts } = createRequire(import.meta.url)('${COMPILER}');`
      : null,
};

/** The name in `imports` of the manifest of what the first pattern loads at once, for which it cannot wait. */
const PATTERNS = '#re2js';

/** Writes what {@link PATTERNS} names as a file of its own, which all that use it share. */
async function writePatterns() {
  const outfile = join(outDir, 're2js.cjs');
  const input = { contents: "export { RE2JS } from 're2js';", resolveDir: ROOT };
  await bundle({ stdin: input, outfile, bundle: true, platform: 'node', format: 'cjs', ...SHORT });
}

/** A helper that the bundler adds is in a package that users have not got. */
function isExternal(id) {
  if (id === COMPILER || /^[.\0]/.test(id) || isAbsolute(id)) return false;
  if (id === PATTERNS) return true;
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(id) ?? [];
  if (BUNDLED.has(name)) return false;
  if (!PACKAGES.has(name) && !isBuiltin(id) && !/^\w+:/.test(id))
    throw new Error(`The package does not depend on '${id}'`);
  return true;
}

/** @param entries absolute paths by the names of their files. */
function writeFiles(entries, { plugins = [], output, alias = {} }) {
  return build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [requireCompiler],
    resolve: { alias },
    ssr: { noExternal: [...BUNDLED] },
    build: {
      ssr: true,
      target: 'es2022',
      minify: false,
      // Maps would name sources that the package does not have.
      sourcemap: false,
      outDir,
      emptyOutDir: false,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((file) => [nameOf(file), file])),
        plugins: [shorten, ...plugins],
        external: (id) => !Object.hasOwn(alias, id) && isExternal(id),
        // The documentation is in the declarations.
        output: { entryFileNames: '[name].js', comments: { jsdoc: false }, ...output },
      },
    },
  });
}

function writeBundle() {
  return writeFiles(ENTRIES, {
    plugins: [sourceList],
    output: {
      chunkFileNames: 'chunks/[name].js',
      codeSplitting: {
        groups: [
          ...Object.entries(LAYERS).map(([name, entries], index, { length }) =>
            chunk(name, entries, true, length - index + 1),
          ),
          chunk('own-files', UNCHANGED, false, 1, LAYERS.graph),
          chunk('unchanged', UNCHANGED, false, 0),
        ],
      },
    },
  });
}

/**
 * The modules of the interpreter, for the sandbox of a worker of Temporal, which is without Node: those of a server need it. A
 * worker bundles them where its SDK is another than the one of `writeScript`.
 */
function writeInterpreter() {
  const inWorkflow = (name) => moduleOf(`temporal/workflow/${name}`);
  const shims = inWorkflow('node-shims');
  return writeFiles([inWorkflow('stepwright'), inWorkflow('run-in-workflow')], {
    output: { chunkFileNames: 'temporal/workflow/[name].js' },
    alias: { 'node:crypto': shims, 'node:module': shims, re2js: PATTERNS },
  });
}

const MAP = '\n//# sourceMappingURL=data:application/json;base64,';

/**
 * Bundles the interpreter for the SDK that is installed here, without comments, and compresses it. The map that the SDK
 * requires would name modules that users have not got: it has the lines of the file itself.
 *
 * @returns the packages that are part of it.
 */
async function writeScript() {
  const file = join(outDir, 'temporal/interpreter.js');
  const entry = pathToFileURL(join(outDir, 'temporal/index.js')).href;
  await (await import(entry)).writeBundle(file);
  const text = await readFile(file, 'utf8');
  const [, code, label, map] = /^(.*)(\n\/\/ stepwright [^\n]+)\n\/\/# \S+?base64,(\S+)\s*$/s.exec(text);
  const lines = (await transform(code, SHORT)).code.trimEnd();
  const mappings = `AAAA${';AACA'.repeat(lines.split('\n').length - 1)}`;
  const own = { version: 3, file: 'interpreter.js', sources: ['interpreter.js'], names: [], mappings };
  const ownMap = Buffer.from(JSON.stringify(own)).toString('base64');
  await rm(file);
  await writeFile(`${file}.gz`, gzipSync(`${lines}${label}${MAP}${ownMap}`, { level: 9 }));
  const { sources } = JSON.parse(Buffer.from(map, 'base64').toString('utf8'));
  const names = sources.flatMap(
    (source) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? [],
  );
  return [...new Set(names)].filter((each) => each !== name && each !== 'webpack');
}

await rm(outDir, { recursive: true, force: true });
const [packages] = await Promise.all([
  Promise.all([writeBundle().then(writeInterpreter), writePatterns()]).then(writeScript),
  writeDeclarations(),
]);
await writeLicences([...BUNDLED, ...packages]);
