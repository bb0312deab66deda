import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import * as stepwright from 'stepwright';
import ts from 'typescript';

export type Decorators = 'legacy' | 'tc39';

const require = createRequire(import.meta.url);

/** Runs a TypeScript source as TypeScript emits it with either kind of decorators, and returns its exports. */
export function load(
  source: string,
  decorators: Decorators,
  folder = import.meta.dirname,
): Record<string, unknown> {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      experimentalDecorators: decorators === 'legacy',
    },
  });
  const exports: Record<string, unknown> = {};
  const resolveImport = (specifier: string): unknown => {
    if (specifier === 'stepwright') return stepwright;
    return specifier.startsWith('.') ? loadFile(resolve(folder, specifier), decorators) : require(specifier);
  };
  compileFunction(outputText, ['exports', 'require'])(exports, resolveImport);
  return exports;
}

/** As {@link load}, for a file that is imported under its name in JavaScript. */
export function loadFile(path: string, decorators: Decorators): Record<string, unknown> {
  return load(readFileSync(path.replace(/\.js$/, '.ts'), 'utf8'), decorators, dirname(path));
}
