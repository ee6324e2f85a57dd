/** Writes what .ci/tests.js decides by. Vitest's own JSON report does not have the errors outside of tests. */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';

export default class CiReporter implements Reporter {
  private file: unknown;

  onInit({ config }: Vitest): void {
    this.file = config.outputFile;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const isTodo = (test: (typeof tests)[number]) => test.options.mode === 'todo';
    const notRun = tests.filter((test) => ['skipped', 'pending'].includes(test.result().state));
    const namesOf = (some: typeof tests) =>
      some.map((test) => `${test.module.relativeModuleId}: ${test.fullName}`);
    const report = {
      failed: modules.filter((one) => one.state() === 'failed').map((one) => one.relativeModuleId),
      skipped: namesOf(notRun.filter((test) => !isTodo(test))),
      todo: namesOf(notRun.filter(isTodo)),
      errors: errors.length,
    };
    if (typeof this.file === 'string') writeFileSync(this.file, JSON.stringify(report));
  }
}
