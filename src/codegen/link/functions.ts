import { sha256Hex } from '../../graph/canonical.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { FunctionRef } from '../../graph/model.js';
import { formatPlace, type Place } from '../../graph/place.js';
import type { FunctionHandle } from '../declarations.js';
import type { FunctionSymbol } from '../syntax.js';

/** The functions that workflows name, over all of a registry. */
export class Functions {
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #handles = new Map<string, FunctionHandle>();

  constructor(report: (diagnostic: Diagnostic) => void) {
    this.#report = report;
  }

  /** The function as a graph names it; nothing where a registry cannot import it, which is reported. */
  refer(symbol: FunctionSymbol, at: Place): FunctionRef | undefined {
    const { exportName, why, file, place } = symbol;
    if (callsVerb(symbol, at, this.#report)) return undefined;
    if (why !== undefined || exportName === undefined) {
      const params = { name: symbol.name, why: why ?? 'its module does not export it' };
      this.#report(diagnostic('SW2004', at, params, { hint: hintFor(symbol) }));
      return undefined;
    }
    const name = exportName === 'default' ? symbol.name : exportName;
    const known = this.#handles.get(name);
    if (known !== undefined && formatPlace(known.place) !== formatPlace(place)) {
      const related = [
        { message: 'one of them', place: known.place },
        { message: 'the other one', place },
      ];
      this.#report(diagnostic('SW1004', at, { kind: 'function', name }, { related }));
      return undefined;
    }
    const hash = sha256Hex(symbol.source);
    this.#handles.set(name, { name, hash, file, exportName, place });
    return { name, hash };
  }

  /** The functions of these names. */
  named(names: readonly string[]): readonly FunctionHandle[] {
    return [...new Set(names)].flatMap((name) => this.#handles.get(name) ?? []);
  }
}

/** Reports a function that calls a verb: codegen reads verbs in the class of a workflow, and everywhere else they throw. */
export function callsVerb(
  { name, verb }: FunctionSymbol,
  at: Place,
  report: (diagnostic: Diagnostic) => void,
): boolean {
  if (verb === undefined) return false;
  const related = [{ message: `\`${verb.name}\` is called here`, place: verb.place }];
  report(diagnostic('SW2007', at, { name, verb: verb.name }, { related }));
  return true;
}

/** Nothing where the table's own advice, to export it, is the repair. */
function hintFor({ exportName, why }: FunctionSymbol): string | undefined {
  if (exportName === undefined && why !== 'its source is not part of the project') return undefined;
  return 'write a function of your own that computes the value at once, and export it at the top level';
}
