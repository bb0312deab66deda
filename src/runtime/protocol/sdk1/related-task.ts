import { RELATED_TASK_META_KEY } from '@modelcontextprotocol/sdk/types.js';

/** The `_meta` of a message that is a part of a task. */
export function relatedTask(taskId: string) {
  return { [RELATED_TASK_META_KEY]: { taskId } };
}
