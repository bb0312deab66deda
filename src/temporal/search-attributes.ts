import type { Connection } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { clip } from '../graph/printable-text.js';

/** The search attributes of runs by what they hold. Temporal indexes them where they are registered, all of the type Keyword. */
export const SEARCH_ATTRIBUTES = {
  workflow: 'StepwrightWorkflow',
  status: 'StepwrightStatus',
  quota: 'StepwrightOwner',
  ref: 'StepwrightRef',
} as const;

/** What a search attribute holds. */
type Attribute = keyof typeof SEARCH_ATTRIBUTES;
type Values = Readonly<Partial<Record<Attribute, string>>>;

/** `IndexedValueType` of the API. */
const KEYWORD = 2;

/** Whether a namespace has all of them. False where that cannot be read: lists are right without them. */
export async function hasSearchAttributes(
  { operatorService }: Connection,
  namespace: string,
): Promise<boolean> {
  const registered = await operatorService.listSearchAttributes({ namespace }).catch(() => undefined);
  return Object.values(SEARCH_ATTRIBUTES).every((name) => registered?.customAttributes?.[name] === KEYWORD);
}

/** The attributes that a run starts with. */
export function searchAttributesOf({ workflow = '', quota = '', ref = '' }: Values): SearchAttributePair[] {
  return Object.entries({ workflow, quota, ref, status: 'running' }).map(([attribute, value]) =>
    searchAttribute(attribute as Attribute, value),
  );
}

export function searchAttribute(attribute: Attribute, value: string): SearchAttributePair {
  return { key: { name: SEARCH_ATTRIBUTES[attribute], type: 'KEYWORD' }, value: clip(value) };
}

/** A condition of a query. Runs that were started before the attributes were registered have no value: they match. */
export function searchConditionOf(values: Values): string {
  return Object.entries(values)
    .map(([attribute, value]) => [SEARCH_ATTRIBUTES[attribute as Attribute], JSON.stringify(clip(value))])
    .map(([name, text]) => ` AND (${name} = ${text} OR ${name} IS NULL)`)
    .join('');
}
