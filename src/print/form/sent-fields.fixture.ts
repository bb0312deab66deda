const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

function attributesOf(tag: string): ReadonlyMap<string, string> {
  const pairs = [...tag.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)];
  return new Map(pairs.map(([, name = '', value = '']) => [name, unescaped(value)]));
}

/** What a browser sends of the fields that `formOf` writes, when its last button is pressed that has no name. */
export function sentFields(html: string): [name: string, value: string][] {
  const tags = html.matchAll(
    /<textarea( [^>]*)>\n([^<]*)<\/textarea>|<select( [^>]*)>(.*?)<\/select>|<input( [^>]*)>/gs,
  );
  return [...tags].flatMap(([, area, text = '', select, options = '', input = '']): [string, string][] => {
    const attributes = attributesOf(area ?? select ?? input);
    const name = attributes.get('name') ?? '';
    if (area !== undefined) return [[name, unescaped(text).replaceAll('\n', '\r\n')]];
    if (select !== undefined) {
      const chosen = /<option( [^>]*) selected>/.exec(options)?.[1];
      return [[name, chosen === undefined ? '' : (attributesOf(chosen).get('value') ?? '')]];
    }
    const isButton = ['radio', 'checkbox'].includes(attributes.get('type') ?? '');
    return isButton && !attributes.has('checked') ? [] : [[name, attributes.get('value') ?? '']];
  });
}
