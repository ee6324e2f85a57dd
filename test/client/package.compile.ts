/** Compiles code of consumers. */
import { basename } from 'node:path';
import ts from 'typescript';
import { createCompilerHost } from '../support/compiler-host.ts';

/** The errors in these files and in all declarations of the package, as `file.ts: message`. */
export function faultsIn(files: string[], given: ts.CompilerOptions): string[] {
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, target: ts.ScriptTarget.ES2023 },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ...given,
  };
  const program = ts.createProgram(files, options, createCompilerHost(options));
  const ours = program
    .getSourceFiles()
    .filter(({ fileName }) => fileName.includes('/payments-service-client/'));
  return [...files.map((file) => program.getSourceFile(file)), ...ours].flatMap((file) =>
    [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) =>
        `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    ),
  );
}
