// How many runs of a quota are open, and how many questions they ask: a start reads it, however many there are. Triggers
// keep it, so that a server of a version before them, on the same file, does as well.

/** The quotas that are counted together as well: those of anonymous callers, under the quota `anonymous *`. */
const AND_TOTAL = (quota: string): string => `(${quota}, substr(${quota}, 1, 10) || '*')`;

/** Where the questions of a run are counted. Those of a run that is over are not. */
const quotaOfRun = (run: string): string => `(SELECT quota FROM runs WHERE n = ${run} AND is_open = 1)`;

const QUESTIONS_OF = (run: string): string =>
  `(SELECT count(*) FROM state WHERE run = ${run} AND owes = 'requestAction')`;

const REMOVE_EMPTY = 'DELETE FROM counts WHERE quota = OLD.quota AND runs = 0';

/** The migration that counts the runs of a store. Items of finished runs leave the inbox. */
export const COUNTS = `
  DELETE FROM inbox WHERE run IN (SELECT n FROM runs WHERE is_open = 0);
  CREATE TABLE counts (quota TEXT PRIMARY KEY, runs INTEGER NOT NULL, questions INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO counts SELECT quota, count(*), sum(${QUESTIONS_OF('n')}) FROM runs
    WHERE is_open = 1 AND quota IS NOT NULL GROUP BY quota;
  INSERT INTO counts SELECT 'anonymous *', coalesce(sum(runs), 0), 0 FROM counts WHERE substr(quota, 1, 10) = 'anonymous ';
  CREATE TRIGGER run_began AFTER INSERT ON runs WHEN NEW.is_open = 1 AND NEW.quota IS NOT NULL BEGIN
    INSERT OR IGNORE INTO counts VALUES (NEW.quota, 0, 0);
    UPDATE counts SET runs = runs + 1 WHERE quota IN ${AND_TOTAL('NEW.quota')};
  END;
  CREATE TRIGGER run_ended AFTER UPDATE OF is_open ON runs
  WHEN NEW.is_open <> OLD.is_open AND NEW.quota IS NOT NULL BEGIN
    INSERT OR IGNORE INTO counts VALUES (NEW.quota, 0, 0);
    UPDATE counts SET runs = runs + NEW.is_open - OLD.is_open WHERE quota IN ${AND_TOTAL('NEW.quota')};
    UPDATE counts SET questions = questions + (NEW.is_open - OLD.is_open) * ${QUESTIONS_OF('NEW.n')}
      WHERE quota = NEW.quota;
    ${REMOVE_EMPTY};
  END;
  CREATE TRIGGER run_removed AFTER DELETE ON runs WHEN OLD.is_open = 1 AND OLD.quota IS NOT NULL BEGIN
    UPDATE counts SET runs = runs - 1 WHERE quota IN ${AND_TOTAL('OLD.quota')};
    ${REMOVE_EMPTY};
  END;
  CREATE TRIGGER question_replaced BEFORE INSERT ON state
  WHEN NEW.tab = 'nodes' AND EXISTS
    (SELECT 1 FROM state WHERE run = NEW.run AND tab = 'nodes' AND key = NEW.key AND owes = 'requestAction') BEGIN
    UPDATE counts SET questions = questions - 1 WHERE quota = ${quotaOfRun('NEW.run')};
  END;
  CREATE TRIGGER question_asked AFTER INSERT ON state WHEN NEW.owes = 'requestAction' BEGIN
    UPDATE counts SET questions = questions + 1 WHERE quota = ${quotaOfRun('NEW.run')};
  END;
  CREATE TRIGGER question_removed AFTER DELETE ON state WHEN OLD.owes = 'requestAction' BEGIN
    UPDATE counts SET questions = questions - 1 WHERE quota = ${quotaOfRun('OLD.run')};
  END;
`;
