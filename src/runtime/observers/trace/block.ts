import { cutText } from '../../../graph/unprintable.js';
import type { BlockMeta, PromptMessage } from './messages.js';

/** Longer texts of results and resources are cut in a trace. UTF-16 code units. */
export const RESULT_LIMIT = 20_000;

/** A text, or how to write it with every value in it masked: for texts that say something of their values. */
export type Told = string | ((mask: (value: string) => string) => string);

const writers = new WeakMap<PromptMessage, Exclude<Told, string>>();

/** A text of a trace with what programs should know about it. */
export function textBlock(role: PromptMessage['role'], told: Told, _meta: BlockMeta): PromptMessage {
  const isText = typeof told === 'string';
  const text = isText ? told : told((value) => value);
  const message: PromptMessage = { role, content: { type: 'text', text, _meta } };
  if (!isText) writers.set(message, told);
  return message;
}

/** A text of a trace with its values masked; other content stays as it is. */
export function maskedBlock(message: PromptMessage, mask: (value: string) => string): PromptMessage {
  const { content } = message;
  if (content.type !== 'text') return message;
  const text = writers.get(message)?.(mask) ?? mask(content.text);
  return { ...message, content: { ...content, text } };
}

/** A text, cut to {@link RESULT_LIMIT}; `size` is its full size where it was. */
export function limited(text: string): { readonly text: string; readonly size?: number } {
  return text.length <= RESULT_LIMIT ? { text } : { text: cutText(text, RESULT_LIMIT), size: text.length };
}

/** The full size of a text that was cut, as a block tells it. */
export function sized(size: number | undefined): { 'stepwright/size'?: number } {
  return size === undefined ? {} : { 'stepwright/size': size };
}
