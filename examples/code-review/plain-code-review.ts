import { simplePrompt, user } from 'stepwright';

/** Where a migration starts: text that names a tool and a resource. A wrong name goes unnoticed. */
export const plainCodeReview = simplePrompt('plain-code-review', ({ language = '', code = '' }) => [
  user(
    `Please review this ${language} code.\n` +
      'First call the tool `analyze-code` with it.\n' +
      'Then judge it by resource://code-review/style-guide, and begin with what the tool has found.\n\n' +
      code,
  ),
])
  .withDescription('Review code')
  .withArgument('code', 'The code to review', true)
  .withArgument('language', 'Language of the code');
