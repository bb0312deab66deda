import { ownProperty } from '../../../graph/json.js';
import type { Registry } from '../../tools/registry.js';
import type { Toolset } from '../../tools/toolset.js';
import type { ResolvedSettings } from '../options.js';
import type { CacheHint, CacheSubject, CachingCaller } from '../wire.js';
import type { Catalogue } from './catalogue.js';

/** For results that are made for one caller, or can change at any time. */
export const NOT_KEPT: CacheHint = { ttlMs: 0, cacheScope: 'private' };

/** How long lists that do not change while the server runs are kept, in ms: it may be replaced by a later version. */
const LISTS_MS = 60_000;

interface CacheFacts {
  readonly settings: ResolvedSettings;
  readonly registry: Registry;
  readonly toolset: Pick<Toolset, 'resourceAt'>;
  readonly catalogue: Catalogue;
}

export function cacheHintOf(subject: CacheSubject, facts: CacheFacts, { auth }: CachingCaller): CacheHint {
  const { settings, registry, toolset, catalogue } = facts;
  const { cache, hasSpecs, specs, questionApp } = settings;
  const isWatched = hasSpecs && specs.watch;
  const lists: CacheHint = {
    ttlMs: cache.listsMs ?? (isWatched ? 0 : LISTS_MS),
    // What an authenticated caller sees may be for such callers alone, and apps are for hosts that show them.
    cacheScope: auth === undefined && !catalogue.hasScopes && !questionApp ? 'public' : 'private',
  };
  if (subject === 'lists' || catalogue.workflowResources.has(subject.uri)) return lists;
  const name = toolset.resourceAt(subject.uri);
  if (name === undefined) return NOT_KEPT;
  const ttlMs = ownProperty(cache.resourcesMs ?? {}, name);
  // Embedded text is as old as the server; what a class reads may depend on its caller.
  return registry.resources[name]?.text === undefined
    ? { ttlMs: ttlMs ?? 0, cacheScope: 'private' }
    : { ...lists, ttlMs: ttlMs ?? lists.ttlMs };
}

/** @throws RangeError for another time than a whole number, and for a resource that the registry does not have. */
export function checkCache({ cache }: ResolvedSettings, { resources }: Registry): void {
  const { listsMs, resourcesMs = {} } = cache;
  for (const name of Object.keys(resourcesMs))
    if (!Object.hasOwn(resources, name))
      throw new RangeError(`cache.resourcesMs has '${name}', which is not a resource of the registry`);
  const times = [['listsMs', listsMs], ...Object.entries(resourcesMs)] as const;
  for (const [name, ms] of times)
    if (ms !== undefined && (!Number.isSafeInteger(ms) || ms < 0))
      throw new RangeError(`cache: '${name}' must be a whole number of ms from 0, not ${ms}`);
}
