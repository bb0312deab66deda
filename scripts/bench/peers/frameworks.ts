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

/** The engines that are measured if they are installed, by the names of their modules here. */
export const FRAMEWORKS = { langgraph: '@langchain/langgraph', mastra: '@mastra/core' } as const;

/** The packages of {@link FRAMEWORKS} that are not installed. */
export function missingFrameworks(): string[] {
  return Object.values(FRAMEWORKS).filter((name) => !isInstalled(name));
}

/** The engines that are installed. */
export async function installedFrameworks(): Promise<Framework[]> {
  const found = Object.entries(FRAMEWORKS).filter(([, name]) => isInstalled(name));
  return Promise.all(found.map(([module]) => load(module)));
}

/** Imports dynamically, so that missing packages are needed nowhere else. */
function load(module: string): Promise<Framework> {
  return import(/* @vite-ignore */ new URL(`./${module}.js`, import.meta.url).href);
}

function isInstalled(name: string): boolean {
  return existsSync(fileURLToPath(new URL(`./node_modules/${name}/package.json`, import.meta.url)));
}
