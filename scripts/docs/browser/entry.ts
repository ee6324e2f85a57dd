/** What the search of the docs finds. */
export interface Entry {
  title: string;
  /** The page that it is on. */
  place: string;
  href: string;
  text: string;
}
