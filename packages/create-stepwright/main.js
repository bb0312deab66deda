#!/usr/bin/env node
// `npm create stepwright@latest my-server` is `stepwright init my-server`.
process.argv.splice(2, 0, 'init');
await import(new URL('dist/cli/main.js', import.meta.resolve('stepwright/package.json')).href);
