import { readFile, writeFile } from 'node:fs/promises';
import type { WorkflowBundle } from '@temporalio/worker';
import { packageVersion, programFile } from '../formats/own-files.js';
import { StoreError } from '../runtime/runs/store/store-error.js';
import { thrownText } from '../runtime/tools/exceptions.js';
import { loadSdk } from './sdk.js';

type Sdk = typeof import('@temporalio/worker');
type BundleOptions = Parameters<Sdk['bundleWorkflowCode']>[0];
type Config = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0];

/** The modules of Node that the interpreter imports; see `workflow/node-shims.ts`. */
const SHIMS: Readonly<Record<string, string>> = {
  'node:crypto': 'var globalThis.__stepwright.crypto',
  'node:module': 'var globalThis.__stepwright.module',
};

let bundled: Promise<WorkflowBundle> | undefined;

/** The interpreter and all it imports as one script for the sandbox of workflows, once for all workers of the process. */
export function bundleInterpreter(sdk: Sdk): Promise<WorkflowBundle> {
  bundled ??= bundle(sdk).catch((error: unknown) => {
    bundled = undefined;
    throw error;
  });
  return bundled;
}

/** Writes the interpreter to a file, for the option `bundlePath`. */
export async function writeBundle(file: string): Promise<void> {
  const { code } = await bundleInterpreter(await loadSdk('worker'));
  // Whatever follows the source map counts as a part of it.
  await writeFile(file, code.replace(/(?=\n\/\/# sourceMappingURL=[^\n]*\s*$)/, versionLine()));
}

/**
 * The interpreter in a file that {@link writeBundle} has written.
 *
 * @throws StoreError for a file that cannot be read, or that another version has written.
 */
export async function writtenBundle(codePath: string): Promise<{ readonly codePath: string }> {
  const code = await readFile(codePath, 'utf8').catch((error: unknown) => {
    throw new StoreError('bundle', codePath, thrownText(error), error);
  });
  if (!code.includes(`${versionLine()}\n//# sourceMappingURL=`))
    throw new StoreError('bundle', codePath, `it is not of stepwright ${packageVersion()}`);
  return { codePath };
}

/** What is before the source map of a bundle. */
function versionLine(): string {
  return `\n// stepwright ${packageVersion()}`;
}

function bundle(sdk: Sdk): Promise<WorkflowBundle> {
  const entry = programFile('temporal/workflow/stepwright');
  return sdk.bundleWorkflowCode({
    workflowsPath: entry,
    workflowInterceptorModules: [entry],
    preloadModules: [programFile('temporal/workflow/run-in-workflow')],
    logger: new sdk.DefaultLogger('ERROR'),
    webpackConfigHook: configure,
  });
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
