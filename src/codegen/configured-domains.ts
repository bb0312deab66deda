import { z } from 'zod';

const sentence = z.string().regex(/\S/, 'must not be empty');

const domainSchema = z.strictObject({
  name: sentence.describe('The domain, as the workflows name it.'),
  rules: z.array(sentence).default([]).describe('What holds for all of its workflows, a sentence each.'),
  docs: sentence.exactOptional().describe('What their users should know, as Markdown.'),
});

/** What a configuration says about domains: the shape of the option `domains` of a server, where rules may be missing. */
export const domainsSchema = z.array(domainSchema).superRefine((domains, context) => {
  for (const [index, { name }] of domains.entries()) {
    if (domains.findIndex((each) => each.name === name) === index) continue;
    const message = `there are two domains \`${name}\`: write the rules and documents of both in one`;
    context.addIssue({ code: 'custom', path: [index, 'name'], message });
  }
});

export const DOMAIN_SETTINGS: readonly string[] = Object.keys(domainSchema.shape);
