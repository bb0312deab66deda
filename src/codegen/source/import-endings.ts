import { posix } from 'node:path';
import type { ImportEnding } from '../syntax.js';
import { ts } from './typescript.mjs';

/** Files that all endings lead to: for `.mts` and `.cts` there are only two. */
const ANY_ENDING = /(?<!\.d)\.tsx?$/;

/** How a relative import names a file; nothing for an import that says nothing of others. */
export function endingOf(specifier: ts.Expression, file: string): readonly ImportEnding[] {
  if (!ts.isStringLiteral(specifier) || !/^\.{1,2}(?:\/|$)/.test(specifier.text)) return [];
  if (!ANY_ENDING.test(file)) return [];
  const named = posix.basename(specifier.text);
  if (named === posix.basename(file)) return ['ts'];
  const stem = posix.basename(file).replace(ANY_ENDING, '');
  return [named === `${stem}.js` || named === `${stem}.jsx` ? 'js' : 'none'];
}

/**
 * The ending of most imports, among those that the compiler allows. Where there is no such import, or none that is the
 * most frequent: the first of `.ts`, none and `.js` that is allowed.
 */
export function commonEnding(options: ts.CompilerOptions, endings: readonly ImportEnding[]): ImportEnding {
  const allowed: readonly ImportEnding[] = [
    ...(importsTypeScript(options) ? (['ts'] as const) : []),
    ...(isWrittenForNode(options) ? [] : (['none'] as const)),
    'js',
  ];
  const count = (ending: ImportEnding): number => endings.filter((each) => each === ending).length;
  // The order of equals stays.
  return [...allowed].sort((a, b) => count(b) - count(a))[0] as ImportEnding;
}

function importsTypeScript(options: ts.CompilerOptions): boolean {
  return options.allowImportingTsExtensions === true || options.rewriteRelativeImportExtensions === true;
}

/** Whether modules are looked for as Node.js does it, whose imports always have an ending. */
function isWrittenForNode({ module, moduleResolution }: ts.CompilerOptions): boolean {
  if (moduleResolution !== undefined)
    return (
      moduleResolution === ts.ModuleResolutionKind.Node16 ||
      moduleResolution === ts.ModuleResolutionKind.NodeNext
    );
  return module !== undefined && module >= ts.ModuleKind.Node16 && module <= ts.ModuleKind.NodeNext;
}
