/** Compiles code of consumers. The files of TypeScript and of the package are read once for all programs. */
import { basename } from 'node:path';
import ts from 'typescript';

export interface Compiler {
  /** The errors in these files and in all declarations of the package, as `file.ts: message`. */
  faults: (files: string[], given: { options: ts.CompilerOptions }) => string[];
}

export function createCompiler(): Compiler {
  const sources = new Map<string, ts.SourceFile | undefined>();
  return {
    faults(files, { options: given }) {
      const options: ts.CompilerOptions = {
        ...{ strict: true, noEmit: true, target: ts.ScriptTarget.ES2023 },
        ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
        ...given,
      };
      const host = ts.createCompilerHost(options);
      const read = host.getSourceFile.bind(host);
      host.getSourceFile = (file, language, ...rest) => {
        if (!/\/(typescript\/lib|payments-service-client)\//.test(file)) return read(file, language, ...rest);
        if (!sources.has(file)) sources.set(file, read(file, language, ...rest));
        return sources.get(file);
      };
      const program = ts.createProgram(files, options, host);
      const ours = program
        .getSourceFiles()
        .filter(({ fileName }) => fileName.includes('/payments-service-client/'));
      return [...files.map((file) => program.getSourceFile(file)), ...ours].flatMap((file) =>
        [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
          ({ messageText }) =>
            `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
        ),
      );
    },
  };
}
