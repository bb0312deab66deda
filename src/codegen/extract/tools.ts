import type { Icon, ToolAnnotations } from '../../decorators/tool.js';
import type { ToolDeclaration } from '../declarations.js';
import { unwrap } from '../verbs.js';
import { readClasses } from './class-lists.js';
import { type DecoratedClass, UNNAMED } from './collected.js';
import { readHints } from './hints.js';
import { calledMethods, hasMethod, withoutMethod } from './methods.js';
import { checkName } from './names.js';
import { type ReadOptions, readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Tool. What has a fault is reported, and left out or stood in for. */
export function readTool(decorated: DecoratedClass): ToolDeclaration {
  const { syntax, handle, decorator, report } = decorated;
  const options = readOptions(decorator, 'Tool', syntax.name, report);
  const { name, title, description } = textOptions(options, ['name', 'title', 'description']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name !== undefined && checkName('tool', name, namePlace, report);
  const executes = calledMethods(decorated, 'execute');
  if (!hasMethod(decorated, 'execute')) report(withoutMethod(syntax, 'execute', 'execute(input, context)'));
  const execute = executes.at(-1);
  const parameter = execute?.parameters[0];
  const hints = readHints(options, report);
  const needsState = readClasses('Tool', 'needsState', options.syntax.needsState, report);
  return {
    ...handle,
    name: isNamed ? name : UNNAMED,
    namePlace,
    description: description ?? '',
    ...(title === undefined ? {} : { title }),
    // The rule of this option admits nothing else.
    ...('annotations' in options.values
      ? { annotations: options.values.annotations as ToolAnnotations }
      : {}),
    ...('icons' in options.values ? { icons: options.values.icons as readonly Icon[] } : {}),
    ...(hints === undefined ? {} : { hints }),
    ...secretsOf(options),
    ...(needsState === undefined ? {} : { needsState }),
    hasInputSchema: 'input' in options.syntax,
    ...(parameter?.type === undefined ? {} : { inputType: parameter.type, inputPlace: parameter.place }),
    ...(executes.length < 2 ? {} : { overloads: executes.map(({ place }) => place) }),
    ...(execute === undefined ? {} : { outputType: execute.returns, outputPlace: execute.returnsPlace }),
  };
}

/** The names of the option `secret`, and where each of them is written. */
function secretsOf({ values, syntax }: ReadOptions): Pick<ToolDeclaration, 'secret' | 'secretPlaces'> {
  const list = syntax.secret && unwrap(syntax.secret);
  if (!('secret' in values) || list?.kind !== 'array') return {};
  // The option's rule admits texts only.
  return {
    secret: values.secret as readonly string[],
    secretPlaces: list.items.map(({ value }) => value.place),
  };
}
