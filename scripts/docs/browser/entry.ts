/** What the search of the docs finds. */
export interface Entry {
  title: string;
  /** The page that it is on. */
  place: string;
  href: string;
  text: string;
  /** Words that readers search for and that the text does not have. */
  keywords?: string | undefined;
  /** Its score is multiplied by this. */
  weight: number;
}
