import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { ArgDeclaration } from '../declarations.js';
import type { DecoratorSyntax, ExpressionSyntax, FieldSyntax } from '../syntax.js';
import { withoutUndefined } from '../type-syntax.js';
import { symbolOf, unwrap } from '../verbs.js';
import { checkField, checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

type Report = (diagnostic: Diagnostic) => void;

/** Reads a field under @Arg; nothing where it cannot be named. What else has a fault is reported, and left out. */
export function readArg(
  field: FieldSyntax,
  decorator: DecoratorSyntax,
  report: Report,
): ArgDeclaration | undefined {
  const { name, place, initializer } = field;
  const options = readOptions(decorator, 'Arg', name, report);
  const { name: argument = name } = textOptions(options, ['name']);
  const isNamed =
    checkField('argument', name, place, report) &&
    (argument === name || checkName('argument', argument, placeOfOption(options, 'name', place), report));
  if (initializer !== undefined) {
    const hint = "write the value as `default` of @Arg, and declare the field as `Arg<T, 'default'>`";
    report(
      diagnostic('SW1016', initializer.place, { decorator: 'Arg', what: 'a field with a value' }, { hint }),
    );
  }
  checkComplete(options.syntax.complete, report);
  if (!isNamed) return undefined;
  const type = field.type ?? { kind: 'unknown' };
  const mayBeAbsent = type.kind === 'union' && type.members.some((member) => member.kind === 'undefined');
  return {
    name,
    argument,
    place,
    optional: field.optional || mayBeAbsent,
    options: {
      ...options.values,
      ...(options.syntax.complete === undefined ? {} : { complete: { $function: true } }),
    },
    optionSyntax: options.syntax,
    type: withoutUndefined(type),
  };
}

/** Completion is code, which runs on the server: it has to be a function, and is not looked into. */
function checkComplete(syntax: ExpressionSyntax | undefined, report: Report): void {
  if (syntax === undefined) return;
  const given = unwrap(syntax);
  const isFunction = given.kind === 'arrow' || given.kind === 'unsupported' || symbolOf(given) !== undefined;
  if (isFunction || given.kind === 'property' || given.kind === 'call') return;
  const params = { decorator: 'Arg', option: 'complete', expected: 'a function' };
  report(diagnostic('SW1012', given.place, params));
}
