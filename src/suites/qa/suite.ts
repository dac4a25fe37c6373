import { NacreError } from '../../core/errors.ts';
import type { Episode, Split, Step, Suite, Task } from '../../core/types.ts';
import type { Scorer } from '../scorers/types.ts';

/** Room for working out an answer step by step. */
const ANSWER_TOKENS = 512;

export interface QuestionSuiteOptions {
  readonly id: string;
  readonly title: string;
  readonly splits: Readonly<Record<Split, readonly Task[]>>;
  readonly scorer: Scorer;
}

/** A suite of questions that take one answer. Task data is `QuestionData`; the accepted answers are never shown. */
export function createQuestionSuite({ id, title, splits, scorer }: QuestionSuiteOptions): Suite {
  return { id, title, maxTurns: 1, maxTokensPerTurn: ANSWER_TOKENS, splits, open: (task) => new QuestionEpisode(task, scorer) };
}

/** One question: the first answer ends it. */
export class QuestionEpisode implements Episode {
  private readonly task: Task;
  private readonly scorer: Scorer;
  private outcome: string | undefined;

  constructor(task: Task, scorer: Scorer) {
    this.task = task;
    this.scorer = scorer;
  }

  get observation(): string {
    return this.outcome ?? this.task.input;
  }

  /** @throws {NacreError} `episode-over` on a second answer, and what the scorer throws when it fails. */
  async act(text: string): Promise<Step> {
    if (this.outcome !== undefined) {
      throw new NacreError('episode-over', `Task ${this.task.id} was answered already.`, 'Open the task again.');
    }
    const { success, reward, reason } = await this.scorer.score(text, this.task);
    this.outcome = `${success ? 'The answer was accepted.' : 'The answer was not accepted.'}${reason ? ` ${reason}` : ''}`;
    return { observation: this.outcome, reward, done: true, success };
  }

  clone(): Episode {
    const copy = new QuestionEpisode(this.task, this.scorer);
    copy.outcome = this.outcome;
    return copy;
  }
}
