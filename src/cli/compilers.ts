import { createRequire } from 'node:module';

const COMPILERS = ['ts-morph', 'esbuild'];

/** The packages that read TypeScript and are not installed. */
export function missingCompilers(): readonly string[] {
  const { resolve } = createRequire(import.meta.url);
  return COMPILERS.filter((name) => {
    try {
      resolve(name);
      return false;
    } catch {
      return true;
    }
  });
}
