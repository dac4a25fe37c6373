import { NacreError } from '../../core/errors.ts';
import type { Json, Task } from '../../core/types.ts';

/** What an answer earned. `reward` is in [0, 1]; `reason` is shown to people and critics. */
export interface Score {
  readonly success: boolean;
  readonly reward: number;
  readonly reason?: string;
}

/** What a question carries besides its text. Never part of the input. */
export interface QuestionData {
  /** Accepted answers; one suffices. What they mean is the scorer's business: texts, numbers, labels, patterns, JSON. */
  readonly answers: readonly string[];
  /** Columns of the source that a scorer written by the user may want. */
  readonly fields: Readonly<Record<string, Json>>;
}

export interface Scorer {
  /**
   * Scores the whole output of a model on a question.
   * @throws {NacreError} when the scorer itself fails (a script that loops, say): never a verdict on the answer.
   */
  score(output: string, task: Task): Score | Promise<Score>;
}

export const PASS: Score = { success: true, reward: 1 };
export const FAIL: Score = { success: false, reward: 0 };

export function verdict(success: boolean): Score {
  return success ? PASS : FAIL;
}

/** The question of a task. @throws {NacreError} `not-a-question` when its data is none. */
export function questionData(task: Task): QuestionData {
  const { data } = task;
  if (typeof data === 'object' && data !== null && 'answers' in data && Array.isArray(data.answers) && 'fields' in data) {
    return data as unknown as QuestionData;
  }
  throw new NacreError('not-a-question', `Task ${task.id} holds no question.`, 'Take tasks from the suite that opens them.');
}
