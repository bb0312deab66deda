import { diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Place } from '../../graph/place.js';
import { nearestName } from '../../graph/suggest.js';
import { uriFault } from '../../graph/uri.js';
import { parseUriTemplate, variableNames } from '../../graph/uri-template.js';
import type { ResourceDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import { type DecoratedClass, UNNAMED } from './collected.js';
import { calledMethods, hasMethod, withoutMethod } from './methods.js';
import { checkName } from './names.js';
import { type ReadOptions, readOptions } from './read-options.js';
import { readStatic } from './static.js';
import { placeOfOption, textOptions } from './texts.js';

/** Reads a class under @Resource; nothing without an address. What else has a fault is reported, and left out. */
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
  const isNamed = name !== undefined && checkName('resource', name, namePlace, report);
  const address = readAddress(decorated);
  if (address === undefined) return undefined;
  checkContent(decorated, options, address);
  return {
    ...handle,
    name: isNamed ? name : UNNAMED,
    namePlace,
    ...address,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...dotSegmentsOf(options, name ?? syntax.name, address, report),
    ...(file === undefined
      ? {}
      : { contentFile: file, contentFilePlace: placeOfOption(options, 'file', namePlace) }),
  };
}

/** The variables that may climb; a name that is none of the template is reported. */
function dotSegmentsOf(
  { values, syntax }: ReadOptions,
  resource: string,
  { variables }: Address,
  report: DecoratedClass['report'],
): Pick<ResourceDeclaration, 'dotSegments'> {
  const list = syntax.dotSegments && unwrap(syntax.dotSegments);
  // That it means nothing without a template has been reported.
  if (variables === undefined || !('dotSegments' in values) || list?.kind !== 'array') return {};
  // The option's rule admits texts only.
  const names = values.dotSegments as readonly string[];
  for (const [index, variable] of names.entries()) {
    if (variables.includes(variable)) continue;
    const place = list.items[index]?.value.place ?? list.place;
    const suggestion = nearestName(variable, variables);
    report(diagnostic('SW3008', place, { resource, variable, suggestion }));
  }
  return { dotSegments: names };
}

/** A template has one content for each address, which only `read` can give. */
function checkContent(decorated: DecoratedClass, options: ReadOptions, { variables }: Address): void {
  const { syntax, report } = decorated;
  const { file, dotSegments } = options.syntax;
  calledMethods(decorated, 'read');
  if (variables === undefined) {
    if (dotSegments === undefined) return;
    const params = { option: 'dotSegments', takes: 'a resource with a template', name: syntax.name };
    report(diagnostic('SW1021', dotSegments.place, { decorator: 'Resource', ...params }));
    return;
  }
  if (file !== undefined) {
    const takes = 'a resource with one address';
    const params = { decorator: 'Resource', option: 'file', takes, name: syntax.name };
    report(diagnostic('SW1021', file.place, params));
    return;
  }
  if (hasMethod(decorated, 'read')) return;
  const signature = `read({ ${variables.join(', ')} })`;
  report(withoutMethod(syntax, 'read', signature, 'the content of one address'));
}

type Address = Pick<ResourceDeclaration, 'uri' | 'uriPlace' | 'variables'>;

/** The address is a static field, so that workflows and handlers can name it as `LogseqIntro.uri`. */
function readAddress({ syntax, report }: DecoratedClass): Address | undefined {
  const [uri, template] = ['uri', 'uriTemplate'].map((option) =>
    syntax.fields.find(({ name, isStatic }) => name === option && isStatic),
  );
  const field = template ?? uri;
  if (uri !== undefined && template !== undefined) {
    const params = { what: 'the address', first: '`uri`', second: '`uriTemplate`' };
    const related = [{ message: 'the other one is here', place: uri.place }];
    report(diagnostic('SW1020', template.place, params, { related }));
    return undefined;
  }
  if (field?.initializer === undefined) {
    const hint = "write `static readonly uri = 'resource://…'` in the class";
    report(
      diagnostic('SW1005', field?.place ?? syntax.place, { name: syntax.name, option: 'uri' }, { hint }),
    );
    return undefined;
  }
  const text = readText(field.name, field.initializer, report);
  if (text === undefined) return undefined;
  return template === undefined
    ? checkUri(text, field.initializer.place, report)
    : checkTemplate(text, field.initializer.place, report);
}

function readText(
  option: string,
  initializer: ExpressionSyntax,
  report: DecoratedClass['report'],
): string | undefined {
  const read = readStatic(initializer);
  if (!read.ok) {
    report(diagnostic('SW1003', read.place, { decorator: 'Resource', option }));
    return undefined;
  }
  if (typeof read.value === 'string') return read.value;
  report(diagnostic('SW1012', initializer.place, { decorator: 'Resource', option, expected: 'text' }));
  return undefined;
}

function checkUri(uri: string, uriPlace: Place, report: DecoratedClass['report']): Address | undefined {
  const why = uriFault(uri);
  if (why === undefined) return { uri, uriPlace };
  const isTemplate = !('why' in parseUriTemplate(uri));
  const hint = isTemplate ? 'an address with variables is `static readonly uriTemplate = …`' : undefined;
  report(diagnostic('SW4007', uriPlace, { uri, why }, { hint }));
  return undefined;
}

function checkTemplate(
  template: string,
  uriPlace: Place,
  report: DecoratedClass['report'],
): Address | undefined {
  const parsed = parseUriTemplate(template);
  // With something in the place of its variables it has to be an address.
  const why = 'why' in parsed ? parsed.why : uriFault(template.replaceAll(/\{[^{}]*\}/g, 'x'));
  if (why === undefined && 'parts' in parsed)
    return { uri: template, uriPlace, variables: variableNames(parsed.parts) };
  const isFixed = !/[{}]/.test(template);
  const hint = isFixed ? 'an address without variables is `static readonly uri = …`' : undefined;
  report(diagnostic('SW1024', uriPlace, { template, why: why ?? '' }, { hint }));
  return undefined;
}
