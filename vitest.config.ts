import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@stepwright/source'] },
  ssr: { resolve: { conditions: ['@stepwright/source'] } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/fixtures/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
