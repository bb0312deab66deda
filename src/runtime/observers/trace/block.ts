import type { BlockMeta, PromptMessage } from './messages.js';

/** A text of a trace with what programs should know about it. */
export function textBlock(role: PromptMessage['role'], text: string, _meta: BlockMeta): PromptMessage {
  return { role, content: { type: 'text', text, _meta } };
}

/** The full size of a text that was cut, as a block tells it. */
export function sized(size: number | undefined): { 'stepwright/size'?: number } {
  return size === undefined ? {} : { 'stepwright/size': size };
}
