import { sha256Hex } from '../../graph/canonical.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { FunctionRef } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { FunctionHandle, WorkflowDeclaration } from '../declarations.js';
import type { ExpressionSyntax, FunctionSymbol } from '../syntax.js';
import { allPartsOf, symbolOf } from '../verbs.js';

/** The functions that workflows name, over all of a registry. */
export class Functions {
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #handles = new Map<string, FunctionHandle>();
  /** By the name it is exported by, the modules of the functions that a workflow mentions. */
  readonly #modules = new Map<string, Set<string>>();

  constructor(workflows: readonly WorkflowDeclaration[], report: (diagnostic: Diagnostic) => void) {
    this.#report = report;
    for (const { steps } of workflows) {
      for (const { initializer } of steps) {
        for (const symbol of functionsIn(initializer)) {
          const name = exportedName(symbol);
          this.#modules.set(name, (this.#modules.get(name) ?? new Set()).add(symbol.file));
        }
      }
    }
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
    const name = this.#nameOf(symbol);
    const hash = sha256Hex(symbol.source);
    this.#handles.set(name, { name, ownName: exportedName(symbol), hash, file, exportName, place });
    return { name, hash };
  }

  /** Its own name where no other function of the registry has it, else with its module before it. */
  #nameOf(symbol: FunctionSymbol): string {
    const name = exportedName(symbol);
    const isShared = (this.#modules.get(name)?.size ?? 0) > 1;
    return isShared ? `${symbol.file.replace(/[#%\s]/g, encodeURIComponent)}#${name}` : name;
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

/** The functions that an expression mentions, called there or handed on. */
function* functionsIn(syntax: ExpressionSyntax): Generator<FunctionSymbol> {
  for (const part of allPartsOf(syntax)) {
    const symbol = symbolOf(part);
    if (symbol?.kind === 'function' && symbol.exportName !== undefined) yield symbol;
  }
}

/** A default export goes by the name it is declared by. */
function exportedName({ exportName, name }: FunctionSymbol): string {
  return exportName === undefined || exportName === 'default' ? name : exportName;
}

/** Nothing where the table's own advice, to export it, is the repair. */
function hintFor({ exportName, why }: FunctionSymbol): string | undefined {
  if (exportName === undefined && why !== 'its source is not part of the project') return undefined;
  return 'write a function of your own that computes the value at once, and export it at the top level';
}
