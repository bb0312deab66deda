import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { PromptDeclaration } from '../declarations.js';
import { type DecoratedClass, UNNAMED } from './collected.js';
import { readFields } from './fields.js';
import { inherits } from './members.js';
import { calledMethods, hasMethod, withoutMethod } from './methods.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Prompt. What has a fault is reported, and left out or stood in for. */
export function readPrompt(decorated: DecoratedClass): PromptDeclaration {
  const { syntax, handle, decorator, report } = decorated;
  const options = readOptions(decorator, 'Prompt', syntax.name, report);
  const { name, title, description } = textOptions(options, ['name', 'title', 'description']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name !== undefined && checkName('prompt', name, namePlace, report);
  const { args, steps } = readFields(syntax, report);
  for (const { place, decorated, isFaulty } of steps) {
    const hint = 'a prompt renders messages: what is to be run is a @Workflow';
    const params = { decorator: 'Step', what: 'a field of a prompt' };
    if (decorated && !isFaulty) report(diagnostic('SW1016', place, params, { hint }));
  }
  if (syntax.base !== undefined && syntax.base.fields.length > 0)
    report(inherits(syntax, syntax.base, 'prompt'));
  calledMethods(decorated, 'render');
  if (!hasMethod(decorated, 'render'))
    report(withoutMethod(syntax, 'render', 'render(args, context)', 'the messages'));
  return {
    ...handle,
    name: isNamed ? name : UNNAMED,
    namePlace,
    ...(title === undefined ? {} : { title }),
    description: description ?? '',
    options: options.values,
    args,
  };
}
