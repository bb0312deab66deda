import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { DataConverter } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import {
  isFromSource,
  packageFile,
  packageVersion,
  programFile,
  programFlags,
} from '../formats/own-files.js';
import { defined } from '../graph/defined.js';
import { StoreError } from '../runtime/runs/store/store-error.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import type { TemporalOptions } from './options.js';
import { loadSdk } from './sdk.js';

type Sdk = typeof import('@temporalio/worker');
type Config = Parameters<NonNullable<Parameters<Sdk['bundleWorkflowCode']>[0]['webpackConfigHook']>>[0];

type Bundle = NonNullable<WorkerOptions['workflowBundle']>;

/** What the interpreter is bundled for. Modules of `dataConverter` that convert values are a part of it. */
type BundleOptions = Pick<TemporalOptions, 'dataConverter'>;

/** The modules of Node that the interpreter imports; see `workflow/node-shims.ts`. */
const SHIMS: Readonly<Record<string, string>> = {
  'node:crypto': 'var globalThis.__stepwright.crypto',
  'node:module': 'var globalThis.__stepwright.module',
};

/** The interpreter that the build of this package has bundled, with the SDK that it had, compressed. */
const PACKAGED = 'dist/temporal/interpreter.js.gz';

const ENTRY = 'temporal/workflow/stepwright';

/**
 * The interpreter and all it imports as one script for the sandbox of workflows: that of `bundlePath`; else that of the package,
 * where it is of the installed SDK; else it is bundled by another process, which takes seconds.
 *
 * @throws StoreError for a `bundlePath` that cannot be read, or that another version has written; the reason of `stopped`.
 */
export async function interpreter(
  { bundlePath, dataConverter = {} }: BundleOptions & Pick<TemporalOptions, 'bundlePath'>,
  stopped: AbortSignal,
): Promise<Bundle> {
  const label = labelOf(dataConverter);
  const isOf = (code: string): boolean => code.includes(`${label}\n`);
  if (bundlePath !== undefined) {
    const code = await readFile(bundlePath, 'utf8').catch((error: unknown) => {
      throw new StoreError('bundle', bundlePath, thrownText(error), error);
    });
    if (isOf(code)) return { codePath: bundlePath };
    throw new StoreError('bundle', bundlePath, `it is not of ${label.slice(LINE.length)}`);
  }
  if (!isFromSource) {
    const code = gunzipSync(await readFile(packageFile(PACKAGED))).toString();
    if (isOf(code)) return { code };
  }
  return bundledApart(dataConverter, stopped);
}

/**
 * Writes the interpreter to a file, for the option `bundlePath`.
 *
 * @param options `dataConverter` is that of the store, where it names modules.
 */
export async function writeBundle(file: string, { dataConverter = {} }: BundleOptions = {}): Promise<void> {
  const sdk = await loadSdk('worker');
  const { payloadConverterPath, failureConverterPath } = dataConverter;
  const entry = programFile(ENTRY);
  const { code } = await sdk.bundleWorkflowCode({
    workflowsPath: entry,
    workflowInterceptorModules: [entry],
    preloadModules: [programFile('temporal/workflow/run-in-workflow')],
    logger: new sdk.DefaultLogger('ERROR'),
    webpackConfigHook: configure,
    ...defined({ payloadConverterPath, failureConverterPath }),
  });
  // Whatever follows the source map counts as a part of it.
  await writeFile(file, code.replace(/(?=\n\/\/# sourceMappingURL=[^\n]*\s*$)/, labelOf(dataConverter)));
}

const LINE = '\n// ';

/** What is before the source map of a bundle. The SDK expects its own version in it. */
function labelOf({ payloadConverterPath, failureConverterPath }: DataConverter): string {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as {
    version: string;
  };
  const isPlain = payloadConverterPath === undefined && failureConverterPath === undefined;
  const converters = isPlain ? '' : ', and converters of a program';
  return `${LINE}stepwright ${packageVersion()}, @temporalio/worker ${version}${converters}`;
}

/** Bundles in a process of its own: it takes all of a processor. */
async function bundledApart(
  { payloadConverterPath, failureConverterPath }: DataConverter,
  signal: AbortSignal,
): Promise<Bundle> {
  const options = { dataConverter: { payloadConverterPath, failureConverterPath } };
  const folder = await mkdtemp(join(tmpdir(), 'stepwright-interpreter-'));
  const file = join(folder, 'interpreter.js');
  const url = JSON.stringify(pathToFileURL(programFile('temporal/index')).href);
  const script = `import { writeBundle } from ${url}; await writeBundle(...JSON.parse(process.argv[1]));`;
  const args = [...programFlags(), '--input-type=module', '--eval', script, JSON.stringify([file, options])];
  try {
    await promisify(execFile)(process.execPath, args, { signal });
    return { code: await readFile(file, 'utf8') };
  } catch (error) {
    signal.throwIfAborted();
    throw new StoreError('bundle', programFile(ENTRY), thrownText(error), error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configure(config: Config): Config {
  const { externals = [], module = {} } = config;
  const { rules = [], parser } = module;
  return {
    ...config,
    mode: 'production',
    // Each worker reads it when it starts: lines are enough for stack traces.
    devtool: 'inline-nosources-cheap-module-source-map',
    optimization: { minimize: false },
    // What a store loads on demand is in the same file.
    module: {
      ...module,
      parser: { ...parser, javascript: { ...parser?.javascript, dynamicImportMode: 'eager' } },
      rules: rules.map(withModernTarget),
    },
    externals: [shim, ...(Array.isArray(externals) ? externals : [externals])],
  };
}

async function shim({ request = '' }: { readonly request?: string }): Promise<string | undefined> {
  return SHIMS[request];
}

type Rule = NonNullable<NonNullable<Config['module']>['rules']>[number];

/** The SDK lowers classes, private members included, for old versions of Node: they would be several times as slow. */
function withModernTarget(rule: Rule): Rule {
  if (typeof rule !== 'object' || rule === null || !('use' in rule)) return rule;
  const { use } = rule;
  if (typeof use !== 'object' || use === null || !('options' in use) || typeof use.options !== 'object')
    return rule;
  const { jsc } = use.options as { readonly jsc?: object };
  return jsc === undefined
    ? rule
    : { ...rule, use: { ...use, options: { ...use.options, jsc: { ...jsc, target: 'es2022' } } } };
}
