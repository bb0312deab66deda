import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { ClassSyntax, DecoratorSyntax, ExpressionSyntax, ImportCycle } from '../syntax.js';
import { partsOf, symbolOf, unwrap } from '../verbs.js';
import { isDecoratorName } from './options.js';

/**
 * Reports what a decorator names at once although its module may not have run yet: the other module imports this one
 * as well, and it depends on the first import of all which of them runs first. What stands in a function is named later.
 */
export function refuseCycles(
  { decorators, fields }: ClassSyntax,
  cycles: readonly ImportCycle[],
  file: string,
  report: (diagnostic: Diagnostic) => void,
): void {
  if (cycles.length === 0) return;
  for (const decorator of [...decorators, ...fields.flatMap((field) => field.decorators)]) {
    const { callee } = decorator;
    if (callee.kind !== 'stepwright' || !isDecoratorName(callee.name)) continue;
    for (const fault of cyclesIn(decorator, callee.name, cycles, file)) report(fault);
  }
}

function cyclesIn(
  { args }: DecoratorSyntax,
  decorator: string,
  cycles: readonly ImportCycle[],
  file: string,
): Diagnostic[] {
  return args.flatMap(namedAtOnce).flatMap((syntax) => {
    const symbol = symbolOf(syntax);
    const module = symbol !== undefined && 'file' in symbol ? symbol.file : undefined;
    const cycle = cycles.find((each) => each.file === module);
    if (symbol === undefined || cycle === undefined) return [];
    const way = [file, ...cycle.back.map((each) => each.file), file].join(' → ');
    const related = cycle.back.map(({ file: importer, place }) => ({
      message: `\`${importer}\` imports here`,
      place,
    }));
    return diagnostic('SW1023', syntax.place, { name: symbol.name, decorator, cycle: way }, { related });
  });
}

/** The names in an expression that are looked up when it is evaluated. Declared functions are there from the start. */
function namedAtOnce(syntax: ExpressionSyntax): readonly ExpressionSyntax[] {
  const inner = unwrap(syntax);
  if (inner.kind === 'arrow') return [];
  const symbol = symbolOf(inner);
  if (symbol !== undefined) return symbol.kind === 'function' ? [] : [inner];
  return partsOf(inner).flatMap(namedAtOnce);
}
