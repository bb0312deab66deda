import { copyStore } from '../../../runtime/runs/store/sqlite/backup.js';
import { misused } from '../../command-line.js';
import { runsTexts } from '../../runs-texts.js';
import { STORE_OPTIONS, storeCommand } from './store-command.js';

/** `stepwright runs backup FILE`: copies a store while a server uses it. */
export const backUp = copyCommand('backup', runsTexts.backupHelp);

/** `stepwright runs restore FILE`: makes a store of a backup. */
export const restore = copyCommand('restore', runsTexts.restoreHelp);

function copyCommand(kind: 'backup' | 'restore', help: string) {
  const name = `stepwright runs ${kind}`;
  return storeCommand(name, help, STORE_OPTIONS, 1, async (path, { values, args: [file] }, output) => {
    if (file === undefined) return misused(runsTexts.missingFile(name), output);
    const [from, to] = kind === 'backup' ? [path, file] : [file, path];
    const { runs, bytes } = await copyStore(from, to);
    const text = runsTexts.copied(kind === 'backup' ? 'backup' : 'store', to, runs);
    output.out(values.json ? `${JSON.stringify({ file: to, runs, bytes })}\n` : `${text}\n`);
    return 0;
  });
}
