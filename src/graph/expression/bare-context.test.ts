import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { arithmetic, ask, bound, get, list, literal, local, map, method, slice } from './build.fixture.js';
import type { Expr, RefExpr } from './tree.js';

const here = dirname(fileURLToPath(import.meta.url));

/** Loads our modules, and those libraries they import, into a context that has the language and nothing else. */
function bareContext(): { load: (path: string) => Record<string, unknown>; run: (code: string) => unknown } {
  const context = vm.createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  const loaded = new Map<string, Record<string, unknown>>();
  const load = (path: string): Record<string, unknown> => {
    const known = loaded.get(path);
    if (known !== undefined) return known;
    const exports = vm.runInContext('({})', context) as Record<string, unknown>;
    loaded.set(path, exports);
    const options = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
    const code = ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions: options }).outputText;
    const body = vm.runInContext(`(function (exports, require) {${code}\n})`, context, { filename: path });
    body(exports, (name: string) => load(locate(name, path)));
    return exports;
  };
  return { load, run: (code) => vm.runInContext(code, context) };
}

function locate(name: string, from: string): string {
  if (!name.startsWith('.')) return createRequire(from).resolve(name);
  const path = resolve(dirname(from), name);
  return from.includes('node_modules') ? path : path.replace(/\.js$/, '.ts');
}

/** Evaluates inside the context and hands JSON out. */
function evaluator(): (expr: Expr, data: unknown) => unknown {
  const bare = bareContext();
  const { evaluate, Budget } = bare.load(resolve(here, 'evaluate.ts'));
  const inside = bare.run(`((evaluate, Budget) => (expr, data) => {
    const { inputs } = JSON.parse(data);
    const scope = { lookup: (root, name) => (Object.hasOwn(inputs, name) ? inputs[name] : undefined) };
    try {
      return JSON.stringify({ value: evaluate(JSON.parse(expr), scope, new Budget(10000)) });
    } catch (error) {
      return JSON.stringify({ code: error.code ?? String(error) });
    }
  })`) as (evaluate: unknown, Budget: unknown) => (expr: string, data: string) => string;
  const run = inside(evaluate, Budget);
  return (expr, data) => JSON.parse(run(JSON.stringify(expr), JSON.stringify(data)));
}

describe('in a bare context', () => {
  const evaluate = evaluator();
  const x: RefExpr = { kind: 'ref', root: 'inputs', path: ['x'] };
  const key = (name: string): Expr => ({ kind: 'literal', value: name });

  test('expressions evaluate without a global of any host', () => {
    const expr: Expr = {
      kind: 'dict',
      entries: [
        { key: 'js', value: { kind: 'text', style: 'js', parts: ['<', { ...x, path: ['x', 0] }, '>'] } },
        { key: 'json', value: { kind: 'call', fn: 'toJson', args: [x] } },
        { key: 'or', value: { kind: 'call', fn: 'coalesce', args: [{ kind: 'literal' }, x] } },
        {
          key: 'list',
          value: { kind: 'list', items: [{ value: x, spread: true }, { value: { kind: 'literal' } }] },
        },
        {
          key: 'is',
          value: {
            kind: 'compare',
            left: x,
            ops: [{ op: 'eq.strict', right: { kind: 'literal', value: 1 } }],
          },
        },
        { key: 'text', value: method('toUpperCase.js', method('join.js', x, key('ß'))) },
        { key: 'parts', value: method('split.js', key('a-b-c'), key('-'), literal(2)) },
        { key: 'each', value: ask('filter', map(slice(x, literal(-2)), 'v', local('v')), 'v', local('v')) },
        { key: 'sum', value: bound('n', literal(2), arithmetic(local('n'), 'pow', literal(5))) },
        { key: '__proto__', value: { kind: 'not', truth: 'truthy.js', of: x } },
      ],
    };
    expect(JSON.stringify(evaluate(expr, { inputs: { x: [1, null] } }))).toBe(
      '{"value":{"js":"<1>","json":"[1,null]","or":[1,null],"list":[1,null,null],"is":false,"text":"1SS","parts":["a","b"],"each":[1],"sum":32,"__proto__":false}}',
    );
  });

  test.each(['constructor', '__proto__', 'prototype', 'toString', 'valueOf', '__lookupGetter__'])(
    'no prototype is reached by `%s`',
    (name) => {
      const twice: Expr = { kind: 'get', of: { kind: 'get', of: x, key: key(name) }, key: key(name) };
      expect(evaluate({ kind: 'get', of: x, key: key(name) }, { inputs: { x: {} } })).toEqual({});
      expect(evaluate(twice, { inputs: { x: {} } })).toEqual({ code: 'E_NOT_AN_OBJECT' });
      expect(evaluate(twice, { inputs: { x: 'text' } })).toEqual({ code: 'E_NOT_AN_OBJECT' });
      expect(evaluate({ kind: 'ref', root: 'inputs', path: [name] }, { inputs: {} })).toEqual({});
      for (const fn of [name, `${name}.js`]) {
        expect(evaluate({ kind: 'call', fn, args: [] }, { inputs: {} })).toEqual({
          code: 'E_UNKNOWN_FUNCTION',
        });
      }
      const inherited = get(map(list(x), 'o', get(local('o'), key(name))), 0);
      expect(evaluate(inherited, { inputs: { x: {} } })).toEqual({});
      expect(evaluate(map(list(x), 'o', local(name)), { inputs: { x: {} } })).toEqual({
        code: 'E_UNKNOWN_NAME',
      });
      expect(evaluate(get(list(x), key(name)), { inputs: { x: {} } })).toEqual({});
      expect(evaluate(get(method('split.js', x), key(name)), { inputs: { x: 'a' } })).toEqual({});
      const own = bound(name, literal({ [name]: 1 }), local(name, name));
      expect(evaluate(own, { inputs: {} })).toEqual({ value: 1 });
    },
  );

  test('graphs are hashed without a global of any host', () => {
    const { sha256Hex } = bareContext().load(resolve(here, '../sha256.ts')) as {
      sha256Hex: (text: string) => string;
    };
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
