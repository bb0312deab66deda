import type { Failure } from '../engine/contract.js';
import type { ResourceEntry } from './registry.js';
import { message, texts } from './texts.js';
import { UriTemplate, type Variables } from './uri-template.js';

/** Where a resource is: at one address, or at every address of a template. */
export type Address =
  | { readonly kind: 'fixed'; readonly uri: string }
  | { readonly kind: 'template'; readonly template: UriTemplate };

/** The variables of one address, decoded, or why the address is refused. */
export type ReadVariables =
  | { readonly ok: true; readonly variables: Variables }
  | { readonly ok: false; readonly failure: Failure };

/** The address of an entry, or what is wrong with its template, as a sentence. */
export function addressOf(name: string, { uri }: ResourceEntry): Address | { readonly problem: string } {
  // An address never holds a brace.
  if (!/[{}]/.test(uri)) return { kind: 'fixed', uri };
  const template = UriTemplate.parse(uri);
  return 'why' in template
    ? { problem: texts.templateBroken(name, uri, template.why) }
    : { kind: 'template', template };
}

/**
 * Decodes the variables of an address. Values that would climb out of a folder are refused, whatever way the dots and
 * slashes are written, unless the entry lets this variable: authors join such values to paths.
 */
export function readVariables(raw: Variables, { dotSegments = [] }: ResourceEntry): ReadVariables {
  const variables: [string, string][] = [];
  for (const [name, encoded] of Object.entries(raw)) {
    const value = decode(encoded);
    if (value === undefined) return refuse(texts.badEncoding(name, encoded));
    if (climbs(value) && !dotSegments.includes(name)) return refuse(texts.climbs(name, value));
    variables.push([name, value]);
  }
  return { ok: true, variables: Object.fromEntries(variables) };
}

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

/** Absolute paths of POSIX and Windows, segments `.` and `..`, and the end that C code sees in a NUL. */
function climbs(value: string): boolean {
  const segments = value.split(/[\\/]/);
  return (
    segments.some((segment) => segment === '.' || segment === '..') ||
    (segments.length > 1 && (segments[0] === '' || /^[A-Za-z]:$/.test(segments[0] ?? ''))) ||
    value.includes('\0')
  );
}

function refuse(text: string): ReadVariables {
  return { ok: false, failure: { code: 'E_RESOURCE_URI', message: message(text) } };
}
