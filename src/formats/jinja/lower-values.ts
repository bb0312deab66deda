import { defined } from '../../graph/defined.js';
import type { PythonFunction } from '../../graph/expression/python/define.js';
import { NESTED_FILTERS, pythonFilters } from '../../graph/expression/python/filters.js';
import { pythonFunctions } from '../../graph/expression/python/functions.js';
import { pythonMethods } from '../../graph/expression/python/methods.js';
import { pythonTests } from '../../graph/expression/python/tests.js';
import type { CallExpr, Expr, PythonArithmetic, PythonComparison } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { certainName, didYouMean, nearestName } from '../../graph/names.js';
import type { Span } from '../../graph/source-location.js';
import type { Applied, Name, Place, Syntax } from './syntax.js';
import { TemplateFault, type TemplateFaults } from './tokens.js';

/** What the names in a template mean. */
export interface TemplateScope {
  /** The inputs, by name. */
  readonly inputs: readonly string[];
  /** The state fields that the step may read. */
  readonly state: readonly string[];
  /** Other names, with their values. */
  readonly names?: ReadonlyMap<string, Expr>;
  /** The location in the file of a part of the template, by offsets. */
  readonly at?: (start: number, end: number) => Span | undefined;
}

/** The names that `for`, `set` and `with` bind. */
export interface Locals {
  readonly names: ReadonlyMap<string, Expr>;
  readonly loop?: Loop | undefined;
}

export const NO_LOCALS: Locals = { names: new Map() };

type TableOf = ReadonlyMap<string, PythonFunction>;
const tableOf = (functions: readonly PythonFunction[]): TableOf =>
  new Map(functions.map((each) => [each.written, each]));

const FILTERS = tableOf(pythonFilters);
const TESTS = tableOf(pythonTests);
const METHODS = tableOf(pythonMethods);
const FUNCTIONS = new Map(
  pythonFunctions.filter(({ written }) => written === 'range').map((each) => [each.written, each]),
);

export const ABSENT: Expr = { kind: 'literal' };

/** Below the depth at which the evaluator refuses a tree. */
const MAX_LEVELS = 100;

/** Lowers the expressions of a template. */
export class ValueLowering {
  readonly #scope: TemplateScope;
  readonly #faults: TemplateFaults;
  #locals = 0;
  #depth = 0;

  constructor(scope: TemplateScope, faults: TemplateFaults) {
    this.#scope = scope;
    this.#faults = faults;
  }

  at({ start, end }: Place): { readonly at?: Span } {
    return defined({ at: this.#scope.at?.(start, end) });
  }

  call(fn: string, args: readonly Expr[], place: Place): CallExpr {
    return { kind: 'call', fn, args, ...this.at(place) };
  }

  literal(value: Json, place: Place): Expr {
    return { kind: 'literal', value, ...this.at(place) };
  }

  /** A name for a value that no author wrote. */
  newLocal(): { readonly name: string; readonly ref: Expr } {
    this.#locals += 1;
    const name = `_${this.#locals}`;
    return { name, ref: { kind: 'ref', root: 'local', path: [name] } };
  }

  /** Lowers an expression. One with a fault of its own is absent. */
  value(syntax: Syntax, locals: Locals): Expr {
    return this.#faults.collect(() => this.within(syntax, () => this.#value(syntax, locals)), ABSENT);
  }

  /** Lowers what is inside a part. A tree that the evaluator refuses for its depth is refused here. */
  within(place: Place, lower: () => Expr): Expr {
    if (this.#depth >= MAX_LEVELS)
      throw new TemplateFault(
        `the template is nested deeper than ${MAX_LEVELS} levels`,
        place,
        'write shorter chains of operators, filters and `set`',
      );
    this.#depth += 1;
    try {
      return lower();
    } finally {
      this.#depth -= 1;
    }
  }

  #value(syntax: Syntax, locals: Locals): Expr {
    const at = this.at(syntax);
    const value = (each: Syntax): Expr => this.value(each, locals);
    switch (syntax.kind) {
      case 'literal':
        return this.literal(syntax.value, syntax);
      case 'float':
        return this.call('function.float.py', [this.literal(syntax.value, syntax)], syntax);
      case 'name':
        return this.#name(syntax, locals);
      case 'list':
        return { kind: 'list', items: syntax.items.map((item) => ({ value: value(item) })), ...at };
      case 'dict':
        return {
          kind: 'dict',
          entries: syntax.entries.map(({ key, value: part }) => ({ key: keyOf(key), value: value(part) })),
          ...at,
        };
      case 'attribute':
        return this.#attribute(syntax, locals);
      case 'item':
        if (syntax.key.kind === 'literal' && typeof syntax.key.value === 'string') {
          const { start, end } = syntax.key;
          const name = { name: syntax.key.value, start, end };
          return this.#attribute({ ...syntax, kind: 'attribute', name }, locals);
        }
        return this.#item(syntax, locals);
      case 'slice': {
        const [start, end, step] = syntax.bounds.map((bound) =>
          bound === undefined ? undefined : value(bound),
        );
        return { kind: 'slice', style: 'py', of: value(syntax.of), ...defined({ start, end, step }), ...at };
      }
      case 'call':
        return this.#call(syntax, locals);
      case 'filter':
        return this.filter(value(syntax.of), syntax.filter, locals, syntax);
      case 'test': {
        const test = this.#test(value(syntax.of), syntax.test, locals);
        return syntax.isNot ? { kind: 'not', truth: 'boolean', of: test, ...at } : test;
      }
      case 'binary':
        if (syntax.op === 'and' || syntax.op === 'or')
          return {
            kind: syntax.op,
            truth: 'truthy.py',
            items: [value(syntax.left), value(syntax.right)],
            ...at,
          };
        return {
          kind: 'arithmetic',
          op: ARITHMETIC[syntax.op] ?? 'add.py',
          left: value(syntax.left),
          right: value(syntax.right),
          ...at,
        };
      case 'compare':
        return this.#compare(syntax, locals);
      case 'not':
        return { kind: 'not', truth: 'truthy.py', of: value(syntax.of), ...at };
      case 'negate':
      case 'plus': {
        const of = syntax.of;
        if (of.kind === 'literal' && typeof of.value === 'number')
          return this.literal(syntax.kind === 'negate' ? 0 - of.value : of.value, syntax);
        const zero = this.literal(0, syntax);
        return {
          kind: 'arithmetic',
          op: syntax.kind === 'negate' ? 'sub.py' : 'add.py',
          left: zero,
          right: value(of),
          ...at,
        };
      }
      case 'conditional': {
        const otherwise = syntax.otherwise === undefined ? undefined : value(syntax.otherwise);
        return {
          kind: 'conditional',
          truth: 'truthy.py',
          test: value(syntax.test),
          // biome-ignore lint/suspicious/noThenProperty: a part of the tree
          then: value(syntax.then),
          ...defined({ else: otherwise }),
          ...at,
        };
      }
      default:
        return syntax satisfies never;
    }
  }

  #compare({ left, ops, ...place }: Extract<Syntax, { kind: 'compare' }>, locals: Locals): Expr {
    const at = this.at(place);
    const isNot = ops.some(({ op }) => op === 'not in');
    if (isNot && ops.length > 1)
      throw new TemplateFault(
        '`not in` is not a part of a chain of comparisons',
        place,
        'write two comparisons with `and` between',
      );
    const links = ops.map(({ op, right }) => ({
      op: COMPARISONS[isNot ? 'in' : op] ?? ('eq.py' as const),
      right: this.value(right, locals),
    }));
    const whole: Expr = { kind: 'compare', left: this.value(left, locals), ops: links, ...at };
    return isNot ? { kind: 'not', truth: 'boolean', of: whole, ...at } : whole;
  }

  #name({ name, ...place }: Extract<Syntax, { kind: 'name' }>, locals: Locals): Expr {
    const { inputs, state, names } = this.#scope;
    const local = locals.names.get(name) ?? names?.get(name);
    if (local !== undefined) return { ...local, ...this.at(place) };
    if (name === 'loop' && locals.loop !== undefined)
      throw new TemplateFault(
        '`loop` is not a value',
        place,
        'name a part of it: `loop.index`, `loop.first`, `loop.last`',
      );
    if (name === 'state' && state.length === 0)
      throw new TemplateFault(
        '`state` has no field that may be read here',
        place,
        'name the fields in `needs_state` of the step',
      );
    const fields = name === 'state' ? state : name === 'inputs' ? inputs : undefined;
    if (fields !== undefined)
      return {
        kind: 'dict',
        entries: fields.map((key) => ({ key, value: this.#ref(name as 'state', key, place) })),
        ...this.at(place),
      };
    const candidates = ['state', 'inputs', ...(names?.keys() ?? []), ...locals.names.keys()];
    const isField = state.includes(name)
      ? `state.${name}`
      : inputs.includes(name)
        ? `inputs.${name}`
        : undefined;
    const hint = isField === undefined ? didYouMean(nearestName(name, candidates)) : `write \`${isField}\``;
    const meaning = isField ?? certainName(name, candidates);
    throw new TemplateFault(`\`${name}\` is not known here`, place, hint, meaning);
  }

  #ref(root: 'state' | 'inputs', name: string, place: Place): Expr {
    return { kind: 'ref', root, path: [name], find: 'optional', ...this.at(place) };
  }

  #attribute({ of, name, ...place }: Extract<Syntax, { kind: 'attribute' }>, locals: Locals): Expr {
    const root = of.kind === 'name' && !locals.names.has(of.name) ? of.name : undefined;
    if (root === 'state') return this.#ref('state', name.name, place);
    if (root === 'inputs') {
      const { inputs } = this.#scope;
      if (!inputs.includes(name.name))
        throw new TemplateFault(
          `there is no input \`${name.name}\``,
          name,
          didYouMean(nearestName(name.name, inputs)),
          certainName(name.name, inputs),
        );
      return this.#ref('inputs', name.name, place);
    }
    if (root === 'loop' && locals.loop !== undefined) return loopPart(name, locals.loop, this.at(place));
    const value = this.value(of, locals);
    if (value.kind === 'ref' && value.find === 'optional')
      return { ...value, path: [...value.path, name.name], ...this.at(place) };
    return this.call('function.item.py', [value, this.literal(name.name, name)], place);
  }

  #item({ of, key, ...place }: Extract<Syntax, { kind: 'item' }>, locals: Locals): Expr {
    const computed = this.value(key, locals);
    if (of.kind === 'name' && of.name === 'state' && !locals.names.has('state')) {
      const names = this.literal([...this.#scope.state], of);
      return this.call('function.stateField.py', [this.#name(of, locals), names, computed], place);
    }
    return this.call('function.item.py', [this.value(of, locals), computed], place);
  }

  #call(syntax: Extract<Syntax, { kind: 'call' }>, locals: Locals): Expr {
    const { of, args, named } = syntax;
    if (of.kind === 'attribute') {
      const { name } = of;
      if (
        of.of.kind === 'name' &&
        of.of.name === 'loop' &&
        locals.loop !== undefined &&
        name.name === 'cycle'
      ) {
        const items: Expr = { kind: 'list', items: args.map((arg) => ({ value: this.value(arg, locals) })) };
        const place: Expr = {
          kind: 'arithmetic',
          op: 'mod.py',
          left: locals.loop.index,
          right: this.literal(args.length, syntax),
        };
        return this.call('function.item.py', [items, place], syntax);
      }
      return this.#apply(
        METHODS,
        'method',
        { ...name, args, named },
        this.value(of.of, locals),
        locals,
        syntax,
      );
    }
    if (of.kind !== 'name' || locals.names.has(of.name))
      throw new TemplateFault('only functions and methods can be called', of);
    if (of.name === 'now') {
      if (args.length + named.length > 0)
        throw new TemplateFault(
          '`now` takes no arguments',
          { start: of.start, end: syntax.end },
          'times are in UTC',
        );
      return this.call('function.now.py', [{ kind: 'ref', root: 'run', path: ['now'] }], syntax);
    }
    if (of.name === 'dict') {
      const entries = named.map(({ name, value }) => ({ key: name.name, value: this.value(value, locals) }));
      const spread = args.map((arg) => ({ spread: this.value(arg, locals) }));
      return { kind: 'dict', entries: [...spread, ...entries], ...this.at(syntax) };
    }
    return this.#apply(FUNCTIONS, 'function', { ...of, args, named }, undefined, locals, syntax);
  }

  filter(value: Expr, filter: Applied, locals: Locals, place: Place): Expr {
    if ((NESTED_FILTERS as readonly string[]).includes(filter.name))
      return this.#nested(value, filter, locals, place);
    return this.#apply(FILTERS, 'filter', filter, value, locals, place);
  }

  #test(value: Expr, test: Applied, locals: Locals): Expr {
    return this.#apply(TESTS, 'test', test, value, locals, test);
  }

  /** `map`, `select` and their like: a loop over the items with a filter or test for each. */
  #nested(value: Expr, filter: Applied, locals: Locals, place: Place): Expr {
    const item = this.newLocal();
    const items = this.call('function.iterable.py', [value], place);
    const each = { kind: 'each', as: item.name, in: items, ...this.at(place) } as const;
    const { name, args } = filter;
    if (name === 'map') {
      const attribute = filter.named.find(({ name: each }) => each.name === 'attribute');
      if (attribute !== undefined) {
        const other = filter.named.find(({ name: each }) => each.name === 'default');
        const path = this.value(attribute.value, locals);
        const more = other === undefined ? [] : [this.value(other.value, locals)];
        return {
          ...each,
          mode: 'map',
          body: this.call('function.attribute.py', [item.ref, path, ...more], place),
        };
      }
      const inner = innerName(filter, args[0], 'filter');
      const application = { ...inner, args: args.slice(1), named: filter.named, end: filter.end };
      return { ...each, mode: 'map', body: this.filter(item.ref, application, locals, place) };
    }
    const byAttribute = name.endsWith('attr');
    const [first, ...others] = args;
    if (byAttribute && first === undefined) throw new TemplateFault(`\`${name}\` needs an attribute`, filter);
    const subject =
      byAttribute && first !== undefined
        ? this.call('function.attribute.py', [item.ref, this.value(first, locals)], first)
        : item.ref;
    const [testName, ...testArgs] = byAttribute ? others : args;
    const test =
      testName === undefined
        ? this.call('function.truth.py', [subject], place)
        : this.#test(
            subject,
            { ...innerName(filter, testName, 'test'), args: testArgs, named: filter.named, end: filter.end },
            locals,
          );
    const body: Expr = name.startsWith('reject') ? { kind: 'not', truth: 'boolean', of: test } : test;
    return { ...each, mode: 'filter', truth: 'boolean', body };
  }

  #apply(
    table: TableOf,
    kind: 'filter' | 'test' | 'method' | 'function',
    { name, args, named, start, end }: Applied,
    subject: Expr | undefined,
    locals: Locals,
    place: Place,
  ): Expr {
    const fn = table.get(name);
    if (fn === undefined) {
      const names = [
        ...table.keys(),
        ...(kind === 'filter' ? NESTED_FILTERS : []),
        ...(kind === 'function' ? ['now', 'dict'] : []),
      ];
      throw new TemplateFault(
        `there is no ${kind} \`${name}\``,
        { start, end: start + name.length },
        didYouMean(nearestName(name, names)) ?? otherKind(name, kind),
        certainName(name, names),
      );
    }
    const own = subject === undefined ? fn.parameters : fn.parameters.slice(1);
    const values: Expr[] = args.map((arg) => this.value(arg, locals));
    for (const { name: parameter, value } of named) {
      const index = own.indexOf(parameter.name);
      if (index === -1 || index < args.length) {
        const problem =
          index === -1 ? `has no argument \`${parameter.name}\`` : `is given \`${parameter.name}\` twice`;
        throw new TemplateFault(
          `\`${name}\` ${problem}`,
          parameter,
          index === -1 ? didYouMean(nearestName(parameter.name, own)) : undefined,
        );
      }
      while (values.length < index) values.push(ABSENT);
      values[index] = this.value(value, locals);
    }
    const all = subject === undefined ? values : [subject, ...values];
    const { min, max = Number.POSITIVE_INFINITY } = fn.arity;
    if (all.length < min || all.length > max) {
      const missing = fn.parameters[all.length];
      const problem =
        all.length < min
          ? `needs \`${missing}\``
          : `takes at most ${max - (subject === undefined ? 0 : 1)} arguments`;
      throw new TemplateFault(`\`${name}\` ${problem}`, { start, end });
    }
    return this.call(fn.name, all, place);
  }
}

function otherKind(name: string, kind: string): string | undefined {
  if (kind !== 'filter' && FILTERS.has(name)) return `write it as a filter: \`| ${name}\``;
  if (kind !== 'method' && METHODS.has(name)) return `write it as a method: \`.${name}()\``;
  return kind === 'function' && name === 'namespace'
    ? 'values do not change: use `sum`, `join` or `selectattr`'
    : undefined;
}

function innerName(filter: Applied, syntax: Syntax | undefined, kind: string): Name {
  if (syntax?.kind === 'literal' && typeof syntax.value === 'string')
    return { name: syntax.value, start: syntax.start, end: syntax.end };
  throw new TemplateFault(`\`${filter.name}\` needs the name of a ${kind} in quotes`, syntax ?? filter);
}

function keyOf(key: Syntax): string {
  if (key.kind === 'literal' && typeof key.value === 'string') return key.value;
  throw new TemplateFault('a key is a text in quotes', key);
}

const ARITHMETIC: Readonly<Record<string, PythonArithmetic>> = {
  ...{ '+': 'add.py', '-': 'sub.py', '*': 'mul.py', '/': 'div.py' },
  ...{ '//': 'floordiv.py', '%': 'mod.py', '**': 'pow.py', '~': 'concat.py' },
};

const COMPARISONS: Readonly<Record<string, PythonComparison>> = {
  ...{ '==': 'eq.py', '!=': 'ne.py', '<': 'lt.py', '<=': 'le.py', '>': 'gt.py', '>=': 'ge.py', in: 'in.py' },
};

/** What `{% for %}` knows as `loop`. */
interface Loop {
  readonly index: Expr;
  readonly items: Expr;
}

/** The value of `loop.index` and its like. */
function loopPart({ name, ...place }: Name, { index, items }: Loop, at: { readonly at?: Span }): Expr {
  const number = (value: number): Expr => ({ kind: 'literal', value, ...at });
  const length: Expr = { kind: 'call', fn: 'filter.length.py', args: [items], ...at };
  const sum = (op: 'add.py' | 'sub.py', left: Expr, right: Expr): Expr => ({
    kind: 'arithmetic',
    op,
    left,
    right,
    ...at,
  });
  const equal = (left: Expr, right: Expr): Expr => ({
    kind: 'compare',
    left,
    ops: [{ op: 'eq.py', right }],
    ...at,
  });
  const neighbour = (op: 'add.py' | 'sub.py', edge: Expr): Expr => ({
    kind: 'conditional',
    truth: 'boolean',
    test: equal(index, edge),
    // biome-ignore lint/suspicious/noThenProperty: a part of the tree
    then: { kind: 'literal' },
    else: { kind: 'call', fn: 'function.item.py', args: [items, sum(op, index, number(1))], ...at },
  });
  const parts: Readonly<Record<string, () => Expr>> = {
    index0: () => index,
    index: () => sum('add.py', index, number(1)),
    revindex: () => sum('sub.py', length, index),
    revindex0: () => sum('sub.py', sum('sub.py', length, index), number(1)),
    first: () => equal(index, number(0)),
    last: () => equal(sum('add.py', index, number(1)), length),
    length: () => length,
    depth: () => number(1),
    depth0: () => number(0),
    previtem: () => neighbour('sub.py', number(0)),
    nextitem: () => neighbour('add.py', sum('sub.py', length, number(1))),
  };
  const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
  if (part !== undefined) return part();
  const hint = didYouMean(nearestName(name, Object.keys(parts)));
  throw new TemplateFault(`\`loop\` has no \`${name}\``, place, hint);
}
