/** What is said about the workflows of a domain as a whole. */
export interface Domain {
  readonly name: string;
  /** What holds for all of them, a sentence each. */
  readonly rules: readonly string[];
  /** What their users should know, as Markdown. */
  readonly docs?: string;
}

/** Joins what several sources say about domains: each domain once, each rule once, the documents in their order. */
export function mergedDomains(domains: Iterable<Domain>): readonly Domain[] {
  const merged = new Map<string, Domain>();
  for (const { name, rules, docs } of domains) {
    const first = merged.get(name);
    const texts = [first?.docs, docs].filter((each) => each !== undefined);
    merged.set(name, {
      name,
      rules: [...new Set([...(first?.rules ?? []), ...rules])],
      ...(texts.length === 0 ? {} : { docs: [...new Set(texts)].join('\n\n') }),
    });
  }
  return [...merged.values()];
}
