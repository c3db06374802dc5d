/** Notes of one run that are kept; a script can give cause for one every millisecond. */
const MOST_NOTES = 20;
/** Longest note, in UTF-16 units: some carry a script's own words. */
const MOST_CHARACTERS = 500;

/** What a model should know about its run besides the result: sentences, as many as it can read. */
export class RunNotes {
  private readonly kept: string[];
  private dropped = 0;

  constructor(notes: readonly string[] = []) {
    this.kept = [...notes];
  }

  /** Adds a note; what is no text is left out. */
  add(note: unknown): void {
    if (typeof note !== "string") return;
    if (this.kept.length >= MOST_NOTES) this.dropped++;
    else this.kept.push(note.length > MOST_CHARACTERS ? `${note.slice(0, MOST_CHARACTERS)}…` : note);
  }

  addAll(notes: readonly unknown[]): void {
    for (const note of notes) this.add(note);
  }

  /** The notes, and how many more there were. */
  list(): readonly string[] {
    return this.dropped === 0 ? this.kept : [...this.kept, `${this.dropped} more notes were left out.`];
  }
}
