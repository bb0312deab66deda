import { createRequire } from 'node:module';
import type { Ajv2020, Options } from 'ajv/dist/2020.js';
import type formats from 'ajv-formats';
import type { RE2JS } from 're2js';

/**
 * The libraries that check values, loaded with the first value to check: a server starts and lists its tools without
 * them. They are loaded by `require`, since a check is synchronous.
 */
function load<Module>(name: string): Module {
  return createRequire(import.meta.url)(name) as Module;
}

/** Makes a compiler of schemas of draft 2020-12 that knows the formats. */
export function makeAjv(options: Options): Ajv2020 {
  const ajv = new (load<{ readonly Ajv2020: typeof Ajv2020 }>('ajv/dist/2020.js').Ajv2020)(options);
  load<typeof formats>('ajv-formats').default(ajv);
  return ajv;
}

let re2: typeof RE2JS | undefined;

export function loadRe2(): typeof RE2JS {
  re2 ??= load<{ readonly RE2JS: typeof RE2JS }>('re2js').RE2JS;
  return re2;
}
