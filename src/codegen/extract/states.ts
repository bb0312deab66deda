import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Json } from '../../graph/json.js';
import type { StateDeclaration } from '../declarations.js';
import { type DecoratedClass, UNNAMED } from './collected.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @State; nothing when it has no `value`. What else has a fault is reported, and left out. */
export function readState({
  syntax,
  handle,
  decorator,
  report,
}: DecoratedClass): StateDeclaration | undefined {
  const options = readOptions(decorator, 'State', syntax.name, report);
  const { name } = textOptions(options, ['name']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name !== undefined && checkName('state', name, namePlace, report);
  const value = syntax.fields.find((field) => field.name === 'value' && !field.isStatic);
  if (value === undefined) {
    const problem = 'the class has no field `value`, whose type says what is kept';
    const hint = 'add one: `value!: string`';
    report(diagnostic('SW1025', syntax.place, { state: name ?? syntax.name, problem }, { hint }));
  }
  if (value === undefined) return undefined;
  return {
    ...handle,
    name: isNamed ? name : UNNAMED,
    namePlace,
    // The rule of this option admits literals only.
    ...('initial' in options.values && options.values.initial !== undefined
      ? {
          initial: options.values.initial as Json,
          initialPlace: placeOfOption(options, 'initial', namePlace),
        }
      : {}),
    type: value.type ?? { kind: 'unknown' },
    typePlace: value.place,
  };
}
