/** A fault of the contract. */
export interface Problem {
  rule: string;
  /** Within the project, with slashes. */
  file: string;
  line: number;
  column: number;
  message: string;
}

/** As Redocly reports it, with the place in the document. */
export interface Reported extends Problem {
  pointer: string;
  /** Names that are known at this place. */
  suggest: string[];
}
