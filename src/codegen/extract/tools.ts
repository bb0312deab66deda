import type { Icon, ToolAnnotations } from '../../decorators/tool.js';
import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { contradictedHint, type RetrySafety } from '../../graph/tool-safety.js';
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
  const effects = readEffects(options);
  const contradicted = contradictedHint(effects);
  if (contradicted !== undefined && effects.retrySafety !== undefined) {
    const params = { tool: name ?? syntax.name, safety: effects.retrySafety, ...contradicted };
    report(diagnostic('SW1032', placeOfOption(options, 'retrySafety', decorator.place), params));
  }
  const needsState = readClasses('Tool', 'needsState', options.syntax.needsState, report);
  return {
    ...handle,
    name: isNamed ? name : UNNAMED,
    namePlace,
    description: description ?? '',
    ...(title === undefined ? {} : { title }),
    ...effects,
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

/** What the tool says of its effects; the rules of these options admit nothing else. */
function readEffects({ values }: ReadOptions): Pick<ToolDeclaration, 'annotations' | 'retrySafety'> {
  return {
    ...('annotations' in values ? { annotations: values.annotations as ToolAnnotations } : {}),
    ...('retrySafety' in values ? { retrySafety: values.retrySafety as RetrySafety } : {}),
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
