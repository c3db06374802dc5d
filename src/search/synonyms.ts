import { LANGUAGE_GROUPS, SUBJECT_GROUPS, SYNONYM_GROUPS } from "./synonym-groups.js";
import { nameTermsOf } from "./tokenize.js";

/** How near a related word is, as a share of the weight of the word that was asked for. */
const SYNONYM_WEIGHT = 0.3;
const SUBJECT_WEIGHT = 0.25;

/** A synonym, the name of the subject ("finance" for "mortgage"), or merely another word of it ("bank"). */
export type Relation = "synonym" | "subject" | "neighbour";

/** A term that may stand for another one. */
export interface RelatedTerm {
  term: string;
  /** 0 to 1: share of the weight of the asked term. */
  weight: number;
  relation: Relation;
}

let related: Map<string, RelatedTerm[]> | undefined;

/** Terms that a question for `term` may mean as well; [] for most. Terms are stems. */
export function relatedTerms(term: string): readonly RelatedTerm[] {
  related ??= readGroups();
  return related.get(term) ?? [];
}

function readGroups(): Map<string, RelatedTerm[]> {
  const found = new Map<string, Map<string, RelatedTerm>>();
  for (const groups of [SYNONYM_GROUPS, LANGUAGE_GROUPS]) addGroups(found, groups, SYNONYM_WEIGHT);
  addGroups(found, SUBJECT_GROUPS, SUBJECT_WEIGHT, true);
  return new Map([...found].map(([term, others]) => [term, [...others.values()]]));
}

function addGroups(
  found: Map<string, Map<string, RelatedTerm>>,
  groups: string,
  weight: number,
  subject = false,
): void {
  for (const line of groups.trim().split("\n")) {
    const terms = [...new Set(nameTermsOf(line))];
    for (const term of terms) {
      let others = found.get(term);
      if (!others) found.set(term, (others = new Map()));
      for (const [at, other] of terms.entries()) {
        const relation = !subject ? "synonym" : at === 0 ? "subject" : "neighbour";
        if (other !== term && !others.has(other)) others.set(other, { term: other, weight, relation });
      }
    }
  }
}
