import type { FilterWords } from './dialect-words.ts'

/**
 * True where the list has a value that meets the test; where there is none, any value will do. Values
 * that are NULL or an empty text are not in a list. Never NULL itself.
 */
export type AnyOf<S> = (test: ((value: S) => S) | null) => S

/**
 * The words for a field whose cell is a list, such as a lookup through a link to many: a comparison
 * holds where any value of the list meets it, and a list without values is NULL. So "contains" finds a
 * record by each of its values, "is not equal to" one that has no such value, and "has all of" one with
 * every value.
 *
 * @param any what there is to say of the list of one field; the column that the words are given is left aside
 */
export function listWords<S>(words: FilterWords<S>, any: AnyOf<S>): FilterWords<S> {
  return {
    ...words,
    some: (_list, test) => any((value) => test(value, words)),
    isNull: () => words.not(any(null)),
    eq: (_list, expected) => any((value) => words.eq(value, expected)),
    compare: (_list, sign, expected) => any((value) => words.compare(value, sign, expected)),
    inList: (_list, expected) => any((value) => words.inList(value, expected)),
    like: (_list, pattern) => any((value) => words.like(value, pattern)),
    // Asked outside of `some` only whether there are any.
    fileNames: (list) => list,
    hasOption: (_list, title) => any((value) => words.hasOption(value, title)),
  }
}
