import type { Expr } from '../../graph/expression/tree.js';
import { ABSENT, type Locals, NO_LOCALS, type TemplateScope, ValueLowering } from './lower-values.js';
import { parseTemplate } from './parser.js';
import type { Block, Name, Place, Syntax } from './syntax.js';
import { hasTemplate, TemplateFault, TemplateFaults } from './tokens.js';

/**
 * Where a template is. It decides about a value that is missing: an error as a `value` and in a `text` for programs, the
 * empty text in a text for a `reader`, false as a `condition`.
 */
export type TemplatePosition = 'value' | 'text' | 'reader' | 'condition';

/**
 * Lowers a template to a tree. A lone `{{ … }}` is its value, unless a text is wanted; all else is text.
 *
 * @throws TemplateFault the first fault, with the further ones; offsets are those into the template
 */
export function lowerTemplate(template: string, position: TemplatePosition, scope: TemplateScope): Expr {
  const isText = position === 'text' || position === 'reader';
  const written = isText ? template : template.trim();
  if (!hasTemplate(written)) return { kind: 'literal', value: written };
  // Offsets are those of the whole text.
  const start = isText ? 0 : template.indexOf(written);
  const faults = new TemplateFaults();
  const expr = faults.collect(() => {
    const blocks = parseTemplate(template.slice(0, start + written.length), faults);
    return lowerBlocks(blocks, position, new ValueLowering(scope, faults), { start, end: template.length });
  }, ABSENT);
  faults.throwAny();
  return expr;
}

function lowerBlocks(
  blocks: readonly Block[],
  position: TemplatePosition,
  values: ValueLowering,
  whole: Place,
): Expr {
  const isText = position === 'text' || position === 'reader';
  const [only, ...others] = blocks.filter(
    (block) => block.kind !== 'data' || block.text.trim() !== '' || isText,
  );
  if (!isText && only?.kind === 'output' && others.length === 0) {
    const value = values.value(only.value, NO_LOCALS);
    // The checker knows what a literal is.
    const isValue = value.kind === 'literal' && value.value !== undefined;
    return position === 'condition' || isValue
      ? value
      : values.call('function.value.py', [value], only.value);
  }
  if (position === 'condition')
    throw new TemplateFault(
      'a condition is one `{{ … }}`',
      whole,
      'write the whole condition in one `{{ … }}`',
    );
  return new TextLowering(values, position).text(blocks, NO_LOCALS);
}

/** Lowers the blocks of a template to text. */
class TextLowering {
  readonly #values: ValueLowering;
  readonly #position: TemplatePosition;

  constructor(values: ValueLowering, position: TemplatePosition) {
    this.#values = values;
    this.#position = position;
  }

  text(blocks: readonly Block[], locals: Locals): Expr {
    return this.#sequence(blocks, locals, [], (_, parts) => textOf(parts));
  }

  /**
   * Lowers blocks one after another. A name that is set holds for all that follow, so that `set` is around the rest.
   *
   * @param finish makes the value of all parts, with the names as they are then.
   */
  #sequence(
    blocks: readonly Block[],
    locals: Locals,
    before: readonly (string | Expr)[],
    finish: (locals: Locals, parts: readonly (string | Expr)[]) => Expr,
  ): Expr {
    const parts = [...before];
    for (const [index, block] of blocks.entries()) {
      if (block.kind === 'set') {
        const local = this.#values.newLocal();
        const { value } = block;
        const assigned = isSyntax(value) ? this.#values.value(value, locals) : this.text(value, locals);
        const names = this.#unpack(block.names, local.ref, locals);
        const rest = blocks.slice(index + 1);
        const body = this.#values.within(block, () =>
          this.#sequence(rest, { ...locals, names }, parts, finish),
        );
        return { kind: 'let', name: local.name, value: assigned, body };
      }
      const names = block.kind === 'if' ? namesSetIn([block]) : [];
      if (block.kind === 'if' && names.length > 0) {
        // The text of the branch that is taken, and the names as they are behind it.
        const local = this.#values.newLocal();
        const branch = this.#if(block, locals, (end, inside) => ({
          kind: 'list',
          items: [textOf(inside), ...names.map((name) => end.names.get(name) ?? ABSENT)].map((value) => ({
            value,
          })),
        }));
        const part = (place: number): Expr =>
          this.#values.call('function.item.py', [local.ref, this.#values.literal(place, block)], block);
        const after = new Map([
          ...locals.names,
          ...names.map((name, place) => [name, part(place + 1)] as const),
        ]);
        const rest = blocks.slice(index + 1);
        const body = this.#values.within(block, () =>
          this.#sequence(rest, { ...locals, names: after }, [...parts, part(0)], finish),
        );
        return { kind: 'let', name: local.name, value: branch, body };
      }
      parts.push(this.#part(block, locals));
    }
    return finish(locals, parts);
  }

  #part(block: Exclude<Block, { kind: 'set' }>, locals: Locals): string | Expr {
    switch (block.kind) {
      case 'data':
        return block.text;
      case 'output':
        return this.#output(block.value, locals);
      case 'if':
        return this.#if(block, locals, (_, parts) => textOf(parts));
      case 'for':
        return this.#for(block, locals);
      case 'with':
        return this.#with(block, locals);
      case 'filter':
        return block.filters.reduce<Expr>(
          (value, filter) => this.#values.filter(value, filter, locals, block),
          this.text(block.body, locals),
        );
      default:
        return block satisfies never;
    }
  }

  #output(syntax: Syntax, locals: Locals): string | Expr {
    if (syntax.kind === 'literal' && typeof syntax.value === 'string') return syntax.value;
    const value = this.#values.value(syntax, locals);
    if (value.kind === 'text') return value;
    const fn = this.#position === 'reader' ? 'textOrNothing' : 'text';
    return this.#values.call(`function.${fn}.py`, [value], syntax);
  }

  #if(
    block: Extract<Block, { kind: 'if' }>,
    locals: Locals,
    finish: (locals: Locals, parts: readonly (string | Expr)[]) => Expr,
  ): Expr {
    return block.cases.reduceRight<Expr>(
      (otherwise, { test, body }) => ({
        kind: 'conditional',
        truth: 'truthy.py',
        test: this.#values.value(test, locals),
        // biome-ignore lint/suspicious/noThenProperty: a part of the tree
        then: this.#sequence(body, locals, [], finish),
        else: otherwise,
      }),
      this.#sequence(block.otherwise, locals, [], finish),
    );
  }

  #for(block: Extract<Block, { kind: 'for' }>, locals: Locals): Expr {
    const items = this.#values.call(
      'function.iterable.py',
      [this.#values.value(block.items, locals)],
      block.items,
    );
    const [item, index, list] = [this.#values.newLocal(), this.#values.newLocal(), this.#values.newLocal()];
    const names = this.#unpack(block.names, item.ref, locals);
    const test = block.test;
    const chosen: Expr =
      test === undefined
        ? items
        : {
            kind: 'each',
            mode: 'filter',
            as: item.name,
            in: items,
            truth: 'truthy.py',
            body: this.#values.value(test, { names }),
          };
    const body = this.text(block.body, { names, loop: { index: index.ref, items: list.ref } });
    const texts: Expr = { kind: 'each', mode: 'map', as: item.name, indexAs: index.name, in: list.ref, body };
    const whole: Expr = {
      kind: 'conditional',
      truth: 'truthy.py',
      test: list.ref,
      // biome-ignore lint/suspicious/noThenProperty: a part of the tree
      then: this.#values.call('function.concat.py', [texts], block),
      else: this.text(block.otherwise, locals),
    };
    return { kind: 'let', name: list.name, value: chosen, body: whole };
  }

  /** The names of a loop or of `set`, of one value or of its items. */
  #unpack(written: readonly Name[], value: Expr, locals: Locals): ReadonlyMap<string, Expr> {
    const [only, ...others] = written;
    const names = new Map(locals.names);
    if (only !== undefined && others.length === 0) names.set(only.name, value);
    else
      for (const [index, name] of written.entries())
        names.set(
          name.name,
          this.#values.call('function.item.py', [value, this.#values.literal(index, name)], name),
        );
    return names;
  }

  #with({ bindings, body }: Extract<Block, { kind: 'with' }>, locals: Locals): Expr {
    const names = new Map(locals.names);
    const lets: { readonly name: string; readonly value: Expr }[] = [];
    for (const { name, value } of bindings) {
      const local = this.#values.newLocal();
      lets.push({ name: local.name, value: this.#values.value(value, locals) });
      names.set(name.name, local.ref);
    }
    return lets.reduceRight<Expr>(
      (inner, { name, value }) => ({ kind: 'let', name, value, body: inner }),
      this.text(body, { ...locals, names }),
    );
  }
}

function isSyntax(value: Syntax | readonly Block[]): value is Syntax {
  return !Array.isArray(value);
}

/** The names that blocks set and that hold behind them: `if` has no names of its own. */
function namesSetIn(blocks: readonly Block[]): readonly string[] {
  const names = blocks.flatMap((block) => {
    if (block.kind === 'set') return block.names.map(({ name }) => name);
    return block.kind === 'if'
      ? namesSetIn([...block.cases.flatMap(({ body }) => body), ...block.otherwise])
      : [];
  });
  return [...new Set(names)];
}

function textOf(parts: readonly (string | Expr)[]): Expr {
  const [only] = parts;
  if (parts.length === 0) return { kind: 'literal', value: '' };
  if (parts.length === 1 && typeof only === 'string') return { kind: 'literal', value: only };
  return { kind: 'text', style: 'strict', parts };
}
