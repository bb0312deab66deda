import { createRequire } from 'node:module';

/** Path of the compiler inside ts-morph: always there and always of a version with a JavaScript API. */
export function bundledCompiler(): string {
  const fromHere = createRequire(import.meta.url);
  return createRequire(fromHere.resolve('ts-morph')).resolve('@ts-morph/common/dist/typescript.js');
}
