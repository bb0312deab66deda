import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { Place } from '../../graph/place.js';
import { nearestName } from '../../graph/suggest.js';
import type { WorkflowDeclaration } from '../declarations.js';

/** What a field of the workflow stands for once it has been linked. */
export type Binding =
  | { readonly kind: 'value'; readonly expr: Expr }
  /** Ends its workflow: nothing that comes after sees a value. */
  | { readonly kind: 'end' }
  /** Its own fault has been reported, so that using it is none. */
  | { readonly kind: 'faulty' };

/** The names a step may use: arguments and steps written before it. */
export interface Bindings {
  /** What a name stands for; nothing where it cannot be used, which has been reported. */
  resolve(name: string, at: Place): Binding | undefined;
  /** The same without a report. */
  find(name: string): Binding | undefined;
  /** What to write instead of a name that `find` does not know, where that is known. */
  hintFor(name: string): { readonly suggestion?: string | undefined; readonly hint?: string | undefined };
}

/** Bindings while a workflow is linked, field by field. */
export class WorkflowBindings implements Bindings {
  readonly #bound = new Map<string, Binding>();
  readonly #places: ReadonlyMap<string, Place>;
  /** Fields of arguments by the names that callers know them by, which guidance may use. */
  readonly #fieldsByArgument: ReadonlyMap<string, string>;
  readonly #report: (diagnostic: Diagnostic) => void;
  #current = '';

  constructor(workflow: WorkflowDeclaration, report: (diagnostic: Diagnostic) => void) {
    this.#places = new Map([...workflow.args, ...workflow.steps].map(({ name, place }) => [name, place]));
    this.#fieldsByArgument = new Map(
      workflow.args.flatMap(({ argument, name }) => (this.#places.has(argument) ? [] : [[argument, name]])),
    );
    for (const name of workflow.faultyFields) this.#bound.set(name, { kind: 'faulty' });
    this.#report = report;
  }

  /** Names the field whose initializer is read next. */
  enter(name: string): void {
    this.#current = name;
  }

  bind(name: string, binding: Binding): void {
    this.#bound.set(name, binding);
  }

  find(name: string): Binding | undefined {
    return this.#bound.get(this.#fieldsByArgument.get(name) ?? name);
  }

  hintFor(name: string): { readonly suggestion?: string | undefined; readonly hint?: string | undefined } {
    if (!this.#places.has(name)) return { suggestion: nearestName(name, this.#bound.keys()) };
    if (name === this.#current) return { hint: 'a step has no value before it has run' };
    return { hint: `\`${name}\` is bound below: move it above \`${this.#current}\`` };
  }

  resolve(name: string, at: Place): Binding | undefined {
    const bound = this.#bound.get(name);
    if (bound !== undefined) return bound;
    const later = this.#places.get(name);
    if (later === undefined) {
      const suggestion = nearestName(name, this.#bound.keys());
      this.#report(diagnostic('SW3001', at, { name, suggestion }));
      return undefined;
    }
    const related = name === this.#current ? [] : [{ message: 'bound here', place: later }];
    this.#report(diagnostic('SW3004', at, { name, step: this.#current }, { related }));
    return undefined;
  }
}
