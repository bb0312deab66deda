import type { Failure } from '../engine/contract.js';
import { hasMethod } from './factories.js';
import type { AnyClass } from './registry.js';
import { message, texts } from './texts.js';
import { thrownText } from './thrown.js';

export type Made<N extends string> =
  | { readonly ok: true; readonly instance: { readonly [P in N]: (...args: readonly unknown[]) => unknown } }
  /** `thrown` is what the factory or the constructor threw. */
  | { readonly ok: false; readonly failure: Failure; readonly thrown?: unknown };

const FACTORY_CODES = {
  tool: 'E_TOOL_FACTORY',
  resource: 'E_RESOURCE_FACTORY',
  prompt: 'E_PROMPT_FACTORY',
} as const;

/**
 * The instances of one kind of class, each made once and on first use, by its factory or else by `new`. A factory
 * that throws is asked again by the next call: what it lacked may be there by then.
 */
export class Instances<N extends string> {
  readonly #made = new Map<string, Extract<Made<N>, { ok: true }>>();

  constructor(
    readonly kind: keyof typeof FACTORY_CODES,
    /** The method each instance must have. */
    readonly method: N,
    readonly factories: Readonly<Record<string, () => object>>,
  ) {}

  get(name: string, cls: AnyClass): Made<N> {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const factory = Object.hasOwn(this.factories, name) ? this.factories[name] : undefined;
    const code = FACTORY_CODES[this.kind];
    let instance: unknown;
    try {
      instance = factory === undefined ? Reflect.construct(cls, []) : factory();
    } catch (error) {
      const text = factory === undefined ? texts.constructorThrew : texts.factoryThrew;
      const failure = { code, message: message(text(this.kind, name, thrownText(error))) };
      return { ok: false, failure, thrown: error };
    }
    if (!hasMethod(instance, this.method)) {
      return {
        ok: false,
        failure: { code, message: message(texts.factoryUseless(this.kind, name, this.method)) },
      };
    }
    const made = { ok: true, instance } as const;
    this.#made.set(name, made);
    return made;
  }
}
