import path from 'node:path';
import type { PartialMessage, Plugin } from 'esbuild';
import type { CodegenResult } from '../codegen/codegen.js';
import type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../graph/source-location.js';
import { type PluginOptions, runForBundler } from './codegen-plugin.js';

export type { PluginOptions } from './codegen-plugin.js';

/** Marks an entry point that is resolved by the other plugins. */
const RESOLVING = Symbol('resolving');

/**
 * Runs codegen in esbuild, at the start of each build, before a module is resolved; its errors fail the build. In watch
 * mode a change of any file that codegen has read starts a build. The root is the working directory of the build unless
 * the options name another.
 *
 * @example
 * ```ts
 * await build({ entryPoints: ['src/main.ts'], bundle: true, plugins: [stepwright()] });
 * ```
 */
export function stepwright(options: PluginOptions = {}): Plugin {
  return {
    name: 'stepwright',
    setup(build) {
      const defaultRoot = build.initialOptions.absWorkingDir ?? process.cwd();
      let watchFiles: readonly string[] = [];
      build.onStart(async () => {
        const { result, files } = await runForBundler(options, defaultRoot);
        watchFiles = files;
        const messages = (severity: Diagnostic['severity']): PartialMessage[] =>
          result.diagnostics
            .filter((each) => each.severity === severity)
            .map((each) => messageOf(each, result));
        return { errors: messages('error'), warnings: messages('warning') };
      });
      // Only what resolves or loads a module may name files to watch.
      build.onResolve(
        { filter: /.*/ },
        async ({ path: entry, kind, importer, resolveDir, pluginData, with: attributes }) => {
          if (kind !== 'entry-point' || pluginData === RESOLVING) return undefined;
          const resolved = await build.resolve(entry, {
            ...{ kind, importer, resolveDir, with: attributes, pluginData: RESOLVING },
          });
          // esbuild has a better message for one that is not there.
          if (resolved.errors.length > 0 || resolved.external) return undefined;
          return {
            ...resolved,
            watchFiles: [...watchFiles],
            watchDirs: [...new Set(watchFiles.map((file) => path.dirname(file)))],
          };
        },
      );
    },
  };
}

function messageOf(
  { code, message, hint, related, place }: Diagnostic,
  result: CodegenResult,
): PartialMessage {
  return {
    text: `${code}: ${message}`,
    location: place === undefined ? null : locationOf(place, result),
    notes: [
      ...related.map((each) => ({ text: each.message, location: locationOf(each.place, result) })),
      ...(hint === undefined ? [] : [{ text: `hint: ${hint}` }]),
    ],
  };
}

/** Columns of esbuild count bytes from 0. */
function locationOf(
  { file, span: [line, column, endLine, endColumn] }: SourceLocation,
  { readSource }: CodegenResult,
) {
  const lineText = readSource(file)?.split(/\r?\n/)[line - 1] ?? '';
  const end = endLine === line ? endColumn - 1 : lineText.length;
  return {
    file,
    line,
    column: Buffer.byteLength(lineText.slice(0, column - 1)),
    length: Buffer.byteLength(lineText.slice(column - 1, end)),
    lineText,
  };
}
