import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, extname, join, parse } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundledCompiler } from './cache/closure.js';

/** What decides how the child compiles the author's modules. */
export interface LaunchOptions {
  /** Absolute path of the project; the child's working directory. */
  readonly root: string;
  /** The author's decorator flag: legacy decorators when true, TC39 ones otherwise. */
  readonly experimentalDecorators: boolean;
}

/** What the child runs under, beside the files. */
export interface ChildConditions {
  /** Node's arguments that decide which modules are found. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The conditions of a child that is started now. */
export function childConditions({ root, experimentalDecorators }: LaunchOptions): ChildConditions {
  return {
    flags: nodeFlags(process.execArgv),
    env: childEnvironment(process.env, root, experimentalDecorators),
  };
}

/** The modules of ours that decide what a child reads, as absolute paths: the one it runs, and this one. */
export function ownEntries(): readonly string[] {
  return [childEntry(), fileURLToPath(import.meta.url)];
}

/**
 * Starts the process that imports tool and resource modules: away from ours, so that a module may throw, exit, hang
 * or print without touching codegen. Its output goes to our stderr, since stdout may carry a protocol.
 *
 * @param memoryMb - what it may use, in MiB.
 */
export function launchChild(options: LaunchOptions, memoryMb: number): ChildProcess {
  const { flags, env } = childConditions(options);
  return spawn(
    process.execPath,
    [
      ...flags,
      '--enable-source-maps',
      '--disable-warning=DEP0180',
      `--max-old-space-size=${heapLimitMb(memoryMb)}`,
      '--import',
      registerHooks(),
      childEntry(),
    ],
    {
      cwd: options.root,
      env,
      // The last one is the watchdog's.
      stdio: ['ignore', process.stderr.fd, process.stderr.fd, 'ipc', 'pipe'],
    },
  );
}

/** The limit that Node sets to the heap, for what grows faster than the watchdog looks at the memory of the process. */
export function heapLimitMb(memoryMb: number): number {
  return memoryMb * 2;
}

/** From source the child is TypeScript like the rest of us, and the package's own name resolves to source too. */
const suffix = extname(fileURLToPath(import.meta.url));

function childEntry(): string {
  return join(dirname(fileURLToPath(import.meta.url)), `child${suffix}`);
}

/** The conditions this process resolves packages by, so that the child meets the same modules. */
export function nodeFlags(execArgv: readonly string[]): string[] {
  const flags: string[] = suffix === '.ts' ? ['--conditions=@stepwright/source'] : [];
  execArgv.forEach((argument, i) => {
    if (argument.startsWith('--conditions=')) flags.push(argument);
    const next = execArgv[i + 1];
    if ((argument === '-C' || argument === '--conditions') && next !== undefined)
      flags.push(`--conditions=${next}`);
  });
  // Node's own type stripping would take `.ts` files before the loader does, and knows no decorators.
  if (Reflect.get(process.features, 'typescript')) flags.push('--no-experimental-strip-types');
  return [...new Set(flags)];
}

/** Registers ts-node's hooks from a data URL: no file of ours has to exist in two forms. */
function registerHooks(): string {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('ts-node/esm')).href;
  const source = `import { register } from 'node:module'; register(${JSON.stringify(loader)});`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  root: string,
  experimentalDecorators: boolean,
): NodeJS.ProcessEnv {
  const own = Object.entries(inherited).filter(([name]) => !name.startsWith('TS_NODE_'));
  return {
    ...Object.fromEntries(own),
    STEPWRIGHT_CODEGEN: '1',
    TS_NODE_TRANSPILE_ONLY: 'true',
    // The author's tsconfig may need a compiler other than ours; only its decorator flag changes what a module means.
    TS_NODE_SKIP_PROJECT: 'true',
    TS_NODE_COMPILER: bundledCompiler(),
    TS_NODE_COMPILER_OPTIONS: JSON.stringify({
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      target: 'ES2022',
      rootDir: parse(root).root,
      experimentalDecorators,
      emitDecoratorMetadata: false,
      useDefineForClassFields: true,
      verbatimModuleSyntax: false,
      esModuleInterop: true,
      strict: false,
      types: [],
    }),
  };
}
