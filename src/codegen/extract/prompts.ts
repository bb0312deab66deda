import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { PromptDeclaration } from '../declarations.js';
import type { DecoratedClass } from './collected.js';
import { readFields } from './fields.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Prompt; nothing when it lacks a name, a description or `render`, or one has a fault. */
export function readPrompt({
  syntax,
  handle,
  decorator,
  report,
}: DecoratedClass): PromptDeclaration | undefined {
  const options = readOptions(decorator, 'Prompt', syntax.name, report);
  const { name, title, description } = textOptions(options, ['name', 'title', 'description']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name === undefined || checkName('prompt', name, namePlace, report);
  const { args, steps } = readFields(syntax, report);
  for (const { place, decorated, isFaulty } of steps) {
    const hint = 'a prompt renders messages: what is to be run is a @Workflow';
    const params = { decorator: 'Step', what: 'a field of a prompt' };
    if (decorated && !isFaulty) report(diagnostic('SW1016', place, params, { hint }));
  }
  const hasRender = syntax.base !== undefined || syntax.methods.some((method) => method.name === 'render');
  if (!hasRender) {
    const hint = 'add `render(args, context)`, which returns the messages';
    report(diagnostic('SW1022', syntax.place, { className: syntax.name, method: 'render' }, { hint }));
  }
  if (name === undefined || description === undefined || !isNamed || !hasRender) return undefined;
  return {
    ...handle,
    name,
    namePlace,
    ...(title === undefined ? {} : { title }),
    description,
    options: options.values,
    args,
  };
}
