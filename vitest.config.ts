import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { globSync } from 'tinyglobby';
import { defineConfig } from 'vitest/config';

/** Left out by `npm run test:quick`: properties, and units that start compilers. */
const SLOW = [
  '**/*.property.test.ts',
  'src/codegen/source/source-host.test.ts',
  'src/codegen/schemas/type-schema.test.ts',
];

/** Every supported version of TypeScript against every decorator flag. */
const COMPILERS = ['test/types/compilers.test.ts'];

/** Long loops over the engine: half as fast again where modules of other tests have widened what its functions see. */
const LOOPS = [
  'test/oracle/engine.property.test.ts',
  'test/effects/effects.property.test.ts',
  'src/runtime/engine/engine.property.test.ts',
];

/** Tests that replace modules: they need modules that no other file has loaded. */
const MOCKING = [
  'src/cli/dispatch.test.ts',
  'src/temporal/missing-sdk.test.ts',
  'test/codegen-back/internal-error.test.ts',
];

/** Tests with a document. A worker that meets one ends, and its successor loads all modules again. */
const DOCUMENTS = ['test/golden/graph/mermaid-parser.test.ts', 'test/golden/infer/mermaid-parser.test.ts'];

/** Each has a process of its own. */
const ISOLATED = [...COMPILERS, ...LOOPS, ...MOCKING, ...DOCUMENTS];

/**
 * Of the nightly run alone: packages of other languages, examples that run elsewhere too, benchmarks that start servers,
 * pages that are followed step by step, and programs that are killed where other tests kill one.
 */
const NIGHTLY = [
  'test/codegen-back/determinism.test.ts',
  'test/codegen-back/import-endings.test.ts',
  'test/codegen-back/package-tools.test.ts',
  'test/codegen/growth.test.ts',
  'test/codegen/travel.test.ts',
  'test/docs/tutorial-agent.test.ts',
  'test/docs/yaml-only.test.ts',
  'test/durable/acknowledged-starts.test.ts',
  'test/durable/deploys.test.ts',
  'test/durable/fork-and-migrate.test.ts',
  'test/durable/operator-process.test.ts',
  'test/durable/replaced-store.test.ts',
  'test/durable/task-kills.test.ts',
  'test/e2e/examples/approval.test.ts',
  'test/e2e/examples/deploy.test.ts',
  'test/e2e/examples/embed.test.ts',
  'test/e2e/examples/planning.test.ts',
  'test/e2e/examples/upstream.test.ts',
  'test/e2e/interop/*.test.ts',
  'test/e2e/logseq/add-todo.test.ts',
  'test/e2e/logseq/note-task.test.ts',
  'test/e2e/logseq/weekly-review.test.ts',
  'test/e2e/process/many.test.ts',
  'test/golden/trace/hand-off.property.test.ts',
  'test/temporal/approval.test.ts',
  'test/temporal/bench.test.ts',
  'test/temporal/examples.test.ts',
  'test/temporal/kills.test.ts',
  'test/temporal/long-runs.test.ts',
];

/** They need a Temporal server, which is started once for all of them. */
const TEMPORAL = ['test/temporal/*.test.ts'];

const ALL = ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'];

/** Tests of properties: `npm run test:soak` runs them with new cases, `npm test` once. */
const properties = (): string[] =>
  globSync(ALL, { ignore: ['**/node_modules/**', '**/fixtures/**', ...LOOPS] }).filter((file) =>
    /'fast-check'|\/oracle\/runs\.js'/.test(readFileSync(file, 'utf8')),
  );

export default defineConfig(({ mode }) => ({
  resolve: {
    conditions: ['@stepwright/source'],
    // One bundled file instead of hundreds of modules.
    alias: { mermaid: 'mermaid/dist/mermaid.esm.min.mjs' },
  },
  ssr: { resolve: { conditions: ['@stepwright/source'] } },
  test: {
    exclude: ['**/node_modules/**', '**/fixtures/**'],
    // A module is transformed once for all projects.
    experimental: { fsModuleCache: true },
    // The classes of tests and examples are edited all the time.
    env: { STEPWRIGHT_SOURCE_CHECK: 'off' },
    setupFiles: ['test/property-seed.setup.ts'],
    // They end a test that hangs. On a machine with other work a slow test takes many times as long as alone.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // A poll ends with what it waits for. A second, the default, is not enough beside other work.
    expect: { poll: { timeout: 20_000 } },
    // Many tests wait for compilers and servers of their own: on two cores one worker leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        mode,
        test: {
          name: 'product',
          include: mode === 'soak' ? properties() : ALL,
          exclude: [
            ...[...ISOLATED, ...TEMPORAL],
            ...(mode === 'quick' ? SLOW : []),
            ...(mode === 'nightly' || mode === 'soak' ? [] : NIGHTLY),
          ],
          // Modules are loaded once by each worker: loading took two fifths of the CPU time.
          isolate: false,
        },
      },
      {
        extends: true,
        mode,
        test: { name: 'isolated', include: mode === 'soak' ? LOOPS : ISOLATED },
      },
      {
        extends: true,
        mode,
        test: {
          name: 'temporal',
          include: TEMPORAL,
          exclude: mode === 'nightly' ? [] : NIGHTLY,
          globalSetup: 'test/temporal/server.setup.ts',
          isolate: false,
        },
      },
      {
        extends: true,
        mode,
        test: {
          name: 'reload',
          include: ['src/runtime/engine/*.test.ts'],
          exclude: ['**/*.property.test.ts', ...(mode === 'nightly' ? [] : properties())],
          setupFiles: ['test/engine/reload.setup.ts'],
          isolate: false,
        },
      },
    ],
  },
}));
