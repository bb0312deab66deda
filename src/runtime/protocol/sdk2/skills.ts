import { z } from 'zod';
import { defined } from '../../../graph/defined.js';
import { skillFolder } from '../../../graph/names.js';
import { clip } from '../../../graph/printable-text.js';
import type { RequestContext } from '../../runs/request.js';
import type { StepwrightServer } from '../../server/stepwright-server.js';
import { faultCodes, ProtocolFault } from '../../server/wire.js';
import { thrownText } from '../../tools/exceptions.js';
import type { Log } from '../../tools/log.js';
import { checkedParams, page, text } from '../../transports/answer-request.js';

// Skills as the extension of revision 2026-07-28 has them. Each is a resource, and has one file, `SKILL.md`.

export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

export const SKILL_METHODS = ['skills/list', 'skills/get'] as const;

type SkillMethod = (typeof SKILL_METHODS)[number];

export function isSkillMethod(method: string): method is SkillMethod {
  return SKILL_METHODS.some((each) => each === method);
}

/**
 * Answers a request about skills. A page of skills is what a page of resources has of them; one that cannot be read is
 * left out, and logged.
 *
 * @throws ProtocolFault for an address that is of no skill, or that the caller cannot read.
 */
export async function answerSkills(
  server: StepwrightServer,
  { method, params }: { readonly method: SkillMethod; readonly params?: unknown },
  context: RequestContext,
  log: Log,
): Promise<object> {
  if (method === 'skills/get') {
    const { uri } = checkedParams(method, z.looseObject({ uri: text() }), params);
    return { skill: await skillAt(server, uri, context), ...server.cacheHint({ uri }, context) };
  }
  const { cursor } = checkedParams(method, page(), params);
  const { resources, nextCursor } = await server.listResources(cursor);
  const skills = await Promise.all(
    resources
      .filter(({ uri }) => skillFolder(uri) !== undefined)
      .map(({ uri }) =>
        skillAt(server, uri, context).catch((error: unknown) => {
          log(`the skill ${uri} is not listed: ${thrownText(error)}`, { event: 'resource.threw' });
          return undefined;
        }),
      ),
  );
  return {
    skills: skills.filter((skill) => skill !== undefined),
    ...defined({ nextCursor }),
    ...server.cacheHint('lists', context),
  };
}

/** The entry of a skill, with the digest of its file. */
async function skillAt(server: StepwrightServer, uri: string, context: RequestContext) {
  const folder = skillFolder(uri);
  if (folder === undefined)
    throw new ProtocolFault(
      faultCodes.invalidParams,
      `'${clip(uri)}' is not the address of a skill, such as skill://travel/book-trip/SKILL.md`,
    );
  const { contents } = await server.readResource(uri, context);
  const [content] = contents;
  const { skillEntry } = await import('@modelcontextprotocol/server/ext/skills');
  return skillEntry(folder, { 'SKILL.md': content !== undefined && 'text' in content ? content.text : '' });
}
