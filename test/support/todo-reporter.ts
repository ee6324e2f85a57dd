/** Lists what tests say is still to do at the end of a run; the other reporters only count it. */
import type { Reporter, TestModule } from 'vitest/node';

export default class TodoReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const todo = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].filter(({ options }) => options.mode === 'todo'),
    );
    if (todo.length === 0) return;
    const lines = todo.map((test) => `  ${test.module.relativeModuleId}  ${test.name}\n`);
    process.stdout.write(`\nTo do:\n${lines.join('')}`);
  }
}
