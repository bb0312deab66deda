import path from 'node:path';
import type { ErrorPayload, Plugin, ViteDevServer } from 'vite';
import type { CodegenResult } from '../codegen/codegen.js';
import type { CodegenWatcher, WatchedRun } from '../codegen/watch.js';
import { type Diagnostic, hasErrors } from '../graph/diagnostics/diagnostic.js';
import { formatDiagnostics } from '../graph/diagnostics/format.js';
import { type PluginOptions, runForBundler } from './codegen-plugin.js';

export type { PluginOptions } from './codegen-plugin.js';

/**
 * Runs codegen in Vite. A build runs it before it resolves a module, and fails with its errors. The dev server runs it
 * before it answers, and again after each change (see `watchCodegen`); errors are in the terminal and in the overlay.
 * The root is that of Vite unless the options name another.
 *
 * @example
 * ```ts
 * export default defineConfig({ plugins: [stepwright()] });
 * ```
 */
export function stepwright(options: PluginOptions = {}): Plugin {
  let viteRoot = '.';
  let isDevServer = false;
  let watcher: CodegenWatcher | undefined;
  return {
    name: 'stepwright',
    enforce: 'pre',
    configResolved({ root, command }) {
      viteRoot = root;
      isDevServer = command === 'serve';
    },
    async configureServer(server) {
      watcher = await serveRuns(server, { ...options, root: options.root ?? viteRoot });
    },
    async buildStart() {
      if (isDevServer) return;
      const { result, files } = await runForBundler(options, viteRoot);
      for (const file of files) this.addWatchFile(file);
      for (const each of result.diagnostics)
        if (each.severity === 'warning') this.warn(logOf([each], result, options.root ?? viteRoot));
      if (hasErrors(result.diagnostics))
        this.error(logOf(errorsOf(result), result, options.root ?? viteRoot));
    },
    async closeBundle() {
      await watcher?.close();
    },
  };
}

/** Watches, or runs once where the server does not watch, as in a run of Vitest. Resolves after the first run. */
async function serveRuns(
  server: ViteDevServer,
  options: PluginOptions & { readonly root: string },
): Promise<CodegenWatcher | undefined> {
  let shown: ErrorPayload | undefined;
  const show = ({ changes, result, error }: WatchedRun): void => {
    const former = shown;
    shown = payloadOf(result, error, options.root);
    const { logger } = server.config;
    if (result !== undefined && result.diagnostics.length > 0) {
      const text = formatDiagnostics(result.diagnostics, result.readSource);
      if (shown === undefined) logger.warn(text, { timestamp: true });
      else logger.error(text, { timestamp: true });
    } else if (shown !== undefined) logger.error(shown.err.message, { timestamp: true });
    for (const file of result?.written ?? []) logger.info(`stepwright wrote ${file}`, { timestamp: true });
    if (shown !== undefined) server.ws.send(shown);
    // An update removes the overlay.
    else if (former !== undefined && changes.length > 0) server.ws.send({ type: 'update', updates: [] });
  };
  server.ws.on('connection', () => {
    if (shown !== undefined) server.ws.send(shown);
  });
  if (server.config.server.watch === null) {
    const { result } = await runForBundler(options, options.root);
    show({ changes: [], result, milliseconds: 0 });
    return undefined;
  }
  const { watchCodegen } = await import('../codegen/watch.js');
  return new Promise((resolve) => {
    const watcher = watchCodegen({
      ...options,
      onRun: (run) => {
        show(run);
        resolve(watcher);
      },
      onError: ({ message }) => server.config.logger.error(`stepwright cannot watch: ${message}`),
    });
  });
}

function payloadOf(
  result: CodegenResult | undefined,
  error: Error | undefined,
  root: string,
): ErrorPayload | undefined {
  if (error !== undefined) {
    const { message, stack = '' } = error;
    return { type: 'error', err: { message: `stepwright failed: ${message}`, stack, plugin: 'stepwright' } };
  }
  if (result === undefined || !hasErrors(result.diagnostics)) return undefined;
  return {
    type: 'error',
    err: { ...logOf(errorsOf(result), result, root), stack: '', plugin: 'stepwright' },
  };
}

const errorsOf = ({ diagnostics }: CodegenResult): readonly Diagnostic[] =>
  diagnostics.filter(({ severity }) => severity === 'error');

/** The text has all diagnostics with their frames; code and location are those of the first that has a location. */
function logOf(diagnostics: readonly Diagnostic[], { readSource }: CodegenResult, root: string) {
  const message = formatDiagnostics(diagnostics, readSource).trimEnd();
  const located = diagnostics.find(({ place }) => place !== undefined);
  if (located?.place === undefined) return { message };
  const { file, span } = located.place;
  const id = path.resolve(root, file);
  const [line, column] = span;
  return { message, pluginCode: located.code, id, loc: { file: id, line, column } };
}
