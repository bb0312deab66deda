// JavaScript, since no TypeScript module exports a namespace of types and loads its values in another way.
import { createRequire } from 'node:module';
import { compilerFile } from '../../formats/own-files.js';

// It is installed by ts-morph, and may be beyond the reach of this package.
const requireAsTsMorph = createRequire(compilerFile('ts-morph'));

/** The compiler of ts-morph. Without the rest of it, which is not used, it loads in three quarters of the time. */
export const ts = requireAsTsMorph('@ts-morph/common/dist/typescript.js');

let libraries;

export function libraryText(name) {
  libraries ??= new Map(
    requireAsTsMorph('@ts-morph/common')
      .getLibFiles()
      .map(({ fileName, text }) => [fileName, text]),
  );
  return libraries.get(name);
}
