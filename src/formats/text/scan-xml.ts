import { overLimit, type Refusal, refused, type TextLimits } from './limits.js';

/**
 * Bounds an XML text in one pass: nesting, elements and attributes. Document types, with their entities, and processing
 * instructions are refused.
 */
export function scanXml(text: string, limits: TextLimits): Refusal | undefined {
  let depth = 0;
  let elements = 0;
  for (let index = text.indexOf('<'); index !== -1; index = text.indexOf('<', index)) {
    if (text.startsWith('<!--', index)) index = endOf(text, '-->', index);
    else if (text.startsWith('<![CDATA[', index)) index = endOf(text, ']]>', index);
    else if (text[index + 1] === '!') {
      return refused(
        index,
        'a document type (`<!…>`)',
        'remove it: entities and document types are not read',
      );
    } else if (text[index + 1] === '?') {
      const isDeclaration = index === 0 && /^<\?xml\s/.test(text);
      if (!isDeclaration) return refused(index, 'a processing instruction (`<?…?>`)', 'remove it');
      index = endOf(text, '?>', index);
    } else if (text[index + 1] === '/') {
      depth = Math.max(0, depth - 1);
      index = endOf(text, '>', index);
    } else {
      elements += 1;
      if (elements > limits.tokens) return overLimit(index, 'elements', limits.tokens);
      const tag = tagAt(text, index);
      if (tag.attributes > limits.attributes)
        return overLimit(index, 'attributes of one element', limits.attributes);
      // A tag without an end is not closed, whatever is in it.
      if (!tag.isClosed) depth += 1;
      if (depth > limits.depth) return overLimit(index, 'levels of nesting', limits.depth);
      index = tag.end;
    }
  }
  return undefined;
}

function endOf(text: string, close: string, start: number): number {
  const end = text.indexOf(close, start);
  return end === -1 ? text.length : end + close.length;
}

interface Tag {
  readonly end: number;
  readonly attributes: number;
  readonly isClosed: boolean;
}

/** A start tag. Its end is the first `>` outside of quotes, or the next `<`: the parser may go on there. */
function tagAt(text: string, start: number): Tag {
  let attributes = 0;
  let index = start + 1;
  for (; index < text.length; index += 1) {
    const character = text[index];
    if (character === '>') return { end: index + 1, attributes, isClosed: text[index - 1] === '/' };
    if (character === '<') break;
    if (character !== '"' && character !== "'") continue;
    attributes += 1;
    const end = text.indexOf(character, index + 1);
    if (end === -1) return { end: text.length, attributes, isClosed: false };
    index = end;
  }
  return { end: index, attributes, isClosed: false };
}
