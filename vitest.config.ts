import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => ({
  resolve: { conditions: ['@stepwright/source'] },
  ssr: { resolve: { conditions: ['@stepwright/source'] } },
  test: {
    exclude: ['**/node_modules/**', '**/fixtures/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Many tests wait for compilers and servers of their own: on two cores one worker leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      { extends: true, mode, test: { name: 'all', include: ['src/**/*.test.ts', 'test/**/*.test.ts'] } },
      {
        extends: true,
        mode,
        test: {
          name: 'reload',
          include: ['src/runtime/engine/*.test.ts'],
          exclude: ['**/*.property.test.ts'],
          setupFiles: ['test/engine/reload.setup.ts'],
        },
      },
    ],
  },
}));
