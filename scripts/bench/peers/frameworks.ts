import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A workflow engine that is installed on request: `npm run bench:peers`. */
export interface Framework {
  readonly name: string;
  /** `line` in its terms. The returned function runs it once. */
  line(count: number): () => Promise<number>;
  /** `loop` in its terms. The returned function runs it once. */
  loop(concurrency: number): (items: readonly number[]) => Promise<readonly number[]>;
}

/** A workflow engine that keeps its runs, installed on request as well. */
export interface DurableFramework {
  readonly name: string;
  /** The process beside this one that keeps the runs. Absent if this one does. */
  readonly server?: string;
  /** Why it cannot be measured here, though it is installed. */
  obstacle?(): string | undefined;
  /** Opens a store in a new file, if it keeps runs in files. `run` runs a `line` of so many steps once. */
  open(file: string, count: number): Promise<{ run(): Promise<number>; close(): Promise<void> }>;
}

/** The engines that are measured if they are installed, by the names of their modules here. */
export const FRAMEWORKS = { langgraph: '@langchain/langgraph', mastra: '@mastra/core' } as const;

/** The same for engines that keep their runs. */
export const DURABLE_FRAMEWORKS = {
  'langgraph-sqlite': '@langchain/langgraph-checkpoint-sqlite',
  'mastra-libsql': '@mastra/libsql',
  dbos: '@dbos-inc/dbos-sdk',
} as const;

const NOT_INSTALLED = 'not installed; npm run bench:peers installs it';

/** The packages of {@link FRAMEWORKS} that are not installed, with that reason. */
export function missingFrameworks(): string[] {
  return Object.values(FRAMEWORKS)
    .filter((name) => !isInstalled(name))
    .map((name) => `${name}: ${NOT_INSTALLED}`);
}

/** The engines that are installed. */
export async function installedFrameworks(): Promise<Framework[]> {
  const found = Object.entries(FRAMEWORKS).filter(([, name]) => isInstalled(name));
  return Promise.all(found.map(([module]) => load<Framework>(module)));
}

/** The engines of {@link DURABLE_FRAMEWORKS} that can be measured, and the packages of the others with the reasons. */
export async function durableFrameworks(): Promise<{
  readonly found: readonly DurableFramework[];
  readonly missing: readonly string[];
}> {
  const found: DurableFramework[] = [];
  const missing: string[] = [];
  for (const [module, name] of Object.entries(DURABLE_FRAMEWORKS)) {
    const framework = isInstalled(name) ? await load<DurableFramework>(module) : undefined;
    const reason = framework === undefined ? NOT_INSTALLED : framework.obstacle?.();
    if (framework === undefined || reason !== undefined) missing.push(`${name}: ${reason}`);
    else found.push(framework);
  }
  return { found, missing };
}

/** Imports dynamically, so that missing packages are needed nowhere else. */
function load<Module>(module: string): Promise<Module> {
  return import(/* @vite-ignore */ new URL(`./${module}.js`, import.meta.url).href);
}

function isInstalled(name: string): boolean {
  return existsSync(fileURLToPath(new URL(`./node_modules/${name}/package.json`, import.meta.url)));
}
