import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The program of a published server, as a command of a configuration. */
export function publishedServer(
  name: 'filesystem' | 'memory' | 'everything',
  ...args: readonly string[]
): { readonly command: string; readonly args: string[] } {
  const program = require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
  return { command: process.execPath, args: [program, ...args] };
}
