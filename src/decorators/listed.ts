import type { JsonObject } from '../graph/json.js';

/** An icon, as MCP defines it. */
export interface Icon {
  /** A URL: `https:`, or `data:` with the image itself. */
  readonly src: string;
  readonly mimeType?: string;
  /** Sizes in pixels, such as `48x48`; `any` for a scalable image. */
  readonly sizes?: readonly string[];
  /** The colour theme it is made for. */
  readonly theme?: 'light' | 'dark';
}

/** What every decorated class may say in the lists of clients. */
export interface ListedOptions {
  readonly icons?: readonly Icon[];
  /**
   * Data for clients, as `_meta` in the list. Keys have the form of MCP, such as `example.com/owner`; those that begin
   * with `stepwright/` are reserved. Default: none.
   */
  readonly meta?: JsonObject;
}
