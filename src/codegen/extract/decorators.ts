import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../graph/suggest.js';
import type { DecoratorSyntax } from '../syntax.js';
import { DECORATOR_NAMES, type DecoratorName, isDecoratorName } from './options.js';

/** A decorator of this package. */
export interface OwnDecorator {
  readonly name: DecoratorName;
  readonly syntax: DecoratorSyntax;
}

/** What the decorators of one class or field come to. */
export interface OwnDecorators {
  readonly found: readonly OwnDecorator[];
  /** Decorators that were most likely meant to be ours, and have been reported. */
  readonly misspelt: readonly DecoratorName[];
}

/** Picks this package's decorators. Those of other libraries are left alone, whatever their names are. */
export function ownDecorators(
  decorators: readonly DecoratorSyntax[],
  report: (diagnostic: Diagnostic) => void,
): OwnDecorators {
  const found: OwnDecorator[] = [];
  const misspelt: DecoratorName[] = [];
  for (const syntax of decorators) {
    const { callee } = syntax;
    if (callee.kind === 'stepwright' && isDecoratorName(callee.name)) {
      found.push({ name: callee.name, syntax });
      continue;
    }
    if (callee.kind !== 'unresolved' && callee.kind !== 'stepwright') continue;
    const meant = isDecoratorName(callee.name) ? callee.name : nearestDecorator(callee.name);
    // What is imported from this package was meant to be ours, however it is spelt.
    if (meant === undefined && callee.kind === 'unresolved') continue;
    if (meant !== undefined) misspelt.push(meant);
    const suggestion = meant === callee.name ? undefined : meant;
    const hint = meant === undefined ? 'stepwright has no decorator of this name' : undefined;
    report(diagnostic('SW1019', syntax.place, { decorator: callee.name, suggestion }, { hint }));
  }
  return { found, misspelt };
}

function nearestDecorator(name: string): DecoratorName | undefined {
  const near = nearestName(name, DECORATOR_NAMES);
  return near !== undefined && isDecoratorName(near) ? near : undefined;
}
