/**
 * Pairs of words for "checked" and "unchecked" (spec §5, import type detection), lower case. Where a
 * side has no word of its own, an empty cell stands for it.
 */
export const CHECKBOX_VOCABULARIES: readonly { yes: readonly string[]; no: readonly string[] }[] = [
  { yes: ['true'], no: ['false'] },
  { yes: ['yes'], no: ['no'] },
  { yes: ['y'], no: ['n'] },
  { yes: ['1'], no: ['0'] },
  { yes: ['on'], no: ['off'] },
  { yes: ['checked'], no: ['unchecked'] },
  { yes: ['enabled'], no: ['disabled'] },
  { yes: ['[x]'], no: ['[ ]', '[]'] },
  { yes: ['x'], no: [] },
  { yes: ['done'], no: [] },
  { yes: ['✓', '✔', '✔️', '☑', '☑️', '✅'], no: ['✗', '✘', '☐', '❌'] },
]

const MEANING = new Map(
  CHECKBOX_VOCABULARIES.flatMap(({ yes, no }) => [
    ...yes.map((word): [string, boolean] => [word, true]),
    ...no.map((word): [string, boolean] => [word, false]),
  ]),
)

/** True or false for a word of any vocabulary, null for anything else. */
export const checkboxWord = (text: string): boolean | null => MEANING.get(text.trim().toLowerCase()) ?? null
