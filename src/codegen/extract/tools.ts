import type { ToolAnnotations } from '../../decorators/tool.js';
import type { ToolDeclaration } from '../declarations.js';
import type { DecoratedClass } from './collected.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Tool; nothing when its name or description is missing or has a fault. */
export function readTool({ syntax, handle, decorator, report }: DecoratedClass): ToolDeclaration | undefined {
  const options = readOptions(decorator, 'Tool', syntax.name, report);
  const { name, title, description } = textOptions(options, ['name', 'title', 'description']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name === undefined || checkName('tool', name, namePlace, report);
  if (name === undefined || description === undefined || !isNamed) return undefined;
  const execute = syntax.methods.find((method) => method.name === 'execute');
  const inputType = execute?.parameters[0]?.type;
  return {
    ...handle,
    name,
    namePlace,
    description,
    ...(title === undefined ? {} : { title }),
    // The rule of this option admits nothing else.
    ...('annotations' in options.values
      ? { annotations: options.values.annotations as ToolAnnotations }
      : {}),
    hasInputSchema: 'input' in options.syntax,
    ...(inputType === undefined ? {} : { inputType }),
  };
}
