// A transpiler of ts-node. Tests start hundreds of processes: each reads what the first one transpiled.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const { transformSync, version } = require('esbuild');

const cache = join(__dirname, '../node_modules/.cache/stepwright-transpiled');
mkdirSync(cache, { recursive: true });

exports.create = ({ service }) => {
  const { experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax } =
    service.config.raw.compilerOptions;
  const options = {
    loader: 'ts',
    format: 'esm',
    target: 'es2022',
    sourcemap: true,
    tsconfigRaw: {
      compilerOptions: { experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax },
    },
  };
  return {
    transpile(source, { fileName }) {
      const settings = { ...options, sourcefile: basename(fileName) };
      const key = createHash('sha256')
        .update(JSON.stringify([version, settings, source]))
        .digest('hex');
      const stored = join(cache, key);
      try {
        return JSON.parse(readFileSync(stored, 'utf8'));
      } catch {
        const { code, map } = transformSync(source, settings);
        const output = { outputText: code, sourceMapText: map };
        const own = `${stored}.${process.pid}`;
        writeFileSync(own, JSON.stringify(output));
        renameSync(own, stored);
        return output;
      }
    },
  };
};
