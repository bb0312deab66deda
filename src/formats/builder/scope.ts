import type { Expr } from '../../graph/expression/tree.js';
import { isValidName } from '../../graph/names.js';
import { resolveTool } from './resolve.js';
import type { StepDefinition } from './step.js';

/** The names of a workflow while its steps are lowered one after the other. */
export class Scope {
  /** Ids of the steps, in order: the binding, else the tool's name, with a number where that is taken. */
  readonly ids: readonly string[];
  readonly args: readonly string[];
  readonly #taken: Set<string>;
  readonly #bindings: ReadonlySet<string>;
  readonly #unbound: ReadonlySet<string>;
  readonly #bound = new Map<string, Expr | undefined>();

  constructor(workflow: string, steps: readonly StepDefinition[], args: readonly string[]) {
    this.args = args;
    this.#bindings = new Set(steps.flatMap(({ binding }) => binding ?? []));
    this.#taken = new Set(this.#bindings);
    const tools = steps.map(({ tool }) => resolveTool(tool, workflow).name);
    this.ids = steps.map(({ binding }, index) => binding ?? this.derive(tools[index] ?? ''));
    this.#unbound = new Set(
      steps.flatMap(({ binding }, index) =>
        binding === undefined ? [tools[index] ?? '', this.ids[index] ?? ''] : [],
      ),
    );
  }

  /** The bindings of the steps so far, in order, listed when they are asked for. */
  available(): () => readonly string[] {
    const count = this.#bound.size;
    return () => [...this.#bound.keys()].slice(0, count);
  }

  /** An id that nothing else has. */
  derive(base: string): string {
    const start = isValidName('step', base) ? base : 'step';
    let id = start;
    for (let number = 2; this.#taken.has(id); number++) id = `${start}-${number}`;
    this.#taken.add(id);
    return id;
  }

  /** Whether some step of the workflow has this binding. */
  hasBinding(name: string): boolean {
    return this.#bindings.has(name);
  }

  /** Whether a step without a binding goes by this name. */
  isUnbound(name: string): boolean {
    return this.#unbound.has(name);
  }

  /** Of two steps with one binding the first has it. @param value nothing where it was reported. */
  bind(name: string, value: Expr | undefined): void {
    if (!this.#bound.has(name)) this.#bound.set(name, value);
  }

  /** Whether a step before the one at hand has this binding. */
  isBound(name: string): boolean {
    return this.#bound.has(name);
  }

  /** What a binding stands for; nothing where that was reported. */
  valueOf(name: string): Expr | undefined {
    return this.#bound.get(name);
  }
}
