import fc from 'fast-check';
import type { Json } from '../json.js';
import {
  arithmetic,
  ask,
  bound,
  call,
  dict,
  get,
  list,
  literal,
  local,
  map,
  method,
  optional,
  ref,
  slice,
  text,
} from './build.fixture.js';
import type { ArithmeticOp, CompareOp, Expr } from './tree.js';

/** A tree and the JavaScript source of it. */
export interface Pair {
  readonly expr: Expr;
  readonly js: string;
}

/** Types of the generated sources, which are sound TypeScript: `item` is `{ a?: number; t: string; list?: number[] }`. */
export type Type = 'num' | 'text' | 'bool' | 'nums' | 'texts' | 'item' | 'items';

export const TYPES: readonly Type[] = ['num', 'text', 'bool', 'nums', 'texts', 'item', 'items'];

/** A random source of a type and its tree. */
export function typedPair(type: Type): fc.Arbitrary<Pair> {
  return fc
    .array(fc.nat(0xffff), { minLength: 20, maxLength: 300 })
    .map((tape) => new Generator(tape).make(type, 5, []));
}

type Env = readonly { readonly name: string; readonly type: Type }[];

/** Reads its choices from a tape of numbers, so that a shorter tape is a simpler source. */
class Generator {
  readonly #tape: readonly number[];
  #at = 0;
  #names = 0;

  constructor(tape: readonly number[]) {
    this.#tape = tape;
  }

  make(type: Type, depth: number, env: Env): Pair {
    const names = env.filter((each) => each.type === type);
    if (names.length > 0 && this.#choose(3) === 0) {
      const name = this.#oneOf(names.map((each) => each.name));
      return { expr: local(name), js: name };
    }
    if (depth <= 0 || this.#at >= this.#tape.length) return this.#leaf(type);
    if (this.#choose(8) === 0) return this.#anyWay(type, depth - 1, env);
    switch (type) {
      case 'num':
        return this.#num(depth - 1, env);
      case 'text':
        return this.#text(depth - 1, env);
      case 'bool':
        return this.#bool(depth - 1, env);
      case 'nums':
        return this.#nums(depth - 1, env);
      case 'texts':
        return this.#texts(depth - 1, env);
      case 'item':
        return this.#item(depth - 1, env);
      case 'items':
        return this.#items(depth - 1, env);
    }
  }

  #choose(count: number): number {
    return (this.#tape[this.#at++] ?? 0) % count;
  }

  #oneOf<T>(choices: readonly T[]): T {
    return choices[this.#choose(choices.length)] as T;
  }

  #leaf(type: Type): Pair {
    const input = (name: string): Pair => ({ expr: ref('inputs', name), js: `inputs.${name}` });
    const isInput = this.#choose(2) === 0;
    switch (type) {
      case 'num':
        return isInput ? input('n') : constant(this.#oneOf([0, 1, 2, -1, 3, 0.5]));
      case 'text':
        return isInput ? input('s') : constant(this.#oneOf(['', 'a', 'b', 'ab', ' ', 'X', ',']));
      case 'bool':
        return isInput ? input('b') : constant(this.#choose(2) === 0);
      case 'nums':
        return isInput ? input('ns') : constant(this.#oneOf<Json>([[], [1, 2, 3], [2, -1]]));
      case 'texts':
        return isInput ? input('ts') : constant(this.#oneOf<Json>([[], ['a', 'b'], ['X']]));
      case 'item':
        return constant(this.#oneOf<Json>([{ t: 'x' }, { a: 1, t: ' y ', list: [1] }]));
      case 'items':
        return isInput ? input('items') : constant([{ t: 'x', a: 2 }]);
    }
  }

  /** Forms that every type has. */
  #anyWay(type: Type, depth: number, env: Env): Pair {
    const one = this.make(type, depth, env);
    switch (this.#choose(3)) {
      case 0: {
        const [test, two] = [this.make('bool', depth, env), this.make(type, depth, env)];
        return {
          // biome-ignore lint/suspicious/noThenProperty: the name is the model's
          expr: { kind: 'conditional', truth: 'truthy.js', test: test.expr, then: one.expr, else: two.expr },
          js: `((${test.js}) ? (${one.js}) : (${two.js}))`,
        };
      }
      case 1: {
        const maybe = this.make('num', depth, env);
        // biome-ignore lint/suspicious/noThenProperty: the name is the model's
        const absent: Expr = { kind: 'conditional', truth: 'truthy.js', test: maybe.expr, then: one.expr };
        const two = this.make(type, depth, env);
        return {
          expr: call('coalesce', absent, two.expr),
          js: `(((${maybe.js}) ? (${one.js}) : undefined) ?? (${two.js}))`,
        };
      }
      default: {
        const name = this.#name();
        const body = this.make(type, depth, extend(env, { name, type }));
        return { expr: bound(name, one.expr, body.expr), js: `((${name}) => (${body.js}))(${one.js})` };
      }
    }
  }

  #num(depth: number, env: Env): Pair {
    switch (this.#choose(5)) {
      case 0: {
        const [op, sign] = this.#oneOf(ARITHMETIC);
        const [left, right] = [this.make('num', depth, env), this.make('num', depth, env)];
        return {
          expr: arithmetic(left.expr, op, right.expr),
          js: `num((${left.js}) ${sign} (${right.js}))`,
        };
      }
      case 1: {
        const of = this.make('num', depth, env);
        return { expr: { kind: 'negate', of: of.expr }, js: `num(-(${of.js}))` };
      }
      case 2: {
        const of = this.make(this.#oneOf<Type>(['text', 'nums', 'texts', 'items']), depth, env);
        return { expr: get(of.expr, 'length'), js: `(${of.js}).length` };
      }
      case 3:
        return this.#found('num', 'nums', depth, env);
      default: {
        const [of, or] = [this.make('item', depth, env), this.make('num', depth, env)];
        return { expr: call('coalesce', get(of.expr, 'a'), or.expr), js: `((${of.js}).a ?? (${or.js}))` };
      }
    }
  }

  #text(depth: number, env: Env): Pair {
    switch (this.#choose(8)) {
      case 0: {
        const of = this.make('text', depth, env);
        const name = this.#oneOf(['trim', 'trimStart', 'trimEnd', 'toLowerCase', 'toUpperCase']);
        return { expr: method(`${name}.js`, of.expr), js: `(${of.js}).${name}()` };
      }
      case 1:
        return this.#slice('text', depth, env);
      case 2: {
        const [first, second] = [this.make('text', depth, env), this.make(this.#oneOf(TYPES), depth, env)];
        return {
          expr: text('js', '<', first.expr, second.expr),
          js: `\`<\${shown(${first.js})}\${shown(${second.js})}\``,
        };
      }
      case 3: {
        const [of, other] = [
          this.make('text', depth, env),
          this.make(this.#oneOf<Type>(['num', 'text', 'bool']), depth, env),
        ];
        const [left, right] = this.#choose(2) === 0 ? [of, other] : [other, of];
        return { expr: arithmetic(left.expr, 'add.js', right.expr), js: `((${left.js}) + (${right.js}))` };
      }
      case 4: {
        const of = this.make(this.#oneOf<Type>(['nums', 'texts', 'items']), depth, env);
        if (this.#choose(2) === 0) return { expr: method('join.js', of.expr), js: `joined(${of.js})` };
        const between = this.make('text', depth, env);
        return {
          expr: method('join.js', of.expr, between.expr),
          js: `joined(${of.js}, ${between.js})`,
        };
      }
      case 6: {
        const [of, part, by] = [1, 2, 3].map(() => this.make('text', depth, env)) as [Pair, Pair, Pair];
        const length = constant(this.#choose(9));
        const [name, args] = this.#oneOf<[string, readonly Pair[]]>([
          ['replace', [part, by]],
          ['replaceAll', [part, by]],
          ['replaceAll', [part, { expr: literal("<$&$$$`$'>"), js: `"<$&$$$\`$'>"` }]],
          ['padStart', [length]],
          ['padEnd', [length, by]],
          ['concat', [part, by]],
        ]);
        return {
          expr: method(`${name}.js`, of.expr, ...args.map((each) => each.expr)),
          js: `(${of.js}).${name}(${args.map((each) => each.js).join(', ')})`,
        };
      }
      case 5:
        return this.#found('text', this.#oneOf<Type>(['text', 'texts']), depth, env);
      default: {
        const or = this.make('text', depth, env);
        const [bit, bitJs] = this.#oneOf<[Expr, string]>([
          [method('trim.js', get(ref('inputs', 'o'), 't', true)), 'inputs.o?.t.trim()'],
          [
            optional(method('split.js', get(ref('inputs', 'o'), 't', true), literal('a'))),
            "inputs.o?.t?.split('a')",
          ],
          [
            method(
              'join.js',
              optional(map(get(ref('inputs', 'o'), 'list', true), 'q', local('q'))),
              literal('-'),
            ),
            "inputs.o?.list?.map((q) => q).join('-')",
          ],
          [
            get(optional(slice(get(ref('inputs', 'o'), 'list', true), literal(1))), 0),
            'inputs.o?.list?.slice(1)[0]',
          ],
          // Fails where there is no item: a chain without `?.`.
          [method('toUpperCase.js', get(ref('inputs', 'o'), 't')), 'inputs.o.t.toUpperCase()'],
        ]);
        return {
          expr: text('js', call('coalesce', bit, or.expr)),
          js: `\`\${shown((${bitJs}) ?? (${or.js}))}\``,
        };
      }
    }
  }

  #bool(depth: number, env: Env): Pair {
    switch (this.#choose(6)) {
      case 0: {
        const type = this.#oneOf<Type>(['num', 'text']);
        const [op, sign] = this.#oneOf(COMPARE);
        const [left, right] = [this.make(type, depth, env), this.make(type, depth, env)];
        return {
          expr: { kind: 'compare', left: left.expr, ops: [{ op, right: right.expr }] },
          js: `((${left.js}) ${sign} (${right.js}))`,
        };
      }
      case 1: {
        const kind = this.#oneOf(['and', 'or'] as const);
        const [left, right] = [this.make('bool', depth, env), this.make('bool', depth, env)];
        return {
          expr: { kind, truth: 'truthy.js', items: [left.expr, right.expr] },
          js: `((${left.js}) ${kind === 'and' ? '&&' : '||'} (${right.js}))`,
        };
      }
      case 2: {
        const of = this.make(this.#oneOf(TYPES), depth, env);
        return { expr: { kind: 'not', truth: 'truthy.js', of: of.expr }, js: `(!(${of.js}))` };
      }
      case 3: {
        const [ofType, itemType] = this.#oneOf<[Type, Type]>([
          ['text', 'text'],
          ['texts', 'text'],
          ['nums', 'num'],
        ]);
        const [of, sought] = [this.make(ofType, depth, env), this.make(itemType, depth, env)];
        return this.#withPlace('includes', of, sought);
      }
      case 4: {
        const [of, part] = [this.make('text', depth, env), this.make('text', depth, env)];
        return this.#withPlace(this.#oneOf(['startsWith', 'endsWith']), of, part);
      }
      default: {
        const [listType, itemType] = this.#oneOf(LISTS);
        return this.#question(this.#oneOf(['some', 'every'] as const), listType, itemType, depth, env);
      }
    }
  }

  #nums(depth: number, env: Env): Pair {
    switch (this.#choose(5)) {
      case 0: {
        const [listType, itemType] = this.#oneOf(LISTS);
        return this.#map(listType, itemType, 'num', depth, env);
      }
      case 1:
        return this.#question('filter', 'nums', 'num', depth, env);
      case 2:
        return this.#slice('nums', depth, env);
      case 3:
        return this.#concat('nums', 'num', depth, env);
      default: {
        // Absent items live until they are filtered out.
        const [of, name] = [this.make('items', depth, env), this.#name()];
        const present: Expr = {
          kind: 'compare',
          left: local('v'),
          ops: [{ op: 'ne.strict', right: literal() }],
        };
        return {
          expr: ask('filter', map(of.expr, name, get(local(name), 'a')), 'v', present),
          js: `(${of.js}).map((${name}) => ${name}.a).filter((v) => v !== undefined)`,
        };
      }
    }
  }

  #texts(depth: number, env: Env): Pair {
    switch (this.#choose(5)) {
      case 0: {
        const [of, by] = [this.make('text', depth, env), this.make('text', depth, env)];
        if (this.#choose(2) === 0) {
          return { expr: method('split.js', of.expr, by.expr), js: `(${of.js}).split(${by.js})` };
        }
        const limit = this.#place();
        return {
          expr: method('split.js', of.expr, by.expr, limit.expr),
          js: `(${of.js}).split(${by.js}, ${limit.js})`,
        };
      }
      case 1: {
        const [listType, itemType] = this.#oneOf(LISTS);
        return this.#map(listType, itemType, 'text', depth, env);
      }
      case 2:
        return this.#question('filter', 'texts', 'text', depth, env);
      case 3:
        return this.#slice('texts', depth, env);
      default:
        return this.#concat('texts', 'text', depth, env);
    }
  }

  #item(depth: number, env: Env): Pair {
    const [a, t] = [this.make('num', depth, env), this.make('text', depth, env)];
    switch (this.#choose(3)) {
      case 0:
        return { expr: dict({ t: t.expr, a: a.expr }), js: `({ t: ${t.js}, a: ${a.js} })` };
      case 1: {
        const of = this.make('item', depth, env);
        return {
          expr: { kind: 'dict', entries: [{ spread: of.expr }, { key: 'a', value: literal() }] },
          js: `({ ...(${of.js}), a: undefined })`,
        };
      }
      default:
        return {
          expr: {
            kind: 'dict',
            entries: [
              { key: 't', value: t.expr },
              { spread: ref('inputs', 'o') },
              { key: 'a', value: a.expr },
            ],
          },
          js: `({ t: ${t.js}, ...inputs.o, a: ${a.js} })`,
        };
    }
  }

  #items(depth: number, env: Env): Pair {
    switch (this.#choose(4)) {
      case 0: {
        const [listType, itemType] = this.#oneOf(LISTS);
        return this.#map(listType, itemType, 'item', depth, env);
      }
      case 1:
        return this.#question('filter', 'items', 'item', depth, env);
      case 2:
        return this.#slice('items', depth, env);
      default:
        return this.#concat('items', 'item', depth, env);
    }
  }

  #map(listType: Type, itemType: Type, result: Type, depth: number, env: Env): Pair {
    const [of, name, index] = [this.make(listType, depth, env), this.#name(), this.#name()];
    const inner = extend(env, { name, type: itemType }, { name: index, type: 'num' });
    const body = this.make(result, depth, inner);
    return {
      expr: map(of.expr, name, body.expr, index),
      js: `(${of.js}).map((${name}, ${index}) => (${body.js}))`,
    };
  }

  #question(
    mode: 'filter' | 'some' | 'every' | 'find',
    listType: Type,
    itemType: Type,
    depth: number,
    env: Env,
  ): Pair {
    const [of, name] = [this.make(listType, depth, env), this.#name()];
    const inner = extend(env, { name, type: itemType });
    const body = this.make(this.#oneOf<Type>(['bool', 'num', 'text']), depth, inner);
    return {
      expr: ask(mode, of.expr, name, body.expr),
      js: `(${of.js}).${mode}((${name}) => (${body.js}))`,
    };
  }

  /** One of a list or text, by a question or by its place, or else another value. */
  #found(type: Type, listType: Type, depth: number, env: Env): Pair {
    const or = this.make(type, depth, env);
    if (listType !== 'text' && this.#choose(2) === 0) {
      const found = this.#question('find', listType, type, depth, env);
      return { expr: call('coalesce', found.expr, or.expr), js: `(${found.js} ?? (${or.js}))` };
    }
    const of = this.make(listType, depth, env);
    if (this.#choose(3) === 0) {
      const position = this.#choose(2) === 0 ? this.make('num', depth, env) : this.#place();
      return {
        expr: call('coalesce', method('at.js', of.expr, position.expr), or.expr),
        js: `((${of.js}).at(${position.js}) ?? (${or.js}))`,
      };
    }
    const place = this.#choose(2) === 0 ? this.make('num', depth, env) : constant(this.#choose(3));
    return {
      expr: call('coalesce', get(of.expr, place.expr), or.expr),
      js: `((${of.js})[${place.js}] ?? (${or.js}))`,
    };
  }

  #slice(type: Type, depth: number, env: Env): Pair {
    const of = this.make(type, depth, env);
    const [start, end] = [this.#place(), this.#place()];
    switch (this.#choose(3)) {
      case 0:
        return { expr: slice(of.expr), js: `(${of.js}).slice()` };
      case 1:
        return { expr: slice(of.expr, start.expr), js: `(${of.js}).slice(${start.js})` };
      default:
        return { expr: slice(of.expr, start.expr, end.expr), js: `(${of.js}).slice(${start.js}, ${end.js})` };
    }
  }

  #concat(type: Type, itemType: Type, depth: number, env: Env): Pair {
    if (this.#choose(2) === 0) {
      const [of, more, item] = [type, type, itemType].map((each) => this.make(each, depth, env)) as [
        Pair,
        Pair,
        Pair,
      ];
      if (this.#choose(2) === 0)
        return {
          expr: method('concat.js', of.expr, more.expr, item.expr),
          js: `(${of.js}).concat(${more.js}, ${item.js})`,
        };
      const lists: Expr = { kind: 'list', items: [of, more, item].map(({ expr }) => ({ value: expr })) };
      return { expr: method('flat.js', lists), js: `[${of.js}, ${more.js}, ${item.js}].flat()` };
    }
    const [some, one] = [this.make(type, depth, env), this.make(itemType, depth, env)];
    return { expr: list(one.expr, [some.expr]), js: `[${one.js}, ...(${some.js})]` };
  }

  #withPlace(name: string, of: Pair, sought: Pair): Pair {
    if (this.#choose(2) === 0) {
      return { expr: method(`${name}.js`, of.expr, sought.expr), js: `(${of.js}).${name}(${sought.js})` };
    }
    const place = this.#place();
    return {
      expr: method(`${name}.js`, of.expr, sought.expr, place.expr),
      js: `(${of.js}).${name}(${sought.js}, ${place.js})`,
    };
  }

  #place(): Pair {
    const value = this.#oneOf([0, 1, 2, 3, -1, -2, 1.5, -0.5, 100, -100, undefined, 4294967297]);
    return value === undefined
      ? { expr: literal(), js: 'undefined' }
      : { expr: literal(value), js: `(${value})` };
  }

  #name(): string {
    return `v${this.#names++ % 3}`;
  }
}

function constant(value: Json): Pair {
  return { expr: literal(value), js: `(${JSON.stringify(value)})` };
}

/** An inner name hides an outer one. */
function extend(env: Env, ...names: Env): Env {
  return [...env.filter((each) => !names.some(({ name }) => name === each.name)), ...names];
}

const ARITHMETIC: readonly (readonly [ArithmeticOp, string])[] = [
  ['add.js', '+'],
  ['sub', '-'],
  ['mul', '*'],
  ['div', '/'],
  ['mod.js', '%'],
  ['pow', '**'],
];

const COMPARE: readonly (readonly [CompareOp, string])[] = [
  ['eq.strict', '==='],
  ['ne.strict', '!=='],
  ['lt.js', '<'],
  ['le.js', '<='],
  ['gt.js', '>'],
  ['ge.js', '>='],
];

const LISTS: readonly (readonly [Type, Type])[] = [
  ['nums', 'num'],
  ['texts', 'text'],
  ['items', 'item'],
];
