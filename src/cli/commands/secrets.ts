import type { Json } from '../../graph/json.js';
import { Mask } from '../../runtime/secrets/mask.js';
import { secretsOf, type UpstreamConfig } from '../../runtime/upstream/config.js';

/** Masks the values of the environment variables that upstream servers are configured with. */
export function secretMask(servers: UpstreamConfig): (value: Json) => Json {
  const mask = new Mask(secretsOf(servers, process.env));
  return (value) => mask.json(value);
}
