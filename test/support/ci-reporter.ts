/** Writes what .ci/tests.js decides by. Vitest's own JSON report does not have the errors outside of tests. */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestSuite, Vitest } from 'vitest/node';

export default class CiReporter implements Reporter {
  private vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const isTodo = (test: (typeof tests)[number]) => test.options.mode === 'todo';
    // Tests whose set-up failed were not skipped by anybody: their file failed.
    const wasSetUp = ({ parent }: (typeof tests)[number] | TestSuite): boolean =>
      parent.errors().length === 0 && (parent.type === 'module' || wasSetUp(parent));
    const notRun = tests.filter(
      (test) => ['skipped', 'pending'].includes(test.result().state) && wasSetUp(test),
    );
    const namesOf = (some: typeof tests) =>
      some.map((test) => `${test.module.relativeModuleId}: ${test.fullName}`);
    const report = {
      seed: this.vitest?.getRootProject().getProvidedContext().seed,
      skipped: namesOf(notRun.filter((test) => !isTodo(test))),
      todo: namesOf(notRun.filter(isTodo)),
      errors: errors.length,
    };
    const file = this.vitest?.config.outputFile;
    if (typeof file === 'string') writeFileSync(file, JSON.stringify(report));
  }
}
