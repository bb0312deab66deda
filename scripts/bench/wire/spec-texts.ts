import type { ToolSignature } from 'stepwright/formats';

/** The tool that the workflows of {@link specText} call. */
export const SEARCH: ToolSignature = {
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      checkin: { type: 'string' },
      limit: { type: 'integer' },
      after: { type: 'string' },
    },
    required: ['city', 'checkin'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      hotels: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } },
    },
    required: ['hotels'],
  },
  annotations: { readOnlyHint: false },
};

/** A workflow in YAML: a line of calls, written as the documentation writes them. */
export function specText(nodes: number, name = 'long'): string {
  const lines = [
    'domain: travel',
    'version: "1.0"',
    'workflows:',
    `  ${name}:`,
    '    description: Search again and again',
    '    params:',
    '      city: { type: string, description: City to stay in }',
    '    graph:',
  ];
  for (let index = 0; index < nodes; index += 1) {
    lines.push(
      `      search_${index}:`,
      '        call: search_hotels',
      ...(index === 0 ? [] : [`        depends_on: [search_${index - 1}]`]),
      '        args:',
      '          city: $city',
      '          checkin: "2026-02-26"',
      `          limit: ${index}`,
      ...(index === 0 ? [] : [`          after: $found_${index - 1}.hotels.0.id`]),
      `        output: found_${index}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** A text with each of its keys twice. */
export function repeatedKeys(keys: number): string {
  const lines = Array.from({ length: keys }, (_, index) => `key_${index}: value`);
  return `${[...lines, ...lines].join('\n')}\n`;
}

/** What attacks a parser, each with what its reader refuses. */
export function hostileTexts(
  repeats: number,
): readonly { readonly name: string; readonly format: 'yaml' | 'json' | 'xml'; readonly text: string }[] {
  const laughs = Array.from({ length: 9 }, (_, level) => {
    const inner = level === 0 ? Array(9).fill('lol') : Array(9).fill(`*l${level - 1}`);
    return `l${level}: &l${level} [${inner.join(', ')}]`;
  });
  const entities = Array.from(
    { length: 9 },
    (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
  );
  return [
    { name: `${repeats} aliases`, format: 'yaml', text: `a: &a x\nb: [${'*a, '.repeat(repeats)}]` },
    { name: 'a billion laughs', format: 'yaml', text: laughs.join('\n') },
    {
      name: 'a bomb of entities',
      format: 'xml',
      text: `<?xml version="1.0"?><!DOCTYPE w [<!ENTITY e0 "lol">${entities.join('')}]><w>&e9;</w>`,
    },
    { name: `${repeats} brackets of YAML`, format: 'yaml', text: '['.repeat(repeats) },
    {
      name: `${repeats} levels of YAML`,
      format: 'yaml',
      text: Array.from({ length: Math.min(repeats, 1_000) }, (_, level) => `${' '.repeat(level)}a:`).join(
        '\n',
      ),
    },
    { name: `${repeats} brackets of JSON`, format: 'json', text: '['.repeat(repeats) },
    { name: `${repeats} levels of XML`, format: 'xml', text: '<a>'.repeat(repeats) },
    { name: `${5 * repeats} kB`, format: 'yaml', text: 'a: b\n'.repeat(repeats * 1_000) },
  ];
}
