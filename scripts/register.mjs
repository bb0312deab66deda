// Lets Node run this repository's TypeScript: transpile only, types are checked by `npm run types`.
import { register } from 'node:module';

process.setSourceMapsEnabled(true);
register('./transpile.mjs', import.meta.url);
