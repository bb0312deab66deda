const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
/** The characters of RFC 3986: unreserved, reserved and the percent sign. */
const ALLOWED = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]$/;
const HEX_PAIR = /^[0-9A-Fa-f]{2}$/;

/**
 * Says why a text is not an absolute URI (RFC 3986, section 4.3, a fragment allowed), as the end of a sentence:
 * `it has no scheme`. Nothing for a good one.
 */
export function uriFault(text: string): string | undefined {
  if (text === '') return 'it is empty';
  const colon = text.indexOf(':');
  const firstDelimiter = text.search(/[/?#]/);
  if (colon === -1 || (firstDelimiter !== -1 && firstDelimiter < colon)) return 'it has no scheme';
  const scheme = text.slice(0, colon);
  if (!SCHEME.test(scheme)) return `\`${scheme}\` is not a scheme`;
  if (text.length === colon + 1) return 'nothing follows the scheme';
  return characterFault(text);
}

function characterFault(text: string): string | undefined {
  let index = 0;
  for (const character of text) {
    if (!ALLOWED.test(character))
      return `it holds ${describeCharacter(character)}, which must be percent-encoded`;
    if (character === '%' && !HEX_PAIR.test(text.slice(index + 1, index + 3))) {
      return 'a `%` must be followed by two hexadecimal digits';
    }
    index += character.length;
  }
  return text.split('#').length > 2 ? 'it holds two `#`' : undefined;
}

function describeCharacter(character: string): string {
  if (character === ' ') return 'a space';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'a control character';
  return `\`${character}\``;
}
