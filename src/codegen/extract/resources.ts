import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { uriFault } from '../../graph/uri.js';
import type { ResourceDeclaration } from '../declarations.js';
import type { DecoratedClass } from './collected.js';
import { checkName } from './names.js';
import { readOptions } from './read-options.js';
import { readStatic } from './static.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Resource; nothing when its name or address is missing or has a fault. */
export function readResource(decorated: DecoratedClass): ResourceDeclaration | undefined {
  const { syntax, handle, decorator, report } = decorated;
  const options = readOptions(decorator, 'Resource', syntax.name, report);
  const { name, title, description, mimeType, file } = textOptions(options, [
    'name',
    'title',
    'description',
    'mimeType',
    'file',
  ]);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name === undefined || checkName('resource', name, namePlace, report);
  const address = readUri(decorated);
  if (name === undefined || address === undefined || !isNamed) return undefined;
  return {
    ...handle,
    name,
    namePlace,
    ...address,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(file === undefined
      ? {}
      : { contentFile: file, contentFilePlace: placeOfOption(options, 'file', namePlace) }),
  };
}

/** The address is a static field, so that workflows and handlers can name it as `LogseqIntro.uri`. */
function readUri({
  syntax,
  report,
}: DecoratedClass): Pick<ResourceDeclaration, 'uri' | 'uriPlace'> | undefined {
  const field = syntax.fields.find(({ name, isStatic }) => name === 'uri' && isStatic);
  if (field?.initializer === undefined) {
    const hint = "write `static readonly uri = 'resource://…'` in the class";
    report(
      diagnostic('SW1005', field?.place ?? syntax.place, { name: syntax.name, option: 'uri' }, { hint }),
    );
    return undefined;
  }
  const read = readStatic(field.initializer);
  if (!read.ok) {
    report(diagnostic('SW1003', read.place, { decorator: 'Resource', option: 'uri' }));
    return undefined;
  }
  const uriPlace = field.initializer.place;
  if (typeof read.value !== 'string') {
    report(diagnostic('SW1012', uriPlace, { decorator: 'Resource', option: 'uri', expected: 'text' }));
    return undefined;
  }
  const why = uriFault(read.value);
  if (why !== undefined) {
    report(diagnostic('SW4007', uriPlace, { uri: read.value, why }));
    return undefined;
  }
  return { uri: read.value, uriPlace };
}
