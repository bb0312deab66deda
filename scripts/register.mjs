// Lets Node run this repository's TypeScript: transpile only, types are checked by `npm run types`.
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';

process.env.TS_NODE_TRANSPILE_ONLY = 'true';
// This repository's settings, whatever the working directory is.
process.env.TS_NODE_PROJECT = fileURLToPath(new URL('../tsconfig.json', import.meta.url));
register('ts-node/esm', import.meta.url);
