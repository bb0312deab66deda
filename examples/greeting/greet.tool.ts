import { Tool } from 'stepwright';

/** How a greeting sounds. */
export type Style = 'formal' | 'casual';

/** Whom to greet. */
interface Guest {
  /**
   * Name of the person
   * @minLength 1
   * @maxLength 100
   */
  name: string;
  /** casual when left out */
  style?: Style;
}

// The schemas are derived from the types, descriptions and limits from their comments.
@Tool({
  name: 'greet',
  description: 'Write a greeting',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
})
export class Greet {
  execute({ name, style = 'casual' }: Guest): { greeting: string } {
    const called = name.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
    if (called === '') throw new Error('Nobody can be greeted without a name');
    return { greeting: style === 'formal' ? `Good day, ${called}.` : `Hi ${called}!` };
  }
}
